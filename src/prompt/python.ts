import { type Environment, Interpreter, type Template } from "@huggingface/jinja";
import { stringMethod } from "./python-methods.ts";
import { equal, itemsOf, pythonText } from "./python-values.ts";
import { arrayOf, type RuntimeValue, scalar } from "./values.ts";

type Node = NonNullable<Parameters<Interpreter["evaluate"]>[0]>;
type Program = Template["parsed"];

/**
 * The engine's interpreter with Python's results where it has JavaScript's or none: what an expression prints (`None`, `True`, a
 * dict's repr), equality by value, methods before keys (`properties.items()` of a schema with a property `items`), undefined values
 * in loops and filters, and the string methods that it lacks. Templates are written for, and models trained on, what
 * Python renders.
 */
export class PythonInterpreter extends Interpreter {
  readonly #printed: ReadonlySet<Node>;
  /** Values of nodes that are evaluated already and that the engine is about to ask for again. */
  readonly #given = new Map<Node, RuntimeValue>();

  constructor(environment: Environment, program: Program) {
    super(environment);
    this.#printed = printedExpressions(program);
  }

  override evaluate(node: Node | undefined, environment: Environment): RuntimeValue {
    if (node === undefined) return super.evaluate(node, environment);
    const given = this.#given.get(node);
    if (given !== undefined) {
      this.#given.delete(node);
      return given;
    }
    const value = this.#evaluate(node, environment);
    if (!this.#printed.has(node) || value.type === "StringValue" || value.type === "UndefinedValue") return value;
    return scalar(pythonText(value));
  }

  #evaluate(node: Node, environment: Environment): RuntimeValue {
    if (isBinary(node)) return this.#binary(node, environment);
    if (isMember(node)) return this.#member(node, environment);
    if (isTest(node)) return this.#test(node, environment);
    if (isFilter(node)) return this.#filter(node, environment);
    if (isLoop(node)) return this.#loop(node, environment);
    if (isTuple(node)) return arrayOf(node.value.map((item) => this.evaluate(item, environment)));
    if (isObject(node)) return this.#object(node, environment);
    return super.evaluate(node, environment);
  }

  #binary(node: Binary, environment: Environment): RuntimeValue {
    const operator = node.operator.value;
    if (!ownOperators.has(operator)) return super.evaluate(node, environment);
    const left = this.evaluate(node.left, environment);
    const right = this.evaluate(node.right, environment);
    switch (operator) {
      case "~":
        return scalar(pythonText(left) + pythonText(right));
      case "==":
        return scalar(equal(left, right));
      case "!=":
        return scalar(!equal(left, right));
      case "+":
        // A template that wants arguments as a text fails here when it gets an object, and has to.
        if ((left.type === "StringValue") !== (right.type === "StringValue")) {
          throw new Error(`can only concatenate texts, not ${left.type} and ${right.type}`);
        }
        return this.#withGiven(node, environment, [node.left, left], [node.right, right]);
      default:
        // Numbers that were keys of an object have become texts in the engine.
        return this.#withGiven(
          node,
          environment,
          [node.left, numberAgain(left, right)],
          [node.right, numberAgain(right, left)],
        );
    }
  }

  /** Undefined is something to iterate over, though there is nothing in it. */
  #test(node: Test, environment: Environment): RuntimeValue {
    const operand = this.evaluate(node.operand, environment);
    const empty =
      operand.type === "UndefinedValue" && (node.test.value === "iterable" || node.test.value === "sequence");
    return empty ? scalar(!node.negate) : this.#withGiven(node, environment, [node.operand, operand]);
  }

  #member(node: Member, environment: Environment): RuntimeValue {
    const object = this.evaluate(node.object, environment);
    if (object.type === "UndefinedValue") {
      throw new Error(`${isIdentifier(node.property) ? node.property.value : "an item"} of a value that is undefined`);
    }
    if (node.computed) {
      if (node.property.type === "SliceExpression") return this.#withGiven(node, environment, [node.object, object]);
      const key = this.evaluate(node.property, environment);
      if (key.type === "UndefinedValue") return key;
      const isNumberInObject = object.type === "ObjectValue" && key.type === "IntegerValue";
      return this.#withGiven(
        node,
        environment,
        [node.object, object],
        [node.property, isNumberInObject ? scalar(String(key.value)) : key],
      );
    }
    const name = isIdentifier(node.property) ? node.property.value : "";
    if (object.type === "ObjectValue" && dictMethods.has(name)) return object.builtins.get(name) ?? scalar(undefined);
    if (object.type === "ArrayValue" && (name === "append" || name === "pop")) return listMethod(object, name);
    const method = object.type === "StringValue" ? stringMethod(String(object.value), name) : undefined;
    if (method !== undefined) return scalar(method);
    return this.#withGiven(node, environment, [node.object, object]);
  }

  #filter(node: Filter, environment: Environment): RuntimeValue {
    const operand = this.evaluate(node.operand, environment);
    const name = filterName(node);
    if (name === "string") return scalar(pythonText(operand));
    if ((name === "min" || name === "max") && operand.type === "ArrayValue") {
      const numbers = itemsOf(operand).map((item) => Number(item.value));
      if (numbers.length > 0) return scalar(name === "min" ? Math.min(...numbers) : Math.max(...numbers));
    }
    const nothing = operand.type === "UndefinedValue" || operand.type === "NullValue";
    if (nothing && lazyFilters.has(name)) return this.#withGiven(node, environment, [node.operand, scalar([])]);
    if (operand.type === "UndefinedValue") {
      if (listFilters.has(name)) return this.#withGiven(node, environment, [node.operand, scalar([])]);
      if (textFilters.has(name)) return this.#withGiven(node, environment, [node.operand, scalar("")]);
    }
    return this.#withGiven(node, environment, [node.operand, operand]);
  }

  /** An undefined value has nothing in it. */
  #loop(node: Loop, environment: Environment): RuntimeValue {
    const source =
      node.iterable.type === "SelectExpression" && hasLeft(node.iterable) ? node.iterable.lhs : node.iterable;
    const iterable = this.evaluate(source, environment);
    return this.#withGiven(node, environment, [source, iterable.type === "UndefinedValue" ? scalar([]) : iterable]);
  }

  /** Keys of any kind; the engine has texts only, and so finds numbers as texts. */
  #object(node: ObjectNode, environment: Environment): RuntimeValue {
    const keys = [...node.value.keys()];
    if (keys.every((key) => key.type === "StringLiteral")) return super.evaluate(node, environment);
    const object = scalar({});
    for (const [key, item] of node.value) {
      const name = pythonText(this.evaluate(key, environment));
      if (object.value instanceof Map) object.value.set(name, this.evaluate(item, environment));
    }
    return object;
  }

  /** The engine's own evaluation of `node`, which finds the values of these parts instead of evaluating them again. */
  #withGiven(node: Node, environment: Environment, ...given: (readonly [Node, RuntimeValue])[]): RuntimeValue {
    for (const [part, value] of given) this.#given.set(part, value);
    return super.evaluate(node, environment);
  }
}

const ownOperators: ReadonlySet<string> = new Set(["~", "==", "!=", "+", "<", "<=", ">", ">="]);
const dictMethods: ReadonlySet<string> = new Set(["get", "items", "keys", "values"]);
/** Filters that take None for nothing as well, since they only look when there is something. */
const lazyFilters: ReadonlySet<string> = new Set(["selectattr", "rejectattr", "map"]);
const listFilters: ReadonlySet<string> = new Set(["length", "list", "sort", "unique", "reverse", "first", "last"]);
const textFilters: ReadonlySet<string> = new Set([
  "trim",
  "upper",
  "lower",
  "title",
  "capitalize",
  "replace",
  "indent",
  "join",
]);

/** `list.append` and `list.pop`, which change the list; like the engine's own functions on runtime values. */
function listMethod(list: RuntimeValue, name: "append" | "pop"): RuntimeValue {
  const items: RuntimeValue[] = Array.isArray(list.value) ? list.value : [];
  const method = ([given]: readonly RuntimeValue[]): RuntimeValue => {
    if (name === "pop") return items.splice(given === undefined ? -1 : Number(given.value), 1)[0] ?? scalar(undefined);
    if (given !== undefined) items.push(given);
    return scalar(null);
  };
  return Object.assign(scalar(method), { value: method });
}

/** The expressions between `{{ }}`, whose values become text. Collected once for each template. */
function printedExpressions(program: Program): ReadonlySet<Node> {
  const known = programs.get(program);
  if (known !== undefined) return known;
  const found = new Set<Node>();
  const pending: Node[] = [program];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    for (const child of bodyOf(node)) {
      if (!statements.has(child.type)) found.add(child);
      pending.push(child);
    }
  }
  programs.set(program, found);
  return found;
}

const programs = new WeakMap<Program, ReadonlySet<Node>>();

/** Everything that may stand in a body and is no expression; texts outside of blocks are printed as they are. */
const statements: ReadonlySet<string> = new Set([
  "Program",
  "Set",
  "If",
  "For",
  "Macro",
  "CallStatement",
  "FilterStatement",
  "Break",
  "Continue",
  "Comment",
  "StringLiteral",
]);

type Bodies = Node & {
  readonly body?: readonly Node[];
  readonly alternate?: readonly Node[];
  readonly defaultBlock?: readonly Node[];
};

function bodyOf(node: Bodies): readonly Node[] {
  return [...(node.body ?? []), ...(node.alternate ?? []), ...(node.defaultBlock ?? [])];
}

// The engine exports no types of its syntax tree; these are the parts that are used here.

type Binary = Node & { readonly left: Node; readonly right: Node; readonly operator: { readonly value: string } };
type Member = Node & { readonly object: Node; readonly property: Node; readonly computed: boolean };
type Test = Node & { readonly operand: Node; readonly test: Identifier; readonly negate: boolean };
type Filter = Node & { readonly operand: Node; readonly filter: Node };
type Loop = Node & { readonly iterable: Node };
type Tuple = Node & { readonly value: readonly Node[] };
type ObjectNode = Node & { readonly value: ReadonlyMap<Node, Node> };
type Identifier = Node & { readonly value: string };
type Call = Node & { readonly callee: Node };

const isBinary = (node: Node): node is Binary => node.type === "BinaryExpression";
const isMember = (node: Node): node is Member => node.type === "MemberExpression";
const isTest = (node: Node): node is Test => node.type === "TestExpression";
const isFilter = (node: Node): node is Filter => node.type === "FilterExpression";
const isLoop = (node: Node): node is Loop => node.type === "For";
const isTuple = (node: Node): node is Tuple => node.type === "TupleLiteral";
const isObject = (node: Node): node is ObjectNode => node.type === "ObjectLiteral";
const isIdentifier = (node: Node): node is Identifier => node.type === "Identifier";
const isCall = (node: Node): node is Call => node.type === "CallExpression";
const hasLeft = (node: Node): node is Node & { readonly lhs: Node } => "lhs" in node;

/** `name` or `name(…)`. */
function filterName({ filter }: Filter): string {
  const named = isCall(filter) ? filter.callee : filter;
  return isIdentifier(named) ? named.value : "";
}

function numberAgain(value: RuntimeValue, other: RuntimeValue): RuntimeValue {
  const isKey = value.type === "StringValue" && other.type === "IntegerValue" && /^-?\d+$/.test(String(value.value));
  return isKey ? scalar(Number(value.value)) : value;
}
