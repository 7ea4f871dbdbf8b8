import type { Grammar } from "../src/engine/engine.ts";
import { createMatcher, type Matcher } from "../src/engine/matcher.ts";
import type { NativeVocabulary } from "../src/engine/vocabulary.ts";
import type { Policy } from "../src/generation/policy.ts";
import { encodeIr } from "../src/grammar/encode.ts";
import { irBuilder } from "../src/grammar/ir.ts";
import { lowerSchema } from "../src/grammar/json-schema/lower.ts";
import { jsonStyle, schemaOptions } from "../src/grammar/policy.ts";
import type { Tokenizer } from "../src/tokenizer/tokenizer.ts";
import { moment, since } from "./clock.ts";
import { must } from "./samples.ts";
import { leastOfEach } from "./statistics.ts";

export type Setting = {
  readonly tokenizer: Tokenizer;
  readonly vocabulary: NativeVocabulary;
  readonly policy: Policy;
  readonly repeat: number;
  readonly verify: number;
};

export type Run =
  | { readonly refusal: string }
  | {
      readonly compileUs: number;
      readonly maskUs: readonly number[];
      readonly verdicts: readonly { readonly tokens: number; readonly end: boolean }[];
      readonly verified: number;
      readonly verifiedWrong: number;
    };

/** Compiles a schema and follows its instances, `repeat` times, each with cold tables; the least of each time counts. */
export function runSchema(schema: string, instances: readonly Uint32Array[], setting: Setting): Run {
  const first = runOnce(schema, instances, setting);
  if ("refusal" in first) return first;
  let { compileUs, maskUs } = first;
  for (let round = 1; round < setting.repeat; round++) {
    const again = runOnce(schema, instances, { ...setting, verify: 0 });
    if ("refusal" in again) return again;
    compileUs = Math.min(compileUs, again.compileUs);
    maskUs = leastOfEach(maskUs, again.maskUs);
  }
  return { ...first, compileUs, maskUs };
}

function runOnce(schema: string, instances: readonly Uint32Array[], setting: Setting): Run {
  const { vocabulary, tokenizer, policy } = setting;
  const start = moment();
  const compiled = compile(schema, vocabulary, policy);
  if (typeof compiled === "string") return { refusal: compiled };
  using grammar = compiled;
  {
    using matcher = must(createMatcher(vocabulary, grammar, tokenizer.stopTokens));
    matcher.fill();
  }
  const compileUs = since(start);
  const maskUs: number[] = [];
  const checks = { every: setting.verify, verified: 0, verifiedWrong: 0 };
  const verdicts = instances.map((tokens) => {
    using matcher = must(createMatcher(vocabulary, grammar, tokenizer.stopTokens));
    const accepted = follow(matcher, tokens, maskUs, checks);
    return { tokens: accepted, end: accepted === tokens.length && matcher.acceptsEnd() };
  });
  const { verified, verifiedWrong } = checks;
  return { compileUs, maskUs, verdicts, verified, verifiedWrong };
}

/** What is refused, by keyword where there is one. */
function compile(schema: string, vocabulary: NativeVocabulary, policy: Policy): Grammar | string {
  const ir = lower(schema, policy);
  if (typeof ir === "string") return ir;
  const grammar = vocabulary.compile(ir);
  return grammar.ok ? grammar.value : `engine: ${grammar.failure.message}`;
}

/** The encoded grammar, or what is refused. */
export function lower(schema: string, policy: Policy): Uint8Array<ArrayBuffer> | string {
  const builder = irBuilder();
  const options = { ...schemaOptions(policy, "schema"), objectsOnly: false, originFirst: 0 };
  const lowered = lowerSchema(builder, schema, options);
  if (!lowered.ok) return lowered.failure.keyword === "" ? lowered.failure.reason : lowered.failure.keyword;
  const root = builder.node({ kind: "json", value: lowered.value.value, style: jsonStyle(policy) });
  return encodeIr(builder.finish(root));
}

type Checks = { readonly every: number; verified: number; verifiedWrong: number };

/** How many tokens were allowed, up to the first that was not; the time of each mask with its accept goes to `maskUs`. */
export function follow(
  matcher: Matcher,
  tokens: Uint32Array,
  maskUs: number[],
  checks: Checks = { every: 0, verified: 0, verifiedWrong: 0 },
): number {
  for (const [index, token] of tokens.entries()) {
    // A check takes place between mask and accept, and its time is nobody's.
    const verifies = checks.every > 0 && maskUs.length % checks.every === 0;
    let start = moment();
    matcher.fill();
    const isAllowed = isIn(matcher.mask, token);
    let us = 0;
    if (verifies) {
      us = since(start);
      verify(matcher, checks);
      start = moment();
    }
    if (isAllowed) matcher.accept(token);
    maskUs.push(us + since(start));
    if (!isAllowed) return index;
  }
  return tokens.length;
}

function verify(matcher: Matcher, checks: Checks): void {
  const { mask } = matcher;
  checks.verified++;
  for (let token = 0; token < mask.length * 32; token++) {
    if (matcher.allowed(token) === isIn(mask, token)) continue;
    checks.verifiedWrong++;
    return;
  }
}

function isIn(mask: Uint32Array, token: number): boolean {
  return (((mask[token >>> 5] ?? 0) >>> (token & 31)) & 1) === 1;
}
