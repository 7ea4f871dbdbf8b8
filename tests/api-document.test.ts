import { expect, test } from "bun:test";
import { join } from "node:path";
import { optionsBody } from "../src/api/model-options.ts";
import {
  chatBody as chat,
  copyBody,
  createBody,
  embedBody,
  generateBody,
  messageBody,
  pullBody,
  refusedOfCreate,
  showBody,
} from "../src/api/ollama/schema.ts";
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

test("docs/api.md has every field and option of Ollama's shape", async () => {
  const manual = await Bun.file(join(import.meta.dir, "../docs/api.md")).text();
  const section = manual.slice(manual.indexOf("\n## Ollama\n"));
  const bodies = [chat, generateBody, optionsBody, messageBody, embedBody, createBody, copyBody, pullBody, showBody];
  const names = [...bodies.flatMap(({ properties }) => Object.keys(properties)), ...Object.keys(refusedOfCreate)];
  const own = Object.keys(ownFields);
  const missing = names.filter((name) => !own.includes(name) && !new RegExp(`\`${name}[\`:.]`).test(section));
  expect([...new Set(missing)]).toEqual([]);
});
