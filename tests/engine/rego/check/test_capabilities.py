from __future__ import annotations

import pytest

from engine.rego.builtins import load_all
from engine.rego.builtins.registry import BUILTINS
from engine.rego.check.capabilities import OUTSIDE, WITHOUT_CODE, refusal
from engine.rego.check.stages import check
from engine.rego.syntax.parser import parse_module
from engine.rego.types.signatures import signatures


@pytest.mark.parametrize("name", sorted(OUTSIDE))
def test_what_reaches_outside_is_refused_with_the_setting_that_permits_it(name: str):
    args = ", ".join(['"a"'] * len(signatures()[name].type.args))
    (problem,) = check([parse_module(f"package a\np := {name}({args})", "f")]).problems

    assert (problem.code, problem.location.col) == ("rego_type_error", 6)
    assert problem.message == (
        f"undefined function {name}: decisions must not reach outside; LICTOR_ALLOWED_BUILTINS can permit it"
    )


def test_what_is_allowed_is_not_refused():
    module = parse_module('package a\np := http.send({"method": "get", "url": "x"})', "f")

    assert check([module], allowed=["http.send"]).problems == ()


@pytest.mark.parametrize("call", ["time.now_ns()", 'rand.intn("a", 5)', 'uuid.rfc4122("a")'])
def test_time_and_chance_are_values_of_the_decision(call: str):
    assert check([parse_module(f"package a\np := {call}", "f")]).problems == ()


def test_every_builtin_of_opa_is_there_or_known_to_the_compiler_or_refused():
    load_all()

    assert {name for name in signatures() if refusal(name, ()) is None} == (
        (signatures().keys() & BUILTINS.keys() | WITHOUT_CODE) - OUTSIDE
    )


def test_a_builtin_that_we_do_not_have_is_refused_and_says_so():
    assert refusal("internal.test_case", ()) == "undefined function internal.test_case: this evaluator does not have it"
