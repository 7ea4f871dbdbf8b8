import { dlopen, toArrayBuffer } from "bun:ffi";
import { createHash } from "node:crypto";
import { chmod, mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { fail, ok, type Result } from "../generation/result.ts";
import { enums, fingerprint, functions, structs } from "./abi.gen.ts";
import { reportOf } from "./memory.ts";

/** The native library, opened. It stays loaded as long as the process lives: its threads may be running. */
export type Library = {
  readonly path: string;
  readonly calls: ReturnType<typeof open>["symbols"];
  /** Why the last failed call failed. */
  errorText(): string;
  /** What is alive behind handles, in the whole process. */
  liveCounts(): Readonly<Record<keyof typeof structs.LiveCounts.fields, number>>;
  /** Native memory as JavaScript sees it, without a copy. Made once for each arena: its cost grows with its size. */
  view(address: number, bytes: number): ArrayBuffer;
};

/** Fails when the file can't be loaded, or was built from another zig/abi.zig than these sources. */
export function openLibrary(path: string, expected: number = fingerprint): Result<Library, string> {
  let opened: ReturnType<typeof open>;
  try {
    const probe = dlopen(path, { tenon_fingerprint: functions.tenon_fingerprint });
    const found = probe.symbols.tenon_fingerprint();
    if (found !== expected) {
      const [theirs, ours] = [found, expected].map((word) => (word >>> 0).toString(16).padStart(8, "0"));
      return fail(`${path} was built from other sources (${theirs}, expected ${ours}); run \`zig build\``);
    }
    opened = open(path);
  } catch (error) {
    return fail(`${path} can't be loaded: ${error instanceof Error ? error.message : String(error)}`);
  }
  const calls = opened.symbols;
  const text = new Uint8Array(errorBytesMax);
  return ok({
    path,
    calls,
    errorText: () => utf8.decode(text.subarray(0, calls.tenon_error_text(text, text.length))),
    liveCounts: () => {
      const { bytes, get } = reportOf(structs.LiveCounts);
      calls.tenon_live_counts(bytes);
      return {
        vocabularies: get("vocabularies"),
        grammars: get("grammars"),
        matchers: get("matchers"),
        models: get("models"),
        requests: get("requests"),
      };
    },
    view: (address, bytes) => toArrayBuffer(address, 0, bytes),
  });
}

/** Where `zig build` puts the library of a checkout. */
export function libraryPath(): string {
  return fileURLToPath(new URL(`../../zig-out/lib/${libraryName}`, import.meta.url));
}

/**
 * Writes an embedded library to a folder that only this user can enter, under the hash of its content, and returns its
 * path. What another process writes at the same time is the same file.
 */
export async function installLibrary(bytes: Uint8Array<ArrayBuffer>, folder: string): Promise<string> {
  const hash = createHash("sha256").update(bytes).digest("hex");
  const path = join(folder, `${hash}-${libraryName}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  const present = Bun.file(path);
  if (
    (await present.exists()) &&
    createHash("sha256")
      .update(await present.bytes())
      .digest("hex") === hash
  )
    return path;
  const part = `${path}.${process.pid}.part`;
  try {
    await Bun.write(part, bytes);
    await chmod(part, 0o700);
    await rename(part, path);
  } finally {
    await rm(part, { force: true });
  }
  return path;
}

export const statuses = enums.Status;

const libraryName = process.platform === "darwin" ? "libtenon.dylib" : "libtenon.so";
const errorBytesMax = 1024;
const utf8 = new TextDecoder();

function open(path: string) {
  return dlopen(path, functions);
}
