import { posix } from "node:path";
import { packageRooms, type Rooms, typescriptRooms, zigRooms } from "./rooms.ts";
import { lineOf, type Source } from "./source.ts";

/** What is wrong with the imports of one TypeScript file, each with its repair. */
export function typescriptFindings(source: Source): readonly string[] {
  const room = roomOf(source.path, "src");
  const findings: string[] = [];
  const isTest = /\.test\.ts$/.test(source.path);
  for (const { target, at } of importsOf(source.text, typescriptImport)) {
    const report = (message: string) => findings.push(`${source.path}:${lineOf(source.text, at)}: ${message}`);
    if (!target.startsWith(".")) {
      const owners = packageRooms[target] ?? [];
      if (!isTest && owners.length > 0 && !owners.includes(room))
        report(
          `only ${owners.map((owner) => `src/${owner}`).join(" and ")} may import ${target}; go through that room`,
        );
      continue;
    }
    const path = posix.join(posix.dirname(source.path), target);
    // A test may use the fixtures under tests/, and join rooms as it likes.
    if (isTest) continue;
    if (!path.startsWith("src/")) report(`${path} lies outside src/, which the server does not carry with it`);
    else if (!mayImport(typescriptRooms, room, roomOf(path, "src")))
      report(refusal("src", room, roomOf(path, "src"), typescriptRooms));
    else if (apiProtocol(source.path) !== undefined && crossesProtocols(source.path, path))
      report(
        `one wire protocol never imports another; what both need belongs in src/api/, what is meant in src/generation/`,
      );
  }
  return findings;
}

/** What is wrong with the imports of one Zig file, each with its repair. */
export function zigFindings(source: Source): readonly string[] {
  const room = roomOf(source.path, "zig");
  const findings: string[] = [];
  for (const { target, at } of importsOf(source.text, zigImport)) {
    if (!target.endsWith(".zig")) continue;
    const report = (message: string) => findings.push(`${source.path}:${lineOf(source.text, at)}: ${message}`);
    const path = posix.join(posix.dirname(source.path), target);
    const other = roomOf(path, "zig");
    if (!mayImport(zigRooms, room, other)) report(refusal("zig", room, other, zigRooms));
    else if (other !== room && path !== `zig/${other}.zig`)
      report(`${path} is private to its room; import zig/${other}.zig, and export from there what others need`);
  }
  return findings;
}

/** The packages, the runtime's own included, that a TypeScript file imports. */
export function packagesOf(text: string): readonly string[] {
  return [...importsOf(text, typescriptImport)].map(({ target }) => target).filter((target) => !target.startsWith("."));
}

const typescriptImport = /^\s*(?:import|export)\b[^;"'`(=]*?["']([^"'\n]+)["']|\bimport\(\s*["']([^"'\n]+)["']/gm;
const zigImport = /@import\("([^"]+)"\)/g;

function* importsOf(text: string, pattern: RegExp): Generator<{ readonly target: string; readonly at: number }> {
  for (const match of text.matchAll(pattern)) {
    const target = match[1] ?? match[2];
    if (target !== undefined) yield { target, at: match.index + match[0].length };
  }
}

function roomOf(path: string, top: string): string {
  return (path.slice(top.length + 1).split("/")[0] ?? "").replace(/(\.test|_test)?\.(ts|zig)$/, "");
}

function mayImport(rooms: Rooms, room: string, other: string): boolean {
  return room === other || (rooms[room] ?? []).includes(other);
}

function refusal(top: string, room: string, other: string, rooms: Rooms): string {
  const allowed = rooms[room];
  if (allowed === undefined) return `${top}/${room} is no room yet; give it a row in tests/tidy/rooms.ts`;
  const list = allowed.length === 0 ? "nothing" : allowed.join(", ");
  return (
    `${top}/${room} may not import ${top}/${other} (it may import ${list}); ` +
    "move what is needed down, or pass it in; a new arrow needs a decision and a change of tests/tidy/rooms.ts"
  );
}

function apiProtocol(path: string): string | undefined {
  return /^src\/api\/([^/]+)\//.exec(path)?.[1];
}

function crossesProtocols(from: string, to: string): boolean {
  const other = apiProtocol(to);
  return other !== undefined && other !== apiProtocol(from);
}
