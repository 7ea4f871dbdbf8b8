import { createHash } from "node:crypto";
import type { ModelFacts } from "../generation/stored-model.ts";
import type { Manifest } from "./card.ts";
import { formatName } from "./formats.ts";

/** What there is to say about a model without running it. Without a manifest there are no weights. */
export function factsOf(source: {
  readonly id: string;
  readonly manifest: Manifest | undefined;
  readonly fileBytes: number;
  /** Its chat template. */
  readonly template: string | undefined;
}): ModelFacts {
  const { manifest, fileBytes } = source;
  return {
    digest: digestOf(source),
    fileBytes,
    family: manifest?.architecture ?? "noise",
    parameters: manifest === undefined ? 0 : manifest.tensors.reduce((sum, { shape }) => sum + elements(shape), 0),
    quantisation: manifest === undefined ? "none" : commonFormat(manifest),
    contextTrained: manifest?.context_max ?? 0,
    embeddingLength: manifest?.embedding ?? 0,
  };
}

/** Where the file lies is no part of what it is. */
function digestOf({ id, manifest, fileBytes, template }: Parameters<typeof factsOf>[0]): string {
  const { files: _, ...rest } = manifest ?? { files: [] };
  return sha256Of({ id, fileBytes, template, rest });
}

/** Of the value's JSON, in lower-case hexadecimal. */
export function sha256Of(value: object): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}

/** The format that holds most weights. */
function commonFormat({ tensors }: Manifest): string {
  const counts = new Map<number, number>();
  for (const { format, shape } of tensors) counts.set(format, (counts.get(format) ?? 0) + elements(shape));
  const [most] = [...counts].sort(([, a], [, b]) => b - a);
  return most === undefined ? "none" : formatName(most[0]);
}

function elements(shape: readonly number[]): number {
  return shape.reduce((product, length) => product * length, 1);
}
