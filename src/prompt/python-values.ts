import { type RuntimeValue, scalar } from "./values.ts";

/** `str(value)`. */
export function pythonText(value: RuntimeValue): string {
  return value.type === "StringValue" ? String(value.value) : value.type === "UndefinedValue" ? "" : repr(value);
}

/** `repr(value)`. */
function repr(value: RuntimeValue): string {
  const inner: unknown = value.value;
  switch (value.type) {
    case "NullValue":
      return "None";
    case "UndefinedValue":
      return "Undefined";
    case "BooleanValue":
      return inner === true ? "True" : "False";
    case "StringValue":
      return stringRepr(String(inner));
    case "FloatValue":
      return typeof inner === "number" ? floatRepr(inner) : value.toString();
    case "TupleValue":
    case "ArrayValue": {
      const items = itemsOf(value).map(repr);
      if (value.type === "ArrayValue") return `[${items.join(", ")}]`;
      return items.length === 1 ? `(${items[0]},)` : `(${items.join(", ")})`;
    }
    case "ObjectValue":
      return `{${[...entriesOf(value)].map(([key, item]) => `${stringRepr(key)}: ${repr(item)}`).join(", ")}}`;
    default:
      return value.toString();
  }
}

/** Python's quotes and escapes: double quotes only around a single one; what does not print, by number. */
function stringRepr(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  let out = "";
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (character === quote || character === "\\") out += `\\${character}`;
    else if (character === "\n") out += "\\n";
    else if (character === "\r") out += "\\r";
    else if (character === "\t") out += "\\t";
    else if (character === " " || !/[\p{C}\p{Z}]/u.test(character)) out += character;
    else if (code < 0x100) out += `\\x${code.toString(16).padStart(2, "0")}`;
    else if (code < 0x10000) out += `\\u${code.toString(16).padStart(4, "0")}`;
    else out += `\\U${code.toString(16).padStart(8, "0")}`;
  }
  return quote + out + quote;
}

/** Shortest digits as in JavaScript, with Python's choice of notation: exponents below 1e-4 and from 1e16 on, of two digits or more. */
function floatRepr(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (Object.is(value, -0)) return "-0.0";
  const magnitude = Math.abs(value);
  if (magnitude !== 0 && (magnitude < 1e-4 || magnitude >= 1e16)) {
    return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
  }
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

/** `left == right`: numbers by value, booleans among them; containers by what is in them; nothing else across types. */
export function equal(left: RuntimeValue, right: RuntimeValue): boolean {
  if (isNumeric(left) && isNumeric(right)) return Number(left.value) === Number(right.value);
  if (left.type !== right.type) return false;
  if (left.type === "ArrayValue" || left.type === "TupleValue") {
    const [a, b] = [itemsOf(left), itemsOf(right)];
    return a.length === b.length && a.every((item, index) => equal(item, b[index] ?? undefinedValue));
  }
  if (left.type === "ObjectValue") {
    const [a, b] = [entriesOf(left), entriesOf(right)];
    return a.size === b.size && [...a].every(([key, item]) => equal(item, b.get(key) ?? undefinedValue));
  }
  return left.value === right.value;
}

const undefinedValue = scalar(undefined);

function isNumeric(value: RuntimeValue): boolean {
  return value.type === "IntegerValue" || value.type === "FloatValue" || value.type === "BooleanValue";
}

export function itemsOf(value: RuntimeValue): readonly RuntimeValue[] {
  return Array.isArray(value.value) ? value.value : [];
}

export function entriesOf(value: RuntimeValue): ReadonlyMap<string, RuntimeValue> {
  return value.value instanceof Map ? value.value : new Map();
}
