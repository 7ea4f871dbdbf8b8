import type { Failure } from "../../generation/failure.ts";
import type { Content } from "../../generation/request.ts";
import { fail, ok, type Result } from "../../generation/result.ts";
import { checker } from "../check.ts";
import { block, textBlock, toolReferenceBlock } from "./schema.ts";

/** A block of content with its type known, and where it stands. */
export type Block = { readonly type: string; readonly value: unknown; readonly at: string };

/** A string is one block of text. */
export function decodeBlocks(content: string | readonly unknown[], at: string): Result<readonly Block[], Failure> {
  if (typeof content === "string") return ok([{ type: "text", value: { type: "text", text: content }, at }]);
  const blocks: Block[] = [];
  for (const [index, value] of content.entries()) {
    const checked = checkBlock(value, `${at}[${index}]`);
    if (!checked.ok) return checked;
    blocks.push({ type: checked.value.type, value, at: `${at}[${index}]` });
  }
  return ok(blocks);
}

/** The text of a block that has to be one; every other kind is refused by its name. */
export function decodeText({ type, value, at }: Block): Result<string, Failure> {
  if (type === "text") {
    const text = checkText(value, at);
    return text.ok ? ok(text.value.text) : text;
  }
  if (type === "tool_reference") {
    const reference = checkReference(value, at);
    return reference.ok ? ok(reference.value.tool_name) : reference;
  }
  const message = unsupported.get(type) ?? (misplaced.has(type) ? `a '${type}' block cannot stand here` : undefined);
  return fail({
    kind: "invalid",
    message: message ?? `'${type}' blocks are not supported`,
    param: `${at}.type`,
    code: "unsupported_value",
  });
}

/** One text is a string, as the protocol has it; several are parts. */
export function contentOf(texts: readonly string[]): Content {
  const [only] = texts;
  if (texts.length < 2) return only ?? "";
  return texts.map((text) => ({ type: "text", text }));
}

const checkBlock = checker(block);
const checkText = checker(textBlock);
const checkReference = checker(toolReferenceBlock);

/** What no model here can take, in words. */
const unsupported = new Map([
  ["image", "image input is not supported"],
  ["document", "document input is not supported"],
  ["search_result", "search result input is not supported"],
]);

/** Blocks that another role may have. */
const misplaced = new Set(["thinking", "redacted_thinking", "tool_use", "tool_result"]);
