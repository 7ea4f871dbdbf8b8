import type { Tokenizer } from "../src/tokenizer/tokenizer.ts";
import { documentJudge, excuse } from "../tests/oracle/document-judge.ts";
import { pythonExcuse } from "./jsonschema.ts";
import type { Verdict } from "./llguidance.ts";
import type { Sample } from "./samples.ts";

export type OtherEngine = "llguidance" | "xgrammar";
export type Engine = "tenon" | OtherEngine;

/** What everybody says of a document: whether an engine accepts it, and whether it is valid. */
export type Compared = { readonly [engine in Engine]: boolean } & {
  readonly id: string;
  readonly instance: string;
  /** Not a mutated one. */
  readonly given: boolean;
  /** Undefined where nobody knows: the judges differ, and the data says nothing. */
  readonly specification: boolean | undefined;
  /** The keywords that it breaks, by each judge that can read the schema. */
  readonly ajv: readonly string[] | undefined;
  readonly python: readonly string[] | undefined;
  /** Tokens of it that each engine takes. */
  readonly taken: { readonly [engine in Engine]: number };
};

export type Disagreement = Compared & {
  /** Why an engine rejects what is valid, as far as that can be seen. */
  readonly because: { readonly [engine in OtherEngine]?: string };
};

/** `complaints`: python-jsonschema's of each instance, if it can judge the schema. */
export function* comparedBy(
  sample: Sample,
  instances: readonly string[],
  verdicts: { readonly [engine in Engine]: readonly Verdict[] },
  complaints: readonly (readonly string[])[] | undefined,
): Generator<Compared> {
  const judge = documentJudge(sample.schema);
  for (const [i, instance] of instances.entries()) {
    const found = judge?.(JSON.parse(instance));
    const ajv =
      found === undefined || excuse(found, instance) === undefined ? found?.map(({ keyword }) => keyword) : [];
    const python = complaints?.[i];
    const of = (engine: Engine) => verdicts[engine][i] ?? { tokens: 0, end: false };
    const given = sample.instances[i]?.valid;
    yield {
      id: sample.id,
      instance,
      given: given !== undefined,
      tenon: of("tenon").end,
      llguidance: of("llguidance").end,
      xgrammar: of("xgrammar").end,
      specification: judged(ajv, python) ?? given,
      ajv,
      python,
      taken: {
        tenon: of("tenon").tokens,
        llguidance: of("llguidance").tokens,
        xgrammar: of("xgrammar").tokens,
      },
    };
  }
}

export function isDisagreement({ tenon, llguidance, xgrammar, specification }: Compared): boolean {
  return tenon !== llguidance || tenon !== xgrammar || tenon !== (specification ?? tenon);
}

export const onlyInOrder = "takes names in the schema's order only";

type Measure = (schema: string, instances: readonly (readonly number[])[]) => Promise<object>;

/** Asks engines that reject a valid document again, with its names in the schema's order. */
export async function whyRejected(
  one: Compared,
  { schema }: Sample,
  tokenizer: Tokenizer,
  engines: { readonly [engine in OtherEngine]: { readonly measure: Measure } },
): Promise<Disagreement["because"]> {
  const because: { [engine in OtherEngine]?: string } = {};
  if (one.specification !== true) return because;
  for (const engine of ["llguidance", "xgrammar"] as const) {
    if (one[engine]) continue;
    const tokens = tokenizer.encode(inOrder(schema, one.instance), { special: false });
    const again = await engines[engine].measure(schema, [[...tokens]]);
    const accepts = "verdicts" in again && Array.isArray(again.verdicts) && again.verdicts[0]?.end === true;
    const read = tokenizer.encode(one.instance, { special: false }).subarray(0, one.taken[engine]);
    const text = new TextDecoder().decode(tokenizer.decode([...read], { special: false }));
    because[engine] = accepts ? onlyInOrder : `stops after ${JSON.stringify(text.slice(-40))}`;
  }
  return because;
}

/** Whether it is valid, where the judges say the same. */
function judged(ajv: readonly string[] | undefined, python: readonly string[] | undefined): boolean | undefined {
  if (ajv === undefined || python === undefined) return (ajv ?? python)?.every(() => false);
  const pythonAccepts = python.length === 0 || (ajv.length === 0 && pythonExcuse(python) !== undefined);
  return (ajv.length === 0) === pythonAccepts ? pythonAccepts : undefined;
}

/** The same value with names in the order in which the schema's text has them, and all others last. */
function inOrder(schema: string, instance: string): string {
  const names = [...schema.matchAll(/"((?:[^"\\]|\\.)*)"\s*:/g)].map(([, name]) => String(JSON.parse(`"${name}"`)));
  const places = new Map(names.toReversed().map((name, i) => [name, names.length - i]));
  const sorted = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(sorted);
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).map(([name, item]) => [name, sorted(item)] as const);
    const place = (name: string) => places.get(name) ?? Number.POSITIVE_INFINITY;
    return Object.fromEntries(entries.toSorted(([a], [b]) => (place(a) < place(b) ? -1 : Number(place(a) > place(b)))));
  };
  return JSON.stringify(sorted(JSON.parse(instance)));
}
