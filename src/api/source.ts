/**
 * The text of one value inside a JSON document, exactly as it was written, under the keys of `path`. `text` must have been accepted
 * by `JSON.parse`: then strings and brackets are all there is to follow, and the rest of a long body is skipped instead of
 * parsed a second time. Of a key that occurs twice the last one counts, as there. The value must exist.
 */
export function sourceAt(text: string, path: readonly string[]): string {
  let at = skipSpace(text, 0);
  for (const name of path) {
    const member = memberAt(text, at, name);
    if (member === undefined) throw new Error(`there is no '${name}' in this document`);
    at = member;
  }
  return text.slice(at, skipValue(text, at));
}

/** The texts of an array's items; `text` is the array's own, as above. */
export function sourceItems(text: string): readonly string[] {
  const items: string[] = [];
  let item = skipSpace(text, skipSpace(text, 0) + 1);
  while (text[item] !== "]") {
    const end = skipValue(text, item);
    items.push(text.slice(item, end));
    item = skipComma(text, end);
  }
  return items;
}

/** The texts of an object's values, by their keys; `text` is the object's own, as above. */
export function sourceMembers(text: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  let key = skipSpace(text, skipSpace(text, 0) + 1);
  while (text[key] !== "}") {
    const keyEnd = skipString(text, key);
    const value = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = skipValue(text, value);
    members.set(JSON.parse(text.slice(key, keyEnd)), text.slice(value, end));
    key = skipComma(text, end);
  }
  return members;
}

/** Where the value of the last member called `name` of the object at `at` begins. */
function memberAt(text: string, at: number, name: string): number | undefined {
  if (text[at] !== "{") return undefined;
  let found: number | undefined;
  let key = skipSpace(text, at + 1);
  while (text[key] !== "}") {
    const keyEnd = skipString(text, key);
    const value = skipSpace(text, skipSpace(text, keyEnd) + 1);
    if (JSON.parse(text.slice(key, keyEnd)) === name) found = value;
    key = skipComma(text, skipValue(text, value));
  }
  return found;
}

/** The end of the value that begins at `at`. */
function skipValue(text: string, at: number): number {
  const first = text[at];
  if (first === '"') return skipString(text, at);
  if (first !== "{" && first !== "[") {
    scalarEnd.lastIndex = at;
    return scalarEnd.exec(text)?.index ?? text.length;
  }
  let depth = 0;
  let next = at;
  do {
    const unit = text[next];
    if (unit === '"') next = skipString(text, next);
    else {
      if (unit === "{" || unit === "[") depth++;
      else if (unit === "}" || unit === "]") depth--;
      next++;
    }
  } while (depth > 0);
  return next;
}

function skipString(text: string, at: number): number {
  let next = at + 1;
  while (text[next] !== '"') next += text[next] === "\\" ? 2 : 1;
  return next + 1;
}

function skipComma(text: string, at: number): number {
  const next = skipSpace(text, at);
  return text[next] === "," ? skipSpace(text, next + 1) : next;
}

function skipSpace(text: string, at: number): number {
  let next = at;
  while (text[next] === " " || text[next] === "\n" || text[next] === "\t" || text[next] === "\r") next++;
  return next;
}

const scalarEnd = /[\s,\]}]/g;
