import type { IrBuilder, NodeId } from "../grammar/ir.ts";
import type { Tokenizer } from "../tokenizer/tokenizer.ts";
import { framer } from "./frame.ts";
import type { Thoughts } from "./thoughts.ts";

/** Lets thoughts stand before a whole answer; one that the prompt has begun has to end first. Without thoughts an answer stays as it is. */
export function thinker(builder: IrBuilder, tokenizer: Tokenizer, thoughts: Thoughts | undefined) {
  const { sequence, choice, repeat, marker, thought, thoughtRest, openThought } = framer(builder, tokenizer);
  return {
    /** Of an answer that has to come: a thought ends before it. */
    before(answer: NodeId): NodeId {
      if (thoughts === undefined) return answer;
      return sequence(thoughts.begun ? thoughtRest(thoughts) : repeat(thought(thoughts), 0, 1), answer);
    },
    /** Of text, in which thoughts are told by its own node: the last one may never end. */
    around(text: NodeId): NodeId {
      if (thoughts === undefined) return text;
      const last = sequence(marker(thoughts.open), openThought(thoughts));
      const whole = sequence(text, repeat(last, 0, 1));
      return thoughts.begun ? choice(sequence(thoughtRest(thoughts), whole), openThought(thoughts)) : whole;
    },
  };
}
