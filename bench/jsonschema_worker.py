"""Judges documents by python-jsonschema; schemas with documents arrive as JSON lines, one answer a line.

Started by jsonschema.ts as: jsonschema_worker.py FORMAT ...
A line in:  {"schema": text, "documents": [text, ...]}
A line out: {"complaints": [[[keyword, place], ...], ...]}, nothing of a valid document, or {"error": text}
"""

import json
import sys
from decimal import Decimal, getcontext

from jsonschema import Draft4Validator, Draft6Validator, Draft7Validator, Draft201909Validator, Draft202012Validator, FormatChecker, validators

# Multiples are of decimals, exactly, up to numbers as large as anybody writes.
getcontext().prec = 1000


def main() -> None:
    formats = FormatChecker(())
    # By name alone, `time` would be that of draft 3.
    formats.checkers = {name: Draft202012Validator.FORMAT_CHECKER.checkers[name] for name in sys.argv[1:]}
    print("{}", flush=True)
    for line in sys.stdin:
        sample = json.loads(line)
        try:
            validator = validator_of(exact(sample["schema"], number), formats)
            # Draft 4 takes a number with a point for no integer.
            parse = Decimal if validator.META_SCHEMA is Draft4Validator.META_SCHEMA else number
            answer = {"complaints": [complaints(validator, exact(text, parse)) for text in sample["documents"]]}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


def exact(text: str, parse):
    return json.loads(text, parse_float=parse)


def number(text: str):
    """As all drafts from 6 on have it: 1.0 is an integer."""
    value = Decimal(text)
    whole = value.adjusted() < 20_000 and value == value.to_integral_value()
    return int(value) if whole else value


def validator_of(schema, formats: FormatChecker):
    named = schema.get("$schema", "") if isinstance(schema, dict) else ""
    drafts = [draft for part, draft in by_name.items() if part in named]
    # Without a draft it is the newest one that can read it.
    for draft in drafts or [Draft202012Validator, Draft7Validator, Draft4Validator]:
        try:
            draft.check_schema(schema)
        except Exception:
            if not drafts:
                continue
        return with_nullable(draft)(schema, format_checker=formats)
    raise ValueError("no draft reads it")


def with_nullable(draft):
    """Besides its types, OpenAPI's `nullable` lets null be: the other judge, ajv, has it, too."""
    judge_type = draft.VALIDATORS["type"]

    def type_of(validator, types, instance, schema):
        if instance is not None or schema.get("nullable") is not True:
            yield from judge_type(validator, types, instance, schema)

    return validators.extend(draft, {"type": type_of})


by_name = {
    "draft-04": Draft4Validator,
    "draft-06": Draft6Validator,
    "draft-07": Draft7Validator,
    "2019-09": Draft201909Validator,
    "2020-12": Draft202012Validator,
}


def complaints(validator, document) -> list:
    found, todo = [], list(validator.iter_errors(document))
    while todo:
        error = todo.pop()
        # A choice fails because its branches do.
        todo.extend(error.context or [])
        if not error.context:
            found.append([str(error.validator), "/".join(map(str, error.absolute_path))])
    return found


main()
