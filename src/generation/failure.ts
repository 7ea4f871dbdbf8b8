import type { GrammarSource } from "./grammar-source.ts";

/**
 * Everything that can go wrong with a request, in the inner language. Each api room maps these kinds to its
 * own status and error body; no kind knows of HTTP.
 *
 * `param` names the caller's field in dotted form (`tools[0].function.parameters`), as the api room gave it.
 */
export type Failure =
  /** The request contradicts itself or the protocol. */
  | { readonly kind: "invalid"; readonly message: string; readonly param?: string; readonly code?: string }
  /** A schema or grammar that cannot be enforced: refused by name, never weakened. */
  | {
      readonly kind: "constraint";
      readonly message: string;
      readonly param?: string;
      /** Of a grammar; undefined: a JSON Schema. */
      readonly syntax?: GrammarSource["syntax"];
      /** RFC 6901 pointer of the place inside the schema, or `LINE:COLUMN` in a grammar's text. */
      readonly pointer: string;
      readonly keyword: string;
      /** The work allowed ran out before there was a verdict. */
      readonly exhausted?: true;
    }
  /** Prompt plus the shortest possible answer do not fit. Counts are tokens. */
  | {
      readonly kind: "context";
      readonly message: string;
      readonly promptTokens: number;
      readonly contextMax: number;
      /** Undefined: a conversation's messages. */
      readonly param?: string;
    }
  | { readonly kind: "model_not_found"; readonly model: string }
  | { readonly kind: "overloaded"; readonly message: string }
  | { readonly kind: "cancelled" }
  /** The engine failed this request; others go on. */
  | { readonly kind: "engine"; readonly message: string };
