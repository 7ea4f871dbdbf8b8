import { createHash } from "node:crypto";

/** Whether an answer shows its thoughts, or only signs them. */
export type Display = "shown" | "omitted";

/**
 * The signature of a thought. Clients send it back unread with the next turn, so that of a thought which is not shown carries the
 * thought itself, and the model can be given it again; of one that is shown it is a digest. None is ever verified: the history is the
 * caller's own.
 */
export function signatureOf(thought: string, display: Display): string {
  if (display === "omitted") return carrying + Buffer.from(thought).toString("base64url");
  return `tenon-${createHash("sha256").update(thought).digest("base64url")}`;
}

/** The thought of a block of the history, whichever way it was signed. */
export function thoughtOf(block: { readonly thinking: string; readonly signature: string | undefined }): string {
  const { thinking, signature = "" } = block;
  if (thinking !== "" || !signature.startsWith(carrying)) return thinking;
  return Buffer.from(signature.slice(carrying.length), "base64url").toString();
}

const carrying = "tenon-thought-";
