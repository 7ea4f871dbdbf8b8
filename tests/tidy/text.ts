import { basename } from "node:path";
import { lineOf, type Source } from "./source.ts";

/** What is wrong with the text or the name of one file, each with its repair. Biome and `zig fmt` see to the rest. */
export function textFindings(source: Source): readonly string[] {
  const findings: string[] = [];
  for (const rule of rules) {
    if (!rule.files.test(source.path)) continue;
    const text = rule.ignoresComments === true ? withoutComments(source.text) : source.text;
    for (const match of text.matchAll(rule.pattern))
      findings.push(`${source.path}:${lineOf(text, match.index)}: ${rule.message}`);
  }
  const name = basename(source.path);
  for (const { files, pattern, message } of names)
    if (files.test(source.path) && !pattern.test(name)) findings.push(`${source.path}: ${message}`);
  const lines = source.text.split("\n").length;
  const linesMax = lengths.find(({ files }) => files.test(source.path))?.linesMax ?? Number.POSITIVE_INFINITY;
  if (lines > linesMax) findings.push(`${source.path}: ${lines} lines, more than ${linesMax}; find its second job`);
  return findings;
}

type Rule = {
  readonly files: RegExp;
  readonly pattern: RegExp;
  readonly message: string;
  readonly ignoresComments?: boolean;
};

const zig = /\.zig$/;
const limits = /(^src\/limits\.ts|^zig\/limits\.zig)$/;

const rules: readonly Rule[] = [
  {
    files: /./,
    pattern: /(?<![\w.~$-])\/(?:work|root|home|Users)\//g,
    message: "a path of one machine; derive it from the project's root, TENON_HOME or a parameter",
  },
  {
    files: /\.(ts|zig|metal|h|cpp)$/,
    pattern: /\b(?:TO[D]O|FIX[M]E|X[X]X|HA[C]K)\b/g,
    message: "unfinished; finish it, or write an issue and say in the comment what holds now",
  },
  {
    files: zig,
    pattern: /\banyerror\b/g,
    ignoresComments: true,
    message: "anyerror hides what can fail; name the error set",
  },
  {
    files: zig,
    pattern: /\bcatch\s+unreachable\b/g,
    ignoresComments: true,
    message:
      "`catch unreachable` is undefined behaviour in a fast build; handle the error or make it impossible by type",
  },
  {
    files: zig,
    pattern: /\bcatch\s*(?:\|[^|]*\|\s*)?\{\s*\}/g,
    ignoresComments: true,
    message: "an error is swallowed; handle it or pass it on",
  },
  {
    files: /^zig\/(?!.*_test\.zig|(?:abi|engine|.*\/bench)\.zig$).*\.zig$/,
    pattern: /\bstd\.heap\.(?:page_allocator|smp_allocator|c_allocator)\b/g,
    ignoresComments: true,
    message: "allocators are parameters; only zig/abi.zig, zig/engine.zig and benches choose one",
  },
  {
    files: limits,
    pattern:
      /(?<=(?:^|\n)(?![ \t]*(?:\/\/|\/?\*|(?:pub|export) const\b(?![^\n]*struct \{)))[^\n]*\n)[ \t]*(?:pub|export) const \w+\b(?![^\n]*\bstruct \{)/g,
    message: "a limit, or a group of them, needs a comment above it: its unit and reason in one line",
  },
];

const names: readonly { readonly files: RegExp; readonly pattern: RegExp; readonly message: string }[] = [
  {
    files: /\.ts$/,
    pattern: /^[a-z0-9]+(-[a-z0-9]+)*(\.(test|gen|d))?\.ts$/,
    message: "name the file in one word, else in kebab-case",
  },
  {
    files: /\.(zig|metal)$/,
    pattern: /^[a-z0-9]+(_[a-z0-9]+)*\.(zig|metal)$/,
    message: "name the file in snake_case",
  },
  {
    files: /./,
    pattern: /^(?!(util|utils|helper|helpers|manager|common|misc)\b)/,
    message: "the name says nothing; name the file after its one job",
  },
];

/** Far above where a second job should be looked for (300 lines of TypeScript, 500 of Zig): what is beyond has one for certain. */
const lengths: readonly { readonly files: RegExp; readonly linesMax: number }[] = [
  { files: /\.ts$/, linesMax: 600 },
  { files: zig, linesMax: 1000 },
];

/** Line comments blanked out, offsets kept. */
function withoutComments(text: string): string {
  return text.replace(/\/\/.*/g, (comment) => " ".repeat(comment.length));
}
