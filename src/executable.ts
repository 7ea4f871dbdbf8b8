/** The entry of the standalone executable: puts the native library that it carries on disk, then runs the server. */
import { mkdir, rename } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import library from "tenon:library" with { type: "file" };

process.env["TENON_LIBRARY"] ||= await unpackLibrary();
const { main } = await import("./main.ts");
await main(process.argv.slice(2));

/**
 * The library's path on disk. The folder is the user's alone and the name is the hash of the content: what is loaded cannot be
 * put there by anybody else, and several versions of the executable do not meet.
 */
async function unpackLibrary(): Promise<string> {
  const bytes = await Bun.file(library).bytes();
  const hash = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
  const folder = join(process.env["TENON_HOME"] || join(homedir(), ".cache", "tenon"), "library");
  const path = join(folder, `${hash}.${process.platform === "darwin" ? "dylib" : "so"}`);
  if (await Bun.file(path).exists()) return path;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const unfinished = `${path}.${process.pid}`;
  await Bun.write(unfinished, bytes);
  await rename(unfinished, path);
  return path;
}
