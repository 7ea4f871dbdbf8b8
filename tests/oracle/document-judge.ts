import Ajv from "ajv";
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import Ajv04 from "ajv-draft-04";
import addFormats from "ajv-formats";

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

/** Why ajv is wrong by the specification, where it is; undefined where something is left that it may be right about. */
export function excuse(complaints: readonly Complaint[]): string | undefined {
  // A choice fails because its branches do, which are complained of, too.
  const reasons = complaints.filter(({ keyword }) => !choices.has(keyword)).map(reasonOf);
  return reasons.every((reason) => reason !== undefined) ? reasons[0] : undefined;
}

function reasonOf({ keyword, message, value }: Complaint): string | undefined {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return exceptions.find(
    (exception) => exception.keyword === keyword && message.includes(exception.message) && exception.value.test(text),
  )?.reason;
}

const choices = new Set(["anyOf", "oneOf", "if"]);

type Exception = {
  readonly keyword: string;
  readonly message: string;
  /** Of the value that is complained of, as text. */
  readonly value: RegExp;
  readonly reason: string;
};

const exceptions: readonly Exception[] = [
  {
    keyword: "multipleOf",
    message: "",
    value: /\d\.\d|\d{16}|e/,
    reason: "ajv divides binary fractions; multiples are of decimals",
  },
  {
    keyword: "format",
    message: '"uri"',
    value: /^[a-z][a-z\d+.-]*:([?#].*)?$/i,
    reason: "a URI's path may be empty (RFC 3986, 3.3)",
  },
  {
    keyword: "format",
    message: '"email"',
    value: /@[a-z\d]([a-z\d-]*[a-z\d])?$/i,
    reason: "a domain may have one label (RFC 5321, 4.1.2)",
  },
];

type Judge = { compile: Ajv["compile"] };

function judgesOf(schema: unknown): readonly (() => Judge)[] {
  const draft = draftOf(schema);
  const options = {
    strict: false,
    validateFormats: true,
    verbose: true,
    validateSchema: false,
    logger: false,
    unicodeRegExp: true,
  } as const;
  const judges = {
    four: () => addFormats(new Ajv04(options), [...formats]),
    seven: () => addFormats(new Ajv(options), [...formats]),
    "2019": () => addFormats(new Ajv2019(options), [...formats]),
    "2020": () => addFormats(new Ajv2020(options), [...formats]),
  };
  if (draft.includes("draft-04")) return [judges.four];
  if (/draft-0[67]/.test(draft)) return [judges.seven];
  if (draft.includes("2019-09")) return [judges["2019"]];
  return [judges["2020"], judges.seven];
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

/** ajv asks for metaschemas that it was not given; which judge is the right one has been seen. */
function withoutDraft(schema: unknown): object | boolean {
  if (typeof schema !== "object" || schema === null) return schema === true;
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== "$schema"));
}

/** Those of the specification; ajv-formats has others, which are annotations. */
const formats = [
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
