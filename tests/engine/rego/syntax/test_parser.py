from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from engine.rego.errors import Location, RegoSyntaxError
from engine.rego.syntax.parser import parse_module, parse_query
from engine.rego.syntax.tree import (
    Array,
    Call,
    Every,
    Expr,
    Head,
    Import,
    Logical,
    Object,
    Ref,
    Rule,
    Scalar,
    SetComprehension,
    SomeDeclaration,
    SomeIn,
    TemplateString,
    Term,
    Var,
    With,
)
from tests.engine.rego.syntax import opa_tree

ERRORS: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "parse_errors.yaml").read_text("utf-8"))

CONSTRUCTS = """package a["b-c"].d
import rego.v1
import data.x.y as z
import input.request
import future.keywords.and
import future.keywords.or
import future.keywords.not

p
  := 1
q[x].r := y if { some x in [1, 2]; y = -x }
s contains {"a": 1, x: [y, ], 2: {3}} if some x, y in input.if
t.u contains 1
default v := [1, {x | x := 1}]
f(x, [_, y], "z") := x + y * 2 - 1 / 3 % 4 if x > 1 else := 2 if { x == 1 } else := 3
g(1)
not.this := [1,2][0]
h := set() | {1} & {2}
i := {k: v | some k, v in input.not; every a, b in k { a != b }}
j := f(1)[0].x.y[_]["z"]
k if not input.x with input.y as 1 with data.z as f
l if { 1 in [2]; 1, 2 in {}; (1 in [2]) in [true] }
m := $"a{x + 1}b{1}{"c"}\\{" if `raw\\n` == "\\u00e9\\n"
n if { a and {b; c} or not {d} and (e or f) with input as 1 }
n if not (a or b)
n if { a } { b }
o := [x | x := -1.5e3; x < 0.5; 1 == 1.0]
w := {"a" : {"b": [ ] } } if { not a; not x.y }
"""


def at(row: int, col: int) -> Location:
    return Location("f", row, col)


def rules(text: str) -> tuple[Rule, ...]:
    return parse_module("package a\n" + text, "f").rules


def only(query: str, *keywords: str) -> Expr:
    (expr,) = parse_query(query, "f", keywords=keywords)
    return expr


def problems(text: str) -> list[list[Any]]:
    with pytest.raises(RegoSyntaxError) as caught:
        parse_module(text, "f")
    return [[each.code, each.location.row, each.location.col, each.message] for each in caught.value.problems]


def test_a_rule_with_a_body_is_what_was_written_with_its_places():
    x, one = Var("x", at(2, 3)), Scalar(1, at(2, 9))
    body = (
        Expr(Call(("gt",), (Var("x", at(2, 14)), Scalar(0, at(2, 18))), at(2, 14), infix=True), False, (), at(2, 14)),
    )

    assert rules("p[x] := 1 if x > 0") == (
        Rule(Head((Scalar("p", at(2, 1)), x), None, None, one, at(2, 1)), body, False, None, (), at(2, 1)),
    )


def test_an_else_has_the_head_of_its_rule_and_its_own_value():
    (rule,) = rules("f(x) := 1 if x else := 2")

    assert rule.otherwise == Rule(
        Head((Scalar("f", at(2, 1)),), (Var("x", at(2, 3)),), None, Scalar(2, at(2, 24)), at(2, 16)),
        (), False, None, (), at(2, 16),
    )  # fmt: skip


def test_default_contains_and_functions():
    first, second, third = rules("default p := 1\nq contains 2\ng(3)")

    assert (first.default, first.head.value, first.body) == (True, Scalar(1, at(2, 14)), ())
    assert (second.head.contains, second.head.value) == (Scalar(2, at(3, 12)), None)
    assert (third.head.args, third.head.value) == ((Scalar(3, at(4, 3)),), None)


def test_package_and_imports():
    module = parse_module('package a["b-c"].d\nimport data.x as y\nimport rego.v1', "f")

    assert (module.package, module.package_location) == (("a", "b-c", "d"), at(1, 1))
    assert module.imports == (Import(("data", "x"), "y", at(2, 1)), Import(("rego", "v1"), None, at(3, 1)))


def test_some_every_and_with():
    assert only("some x, _").of == SomeDeclaration((Var("x", at(1, 6)), Var("$0", at(1, 9))), at(1, 1))
    assert only("some k, v in y").of == SomeIn(
        Var("k", at(1, 6)), Var("v", at(1, 9)), Var("y", at(1, 14)), at(1, 1)
    )  # fmt: skip
    assert only("every v in y { z }").of == Every(
        None, Var("v", at(1, 7)), Var("y", at(1, 12)), (Expr(Var("z", at(1, 16)), False, (), at(1, 16)),), at(1, 1)
    )
    target = Ref(Var("input", at(1, 12)), (Scalar("if", at(1, 18)),), at(1, 12))
    assert only("not x with input.if as 1") == Expr(
        Var("x", at(1, 5)), True, (With(target, Scalar(1, at(1, 24)), at(1, 7)),), at(1, 1)
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", 1), ("-2", -2), ("1e3", 1000), (".5", 0.5), ("1.5", 1.5), ("1e400", 10**400)],
)
def test_numbers_are_exact(text: str, value: float):
    assert only(text).of == Scalar(value, at(1, 1))


def test_an_integer_may_have_more_digits_than_python_reads():
    assert only("9" * 5000).of == Scalar(10**5000 - 1, at(1, 1))


def test_collections_and_comprehensions():
    assert only("[1, x,]").of == Array((Scalar(1, at(1, 2)), Var("x", at(1, 5))), at(1, 1))
    assert only("{1: x}").of == Object(((Scalar(1, at(1, 2)), Var("x", at(1, 5))),), at(1, 1))
    assert only("{x | y}").of == SetComprehension(
        Var("x", at(1, 2)), (Expr(Var("y", at(1, 6)), False, (), at(1, 6)),), at(1, 1)
    )


def test_a_template_string_holds_text_and_expressions():
    assert only(r'$"a\n\{{x}"').of == TemplateString(
        ("a\n{", Expr(Var("x", at(1, 9)), False, (), at(1, 9))), at(1, 1)
    )  # fmt: skip


def test_operators_bind_as_in_opa():
    def shape(term: Any) -> str:
        if isinstance(term, Call):
            return f"{term.operator[-1]}({','.join(map(shape, term.args))})"
        return term.name if isinstance(term, Var) else str(term.value)

    assert shape(only("a := b in c == d | e & f + g * -h - i").of) == (
        "assign(a,member_2(b,equal(c,or(d,and(e,minus(plus(f,mul(g,minus(0,h))),i))))))"
    )
    assert shape(only("(a + b) * c").of) == "mul(plus(a,b),c)"


def test_logical_operators_only_when_imported():
    def plain(name: str, col: int) -> tuple[Expr, ...]:
        term: Term = Var(name, at(1, col))
        return (Expr(term, False, (), at(1, col)),)

    both = Logical("and", (plain("a", 1), plain("b", 7)), at(1, 1))
    assert only("a and b or c", "and", "or").of == Logical(
        "or", ((Expr(both, False, (), at(1, 1)),), plain("c", 12)), at(1, 1)
    )
    assert only("not {a}", "not").of == Logical("not", (plain("a", 6),), at(1, 1))
    assert len(rules("p := and(x, y)\nand := 1")) == 2


def test_metadata_goes_to_what_is_below_it():
    module = parse_module(
        "# METADATA\n# title: T\n# authors: [Jane Doe <j@x.y>]\npackage a\n\n# METADATA\n# entrypoint: true\n"
        "# custom: {a: [1]}\n# related_resources: [{ref: r}]\np := 1\n\n# METADATA\n# title: Q\nq := 2\n",
        "f",
    )

    assert module.annotations == (
        {"title": "T", "authors": [{"name": "Jane Doe", "email": "j@x.y"}], "scope": "package"},
    )
    assert [rule.annotations for rule in module.rules] == [
        ({"entrypoint": True, "related_resources": [{"ref": "r"}], "custom": {"a": [1]}, "scope": "document"},),
        ({"title": "Q", "scope": "rule"},),
    ]


@pytest.mark.parametrize("case", ERRORS, ids=lambda case: case["name"])
def test_a_faulty_module_is_refused_with_all_its_problems(case: dict[str, Any]):
    assert problems(case["module"]) == case["problems"]


def test_reading_goes_on_at_the_next_rule():
    assert [each[1:3] for each in problems("package a\np := ]\nq := 1\nr { 2 }\n  s := (\nt := 1 +\n")] == [
        [2, 6], [2, 6], [4, 1], [6, 3], [6, 3],
    ]  # fmt: skip


def test_the_same_places_as_the_real_opa(opa: str, tmp_path: Path):
    for index, case in enumerate(ERRORS):
        (tmp_path / f"{index:04}.rego").write_bytes(case["module"].encode())
    ran = subprocess.run([opa, "check", "--format", "json", str(tmp_path)], capture_output=True, text=True, check=False)

    found: dict[int, set[tuple[str, int, int]]] = {}
    for error in json.loads(ran.stdout or ran.stderr)["errors"]:
        place = error["location"]
        found.setdefault(int(Path(place["file"]).stem), set()).add((error["code"], place["row"], place["col"]))
    assert {ERRORS[index]["name"]: places for index, places in found.items()} == {
        case["name"]: {(code, row, col) for code, row, col, _ in case["problems"]} for case in ERRORS
    }


def test_the_same_tree_as_the_real_opa(opa: str, tmp_path: Path):
    assert_same_trees(opa, tmp_path, [CONSTRUCTS])


def test_every_case_of_opa_is_read_as_opa_reads_it(opa: str, tmp_path: Path):
    folder = os.environ.get("LICTOR_OPA_CASES")
    if not folder:
        pytest.skip("LICTOR_OPA_CASES names no folder with OPA's YAML cases")
    modules: list[str] = []
    for path in sorted(Path(folder).rglob("*.yaml")):
        for case in (yaml.load(path.read_text("utf-8"), Loader=yaml.CSafeLoader) or {}).get("cases") or []:
            if case.get("want_error_code") != "rego_parse_error":
                modules.extend(case.get("modules") or [])
                parse_query(case["query"])
    assert_same_trees(opa, tmp_path, modules)


def assert_same_trees(opa: str, tmp_path: Path, modules: list[str]) -> None:
    (tmp_path / "input.json").write_text(json.dumps({"modules": modules}))
    query = '[rego.parse_module("f", m) | some m in input.modules]'
    command = [opa, "eval", "-f", "json", "--strict-builtin-errors", "-i", str(tmp_path / "input.json"), query]
    ran = json.loads(
        subprocess.run(command, capture_output=True, text=True, check=False).stdout, parse_float=opa_tree.exact_number
    )
    for module, theirs in zip(modules, ran["result"][0]["expressions"][0]["value"], strict=True):
        ours = json.loads(json.dumps(opa_tree.of_ours(parse_module(module, "f"))))
        assert ours == opa_tree.of_opa(theirs), module


PIECES = st.sampled_from(
    [*'{}[]()|&.,:;"`$#\\\n _-1', "p", "x ", ":= ", " if ", "contains ", "some ", " in ", "every ", "not ", " and ",
     " or ", "else ", "default ", "with ", " as ", '$"', "import ", "package ", "\n# METADATA\n", "# scope: rule\n",
     "import future.keywords\n", "# authors: [\n", "é", "\x00", "f(x)"]
)  # fmt: skip


@given(st.one_of(st.text(), st.lists(PIECES, max_size=40).map("".join)))
def test_nothing_but_a_syntax_error_is_raised(text: str):
    for source in (text, "package a\n" + text, "package a\nimport future.keywords\np if {" + text + "}"):
        try:
            parse_module(source, "f")
        except RegoSyntaxError as error:
            assert error.problems  # noqa: PT017 — most, not all, of the texts are wrong


@given(st.integers(0, len(CONSTRUCTS)), st.integers(0, 5), PIECES)
def test_a_mutated_module_raises_nothing_else(place: int, removed: int, piece: str):
    try:
        parse_module(CONSTRUCTS[:place] + piece + CONSTRUCTS[place + removed :], "f")
    except RegoSyntaxError as error:
        assert error.problems  # noqa: PT017


@pytest.mark.parametrize(
    "piece", ["[", "{", "(", "f(", "{x | ", "[x | ", '{"a": ', "x[", "not {", '$"{', "every x in y {", "x and ("]
)
def test_deep_nesting_is_refused(piece: str):
    for size in (90, 20_000):
        with pytest.raises(RegoSyntaxError) as caught:
            parse_module("package a\nimport future.keywords\np if {" + piece * size, "f")
        messages = {problem.message for problem in caught.value.problems}
        if size > 1000 and piece != '$"{':
            assert "max parsing recursion depth exceeded" in messages
