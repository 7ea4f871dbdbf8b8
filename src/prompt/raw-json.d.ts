/** A value whose JSON is exactly `text` (ECMAScript's JSON.parse source text access), which the type library lacks yet. */
interface JSON {
  rawJSON(text: string): unknown;
}
