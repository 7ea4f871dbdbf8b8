import { afterEach, beforeEach, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { detail } from "../../tests/fixtures/chat.ts";
import type { PullEvent } from "../generation/stored-model.ts";
import { filesOf } from "./hub.ts";
import { openModelStore } from "./store.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tenon-hub-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const sha256Of = (text: string) => createHash("sha256").update(text).digest("hex");

/** A hub with one repository, `own/Tiny-GGUF`: no network. */
function hubOf(files: Readonly<Record<string, string>>, { digest = sha256Of }: { digest?: typeof sha256Of } = {}) {
  const asked: string[] = [];
  const answer = async (input: Parameters<typeof fetch>[0], init?: RequestInit): Promise<Response> => {
    init?.signal?.throwIfAborted();
    const { pathname } = new URL(input instanceof Request ? input.url : String(input));
    asked.push(pathname);
    if (pathname.startsWith("/api/models/own/Tiny-GGUF/tree/")) {
      return Response.json(
        Object.entries(files).map(([path, text]) => ({
          type: "file",
          path,
          size: text.length,
          oid: "1",
          lfs: { oid: digest(text), size: text.length, pointerSize: 130 },
        })),
      );
    }
    const path = pathname.replace("/own/Tiny-GGUF/resolve/main/", "");
    const text = files[path];
    if (text === undefined) return Response.json({ error: "Repository not found" }, { status: 404 });
    const headers = { etag: `"${digest(text)}"`, "content-range": `bytes 0-0/${text.length}` };
    const whole = !new Headers(init?.headers).get("range")?.endsWith("=0-0");
    return new Response(whole ? text : text.slice(0, 1), { status: whole ? 200 : 206, headers });
  };
  return { asked, fetch: Object.assign(answer, { preconnect: fetch.preconnect }) };
}

async function pull(name: string, hub: { readonly fetch: typeof fetch }, signal = new AbortController().signal) {
  const pulled = openModelStore({ folder, loaded: detail, hub }).pull(name, signal);
  if (!pulled.ok) throw new Error(JSON.stringify(pulled.failure));
  const events: PullEvent[] = [];
  for await (const event of pulled.value) events.push(event);
  return events;
}

test("a model is fetched with its progress, checked, and then there", async () => {
  const text = "GGUF".repeat(100_000);
  const hub = hubOf({ "README.md": "x", "Tiny-Q4_K_M.gguf": text, "Tiny-Q8_0.gguf": "other", "mmproj-Tiny.gguf": "y" });
  const events = await pull("hf.co/own/Tiny-GGUF", hub);
  const kinds = events.map(({ kind }) => kind).filter((kind, index, all) => kind !== all[index - 1]);
  expect(kinds).toEqual(["listing", "progress", "verifying", "writing", "success"]);
  const steps = events.filter((event) => event.kind === "progress");
  expect(steps.at(0)).toEqual({ kind: "progress", sha256: sha256Of(text), total: text.length, completed: 0 });
  expect(steps.at(-1)?.completed).toBe(text.length);
  const completed = steps.map((step) => step.completed);
  expect(completed).toEqual([...completed].sort((a, b) => a - b));
  expect(readdirSync(folder)).toEqual(["Tiny-Q4_K_M.gguf"]);
  expect(readFileSync(join(folder, "Tiny-Q4_K_M.gguf"), "utf8")).toBe(text);
  const store = openModelStore({ folder, loaded: detail });
  expect(store.find("hf.co/own/Tiny-GGUF:Q4_K_M")?.id).toBe("Tiny-Q4_K_M");
});

/** The same file in the storage that the hub moves large files to: https://huggingface.co/docs/xet/en/download-protocol. */
function chunkedHub(text: string) {
  const size = text.length;
  const oid = sha256Of(text);
  // Chunks as they are stored: version, 24 bits of length, no compression, 24 bits of length, bytes.
  const half = Math.ceil(size / 2);
  const bits = (length: number) => [length & 255, (length >> 8) & 255, length >> 16];
  const stored = Buffer.concat(
    [text.slice(0, half), text.slice(half)].map((part) =>
      Buffer.from([0, ...bits(part.length), 0, ...bits(part.length), ...Buffer.from(part)]),
    ),
  );
  const entry = { type: "file", path: "Tiny-Q8_0.gguf", size, oid: "1", lfs: { oid, size, pointerSize: 130 } };
  const links = [
    '<https://huggingface.co/token>; rel="xet-auth"',
    '<https://cas.example/v1/reconstructions/h>; rel="xet-reconstruction-info"',
  ];
  const answers: Readonly<Record<string, () => Response>> = {
    "/api/models/own/Tiny-GGUF/tree/main": () => Response.json([entry]),
    "/own/Tiny-GGUF/resolve/main/Tiny-Q8_0.gguf": () =>
      new Response("{}", {
        headers: {
          "content-type": "application/vnd.xet-fileinfo+json",
          "x-linked-size": String(size),
          "x-linked-etag": oid,
          "x-xet-hash": "h",
          link: links.join(", "),
        },
      }),
    "/token": () => Response.json({ accessToken: "t", exp: 4e9, casUrl: "https://cas.example" }),
    "/v2/reconstructions/h": () =>
      Response.json({
        offset_into_first_range: 0,
        terms: [{ hash: "x", unpacked_length: size, range: { start: 0, end: 2 } }],
        xorbs: {
          x: [
            {
              url: "https://cas.example/x",
              ranges: [{ chunks: { start: 0, end: 2 }, bytes: { start: 0, end: stored.length - 1 } }],
            },
          ],
        },
      }),
    "/x": () => new Response(new Uint8Array(stored), { status: 206 }),
  };
  const answer = async (input: Parameters<typeof fetch>[0]): Promise<Response> => {
    const { pathname } = new URL(input instanceof Request ? input.url : String(input));
    return answers[pathname]?.() ?? new Response(null, { status: 404 });
  };
  return { fetch: Object.assign(answer, { preconnect: fetch.preconnect }) };
}

test("a file in chunks", async () => {
  const text = "GGUF".repeat(10_000);
  expect((await pull("own/Tiny-GGUF:Q8_0", chunkedHub(text))).at(-1)).toEqual({ kind: "success" });
  expect(readFileSync(join(folder, "Tiny-Q8_0.gguf"), "utf8")).toBe(text);
});

test("every part of a model in parts, by its tag", async () => {
  const hub = hubOf({
    "q8/Tiny-Q8_0-00001-of-00002.gguf": "one",
    "q8/Tiny-Q8_0-00002-of-00002.gguf": "two",
    "T-Q4_0.gguf": "x",
  });
  expect((await pull("own/Tiny-GGUF:q8_0", hub)).at(-1)).toEqual({ kind: "success" });
  expect(readdirSync(folder).sort()).toEqual(["Tiny-Q8_0-00001-of-00002.gguf", "Tiny-Q8_0-00002-of-00002.gguf"]);
});

test("what is not what it should be, what is not there and no network are told, and nothing stays behind", async () => {
  const files = { "Tiny-Q8_0.gguf": "text" };
  const failureOf = async (...[name, hub]: Parameters<typeof pull>) => {
    const last = (await pull(name, hub)).at(-1);
    return last?.kind === "failure" ? last.message : last?.kind;
  };
  expect(await failureOf("own/Tiny-GGUF", hubOf(files, { digest: () => "0".repeat(64) }))).toMatch(
    /^Tiny-Q8_0\.gguf has the digest [0-9a-f]{64} instead of 0{64}$/,
  );
  expect(await failureOf("own/Tiny-GGUF:Q2_K", hubOf(files))).toBe(
    "own/Tiny-GGUF has no file for 'Q2_K': it has Tiny-Q8_0.gguf",
  );
  expect(await failureOf("own/Tiny-GGUF", hubOf({}))).toBe("own/Tiny-GGUF has no GGUF file");
  expect(await failureOf("own/Nothing", hubOf(files))).toMatch(/^cannot pull own\/Nothing: Repository not found/);
  const offline = Object.assign(() => Promise.reject(new Error("Unable to connect")), { preconnect: fetch.preconnect });
  expect(await failureOf("own/Tiny-GGUF", { fetch: offline })).toBe("cannot pull own/Tiny-GGUF: Unable to connect");
  expect(readdirSync(folder)).toEqual([]);
});

test("an abort ends it, and so does whoever stops asking", async () => {
  const gone = new AbortController();
  gone.abort();
  const hub = hubOf({ "Tiny-Q8_0.gguf": "text" });
  expect((await pull("own/Tiny-GGUF", hub, gone.signal)).at(-1)).toEqual({
    kind: "failure",
    message: "the pull was cancelled",
  });
  const pulled = openModelStore({ folder, loaded: detail, hub }).pull("own/Tiny-GGUF", new AbortController().signal);
  if (!pulled.ok) throw new Error("refused");
  for await (const event of pulled.value) if (event.kind === "progress") break;
  expect(readdirSync(folder)).toEqual([]);
});

test("a name without an owner says no place", () => {
  const store = openModelStore({ folder, loaded: detail });
  for (const name of ["llama3.2", "registry.example/own/tiny"]) {
    const pulled = store.pull(name, new AbortController().signal);
    expect(pulled).toMatchObject({ ok: false, failure: { kind: "invalid", param: "model" } });
  }
});

test("without a tag the one file, or the common quantisation", () => {
  const entry = (path: string) => ({ type: "file", size: 1, path }) as const;
  const chosen = (tag: string, ...paths: string[]) => {
    const files = filesOf(paths.map(entry), tag);
    return files.ok ? files.value.map(({ path }) => path) : files.failure;
  };
  expect(chosen("latest", "A-Q8_0.gguf")).toEqual(["A-Q8_0.gguf"]);
  expect(chosen("latest", "A-Q8_0.gguf", "A-Q4_K_M.gguf")).toEqual(["A-Q4_K_M.gguf"]);
  expect(chosen("latest", "A-Q8_0.gguf", "A-Q6_K.gguf")).toBe(
    "has no file for 'latest': it has A-Q8_0.gguf, A-Q6_K.gguf",
  );
  expect(chosen("Q4_K", "A-Q4_K_M.gguf", "A-Q4_K.gguf")).toEqual(["A-Q4_K.gguf"]);
  expect(chosen("Q8_0", "A-Q8_0.gguf", "B-Q8_0.gguf")).toBe("has several files for 'Q8_0': A-Q8_0.gguf, B-Q8_0.gguf");
});
