import { fingerprint } from "./engine/abi.gen.ts";
import { examine } from "./engine/examine.ts";
import { openLibrary } from "./engine/library.ts";
import { listModels } from "./models/catalog.ts";

export type Diagnosis = { readonly text: string; readonly healthy: boolean };

/** What this machine can do and whether it does it right, a line for each finding; a bad one begins with FAIL. */
export function diagnose(libraryPath: string, modelsFolder: string): Diagnosis {
  const text = [
    `      Bun ${Bun.version}, ${process.platform} ${process.arch}, ${navigator.hardwareConcurrency} cores\n`,
    aboutLibrary(libraryPath),
    aboutModels(modelsFolder),
  ].join("");
  return { text, healthy: !/^FAIL/m.test(text) };
}

function aboutLibrary(path: string): string {
  const library = openLibrary(path);
  if (!library.ok) return `FAIL  Native library: ${library.failure}\n`;
  const version = fingerprint.toString(16).padStart(8, "0");
  return `ok    Native library ${path}, interface ${version}\n${examine(library.value)}`;
}

function aboutModels(folder: string): string {
  const models = listModels(folder);
  const names = models.length === 0 ? "none" : models.map(({ id }) => id).join(", ");
  return `      Models in ${folder}: ${names}\n`;
}
