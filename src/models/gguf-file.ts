import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { fail, ok, type Result } from "../generation/result.ts";
import { ggufHeaderBytesMax, ggufHeaderReadBytes } from "../limits.ts";
import type { ModelFailure } from "./failure.ts";
import type { TextTable } from "./text-table.ts";

/**
 * The container, as ggml's gguf.h describes it: little-endian header, key-value pairs, tensor infos, aligned data. Arrays
 * stay typed arrays and text tables, since turning every token into a string takes most of a second on large vocabularies
 * (docs/decisions/0005-gguf-reader.md).
 */
export type GgufFile = {
  readonly path: string;
  readonly fileBytes: number;
  readonly metadata: ReadonlyMap<string, GgufValue>;
  readonly tensors: readonly GgufTensor[];
};

export type GgufValue = string | boolean | number | bigint | TextTable | GgufNumbers;
/** 64-bit integers are read as doubles; bool as 0 and 1. */
export type GgufNumbers =
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | Int32Array
  | Float32Array
  | Float64Array;

export type GgufTensor = {
  readonly name: string;
  /** ggml's type number. */
  readonly format: number;
  /** Contiguous dimension first. */
  readonly shape: readonly number[];
  /** Bytes from the start of the file. */
  readonly offset: number;
};

export function readGgufFile(path: string): Result<GgufFile, ModelFailure> {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    return fail({ kind: "missing", message: `cannot open ${path}: ${error instanceof Error ? error.message : error}` });
  }
  try {
    const fileBytes = fstatSync(file).size;
    // Nearly always the first read has the whole header; where it has not, the next one starts again with more.
    for (let size = ggufHeaderReadBytes; ; size *= 4) {
      const bytes = new Uint8Array(Math.min(size, fileBytes));
      const loaded = readSync(file, bytes, 0, bytes.length, 0);
      const header = parseGgufHeader(bytes.subarray(0, loaded), fileBytes);
      if (header.ok) return ok({ path, fileBytes, ...header.value });
      if (header.failure.kind === "incomplete" && loaded === bytes.length && size < fileBytes) {
        if (size <= ggufHeaderBytesMax) continue;
        return fail({ kind: "corrupt", message: `${path}: its header is longer than ${ggufHeaderBytesMax} bytes` });
      }
      if (header.failure.kind === "unsupported") {
        return fail({ kind: "unsupported", message: `${path}: ${header.failure.message}` });
      }
      return fail({ kind: "corrupt", message: `${path}: ${header.failure.message}` });
    }
  } catch (error) {
    return fail({ kind: "missing", message: `cannot read ${path}: ${error instanceof Error ? error.message : error}` });
  } finally {
    closeSync(file);
  }
}

type HeaderFailure = { readonly kind: "incomplete" | "corrupt" | "unsupported"; readonly message: string };

/** Parses the first bytes of a file that has `fileBytes` of them. `incomplete`: more bytes might help. */
export function parseGgufHeader(
  bytes: Uint8Array,
  fileBytes: number,
): Result<{ metadata: Map<string, GgufValue>; tensors: GgufTensor[] }, HeaderFailure> {
  const reader = new Reader(bytes, fileBytes);
  if (reader.u32() !== 0x46554747) reader.refuse("corrupt", "is not a GGUF file (its first bytes are not `GGUF`)");
  const version = reader.u32();
  if (version !== 2 && version !== 3) {
    const swapped = version === 0x02000000 || version === 0x03000000;
    reader.refuse("unsupported", swapped ? "is a big-endian GGUF file" : `has GGUF version ${version}, not 2 or 3`);
  }
  // A tensor info takes at least 24 bytes and a pair at least 13: what claims more than the file can hold is corrupt.
  const tensorCount = reader.count(24, "tensors");
  const pairCount = reader.count(13, "metadata pairs");
  const metadata = new Map<string, GgufValue>();
  for (let index = 0; index < pairCount && reader.failure === undefined; index++) {
    const key = reader.string();
    const value = reader.value(reader.u32(), key);
    if (metadata.has(key)) reader.refuse("corrupt", `has the key ${key} twice`);
    metadata.set(key, value);
  }
  const infos: GgufTensor[] = [];
  for (let index = 0; index < tensorCount && reader.failure === undefined; index++) infos.push(reader.tensor());
  const alignment = metadata.get("general.alignment") ?? 32;
  if (typeof alignment !== "number" || alignment < 1 || !Number.isInteger(Math.log2(alignment))) {
    reader.refuse("corrupt", `has the alignment ${alignment}, which is no power of two`);
  }
  if (reader.failure !== undefined) return fail(reader.failure);
  const dataStart = Math.ceil(reader.position / Number(alignment)) * Number(alignment);
  return ok({ metadata, tensors: infos.map((info) => ({ ...info, offset: info.offset + dataStart })) });
}

/** ggml's gguf_type numbers. */
const types = {
  u8: 0,
  i8: 1,
  u16: 2,
  i16: 3,
  u32: 4,
  i32: 5,
  f32: 6,
  bool: 7,
  string: 8,
  array: 9,
  u64: 10,
  i64: 11,
  f64: 12,
} as const;
const elementBytes = [1, 1, 2, 2, 4, 4, 4, 1, 8, 12, 8, 8, 8] as const;
const dimensionsMax = 4;

/** After its first failure a reader yields zeros and empty texts, so that loops only have to look at `failure`. */
class Reader {
  position = 0;
  failure: HeaderFailure | undefined;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #fileBytes: number;

  constructor(bytes: Uint8Array, fileBytes: number) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#fileBytes = fileBytes;
  }

  refuse(kind: HeaderFailure["kind"], message: string): void {
    this.failure ??= { kind, message };
  }

  /** The position of `size` bytes that are there, after which the reader stands; undefined once failed. */
  #take(size: number): number | undefined {
    if (this.failure !== undefined) return undefined;
    if (size > this.#bytes.length - this.position) {
      if (size > this.#fileBytes - this.position) {
        this.refuse("corrupt", `is truncated: its header goes on after the last of its ${this.#fileBytes} bytes`);
      } else this.refuse("incomplete", "has a longer header than was read");
      return undefined;
    }
    const start = this.position;
    this.position += size;
    return start;
  }

  u32(): number {
    const at = this.#take(4);
    return at === undefined ? 0 : this.#view.getUint32(at, true);
  }

  /** Sizes and counts, which are refused where a double is not exact. */
  size(what: string): number {
    const at = this.#take(8);
    if (at === undefined) return 0;
    const size = this.#view.getUint32(at, true) + this.#view.getUint32(at + 4, true) * 2 ** 32;
    if (Number.isSafeInteger(size)) return size;
    this.refuse("corrupt", `has ${what} of an impossible size`);
    return 0;
  }

  count(bytesEach: number, what: string): number {
    const count = this.size(what);
    if (count * bytesEach <= this.#fileBytes - this.position) return count;
    this.refuse(
      "corrupt",
      `is truncated: it declares ${count} ${what}, more than its ${this.#fileBytes} bytes can hold`,
    );
    return 0;
  }

  string(): string {
    const at = this.#take(this.count(1, "characters"));
    return at === undefined ? "" : decoder.decode(this.#bytes.subarray(at, this.position));
  }

  value(type: number, key: string): GgufValue {
    if (type === types.string) return this.string();
    if (type === types.array) return this.#array(this.u32(), key);
    const bytes = elementBytes[type];
    if (bytes === undefined) {
      this.refuse("corrupt", `has a value of unknown type ${type} at ${key}`);
      return 0;
    }
    const at = this.#take(bytes);
    return at === undefined ? 0 : this.#scalar(type, at);
  }

  #scalar(type: number, at: number): number | bigint | boolean {
    const view = this.#view;
    switch (type) {
      case types.u8:
        return view.getUint8(at);
      case types.i8:
        return view.getInt8(at);
      case types.u16:
        return view.getUint16(at, true);
      case types.i16:
        return view.getInt16(at, true);
      case types.u32:
        return view.getUint32(at, true);
      case types.i32:
        return view.getInt32(at, true);
      case types.f32:
        return view.getFloat32(at, true);
      case types.bool:
        return view.getUint8(at) !== 0;
      case types.f64:
        return view.getFloat64(at, true);
      default: {
        const value = type === types.u64 ? view.getBigUint64(at, true) : view.getBigInt64(at, true);
        return Number.isSafeInteger(Number(value)) ? Number(value) : value;
      }
    }
  }

  #array(type: number, key: string): TextTable | GgufNumbers {
    const bytesEach = elementBytes[type];
    if (bytesEach === undefined) this.refuse("corrupt", `has an array of unknown type ${type} at ${key}`);
    if (type === types.array) this.refuse("unsupported", `has an array of arrays at ${key}`);
    const count = this.count(bytesEach ?? 1, `elements of ${key}`);
    if (type === types.string) return this.#texts(count);
    const at = this.#take(count * (bytesEach ?? 1));
    if (at === undefined) return new Uint8Array(0);
    // Copied, since elements of a typed array must be aligned and those of a file need not be.
    const buffer = this.#bytes.slice(at, this.position).buffer;
    switch (type) {
      case types.i8:
        return new Int8Array(buffer);
      case types.u16:
        return new Uint16Array(buffer);
      case types.i16:
        return new Int16Array(buffer);
      case types.u32:
        return new Uint32Array(buffer);
      case types.i32:
        return new Int32Array(buffer);
      case types.f32:
        return new Float32Array(buffer);
      case types.f64:
        return new Float64Array(buffer);
      case types.u64:
        return Float64Array.from(new BigUint64Array(buffer), Number);
      case types.i64:
        return Float64Array.from(new BigInt64Array(buffer), Number);
      default:
        return new Uint8Array(buffer);
    }
  }

  #texts(count: number): TextTable {
    const starts = new Uint32Array(count);
    const ends = new Uint32Array(count);
    for (let index = 0; index < count && this.failure === undefined; index++) {
      const length = this.size("a text");
      const at = this.#take(length);
      if (at === undefined) break;
      starts[index] = at;
      ends[index] = this.position;
    }
    return { count, bytes: this.#bytes, starts, ends };
  }

  tensor(): GgufTensor {
    const name = this.string();
    const dimensions = this.u32();
    if (dimensions < 1 || dimensions > dimensionsMax) {
      this.refuse("corrupt", `has a tensor ${name} of ${dimensions} dimensions`);
      return { name, format: 0, shape: [], offset: 0 };
    }
    const shape = Array.from({ length: dimensions }, () => this.size(`tensor ${name}`));
    return { name, shape, format: this.u32(), offset: this.size(`offset of tensor ${name}`) };
  }
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
