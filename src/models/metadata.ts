import { type GgufValue, readGgufFile } from "./gguf-file.ts";
import { textAt } from "./text-table.ts";

/** What a file says of itself, by its own keys, as JSON can have it. Arrays, which vocabularies are, become null unless they are asked for. */
export function metadataOf(path: string, { arrays }: { readonly arrays: boolean }): Readonly<Record<string, unknown>> {
  const file = readGgufFile(path);
  if (!file.ok) return {};
  return Object.fromEntries([...file.value.metadata].map(([key, value]) => [key, jsonOf(value, arrays)]));
}

function jsonOf(value: GgufValue, arrays: boolean): unknown {
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value !== "object") return value;
  if (!arrays) return null;
  if ("starts" in value) return Array.from({ length: value.count }, (_, index) => textAt(value, index));
  return [...value];
}
