import Ajv from "ajv";
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import Ajv04 from "ajv-draft-04";
import addFormats from "ajv-formats";
import { fullFormats } from "ajv-formats/dist/formats.js";
import { compareNumbers, isMultiple } from "./rational.ts";

/** What is wrong with a document, by keyword and place; nothing is wrong with a valid one. */
export type Complaint = {
  readonly keyword: string;
  readonly place: string;
  readonly message: string;
  readonly value: unknown;
};

/** ajv with formats, by the schema's draft, for documents of one schema; undefined where ajv cannot read it. */
export function documentJudge(schemaText: string): ((value: unknown) => readonly Complaint[]) | undefined {
  const schema: unknown = JSON.parse(schemaText);
  for (const judge of judgesOf(schema)) {
    try {
      const validate = judge().compile(withoutDraft(ignoresSiblings(schema) ? withoutSiblings(schema) : schema));
      return (value) =>
        validate(value) === true
          ? []
          : (validate.errors ?? []).map(({ keyword, instancePath, message, data }) => ({
              keyword,
              place: instancePath,
              message: message ?? "",
              value: data,
            }));
    } catch {
      // The next one may.
    }
  }
  return undefined;
}

/** Why ajv cannot be right or wrong about a document, where it is so: all that it complains of has numbers that it does not hold. */
export function excuse(complaints: readonly Complaint[], documentText: string): string | undefined {
  const outsideStrings = documentText.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""');
  const numbers = outsideStrings.match(/-?\d[\d.eE+-]*/g) ?? [];
  if (complaints.length === 0 || numbers.every(isDouble)) return undefined;
  return complaints.every(({ value }) => hasNumber(value)) ? "ajv reads numbers as doubles" : undefined;
}

function isDouble(text: string): boolean {
  const read = Number(text);
  return Number.isFinite(read) && compareNumbers(text, String(read)) === 0;
}

function hasNumber(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return typeof value === "number";
  return Object.values(value).some(hasNumber);
}

type Judge = { compile: Ajv["compile"] };

function judgesOf(schema: unknown): readonly (() => Judge)[] {
  const draft = draftOf(schema);
  const options = {
    strict: false,
    allErrors: true,
    validateFormats: true,
    verbose: true,
    validateSchema: false,
    logger: false,
    unicodeRegExp: true,
  } as const;
  const judges = {
    four: () => corrected(new Ajv04(options)),
    seven: () => corrected(new Ajv(options)),
    "2019": () => corrected(new Ajv2019(options)),
    "2020": () => corrected(new Ajv2020(options)),
  };
  if (draft.includes("draft-04")) return [judges.four];
  if (/draft-0[67]/.test(draft)) return [judges.seven];
  if (draft.includes("2019-09")) return [judges["2019"]];
  return [judges["2020"], judges.seven];
}

/** With formats, and with what ajv has wrong by the specification put right. */
function corrected<T extends Ajv | Ajv2019 | Ajv2020>(ajv: T): T {
  addFormats(ajv, [...formats]);
  const known = (name: "email" | "uri", text: string) => {
    const format = fullFormats[name];
    return format instanceof RegExp ? format.test(text) : typeof format === "function" && format(text);
  };
  // A local part may be quoted, and a domain may have one label (RFC 5321, 4.1.2).
  const usual = (text: string) => text.replace(/^"(?:[ !#-[\]-~]|\\[ -~])*"(?=@)/, "a").replace(/(@[^.]+)$/, "$1.x");
  ajv.addFormat("email", (text) => known("email", usual(text)));
  // A URI's path may be empty (RFC 3986, 3.3).
  ajv.addFormat("uri", (text) => known("uri", text.replace(/^([a-z][a-z\d+.-]*:)(?=[?#]|$)/i, "$1x")));
  // It divides binary fractions; multiples are of decimals.
  ajv.removeKeyword("multipleOf");
  ajv.addKeyword({
    keyword: "multipleOf",
    type: "number",
    schemaType: "number",
    // What is beyond all doubles is read as infinite.
    validate: (step: number, value: number) => Number.isFinite(value) && isMultiple(String(value), String(step)),
  });
  return ajv;
}

/** Up to draft 7 a reference stands alone; ajv takes what stands beside it, too. Definitions beside it can still be referred to. */
function withoutSiblings(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutSiblings);
  if (typeof schema !== "object" || schema === null) return schema;
  const refers = "$ref" in schema && typeof schema.$ref === "string";
  const entries = Object.entries(schema).filter(([key]) => !refers || keptBesideReference.has(key));
  return Object.fromEntries(entries.map(([key, item]) => [key, withoutSiblings(item)]));
}

const keptBesideReference = new Set(["$ref", "definitions"]);

function ignoresSiblings(schema: unknown): boolean {
  return /draft-0[467]/.test(draftOf(schema));
}

function draftOf(schema: unknown): string {
  return typeof schema === "object" && schema !== null && "$schema" in schema ? String(schema.$schema) : "";
}

/** ajv asks for metaschemas that it was not given; which judge is the right one has been seen. It has its own meaning for `$async`. */
function withoutDraft(schema: unknown): object | boolean {
  if (typeof schema !== "object" || schema === null) return schema === true;
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== "$schema" && key !== "$async"));
}

/** Those of the specification; ajv-formats has others, which are annotations. */
export const formats = [
  "date",
  "time",
  "date-time",
  "duration",
  "uri",
  "uri-reference",
  "uri-template",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "uuid",
  "json-pointer",
  "relative-json-pointer",
] as const;
