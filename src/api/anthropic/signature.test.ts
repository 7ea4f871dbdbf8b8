import { expect, test } from "bun:test";
import fc from "fast-check";
import { signatureOf, thoughtOf } from "./signature.ts";

test("a thought comes back with the next turn, shown or not", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const thought = text.toWellFormed();
      expect(thoughtOf({ thinking: thought, signature: signatureOf(thought, "shown") })).toBe(thought);
      expect(thoughtOf({ thinking: "", signature: signatureOf(thought, "omitted") })).toBe(thought);
    }),
  );
});

test("a signature of somebody else's is accepted and says nothing", () => {
  for (const signature of [undefined, "", "EqoBCkgIAR==", signatureOf("a", "shown")])
    expect(thoughtOf({ thinking: "", signature })).toBe("");
  expect(thoughtOf({ thinking: "seen", signature: signatureOf("hidden", "omitted") })).toBe("seen");
});
