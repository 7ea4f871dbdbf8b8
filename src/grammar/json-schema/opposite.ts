import type { SchemaReader } from "./read.ts";
import type { Applicator, Conjunct } from "./schema.ts";

/** Applicators, and what becomes of them when they are negated. */
export type Applied =
  | Applicator
  | { readonly kind: "two"; readonly parts: readonly Conjunct[] }
  | { readonly kind: "ways"; readonly ways: readonly (readonly Conjunct[])[] }
  | {
      readonly kind: "broken dependency";
      readonly key: string;
      readonly required: readonly string[];
      readonly part: Conjunct | undefined;
    };

/** What has to hold for an applicator to fail: De Morgan's laws. */
export function opposite(applicator: Applicator, reader: SchemaReader): Applied {
  const { keyword } = applicator;
  const not = (part: Conjunct) => reader.not(part);
  switch (applicator.kind) {
    case "all":
      return { kind: "any", keyword, parts: applicator.parts.map(not) };
    case "any":
      return { kind: "all", keyword, parts: applicator.parts.map(not) };
    case "one": {
      const { parts } = applicator;
      const pairs = parts.flatMap((one, i) => parts.slice(i + 1).map((other) => [not(not(one)), not(not(other))]));
      return { kind: "ways", ways: [parts.map(not), ...pairs] };
    }
    case "not":
      return { kind: "all", keyword, parts: [not(applicator.part)] };
    case "if": {
      const { condition } = applicator;
      const held = applicator.held === undefined ? [] : [[not(not(condition)), not(applicator.held)]];
      const failed = applicator.failed === undefined ? [] : [[not(condition), not(applicator.failed)]];
      return { kind: "ways", ways: [...held, ...failed] };
    }
    case "dependent": {
      const { key, required, part } = applicator;
      return { kind: "broken dependency", key, required, part: part && not(part) };
    }
    default:
      return applicator satisfies never;
  }
}
