import { libraryPath, openLibrary } from "./engine/library.ts";
import { createMatcher, type Matcher as NativeMatcher } from "./engine/matcher.ts";
import { type NativeVocabulary, openVocabulary } from "./engine/vocabulary.ts";
import type { GrammarSource } from "./generation/grammar-source.ts";
import { type AskedPolicy, defaultPolicy, policyFault, policyWith } from "./generation/policy.ts";
import { fail, ok, type Result } from "./generation/result.ts";
import type { SchemaDocument } from "./generation/schema-document.ts";
import { encodeIr } from "./grammar/encode.ts";
import { type IrBuilder, irBuilder, type NodeId } from "./grammar/ir.ts";
import { type Documents, noDocuments, readDocuments } from "./grammar/json-schema/documents.ts";
import { lowerSchema } from "./grammar/json-schema/lower.ts";
import type { Refusal } from "./grammar/json-schema/schema.ts";
import { lexiconIndex } from "./grammar/lexicon/reading.ts";
import { jsonStyle, schemaOptions } from "./grammar/policy.ts";
import { lowerGrammar } from "./grammar/source.ts";
import { undeclaredTokens } from "./models/card.ts";
import { readGguf } from "./models/gguf.ts";
import { grammarTokens } from "./tokenizer/grammar-tokens.ts";
import { jsonTokenizer } from "./tokenizer/json.ts";
import { loadTokenizer } from "./tokenizer/load.ts";
import type { Tokenizer } from "./tokenizer/tokenizer.ts";

/**
 * `tenon/constraint`: the mask engine without the server, for whoever brings the model. Everything here is synchronous and belongs
 * to the thread that made it.
 */

/** The tokens of one model, as the engine needs them. Constraints are compiled for it and keep it alive. */
export class Vocabulary {
  readonly tokenizer: Tokenizer;
  readonly #native: NativeVocabulary;

  private constructor(tokenizer: Tokenizer, native: NativeVocabulary) {
    this.tokenizer = tokenizer;
    this.#native = native;
  }

  /** Reads a tokenizer.json or a GGUF file. Throws an `Error` with a sentence for the user where the file cannot be used. */
  static async load(path: string, library?: string): Promise<Vocabulary> {
    if (!(await Bun.file(path).exists())) throw new Error(`there is no file ${path}`);
    const read = path.endsWith(".json") ? jsonTokenizer(path, undeclaredTokens) : ggufTokenizerOf(path);
    return Vocabulary.of(unwrap(read), library);
  }

  /** `library`: the path of the native library. */
  static of(tokenizer: Tokenizer, library = process.env["TENON_LIBRARY"] || libraryPath()): Vocabulary {
    return new Vocabulary(tokenizer, unwrap(openVocabulary(unwrap(openLibrary(library)), tokenizer.vocabulary)));
  }

  /** Tokens. */
  get count(): number {
    return this.#native.count;
  }

  get native(): NativeVocabulary {
    return this.#native;
  }

  [Symbol.dispose](): void {
    this.#native[Symbol.dispose]();
  }
}

/** What JSON leaves open; see `Policy` for each option. */
export type ConstraintPolicy = Omit<AskedPolicy, "relax">;

/** What an output has to be. Schemas, patterns and grammars are text; a schema may also be given as a value. */
export type ConstraintSource =
  | { readonly kind: "json_schema"; readonly schema: string | object | boolean; readonly policy?: ConstraintPolicy }
  /** Any JSON value. */
  | { readonly kind: "json"; readonly policy?: ConstraintPolicy }
  | { readonly kind: "gbnf" | "lark"; readonly grammar: string }
  /** ECMAScript; the whole output has to match. */
  | { readonly kind: "regex"; readonly pattern: string }
  | { readonly kind: "choice"; readonly choices: readonly string[] }
  | { readonly kind: "lexicon"; readonly words: readonly string[]; readonly fold?: boolean }
  | { readonly kind: "structural_tag"; readonly structure: string | object };

/**
 * Reads outputs of a lexicon: `entries` cuts one into its words and names the entry that each is, or is a spelling of; undefined for a text
 * that is no output of it. `nearest` are the entries that sound like a word of another list.
 */
export function lexiconReader({ words, fold = false }: Extract<ConstraintSource, { kind: "lexicon" }>) {
  return lexiconIndex({ words, fold });
}

/** Why something cannot be enforced: where, by which keyword or rule (each may be empty), and a sentence. */
export type ConstraintFailure = { readonly pointer: string; readonly keyword: string; readonly message: string };

export type CompileOptions = {
  /** Tokens that end the output where it may end; by default those of the model. */
  readonly stopTokens?: readonly number[];
  /** What references in schemas may lead to. Nothing is ever fetched. */
  readonly documents?: readonly ConstraintDocument[];
};

/** A schema by an absolute URI, or by the name that a schema without an identifier has for it. */
export type ConstraintDocument = Pick<SchemaDocument, "name" | "alias"> & {
  readonly schema: string | object | boolean;
};

/** A failure is never a weaker constraint: what compiles is enforced whole. */
export function compile(
  vocabulary: Vocabulary,
  source: ConstraintSource,
  { stopTokens = vocabulary.tokenizer.stopTokens, documents = [] }: CompileOptions = {},
): Result<Compiled, ConstraintFailure> {
  const builder = irBuilder();
  const read = readDocuments(documents.map(({ schema, ...rest }) => ({ ...rest, text: textOf(schema) })));
  if (!read.ok) {
    const { name, reason } = read.failure;
    return fail({ pointer: `${name}#`, keyword: "", message: `The document '${name}' ${reason}.` });
  }
  const lowered = lower(builder, vocabulary.tokenizer, source, read.value);
  if (!lowered.ok) return fail(failureOf(lowered.failure));
  const { root, places } = lowered.value;
  const grammar = vocabulary.native.compile(encodeIr(builder.finish(root)));
  if (!grammar.ok) {
    const { message, origin } = grammar.failure;
    const pointer = (origin === undefined ? undefined : places[origin]) ?? "";
    return fail(failureOf({ pointer, keyword: "", reason: `cannot be compiled: ${message}` }));
  }
  const compiled = grammar.value;
  return ok({
    costMin: compiled.costMin,
    matcher: () => new Matcher(vocabulary, unwrap(createMatcher(vocabulary.native, compiled, stopTokens))),
    [Symbol.dispose]: () => compiled[Symbol.dispose](),
  });
}

/** A constraint, ready for any number of outputs. Its matchers keep it alive. */
export type Compiled = Disposable & {
  /** Tokens of the shortest output, without a stop token. */
  readonly costMin: number;
  /** Throws when too many matchers of this vocabulary are alive; each is to be disposed. */
  matcher(): Matcher;
};

/** Follows one output. */
export class Matcher {
  readonly #vocabulary: Vocabulary;
  readonly #native: NativeMatcher;
  /** Accepted so far, stop tokens included. */
  readonly #tokens: number[];

  constructor(vocabulary: Vocabulary, native: NativeMatcher, tokens: readonly number[] = []) {
    this.#vocabulary = vocabulary;
    this.#native = native;
    this.#tokens = [...tokens];
  }

  /**
   * Bit `t & 31` of word `t >> 5` says that token t may come next. A view over native memory, valid until the next call. With
   * `tokensLeft` only tokens after which the output can be finished within that many, this one included.
   */
  mask(tokensLeft?: number): Uint32Array {
    this.#native.fill(tokensLeft === undefined ? undefined : Math.min(Math.max(0, Math.floor(tokensLeft)), tokensMax));
    return this.#native.mask;
  }

  /** False, and the state unchanged, when the token is not allowed. */
  accept(token: number): boolean {
    const accepted = this.#isToken(token) && this.#native.accept(token);
    if (accepted) this.#tokens.push(token);
    return accepted;
  }

  /** Whether the output may end here. */
  get acceptsEnd(): boolean {
    return this.#native.acceptsEnd();
  }

  /** Whether nothing but the end may follow. */
  get isComplete(): boolean {
    return this.#native.isComplete();
  }

  /** Tokens of the shortest completion from here. */
  get cost(): number {
    return this.#native.cost();
  }

  /**
   * The usual tokens of the text that has to follow, maybe none: what a model that agrees would write. Whitespace that may be
   * written or left out follows the usual layout. Tokens at the end that the next ones could still merge with are left out.
   */
  draft(): Uint32Array {
    const forced = this.#native.forced();
    if (forced.length === 0) return new Uint32Array();
    const tokens = this.#usualTokens(forced);
    return tokens.subarray(0, this.#settled(tokens, forced));
  }

  /** An independent matcher at the same place; it cannot be rolled back further than that. */
  fork(): Matcher {
    return new Matcher(this.#vocabulary, unwrap(this.#native.fork()), this.#tokens);
  }

  /** Takes back the last `count` accepted tokens; false, and nothing changed, where there are fewer or more than are remembered. */
  rollback(count: number): boolean {
    if (!Number.isInteger(count) || count < 0 || count > this.#tokens.length) return false;
    if (!this.#native.rollback(count)) return false;
    this.#tokens.length -= count;
    return true;
  }

  /**
   * The mask after these tokens, which stay unaccepted; undefined when one of them is not allowed. A view, as `mask()` is. Throws, and
   * nothing changed, where the draft is longer than can be taken back.
   */
  maskAfter(draft: Iterable<number>): Uint32Array | undefined {
    let accepted = 0;
    let allowed = true;
    for (const token of draft) {
      allowed = accepted < draftTokensMax && this.#isToken(token) && this.#native.accept(token);
      if (!allowed) break;
      accepted++;
    }
    if (allowed) this.#native.fill();
    this.#native.rollback(accepted);
    if (!allowed && accepted === draftTokensMax) throw new RangeError(`a draft has at most ${draftTokensMax} tokens`);
    return allowed ? this.#native.mask : undefined;
  }

  [Symbol.dispose](): void {
    this.#native[Symbol.dispose]();
  }

  /** The engine takes 32 bits of any number. */
  #isToken(token: number): boolean {
    return Number.isInteger(token) && token >= 0 && token < this.#vocabulary.count;
  }

  /** The tokens that the tokenizer writes for `forced` after what is there: what came before may belong to the same word. */
  #usualTokens(forced: Uint8Array): Uint32Array {
    const { tokenizer } = this.#vocabulary;
    const before = tokenizer.decode(this.#tokens.slice(-contextTokens), { special: false });
    const start = characterStart(before);
    const context = before.subarray(start);
    const whole = tokenizer.encode(utf8.decode(Buffer.concat([context, forced])), { special: false });
    let length = 0;
    let at = 0;
    for (; at < whole.length && length < context.length; at++) length += this.#bytesOf(whole[at] ?? 0).length;
    if (length === context.length) return whole.subarray(at);
    return tokenizer.encode(utf8.decode(forced), { special: false });
  }

  /** How many of the tokens stay as they are whatever follows: no allowed token begins with all that is left and goes on. */
  #settled(tokens: Uint32Array, forced: Uint8Array): number {
    for (let kept = Math.max(0, tokens.length - mergingTokens); kept < tokens.length; kept++) {
      let length = 0;
      for (const token of tokens.subarray(0, kept)) length += this.#bytesOf(token).length;
      const rest = forced.subarray(length);
      const mask = this.maskAfter(tokens.subarray(0, kept));
      // A token of the draft that is not allowed, such as one the grammar names elsewhere, ends it.
      if (mask === undefined) return Math.max(0, kept - 1);
      for (const token of tokensIn(mask)) {
        const bytes = this.#bytesOf(token);
        if (bytes.length > rest.length && rest.every((byte, i) => bytes[i] === byte)) return kept;
      }
    }
    return tokens.length;
  }

  #bytesOf(token: number): Uint8Array {
    const { bytes, offsets } = this.#vocabulary.tokenizer.vocabulary;
    return bytes.subarray(offsets[token], offsets[token + 1]);
  }
}

/** The tokens of a mask, ascending. */
export function* tokensIn(mask: Uint32Array): Generator<number, void> {
  for (const [index, word] of mask.entries()) {
    for (let left = word; left !== 0; left &= left - 1) yield index * 32 + 31 - Math.clz32(left & -left);
  }
}

type Lowered = { readonly root: NodeId; readonly places: readonly string[] };

function lower(
  builder: IrBuilder,
  tokenizer: Tokenizer,
  source: ConstraintSource,
  documents: Documents,
): Result<Lowered, Refusal> {
  switch (source.kind) {
    case "json":
      return lowerJson(builder, "{}", noDocuments, source.policy);
    case "json_schema": {
      const { schema, policy } = source;
      return lowerJson(builder, textOf(schema), documents, policy);
    }
    default: {
      const options = { ...grammarTokens(tokenizer), policy: defaultPolicy, documents, originFirst: 0 };
      const lowered = lowerGrammar(builder, grammarSource(source), options);
      return lowered.ok ? ok({ root: lowered.value.node, places: lowered.value.places }) : lowered;
    }
  }
}

function lowerJson(
  builder: IrBuilder,
  schema: string,
  documents: Documents,
  asked: ConstraintPolicy = {},
): Result<Lowered, Refusal> {
  const fault = policyFault(asked);
  if (fault !== undefined) return fail({ pointer: "", keyword: fault.option, reason: fault.reason });
  const policy = policyWith(asked);
  const options = { ...schemaOptions(policy, "schema"), documents, objectsOnly: false, originFirst: 0 };
  const lowered = lowerSchema(builder, schema, options);
  if (!lowered.ok) return lowered;
  const { value, places } = lowered.value;
  return ok({ root: builder.node({ kind: "json", value, style: jsonStyle(policy) }), places });
}

function grammarSource(source: Exclude<ConstraintSource, { kind: "json" | "json_schema" }>): GrammarSource {
  switch (source.kind) {
    case "gbnf":
    case "lark":
      return { syntax: source.kind, text: source.grammar };
    case "regex":
      return { syntax: "regex", text: source.pattern };
    case "choice":
      return { syntax: "choice", texts: source.choices };
    case "lexicon":
      return { syntax: "lexicon", words: source.words, fold: source.fold ?? false };
    case "structural_tag": {
      const { structure } = source;
      return { syntax: "structural_tag", text: textOf(structure) };
    }
    default:
      return source satisfies never;
  }
}

/** A text is JSON already. */
function textOf(value: string | object | boolean): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function failureOf({ pointer, keyword, reason }: Refusal): ConstraintFailure {
  const what = keyword === "" ? "This" : `'${keyword}'`;
  return { pointer, keyword, message: `${what}${pointer === "" ? "" : ` at '${pointer}'`} ${reason}.` };
}

function ggufTokenizerOf(path: string): Result<Tokenizer, string> {
  const card = readGguf(path);
  if (!card.ok) return fail(card.failure.message);
  const tokenizer = loadTokenizer(card.value);
  return tokenizer.ok ? tokenizer : fail(tokenizer.failure.message);
}

/** Where the first whole character begins. */
function characterStart(bytes: Uint8Array): number {
  const start = bytes.findIndex((byte) => (byte & 0xc0) !== 0x80);
  return start < 0 ? bytes.length : start;
}

function unwrap<T>(result: Result<T, string>): T {
  if (result.ok) return result.value;
  throw new Error(result.failure);
}

const utf8 = new TextDecoder();
/** More than any output has left. */
const tokensMax = 0xffff_fffe;
/** Tokens that a matcher takes back at least. */
const draftTokensMax = 1024;
/** Tokens before a draft that can share a word with it. */
const contextTokens = 16;
/** Tokens at its end that what follows can merge with; public measurements found no longer merges. */
const mergingTokens = 4;
