import type { Event, LexiconWords, Usage } from "../../generation/event.ts";
import type { Failure } from "../../generation/failure.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import { lexiconField } from "../lexicon-field.ts";
import { errorBody } from "../openai-error.ts";
import { encodeLogprob } from "../openai-logprobs.ts";
import { sseData, sseDone } from "../sse.ts";
import { type ChoiceEvent, sumUsage } from "./choices.ts";
import { encodeFinish, type Frame, head } from "./frame.ts";
import { encodeTimings, encodeUsage } from "./usage.ts";

/** How one chat's answer is to be written. */
export type ChatFrame = Frame & {
  /** Then an answer without text has the content null, else "". */
  readonly toolsOffered: boolean;
  /** Calls come whole, so that name and arguments can share a chunk. */
  readonly holdCalls: boolean;
  readonly logprobs: boolean;
  /** A call is a `function_call`. */
  readonly legacy: boolean;
  /** Thoughts come as `reasoning` too. */
  readonly reasoningAlias: boolean;
};

/** Events → the body of an answer without stream. */
export async function encodeAnswer(
  frame: ChatFrame,
  events: AsyncIterable<ChoiceEvent>,
): Promise<Result<object, Failure>> {
  const answers = Array.from({ length: frame.choices }, () => new WholeAnswer(frame));
  for await (const { choice, event } of events) {
    if (event.kind === "failure") return fail(event.failure);
    answers[choice]?.take(event);
  }
  const usages = answers.flatMap(({ usage }) => usage ?? []);
  if (usages.length < answers.length) return fail({ kind: "engine", message: "The answer ended without a finish." });
  const usage = sumUsage(usages, frame.choicesPerPrompt);
  return ok({
    ...head(frame, "chat.completion"),
    choices: answers.map((answer, index) => answer.choice(index)),
    usage: encodeUsage(usage),
    service_tier: "default",
    timings: encodeTimings(usage),
  });
}

/** Events → the frames of a stream, from the role to `[DONE]`. */
export async function* encodeStream(
  frame: ChatFrame,
  events: AsyncIterable<ChoiceEvent>,
): AsyncGenerator<string, void> {
  const start = head(frame, "chat.completion.chunk");
  const usageSoFar = frame.includeUsage ? { usage: null } : {};
  const chunk = ({ index, delta, logprobs, finish, words, ...rest }: Piece) => {
    const choice = {
      index,
      delta,
      logprobs: logprobs ?? null,
      finish_reason: finish ?? null,
      ...lexiconField(words),
    };
    return sseData({ ...start, choices: [choice], ...usageSoFar, ...rest });
  };
  const answers = Array.from({ length: frame.choices }, (_, index) => new StreamedAnswer(frame, index));

  for (const answer of answers) yield chunk(answer.opening());
  for await (const { choice, event } of events) {
    if (event.kind === "failure") {
      yield sseData(errorBody(event.failure));
      yield sseDone;
      return;
    }
    const piece = answers[choice]?.piece(event);
    if (piece !== undefined) yield chunk(piece);
  }
  if (frame.includeUsage) {
    const usages = answers.flatMap(({ usage }) => usage ?? []);
    const usage = sumUsage(usages, frame.choicesPerPrompt);
    yield sseData({ ...start, choices: [], usage: encodeUsage(usage), timings: encodeTimings(usage) });
  }
  yield sseDone;
}

type AnswerEvent = Exclude<Event, { kind: "failure" }>;
type Call = { readonly id: string; readonly name: string; readonly custom: boolean };

/** One choice, collected. */
class WholeAnswer {
  /** Undefined until it finished. */
  usage: Usage | undefined;
  readonly #frame: ChatFrame;
  #text = "";
  #reasoning = "";
  readonly #logprobs: object[] = [];
  readonly #open = new Map<number, Call & { text: string }>();
  readonly #calls: (Call & { readonly text: string })[] = [];
  #finish = "";
  #words: LexiconWords | undefined;

  constructor(frame: ChatFrame) {
    this.#frame = frame;
  }

  take(event: AnswerEvent): void {
    switch (event.kind) {
      case "progress":
      case "prompt":
        return;
      case "reasoning":
        this.#reasoning += event.text;
        return;
      case "text":
        this.#text += event.text;
        this.#logprobs.push(...event.logprobs.map(encodeLogprob));
        return;
      case "call_begin":
        this.#open.set(event.index, { id: event.id, name: event.name, custom: event.custom, text: "" });
        return;
      case "call_arguments": {
        const call = this.#open.get(event.index);
        if (call !== undefined) call.text += event.text;
        return;
      }
      case "call_end": {
        const call = this.#open.get(event.index);
        if (call !== undefined) this.#calls.push(call);
        return;
      }
      case "finish":
        this.#finish = encodeFinish(event.reason, callsReason(this.#frame));
        this.usage = event.usage;
        this.#words = event.words;
        return;
      default:
        event satisfies never;
    }
  }

  choice(index: number) {
    const { toolsOffered, logprobs } = this.#frame;
    const message = {
      role: "assistant",
      content: this.#text === "" && toolsOffered ? null : this.#text,
      refusal: null,
      annotations: [],
      ...(this.#reasoning === "" ? {} : encodeThought(this.#reasoning, this.#frame)),
      ...this.#encodedCalls(),
    };
    return {
      index,
      message,
      logprobs: logprobs ? { content: this.#logprobs, refusal: null } : null,
      finish_reason: this.#finish,
      ...lexiconField(this.#words),
    };
  }

  #encodedCalls() {
    const [first] = this.#calls;
    if (first === undefined) return {};
    if (this.#frame.legacy) return { function_call: { name: first.name, arguments: first.text } };
    return { tool_calls: this.#calls.map((call) => encodeCall(call, call.text)) };
  }
}

type Piece = {
  readonly index: number;
  readonly delta: object;
  readonly logprobs?: object | null;
  readonly finish?: string;
  readonly timings?: object;
  readonly words?: LexiconWords | undefined;
};

/** One choice, piece by piece. */
class StreamedAnswer {
  /** Undefined until it finished. */
  usage: Usage | undefined;
  readonly #frame: ChatFrame;
  readonly #index: number;
  /** The call whose begin was not written yet. */
  #held: Call | undefined;
  /** Whether the open call is a custom one. */
  #custom = false;

  constructor(frame: ChatFrame, index: number) {
    this.#frame = frame;
    this.#index = index;
  }

  opening(): Piece {
    return { index: this.#index, delta: { role: "assistant", content: this.#frame.toolsOffered ? null : "" } };
  }

  piece(event: AnswerEvent): Piece | undefined {
    const index = this.#index;
    switch (event.kind) {
      case "progress":
      case "prompt":
      case "call_end":
        return undefined;
      case "reasoning":
        return { index, delta: encodeThought(event.text, this.#frame) };
      case "text": {
        const logprobs = this.#frame.logprobs ? { content: event.logprobs.map(encodeLogprob), refusal: null } : null;
        return { index, delta: { content: event.text }, logprobs };
      }
      case "call_begin":
        this.#custom = event.custom;
        this.#held = event;
        return this.#frame.holdCalls ? undefined : { index, delta: this.#callDelta(event.index, "") };
      case "call_arguments":
        return { index, delta: this.#callDelta(event.index, event.text) };
      case "finish": {
        this.usage = event.usage;
        const reason = encodeFinish(event.reason, callsReason(this.#frame));
        return { index, delta: {}, finish: reason, timings: encodeTimings(event.usage), words: event.words };
      }
      default:
        return event satisfies never;
    }
  }

  /** A piece of a call; only its first one says whose. */
  #callDelta(index: number, text: string): object {
    const begun = this.#held;
    this.#held = undefined;
    if (this.#frame.legacy) return { function_call: { ...(begun && { name: begun.name }), arguments: text } };
    if (begun !== undefined) return { tool_calls: [{ index, ...encodeCall(begun, text) }] };
    return {
      tool_calls: [this.#custom ? { index, custom: { input: text } } : { index, function: { arguments: text } }],
    };
  }
}

function encodeThought(text: string, { reasoningAlias }: ChatFrame) {
  return { reasoning_content: text, ...(reasoningAlias ? { reasoning: text } : {}) };
}

function callsReason({ legacy }: ChatFrame): "tool_calls" | "function_call" {
  return legacy ? "function_call" : "tool_calls";
}

function encodeCall({ id, name, custom }: Call, text: string) {
  if (custom) return { id, type: "custom", custom: { name, input: text } };
  return { id, type: "function", function: { name, arguments: text } };
}
