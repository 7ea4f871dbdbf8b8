import type { Policy } from "../generation/policy.ts";
import type { JsonStyle } from "./ir.ts";
import type { SchemaOptions } from "./json-schema/lower.ts";

/** How schemas are read under a policy; `order` holds where it says nothing of it. */
export function schemaOptions(
  policy: Policy,
  order: "any" | "schema",
): Omit<SchemaOptions, "originFirst" | "objectsOnly"> {
  return {
    closed: policy.additional === "closed",
    ordered: (policy.order ?? order) === "schema",
    assertFormats: policy.format !== "annotate",
  };
}

/** How JSON is written under a policy. */
export function jsonStyle({ whitespace, spelling }: Policy): JsonStyle {
  if (whitespace === "compact") return { freeSpace: false, whitespaceMax: 0, spelling };
  return { freeSpace: true, whitespaceMax: whitespace === "flexible" ? undefined : whitespace, spelling };
}
