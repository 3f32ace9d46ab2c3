"""The table of builtins is OPA's own; how it is made from `opa capabilities` is written here."""

from __future__ import annotations

import json
import subprocess
from importlib import resources
from typing import Any

import pytest

from engine.rego.types.signatures import parse_type, signature, signatures
from engine.rego.types.types import ANY, NUMBER, STRING, AnyOf, Array, Function, Object

FLAGS = ("infix", "relation", "nondeterministic", "deprecated")


def table_of(capabilities: dict[str, Any]) -> str:
    """The text of `signatures.json`: one line for each builtin."""
    lines = []
    for builtin in sorted(capabilities["builtins"], key=lambda each: each["name"]):
        entry = {"type": text_of(builtin["decl"]), **{flag: builtin[flag] for flag in FLAGS if builtin.get(flag)}}
        lines.append(f"  {json.dumps(builtin['name'])}: {json.dumps(entry)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def text_of(of: dict[str, Any] | None) -> str:  # noqa: PLR0911 - one for each kind of type
    if of is None:
        return "???"
    dynamic = of.get("dynamic")
    match of["type"]:
        case "function":
            variadic = [text_of(of["variadic"]) + "..."] if "variadic" in of else []
            return f"({', '.join([*map(named, of.get('args', [])), *variadic])}) => {named(of.get('result'))}"
        case "array":
            return "array" + angled(map(text_of, of.get("static", []))) + (f"[{text_of(dynamic)}]" if dynamic else "")
        case "object":
            static = angled(f"{entry['key']}: {text_of(entry['value'])}" for entry in of.get("static", []))
            more = f"[{text_of(dynamic['key'])}: {text_of(dynamic['value'])}]" if dynamic else ""
            return "object" + static + more
        case "set":
            return f"set[{text_of(of['of'])}]"
        case "any":
            return "any" + angled(map(text_of, of.get("of", [])))
        case name:
            return str(name)


def named(of: dict[str, Any] | None) -> str:
    return f"{of['name']}: {text_of(of)}" if of is not None and "name" in of else text_of(of)


def angled(parts) -> str:
    inside = ", ".join(parts)
    return f"<{inside}>" if inside else ""


def test_the_table_is_what_opa_says(opa):
    run = subprocess.run([opa, "capabilities", "--current"], capture_output=True, text=True, check=True, timeout=60)
    kept = resources.files("engine.rego.types").joinpath("signatures.json").read_text("utf-8")
    assert kept == table_of(json.loads(run.stdout))


def test_every_type_of_the_table_is_written_as_it_was_read():
    table = json.loads(resources.files("engine.rego.types").joinpath("signatures.json").read_text("utf-8"))
    assert {name: f"{found.args_text} => {found.result_text}" for name, found in signatures().items()} == {
        name: entry["type"] for name, entry in table.items()
    }
    assert len(table) == 206


def test_flags_and_operators_of_a_builtin_are_known():
    walk, plus, now, cast = (signatures()[name] for name in ("walk", "plus", "time.now_ns", "cast_set"))
    assert (walk.relation, walk.infix, plus.infix, plus.relation) == (True, None, "+", False)
    assert (now.nondeterministic, now.deprecated, cast.deprecated) == (True, False, True)
    assert (plus.args_text, plus.type.args_text) == ("(x: number, y: number)", "(number, number)")
    assert (plus.type, now.type) == (Function((NUMBER, NUMBER), NUMBER), Function((), NUMBER))


def test_a_function_without_a_result_has_none():
    found = signature("print")
    assert found is not None
    assert (found.type.args, found.type.variadic, found.type.result) == ((), ANY, None)


def test_an_unknown_builtin_is_none():
    assert signature("no.such_thing") is None


def test_objects_with_known_keys_are_read():
    assert parse_type("array[object<op: string, path: any>[any: any]]") == Array(
        (), Object((("op", STRING), ("path", ANY)), (ANY, ANY))
    )
    assert parse_type("any<string, array<number, string>>") == AnyOf((STRING, Array((NUMBER, STRING))))


@pytest.mark.parametrize("text", ["number number", "object[string]", "(string) number", "array<number>]"])
def test_what_is_no_type_is_refused(text):
    with pytest.raises(ValueError, match=r"goes on|is missing"):
        parse_type(text)
