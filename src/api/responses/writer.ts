import type { Event, FinishReason, TokenLogprob, Usage } from "../../generation/event.ts";
import type { Failure } from "../../generation/failure.ts";
import { encodeLogprob } from "../openai-logprobs.ts";
import { errorBody } from "./error.ts";
import { type Item, type ItemStatus, idPrefixes, outputText, sealReasoning } from "./items.ts";
import { encodeResponse, type ResponseFrame, type ResponseState } from "./response.ts";

/** One event of the stream: its name is its `type`. */
export type StreamEvent = { readonly type: string; readonly sequence_number: number } & Readonly<
  Record<string, unknown>
>;

/**
 * Events of the inner language → those of this shape, and the response that they add up to, which is the answer without stream. The same
 * events always give the same bytes, ids included, so that a kept response can be told again from any place.
 */
export class ResponseWriter {
  readonly #frame: ResponseFrame;
  readonly #output: Item[] = [];
  #sequence = 0;
  #status: ResponseState["status"];
  #open: OpenItem | undefined;
  #usage: Usage | undefined;
  #words: ResponseState["words"];
  #error: ResponseState["error"];

  constructor(frame: ResponseFrame) {
    this.#frame = frame;
    this.#status = frame.echo.background ? "queued" : "in_progress";
  }

  /** The response as far as it is. */
  response(): object {
    const open = this.#open === undefined ? [] : [this.#item(this.#open, "in_progress")];
    return this.#encode([...this.#output, ...open]);
  }

  get output(): readonly Item[] {
    return this.#output;
  }

  *begin(): Generator<StreamEvent, void> {
    yield this.#lifecycle("response.created");
    yield this.#lifecycle(`response.${this.#status}`);
  }

  *push(event: Event): Generator<StreamEvent, void> {
    if (this.#status === "queued" && event.kind !== "failure") {
      this.#status = "in_progress";
      yield this.#lifecycle("response.in_progress");
    }
    switch (event.kind) {
      case "progress":
      case "prompt":
        return;
      case "reasoning":
        yield* this.#reasoning(event.text);
        return;
      case "text":
        yield* this.#text(event.text, event.logprobs);
        return;
      case "call_begin":
        yield* this.#leave();
        yield* this.#begin({
          kind: event.custom ? "custom_tool_call" : "function_call",
          callId: event.id,
          name: event.name,
          text: "",
        });
        return;
      case "call_arguments":
        yield* this.#callText(event.text);
        return;
      case "call_end":
        yield* this.#close("completed");
        return;
      case "finish":
        this.#words = event.words;
        yield* this.#finish(event.reason, event.usage);
        return;
      case "failure":
        yield* this.#fail(event.failure);
        return;
      default:
        event satisfies never;
    }
  }

  /** The end of a stream that does not tell the response to its end. */
  cutOff(): StreamEvent {
    const message = "The stream was cut off: the server is stopping.";
    return this.#event("error", { code: "server_error", message, param: null });
  }

  *#reasoning(text: string): Generator<StreamEvent, void> {
    if (this.#open?.kind !== "reasoning") {
      yield* this.#leave();
      yield* this.#begin({ kind: "reasoning", text: "" });
    }
    const { type, index } = this.#reasoningNames();
    yield* this.#delta(`${type}.delta`, text, index);
  }

  *#text(text: string, logprobs: readonly TokenLogprob[]): Generator<StreamEvent, void> {
    if (this.#open?.kind !== "message") {
      yield* this.#leave();
      yield* this.#begin({ kind: "message", text: "", logprobs: [] });
    }
    const encoded = this.#frame.logprobs ? logprobs.map(encodeLogprob) : [];
    if (this.#open?.kind === "message") this.#open.logprobs.push(...encoded);
    yield* this.#delta("response.output_text.delta", text, { content_index: 0 }, { logprobs: encoded });
  }

  *#callText(text: string): Generator<StreamEvent, void> {
    const type =
      this.#open?.kind === "custom_tool_call"
        ? "response.custom_tool_call_input.delta"
        : "response.function_call_arguments.delta";
    yield* this.#delta(type, text);
  }

  *#delta(type: string, delta: string, index: object = {}, rest: object = {}): Generator<StreamEvent, void> {
    if (this.#open === undefined) throw new Error(`${type} outside an item`);
    this.#open.text += delta;
    yield this.#event(type, { ...this.#place(), ...index, delta, ...rest });
  }

  *#finish(reason: FinishReason, usage: Usage): Generator<StreamEvent, void> {
    this.#usage = usage;
    if (reason.kind === "length" || reason.kind === "context") {
      yield* this.#cut();
      yield* this.#end("incomplete");
      return;
    }
    yield* this.#leave();
    // Saying nothing is an answer, too.
    if (!this.#output.some(({ type }) => type !== "reasoning")) {
      yield* this.#begin({ kind: "message", text: "", logprobs: [] });
      yield* this.#close("completed");
    }
    yield* this.#end("completed");
  }

  /** The protocol has no event of its own for a response that was cancelled: its status says so. */
  *#fail(failure: Failure): Generator<StreamEvent, void> {
    yield* this.#cut();
    if (failure.kind === "cancelled") {
      this.#status = "cancelled";
      yield this.#lifecycle("response.failed");
      return;
    }
    this.#error = { code: "server_error", message: errorBody(failure).error.message };
    yield* this.#end("failed");
  }

  *#end(status: "completed" | "incomplete" | "failed"): Generator<StreamEvent, void> {
    this.#status = status;
    yield this.#lifecycle(`response.${status}`);
  }

  *#begin(open: OpenItem): Generator<StreamEvent, void> {
    this.#open = open;
    const item = this.#emptyItem(open);
    yield this.#event("response.output_item.added", { output_index: this.#output.length, item });
    switch (open.kind) {
      case "message":
        yield this.#part("response.content_part.added", { content_index: 0 }, outputText(""));
        return;
      case "reasoning": {
        const { part, index, partType } = this.#reasoningNames();
        yield this.#part(`${part}.added`, index, { type: partType, text: "" });
        return;
      }
      default:
    }
  }

  /** Closes what is open. Calls end by themselves; one that did not keeps its place, and says that it is none. */
  *#leave(): Generator<StreamEvent, void> {
    yield* this.#close(isCall(this.#open) ? "incomplete" : "completed");
  }

  /** Closes what the end of the response cuts off. A call is then never told as one: its item stays unfinished, and is no part of the response. */
  *#cut(): Generator<StreamEvent, void> {
    if (isCall(this.#open)) this.#open = undefined;
    yield* this.#close("incomplete");
  }

  *#close(status: "completed" | "incomplete"): Generator<StreamEvent, void> {
    const open = this.#open;
    if (open === undefined) return;
    const { text } = open;
    switch (open.kind) {
      case "message": {
        const index = { content_index: 0 };
        const { logprobs } = open;
        yield this.#event("response.output_text.done", { ...this.#place(), ...index, text, logprobs });
        yield this.#part("response.content_part.done", index, outputText(text, logprobs));
        break;
      }
      case "reasoning": {
        const { type, part, index, partType } = this.#reasoningNames();
        yield this.#event(`${type}.done`, { ...this.#place(), ...index, text });
        yield this.#part(`${part}.done`, index, { type: partType, text });
        break;
      }
      case "function_call": {
        const { name } = open;
        yield this.#event("response.function_call_arguments.done", { ...this.#place(), name, arguments: text });
        break;
      }
      case "custom_tool_call":
        yield this.#event("response.custom_tool_call_input.done", { ...this.#place(), input: text });
        break;
      default:
        open satisfies never;
    }
    const item = this.#item(open, status);
    yield this.#event("response.output_item.done", { output_index: this.#output.length, item });
    this.#output.push(item);
    this.#open = undefined;
  }

  /** The same text under one of two names. */
  #reasoningNames() {
    return this.#frame.reasoningAs === "content"
      ? {
          type: "response.reasoning_text",
          part: "response.content_part",
          partType: "reasoning_text",
          index: { content_index: 0 },
        }
      : {
          type: "response.reasoning_summary_text",
          part: "response.reasoning_summary_part",
          partType: "summary_text",
          index: { summary_index: 0 },
        };
  }

  #emptyItem(open: OpenItem): object {
    const item = this.#item({ ...open, text: "" }, "in_progress");
    if (item.type === "message") return { ...item, content: [] };
    if (item.type !== "reasoning") return item;
    const { id, type, status } = item;
    return { id, type, status, summary: [], ...(this.#frame.reasoningAs === "content" ? { content: [] } : {}) };
  }

  #item(open: OpenItem, status: ItemStatus): Item {
    const id = this.#itemId(open.kind);
    switch (open.kind) {
      case "message":
        return { id, type: open.kind, status, role: "assistant", content: [outputText(open.text, open.logprobs)] };
      case "reasoning": {
        const { text } = open;
        const sealed = this.#frame.sealReasoning ? { encrypted_content: sealReasoning(text) } : {};
        return this.#frame.reasoningAs === "content"
          ? { id, type: open.kind, status, summary: [], content: [{ type: "reasoning_text", text }], ...sealed }
          : { id, type: open.kind, status, summary: [{ type: "summary_text", text }], ...sealed };
      }
      case "function_call":
        return { id, type: open.kind, status, call_id: open.callId, name: open.name, arguments: open.text };
      case "custom_tool_call":
        return { id, type: open.kind, status, call_id: open.callId, name: open.name, input: open.text };
      default:
        return open satisfies never;
    }
  }

  /** The response's own id with the item's place. */
  #itemId(type: Item["type"]): string {
    const place = this.#output.length.toString(16).padStart(4, "0");
    return `${idPrefixes[type]}_${this.#frame.id.replace(/^resp_/, "")}${place}`;
  }

  #place(): object {
    if (this.#open === undefined) throw new Error("no item is open");
    return { item_id: this.#itemId(this.#open.kind), output_index: this.#output.length };
  }

  #part(type: string, index: object, part: object): StreamEvent {
    return this.#event(type, { ...this.#place(), ...index, part });
  }

  #lifecycle(type: string): StreamEvent {
    return this.#event(type, { response: this.response() });
  }

  #event(type: string, fields: object): StreamEvent {
    return { type, sequence_number: this.#sequence++, ...fields };
  }

  #encode(output: readonly Item[]): object {
    return encodeResponse(this.#frame, {
      status: this.#status,
      output,
      ...(this.#usage === undefined ? {} : { usage: this.#usage }),
      ...(this.#words === undefined ? {} : { words: this.#words }),
      ...(this.#error === undefined ? {} : { error: this.#error }),
    });
  }
}

function isCall(open: OpenItem | undefined): boolean {
  return open?.kind === "function_call" || open?.kind === "custom_tool_call";
}

/** The item that is being written. */
type OpenItem =
  | { readonly kind: "reasoning"; text: string }
  | { readonly kind: "message"; text: string; readonly logprobs: object[] }
  | {
      readonly kind: "function_call" | "custom_tool_call";
      readonly callId: string;
      readonly name: string;
      text: string;
    };
