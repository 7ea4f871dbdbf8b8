import type { Conjunct, Scope } from "./schema.ts";
import type { Senses } from "./senses.ts";

type Described = Omit<Conjunct, "id">;

/** The conjuncts of one document, each made once, of the first schema of its sense. */
export class Conjuncts {
  readonly #senses: Senses;
  /** By sense: of schemas, and of literals. */
  readonly #known: Readonly<Record<Conjunct["kind"], Conjunct[][]>> = { schema: [], literal: [] };
  readonly #scopes = new Map<string, Scope>();
  #count = 0;

  constructor(senses: Senses) {
    this.#senses = senses;
  }

  of(described: Described): Conjunct {
    const { kind, negated, closes, scope } = described;
    const sense = kind === "schema" ? this.#senses.schema(described.json) : this.#senses.literal(described.json);
    let known = this.#known[kind][sense];
    if (known === undefined) {
      known = [];
      this.#known[kind][sense] = known;
    }
    for (const one of known) if (one.negated === negated && one.closes === closes && one.scope === scope) return one;
    const { json, pointer } = known[0] ?? described;
    const conjunct = { ...described, json, pointer, id: this.#count++ };
    known.push(conjunct);
    return conjunct;
  }

  /** The scope with one more resource, unless it has been entered before. */
  enter(scope: Scope, base: string): Scope {
    if (scope.includes(base)) return scope;
    const entered = [...scope, base];
    const key = entered.join(" ");
    const known = this.#scopes.get(key);
    if (known !== undefined) return known;
    this.#scopes.set(key, entered);
    return entered;
  }
}
