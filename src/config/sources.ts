import { parseArgs } from "node:util";
import { fail, ok, type Result } from "../generation/result.ts";
import { type FlagName, flagNames, flagOf, flags, synonyms } from "./flags.ts";

/** What one source says of a flag, in the order it was said; `from` is how the source is named in a message. */
export type Given = { readonly texts: readonly string[]; readonly from: string };
export type Values = ReadonlyMap<FlagName, Given>;

export type Environment = Readonly<Record<string, string | undefined>>;

/** The flags of a command line. The failure is a sentence for the user. */
export function readFlags(argv: readonly string[]): Result<Values, string> {
  const values = new Map<FlagName, { texts: string[]; from: string }>();
  // Not strict: our own messages name the flag as it was written, and say what to do.
  const { tokens } = parseArgs({ args: [...argv], options: parserOptions, strict: false, tokens: true });
  for (const token of tokens) {
    if (token.kind === "option-terminator") continue;
    if (token.kind === "positional") return fail(`'${token.value}' belongs to no flag; see tenon help.`);
    const name = flagOf(token.name);
    if (name === undefined) return fail(`There is no flag ${token.rawName}; see tenon help.`);
    if (flags[name].takes !== "switch" && (token.value ?? "") === "") return fail(`${token.rawName} needs a value.`);
    const texts = [...(values.get(name)?.texts ?? []), token.value ?? "true"];
    values.set(name, { texts, from: `--${name}` });
  }
  return ok(values);
}

const parserOptions = Object.fromEntries([
  ...flagNames.map((name) => [name, parserOption(name)] as const),
  ...Object.entries(synonyms).map(([synonym, name]) => [synonym, parserOption(name)] as const),
]);

type ParserOption = { type: "string" | "boolean"; short?: string };

function parserOption(name: FlagName): ParserOption {
  const flag = flags[name];
  const type = flag.takes === "switch" ? "boolean" : "string";
  return "alias" in flag ? { type, short: flag.alias } : { type };
}

/** The variables that stand for flags; a list is separated by commas. */
export function readVariables(environment: Environment): Values {
  const values = new Map<FlagName, Given>();
  for (const name of flagNames) {
    const from = `TENON_${name.toUpperCase().replaceAll("-", "_")}`;
    const text = environment[from] ?? "";
    if (text === "") continue;
    values.set(name, { texts: flags[name].takes === "list" ? text.split(",") : [text], from });
  }
  return values;
}
