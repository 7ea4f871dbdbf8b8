import type { Constraint } from "../generation/answer.ts";
import type { Failure } from "../generation/failure.ts";
import type { GrammarSource } from "../generation/grammar-source.ts";
import { type Policy, specPolicy } from "../generation/policy.ts";
import type { AnswerFormat, Request, Tool, ToolStrict } from "../generation/request.ts";
import { fail, ok, type Result } from "../generation/result.ts";
import { isForced } from "../generation/tool-choice.ts";
import { encodeIr } from "../grammar/encode.ts";
import { type Ir, type IrBuilder, irBuilder, type NodeId, type ValueId } from "../grammar/ir.ts";
import { type DocumentFault, type Documents, readDocuments } from "../grammar/json-schema/documents.ts";
import { lowerSchema } from "../grammar/json-schema/lower.ts";
import { relaxSchema } from "../grammar/json-schema/relax.ts";
import type { Refusal } from "../grammar/json-schema/schema.ts";
import { jsonStyle, schemaOptions } from "../grammar/policy.ts";
import { lowerGrammar } from "../grammar/source.ts";
import { grammarTokens } from "../tokenizer/grammar-tokens.ts";
import type { Tokenizer } from "../tokenizer/tokenizer.ts";
import { inputSchema, takesRawInput } from "./custom-tools.ts";
import type { CallableTool, Dialect } from "./dialect.ts";
import { framer } from "./frame.ts";
import { thinker } from "./thinker.ts";
import type { Thoughts } from "./thoughts.ts";

/** What may be said in answer to a request that does not contradict itself, as a grammar. A schema that cannot be enforced is a failure with its place. */
export function constrain(request: Request, context: ConstrainContext): Result<Constrained, Failure> {
  const built = grammarOf(request, context);
  if (!built.ok) return built;
  const { constraint, ir, sources } = built.value;
  return ok({
    constraint,
    relaxed: sources.flatMap(({ param, relaxed }) => relaxed.map((pointer) => `${param}#${pointer}`)),
    ir: ir && encodeIr(ir),
    stopTokens: context.tokenizer.stopTokens,
    thoughts: context.thoughts,
    failureOf: (failure) => compileFailure(failure, sources),
  });
}

export type ConstrainContext = {
  readonly dialect: Dialect;
  readonly tokenizer: Tokenizer;
  /** Calls of one answer. */
  readonly callsMax: number;
  /** Where a request says nothing: what is pinned of a call that is not forced, "schema" by default, and whether tools' schemas are widened. */
  readonly toolStrict?: ToolStrict;
  readonly relaxTools?: boolean;
  /** Steps of lowering one schema, where it has to be quick: nothing is widened then, and a failure says whether there was no verdict. */
  readonly stepsMax?: number;
  /** The server's own, beside what a request brings. */
  readonly documents?: Documents;
  /** That may come before the answer, and inside of one that is not forced. */
  readonly thoughts?: Thoughts | undefined;
};

export type Constrained = {
  readonly constraint: Constraint;
  /** See Answer. */
  readonly relaxed: readonly string[];
  /** An encoded Ir; undefined where nothing is constrained. */
  readonly ir: Uint8Array<ArrayBuffer> | undefined;
  readonly stopTokens: readonly number[];
  /** That the grammar tells from the rest. */
  readonly thoughts?: Thoughts | undefined;
  /** The engine's refusal to compile `ir`, told about the caller's schema. */
  readonly failureOf: (failure: { readonly message: string; readonly origin: number | undefined }) => Failure;
};

/** The same before it is encoded. */
export function grammarOf(
  request: Request,
  context: ConstrainContext,
): Result<{ readonly constraint: Constraint; readonly ir: Ir | undefined; readonly sources: Sources }, Failure> {
  const { tools, toolChoice, answer, policy } = request;
  const { dialect, tokenizer, callsMax, thoughts, stepsMax, toolStrict = "schema", relaxTools = false } = context;
  const documents = readDocuments(request.documents ?? [], context.documents);
  if (!documents.ok) return fail(documentFailure(documents.failure));
  const builder = irBuilder();
  const sources: Sources = [];
  const budget = stepsMax === undefined ? {} : { stepsMax };
  const writing = { builder, tokenizer, policy, documents: documents.value, sources, ...budget };
  const { channel, choice, freeText } = framer(builder, tokenizer);
  const thinking = thinker(builder, tokenizer, thoughts);
  const enforced = (root: NodeId) =>
    ok({ constraint: "enforced", ir: builder.finish(thinking.before(root)), sources } as const);
  const free = (constraint: Constraint, root: NodeId) =>
    ok({ constraint, ir: builder.finish(thinking.around(root)), sources });

  let fitting: NodeId | undefined;
  if (answer.kind !== "text") {
    const node = answerNode(writing, answer);
    if (!node.ok) return node;
    fitting = channel("text", node.value);
  }
  const offered = offeredTools(request);
  if (offered.length === 0) {
    if (fitting !== undefined) return enforced(fitting);
    const names = tools.map(({ name }) => name);
    if (names.length > 0) return free("triggered", dialect.none(builder, { tokenizer, tags: thoughts, names }));
    // Only to tell thoughts from text: nothing is masked.
    if (thoughts !== undefined) return free("none", freeText([], { tags: thoughts }));
    return ok({ constraint: "none", ir: undefined, sources });
  }
  const level = levelOf(request, offered, toolStrict);
  const pinsAll = level === "schema";
  const relaxing = { ...writing, policy: { ...policy, relax: policy.relax ?? relaxTools } };
  const callable = callableTools(relaxing, offered, pinsAll);
  if (!callable.ok) return callable;
  const single = toolChoice.mode === "named" || !request.parallelCalls;
  const frame = {
    tokenizer,
    tools: callable.value,
    style: jsonStyle(level === "off" ? specPolicy : policy),
    callsMax: Math.min(single ? 1 : callsMax, dialect.callsMax),
    tags: thoughts,
  };
  if (isForced(toolChoice)) return enforced(dialect.calls(builder, frame));
  if (fitting !== undefined) return enforced(choice(dialect.calls(builder, frame), fitting));
  if (level === "off") return free("none", dialect.tolerant(builder, frame));
  return free("triggered", dialect.auto(builder, frame));
}

/**
 * What is pinned of the calls in an answer to this request: all, where one is forced. A tool or a format that has to be kept to pins the
 * frame of every call, since what follows a name, or an answer, can only be told within one.
 */
function levelOf(
  { toolStrict, toolChoice, answer }: Request,
  offered: readonly Tool[],
  served: ToolStrict,
): ToolStrict {
  if (isForced(toolChoice)) return "schema";
  const level = toolStrict ?? served;
  const isPinned = answer.kind !== "text" || offered.some((tool) => tool.strict || takesRawInput(tool));
  return level === "off" && isPinned ? "envelope" : level;
}

/** Where the origins of values lie: schema after schema, each with the pointers of its places, and of what was widened in it. */
export type Sources = (Source & { readonly places: readonly string[]; readonly relaxed: readonly string[] })[];

/** Whose schema or grammar it is, and where it stands in the caller's request. */
type Source = {
  readonly subject: string;
  readonly param: string;
  /** Of a grammar; undefined: a JSON Schema. */
  readonly syntax?: GrammarSource["syntax"];
};

function offeredTools({ tools, toolChoice }: Request): readonly Tool[] {
  switch (toolChoice.mode) {
    case "none":
      return [];
    case "auto":
    case "required":
      return tools;
    case "named":
      return tools.filter(({ name }) => name === toolChoice.name);
    case "allowed":
      return tools.filter(({ name }) => toolChoice.names.includes(name));
    default:
      return toolChoice satisfies never;
  }
}

type Writing = {
  readonly builder: IrBuilder;
  readonly tokenizer: Tokenizer;
  readonly policy: Policy;
  readonly documents: Documents;
  readonly sources: Sources;
  readonly stepsMax?: number;
};

/** What fits the format of an answer. */
function answerNode(writing: Writing, answer: Exclude<AnswerFormat, { kind: "text" }>): Result<NodeId, Failure> {
  const { builder, policy } = writing;
  if (answer.kind === "grammar") {
    return grammarNode(writing, answer.source, { subject: "", param: answer.param });
  }
  const { schema, param } = answer.kind === "json_schema" ? answer : { schema: "{}", param: "" };
  const reading = { order: "schema", objectsOnly: answer.kind === "json_object" } as const;
  const value = lowered(writing, schema, reading, { subject: "", param });
  return value.ok ? ok(builder.node({ kind: "json", value: value.value, style: jsonStyle(policy) })) : value;
}

function callableTools(
  writing: Writing,
  tools: readonly Tool[],
  pinsAll: boolean,
): Result<readonly CallableTool[], Failure> {
  const callable: CallableTool[] = [];
  const anyObject = openArguments(writing);
  for (const tool of tools) {
    const built = pinsAll || tool.strict || tool.custom !== undefined ? callableTool(writing, tool) : anyObject(tool);
    if (!built.ok) return built;
    callable.push(built.value);
  }
  return ok(callable);
}

/** Tools that are not pinned take any object, the same one. */
function openArguments(writing: Writing) {
  let known: ValueId | undefined;
  return ({ name, param }: Tool): Result<CallableTool, Failure> => {
    if (known !== undefined) return ok({ name, arguments: known, open: true });
    const value = lowered(writing, "{}", { order: "any", objectsOnly: true }, { subject: name, param });
    if (!value.ok) return value;
    known = value.value;
    return ok({ name, arguments: known, open: true });
  };
}

/** A tool with what its calls carry: one without parameters takes the empty object. */
function callableTool(writing: Writing, tool: Tool): Result<CallableTool, Failure> {
  const { name, custom, param } = tool;
  if (custom !== undefined) {
    if (custom.format === undefined) {
      const value = lowered(writing, inputSchema, { order: "any", objectsOnly: true }, { subject: name, param });
      return value.ok ? ok({ name, arguments: value.value }) : value;
    }
    const input = grammarNode(writing, custom.format, { subject: name, param });
    return input.ok ? ok({ name, input: input.value }) : input;
  }
  const value = lowered(
    writing,
    tool.parameters ?? emptyObject,
    { order: "any", objectsOnly: true },
    { subject: name, param },
  );
  return value.ok ? ok({ name, arguments: value.value }) : value;
}

const emptyObject = '{"type": "object", "additionalProperties": false}';

/** What fits a grammar. */
function grammarNode(
  { builder, tokenizer, policy, documents, sources, stepsMax }: Writing,
  grammar: GrammarSource,
  whose: Omit<Source, "syntax">,
): Result<NodeId, Failure> {
  const source = { ...whose, syntax: grammar.syntax };
  const lowered = lowerGrammar(builder, grammar, {
    ...grammarTokens(tokenizer),
    policy,
    documents,
    originFirst: originsOf(sources),
    ...(stepsMax === undefined ? {} : { stepsMax }),
  });
  if (!lowered.ok) return fail(refused(source, lowered.failure));
  sources.push({ ...source, places: lowered.value.places, relaxed: [] });
  return ok(lowered.value.node);
}

/** What fits a schema; where the request allows it, with what cannot be enforced taken out. */
function lowered(
  { builder, policy, documents, sources, stepsMax }: Writing,
  schema: string,
  { order, objectsOnly }: { readonly order: "any" | "schema"; readonly objectsOnly: boolean },
  source: Source,
): Result<ValueId, Failure> {
  const budget = stepsMax === undefined ? {} : { stepsMax };
  const originFirst = originsOf(sources);
  const options = { ...schemaOptions(policy, order), documents, objectsOnly, originFirst, ...budget };
  const relaxes = policy.relax === true && stepsMax === undefined;
  const wider = relaxes ? relaxSchema(schema, options) : ok({ text: schema, relaxed: [] });
  if (!wider.ok) return fail(refused(source, wider.failure));
  const result = lowerSchema(builder, wider.value.text, options);
  if (!result.ok) {
    // In little time nothing is widened, or it would be widened more than it has to be.
    const undecided = policy.relax === true ? ({ exhausted: true } as const) : {};
    return fail(refused(source, { ...result.failure, ...undecided }));
  }
  sources.push({ ...source, places: result.value.places, relaxed: wider.value.relaxed });
  return ok(result.value.value);
}

/** Places of all sources so far: where the next one's begin. */
function originsOf(sources: Sources): number {
  return sources.reduce((sum, { places }) => sum + places.length, 0);
}

function compileFailure(
  failure: { readonly message: string; readonly origin: number | undefined },
  sources: Sources,
): Failure {
  const refusal = { pointer: "", keyword: "", reason: `cannot be compiled: ${failure.message}` };
  let first = 0;
  for (const source of sources) {
    const pointer = failure.origin === undefined ? undefined : source.places[failure.origin - first];
    if (pointer !== undefined) return refused(source, { ...refusal, pointer });
    first += source.places.length;
  }
  return refused(sources[0] ?? { subject: "", param: "" }, refusal);
}

function documentFailure({ name, reason }: DocumentFault): Failure {
  const message = `Invalid schema document '${name}': it ${reason}.`;
  return { kind: "constraint", message, param: "tenon_documents", pointer: "", keyword: "" };
}

function refused({ subject, param, syntax }: Source, { pointer, keyword, reason, exhausted }: Refusal): Failure {
  const isSchema = syntax === undefined;
  const what = keyword === "" ? (isSchema ? "the schema" : "it") : `'${keyword}'`;
  const where = pointer === "" ? "" : ` at '${pointer}'`;
  const whose = !isSchema ? `${syntax} grammar` : subject === "" ? "schema" : `schema for function '${subject}'`;
  const message = `Invalid ${whose}: ${what}${where} ${reason}.`;
  return {
    kind: "constraint",
    message,
    pointer,
    keyword,
    ...(isSchema ? {} : { syntax }),
    ...(exhausted === undefined ? {} : { exhausted }),
    ...(param === "" ? {} : { param }),
  };
}
