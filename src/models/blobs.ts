import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Failure } from "../generation/failure.ts";
import { fail, ok, type Result } from "../generation/result.ts";
import { blobBytesMax } from "../limits.ts";

/** Where a blob lies; the digest is 64 hexadecimal digits. */
export function blobPath(folder: string, sha256: string): string {
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw new Error("a digest must be checked before it is a path");
  return join(folder, "blobs", `sha256-${sha256}`);
}

export function hasBlob(folder: string, sha256: string): boolean {
  return existsSync(blobPath(folder, sha256));
}

/** Keeps what was sent, if it is what it should be. */
export async function putBlob(
  folder: string,
  sha256: string,
  body: ReadableStream<Uint8Array>,
): Promise<Result<void, Failure>> {
  const path = blobPath(folder, sha256);
  const writing = writeStream(path, body);
  let step = await writing.next();
  while (step.done !== true) step = await writing.next();
  const written = step.value;
  if (!written.ok) return written;
  const { unfinished, sha256: found } = written.value;
  if (found !== sha256) {
    await rm(unfinished, { force: true });
    return fail({ kind: "invalid", message: `digest mismatch, expected "sha256:${sha256}", got "sha256:${found}"` });
  }
  await rename(unfinished, path);
  return ok(undefined);
}

export type Written = { readonly unfinished: string; readonly sha256: string };

/**
 * Writes a stream beside `path`, under a name that no model has, and says what its SHA-256 is; whoever asked gives it its own name.
 * Yields the bytes so far after every chunk. What fails or is left leaves no file.
 */
export async function* writeStream(
  path: string,
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<number, Result<Written, Failure>> {
  const unfinished = `${path}.${crypto.randomUUID()}.part`;
  const hash = createHash("sha256");
  let completed = 0;
  let file: FileHandle | undefined;
  let whole = false;
  try {
    await mkdir(dirname(path), { recursive: true });
    file = await open(unfinished, "wx");
    for await (const chunk of body) {
      completed += chunk.byteLength;
      if (completed > blobBytesMax) throw new Error(`more than ${blobBytesMax} bytes`);
      await file.writeFile(chunk);
      hash.update(chunk);
      yield completed;
    }
    await file.sync();
    whole = true;
    return ok({ unfinished, sha256: hash.digest("hex") });
  } catch (error) {
    return fail({ kind: "engine", message: `cannot be kept: ${error instanceof Error ? error.message : error}` });
  } finally {
    await file?.close();
    if (!whole) await rm(unfinished, { force: true });
  }
}
