import {
  type Case,
  type Counter,
  channels,
  type Ir,
  type Marker,
  type Node,
  type Options,
  type Regex,
  type Value,
} from "./ir.ts";

/**
 * Ir → bytes, the form in which a grammar crosses to zig/grammar. Little-endian u32 words, then a pool of bytes.
 *
 *     header   magic "TNIR", version, nodes, values, regexes, root, words (of records), pool bytes
 *     index    for each node, then each value, then each regex: the word offset of its record, from the first record
 *     records  node: tag, fields · value: origin, case count, cases; a case: tag, fields · regex: tag, fields
 *     pool     the bytes that spans (offset, length) point into
 *
 * Lists are a count and their elements; `none` stands for an absent index or an absent bound.
 */
export function encodeIr(ir: Ir): Uint8Array<ArrayBuffer> {
  const writer = new RecordWriter();
  const index: number[] = [];
  for (const node of ir.nodes) {
    index.push(writer.count);
    writeNode(writer, node);
  }
  for (const value of ir.values) {
    index.push(writer.count);
    writeValue(writer, value);
  }
  for (const regex of ir.regexes) {
    index.push(writer.count);
    writeRegex(writer, regex);
  }
  const counts = [ir.nodes.length, ir.values.length, ir.regexes.length];
  const header = [magic, version, ...counts, ir.root, writer.count, writer.poolBytes];
  const wordCount = header.length + index.length + writer.count;
  const bytes = new Uint8Array(wordCount * 4 + writer.poolBytes);
  const words = new Uint32Array(bytes.buffer, 0, wordCount);
  words.set(header);
  words.set(index, header.length);
  words.set(writer.records.subarray(0, writer.count), header.length + index.length);
  bytes.set(writer.pool.subarray(0, writer.poolBytes), wordCount * 4);
  return bytes;
}

/** "TNIR" as a little-endian word. */
const magic = 0x52494e54;
const version = 2;
const none = 0xffffffff;

const nodeTags = {
  bytes: 0,
  token: 1,
  marker: 2,
  sequence: 3,
  choice: 4,
  repeat: 5,
  channel: 6,
  text: 7,
  json: 8,
  regex: 9,
  texts: 10,
  any_token: 11,
  record: 12,
} as const satisfies Record<Node["kind"], number>;

const caseTags = {
  null: 0,
  true: 1,
  false: 2,
  number: 3,
  string: 4,
  array: 5,
  object: 6,
} as const satisfies Record<Case["type"], number>;

const regexTags = {
  class: 0,
  concat: 1,
  union: 2,
  intersection: 3,
  complement: 4,
  repeat: 5,
} as const satisfies Record<Regex["kind"], number>;

function writeNode(out: RecordWriter, node: Node): void {
  out.word(nodeTags[node.kind]);
  switch (node.kind) {
    case "bytes":
      return out.span(node.bytes);
    case "token":
      return out.word(node.token);
    case "marker":
      return writeMarker(out, node);
    case "sequence":
    case "choice":
      return out.list(node.items);
    case "repeat":
      return out.words(node.item, node.min, node.max ?? none);
    case "channel":
      return out.pair(channels[node.channel], node.item);
    case "text":
      out.pair(node.controls ? 1 : 0, node.until.length);
      for (const marker of node.until) writeMarker(out, marker);
      out.word(node.barred.length);
      for (const bytes of node.barred) out.span(bytes);
      return out.word(node.tokensMax ?? none);
    case "json": {
      const { freeSpace, whitespaceMax, spelling } = node.style;
      return out.words(node.value, freeSpace ? 1 : 0, whitespaceMax ?? none, spelling === "spec" ? 1 : 0);
    }
    case "regex":
      return out.word(node.regex);
    case "texts":
      out.word(node.texts.length);
      for (const text of node.texts) out.span(text);
      return;
    case "record":
      out.pair(node.separator ?? none, node.items.length);
      for (const item of node.items) out.pair(item.node, item.required ? 1 : 0);
      return;
    case "any_token":
      return out.list(node.except);
    default:
      return node satisfies never;
  }
}

function writeRegex(out: RecordWriter, regex: Regex): void {
  out.word(regexTags[regex.kind]);
  switch (regex.kind) {
    case "class":
      out.word(regex.ranges.length);
      for (const [first, last] of regex.ranges) out.pair(first, last);
      return;
    case "concat":
    case "union":
    case "intersection":
      return out.list(regex.items);
    case "complement":
      return out.word(regex.item);
    case "repeat":
      return out.words(regex.item, regex.min, regex.max ?? none);
    default:
      return regex satisfies never;
  }
}

function writeMarker(out: RecordWriter, marker: Marker): void {
  out.word(marker.token ?? none);
  out.span(marker.bytes);
}

function writeValue(out: RecordWriter, value: Value): void {
  out.pair(value.origin, value.cases.length);
  for (const item of value.cases) writeCase(out, item);
}

function writeCase(out: RecordWriter, item: Case): void {
  out.word(caseTags[item.type]);
  switch (item.type) {
    case "null":
    case "true":
    case "false":
      return;
    case "number":
      out.word(item.plain ? 2 : item.integer ? 1 : 0);
      for (const bound of [item.low, item.high]) {
        out.word(bound === undefined ? 0 : bound.exclusive ? 2 : 1);
        out.text(bound?.decimal ?? "");
      }
      out.text(item.multipleOf ?? "");
      out.texts(item.multipleOfNone);
      return out.texts(item.except);
    case "string":
      out.words(item.lengthMin, item.lengthMax ?? none, item.regex ?? none, item.among === undefined ? 0 : 1);
      return out.texts(item.among ?? []);
    case "array":
      out.words(item.itemsMin, item.itemsMax ?? none, item.unique ? 1 : 0);
      writeCounters(out, item.counters);
      writeOptions(out, item.rest);
      out.word(item.prefix.length);
      for (const options of item.prefix) writeOptions(out, options);
      return;
    case "object":
      out.words(item.membersMin, item.membersMax ?? none, item.ordered ? 1 : 0);
      writeCounters(out, item.counters);
      out.word(item.properties.length);
      for (const property of item.properties) {
        out.text(property.key);
        out.word(property.required ? 1 : 0);
        writeOptions(out, property.options);
      }
      out.word(item.others.length);
      for (const { keys, options } of item.others) {
        out.word(keys ?? none);
        writeOptions(out, options);
      }
      return;
    default:
      return item satisfies never;
  }
}

function writeOptions(out: RecordWriter, options: Options): void {
  out.word(options.length);
  for (const { value, counts } of options) out.pair(value, counts);
}

function writeCounters(out: RecordWriter, counters: readonly Counter[]): void {
  out.word(counters.length);
  for (const { min, max } of counters) out.pair(min, max ?? none);
}

class RecordWriter {
  /** Both grow; only the first `count` words and `poolBytes` bytes are written. */
  records = new Uint32Array(1024);
  count = 0;
  pool = new Uint8Array(1024);
  poolBytes = 0;

  word(word: number): void {
    if (this.count === this.records.length) {
      const larger = new Uint32Array(2 * this.count);
      larger.set(this.records);
      this.records = larger;
    }
    this.records[this.count++] = word;
  }

  pair(first: number, second: number): void {
    this.word(first);
    this.word(second);
  }

  words(...words: readonly number[]): void {
    for (const word of words) this.word(word);
  }

  list(items: readonly number[]): void {
    this.word(items.length);
    for (const item of items) this.word(item);
  }

  text(text: string): void {
    // No character takes more than three bytes for each of its UTF-16 units.
    this.#reserve(text.length * 3);
    if (this.#ascii(text)) {
      this.pair(this.poolBytes, text.length);
      this.poolBytes += text.length;
      return;
    }
    const { written } = utf8.encodeInto(text, this.pool.subarray(this.poolBytes));
    this.pair(this.poolBytes, written);
    this.poolBytes += written;
  }

  texts(texts: readonly string[]): void {
    this.word(texts.length);
    for (const text of texts) this.text(text);
  }

  /** A span of the pool: offset and length, in bytes. */
  span(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.pool.set(bytes, this.poolBytes);
    this.pair(this.poolBytes, bytes.length);
    this.poolBytes += bytes.length;
  }

  /** Puts a short text behind the pool, as most are; whether all of it is ASCII. */
  #ascii(text: string): boolean {
    if (text.length > 64) return false;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code >= 0x80) return false;
      this.pool[this.poolBytes + i] = code;
    }
    return true;
  }

  #reserve(bytes: number): void {
    if (this.poolBytes + bytes <= this.pool.length) return;
    const larger = new Uint8Array(2 * (this.poolBytes + bytes));
    larger.set(this.pool.subarray(0, this.poolBytes));
    this.pool = larger;
  }
}

const utf8 = new TextEncoder();
