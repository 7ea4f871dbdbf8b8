/** The entry of the standalone executable: puts the native library that it carries on disk, then runs main with it. */
import { dirname, join } from "node:path";
import embedded from "tenon:library" with { type: "file" };
import { installLibrary } from "./engine/library.ts";
import { main } from "./main.ts";
import { modelsFolder } from "./models/catalog.ts";

const home = dirname(modelsFolder(process.env));
await main(process.argv.slice(2), await installLibrary(await Bun.file(embedded).bytes(), join(home, "library")));
