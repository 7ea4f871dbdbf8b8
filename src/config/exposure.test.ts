import { expect, test } from "bun:test";
import { exposureNote } from "./exposure.ts";

test.each([
  [{ host: "0.0.0.0" }, true],
  [{ host: "::" }, true],
  [{ host: "192.168.1.2" }, true],
  [{ host: "127.example.com" }, true],
  [{ host: "127.0.0.1" }, false],
  [{ host: "localhost" }, false],
  [{ host: "::1" }, false],
  [{ host: "0.0.0.0", apiKeys: ["k"] }, false],
  [{ host: "0.0.0.0", unix: "/run/tenon" }, false],
])("%j is open to others: %p", (given, isOpen) => {
  const note = exposureNote({ unix: undefined, apiKeys: [], ...given });
  expect(note?.includes(given.host)).toBe(isOpen ? true : undefined);
});
