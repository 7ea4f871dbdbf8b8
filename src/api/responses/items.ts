/**
 * Items as this shape writes them: what a conversation consists of, in input, output and the store. A decoded input item has
 * every field that its resource has, so that it can be listed as it is.
 */
export type Item =
  | InputMessage
  | OutputMessage
  | FunctionCall
  | FunctionCallOutput
  | CustomToolCall
  | CustomToolCallOutput
  | Reasoning;

export type ItemStatus = "in_progress" | "completed" | "incomplete";

export type InputText = { readonly type: "input_text"; readonly text: string };

export type InputMessage = {
  readonly id: string;
  readonly type: "message";
  readonly status: ItemStatus;
  readonly role: "user" | "system" | "developer";
  readonly content: readonly InputText[];
};

export type OutputText = {
  readonly type: "output_text";
  readonly text: string;
  readonly annotations: readonly [];
  readonly logprobs: readonly object[];
};

export type OutputMessage = {
  readonly id: string;
  readonly type: "message";
  readonly status: ItemStatus;
  readonly role: "assistant";
  readonly content: readonly (OutputText | { readonly type: "refusal"; readonly refusal: string })[];
  readonly phase?: string;
};

export type FunctionCall = {
  readonly id: string;
  readonly type: "function_call";
  readonly status: ItemStatus;
  readonly call_id: string;
  readonly name: string;
  /** JSON text of an object. */
  readonly arguments: string;
};

export type FunctionCallOutput = {
  readonly id: string;
  readonly type: "function_call_output";
  readonly status: ItemStatus;
  readonly call_id: string;
  readonly output: string | readonly InputText[];
  readonly name?: string;
};

export type CustomToolCall = {
  readonly id: string;
  readonly type: "custom_tool_call";
  readonly status: ItemStatus;
  readonly call_id: string;
  readonly name: string;
  readonly input: string;
};

export type CustomToolCallOutput = {
  readonly id: string;
  readonly type: "custom_tool_call_output";
  readonly status: ItemStatus;
  readonly call_id: string;
  readonly output: string | readonly InputText[];
};

export type Reasoning = {
  readonly id: string;
  readonly type: "reasoning";
  readonly status: ItemStatus;
  readonly summary: readonly { readonly type: "summary_text"; readonly text: string }[];
  readonly content?: readonly { readonly type: "reasoning_text"; readonly text: string }[];
  readonly encrypted_content?: string;
};

/** What the ids of each kind begin with, as at OpenAI. */
export const idPrefixes = {
  message: "msg",
  function_call: "fc",
  function_call_output: "fco",
  custom_tool_call: "ctc",
  custom_tool_call_output: "ctco",
  reasoning: "rs",
} as const satisfies Record<Item["type"], string>;

export function outputText(text: string, logprobs: readonly object[] = []): OutputText {
  return { type: "output_text", text, annotations: [], logprobs };
}

/**
 * Reasoning for clients that keep the conversation themselves and send back nothing readable. It only looks encrypted: the
 * model runs on the caller's own machine, and there is nothing to hide.
 */
export function sealReasoning(text: string): string {
  return sealMark + Buffer.from(text).toString("base64");
}

/** Undefined for what another server sealed. */
export function unsealReasoning(sealed: string): string | undefined {
  return sealed.startsWith(sealMark) ? Buffer.from(sealed.slice(sealMark.length), "base64").toString() : undefined;
}

const sealMark = "tenon:";
