"""Modules rearranged: without a change of meaning, or with a few tokens that are not what they were."""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random
from typing import Final

from engine.rego.syntax.parser import parse_module
from tests.engine.rego.generated import Clause, Module


def reordered(module: Module, random: Random) -> Module:
    """Rules in another order, and the expressions of bodies where that may be."""
    rules = [tuple(_shuffled_body(clause, random) for clause in rule) for rule in module.rules]
    random.shuffle(rules)
    return replace(module, rules=tuple(rules))


def reordered_text(source: str, random: Random) -> str:
    """The same for the rules of a module that somebody wrote, each with the lines that follow it."""
    rows = sorted({rule.location.row - 1 for rule in parse_module(source, "").rules})
    if not rows:
        return source
    lines = [line + "\n" for line in source.split("\n")]
    ends = [*rows[1:], len(lines)]
    parts = ["".join(lines[start:end]) for start, end in zip(rows, ends, strict=True)]
    random.shuffle(parts)
    return "".join(lines[: rows[0]]) + "".join(parts)


def renamed(module: Module) -> Module:
    """Another package, and other variables."""
    rules = tuple(tuple(_renamed_clause(c, module.package) for c in rule) for rule in module.rules)
    data = {OTHER_PACKAGE if key == module.package else key: value for key, value in module.data.items()}
    return replace(module, package=OTHER_PACKAGE, rules=rules, data=data)


OTHER_PACKAGE: Final = "other"


def mutated(source: str, random: Random) -> str:
    """A module's text with a few of its tokens dropped, doubled, exchanged or replaced."""
    tokens = _TOKEN.findall(source)
    for _ in range(random.randint(1, 4)):
        if not tokens:
            break
        place = random.randrange(len(tokens))
        match random.randrange(5):
            case 0:
                del tokens[place]
            case 1:
                tokens.insert(place, tokens[place])
            case 2:
                other = random.randrange(len(tokens))
                tokens[place], tokens[other] = tokens[other], tokens[place]
            case 3:
                tokens[place] = tokens[random.randrange(len(tokens))]
            case _:
                tokens[place] = random.choice(_REPLACEMENTS)
    return "".join(tokens)


_TOKEN: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|`[^`]*`|\w+|[ \t]+|:=|[=!<>]=|.|\n')
_REPLACEMENTS: Final = (
    "not ", "some ", "every ", "contains", "if", "else", "default ", ":=", "=", "==", "input", "data", "_", "x",
    "[", "]", "{", "}", "(", ")", "|", "&", ",", ";", "\n", "1", "1.0", "true", "null", '"a"',
    ' with input as {"a": 1}', " in ", ".", "set()", "[]", "{}", "import rego.v1\n", '$"{x}"', "count", "9" * 40,
    "1e400", "-",
)  # fmt: skip


def _shuffled_body(clause: Clause, random: Random) -> Clause:
    body = list(clause.body)
    if clause.movable:
        random.shuffle(body)
    return replace(clause, body=tuple(body))


def _renamed_clause(clause: Clause, package: str) -> Clause:
    def name(text: str) -> str:
        return _VARIABLE.sub(r"other\1", text.replace(f"data.{package}.", f"data.{OTHER_PACKAGE}."))

    return replace(clause, head=name(clause.head), body=tuple(map(name, clause.body)))


_VARIABLE: Final = re.compile(r"\bx(\d+)\b")
