import { type Static, Type } from "@sinclair/typebox";
import { embeddingInputsMax, toolsMax } from "../../limits.ts";
import { oneOf, open, optional } from "../fields.ts";
import { ownFields } from "../own-fields.ts";

/** Ollama's bodies: https://github.com/ollama/ollama/blob/main/docs/api.md. What depends on a role is checked by the schemas below. */

const text = optional(Type.String());
const flag = optional(Type.Boolean());

/** How a model is named: `name` is what it was called first. Its rules are the store's. */
const named = { model: text, name: text };
/** Read by decodeKeepAlive. */
const keepAlive = { keep_alive: optional(Type.Union([Type.String(), Type.Number()], { description: "a duration" })) };

const answering = {
  ...named,
  ...keepAlive,
  stream: flag,
  format: optional(Type.Unknown()),
  options: optional(open({})),
  think: optional(
    Type.Union([Type.Boolean(), ...["low", "medium", "high", "max"].map((level) => Type.Literal(level))], {
      description: "a boolean, 'low', 'medium', 'high' or 'max'",
    }),
  ),
  logprobs: flag,
  top_logprobs: optional(Type.Integer()),
  truncate: flag,
  shift: flag,
  ...ownFields,
};

export const chatBody = open({
  ...answering,
  messages: optional(Type.Array(Type.Unknown())),
  tools: optional(Type.Array(Type.Unknown(), { maxItems: toolsMax })),
  tool_choice: optional(Type.Unknown()),
  parallel_tool_calls: flag,
});
export type ChatBody = Static<typeof chatBody>;

const images = optional(Type.Array(Type.Unknown()));
const token = Type.Integer({ minimum: 0, maximum: 0xffff_ffff });
export const generateBody = open({
  ...answering,
  prompt: text,
  suffix: text,
  system: text,
  template: text,
  context: optional(Type.Array(token, { description: "an array of tokens" })),
  raw: flag,
  images,
});
export type GenerateBody = Static<typeof generateBody>;
const answeringBody = open(answering);
export type AnsweringBody = Static<typeof answeringBody>;

export const messageBody = open({
  role: oneOf(["system", "user", "assistant", "tool"]),
  content: optional(Type.String()),
  thinking: text,
  images,
  tool_calls: optional(Type.Array(Type.Unknown())),
  tool_name: text,
  tool_call_id: text,
});
export const callBody = open({
  id: text,
  function: open({
    name: Type.String({ minLength: 1, description: "a non-empty string" }),
    arguments: Type.Optional(Type.Unknown()),
  }),
});

export const functionTool = open({
  type: optional(Type.Literal("function", { description: "'function'" })),
  function: open({
    name: Type.String({ minLength: 1, description: "a non-empty string" }),
    description: text,
    parameters: optional(open({})),
    strict: flag,
  }),
});
export const toolChoice = Type.Union(
  [
    oneOf(["none", "auto", "required"]),
    open({ type: Type.Literal("function"), function: open({ name: Type.String({ minLength: 1 }) }) }),
    open({
      type: Type.Literal("allowed_tools"),
      allowed_tools: open({
        mode: oneOf(["auto", "required"]),
        tools: Type.Array(open({ function: open({ name: Type.String({ minLength: 1 }) }) }), { minItems: 1 }),
      }),
    }),
  ],
  { description: "'none', 'auto', 'required', or an object of the type 'function' or 'allowed_tools'" },
);

export const embedBody = open({
  ...named,
  ...keepAlive,
  input: Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: embeddingInputsMax }), Type.Null()], {
    description: `a string, or an array of up to ${embeddingInputsMax}`,
  }),
  truncate: flag,
  dimensions: optional(Type.Integer({ minimum: 0 })),
  options: optional(open({})),
});
export const embeddingsBody = open({ ...named, ...keepAlive, prompt: text, options: optional(open({})) });

export const showBody = open({ ...named, verbose: flag, system: text });
export const deleteBody = open(named);
export const copyBody = open({
  source: Type.String({ minLength: 1 }),
  destination: Type.String({ minLength: 1 }),
});
export const pullBody = open({ ...named, insecure: flag, stream: flag });

const licenses = Type.Union([Type.String(), Type.Array(Type.String())], {
  description: "a string or an array of strings",
});
export const createBody = open({
  ...named,
  from: text,
  files: optional(Type.Record(Type.String(), Type.String())),
  template: text,
  license: optional(licenses),
  system: text,
  parameters: optional(open({})),
  messages: optional(Type.Array(open({ role: oneOf(["system", "user", "assistant"]), content: Type.String() }))),
  stream: flag,
});

/** Of create: what would make other weights than the ones there are. */
export const refusedOfCreate: Readonly<Record<string, string>> = {
  adapters: "adapters are not applied",
  quantize: "weights are not quantised",
  quantization: "weights are not quantised",
  modelfile: "send 'from', 'parameters', 'system' and 'template' as fields of the body",
  path: "the server reads no files of its machine that a request names",
  renderer: "prompts are rendered by the model's own template",
  parser: "calls are read in the form of the model's own template",
};
