import type { Content } from "../generation/request.ts";

/** Parts as lines of one text, for templates that take no parts. */
export function plainText(content: Content): string {
  return typeof content === "string" ? content : content.map(({ text }) => text).join("\n");
}

/** Content with one more paragraph at its end: after a blank line in a text, as a part of its own among parts. */
export function withText(content: Content, text: string): Content {
  return typeof content === "string" ? `${content}\n\n${text}` : [...content, { type: "text", text }];
}

export function hasText(content: Content): boolean {
  return typeof content === "string" || content.some(({ type }) => type === "text");
}
