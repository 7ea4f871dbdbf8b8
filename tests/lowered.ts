import { type Ir, irBuilder } from "../src/grammar/ir.ts";
import { lowerSchema, type SchemaOptions } from "../src/grammar/json-schema/lower.ts";
import type { Refusal } from "../src/grammar/json-schema/schema.ts";
import { acceptsJson } from "./oracle/ir-acceptor.ts";

const spec: SchemaOptions = { closed: false, ordered: false, assertFormats: true, objectsOnly: false, originFirst: 0 };

type Lowered = { readonly ir: Ir; readonly value: number; readonly places: readonly string[] };

export function lower(schema: unknown, options: Partial<SchemaOptions> = {}): Lowered | Refusal {
  const builder = irBuilder();
  const text = typeof schema === "string" ? schema : JSON.stringify(schema);
  const result = lowerSchema(builder, text, { ...spec, ...options });
  if (!result.ok) return result.failure;
  const { value, places } = result.value;
  const style = { freeSpace: true, whitespaceMax: undefined, spelling: "spec" } as const;
  return { ir: builder.finish(builder.node({ kind: "json", value, style })), value, places };
}

export function accepts(lowered: Lowered | Refusal, text: string): boolean {
  if ("reason" in lowered) throw new Error(`refused: ${JSON.stringify(lowered)}`);
  return acceptsJson(lowered.ir, lowered.value, text);
}
