"""Types as a real OPA's checker has them: which unify, and the words of its messages."""

from __future__ import annotations

import re
import subprocess
from itertools import product
from pathlib import Path

import pytest

from engine.rego.types.signatures import parse_type, signatures
from engine.rego.types.types import (
    ANY,
    BOOLEAN,
    NULL,
    NUMBER,
    STRING,
    AnyOf,
    Array,
    Function,
    Object,
    Set,
    Type,
    assignable,
    is_unknown,
    keys_type,
    select,
    type_of_value,
    unifies,
    union,
    union_of,
    values_type,
)
from engine.rego.values import RegoSet, make_object

WRITTEN = {
    "null": None,
    "true": True,
    "1": 1,
    "1.5": 1.5,
    '"a"': "a",
    "[]": [],
    "[1]": [1],
    '[1, "a"]': [1, "a"],
    '["a", 1, null]': ["a", 1, None],
    "[[1], [true]]": [[1], [True]],
    "{}": {},
    '{"a": 1}': {"a": 1},
    '{"a": "x"}': {"a": "x"},
    '{"b": 1, "a": [true]}': {"b": 1, "a": [True]},
    '{1: "x", null: 2}': make_object([(1, "x"), (None, 2)]),
    "set()": RegoSet(),
    "{1}": RegoSet([1]),
    '{"a", 1, [2]}': RegoSet(["a", 1, [2]]),
    '{{"a": 1}, {"a": 2}}': RegoSet([{"a": 1}, {"a": 2}]),
}
"""Rego, and the value that it is."""
CALLED = {
    "split": 'split("a", "b")',
    "json.unmarshal": 'json.unmarshal("1")',
    "numbers.range": "numbers.range(1, 2)",
    "minus": "{1} - {2}",
    "net.cidr_expand": 'net.cidr_expand("10.0.0.0/30")',
    "object.union": "object.union({}, {})",
    "urlquery.decode_object": 'urlquery.decode_object("a=b")',
    "time.clock": "time.clock(0)",
    "json.verify_schema": "json.verify_schema({})",
    "json.match_schema": "json.match_schema({}, {})",
    "io.jwt.decode": 'io.jwt.decode("a")',
    "net.cidr_contains_matches": 'net.cidr_contains_matches("10.0.0.0/8", "10.0.0.1")',
    "graph.reachable_paths": "graph.reachable_paths({}, {1})",
}
WIDEST = 80
"""Of a line of a message; OPA leaves out parts of the types of a longer one."""


def typed_terms() -> dict[str, Type]:
    called = {text: signatures()[name].type.result for name, text in CALLED.items()}
    known = {text: of for text, of in called.items() if of is not None}
    return {**{text: type_of_value(value) for text, value in WRITTEN.items()}, **known}


def test_a_real_opa_agrees_which_types_unify_and_how_they_are_written(opa, tmp_path):
    terms = typed_terms()
    types = list(terms.values())
    pairs = list(product(range(len(types)), repeat=2))
    lines = ["package t", *(f"v{number} := {text}" for number, text in enumerate(terms))]
    first = len(lines) + 1
    lines += [f"p{number} if v{one} = v{other}" for number, (one, other) in enumerate(pairs)]
    said = type_errors(opa, tmp_path, lines)

    wanted = {
        first + number: [f"left  : {types[one]}", f"right : {types[other]}"]
        for number, (one, other) in enumerate(pairs)
        if not unifies(types[one], types[other]) or (is_unknown(types[one]) and is_unknown(types[other]))
    }
    assert set(said) == set(wanted)
    narrow = {row: both for row, both in wanted.items() if max(map(len, both)) <= WIDEST}
    assert {row: said[row][1:3] for row in narrow} == narrow
    assert len(narrow) > 500


def test_a_real_opa_agrees_on_arguments_that_do_not_fit(opa, tmp_path):
    terms = {text: of for text, of in typed_terms().items() if not is_unknown(of)}
    asked = [found for found in signatures().values() if len(found.type.args) == 1 and found.type.result is not None]
    asked = [found for found in asked if not found.deprecated and not found.name.startswith("internal.")]
    lines, wanted = ["package t", *(f"v{number} := {text}" for number, text in enumerate(terms))], {}
    for found, (number, of) in product(asked, enumerate(terms.values())):
        lines.append(f"p{len(lines)} if {found.name}(v{number})")
        if not assignable(found.type.args[0], of):
            wanted[len(lines)] = [
                f"{found.name}: invalid argument(s)", f"have: ({of})", f"want: {found.wanted_text}",
            ]  # fmt: skip
    said = type_errors(opa, tmp_path, lines)
    assert set(said) == set(wanted)
    narrow = {row: message for row, message in wanted.items() if max(map(len, message)) <= WIDEST}
    assert {row: said[row] for row in narrow} == narrow
    assert len(narrow) > 500


def type_errors(opa: str, folder: Path, lines: list[str]) -> dict[int, list[str]]:
    """The lines of each message, by the row where it is."""
    (folder / "t.rego").write_text("\n".join(lines) + "\n")
    command = [opa, "check", "--max-errors", "0", "t.rego"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, cwd=folder)
    found: dict[int, list[str]] = {}
    for line in run.stderr.splitlines():
        if place := re.match(r"t\.rego:(\d+): rego_type_error: (.*)", line):
            message = found.setdefault(int(place[1]), [place[2]])
        elif line.startswith("\t"):
            message.append(line.strip())
    return found


def test_words_of_types():
    assert str(Array((), ANY)) == "array[any]"
    assert str(Object((), (STRING, ANY))) == "object[string: any]"
    assert str(AnyOf((STRING, NUMBER))) == "any<number, string>"
    assert str(Object((("b", NUMBER), ("a", STRING)), (ANY, ANY))) == "object<a: string, b: number>[any: any]"
    assert str(Function((STRING,), BOOLEAN)) == "(string) => boolean"
    assert str(Function((), None, ANY)) == "(any...) => ???"
    assert str(Set()) == "set"


def test_a_union_lists_each_type_once_and_any_takes_all():
    assert union_of([STRING, NUMBER, STRING]) == AnyOf((NUMBER, STRING))
    assert union(AnyOf((NUMBER, STRING)), AnyOf((NULL, NUMBER))) == AnyOf((NULL, NUMBER, STRING))
    assert union(AnyOf((NUMBER, STRING)), ANY) == ANY
    assert union(STRING, STRING) == STRING
    assert union(None, STRING) == STRING
    assert union(Function((STRING,), NUMBER), STRING) is None


def test_types_of_parts_follow_what_is_known():
    of = parse_type("object<a: number, b: array<string, null>[boolean]>[string: set[number]]")
    assert select(of, "a") == NUMBER
    assert select(of, "c") == Set(NUMBER)
    assert select(of, 1) is None
    assert [select(select(of, "b"), index) for index in (0, 1, 7, -1)] == [STRING, NULL, BOOLEAN, None]
    assert keys_type(of) == STRING
    assert values_type(select(of, "b")) == AnyOf((NULL, BOOLEAN, STRING))
    assert (select(Set(ANY), "x"), select(Set(NUMBER), "x"), select(ANY, "x"), select(STRING, 0)) == (
        STRING, None, ANY, None,
    )  # fmt: skip


def test_what_is_unknown_in_a_part_is_unknown():
    assert is_unknown(Array((STRING, None)))
    assert is_unknown(Set())
    assert is_unknown(Object((), (STRING, None)))
    assert not is_unknown(Array((), None))
    assert not is_unknown(parse_type("(string, object<a: any>) => boolean"))


@pytest.mark.parametrize("name", sorted(signatures()))
def test_every_signature_accepts_itself_and_no_function_as_an_argument(name):
    of = signatures()[name].type
    assert all(map(assignable, of.args, of.args))
    assert not any(assignable(arg, of) for arg in of.args)
