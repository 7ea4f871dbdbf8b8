import { expect, test } from "bun:test";
import { createKeyring } from "./auth.ts";

const keyring = createKeyring(["sk-one", "sk-two", "clé"]);

test.each([
  [{ authorization: "Bearer sk-one" }, 0],
  [{ authorization: "bearer  sk-two" }, 1],
  [{ "x-api-key": "sk-two" }, 1],
  [{ authorization: "Bearer dummy", "x-api-key": "sk-one" }, 0],
  [{}, undefined],
  [{ authorization: "sk-one" }, undefined],
  [{ authorization: "Basic sk-one" }, undefined],
  [{ authorization: "Bearer sk-on" }, undefined],
  [{ authorization: "Bearer sk-one2" }, undefined],
  [{ authorization: "Bearer " }, undefined],
  [{ "x-api-key": "SK-ONE" }, undefined],
] satisfies readonly (readonly [Record<string, string>, number | undefined])[])("%j is key %p", (headers, key) => {
  expect(keyring.find(new Headers(headers))).toBe(key);
});

test("without keys the door is open", () => {
  expect(keyring.open).toBe(false);
  expect(createKeyring([])).toMatchObject({ open: true });
});
