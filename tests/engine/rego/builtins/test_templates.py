"""Templates, filled in by us and by a real OPA."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import engine.rego.builtins.templates  # noqa: F401 (declares what is called)
from engine.rego.values import RegoSet, make_object
from tests.engine.rego.builtins.against_opa import Call, differences, ours

RENDER = "strings.render_template"
GIVEN: dict[str, Any] = {
    "a": "x", "n": 5, "z": 0, "f": 1.5, "t": True, "nul": None, "l": ["p", "q", 3, None, [1, 2], {"k": "v"}], "e": [],
    "m": {"b": 1, "a": "y", "c": {"d": None}}, "s": "héllo <b>&'\"\u2028=\\", "es": "",
}  # fmt: skip

VALUES = r"""
{{.a}} {{.n}} {{.f}} {{.t}} {{.nul}} {{.l}} {{.m}} {{.}} {{.x}} {{.x.y}}
{{true}} {{"a\n\x41\u00e9\101"}} {{`raw\n`}} {{1e6}} {{1.5e-7}} {{0x10}} {{'a'}} {{1_000}} {{017}} {{1+2i}}
{{.5}} {{'\xff'}}
{{$x := 1}}{{$x}}{{$x = 2}}{{$x}} {{$.m.b}} {{(.m).b}} {{(index .l 5).k}} {{with $y := .m}}{{$y.b}}{{end}}
a {{- .a -}} b {{- /* c */ -}} d {{/* c */}} {{"}}"}}
<no value> {{print "<no value>"}}
{{and .a .n}} {{and .es .n}} {{or .es .a}} {{or .es .e}} {{not .a}} {{not .x}} {{or false .x}} {{.a | and true}}
{{eq .a "x"}} {{eq .n "5"}} {{eq 1 2 1}} {{ne .a "y"}} {{lt 1 2}} {{le 2 2}} {{gt 1 2}} {{ge 2 2}}
{{lt "a" "b"}} {{eq .x nil}}
{{eq .nul nil}} {{eq nil nil}} {{lt .n .f}} {{eq .l nil}} {{eq .x 1}}
{{len .l}} {{len .a}} {{len .m}} {{len .s}} {{len .n}} {{slice .s 1 3}} {{slice .l 1 2}} {{slice .a}}
{{slice .l 0 1 2}}
{{index .l 0}} {{index .m "b"}} {{index .l 4 1}} {{index .m "zz"}} {{index .a 0}}
{{html .s}} {{js .s}} {{urlquery .s}} {{html .s .n}} {{.s | html | js}} {{html .x}} {{js .l}}
{{print 1 2}}|{{print "a" 1 2 "b"}}|{{println 1 "x"}}|{{print .n .n}}|{{print nil}}|{{print .x}}
{{print .nul .l}}|{{print}}
{{printf "%s %v %d %q" .a .n 5 .a}} {{printf "%d" .n}} {{printf "%5.2f|%-5s|%05d|%x|%t|%v" 1.5 "a" 7 "hi" true nil}}
{{printf "%d %s" 1}} {{printf "%d" 1 2 .n nil}} {{printf "%s" .l}} {{printf "%T %T %T %T %T %T" .n .a .l .m .t nil}}
{{printf "%z %" 1}} {{printf "%[2]d %[1]d" 1 2}} {{printf "%*d" 5 1}} {{.a | printf "%s-%s" "q"}}
{{printf "%6v|%-6v|" .t .n}}
""".strip().split("\n")
FLOW = [
    "{{if .n}}1{{else}}2{{end}}{{if .z}}1{{end}}{{if .es}}1{{else}}2{{end}}{{if .nul}}1{{else if .t}}3{{end}}",
    "{{range .l}}<{{.}}>{{end}}{{range $i,$v := .l}}{{$i}}={{$v}};{{end}}{{range $k, $v := .m}}{{$k}}:{{$v}} {{end}}",
    "{{range .e}}x{{else}}none{{end}}{{range .x}}x{{else}}none{{end}}",
    "{{range 3}}{{.}}{{end}}{{range 0}}a{{else}}b{{end}}",
    '{{range .l}}{{if eq . "q"}}{{break}}{{end}}{{.}}{{end}}',
    "{{range .l}}{{continue}}{{.}}{{end}}ok",
    "{{with .a}}{{.}}{{$.n}}{{end}}{{with .x}}a{{else}}b{{end}}{{with .x}}{{else with .a}}{{.}}{{end}}",
    '{{define "t"}}[{{.}}]{{end}}{{template "t" .a}}{{template "t"}}{{block "b" .a}}<{{.}}>{{end}}',
    '{{define "template"}}hi{{end}}',
    '{{$x := .a}}{{if true}}{{$x = "new"}}{{end}}{{$x}}{{$k := 0}}{{$v := 0}}{{range $k, $v = .m}}{{end}}{{$k}}{{$v}}',
    '{{if and .a (gt (len .l) 2)}}yes{{end}}{{if or (eq .a "q") (eq .n "5")}}yes{{end}}',
]
FAULTS = (
    r"""
{{.nul.y}}|{{.a.y}}|{{.m.c.d.e}}|{{range .n}}x{{end}}|{{range .a}}x{{end}}|{{range $i, $j := 3}}{{end}}
{{range .t}}{{end}}|{{break}}|{{$q}}|{{template "nope"}}|{{define "t"}}a{{end}}{{define "t"}}b{{end}}
{{define "template"}}hi{{end}}x|{{/* c|{{/* c */ x}}|{{printf .n}}|{{printf 1}}|{{printf}}|{{printf .x}}|{{len .x}}
{{len .nul}}|{{len 3}}|{{len}}|{{len 1 2}}|{{index .l 9}}|{{index .l 6}}|{{index .l -1}}|{{index .l .n}}
{{index .m 1}}|{{index .m .n}}|{{index .a 1}}|{{index .x 0}}|{{index .t 0}}|{{index nil 0}}|{{index .l nil}}
{{index .m nil}}|{{index .l 3 1}}|{{slice .l 2 1}}|{{slice .a 0 1 1}}|{{slice .m 1}}|{{slice .x}}|{{slice .a 5}}
{{slice .a 0 0 0 0}}|{{and}}|{{not 1 2}}|{{eq .n 5}}|{{eq 1 1.0}}|{{eq .l .l}}|{{eq .l .m}}|{{eq 1}}|{{lt .l 1}}
{{lt .x 1}}|{{lt true false}}|{{lt 1 "a"}}|{{ne 1 2 3}}|{{call .a}}|{{call .x}}|{{call}}|{{.a | call}}|{{nil}}
{{"a\q"}}|{{'ab'}}|{{''}}|{{"a}}|{{'a}}|{{`a}}|{{.a|{{|{{}}|{{ }}|{{.a b}}|{{foo}}|{{.a | 5}}|{{5 6}}|{{.a 5}}
{{.a.b 5}}|{{(1}}|{{1)}}|{{(1) 2}}|{{end}}|{{else}}|{{if .a}}|{{if}}{{end}}|{{if .a}}{{else}}{{else}}{{end}}
{{range $a, $b, $c := .l}}{{end}}|{{$a, $b := .l}}|{{range $a, 5 := .l}}{{end}}|{{define}}{{end}}|{{define "x"}}
{{template}}|{{block "x"}}{{end}}|{{#}}|{{é}}|{{.a+b}}|{{a+b}}|{{1a}}|{{1+2}}|{{@}}|{{.a:}}|{{:=}}|{{$x = 1}}
{{99999999999999999999}}|{{9223372036854775808}}|{{1e999}}|{{0x}}|{{08}}|{{1__0}}|{{..}}|{{.5a}}|{{- }}|{{5.x}}
{{nil.x}}|{{print.x}}|{{(.a).b}}|{{if .a}}{{define "t"}}T{{end}}{{end}}
""".strip()
    .replace("\n", "|")
    .split("|{{")
)


@pytest.mark.parametrize(
    ("template", "given", "text"),
    [
        ("hello {{.who}}", {"who": "world"}, "hello world"),
        ("{{.year}}", {"year": 2023}, "2023"),
        ("{{range $i, $n := .names}}{{if $i}},{{end}}{{$n}}{{end}}", {"names": ["a", "b"]}, "a,b"),
        ("{{.missing}} {{.there}}", {"there": 1}, "<undefined> 1"),
    ],
)
def test_a_template_is_filled_in(template: str, given: dict[str, Any], text: str):
    assert ours(RENDER, template, given) == text


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{{range 100000000}}x{{end}}", "the template takes more than 1000000 steps"),
        ('{{define "r"}}{{template "r"}}{{end}}{{template "r"}}', "nested too deeply"),
        ("{{" + "(" * 200 + "1" + ")" * 200 + "}}", "template: template:1: max expression depth exceeded"),
        ("{{if 1}}" * 200 + "{{end}}" * 200, "template: template:1: max expression depth exceeded"),
        (
            '{{$x := "aaaaaaaaaa"}}{{range 40}}{{$x = print $x $x}}{{end}}',
            "the result would have more than 16777216 characters",
        ),
        (
            '{{$x := printf "%1000000d" 1}}{{range 1000}}{{if len $x}}{{end}}{{end}}',
            "the template makes more than 67108864 characters",
        ),
    ],
)
def test_a_template_that_grows_without_end_is_an_error(template: str, message: str):
    assert ours(RENDER, template, {}) == ("error", "eval_builtin_error", f"{RENDER}: {message}")


@pytest.mark.parametrize(
    "template", ["{{.a" + ".b" * 50_000 + "}}", "{{" * 20_000, "{{" + "." * 20_000, "{{-" + " " * 50_000]
)
def test_a_long_template_is_read_once(template: str):
    answer = ours(RENDER, template, {})
    assert answer == "<undefined>" or answer[:2] == ("error", "eval_builtin_error")


def test_every_value_is_written_as_by_opa(opa: str, tmp_path: Path):
    assert differences(opa, [(RENDER, template, GIVEN) for template in (*VALUES, *FLOW)], tmp_path) == []


def test_every_fault_is_told_as_by_opa(opa: str, tmp_path: Path):
    templates = [FAULTS[0], *("{{" + fault for fault in FAULTS[1:])]
    assert differences(opa, [(RENDER, template, GIVEN) for template in templates], tmp_path) == []


def test_variables_that_are_no_json_are_errors_as_by_opa(opa: str, tmp_path: Path):
    given: list[Any] = [{"a": "\x01"}, {"a": RegoSet([1])}, make_object([(1, 2)]), 5]
    calls: list[Call] = [(RENDER, "{{.a}}", one) for one in given]
    assert differences(opa, [*calls, (RENDER, 5, {})], tmp_path) == []
