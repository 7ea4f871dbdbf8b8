import { Environment, Template } from "@huggingface/jinja";
import { fail, ok, type Result } from "../generation/result.ts";
import { PythonInterpreter } from "./python.ts";
import { strftime } from "./strftime.ts";
import { runtimeValue } from "./values.ts";

/** A Jinja template, parsed once. */
export type CompiledTemplate = {
  /** Fails with the template's own words (`raise_exception`), or with what it tried that is not possible. */
  run(variables: Readonly<Record<string, unknown>>, now: Date): Result<string, string>;
};

/** Whitespace control as transformers sets it: `trim_blocks` and `lstrip_blocks`. Fails where the source does not parse. */
export function compileTemplate(source: string): Result<CompiledTemplate, string> {
  const parsed = attempt(() => new Template(source).parsed);
  if (!parsed.ok) return parsed;
  const program = parsed.value;
  return ok({
    run: (variables, now) =>
      attempt(() => {
        const environment = new Environment();
        for (const [name, value] of Object.entries(globals)) environment.set(name, value);
        environment.set("strftime_now", (format: unknown) => strftime(now, String(format)));
        for (const [name, value] of Object.entries(variables)) {
          // Not `set`, which refuses a name that is a global already.
          environment.setVariable(name, runtimeValue(value));
        }
        return String(new PythonInterpreter(environment, program).run(program).value);
      }),
  });
}

/** What Jinja and transformers put into every template. */
const globals = {
  true: true,
  True: true,
  false: false,
  False: false,
  none: null,
  None: null,
  range: (first: number, end?: number, step = 1): number[] => {
    const [from, to] = end === undefined ? [0, first] : [first, end];
    if (step === 0) throw new Error("range() arg 3 must not be zero");
    return Array.from({ length: Math.max(0, Math.ceil((to - from) / step)) }, (_, index) => from + index * step);
  },
  raise_exception: (message: unknown): never => {
    throw new Error(String(message));
  },
};

/** The engine and the templates throw; here that becomes a value. */
function attempt<T>(action: () => T): Result<T, string> {
  try {
    return ok(action());
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
}
