import { Database } from "bun:sqlite";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";

/**
 * Runs `work` while no other process holds the lock of this folder (made if absent). The lock is an exclusive transaction on an
 * empty SQLite file: the system drops it with the process, so a killed set-up never leaves a stale one.
 */
export async function withLock<T>(folder: string, holder: string, work: () => Promise<T>): Promise<T> {
  await mkdir(folder, { recursive: true });
  using database = new Database(join(folder, "setup.lock"));
  let waiting = false;
  while (!tryLock(database)) {
    if (!waiting) process.stderr.write(`Waiting for ${holder} to finish …\n`);
    waiting = true;
    await Bun.sleep(retryMs);
  }
  try {
    return await work();
  } finally {
    database.run("ROLLBACK");
  }
}

function tryLock(database: Database): boolean {
  try {
    database.run("BEGIN EXCLUSIVE");
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "SQLITE_BUSY") return false;
    throw error;
  }
}

const retryMs = 200;
