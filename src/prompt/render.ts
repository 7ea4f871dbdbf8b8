import type { Dialect } from "../dialects/dialect.ts";
import type { Failure } from "../generation/failure.ts";
import type { Request, Tool } from "../generation/request.ts";
import { fail, ok, type Result } from "../generation/result.ts";
import { readJson } from "../grammar/json-text.ts";
import type { Tokenizer } from "../tokenizer/tokenizer.ts";
import type { Abilities } from "./abilities.ts";
import { explained, withInputs } from "./custom-tools.ts";
import { withToolsDescribed } from "./generic.ts";
import { jsonBounds, templateMessages } from "./history.ts";
import type { ChatTemplate } from "./template.ts";
import { instructionOf, shownTools, withInstruction } from "./tool-choice.ts";
import { Json, type TemplateValue } from "./values.ts";

export type Prompt = {
  readonly text: string;
  readonly tokens: Uint32Array<ArrayBuffer>;
};

/**
 * The conversation as the model reads it. The request stays as it is. `now` is the time that the template sees, one for the
 * whole request. Fails (`invalid`) where the template refuses the conversation. A prompt that is far beyond `contextMax` tokens
 * may come back cut, and still too long for the engine to take.
 */
export function renderPrompt(
  { template, dialect, tokenizer }: PromptContext & { readonly tokenizer: Tokenizer },
  request: Request,
  now: Date,
  contextMax?: number,
): Result<Prompt, Failure> {
  if (request.prompt !== undefined) return plainPrompt(tokenizer, request.prompt, contextMax);
  const text = renderText({ template, dialect }, request, now);
  if (!text.ok) return text;
  const tokens = promptTokens(tokenizer, text.value, contextMax);
  return ok({
    text: text.value,
    tokens: request.before === undefined ? tokens : joined(tokenizer, request.before, tokens),
  });
}

/** A model's template, and how its answers write calls. */
export type PromptContext = { readonly template: ChatTemplate; readonly dialect: Dialect };

export function renderText({ template, dialect }: PromptContext, request: Request, now: Date): Result<string, Failure> {
  const { abilities } = template;
  const tools = shownTools(request).map((tool) => explained(tool, dialect));
  const instruction = instructionOf(request);
  const said = withInputs(request.messages, request.tools);
  let messages = instruction === undefined ? said : withInstruction(said, instruction);
  const describe = tools.length > 0 && !abilities.tools;
  if (describe) messages = withToolsDescribed(messages, tools);
  const rendered = template.run(
    {
      messages: templateMessages(messages, abilities, dialect),
      tools: describe ? [] : tools.map((tool) => templateTool(tool, abilities)),
      variables: withBothSwitches(request.templateVariables),
      addGenerationPrompt: true,
    },
    now,
  );
  if (rendered.ok) return rendered;
  return fail({
    kind: "invalid",
    message: `The model's chat template refuses this conversation: ${rendered.failure}`,
    param: "messages",
  });
}

/** A conversation after an earlier one: texts begin once. */
function joined(
  tokenizer: Tokenizer,
  before: readonly number[],
  tokens: Uint32Array<ArrayBuffer>,
): Uint32Array<ArrayBuffer> {
  const begins = before.length > 0 && tokenizer.bos !== undefined && tokens[0] === tokenizer.bos;
  return Uint32Array.from([...before, ...(begins ? tokens.subarray(1) : tokens)]);
}

/** Templates know the switch of thoughts by one of two names; what a request calls `enable_thinking` is given as both. */
function withBothSwitches(variables: Request["templateVariables"]): Request["templateVariables"] {
  const { enable_thinking: thinking } = variables;
  return typeof thinking === "boolean" ? { thinking, ...variables } : variables;
}

/** Text or tokens as they stand. Without any the model begins where texts begin. */
function plainPrompt(
  tokenizer: Tokenizer,
  prompt: string | Uint32Array<ArrayBuffer>,
  contextMax: number | undefined,
): Result<Prompt, Failure> {
  const given = typeof prompt === "string" ? promptTokens(tokenizer, prompt, contextMax) : prompt;
  const start = tokenizer.bos ?? tokenizer.stopTokens[0];
  const tokens = given.length === 0 && start !== undefined ? Uint32Array.of(start) : given;
  if (tokens.length === 0) return fail({ kind: "invalid", message: "The prompt is empty.", param: "prompt" });
  if (typeof prompt === "string") return ok({ text: prompt, tokens });
  return ok({ text: new TextDecoder().decode(tokenizer.decode([...prompt], { special: true })), tokens });
}

/** Special tokens are taken as such; a BOS comes first where the model wants one and the template wrote none. */
export function promptTokens(tokenizer: Tokenizer, text: string, contextMax?: number): Uint32Array<ArrayBuffer> {
  const tokens = tokenizer.encode(text, {
    special: true,
    ...(contextMax === undefined ? {} : { tokensMax: contextMax }),
  });
  return withBos(tokenizer, tokens);
}

/** A BOS in front, where the model wants one and there is none. */
export function withBos(tokenizer: Tokenizer, tokens: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const { bos, addBos } = tokenizer;
  if (!addBos || bos === undefined || tokens[0] === bos) return tokens;
  const whole = new Uint32Array(tokens.length + 1);
  whole[0] = bos;
  whole.set(tokens, 1);
  return whole;
}

/** What a text that stands for itself begins and ends with, where the model wants it. */
export function withEnds(tokenizer: Tokenizer, tokens: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const begun = withBos(tokenizer, tokens);
  const { eos, addEos } = tokenizer;
  return addEos && eos !== undefined ? Uint32Array.from([...begun, eos]) : begun;
}

/**
 * The tool exactly as it came, where it came in the form that templates know and with all that this one needs; else in that form,
 * completed.
 */
function templateTool(tool: Tool, { bareTools }: Abilities): TemplateValue {
  const source = readJson(tool.source, jsonBounds);
  const isComplete = bareTools || (tool.description !== undefined && tool.parameters !== undefined);
  if (isComplete && source.ok && source.value.root.kind === "object" && source.value.root.entries.has("function")) {
    return new Json(source.value.root);
  }
  const parameters = tool.parameters === undefined ? undefined : readJson(tool.parameters, jsonBounds);
  return {
    type: "function",
    function: {
      name: tool.name,
      description: tool.description ?? (bareTools ? undefined : ""),
      parameters: parameters?.ok ? new Json(parameters.value.root) : { type: "object", properties: {} },
    },
  };
}
