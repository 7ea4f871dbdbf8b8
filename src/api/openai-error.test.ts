import { expect, test } from "bun:test";
import { errorBody } from "./openai-error.ts";

test.each([
  ["response_format.json_schema.schema", undefined, "invalid_json_schema"],
  ["tools[0].function.parameters", undefined, "invalid_function_parameters"],
  ["functions[0].parameters", undefined, "invalid_function_parameters"],
  ["regex", "regex", "invalid_grammar"],
  ["tools[0].custom.format", "lark", "invalid_grammar"],
] as const)("what cannot be enforced of %p (%p) has the code %p", (param, syntax, code) => {
  const where = { param, pointer: "", keyword: "", ...(syntax === undefined ? {} : { syntax }) };
  expect(errorBody({ kind: "constraint", message: "No.", ...where })).toEqual({
    error: { message: "No.", type: "invalid_request_error", param, code },
  });
});
