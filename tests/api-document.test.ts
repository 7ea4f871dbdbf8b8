import { expect, test } from "bun:test";
import { join } from "node:path";
import { completionBody } from "../src/api/openai/decode-completion.ts";
import { acceptedFields, chatBody, refusedFields } from "../src/api/openai/schema.ts";
import { ownFields } from "../src/api/own-fields.ts";

test("docs/api.md has every field of OpenAI's shape that is read, accepted or refused", async () => {
  const manual = await Bun.file(join(import.meta.dir, "../docs/api.md")).text();
  const names = [
    ...Object.keys(chatBody.properties),
    ...Object.keys(completionBody.properties),
    ...Object.keys(ownFields),
    ...Object.keys(refusedFields),
    ...acceptedFields,
  ];
  expect(names.filter((name) => !new RegExp(`\`${name}[\`:.]`).test(manual))).toEqual([]);
});
