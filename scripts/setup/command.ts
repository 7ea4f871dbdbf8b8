export type Finished = {
  readonly code: number /** stdout and stderr, each whole, in this order. */;
  readonly output: string;
};

export type CommandOptions = {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Also shows the output, as it comes, on stderr. */
  readonly show?: boolean;
};

/**
 * Runs a program to its end and keeps what it prints. A signal to this process is passed on to the program, so an interrupted
 * set-up leaves nothing running. A program that cannot be started counts as one that ended with code 127.
 */
export async function run(command: readonly string[], options: CommandOptions = {}): Promise<Finished> {
  const child = start(command, options);
  if (child === undefined) return { code: 127, output: `${command[0]}: not found` };
  const forward = (signal: NodeJS.Signals) => child.kill(signal);
  process.on("SIGINT", forward).on("SIGTERM", forward);
  try {
    const [out, err, code] = await Promise.all([
      read(child.stdout, options.show === true),
      read(child.stderr, options.show === true),
      child.exited,
    ]);
    if (child.signalCode === "SIGINT" || child.signalCode === "SIGTERM") process.exit(130);
    return { code, output: (out + err).trim() };
  } finally {
    process.off("SIGINT", forward).off("SIGTERM", forward);
  }
}

async function read(stream: ReadableStream<Uint8Array>, show: boolean): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of stream) {
    if (show) process.stderr.write(bytes);
    text += decoder.decode(bytes, { stream: true });
  }
  return text + decoder.decode();
}

function start(command: readonly string[], options: CommandOptions) {
  try {
    return Bun.spawn([...command], {
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      env: { ...process.env, ...options.env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
  } catch {
    return undefined;
  }
}
