/** `bun run bench NAME …`: measures, and prints JSON on standard output. What it is doing goes to standard error. */
import { defineCommand, runMain } from "citty";

const bench = defineCommand({
  meta: { name: "bench", description: "Measure Tenon; each prints JSON" },
  subCommands: {
    calls: async () => (await import("./calls.ts")).calls,
    decode: async () => (await import("./decode.ts")).decode,
    drafts: async () => (await import("./drafts.ts")).drafts,
    "draft-speed": async () => (await import("./draft-speed.ts")).draftSpeed,
    differential: async () => (await import("./differential.ts")).differential,
    mask: async () => (await import("./mask.ts")).mask,
    grammars: async () => (await import("./grammars.ts")).grammars,
    lexicon: async () => (await import("./lexicon.ts")).lexicon,
    logits: async () => (await import("./logits.ts")).logits,
    fuzz: async () => (await import("./fuzz.ts")).fuzz,
    mutations: async () => (await import("./mutations.ts")).mutations,
    proof: async () => (await import("./proof.ts")).proof,
    tools: async () => (await import("./tools.ts")).tools,
    load: async () => (await import("./load.ts")).load,
  },
});

await runMain(bench);
