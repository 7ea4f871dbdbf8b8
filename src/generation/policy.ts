/** What JSON leaves open and a server has to decide; see the constraints document for each default. */
export type Policy = {
  /** Objects with `properties` and no word on further ones: closed (ours) or open (the specification's). */
  readonly additional: "closed" | "spec";
  /** Undefined: any order for tools, the schema's order for answers. */
  readonly order: "any" | "schema" | undefined;
  /** Characters of whitespace inside one JSON value beyond one space after `,` and `:`. */
  readonly whitespace: "compact" | "flexible" | number;
  readonly spelling: "canonical" | "spec";
  /** Whether known formats constrain, as they do by default, or say nothing. */
  readonly format?: "assert" | "annotate" | undefined;
  /** What cannot be enforced is widened and reported instead of refused. Undefined: as the server has it, for tools alone. */
  readonly relax?: boolean | undefined;
};

/** What an answer gets where nobody asks for anything else. */
export const defaultPolicy: Policy = {
  additional: "closed",
  order: undefined,
  // As llamay allows: enough for any layout, too few to run away.
  whitespace: 64,
  spelling: "canonical",
  format: "assert",
};

/** All that the specification allows, in any spelling. */
export const specPolicy: Policy = {
  additional: "spec",
  order: "any",
  whitespace: "flexible",
  spelling: "spec",
  format: "assert",
};

/** The default with what is asked for in its place. */
export function policyWith(asked: AskedPolicy): Policy {
  return {
    additional: asked.additional ?? defaultPolicy.additional,
    order: asked.order ?? defaultPolicy.order,
    whitespace: asked.whitespace ?? defaultPolicy.whitespace,
    spelling: asked.spelling ?? defaultPolicy.spelling,
    format: asked.format ?? defaultPolicy.format,
    relax: asked.relax ?? defaultPolicy.relax,
  };
}

/** Characters of whitespace that a policy may leave free by number; more is `flexible`. */
export const whitespaceCharactersMax = 0xffff;

/** What is left out or null asks for nothing. */
export type AskedPolicy = { readonly [Name in keyof Policy]?: Policy[Name] | null | undefined };

const choices: ReadonlyMap<string, readonly unknown[]> = new Map([
  ["additional", ["closed", "spec"]],
  ["order", ["any", "schema"]],
  ["whitespace", ["compact", "flexible"]],
  ["spelling", ["canonical", "spec"]],
  ["format", ["assert", "annotate"]],
]);

/** The first option with a value that it cannot have, for callers whose types nobody has checked. */
export function policyFault(asked: object): { readonly option: string; readonly reason: string } | undefined {
  for (const [option, value] of Object.entries(asked)) {
    if (value === undefined || value === null) continue;
    const known = choices.get(option);
    if (known === undefined) return { option, reason: "is no option of a policy" };
    if (known.includes(value)) continue;
    const counts = option === "whitespace";
    if (counts && Number.isInteger(value) && value >= 0 && value <= whitespaceCharactersMax) continue;
    const more = counts ? ` or a whole number up to ${whitespaceCharactersMax}` : "";
    return { option, reason: `has to be ${known.map((each) => `'${each}'`).join(" or ")}${more}` };
  }
  return undefined;
}
