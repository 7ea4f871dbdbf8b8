import { draftNames } from "./draft.ts";
import { formats } from "./formats.ts";
import { keywords } from "./keywords.ts";

/** What becomes of each keyword and format, as tables of Markdown: the part of docs/json-schema.md that is printed from the code. */
export function keywordTable(): string {
  const first = draftNames[0];
  const last = draftNames.at(-1);
  const rows = [...keywords].map(([name, { status, since, until, foreign, note }]) => {
    const from = since === first ? "" : `from ${since}`;
    const to = until === last ? "" : `to ${until}`;
    const drafts = foreign === true ? "only where no draft is named" : [from, to].filter(Boolean).join(" ");
    return `| \`${name}\` | ${status} | ${drafts} | ${note ?? ""} |`;
  });
  return [
    "| keyword | | drafts | |",
    "| --- | --- | --- | --- |",
    ...rows,
    "",
    `Formats that are enforced: ${[...formats.keys()].map((name) => `\`${name}\``).join(", ")}.`,
    "",
  ].join("\n");
}
