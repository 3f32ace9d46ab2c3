"""Modules as OPA's syntax trees, by us and by a real OPA."""

from __future__ import annotations

from pathlib import Path

import pytest

import engine.rego.builtins.parse_module  # noqa: F401 (declares what is called)
from tests.engine.rego.builtins.against_opa import Call, differences, ours

PARSE = "rego.parse_module"

RULES = r"""
p.q := 5
p.q if true
p[x] if x := 1
p["a"] if true
p["a"] := 3 if true
p[1] := 2
p.q contains 1
p.q[x].r := 1 if x := 2
default p.q := 1
default f(_) := 1
f.g(x) := 1
f.g(x) if x
p[input.x] := 1 if true
p[input.x] if true
p = 1 if { true } else = 2 if { false } else := 3
p := 1 if { true } else := 2
p := (1)
f({"a": x}) = x
p := {3, 1, 2, 1}
p := {b: 1, "a": 2, 1: 3, null: 4, input.x: 5, [1]: 6, {1}: 7} if b := 1
p := {x, 1, "a", y.z, [x], f(1), {1: 2}} if true
p := $`raw {x} b`
p := $"{1} {x+1} {"a"}"
p := $""
p if { not f(x); not x == 1 }
p if { x == 1 with input as 2 with data.a as 3 }
p := f(x)[0].b
p if { some x, y in z; some {"a": q} in w; some a, b }
p if { [_, x] := y; {_: _} = z; input[_][_] }
f(_, _) := _ if true
p := [input, data, data.x]
p if { x := 1e5; y := 1.50; z := 100000000000000000000000 }
p contains [x, y] if { x := 1; y := 2 }
p if { every x in y { x }; every k, v in y { v } }
p if { x = y; x != y; x <= y; x - y; x % y; x & y; x | y }
p := -x if x := 1
p := [{x | x := y[_]}, [x | x], {x: y | x := 1; y := 2}]
p := "a\n\u00e9"
p if {1}
import data.x as y
import rego.v1
import future.keywords.in
p := {{1, 2}, {1}, [2], [1, 2], "b", "a", 2, 1, null, false, true, {}, set()}
# a comment
""".strip().split("\n")


def test_a_module_has_its_package_its_imports_and_its_rules():
    source = "package foo.bar\n\nimport data.a as b\n\np := b\n"
    assert ours(PARSE, "x.rego", source) == {
        "package": {
            "path": [
                {"type": "var", "value": "data"},
                {"type": "string", "value": "foo"},
                {"type": "string", "value": "bar"},
            ]
        },
        "imports": [
            {
                "path": {"type": "ref", "value": [{"type": "var", "value": "data"}, {"type": "string", "value": "a"}]},
                "alias": "b",
            }
        ],
        "rules": [
            {
                "head": {
                    "name": "p",
                    "ref": [{"type": "var", "value": "p"}],
                    "assign": True,
                    "value": {"type": "var", "value": "b"},
                },
                "body": [{"index": 0, "generated": True, "terms": {"type": "boolean", "value": True}}],
            }
        ],
    }


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "x.rego:0: rego_parse_error: empty module"),
        (
            "package a\n\tp := 1 $ 2",
            "1 error occurred: x.rego:2: rego_parse_error: illegal $ character\n\tp := 1 $ 2\n\t       ^",
        ),
    ],
)
def test_what_is_no_module_is_an_error(source: str, message: str):
    assert ours(PARSE, "x.rego", source) == ("error", "eval_builtin_error", f"{PARSE}: {message}")


def test_a_module_that_nests_too_deeply_is_an_error():
    answer = ours(PARSE, "x.rego", "package a\n\np := " + "[" * 20_000 + "]" * 20_000)
    assert answer[:2] == ("error", "eval_builtin_error")


def test_every_module_is_parsed_as_by_opa(opa: str, tmp_path: Path):
    calls: list[Call] = [(PARSE, "m.rego", f"package a\n\n{rule}\n") for rule in RULES]
    whole = "package a\n\n" + "\n".join(sorted(RULES, key=lambda rule: not rule.startswith("import")))
    bad = [
        "",
        "package",
        "package a\np :=",
        "package a\n\np if {\n\tfoo bar\n}",
        "package a\nallow { true }",
        'package a\n"x',
    ]
    calls += [(PARSE, "m.rego", source) for source in (whole, *bad)]
    assert differences(opa, [*calls, (PARSE, 1, ""), (PARSE, "", 1)], tmp_path) == []
