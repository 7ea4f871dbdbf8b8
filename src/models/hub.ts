import { rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import type { ListFileEntry } from "@huggingface/hub";
import type { Failure } from "../generation/failure.ts";
import { fail, ok, type Result } from "../generation/result.ts";
import type { PullEvent } from "../generation/stored-model.ts";
import { pullAheadBytesMax, pullProgressSteps } from "../limits.ts";
import { writeStream } from "./blobs.ts";
import { defaultTag, type ModelName } from "./name.ts";

export type Hub = {
  /** Bun's own unless a test stands in for the network. */
  readonly fetch?: typeof fetch;
  readonly accessToken?: string | undefined;
};

/** Which repository a name means: `hf.co/owner/name`, `huggingface.co/owner/name` or `owner/name`. */
export function repositoryOf({ path, name }: ModelName): Result<string, Failure> {
  const [first, ...others] = path;
  const owner = path.length === 1 ? first : /^(hf|huggingface)\.co$/i.test(first ?? "") ? others[0] : undefined;
  if (owner !== undefined) return ok(`${owner}/${name}`);
  const message = `models are pulled from Hugging Face: 'hf.co/OWNER/NAME' or 'hf.co/OWNER/NAME:QUANTISATION', not '${[...path, name].join("/")}'`;
  return fail({ kind: "invalid", message, param: "model" });
}

/**
 * Fetches the GGUF files of a repository that a tag means into a folder, each under its own name once its digest is known to be right.
 * What fails, and an abort, leave nothing behind but files that are whole.
 */
export async function* pullFrom(
  hub: Hub,
  { repo, tag }: { readonly repo: string; readonly tag: string },
  folder: string,
  signal: AbortSignal,
): AsyncGenerator<PullEvent, void> {
  const given: typeof fetch = hub.fetch ?? fetch;
  const watched = (...[input, init]: Parameters<typeof fetch>) => given(input, { ...init, signal });
  const options = {
    repo,
    fetch: Object.assign(watched, { preconnect: given.preconnect }),
    ...(hub.accessToken === undefined ? {} : { accessToken: hub.accessToken }),
  };
  yield { kind: "listing" };
  try {
    // Most servers never pull, and it would take a third of their start.
    const { downloadFile, listFiles } = await import("@huggingface/hub");
    const entries: ListFileEntry[] = [];
    for await (const entry of listFiles({ ...options, recursive: true })) entries.push(entry);
    const chosen = filesOf(entries, tag);
    if (!chosen.ok) {
      yield { kind: "failure", message: `${repo} ${chosen.failure}` };
      return;
    }
    for (const entry of chosen.value) {
      const blob = await downloadFile({
        ...options,
        path: entry.path,
        parallelDownloads: { maxInFlightBytes: pullAheadBytesMax },
      });
      if (blob === null) {
        yield { kind: "failure", message: `${repo} has no ${entry.path} any more` };
        return;
      }
      const failed = yield* store(blob.stream(), entry, folder);
      if (failed !== undefined) {
        yield { kind: "failure", message: failed };
        return;
      }
    }
    yield { kind: "success" };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    yield { kind: "failure", message: signal.aborted ? "the pull was cancelled" : `cannot pull ${repo}: ${reason}` };
  }
}

/** The files that a tag means, a model's every part: `Q4_K_M` is the one with this in its name. */
export function filesOf(entries: readonly ListFileEntry[], tag: string): Result<readonly ListFileEntry[], string> {
  const files = entries.filter(({ path }) => /^(?!mmproj)\w[\w.+-]*\.gguf$/i.test(basename(path)));
  const models = Map.groupBy(files, ({ path }) => path.replace(/-\d{5}-of-\d{5}(?=\.gguf$)/i, ""));
  const names = [...models.keys()];
  if (names.length === 0) return fail("has no GGUF file");
  // Without a tag the one that llama.cpp and Ollama take too.
  const wanted = RegExp.escape(tag === defaultTag ? "Q4_K_M" : tag);
  const ending = names.filter((name) => new RegExp(`[-._/]${wanted}\\.gguf$`, "i").test(name));
  const holding = names.filter((name) => new RegExp(`(^|[-._/])${wanted}[-._/]`, "i").test(name));
  const fitting = tag === defaultTag && names.length === 1 ? names : ending.length > 0 ? ending : holding;
  const [only, ...others] = fitting;
  const list = names.map((name) => basename(name)).join(", ");
  if (only === undefined) return fail(`has no file for '${tag}': it has ${list}`);
  if (others.length > 0)
    return fail(`has several files for '${tag}': ${fitting.map((name) => basename(name)).join(", ")}`);
  return ok(models.get(only) ?? []);
}

/** Writes one file while it tells how far it has come; returns what went wrong. */
async function* store(
  body: ReadableStream<Uint8Array>,
  { path, size, lfs }: ListFileEntry,
  folder: string,
): AsyncGenerator<PullEvent, string | undefined> {
  const total = lfs?.size ?? size;
  const sha256 = lfs?.oid;
  // A digest is the hub's for all large files; a file without one cannot be told apart from a page of its site.
  if (sha256 === undefined) return `${path} has no digest`;
  const target = join(folder, basename(path));
  const writing = writeStream(target, body);
  const stepBytes = Math.ceil(total / pullProgressSteps);
  let toldBytes = 0;
  yield { kind: "progress", sha256, total, completed: 0 };
  let step = await writing.next();
  try {
    for (; step.done !== true; step = await writing.next()) {
      const completed = step.value;
      if (completed - toldBytes < stepBytes && completed < total) continue;
      toldBytes = completed;
      yield { kind: "progress", sha256, total, completed };
    }
  } finally {
    // Whoever leaves in the middle leaves no file behind.
    if (step.done !== true) await writing.return(fail({ kind: "cancelled" }));
  }
  const written = step.value;
  if (!written.ok) return written.failure.kind === "engine" ? `${path} ${written.failure.message}` : path;
  yield { kind: "verifying" };
  if (written.value.sha256 !== sha256) {
    await rm(written.value.unfinished, { force: true });
    return `${path} has the digest ${written.value.sha256} instead of ${sha256}`;
  }
  yield { kind: "writing" };
  await rename(written.value.unfinished, target);
  return undefined;
}
