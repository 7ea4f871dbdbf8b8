import { createHash } from "node:crypto";
import { existsSync, linkSync, unlinkSync } from "node:fs";
import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Failure } from "../generation/failure.ts";
import { fail, ok, type Result } from "../generation/result.ts";
import { blobBytesMax } from "../limits.ts";
import { diskFailure } from "./failure.ts";
import { readGgufFile } from "./gguf-file.ts";

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

/** Makes a blob a file of weights of this name, if it is one. */
export function adoptBlob(folder: string, sha256: string, name: string): Result<void, Failure> {
  const path = blobPath(folder, sha256);
  const refuse = (message: string) => fail<Failure>({ kind: "invalid", message, param: "files" });
  if (!existsSync(path)) return refuse(`there is no blob sha256:${sha256}`);
  const file = readGgufFile(path);
  if (!file.ok) return refuse(`the blob is no model: ${file.failure.message.replace(path, `sha256:${sha256}`)}`);
  try {
    // A link, unlike a new name, never takes the place of another file.
    linkSync(path, join(folder, `${name}.gguf`));
    unlinkSync(path);
    return ok(undefined);
  } catch (error) {
    return fail(diskFailure("the model cannot be made", error));
  }
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
    return fail(diskFailure("cannot be kept", error));
  } finally {
    await file?.close();
    if (file !== undefined && !whole) await rm(unfinished, { force: true });
  }
}
