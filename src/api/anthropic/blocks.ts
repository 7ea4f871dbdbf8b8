import type { Event } from "../../generation/event.ts";
import { type Display, signatureOf } from "./signature.ts";

/** An answer as blocks, one after another, each closed before the next begins. */
export type BlockEvent =
  | { readonly kind: "start"; readonly index: number; readonly type: BlockType; readonly block: object }
  | { readonly kind: "text" | "thought" | "arguments"; readonly index: number; readonly text: string }
  | { readonly kind: "signature"; readonly index: number; readonly signature: string }
  /** `complete` is false for a call that was cut off. */
  | { readonly kind: "stop"; readonly index: number; readonly type: BlockType; readonly complete: boolean }
  | Extract<Event, { kind: "finish" | "failure" }>;

export type BlockType = "text" | "thinking" | "tool_use";

export async function* blocksOf(events: AsyncIterable<Event>, display: Display): AsyncGenerator<BlockEvent, void> {
  const blocks = new Blocks(display);
  for await (const event of events) {
    switch (event.kind) {
      case "progress":
      case "prompt":
        break;
      case "reasoning":
        yield* blocks.enter("thinking", { type: "thinking", thinking: "", signature: "" });
        yield* blocks.think(event.text);
        break;
      case "text":
        yield* blocks.enter("text", { type: "text", text: "", citations: null });
        yield { kind: "text", index: blocks.index, text: event.text };
        break;
      case "call_begin": {
        const id = event.id.replace(/^call_/, "toolu_");
        yield* blocks.close(false);
        yield* blocks.enter("tool_use", {
          type: "tool_use",
          id,
          name: event.name,
          input: {},
          caller: { type: "direct" },
        });
        break;
      }
      case "call_arguments":
        yield { kind: "arguments", index: blocks.index, text: event.text };
        break;
      case "call_end":
        yield* blocks.close(true);
        break;
      case "finish":
        yield* blocks.close(false);
        yield event;
        return;
      case "failure":
        yield event;
        return;
      default:
        event satisfies never;
    }
  }
}

/** The open block, if any, and its number. */
class Blocks {
  index = -1;
  #type: BlockType | undefined;
  #thought = "";
  readonly #display: Display;

  constructor(display: Display) {
    this.#display = display;
  }

  /** Opens a block of this type where none is open. */
  *enter(type: BlockType, block: object): Generator<BlockEvent, void> {
    if (this.#type === type) return;
    yield* this.close(false);
    this.index++;
    this.#type = type;
    yield { kind: "start", index: this.index, type, block };
  }

  *think(text: string): Generator<BlockEvent, void> {
    this.#thought += text;
    if (this.#display === "shown") yield { kind: "thought", index: this.index, text };
  }

  *close(callEnded: boolean): Generator<BlockEvent, void> {
    const type = this.#type;
    if (type === undefined) return;
    const { index } = this;
    if (type === "thinking") {
      yield { kind: "signature", index, signature: signatureOf(this.#thought, this.#display) };
      this.#thought = "";
    }
    this.#type = undefined;
    yield { kind: "stop", index, type, complete: type !== "tool_use" || callEnded };
  }
}
