import type { JsonText } from "../json-text.ts";
import type { Conjunct, Scope } from "./schema.ts";

type Described = Omit<Conjunct, "id">;

/** The conjuncts of one document, each made once. */
export class Conjuncts {
  readonly #byJson = new Map<JsonText, Conjunct[]>();
  readonly #scopes = new Map<string, Scope>();
  #count = 0;

  of(described: Described): Conjunct {
    const { json, kind, negated, closes, scope } = described;
    let known = this.#byJson.get(json);
    if (known === undefined) {
      known = [];
      this.#byJson.set(json, known);
    }
    const same = known.find(
      (one) => one.kind === kind && one.negated === negated && one.closes === closes && one.scope === scope,
    );
    if (same !== undefined) return same;
    const conjunct = { ...described, id: this.#count++ };
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
