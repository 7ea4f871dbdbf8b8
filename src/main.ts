import { join } from "node:path";
import { chosenModels } from "./api/chosen-models.ts";
import type { Service } from "./api/service.ts";
import { check } from "./check.ts";
import { exposureNote } from "./config/exposure.ts";
import { type Config, product, readCommand } from "./config.ts";
import { diagnose } from "./doctor.ts";
import { libraryPath } from "./engine/library.ts";
import { type LoadedModel, loadModel } from "./generate/load.ts";
import { type Log, log as standardLog } from "./generate/log.ts";
import { modelService } from "./generate/service.ts";
import { ok, type Result } from "./generation/result.ts";
import { modelsFolder } from "./models/catalog.ts";
import { openModelStore } from "./models/store.ts";
import { removeStaleSocket } from "./server/stale-socket.ts";
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
    case "check": {
      const checked = await check(command.value.options, library);
      if (!checked.ok) return exit(checked.failure, 2);
      print(checked.value.text);
      process.exitCode = checked.value.passed ? 0 : 1;
      return;
    }
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

export type Running = {
  readonly loaded: LoadedModel;
  readonly server: Server;
  /** As the server's own, and the model's memory is gone afterwards. */
  stop(graceMs: number): Promise<void>;
};

/** Loads a model and answers for it. The failure is a sentence for the user. */
export async function start(config: Config, library: string, log: Log = standardLog): Promise<Result<Running, string>> {
  const loading = await loadModel(config, library);
  if (!loading.ok) return loading;
  const loaded = loading.value;
  if (config.unix !== undefined) await removeStaleSocket(config.unix);
  const starting = startServer(serviceOf(loaded, config, log), { ...config, log });
  if (!starting.ok) {
    loaded[Symbol.dispose]();
    return starting;
  }
  const server = starting.value;
  return ok({
    loaded,
    server,
    async stop(graceMs) {
      await server.stop(graceMs);
      loaded[Symbol.dispose]();
    },
  });
}

async function serve(config: Config, library: string): Promise<void> {
  const started = await start(config, library);
  if (!started.ok) return exit(started.failure, 1);
  const { loaded, server } = started.value;
  for (const note of [...loaded.notes, exposureNote(config) ?? []].flat()) print(note);
  const { id, engine } = loaded.model;
  const where = config.unix ?? server.url.origin;
  print(`Tenon ${product.version} serves ${id} (${engine.contextMax} tokens of context) at ${where}`);
  stopOnSignal(started.value, config.stopGraceMs);
}

/** What the api rooms need, over one model. */
function serviceOf({ model, detail, path }: LoadedModel, config: Config, log: Log): Service {
  const { holdCalls, reasoningAlias, pingMs, strictFields, lexicon } = config;
  const hub = { accessToken: process.env["HF_TOKEN"] || undefined };
  const store = openModelStore({ folder: join(config.home, "models"), loaded: detail, loadedPath: path, hub });
  const asked = { holdCalls, reasoningAlias, pingMs, strictFields, lexicon };
  return chosenModels({ ...modelService(model, detail, { ...config, log }), store, ...asked });
}

/** The first signal lets running answers finish, the second does not wait. */
function stopOnSignal(running: Running, graceMs: number): void {
  let stopping = false;
  const stop = async () => {
    if (stopping) process.exit(1);
    stopping = true;
    await running.stop(graceMs);
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
