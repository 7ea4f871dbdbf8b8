import { fail, ok, type Result } from "../generation/result.ts";
import { bodyDepthMax } from "../limits.ts";

/** Of every route that may be sent a body: Elysia reads none, since it would go by what the body's type says. */
export const unparsed = { parse: "none" } as const;

/** A request body as plain values, and the text they were read from: only the text has the order of keys and the digits of numbers. */
export type JsonBody = { readonly value: unknown; readonly text: string };

export type BodyFailure = {
  readonly kind: "body_invalid";
  readonly message: string;
  readonly empty?: boolean;
};

/** Reads a body, whose size the server has bounded, as JSON whatever its content type says, since `curl -d` calls it a form. */
export async function readJson(request: Request): Promise<Result<JsonBody, BodyFailure>> {
  const encoding = request.headers.get("content-encoding") ?? "identity";
  if (encoding.toLowerCase() !== "identity") {
    const message = `The request body is encoded as '${encoding}', which is not supported: send it as it is.`;
    return fail({ kind: "body_invalid", message });
  }
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(await request.bytes());
  } catch {
    return fail({ kind: "body_invalid", message: "The request body is not valid UTF-8." });
  }
  if (text.trim() === "")
    return fail({ kind: "body_invalid", message: "The request body is empty; it must be JSON.", empty: true });
  if (tooDeep(text, bodyDepthMax)) {
    return fail({ kind: "body_invalid", message: `The request body is nested deeper than ${bodyDepthMax} levels.` });
  }
  try {
    return ok({ value: JSON.parse(text), text });
  } catch (error) {
    const reason = error instanceof Error ? error.message : "";
    return fail({ kind: "body_invalid", message: `The request body is not valid JSON. ${reason}`.trim() });
  }
}

/** Whether brackets outside strings nest deeper than allowed. One pass, so that no recursive reader ever meets such a text. */
function tooDeep(text: string, depthMax: number): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (inString) {
      if (unit === backslash) at++;
      else if (unit === quote) inString = false;
    } else if (unit === quote) inString = true;
    else if (unit === openBracket || unit === openBrace) {
      if (++depth > depthMax) return true;
    } else if (unit === closeBracket || unit === closeBrace) depth--;
  }
  return false;
}

const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
