/** JSON with what a judge of spelling has to know: sources of strings and numbers, and whitespace counted over the whole value. */
export type Json = {
  /** Characters of whitespace inside the value. */
  readonly space: number;
  /** Commas and colons followed by a space. */
  readonly separatorsWithSpace: number;
} & (
  | { readonly type: "null" | "true" | "false" }
  | { readonly type: "number"; readonly text: string }
  | { readonly type: "string"; readonly text: string; readonly source: string }
  | { readonly type: "array"; readonly items: readonly Json[] }
  | { readonly type: "object"; readonly entries: readonly { key: string; source: string; value: Json }[] }
);

/** The JSON value that starts at `start` in bytes (other numbers are no bytes), with the longest reading of a number. */
export function parseJsonBytes(
  bytes: readonly number[],
  start: number,
): { readonly json: Json; readonly end: number } | undefined {
  let at = start;
  let space = 0;
  let separators = 0;

  function value(): Json | undefined {
    const text = ascii(bytes, at, 5);
    for (const type of ["null", "true", "false"] as const) {
      if (!text.startsWith(type)) continue;
      at += type.length;
      return { type, ...none };
    }
    if (text.startsWith('"')) {
      const string = stringAt(bytes, at);
      if (string === undefined) return undefined;
      at = string.end;
      return { type: "string", text: string.text, source: string.source, ...none };
    }
    if (text.startsWith("[") || text.startsWith("{")) return container(text.startsWith("["));
    const number = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/.exec(ascii(bytes, at, 4000))?.[0];
    if (number === undefined) return undefined;
    at += number.length;
    return { type: "number", text: number, ...none };
  }

  function container(isArray: boolean): Json | undefined {
    const closer = isArray ? 0x5d : 0x7d;
    const entries: { key: string; source: string; value: Json }[] = [];
    at++;
    skip();
    while (bytes[at] !== closer || entries.length > 0) {
      let key = { text: "", source: "" };
      if (!isArray) {
        const string = stringAt(bytes, at);
        if (string === undefined) return undefined;
        key = string;
        at = string.end;
        skip();
        if (bytes[at] !== 0x3a) return undefined;
        separator();
      }
      const item = value();
      if (item === undefined) return undefined;
      entries.push({ key: key.text, source: key.source, value: item });
      skip();
      if (bytes[at] === closer) break;
      if (bytes[at] !== 0x2c) return undefined;
      separator();
    }
    at++;
    return isArray
      ? { type: "array", items: entries.map((entry) => entry.value), ...none }
      : { type: "object", entries, ...none };
  }

  function separator(): void {
    at++;
    if (bytes[at] === 0x20) separators++;
    skip();
  }

  function skip(): void {
    for (; [0x20, 0x09, 0x0a, 0x0d].includes(bytes[at] ?? 0); at++) space++;
  }

  const json = value();
  return json && { json: { ...json, space, separatorsWithSpace: separators }, end: at };
}

const none = { space: 0, separatorsWithSpace: 0 };

function stringAt(bytes: readonly number[], start: number): { text: string; source: string; end: number } | undefined {
  if (bytes[start] !== 0x22) return undefined;
  let end = start + 1;
  while (bytes[end] !== 0x22) {
    if (end >= bytes.length) return undefined;
    end += bytes[end] === 0x5c ? 2 : 1;
  }
  end++;
  const raw = bytes.slice(start, end);
  if (raw.some((byte) => byte > 255)) return undefined;
  try {
    const source = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(raw));
    const text: unknown = JSON.parse(source);
    return typeof text === "string" && text.isWellFormed() ? { text, source, end } : undefined;
  } catch {
    return undefined;
  }
}

function ascii(bytes: readonly number[], start: number, length: number): string {
  return String.fromCharCode(...bytes.slice(start, start + length));
}
