import { expect, test } from "bun:test";
import type { Message, Tool, ToolChoice } from "../generation/request.ts";
import { instructionOf, shownTools, withInstruction } from "./tool-choice.ts";

const tools = ["get_weather", "get_time"].map(
  (name): Tool => ({ name, description: undefined, parameters: undefined, strict: false, param: "", source: "{}" }),
);
const any =
  "You must call one or more of the available functions to answer the user's request. Do not answer directly without calling a function.";
const named =
  "You must call the 'get_time' function to answer the user's request. Do not call any other function and do not answer directly.";

const choices: readonly [ToolChoice, shown: readonly string[], instruction: string | undefined][] = [
  [{ mode: "none" }, [], undefined],
  [{ mode: "auto" }, ["get_weather", "get_time"], undefined],
  [{ mode: "required" }, ["get_weather", "get_time"], any],
  [{ mode: "named", name: "get_time" }, ["get_time"], named],
  [{ mode: "allowed", force: false, names: ["get_time"] }, ["get_weather", "get_time"], undefined],
  [{ mode: "allowed", force: true, names: ["get_time"] }, ["get_weather", "get_time"], any],
];

for (const [toolChoice, shown, instruction] of choices) {
  test(`shown tools and instruction of ${JSON.stringify(toolChoice)}`, () => {
    expect(shownTools({ tools, toolChoice }).map(({ name }) => name)).toEqual([...shown]);
    expect(instructionOf({ toolChoice })).toBe(instruction);
  });
}

const placements: readonly [what: string, before: readonly Message[], after: readonly Message[]][] = [
  [
    "appended to the first system message",
    [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hi" },
      { role: "system", content: "More." },
    ],
    [
      { role: "system", content: "Be brief.\n\nDO" },
      { role: "user", content: "Hi" },
      { role: "system", content: "More." },
    ],
  ],
  [
    "a part of its own in a system message of parts",
    [{ role: "system", content: [{ type: "text", text: "Be brief." }] }],
    [
      {
        role: "system",
        content: [
          { type: "text", text: "Be brief." },
          { type: "text", text: "DO" },
        ],
      },
    ],
  ],
  [
    "appended to the last user message with text",
    [
      { role: "user", content: "One" },
      { role: "assistant", content: "Two", reasoning: undefined, calls: [] },
      { role: "user", content: "Three" },
      { role: "user", content: [] },
    ],
    [
      { role: "user", content: "One" },
      { role: "assistant", content: "Two", reasoning: undefined, calls: [] },
      { role: "user", content: "Three\n\nDO" },
      { role: "user", content: [] },
    ],
  ],
  [
    "a trailing part in a user message of parts",
    [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
    [
      {
        role: "user",
        content: [
          { type: "text", text: "Hi" },
          { type: "text", text: "DO" },
        ],
      },
    ],
  ],
  [
    "a new system message in front where nothing carries text",
    [{ role: "assistant", content: "Hi", reasoning: undefined, calls: [] }],
    [
      { role: "system", content: "DO" },
      { role: "assistant", content: "Hi", reasoning: undefined, calls: [] },
    ],
  ],
  ["also where there is no message", [], [{ role: "system", content: "DO" }]],
];

for (const [what, before, after] of placements) {
  test(`instruction: ${what}`, () => {
    const kept = structuredClone(before);
    expect(withInstruction(before, "DO")).toEqual([...after]);
    expect(before).toEqual(kept);
  });
}
