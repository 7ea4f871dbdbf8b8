/**
 * Who may import whom. A room is a folder under src/ or zig/, or a file directly in there; it may always import itself.
 * Data flows downwards, so a row names only what lies below it.
 */
export const typescriptRooms: Rooms = {
  executable: ["engine", "main", "models"],
  main: [
    "api",
    "check",
    "config",
    "doctor",
    "engine",
    "generate",
    "generation",
    "limits",
    "models",
    "prompt",
    "server",
    "tokenizer",
  ],
  check: ["config", "constraint", "generation", "grammar", "limits", "tokenizer"],
  doctor: ["engine", "models"],
  server: ["api", "config", "engine", "generate", "generation", "limits", "models"],
  generate: ["config", "dialects", "engine", "generation", "grammar", "limits", "models", "prompt", "tokenizer"],
  constraint: ["engine", "generation", "grammar", "limits", "models", "tokenizer"],
  api: ["generation", "limits"],
  prompt: ["dialects", "generation", "grammar", "limits", "models", "tokenizer"],
  dialects: ["generation", "grammar", "limits", "tokenizer"],
  engine: ["generation", "grammar", "limits", "models", "tokenizer"],
  tokenizer: ["generation", "limits", "models"],
  grammar: ["generation", "limits"],
  models: ["generation", "limits"],
  config: ["generation", "limits"],
  generation: [],
  limits: [],
};

/** Which room hides which package: the others go through it, so that each can be replaced in one place. */
export const packageRooms: Rooms = {
  "bun:ffi": ["engine"],
  "@eslint-community/regexpp": ["grammar"],
  "@huggingface/gguf": ["models"],
  "@huggingface/hub": ["models"],
  "@huggingface/jinja": ["prompt"],
  "@huggingface/tokenizers": ["tokenizer"],
  "@sinclair/typebox": ["api"],
  citty: ["config", "main"],
  elysia: ["api", "server"],
  "jsonc-parser": ["grammar"],
};

/** Another room is imported by its face zig/ROOM.zig, never by a file inside zig/ROOM/. */
export const zigRooms: Rooms = {
  abi_table: ["abi"],
  abi: ["doctor", "engine", "grammar", "limits", "scheduler", "stdx", "vocabulary"],
  doctor: ["kernels", "metal"],
  engine: ["grammar", "kernels", "limits", "metal", "model", "scheduler", "stdx", "vocabulary"],
  scheduler: ["grammar", "limits", "model", "stdx", "vocabulary"],
  model: ["kernels", "limits", "metal", "stdx"],
  metal: ["kernels", "limits", "stdx"],
  grammar: ["limits", "stdx", "vocabulary"],
  vocabulary: ["limits", "stdx"],
  kernels: ["limits", "stdx"],
  stdx: [],
  limits: [],
};

export type Rooms = Readonly<Record<string, readonly string[]>>;
