import { fail, ok, type Result } from "../generation/result.ts";
import { type FlagName, flagOf, flags } from "./flags.ts";
import type { Given, Values } from "./sources.ts";

/** Reads a config file, TOML unless its name ends in `.json`: a flag a key, with a value of the flag's own type. */
export async function readConfigFile(path: string): Promise<Result<Values, string>> {
  const text = await readText(path, "config file");
  if (!text.ok) return text;
  let table: unknown;
  try {
    table = path.endsWith(".json") ? JSON.parse(text.value) : Bun.TOML.parse(text.value);
  } catch (error) {
    return fail(`${path} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
  if (table === null || typeof table !== "object" || Array.isArray(table)) return fail(`${path} holds no keys.`);
  const values = new Map<FlagName, Given>();
  for (const [key, value] of Object.entries(table)) {
    const name = flagOf(key);
    if (name === undefined || name === "config") return fail(`${path}: there is no key '${key}'; see tenon help.`);
    const texts = textsOf(name, value);
    if (texts === undefined) return fail(`${path}: '${key}' takes ${kinds[flags[name].takes]}.`);
    values.set(name, { texts, from: `${path}: '${key}'` });
  }
  return ok(values);
}

/** The lines of a file that are not empty, without spaces around them. */
export async function readLines(path: string, what: string): Promise<Result<readonly string[], string>> {
  const text = await readText(path, what);
  if (!text.ok) return text;
  const lines = text.value.split("\n").map((line) => line.trim());
  return ok(lines.filter((line) => line !== ""));
}

async function readText(path: string, what: string): Promise<Result<string, string>> {
  try {
    return ok(await Bun.file(path).text());
  } catch (error) {
    return fail(`The ${what} ${path} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

const kinds = {
  text: "a text",
  number: "a whole number",
  list: "a text or a list of texts",
  switch: "true or false",
} as const;

/** The same as the command line would have it; undefined where the type is wrong. */
function textsOf(name: FlagName, value: unknown): readonly string[] | undefined {
  switch (flags[name].takes) {
    case "text":
      return typeof value === "string" && value !== "" ? [value] : undefined;
    case "number":
      return Number.isInteger(value) ? [String(value)] : undefined;
    case "switch":
      return typeof value === "boolean" ? [String(value)] : undefined;
    case "list": {
      const items: unknown[] = Array.isArray(value) ? value : [value];
      const texts = items.filter((item) => typeof item === "string" && item !== "");
      return texts.length === items.length ? texts.map(String) : undefined;
    }
    default:
      return flags[name] satisfies never;
  }
}
