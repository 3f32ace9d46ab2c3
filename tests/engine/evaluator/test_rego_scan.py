from __future__ import annotations

import pytest

from engine.bundle.content import Module
from engine.errors import Problem
from engine.evaluator.rego_scan import REFUSED_BUILTINS, cuts_strings, input_mocks, problems_of


def problems(source: str) -> list[Problem]:
    return problems_of(Module("a/b.rego", source))


def places(source: str) -> list[tuple[str, int, int]]:
    return [(problem.message.split(" ")[0], problem.row, problem.col) for problem in problems(source)]


@pytest.mark.parametrize("name", sorted(REFUSED_BUILTINS))
def test_every_refused_builtin_is_found_with_its_place(name: str):
    assert places(f"package t\n\nv := 1 + {name}(2)\n") == [(name, 3, 10)]


@pytest.mark.parametrize(
    "call",
    [
        "time.now_ns()",
        "time.now_ns ()",
        "time . now_ns()",
        "time.\n  now_ns()",
        "time.# why\nnow_ns()",
        'time["now_ns"]()',
        "time[`now_ns`]()",
        "[time.now_ns()]",
        "f(1) with f as time.now_ns",
    ],
)
def test_call_in_any_spelling_is_refused(call: str):
    assert [name for name, _, _ in places(f"package t\nv if {{ x := {call} }}\n")] == ["time.now_ns"]


@pytest.mark.parametrize(
    "template",
    ['$"at {time.now_ns()}"', "$`at {time.now_ns()}`", '$"{"}"}{ {"a": time.now_ns()} }"', '$"\\{ {time.now_ns()}"'],
)
def test_call_inside_a_template_string_is_refused(template: str):
    assert [name for name, _, _ in places(f"package t\nv := {template}\n")] == ["time.now_ns"]


@pytest.mark.parametrize(
    "code",
    [
        "# time.now_ns()",
        'v := "time.now_ns()"',
        "v := `time.now_ns()\n http.send()`",
        'v := "\\" time.now_ns()"',
        "v := input.time.now_ns",
        "v := data.time.now_ns(1)",
        "v := time.now_ns_of(1)",
        'v := $"time.now_ns() {input.a}"',
        "v := my_max(1)",
    ],
)
def test_mention_that_is_no_call_is_allowed(code: str):
    assert problems(f"package t\n{code}\n") == []


def test_refusal_says_what_to_do():
    assert problems("package t\nv := time.now_ns()") == [
        Problem(
            "builtin_refused",
            "time.now_ns is refused: regopy cannot take its clock from the decision: time comes in input",
            "a/b.rego",
            2,
            6,
        )
    ]


@pytest.mark.parametrize("literal", ['"\\u00e9"', '"a\\/b"', '"\\\\\\u0041"'])
def test_escape_that_regopy_does_not_decode_is_refused(literal: str):
    assert [(p.code, p.row, p.col) for p in problems(f"package t\nv := {literal}")] == [("escape_refused", 2, 6)]


@pytest.mark.parametrize("literal", ['"\\\\u00e9"', '"a\\n\\"b"', "`\\u00e9`"])
def test_escape_that_regopy_keeps_is_allowed(literal: str):
    assert problems(f"package t\nv := {literal}") == []


def test_module_without_a_package_is_refused():
    assert [(p.code, p.row, p.col) for p in problems("v := 1")] == [("rego_parse_error", 1, 1)]


def test_unfinished_string_does_not_stop_the_scan():
    assert places('package t\nv := "abc\nw := time.now_ns()') == [("time.now_ns", 3, 6)]


@pytest.mark.parametrize(
    ("call", "cuts"), [("substring(x, 0, 1)", True), ("sprintf(x, [])", False), ("lower(x)", True)]
)
def test_builtins_that_take_strings_apart_are_known(call: str, cuts: bool):
    assert cuts_strings([Module("a.rego", f"package t\nv := {call}")]) is cuts


def test_mock_of_the_whole_input_is_found():
    source = "package t\nv if {\n  ok with input as r\n  ok with input.a as 1\n}"
    assert [(p.row, p.col) for p in input_mocks(Module("a.rego", source))] == [(3, 6)]
