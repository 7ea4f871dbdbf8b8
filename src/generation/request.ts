import type { GrammarSource } from "./grammar-source.ts";
import type { Policy } from "./policy.ts";
import type { AskedSampling } from "./sampling.ts";
import type { SchemaDocument } from "./schema-document.ts";

/**
 * The inner request: what is asked, free of any wire protocol. An api room decodes its shape into this and
 * nothing else; generate.ts is its only reader.
 *
 * Schemas and JSON arguments are kept as their source text, since only the text has the order of keys and the
 * digits of numbers (see grammar/json-schema and json-text.ts).
 */
export type Request = {
  readonly id: string;
  /** As the caller named it; undefined means the loaded model. */
  readonly model: string | undefined;
  readonly messages: readonly Message[];
  /**
   * Instead of a conversation, and then `messages` is empty: text as it stands, in which special tokens are read as such, or tokens.
   */
  readonly prompt?: string | Uint32Array<ArrayBuffer>;
  /** Tokens in front of the conversation, of an earlier one that it goes on from. */
  readonly before?: readonly number[];
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice;
  /** False allows at most one call (exactly one where a call is forced). */
  readonly parallelCalls: boolean;
  /** Undefined: the server's own level. */
  readonly toolStrict?: ToolStrict | undefined;
  readonly answer: AnswerFormat;
  readonly sampling: AskedSampling;
  /** Which of several answers to one request this is, from 0 on: each has the next seed. */
  readonly choice?: number;
  /**
   * Limit of generated tokens; undefined means what the model says, else `tokensDefault`, else what the context leaves. 0 reads the prompt and
   * ends.
   */
  readonly tokensMax: number | undefined;
  readonly tokensDefault?: number;
  /** Tokens of prompt and answer together, where that is less than the model's context. */
  readonly contextMax?: number;
  /** Leave out the oldest turns of a conversation that does not fit. */
  readonly truncate?: boolean;
  /** Of these, what thoughts may take together before they have to end; undefined is all. */
  readonly thoughtTokensMax?: number | undefined;
  /** Applied to content only; the text itself is never part of the answer. Undefined: what the model says, else none. */
  readonly stop: readonly string[] | undefined;
  /** Undefined: none. A number: log-probabilities with that many alternatives, 0 to 20. */
  readonly logprobs: number | undefined;
  /** Say first how likely each token of the prompt was; only with `logprobs`. */
  readonly scorePrompt?: boolean;
  /** Deliver each call whole when it is complete instead of as it is generated. */
  readonly holdCalls: boolean;
  /** Variables for the chat template beyond messages and tools, such as enable_thinking. */
  readonly templateVariables: Readonly<Record<string, unknown>>;
  /** A chat template, in Jinja, instead of the model's own. */
  readonly template?: string;
  /** Say with the end which tokens were read and generated. */
  readonly keepTokens?: boolean;
  readonly policy: Policy;
  /** What references in its schemas may lead to, beside what the server has. */
  readonly documents?: readonly SchemaDocument[];
};

export type Message =
  | { readonly role: "system"; readonly content: Content }
  | { readonly role: "user"; readonly content: Content }
  | {
      readonly role: "assistant";
      readonly content: Content | undefined;
      readonly reasoning: string | undefined;
      readonly calls: readonly Call[];
    }
  | { readonly role: "tool"; readonly content: Content; readonly callId: string; readonly name: string | undefined };

/** A string, or text parts in their order; templates can tell the two apart. */
export type Content = string | readonly { readonly type: "text"; readonly text: string }[];

export type Call = {
  readonly id: string;
  readonly name: string;
  /** JSON text of the arguments object, as received; the raw input of a custom call. */
  readonly arguments: string;
  readonly custom?: boolean;
};

export type Tool = {
  readonly name: string;
  readonly description: string | undefined;
  /** JSON Schema text of the arguments; undefined takes an empty object. */
  readonly parameters: string | undefined;
  readonly strict: boolean;
  /** Its input is free text, or fits the grammar; `parameters` is then undefined. */
  readonly custom?: { readonly format: GrammarSource | undefined };
  /** Where the schema stands in the caller's request, for error messages: `tools[0].function.parameters`. */
  readonly param: string;
  /** The tool exactly as it came, as JSON text: what templates render. */
  readonly source: string;
};

/** What is pinned where a call is not forced: its frame and the arguments, the frame alone, or nothing. */
export type ToolStrict = "off" | "envelope" | "schema";

export type ToolChoice =
  | { readonly mode: "none" }
  | { readonly mode: "auto" }
  | { readonly mode: "required" }
  | { readonly mode: "named"; readonly name: string }
  /** All tools stay in the prompt; only these may be called. */
  | { readonly mode: "allowed"; readonly force: boolean; readonly names: readonly string[] };

export type AnswerFormat =
  | { readonly kind: "text" }
  /** Any JSON value. */
  | { readonly kind: "json" }
  | { readonly kind: "json_object" }
  | { readonly kind: "json_schema"; readonly schema: string; readonly param: string }
  | { readonly kind: "grammar"; readonly source: GrammarSource; readonly param: string };
