"""Runs XGrammar over schemas and tokens that arrive as JSON lines, one answer a line.

Started by xgrammar.ts as: xgrammar_worker.py TOKENIZER_JSON
A line in:  {"schema": text, "instances": [[token, ...], ...]}
A line out: {"verdicts": [{"tokens": accepted tokens, "end": may end}, ...]} or {"error": text}
"""

import json
import os
import sys
from types import ModuleType

# It looks for torch, which the stand-in below is not.
import tvm_ffi  # noqa: F401


class Absent(ModuleType):
    """Stands for packages of gigabytes that XGrammar imports for masks on GPUs, and for tokenizers, which are not asked for here."""

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {}) if name[0].isupper() else lambda *_, **__: None


for package in ("torch", "transformers", "numpy", "numpy.typing"):
    sys.modules[package] = Absent(package)

import xgrammar  # noqa: E402


def main() -> None:
    compiler = xgrammar.GrammarCompiler(
        tokenizer_of(sys.argv[1]), max_threads=1, cache_enabled=False, enable_dynamic_compilation=True
    )
    # It warns of every other schema.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    print("{}", flush=True)
    for line in sys.stdin:
        sample = json.loads(line)
        try:
            answer = {"verdicts": verdicts(compiler, sample)}
        except Exception as error:
            answer = {"error": str(error)}
        print(json.dumps(answer), flush=True)


def tokenizer_of(path: str) -> "xgrammar.TokenizerInfo":
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    ids = dict(document["model"]["vocab"])
    added = {token["content"]: token["id"] for token in document["added_tokens"]}
    tokens = [""] * (max([*ids.values(), *added.values()]) + 1)
    for text, index in {**ids, **added}.items():
        tokens[index] = text
    return xgrammar.TokenizerInfo(tokens, xgrammar.VocabType.BYTE_LEVEL, stop_token_ids=[max(added.values())])


def verdicts(compiler: "xgrammar.GrammarCompiler", sample) -> list:
    # As the specification has it, as far as it goes: open objects, names in any order, any whitespace.
    compiled = compiler.compile_json_schema(sample["schema"], strict_mode=False, any_order=True)
    found = []
    for tokens in sample["instances"]:
        matcher = xgrammar.GrammarMatcher(compiled)
        accepted = 0
        while accepted < len(tokens) and matcher.accept_token(tokens[accepted]):
            accepted += 1
        found.append({"tokens": accepted, "end": accepted == len(tokens) and matcher.is_completed()})
    return found


main()
