import type {
  Case,
  ChannelName,
  Counter,
  Ir,
  JsonStyle,
  Marker,
  Node,
  NodeId,
  Options,
  RegexId,
  ValueId,
} from "../../src/grammar/ir.ts";
import { type Json, parseJsonBytes } from "./json-bytes.ts";
import { compareNumbers, isMultiple, isWholeNumber } from "./rational.ts";
import { regexMatches } from "./regex-matcher.ts";

/** One unit of output: a byte, or a token that stands for itself (`tokenSymbol`). */
export type OutputSymbol = number;

export function tokenSymbol(token: number): OutputSymbol {
  return 256 + token;
}

export function symbolsOf(text: string): OutputSymbol[] {
  return [...new TextEncoder().encode(text)];
}

/**
 * Whether a grammar accepts a whole output: the meaning of the IR written down as plainly as possible, by trying everything. It
 * shares only the types with the product, and is slow.
 */
export function accepts(ir: Ir, output: readonly OutputSymbol[]): boolean {
  return new Acceptor(ir, output).ends(ir.root, 0).has(output.length);
}

/**
 * The output cut into runs of one channel, by the first alternative in order; `undefined` where it is not accepted. Tokens that
 * stand for themselves have no bytes.
 */
export function channelRuns(
  ir: Ir,
  output: readonly OutputSymbol[],
): [channel: ChannelName, text: string][] | undefined {
  for (const { end, path } of new Acceptor(ir, output).walks(ir.root, 0, "text")) {
    if (end !== output.length) continue;
    const runs: { channel: ChannelName; bytes: number[] }[] = [];
    for (const { from, to, channel } of path) {
      const last = runs.at(-1);
      const bytes = output.slice(from, to).filter((symbol) => symbol < 256);
      if (last?.channel === channel) last.bytes.push(...bytes);
      else if (bytes.length > 0) runs.push({ channel, bytes });
    }
    return runs.map(({ channel, bytes }) => [channel, utf8.decode(Uint8Array.from(bytes))]);
  }
  return undefined;
}

type Walk = {
  readonly end: number;
  readonly path: readonly { readonly from: number; readonly to: number; readonly channel: ChannelName }[];
};

/** Where a value's text may end when only the schema matters: whitespace and spelling are free. */
export function acceptsJson(ir: Ir, value: ValueId, text: string): boolean {
  const output = symbolsOf(text);
  const parsed = parseJsonBytes(output, 0);
  return (
    parsed !== undefined && parsed.end === output.length && new Acceptor(ir, output).fits(parsed.json, value, false)
  );
}

class Acceptor {
  readonly #ir: Ir;
  readonly #output: readonly OutputSymbol[];
  readonly #memo = new Map<string, ReadonlySet<number>>();

  constructor(ir: Ir, output: readonly OutputSymbol[]) {
    this.#ir = ir;
    this.#output = output;
  }

  /** Every position at which the node may end when it starts at `start`. */
  ends(id: NodeId, start: number): ReadonlySet<number> {
    const key = `${id} ${start}`;
    const known = this.#memo.get(key);
    if (known !== undefined) return known;
    const node = this.#ir.nodes[id];
    if (node === undefined) throw new Error(`no node ${id}`);
    const ends = this.#endsOf(node, start);
    this.#memo.set(key, ends);
    return ends;
  }

  #endsOf(node: Node, start: number): ReadonlySet<number> {
    switch (node.kind) {
      case "bytes":
        return this.#has(node.bytes, start) ? new Set([start + node.bytes.length]) : new Set();
      case "token":
        return this.#output[start] === tokenSymbol(node.token) ? new Set([start + 1]) : new Set();
      case "marker":
        return new Set(this.#markerEnds(node, start));
      case "sequence":
        return node.items.reduce<ReadonlySet<number>>((ends, item) => this.#after(ends, item), new Set([start]));
      case "choice":
        return new Set(node.items.flatMap((item) => [...this.ends(item, start)]));
      case "repeat": {
        const all = new Set<number>();
        let ends: ReadonlySet<number> = new Set([start]);
        // More rounds than symbols only repeat the empty text.
        const rounds = Math.min(node.max ?? Number.POSITIVE_INFINITY, node.min + this.#output.length);
        for (let i = 0; i <= rounds; i++) {
          if (i >= node.min) for (const end of ends) all.add(end);
          ends = this.#after(ends, node.item);
        }
        return all;
      }
      case "channel":
        return this.ends(node.item, start);
      case "text":
        return this.#textEnds(node, start);
      case "json": {
        const parsed = parseJsonBytes(this.#output, start);
        if (parsed === undefined || !spaced(parsed.json, node.style)) return new Set();
        return this.fits(parsed.json, node.value, node.style.spelling === "canonical")
          ? new Set([parsed.end])
          : new Set();
      }
      case "regex": {
        const ends = new Set<number>();
        for (let end = start; end <= this.#output.length; end++) {
          const bytes = this.#output.slice(start, end);
          if (bytes.some((symbol) => symbol > 255)) break;
          if (isUtf8(bytes) && this.#matches(node.regex, new TextDecoder().decode(Uint8Array.from(bytes))))
            ends.add(end);
        }
        return ends;
      }
      case "texts":
        return new Set(node.texts.filter((text) => this.#has(text, start)).map((text) => start + text.length));
      case "record":
        return new Set([...this.#recordWalks(node, start, "text")].map(({ end }) => end));
      case "any_token": {
        // Here every byte of text is a token.
        const symbol = this.#output[start];
        return symbol === undefined || node.except.some((token) => symbol === tokenSymbol(token))
          ? new Set()
          : new Set([start + 1]);
      }
      default:
        return node satisfies never;
    }
  }

  #matches(regex: RegexId, text: string): boolean {
    return regexMatches(this.#ir.regexes, regex, text);
  }

  #after(starts: ReadonlySet<number>, item: NodeId): ReadonlySet<number> {
    return new Set([...starts].flatMap((start) => [...this.ends(item, start)]));
  }

  #has(bytes: Uint8Array, start: number): boolean {
    return bytes.every((byte, i) => this.#output[start + i] === byte);
  }

  #markerEnds({ token, bytes }: Marker, start: number): number[] {
    const ends = this.#has(bytes, start) ? [start + bytes.length] : [];
    if (token !== undefined && this.#output[start] === tokenSymbol(token)) ends.push(start + 1);
    return ends;
  }

  #textEnds(node: Node & { kind: "text" }, start: number): ReadonlySet<number> {
    const ends = new Set<number>();
    for (let end = start; ; end++) {
      const text = this.#output.slice(start, end);
      const completed = text.some((_, i) =>
        node.until.some((m) => this.#markerEnds(m, start + i).some((e) => e <= end)),
      );
      const bytes = text.filter((symbol) => symbol < 256);
      const barred = node.barred.some((b) => b.length <= bytes.length && b.every((byte, i) => bytes[i] === byte));
      const control = !node.controls && bytes.length < text.length;
      // Here every symbol is a token.
      const spent = text.length > (node.tokensMax ?? Number.POSITIVE_INFINITY);
      if (completed || barred || control || spent) return ends;
      if (node.controls || isUtf8(bytes)) ends.add(end);
      if (end === this.#output.length) return ends;
    }
  }

  /** Every way through a node, the preferred ones first. */
  *walks(id: NodeId, start: number, channel: ChannelName): Generator<Walk, void> {
    const node = this.#ir.nodes[id];
    switch (node?.kind) {
      case "sequence":
        return yield* this.#walkAll(node.items, start, channel);
      case "choice":
        for (const item of node.items) yield* this.walks(item, start, channel);
        return;
      case "repeat":
        return yield* this.#walkRepeat(node, 0, start, channel);
      case "channel":
        return yield* this.walks(node.item, start, node.channel);
      case "record":
        return yield* this.#recordWalks(node, start, channel);
      default:
        for (const end of [...this.ends(id, start)].sort((a, b) => a - b)) {
          yield { end, path: [{ from: start, to: end, channel }] };
        }
    }
  }

  *#walkAll(items: readonly NodeId[], start: number, channel: ChannelName): Generator<Walk, void> {
    const [first, ...others] = items;
    if (first === undefined) return yield { end: start, path: [] };
    for (const head of this.walks(first, start, channel)) {
      for (const tail of this.#walkAll(others, head.end, channel)) {
        yield { end: tail.end, path: [...head.path, ...tail.path] };
      }
    }
  }

  *#walkRepeat(
    node: Node & { kind: "repeat" },
    round: number,
    start: number,
    channel: ChannelName,
  ): Generator<Walk, void> {
    if (round >= node.min) yield { end: start, path: [] };
    if (round === (node.max ?? Number.POSITIVE_INFINITY)) return;
    for (const head of this.walks(node.item, start, channel)) {
      if (head.end === start) continue;
      for (const tail of this.#walkRepeat(node, round + 1, head.end, channel)) {
        yield { end: tail.end, path: [...head.path, ...tail.path] };
      }
    }
  }

  /** Every order of the items; `written` are those before. */
  *#recordWalks(
    node: Node & { kind: "record" },
    start: number,
    channel: ChannelName,
    written: ReadonlySet<number> = new Set(),
  ): Generator<Walk, void> {
    if (node.items.every(({ required }, i) => !required || written.has(i))) yield { end: start, path: [] };
    const separators: Iterable<Walk> =
      written.size === 0 || node.separator === undefined
        ? [{ end: start, path: [] }]
        : this.walks(node.separator, start, channel);
    for (const separator of separators) {
      for (const [i, item] of node.items.entries()) {
        if (written.has(i)) continue;
        for (const head of this.walks(item.node, separator.end, channel)) {
          for (const tail of this.#recordWalks(node, head.end, channel, new Set([...written, i]))) {
            yield { end: tail.end, path: [...separator.path, ...head.path, ...tail.path] };
          }
        }
      }
    }
  }

  /** Whether a parsed value is one of the value's cases. */
  fits(json: Json, id: ValueId, canonical: boolean): boolean {
    const value = this.#ir.values[id];
    if (value === undefined) throw new Error(`no value ${id}`);
    return value.cases.some((item) => this.#fitsCase(json, item, canonical));
  }

  #fitsCase(json: Json, item: Case, canonical: boolean): boolean {
    switch (item.type) {
      case "null":
      case "true":
      case "false":
        return json.type === item.type;
      case "number": {
        if (json.type !== "number") return false;
        // One spelling: zero has no sign.
        if (item.integer && canonical && json.text === "-0") return false;
        if (item.integer && !(canonical || item.plain ? /^-?[0-9]+$/.test(json.text) : isWholeNumber(json.text)))
          return false;
        const { low, high, multipleOf } = item;
        const above = low === undefined ? 1 : compareNumbers(json.text, low.decimal);
        const below = high === undefined ? -1 : compareNumbers(json.text, high.decimal);
        return (
          (above > 0 || (above === 0 && !low?.exclusive)) &&
          (below < 0 || (below === 0 && !high?.exclusive)) &&
          (multipleOf === undefined || isMultiple(json.text, multipleOf)) &&
          !item.multipleOfNone.some((factor) => isMultiple(json.text, factor)) &&
          !item.except.some((value) => compareNumbers(json.text, value) === 0)
        );
      }
      case "string": {
        if (json.type !== "string") return false;
        const length = [...json.text].length;
        if (length < item.lengthMin || length > (item.lengthMax ?? length)) return false;
        if (item.regex !== undefined && !this.#matches(item.regex, json.text)) return false;
        if (item.among === undefined) return !canonical || hasOnlyNeededUnicodeEscapes(json.source);
        return item.among.includes(json.text) && (!canonical || json.source === JSON.stringify(json.text));
      }
      case "array": {
        if (json.type !== "array") return false;
        const { length } = json.items;
        if (length < item.itemsMin || length > (item.itemsMax ?? length)) return false;
        if (item.unique && json.items.some((part, i) => json.items.slice(0, i).some((other) => sameValue(part, other))))
          return false;
        const places = json.items.map((part, i) => ({ json: part, options: item.prefix[i] ?? item.rest }));
        return this.#canCount(places, item.counters, canonical);
      }
      case "object":
        return json.type === "object" && this.#fitsObject(json, item, canonical);
      default:
        return item satisfies never;
    }
  }

  #fitsObject(json: Json & { type: "object" }, item: Case & { type: "object" }, canonical: boolean): boolean {
    const { length } = json.entries;
    if (length < item.membersMin || length > (item.membersMax ?? length)) return false;
    const seen = new Set(json.entries.map((entry) => entry.key));
    if (seen.size !== length) return false;
    if (item.properties.some((property) => property.required && !seen.has(property.key))) return false;
    const order = json.entries.map(({ key }) => item.properties.findIndex((property) => property.key === key));
    const positions = order.map((place) => (place < 0 ? item.properties.length : place));
    if (item.ordered && positions.some((place, i) => place < (positions[i - 1] ?? 0))) return false;
    if (canonical && json.entries.some(({ key, source }) => source !== JSON.stringify(key))) return false;
    const places = json.entries.map(({ key, value }) => {
      const declared = item.properties.find((property) => property.key === key);
      const classes = item.others.filter(({ keys }) => keys === undefined || this.#matches(keys, key));
      return { json: value, options: declared?.options ?? classes.flatMap(({ options }) => options) };
    });
    return this.#canCount(places, item.counters, canonical);
  }

  /** Whether every place can take one of its options so that all counters end within their bounds. */
  #canCount(
    places: readonly { readonly json: Json; readonly options: Options }[],
    counters: readonly Counter[],
    canonical: boolean,
  ): boolean {
    let reached = new Map([["", counters.map(() => 0)]]);
    for (const { json, options } of places) {
      const next = new Map<string, number[]>();
      for (const { value, counts } of options) {
        if (!this.fits(json, value, canonical)) continue;
        for (const before of reached.values()) {
          const after = before.map((count, i) => count + ((counts >> i) & 1));
          next.set(after.join(), after);
        }
      }
      reached = next;
    }
    return [...reached.values()].some((counted) =>
      counters.every(
        ({ min, max }, i) => (counted[i] ?? 0) >= min && (counted[i] ?? 0) <= (max ?? Number.POSITIVE_INFINITY),
      ),
    );
  }
}

/** Whether the whitespace is within the style's bounds: one space after `,` and `:` may be free. */
function spaced(json: Json, style: JsonStyle): boolean {
  return (
    json.space - (style.freeSpace ? json.separatorsWithSpace : 0) <= (style.whitespaceMax ?? Number.POSITIVE_INFINITY)
  );
}

/** Equal as JSON values: numbers by value, objects whatever the order of their keys. */
function sameValue(a: Json, b: Json): boolean {
  if (a.type === "number" && b.type === "number") return compareNumbers(a.text, b.text) === 0;
  if (a.type === "string" && b.type === "string") return a.text === b.text;
  if (a.type === "array" && b.type === "array") {
    const { items } = b;
    return a.items.length === items.length && a.items.every((item, i) => sameValue(item, items[i] ?? item));
  }
  if (a.type === "object" && b.type === "object") {
    const values = new Map(b.entries.map(({ key, value }) => [key, value]));
    return (
      a.entries.length === b.entries.length &&
      a.entries.every(({ key, value }) => {
        const other = values.get(key);
        return other !== undefined && sameValue(value, other);
      })
    );
  }
  return a.type === b.type;
}

function hasOnlyNeededUnicodeEscapes(source: string): boolean {
  return [...source.matchAll(/\\(?:u([0-9a-fA-F]{4})|.)/gs)].every(
    ([, code]) => code === undefined || Number.parseInt(code, 16) < 0x20,
  );
}

/** A byte order mark is text like any other. */
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

function isUtf8(bytes: readonly number[]): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(bytes));
    return true;
  } catch {
    return false;
  }
}
