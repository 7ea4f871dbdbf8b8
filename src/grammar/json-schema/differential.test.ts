import { expect, test } from "bun:test";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import fc from "fast-check";
import { acceptsJson } from "../../../tests/oracle/ir-acceptor.ts";
import { irBuilder } from "../ir.ts";
import { lowerSchema } from "./lower.ts";

/** Random schemas of every keyword and random instances: the lowering with the IR's plain meaning against ajv. */

const key = fc.constantFrom("a", "b", "c", "ab");
const half = fc.integer({ min: -2, max: 6 }).map((value) => value / 2);
const count = fc.nat(3);
const typeName = fc.constantFrom("null", "boolean", "integer", "number", "string", "array", "object");
const typeNames = fc.uniqueArray(typeName, { minLength: 1, maxLength: 4 });
const pattern = fc.constantFrom("a", "^a", "b$", "^(a|b)$", "^[^a]*$", "^a?b?$", "^(?!a)", "(?=b)..", "\\bb", "^.{2}$");

/** A name that object literals had better not have: whoever awaits one would call it. */
const then = "then";

const { instance } = fc.letrec<{ instance: unknown }>((tie) => ({
  instance: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom(null, true, false),
    half,
    fc.constantFrom("", "a", "b", "ab", "bc", "a b", "😀"),
    fc.array(tie("instance"), { maxLength: 3 }),
    fc.dictionary(key, tie("instance"), { maxKeys: 3, noNullPrototype: true }),
  ),
}));

const { schema } = fc.letrec<{ schema: unknown; branches: unknown[]; members: unknown }>((tie) => {
  const keywords = {
    type: fc.oneof(typeName, typeNames),
    enum: fc.uniqueArray(instance, { minLength: 1, maxLength: 4, selector: (value) => JSON.stringify(value) }),
    const: instance,
    minimum: half,
    maximum: half,
    exclusiveMinimum: half,
    exclusiveMaximum: half,
    multipleOf: fc.constantFrom(0.5, 1, 1.5, 2),
    minLength: count,
    maxLength: count,
    pattern,
    minItems: count,
    maxItems: count,
    items: tie("schema"),
    prefixItems: tie("branches"),
    // A `contains` that accepts everything is skipped by ajv, even for an empty array: the type makes it one that may fail.
    contains: fc.record({ type: typeNames, allOf: fc.tuple(tie("schema")) }),
    minContains: count,
    maxContains: count,
    unevaluatedItems: tie("schema"),
    properties: tie("members"),
    patternProperties: fc.dictionary(pattern, tie("schema"), { maxKeys: 2, noNullPrototype: true }),
    additionalProperties: tie("schema"),
    propertyNames: fc.oneof(
      fc.record({ pattern }),
      fc.record({ minLength: count }),
      fc.record({ enum: fc.uniqueArray(key, { minLength: 1, maxLength: 3 }) }),
      tie("schema"),
    ),
    required: fc.uniqueArray(key, { maxLength: 2 }),
    minProperties: count,
    maxProperties: count,
    dependentRequired: fc.dictionary(key, fc.uniqueArray(key, { maxLength: 2 }), { maxKeys: 2, noNullPrototype: true }),
    dependentSchemas: tie("members"),
    unevaluatedProperties: tie("schema"),
    allOf: tie("branches"),
    anyOf: tie("branches"),
    oneOf: tie("branches"),
    not: tie("schema"),
    if: tie("schema"),
    [then]: tie("schema"),
    else: tie("schema"),
  };
  // Few keywords each: with many, nothing is accepted any more.
  const some = fc.subarray(Object.entries(keywords), { maxLength: 4 });
  return {
    schema: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.constantFrom(true, true, false),
      some.chain((entries): fc.Arbitrary<unknown> => fc.record(Object.fromEntries(entries))),
    ),
    branches: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }),
    members: fc.dictionary(key, tie("schema"), { maxKeys: 3, noNullPrototype: true }),
  };
});
const instances = fc.array(instance, { minLength: 12, maxLength: 12 });

test("agrees with ajv on random schemas of every keyword", () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });
  let judged = 0;
  let accepted = 0;
  fc.assert(
    fc.property(schema, instances, (schema, values) => {
      const accepts = ajvErrs(JSON.stringify(schema)) ? undefined : acceptor(schema);
      if (accepts === undefined) return;
      const validate = ajv.compile(typeof schema === "object" && schema !== null ? schema : { allOf: [schema] });
      for (const value of values) {
        const expected = verdict(validate, value);
        if (expected === undefined) continue;
        accepted += Number(expected);
        expect(accepts(value)).toBe(expected);
        judged++;
      }
    }),
    { numRuns: 4000 },
  );
  // The test has to have tested something.
  expect(judged).toBeGreaterThan(30_000);
  expect(accepted).toBeGreaterThan(6000);
}, 120_000);

test("applicators are the logic of their parts", () => {
  fc.assert(
    fc.property(schema, schema, schema, instances, (s, t, u, values) => {
      const parts = [s, t, u].map((part) => acceptor(part));
      const [allOf, anyOf, oneOf, not, choice] = [
        { allOf: [s, t] },
        { anyOf: [s, t] },
        { oneOf: [s, t, u] },
        { not: s },
        { if: s, [then]: t, else: u },
      ].map((whole) => acceptor(whole));
      for (const value of values) {
        const verdicts = parts.map((accepts) => accepts?.(value));
        const [a, b, c] = verdicts;
        if (a === undefined || b === undefined || c === undefined) return;
        const expected = [a && b, a || b, Number(a) + Number(b) + Number(c) === 1, !a, a ? b : c];
        for (const [i, accepts] of [allOf, anyOf, oneOf, not, choice].entries()) {
          if (accepts !== undefined) expect([i, accepts(value)]).toEqual([i, expected[i] ?? false]);
        }
      }
    }),
    { numRuns: 1000 },
  );
}, 120_000);

test("closed objects accept nothing that the specification does not", () => {
  let accepted = 0;
  fc.assert(
    fc.property(schema, instances, (schema, values) => {
      const [closed, open] = [acceptor(schema, true), acceptor(schema)];
      for (const value of values) {
        if (closed?.(value) !== true) continue;
        accepted++;
        expect(open?.(value) ?? true).toBe(true);
      }
    }),
    { numRuns: 2000 },
  );
  expect(accepted).toBeGreaterThan(2000);
}, 120_000);

test("the order of keywords and members changes nothing", () => {
  fc.assert(
    fc.property(schema, instances, (schema, values) => {
      const [accepts, turned] = [acceptor(schema), acceptor(reversed(schema))];
      for (const value of values) {
        const expected = accepts?.(value);
        if (expected === undefined || turned === undefined) continue;
        expect(turned(value)).toBe(expected);
        expect(accepts?.(reversed(value))).toBe(expected);
      }
    }),
    { numRuns: 2000 },
  );
}, 120_000);

/**
 * Where ajv differs from the specification: `contains` counts every item as evaluated, and beside `prefixItems` an empty array passes; what
 * parts of a choice have evaluated is guessed from their keywords. The test suite has the right verdicts on these.
 */
function ajvErrs(schema: string): boolean {
  const unevaluated = schema.includes('"unevaluated');
  if (unevaluated && /"(contains|anyOf|oneOf|not|if|dependentSchemas)":/.test(schema)) return true;
  return schema.includes('"contains":') && schema.includes('"prefixItems":');
}

/** undefined where ajv's own code throws: what a failed part of `anyOf` would have evaluated is a variable that nothing has set. */
function verdict(validate: ValidateFunction, value: unknown): boolean | undefined {
  try {
    return validate(value) === true;
  } catch {
    return undefined;
  }
}

/** undefined where the schema is refused for its size. */
function acceptor(schema: unknown, closed = false): ((value: unknown) => boolean) | undefined {
  const builder = irBuilder();
  const options = { closed, ordered: false, assertFormats: false, objectsOnly: false, originFirst: 0 };
  const lowered = lowerSchema(builder, JSON.stringify(schema), options);
  if (!lowered.ok) {
    const { reason } = lowered.failure;
    if (reason === "accepts no value at all") return () => false;
    expect(reason).toBe("makes the schema too large to enforce");
    return undefined;
  }
  const { value } = lowered.value;
  const style = { freeSpace: true, whitespaceMax: undefined, spelling: "spec" } as const;
  const ir = builder.finish(builder.node({ kind: "json", value, style }));
  return (instance) => acceptsJson(ir, value, JSON.stringify(instance));
}

/** Keys and lists of names the other way round, which says the same; lists of schemas and items keep their order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, reversed(item)]),
  );
}
