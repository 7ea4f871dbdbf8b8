import { type Config, product, readCommand } from "./config.ts";
import { diagnose } from "./doctor.ts";
import { libraryPath } from "./engine/library.ts";
import { type LoadedModel, loadModel } from "./generate/load.ts";
import { generate } from "./generate.ts";
import type { Request } from "./generation/request.ts";
import { pingMs, stopGraceMs } from "./limits.ts";
import { modelsFolder } from "./models/catalog.ts";
import { type Server, startServer } from "./server.ts";

/** Runs one command of the command line with the native library at this path; serving ends with a signal. */
export async function main(argv: readonly string[], library: string): Promise<void> {
  const command = await readCommand(argv, process.env);
  if (!command.ok) return exit(command.failure, 2);
  switch (command.value.kind) {
    case "print":
      return print(command.value.text);
    case "serve":
      return serve(command.value.config, library);
    case "doctor": {
      const { text, healthy } = diagnose(library, modelsFolder(process.env));
      print(text.trimEnd());
      process.exitCode = healthy ? 0 : 1;
      return;
    }
    default:
      return command.value satisfies never;
  }
}

async function serve(config: Config, library: string): Promise<void> {
  const loaded = await loadModel(config, library);
  if (!loaded.ok) return exit(loaded.failure, 1);
  const started = startServer(serviceOf(loaded.value, config), config);
  if (!started.ok) {
    loaded.value[Symbol.dispose]();
    return exit(started.failure, 1);
  }
  for (const note of loaded.value.notes) print(note);
  const { id, engine } = loaded.value.model;
  print(
    `Tenon ${product.version} serves ${id} (${engine.contextMax} tokens of context) at ${started.value.url.origin}`,
  );
  stopOnSignal(started.value, loaded.value);
}

/** What the api rooms need, over one model. */
function serviceOf({ model, detection }: LoadedModel, config: Config) {
  const { dialect, generic } = detection;
  const { contextMax } = model.engine;
  const created = Math.floor(Date.now() / 1000);
  return {
    answer: (request: Request, signal: AbortSignal) => generate(model, request, signal, config),
    models: [{ id: model.id, created, contextMax, dialect: dialect.name, dialectDetected: !generic }],
    holdCalls: config.holdCalls,
    pingMs,
  };
}

/** The first signal lets running answers finish, the second does not wait. */
function stopOnSignal(server: Server, loaded: LoadedModel): void {
  let stopping = false;
  const stop = async () => {
    if (stopping) process.exit(1);
    stopping = true;
    await server.stop(stopGraceMs);
    loaded[Symbol.dispose]();
    process.exit(0);
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
}

function print(text: string): void {
  process.stdout.write(`${process.stdout.isTTY ? text : Bun.stripANSI(text)}\n`);
}

function exit(message: string, code: number): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = code;
}

if (import.meta.main) await main(process.argv.slice(2), process.env["TENON_LIBRARY"] || libraryPath());
