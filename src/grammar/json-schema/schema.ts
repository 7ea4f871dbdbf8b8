import type { Decimal } from "../decimal.ts";
import type { JsonText } from "../json-text.ts";
import type { Language } from "../regex/language.ts";

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
  readonly multipleOf: Decimal | undefined;
  readonly length: Range | undefined;
  /** `pattern` and `format`. */
  readonly texts: readonly Text[];
  readonly items: Range | undefined;
  readonly array: ArrayLayer | undefined;
  readonly contains: Contains | undefined;
  /** The pointer of the schema, where it wants all items to differ. */
  readonly unique: string | undefined;
  readonly unevaluatedItems: Conjunct | undefined;
  readonly members: Range | undefined;
  readonly object: ObjectLayer | undefined;
  readonly required: readonly string[];
  /** What keys have to fit. */
  readonly names: Conjunct | undefined;
  readonly unevaluatedMembers: Conjunct | undefined;
  readonly applicators: readonly Applicator[];
  /** Nothing above constrains a value by itself; applicators may. */
  readonly silent: boolean;
};

export const types = { null: 1, true: 2, false: 4, number: 8, string: 16, array: 32, object: 64 } as const;
export const everyType = 127;

/**
 * A sub-schema and whether it has to hold or to fail; or a literal value standing for the schema that accepts just this value. Two
 * conjuncts are the same object where nothing tells them apart.
 */
export type Conjunct = {
  /** Unique and dense within one document. */
  readonly id: number;
  readonly kind: "schema" | "literal";
  readonly json: JsonText;
  readonly pointer: string;
  readonly negated: boolean;
  /** Objects that it declares take no further members, where that is the policy. Not inside `not` and `if`. */
  readonly closes: boolean;
  /** The resources on the way from the root, outermost first, where the document refers to its dynamic scope. */
  readonly scope: Scope;
};

/** The base addresses of resources, each once. Equal scopes are one object. */
export type Scope = readonly string[];

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

/** A text is one of the language, and has at most `lengthMax` code points. */
export type Text = { readonly language: Language; readonly lengthMax: number | undefined };

/** Item i fits prefix[i], or one of `rest` beyond it; undefined constrains nothing. */
export type ArrayLayer = {
  readonly prefix: readonly Conjunct[];
  readonly rest: readonly Conjunct[] | undefined;
  /** Whether what it speaks of counts as evaluated. */
  readonly evaluates: boolean;
};

export type Contains = {
  readonly item: Conjunct;
  readonly count: Range;
  /** Whether the items counted are evaluated: from 2020-12 on. */
  readonly evaluates: boolean;
};

/** What one schema says of an object's members. */
export type ObjectLayer = {
  readonly declared: ReadonlyMap<string, Conjunct>;
  readonly patterns: readonly { readonly keys: Language; readonly member: Conjunct }[];
  /** For other keys; undefined constrains nothing. */
  readonly rest: Conjunct | undefined;
  /** Has `properties`, and so is closed by the policy unless some schema of the case `speaks`. */
  readonly closes: boolean;
  /** Says something on further keys. */
  readonly speaks: boolean;
  /** Whether what it speaks of counts as evaluated. */
  readonly evaluates: boolean;
};

/** A sub-schema on the same value. `keyword` is named when its work exceeds the budget. */
export type Applicator = { readonly keyword: string } & (
  | { readonly kind: "all" | "any" | "one"; readonly parts: readonly Conjunct[] }
  /** The part is negated already. */
  | { readonly kind: "not"; readonly part: Conjunct }
  | {
      readonly kind: "if";
      readonly condition: Conjunct;
      /** Beside the condition … */
      readonly held: Conjunct | undefined;
      /** … and where it fails. */
      readonly failed: Conjunct | undefined;
    }
  /** Where an object has the key, it has these too, and fits the part. */
  | {
      readonly kind: "dependent";
      readonly key: string;
      readonly required: readonly string[];
      readonly part: Conjunct | undefined;
    }
);

/** A schema that cannot be enforced: the place of the sub-schema, its keyword ("" for the sub-schema itself), and what is wrong, a predicate. */
export type Refusal = {
  readonly pointer: string;
  readonly keyword: string;
  readonly reason: string;
  /** The steps ran out before there was a verdict. */
  readonly exhausted?: true;
};
