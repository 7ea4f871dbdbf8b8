import { lstat, unlink } from "node:fs/promises";

/**
 * Removes a socket that a server left behind which could not clean up: one that nobody listens at. Everything else that lies at the path stays, and
 * listening fails.
 */
export async function removeStaleSocket(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isSocket() !== true || (await isHeard(path))) return;
  await unlink(path);
}

async function isHeard(path: string): Promise<boolean> {
  try {
    const socket = await Bun.connect({ unix: path, socket: { data() {} } });
    socket.end();
    return true;
  } catch {
    return false;
  }
}
