import { type Compiled, type ConstraintSource, compile, type Vocabulary } from "../src/constraint.ts";
import { moment, since } from "./clock.ts";
import { must } from "./samples.ts";

/** A compiled constraint whose first mask is made. */
export function upToFirstMask(vocabulary: Vocabulary, source: ConstraintSource): Compiled {
  const compiled = must(compile(vocabulary, source));
  using matcher = compiled.matcher();
  matcher.mask();
  return compiled;
}

/** The time of each mask with its accept, in microseconds; throws where a token is not allowed. */
export function follow(compiled: Compiled, tokens: Uint32Array): readonly number[] {
  using matcher = compiled.matcher();
  return Array.from(tokens, (token) => {
    const start = moment();
    matcher.mask();
    if (!matcher.accept(token)) throw new Error(`token ${token} is not allowed`);
    return since(start);
  });
}
