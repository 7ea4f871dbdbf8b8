/**
 * Runs one step and shows that it goes on. Nothing is shown in its first second; then, on a terminal, one line with the
 * elapsed time; elsewhere a plain line at once and another every now and then, so that a log shows what is waited for.
 */
export async function step<T>(label: string, work: () => Promise<T>): Promise<T> {
  const begin = performance.now();
  const terminal = process.stderr.isTTY;
  const elapsed = () => `${Math.round((performance.now() - begin) / 1000)} s`;
  let shown = false;
  let plainAt = quietMs;
  const timer = setInterval(() => {
    shown = true;
    if (terminal) process.stderr.write(`\r\x1b[K${label} … ${elapsed()}`);
    else if (performance.now() - begin >= plainAt) {
      process.stderr.write(plainAt === quietMs ? `${label} …\n` : `${label} … ${elapsed()}\n`);
      plainAt = Math.max(plainAt + plainEveryMs, plainEveryMs);
    }
  }, quietMs);
  const close = (outcome: string) => {
    clearInterval(timer);
    if (shown) process.stderr.write(`${terminal ? "\r\x1b[K" : ""}${label}: ${outcome} after ${elapsed()}\n`);
  };
  try {
    const result = await work();
    close("done");
    return result;
  } catch (error) {
    close("failed");
    throw error;
  }
}

const quietMs = 1000;
const plainEveryMs = 20_000;
