"""Runs llguidance over schemas and tokens that arrive as JSON lines, one answer a line.

Started by llguidance.ts as: llguidance_worker.py TOKENIZER_JSON REPEAT
A line in:  {"schema": text, "instances": [[token, ...], ...]}
A line out: {"compileUs", "maskUs": [...], "verdicts": [{"tokens": accepted tokens, "end": may end}, ...]} or {"error": text}
Times are the least of REPEAT runs, each from a fresh compilation.
"""

import json
import sys
from ctypes import addressof, c_uint32
from time import perf_counter_ns

from llguidance import LLMatcher, LLTokenizer


def main() -> None:
    tokenizer = LLTokenizer(sys.argv[1], slices=LLTokenizer.json_slices())
    repeat = int(sys.argv[2])
    words = (tokenizer.vocab_size + 31) // 32
    print(json.dumps({"vocabulary": tokenizer.vocab_size}), flush=True)
    row = (c_uint32 * words)()
    for line in sys.stdin:
        sample = json.loads(line)
        runs = [run(tokenizer, row, sample) for _ in range(repeat)]
        answer = runs[0]
        if "error" not in answer:
            answer["compileUs"] = min(each["compileUs"] for each in runs)
            answer["maskUs"] = [min(times) for times in zip(*(each["maskUs"] for each in runs))]
        print(json.dumps(answer), flush=True)


def run(tokenizer: LLTokenizer, row, sample) -> dict:
    address, size = addressof(row), 4 * len(row)
    start = perf_counter_ns()
    # Any whitespace, as the benchmark policy has it on the other side.
    options = {"whitespace_flexible": True}
    grammar = LLMatcher.grammar_from_json_schema(sample["schema"], overrides=options)
    matcher = LLMatcher(tokenizer, grammar, log_level=0)
    if matcher.is_error():
        return {"error": matcher.get_error()}
    matcher.unsafe_compute_mask_ptr(address, size)
    compile_us = (perf_counter_ns() - start) / 1000
    times, verdicts = [], []
    for tokens in sample["instances"]:
        matcher.reset()
        accepted = 0
        for token in tokens:
            begin = perf_counter_ns()
            matcher.unsafe_compute_mask_ptr(address, size)
            allowed = row[token >> 5] >> (token & 31) & 1
            if allowed:
                matcher.consume_token(token)
            times.append((perf_counter_ns() - begin) / 1000)
            if not allowed:
                break
            accepted += 1
        if matcher.is_error():
            return {"error": matcher.get_error()}
        verdicts.append({"tokens": accepted, "end": accepted == len(tokens) and matcher.is_accepting()})
    return {"compileUs": compile_us, "maskUs": times, "verdicts": verdicts}


main()
