import type { Constrained } from "../dialects/constrain.ts";
import type { Engine, Grammar } from "../engine/engine.ts";
import type { Failure } from "../generation/failure.ts";
import type { GrammarSource } from "../generation/grammar-source.ts";
import type { Request } from "../generation/request.ts";
import { fail, ok, type Result } from "../generation/result.ts";
import {
  compileHereCharactersMax,
  compileHereGrammarCharactersMax,
  compileHereStepsMax,
  compileHereUnitsMax,
  compileHereWordCharactersMax,
  constraintCharactersMax,
} from "../limits.ts";
import type { Prompt } from "../prompt/render.ts";
import type { Model } from "./model.ts";

/** What a request may be answered with; whoever gets it disposes of the grammar. */
export type Compiled = Pick<Constrained, "constraint" | "relaxed" | "stopTokens" | "thoughts"> & {
  /** Undefined where nothing is constrained. */
  readonly grammar: Grammar | undefined;
};

/**
 * Compiles what a request is constrained to. Most constraints are compiled at once; what is large, or turns out to take long, goes to
 * another thread, where there is one, so that no request stalls the streams of the others.
 */
export async function compileRequest(
  model: Model,
  request: Request,
  prompt: Prompt,
  signal: AbortSignal,
): Promise<Result<Compiled, Failure>> {
  const characters = charactersOf(request);
  if (characters > constraintCharactersMax) {
    const message = `The schemas and grammars of one request may have ${constraintCharactersMax} characters together; these have ${characters}.`;
    return fail({ kind: "invalid", message, code: "invalid_value" });
  }
  const { elsewhere } = model;
  if (elsewhere === undefined) return finish(model.constrain(request, prompt), model.engine);
  if (isSmall(request)) {
    const here = finish(model.constrain(request, prompt, compileHereStepsMax), model.engine, compileHereUnitsMax);
    const isDecided = here.ok || here.failure.kind !== "constraint" || here.failure.exhausted !== true;
    if (isDecided) return here;
  }
  return elsewhere(request, prompt, signal);
}

/** The second half: from the encoded form to a grammar of the engine. */
export function finish(
  constrained: Result<Constrained, Failure>,
  engine: Pick<Engine, "compile">,
  workUnits?: number,
): Result<Compiled, Failure> {
  if (!constrained.ok) return constrained;
  const { constraint, relaxed, stopTokens, thoughts, ir, failureOf } = constrained.value;
  const rest = { constraint, relaxed, stopTokens, thoughts };
  if (ir === undefined) return ok({ ...rest, grammar: undefined });
  const compiled = engine.compile(ir, workUnits);
  if (compiled.ok) return ok({ ...rest, grammar: compiled.value });
  const failure = failureOf(compiled.failure);
  const isUndecided = failure.kind === "constraint" && compiled.failure.kind === "limit";
  return fail(isUndecided ? { ...failure, exhausted: true } : failure);
}

/** UTF-16 units of all schemas, grammars and documents. */
function charactersOf(request: Request): number {
  return grammarsOf(request).reduce((sum, grammar) => sum + lengthOf(grammar), schemaCharactersOf(request));
}

function schemaCharactersOf({ tools, answer, documents = [] }: Request): number {
  const given = documents.reduce((sum, { text }) => sum + text.length, 0);
  const answers = answer.kind === "json_schema" ? answer.schema.length : 0;
  return tools.reduce((sum, { parameters }) => sum + (parameters?.length ?? 0), given + answers);
}

function grammarsOf({ tools, answer }: Request): readonly GrammarSource[] {
  const inputs = tools.flatMap(({ custom }) => custom?.format ?? []);
  return answer.kind === "grammar" ? [...inputs, answer.source] : inputs;
}

/** Whether it may be read while everybody waits. */
function isSmall(request: Request): boolean {
  let share = schemaCharactersOf(request) / compileHereCharactersMax;
  for (const grammar of grammarsOf(request)) share += lengthOf(grammar) / hereMax[grammar.syntax];
  return share <= 1;
}

const hereMax: Readonly<Record<GrammarSource["syntax"], number>> = {
  choice: compileHereCharactersMax,
  lexicon: compileHereWordCharactersMax,
  gbnf: compileHereGrammarCharactersMax,
  lark: compileHereGrammarCharactersMax,
  regex: compileHereGrammarCharactersMax,
  structural_tag: compileHereGrammarCharactersMax,
};

function lengthOf(source: GrammarSource): number {
  switch (source.syntax) {
    case "choice":
      return source.texts.reduce((sum, text) => sum + text.length, 0);
    case "lexicon":
      return source.words.reduce((sum, word) => sum + word.length, 0);
    default:
      return source.text.length;
  }
}
