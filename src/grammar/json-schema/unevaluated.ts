import type { ArrayLayer, Conjunct, ObjectLayer } from "./schema.ts";
import type { ArrayDemand, ObjectDemand } from "./shape.ts";

/** What `unevaluatedProperties` says of the members in a case: those that no successful schema has spoken of fit `member`. */
export function unevaluatedMembers({ layers }: ObjectDemand, member: Conjunct, anything: Conjunct): ObjectLayer {
  const speaking = layers.filter((layer) => layer.evaluates);
  const keys = speaking.flatMap((layer) => [...layer.declared.keys()]);
  return {
    declared: new Map(keys.map((key) => [key, anything])),
    patterns: speaking.flatMap((layer) => layer.patterns.map((pattern) => ({ ...pattern, member: anything }))),
    rest: speaking.some((layer) => layer.rest !== undefined) ? undefined : member,
    closes: false,
    speaks: true,
    evaluates: true,
  };
}

/** What `unevaluatedItems` says of the items in a case; those that `contains` has counted may count as evaluated. */
export function unevaluatedItems({ layers, contains }: ArrayDemand, item: Conjunct, anything: Conjunct): ArrayLayer {
  const speaking = layers.filter((layer) => layer.evaluates);
  const length = Math.max(0, ...speaking.map(({ prefix }) => prefix.length));
  const counted = contains.filter((one) => one.evaluates).map((one) => one.item);
  return {
    prefix: Array.from({ length }, () => anything),
    rest: speaking.some(({ rest }) => rest !== undefined) ? undefined : [item, ...counted],
    evaluates: true,
  };
}
