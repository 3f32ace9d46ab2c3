"""The families of text and documents, expression by expression against a real OPA in one process."""

# ruff: noqa: E501  # the tables read best a case a line
from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from engine.rego.builtins import (  # noqa: F401  # each declares its builtins
    encoding,
    globs,
    json_paths,
    regular_expressions,
    semver,
    sprintf,
    strings,
    units,
    yaml_text,
)  # fmt: skip
from engine.rego.builtins.registry import BUILTINS
from engine.rego.errors import BuiltinError
from engine.rego.values import RegoSet

Call = tuple[str, list[Any]]

TEXTS = [
    "",
    "a",
    "Hello, World",
    "héllo wörld",
    "aXbXc",
    "  padded\t\n",
    "ÀÉß ǆ ﬁ İ ᾳ",
    "日本語",
    "a/b/c",
    "\u2028x\u0001",
]
VERBS = [
    "%v", "%d", "%s", "%q", "%x", "%X", "%o", "%O", "%b", "%e", "%E", "%f", "%g", "%G", "%t", "%T", "%c", "%U", "%p", "%z",
    "%5d|", "%-5d|", "%05d|", "%+d", "% d", "%#x", "%#o", "%#b", "%#U", "%.3f", "%8.2f|", "%08.2f|", "%-8.2f|", "%+.1e",
    "%.3s|", "%10s|", "%-10s|", "%010s|", "%+q", "%#q", "% x", "%# X", "%#v", "%+v", "%.0f", "%.10g", "%.2g", "%#g", "%x|%v",
    "%[1]v", "%[2]v", "%[x]d", "%!", "%", "100%%", "%.d|", "%.0d|", "%05s|", "%-05d|", "%+05d|", "%6v|", "%-6v|", "%06v|",
    "%*d", "%.*f", "%é", "%5%", "%5t", "%.2x", "% 05d|", "%#.3x", "%O|%#O", "%10q|", "%10c|", "%8U|", "%.7U", "%+x", "% .2f",
]  # fmt: skip
ARGUMENTS: list[Any] = [
    42, -7, 0, 1.5, -0.25, 1e-7, 123456.75, "hi", "é\n", "", True, None, [1, "a", None], {"a": {"b": [True]}}, 65, 0x1F600,
    2**63, -(2**70), 12345678901234567890123,
]  # fmt: skip
PATTERNS = [
    "a",
    "",
    "x*",
    "(l)(o)?",
    "^a|c$",
    r"\bw",
    "[^a-z]+",
    "(?i)HELLO",
    "(?P<first>.)(?P<second>.)",
    r"\p{L}+",
    "X",
    ".",
]
GLOBS = [
    "*", "**", "a*", "*.com", "a.*.c", "a.**.c", "?b", "[abc]*", "[!abc]*", "[a-c]?", "{a,b}*", "{*.x,**.c}", "a\\*", "", "[]a]",
    "{a,{b,c}}d", "a{,b}c", "[-a]", "[a-]", "{a", "a}", "a,b", "[!", "[b-a]", "**c", "a?c", "{,}", "[a-c", "é*", "[é]*", "*{*0,}",
]  # fmt: skip
GLOB_TEXTS = ["", "a", "ab", "abc", "a.b.c", "a.x", "x.com", "a*", "bd", "a/b", "a,b", "a}", "-", "éa", ".", "a0"]
OVERLAPS = [
    "abcd", "....", "[a-d]*", ".*", "", "[ab]+c", "[bc]+", "foo.*bar", "foobar", "[0-9]*", ".\\*", "a+", "a*", "x", "[", "*", "a\\",
    ".*.*f", ".*.*g", "[a-", "[]", "ab+", "abc", "b*a.*",
]  # fmt: skip
UNITS = [
    "0", "10K", "10Ki", "1.5G", "100m", "1.1K", "2e3Mi", "1E", "5E", "10ei", '"100TI"', "", "G", "0.0.0", "100 k", ".5", "5.", "-1k",
    "1e-2", "1x", "1.23456789012345m", "+3Gi", "1e", "1e+", "0.1", "3.7KB", "2e2GiB", "1e7000000", "1mB", "1.15M", "0.3k", "1-2",
]  # fmt: skip
VERSIONS = [
    "1.0.0",
    "v1.2.3",
    "1.0",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-1",
    "1.0.0+x",
    "01.0.0",
    "1.0.0-01",
    "",
    "2.0.0-rc.10",
    "2.0.0-rc.9",
]
ENCODED = [
    "", "aGVsbG8=", "aGVsbG8", "a", "aa=", "a*bc", "aaaa=", "/w==", "_-8=", "aGk\n=", "6869", "zz", "abc", "ff", "a%20b+c", "%zz", "%4",
    "a=1&b=2&a=3&c", "a;b=1", "{", "[1, 2.5, \"x\"]", "1 2", "{\"a\":1,\"a\":2}", "\"\\ud800\"", "nul", "01", "[1,]", "NaN", " 7 ",
    "a: 1\nb: [x, 'y']", "- 1\n- true\n- yes\n- 0x1F", "a: b: c", "\t- x", "a: *b", "&a [*a]", "a: 1\n---\nb: 2", "|\n  x\n  y", "? a\n: b",
    "a: !!int x", "2001-01-01", "'it''s'", "\"\\u00e9\"", "a: {<<: {b: 1, c: 2}, b: 3}", "!!str 5", "1.5e3", "-.5", "0o17", "1__0", "~",
]  # fmt: skip
DOCUMENTS: list[Any] = [
    {"a": {"b": [1, {"c": 2}, 3], "d": "x"}, "e/f": {"~g": None}, "h": []}, {}, {"a": [{"b": 1}, {"b": 2}]}, {"0": 1, "a": "b"},
]  # fmt: skip
PATHS: list[Any] = [
    ["a"], ["a/b"], ["/a/b/1/c", "h"], ["a/b/0", "a/b/2"], [["a", "b"]], ["e~1f/~0g"], [""], ["a/x", "zz"], [], ["a", "a/b"], ["a/0/b"],
]  # fmt: skip
PATCHES: list[Any] = [
    [{"op": "add", "path": "/a/b/1", "value": 9}], [{"op": "add", "path": "/a/b/-", "value": {"z": 1}}],
    [{"op": "remove", "path": "/a/b/0"}], [{"op": "replace", "path": "/a/d", "value": [1]}], [{"op": "remove", "path": "/nope"}],
    [{"op": "move", "from": "/a/b", "path": "/q"}], [{"op": "copy", "from": "/a", "path": "/a/b/0"}], [{"op": "add", "path": "", "value": 3}],
    [{"op": "test", "path": "/h", "value": []}], [{"op": "test", "path": "/a/d", "value": "y"}], [{"op": "add", "path": "/a/b/01", "value": 1}],
    [{"op": "add", "path": "/a/b/1/c/d", "value": 1}], [{"op": "zap", "path": "/a"}], [{"op": "add", "path": "/new"}], [],
    [{"op": "add", "path": ["a", "b", 1, "k"], "value": 1}], [{"op": "replace", "path": "", "value": []}],
]  # fmt: skip
VALUES: list[Any] = [
    None, True, 5, 2.5, "x<y>&\u2028\b", [], {}, [1, [2, {"a": []}]], {"b": 1, "a": {"z": None}, "a10": 1, "a2": 2}, "yes", "1", "a\nb\n",
    {"k": "a: b", "l": ["#x", " y ", "", "é", "\t", "- a", "2020-01-01", "1e3", "null", "~", "%d", "@x", "x: ", "[a", "0x1", "!t"]},
]  # fmt: skip


def calls() -> list[Call]:
    made: list[Call] = []
    for one in TEXTS:
        made += [(name, [one]) for name in ("lower", "upper", "trim_space", "strings.reverse", "glob.quote_meta")]
        made += [
            (name, [one]) for name in ("base64.encode", "base64url.encode_no_pad", "hex.encode", "urlquery.encode")
        ]
        for other in ("", "a", "l", "X", "/", "é", " "):
            made += [
                (name, [one, other])
                for name in (
                    "contains", "startswith", "endswith", "indexof", "indexof_n", "split", "strings.count", "trim", "trim_left",
                    "trim_right", "trim_prefix", "trim_suffix", "strings.any_prefix_match",
                )
            ]  # fmt: skip
            made += [("replace", [one, other, "<>"])] if other or one.isascii() else []
            made += [("strings.split_n", [one, other, number]) for number in (0, 1, -2, 9)]
        made += [("substring", [one, offset, length]) for offset in (0, 2, 50, -1) for length in (-1, 0, 2, 99)]
        made += [("strings.replace_n", [{"l": "1", "ll": "2", "o": "", "é": "e"}, one])]
        for pattern in PATTERNS:
            made += [("regex.match", [pattern, one]), ("regex.split", [pattern, one])]
            made += [("regex.find_n", [pattern, one, number]) for number in (-1, 0, 2)]
            made += [("regex.find_all_string_submatch_n", [pattern, one, -1])]
            made += [
                ("regex.replace", [one, pattern, new]) for new in ("<$0>", "${1}x$2", "$1x", "$second$$", "${", "$")
            ]
    for verb in VERBS:
        # `%p` of a big integer is its address in OPA's memory.
        made += [("sprintf", [verb, [value]]) for value in ARGUMENTS if verb != "%p" or value not in ARGUMENTS[-3:]]
        made += [("sprintf", [verb, []]), ("sprintf", [verb, [3, 4, "z"]])]
    made += [
        ("glob.match", [glob, marks, text]) for glob in GLOBS for text in GLOB_TEXTS for marks in (None, [], [".", "/"])
    ]
    made += [("regex.globs_match", [one, other]) for one in OVERLAPS for other in OVERLAPS]
    made += [
        ("regex.is_valid", [one])
        for one in ("a", "[", "a**", "(?<n>x)", r"\C", r"\pN", "a{1001}", r"\Qa.b\E", r"\8", "(?=x)")
    ]
    made += [(name, [text]) for text in UNITS for name in ("units.parse", "units.parse_bytes")]
    made += [("semver.compare", [one, other]) for one in VERSIONS for other in VERSIONS]
    made += [("semver.is_valid", [one]) for one in VERSIONS]
    made += [
        (name, [text])
        for text in ENCODED
        for name in (
            "base64.decode", "base64.is_valid", "base64url.decode", "hex.decode", "urlquery.decode", "urlquery.decode_object",
            "json.unmarshal", "json.is_valid", "yaml.unmarshal", "yaml.is_valid",
        )
    ]  # fmt: skip
    made += [
        ("format_int", [number, base]) for number in (0, -5, 15.9, -15.9, 2**80, 1e3) for base in (2, 8, 10, 16, 7)
    ]
    made += [
        (name, [document, paths])
        for document in DOCUMENTS
        for paths in PATHS
        for name in ("json.filter", "json.remove")
    ]
    made += [("json.patch", [document, steps]) for document in DOCUMENTS for steps in PATCHES]
    made += [(name, [value]) for value in VALUES for name in ("json.marshal", "yaml.marshal")]
    options: list[Any] = [{}, {"pretty": True}, {"indent": "  ", "prefix": "> "}, {"pretty": False, "indent": "x"}]
    made += [("json.marshal_with_options", [value, option]) for value in VALUES for option in options]
    made += [("urlquery.encode_object", [value]) for value in ({}, {"b": "x y", "a": ["1", "&"]})]
    return made


def opa_answers(opa: str, table: list[Call], folder: Path) -> list[dict[str, Any]]:
    """For each call {"v": value}, or {} where there is none."""
    rules = [
        f"r{at} := {name}({', '.join(f'input[{at}][{position}]' for position in range(len(arguments)))})"
        for at, (name, arguments) in enumerate(table)
    ]
    (folder / "calls.rego").write_text("package t\n\n" + "\n".join(rules) + "\n")
    (folder / "input.json").write_text(json.dumps([arguments for _, arguments in table]))
    command = [
        opa,
        "eval",
        "--format=json",
        "-d",
        str(folder / "calls.rego"),
        "-i",
        str(folder / "input.json"),
        "data.t",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)["result"][0]["expressions"][0]["value"]
    return [{"v": found[f"r{at}"]} if f"r{at}" in found else {} for at in range(len(table))]


def our_answer(call: Call) -> dict[str, Any]:
    name, arguments = call
    try:
        return {"v": as_json(BUILTINS[name].call(*arguments))}
    except BuiltinError:
        return {}


def as_json(value: Any) -> Any:
    if isinstance(value, RegoSet):
        return [as_json(item) for item in value]
    if isinstance(value, list):
        return [as_json(item) for item in value]
    return {key: as_json(item) for key, item in value.items()} if isinstance(value, dict) else value


def test_every_call_of_the_table_has_opas_answer(opa: str, tmp_path: Path) -> None:
    table = calls()
    expected = opa_answers(opa, table, tmp_path)
    different = {
        f"{name}{arguments!r}": (ours, theirs)
        for (name, arguments), theirs in zip(table, expected, strict=True)
        if (ours := our_answer((name, arguments))) != theirs
    }
    assert different == {}
    assert sum(answer != {} for answer in expected) > 4000


def test_case_of_every_character_is_opas(opa: str, tmp_path: Path) -> None:
    characters = [chr(code) for code in range(0x80, 0x20000) if not 0xD800 <= code <= 0xDFFF]
    table: list[Call] = [(name, [" ".join(characters)]) for name in ("lower", "upper")]
    lower, upper = (answer["v"].split(" ") for answer in opa_answers(opa, table, tmp_path))
    different = [
        char
        for char, low, high in zip(characters, lower, upper, strict=True)
        if (strings.lower(char), strings.upper(char)) != (low, high)
    ]
    # Characters that are newer than one of the two tables of Unicode.
    assert [char for char in different if char.isprintable()] == []


@pytest.mark.parametrize(
    ("name", "arguments", "code", "message"),
    [
        ("concat", [",", 1], "eval_type_error", "concat: operand 2 must be one of {set, array} but got number"),
        ("concat", [",", ["a", 1]], "eval_type_error", "concat: operand 2 must be array of strings but got array containing number"),
        ("concat", [True, []], "eval_type_error", "concat: operand 1 must be string but got boolean"),
        ("substring", ["a", 1.5, 1], "eval_type_error", "substring: operand 2 must be integer number but got floating-point number"),
        ("substring", ["a", -1, 1], "eval_builtin_error", "substring: negative offset"),
        ("format_int", [1, 3], "eval_type_error", "format_int: operand 2 must be one of {2, 8, 10, 16}"),
        ("indexof", ["a", ""], "eval_builtin_error", "indexof: empty search character"),
        ("glob.match", ["a", ["ab"], "a"], "eval_type_error", "glob.match: operand 2 must be array of runes but got array containing string"),
        ("glob.match", ["a", 1, "a"], "eval_type_error", "glob.match: operand 2 must be one of {array, null} but got number"),
        ("glob.match", ["{a", [], "a"], "eval_builtin_error", "glob.match: glob: syntax error at 2: unclosed `{`"),
        ("glob.match", ["[]", [], "a"], "eval_builtin_error", "glob.match: glob: syntax error at 2: could not parse range"),
        ("glob.match", ["[b-a]", [], "a"], "eval_builtin_error", "glob.match: glob: syntax error at 5: range hi character is less than lo"),
        ("regex.match", ["[", "a"], "eval_builtin_error", "regex.match: error parsing regexp: missing closing ]: `[`"),
        ("regex.match", ["a**", "a"], "eval_builtin_error", "regex.match: error parsing regexp: invalid nested repetition operator: `**`"),
        ("regex.match", ["(", "a"], "eval_builtin_error", "regex.match: error parsing regexp: missing closing ): `(`"),
        ("regex.globs_match", ["[", "a"], "eval_builtin_error", "regex.globs_match: input:[, pos:1, found [ without matching ]: the input provided is invalid"),
        ("regex.template_match", ["{", "a", "{", "}"], "eval_builtin_error", 'regex.template_match: unbalanced braces in "{"'),
        ("base64.decode", ["a*bc"], "eval_builtin_error", "base64.decode: illegal base64 data at input byte 1"),
        ("base64.decode", ["aa="], "eval_builtin_error", "base64.decode: illegal base64 data at input byte 3"),
        ("base64.decode", ["a"], "eval_builtin_error", "base64.decode: illegal base64 data at input byte 0"),
        ("base64url.decode", ["a"], "eval_builtin_error", "base64url.decode: illegal base64url string: a"),
        ("hex.decode", ["zz"], "eval_builtin_error", "hex.decode: encoding/hex: invalid byte: U+007A 'z'"),
        ("hex.decode", ["abc"], "eval_builtin_error", "hex.decode: encoding/hex: odd length hex string"),
        ("urlquery.decode", ["%zz"], "eval_builtin_error", 'urlquery.decode: invalid URL escape "%zz"'),
        ("yaml.unmarshal", ["[1,2"], "eval_builtin_error", "yaml.unmarshal: yaml: line 1: did not find expected ',' or ']'"),
        ("json.unmarshal", ["{"], "eval_builtin_error", "json.unmarshal: unexpected EOF"),
        ("json.unmarshal", [""], "eval_builtin_error", "json.unmarshal: EOF"),
        ("json.unmarshal", ["1 2"], "eval_builtin_error", "json.unmarshal: error: invalid character '2' after top-level value"),
        ("json.filter", [{}, 1], "eval_type_error", "json.filter: operand 2 must be one of {set, array} but got number"),
        ("json.patch", [{}, [{"op": "add", "path": "/a/b", "value": 1}]], "eval_builtin_error", 'json.patch: path "a" does not exist in object term {}'),
        ("json.patch", [{"a": 1}, [{"op": "add", "path": "a/b", "value": 1}]], "eval_builtin_error", "json.patch: expected composite type, found value: 1 (type: ast.Number)"),
        ("json.marshal_with_options", [[], {"x": 1}], "eval_type_error", 'json.marshal_with_options: operand 2 object contained unknown key "x"'),
        ("units.parse", [""], "eval_builtin_error", "units.parse: units.parse: no amount provided"),
        ("units.parse_bytes", ["1x"], "eval_builtin_error", "units.parse_bytes: units.parse_bytes: byte unit x not recognized"),
        ("semver.compare", ["1", "1.0.0"], "eval_builtin_error", 'semver.compare: operand 1: string "1" is not a valid SemVer'),
    ],
)  # fmt: skip
def test_a_wrong_call_has_opas_code_and_message(name: str, arguments: list[Any], code: str, message: str) -> None:
    with pytest.raises(BuiltinError) as caught:
        BUILTINS[name].call(*arguments)
    assert (caught.value.code, caught.value.message) == (code, message)
