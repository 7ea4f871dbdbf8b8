import type { Case, ChannelName, Ir, JsonStyle, Marker, Node, NodeId, ValueId } from "../../src/grammar/ir.ts";
import { type Json, parseJsonBytes } from "./json-bytes.ts";
import { compareNumbers, isWholeNumber } from "./rational.ts";

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
    return runs.map(({ channel, bytes }) => [channel, new TextDecoder().decode(Uint8Array.from(bytes))]);
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
      default:
        return node satisfies never;
    }
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
      if (completed || barred || control) return ends;
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
        if (item.integer && !(canonical || item.plain ? /^-?[0-9]+$/.test(json.text) : isWholeNumber(json.text)))
          return false;
        const { low, high } = item;
        const above = low === undefined ? 1 : compareNumbers(json.text, low.decimal);
        const below = high === undefined ? -1 : compareNumbers(json.text, high.decimal);
        return (above > 0 || (above === 0 && !low?.exclusive)) && (below < 0 || (below === 0 && !high?.exclusive));
      }
      case "string": {
        if (json.type !== "string") return false;
        const length = [...json.text].length;
        if (length < item.lengthMin || length > (item.lengthMax ?? length)) return false;
        if (item.among === undefined) return !canonical || hasOnlyNeededUnicodeEscapes(json.source);
        return item.among.includes(json.text) && (!canonical || json.source === JSON.stringify(json.text));
      }
      case "array": {
        if (json.type !== "array") return false;
        const { length } = json.items;
        if (length < item.itemsMin || length > (item.itemsMax ?? length)) return false;
        return json.items.every((part, i) => {
          const value = i < item.prefix.length ? item.prefix[i] : item.rest;
          return value !== undefined && this.fits(part, value, canonical);
        });
      }
      case "object":
        return json.type === "object" && this.#fitsObject(json, item, canonical);
      default:
        return item satisfies never;
    }
  }

  #fitsObject(json: Json & { type: "object" }, item: Case & { type: "object" }, canonical: boolean): boolean {
    const seen = new Set(json.entries.map((entry) => entry.key));
    if (seen.size !== json.entries.length) return false;
    if (item.properties.some((property) => property.required && !seen.has(property.key))) return false;
    const order = json.entries.map(({ key }) => item.properties.findIndex((property) => property.key === key));
    const places = order.map((place) => (place < 0 ? item.properties.length : place));
    if (item.ordered && places.some((place, i) => place < (places[i - 1] ?? 0))) return false;
    return json.entries.every(({ key, source, value }) => {
      const declared = item.properties.find((property) => property.key === key);
      const fitting = declared === undefined ? item.rest : declared.value;
      if (canonical && source !== JSON.stringify(key)) return false;
      return fitting !== undefined && this.fits(value, fitting, canonical);
    });
  }
}

/** Whether the whitespace is within the style's bounds: one space after `,` and `:` may be free. */
function spaced(json: Json, style: JsonStyle): boolean {
  return (
    json.space - (style.freeSpace ? json.separatorsWithSpace : 0) <= (style.whitespaceMax ?? Number.POSITIVE_INFINITY)
  );
}

function hasOnlyNeededUnicodeEscapes(source: string): boolean {
  return [...source.matchAll(/\\(?:u([0-9a-fA-F]{4})|.)/gs)].every(
    ([, code]) => code === undefined || Number.parseInt(code, 16) < 0x20,
  );
}

function isUtf8(bytes: readonly number[]): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(bytes));
    return true;
  } catch {
    return false;
  }
}
