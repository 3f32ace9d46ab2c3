from __future__ import annotations

import pytest

from engine.rego.check.stages import check
from engine.rego.check.suggestions import suggestion
from engine.rego.syntax.parser import parse_module


@pytest.mark.parametrize(
    ("name", "known", "found"),
    [
        ("startwith", ["startswith", "endswith"], "did you mean `startswith`?"),
        ("inptu", ["input", "data"], "did you mean `input`?"),
        ("alowed", ["allowed", "denied"], "did you mean `allowed`?"),
        ("x", ["y", "z"], None),
        ("nothing_like_it", ["input", "data"], None),
        ("member_2", ["internal.member_2"], None),
        ("count", ["count"], None),
    ],
)
def test_a_near_miss_is_suggested_and_nothing_else(name: str, known: list[str], found: str | None):
    assert suggestion(name, known) == found


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ('p if startwith("a", "b")', "did you mean `startswith`?"),
        ("p := time.now_nss()", "did you mean `time.now_ns`?"),
        ("p if is_alowed(1)\nis_allowed(x) := x", "did you mean `is_allowed`?"),
        ("p if inptu.x", "did you mean `input`?"),
        ("p if { request := input.r; requets.x == request }", "did you mean `request`?"),
        ("p := fatcs.x", "did you mean `facts`?"),
        ("p if zzzz(1)", None),
    ],
    ids=["builtin", "dotted", "function", "root", "variable", "import", "nothing"],
)
def test_problems_come_with_what_may_have_been_meant(text: str, hint: str | None):
    (problem,) = check([parse_module("package a\nimport data.facts\n" + text, "f")]).problems

    assert problem.hint == hint
