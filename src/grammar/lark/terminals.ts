import { fail, ok, type Result } from "../../generation/result.ts";
import { grammarDepthMax } from "../../limits.ts";
import type { Refusal } from "../json-schema/schema.ts";
import { codePoints } from "../regex/code-points.ts";
import type { Language, Languages } from "../regex/language.ts";
import { foldCase } from "../regex/sets.ts";
import { wholePattern } from "../whole-pattern.ts";
import type { LarkGrammar, LarkItem, LarkRule } from "./syntax.ts";

/** The languages of a grammar's terminals. */
export class Terminals {
  readonly #languages: Languages;
  readonly #terminals: LarkGrammar["terminals"];
  readonly #known = new Map<string, Result<Language, Refusal>>();
  readonly #open = new Set<string>();

  constructor(languages: Languages, terminals: LarkGrammar["terminals"]) {
    this.#languages = languages;
    this.#terminals = terminals;
  }

  named(name: string, at: string): Result<Language, Refusal> {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const terminal = this.#terminals.get(name);
    if (terminal === undefined)
      return fail({ pointer: at, keyword: name, reason: "is a terminal that is not defined" });
    if (this.#open.has(name))
      return fail({ pointer: at, keyword: name, reason: "is a terminal that is part of itself" });
    if (this.#open.size === grammarDepthMax) {
      return fail({
        pointer: at,
        keyword: name,
        reason: `is a terminal made of more than ${grammarDepthMax} in a row`,
      });
    }
    this.#open.add(name);
    const language = this.rule(terminal);
    this.#open.delete(name);
    this.#known.set(name, language);
    return language;
  }

  /** The language of a definition; a shortest one keeps only what no other of its texts begins. */
  rule({ item, shortest }: LarkRule): Result<Language, Refusal> {
    const language = this.language(item);
    if (!language.ok || !shortest) return language;
    const languages = this.#languages;
    const longer = languages.concat([language.value, languages.repeat(languages.anyPoint, 1, undefined)]);
    return ok(languages.intersection([language.value, languages.complement(longer)]));
  }

  language(item: LarkItem): Result<Language, Refusal> {
    const languages = this.#languages;
    switch (item.kind) {
      case "name":
        return this.named(item.name, item.at);
      case "string":
        return ok(
          languages.concat(
            [...item.text].map((character) => {
              const point = character.codePointAt(0) ?? 0;
              const points = codePoints([[point, point]]);
              return languages.class(item.ignoreCase ? foldCase(points) : points);
            }),
          ),
        );
      case "range":
        return ok(languages.class(codePoints([[item.first, item.last]])));
      case "pattern": {
        const has = (flag: string) => item.flags.includes(flag);
        const flags = { ignoreCase: has("i"), multiline: has("m"), dotAll: has("s") };
        const language = wholePattern(languages, item.source, flags);
        return language.ok
          ? language
          : fail({ pointer: item.at, keyword: `/${item.source}/`, reason: language.failure });
      }
      case "sequence":
        return this.#all(item.items, (parts) => languages.concat(parts));
      case "choice":
        return this.#all(item.items, (parts) => languages.union(parts));
      case "intersection":
        return this.#all(item.items, (parts) => languages.intersection(parts));
      case "complement":
        return this.#all([item.item], (parts) => languages.complement(languages.union(parts)));
      case "repeat":
        return this.#all([item.item], (parts) => languages.repeat(languages.union(parts), item.min, item.max));
      case "tokens":
      case "json":
      case "lark":
        return fail({ pointer: item.at, keyword: `a ${item.kind} item`, reason: "can stand in rules only" });
      case "substring":
        return fail({ pointer: "", keyword: "%regex", reason: "can stand in rules only" });
      default:
        return item satisfies never;
    }
  }

  #all(items: readonly LarkItem[], make: (parts: readonly Language[]) => Language): Result<Language, Refusal> {
    const parts: Language[] = [];
    for (const item of items) {
      const part = this.language(item);
      if (!part.ok) return part;
      parts.push(part.value);
    }
    return ok(make(parts));
  }
}
