import type { Decimal } from "../decimal.ts";
import type { JsonText } from "../json-text.ts";

/**
 * One sub-schema, read: what its own keywords demand of a value, type by type, and the sub-schemas that speak about the same
 * value. A conjunct names it before it is read, so that recursion is a reference.
 */
export type Schema = {
  /** Types that are left, a sum of `types`. */
  readonly types: number;
  /** Numbers have to be whole. */
  readonly whole: boolean;
  /** … and written in plain digits. */
  readonly plain: boolean;
  /** `enum` and `const`, each with the values that are left. */
  readonly finite: readonly Finite[];
  readonly low: Limit | undefined;
  readonly high: Limit | undefined;
  readonly length: Range | undefined;
  readonly items: Range | undefined;
  readonly array: ArrayLayer | undefined;
  readonly object: ObjectLayer | undefined;
  readonly required: readonly string[];
  readonly applicators: readonly Applicator[];
  /** Nothing above constrains a value by itself; applicators may. */
  readonly silent: boolean;
};

export const types = { null: 1, true: 2, false: 4, number: 8, string: 16, array: 32, object: 64 } as const;
export const everyType = 127;

/** A sub-schema, or a literal value standing for the schema that accepts just this value. */
export type Conjunct = {
  /** Unique and dense within one document. */
  readonly id: number;
  readonly kind: "schema" | "literal";
  readonly json: JsonText;
  readonly pointer: string;
};

export type Finite = {
  readonly keyword: "enum" | "const";
  /** A sum of the types `null`, `true` and `false`. */
  readonly types: number;
  readonly numbers: readonly Decimal[];
  readonly strings: ReadonlySet<string>;
  readonly arrays: readonly Conjunct[];
  readonly objects: readonly Conjunct[];
};

export type Limit = { readonly value: Decimal; readonly exclusive: boolean };

export type Range = { readonly min: number; readonly max: number | undefined };

/** Item i fits prefix[i], or `rest` beyond it; undefined constrains nothing. */
export type ArrayLayer = { readonly prefix: readonly Conjunct[]; readonly rest: Conjunct | undefined };

/** What one schema says of an object's members. */
export type ObjectLayer = {
  readonly declared: ReadonlyMap<string, Conjunct>;
  /** For other keys; undefined constrains nothing. */
  readonly rest: Conjunct | undefined;
  /** Has `properties`, and so is closed by the policy unless some schema of the case `speaks`. */
  readonly declares: boolean;
  /** Says something on further keys. */
  readonly speaks: boolean;
};

/** `all`: every part holds too. `any`: at least one does. `keyword` is named when its work exceeds the budget. */
export type Applicator = {
  readonly kind: "all" | "any";
  readonly keyword: string;
  readonly parts: readonly Conjunct[];
};

/** A schema that cannot be enforced: the place of the sub-schema, its keyword ("" for the sub-schema itself), and what is wrong, a predicate. */
export type Refusal = { readonly pointer: string; readonly keyword: string; readonly reason: string };
