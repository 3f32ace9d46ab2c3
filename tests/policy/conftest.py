"""The starter bundle, loaded once for all of these tests: in our own engine, and in regopy as the second opinion."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from engine.bundle.source import read_bundle
from engine.evaluator.compiled import CompiledEvaluator
from engine.evaluator.port import Defined, Evaluator, Question
from engine.evaluator.regopy_pool import RegopyEvaluator
from engine.jsontext import JsonValue
from tests.policy.starter import POLICY

EVALUATORS: dict[str, Evaluator] = {
    "compiled": CompiledEvaluator(deadline_s=5.0),
    "regopy": RegopyEvaluator(workers=2, deadline_s=5.0),
}

Ask = Callable[[str, JsonValue], JsonValue]


@pytest.fixture(scope="package", params=["compiled", "regopy"])
def ask(request: pytest.FixtureRequest) -> Iterator[Ask]:
    """The answer of the starter bundle at a path. An undefined answer or an error is a failure of the rules."""
    if request.param == "regopy" and find_spec("regopy") is None:
        pytest.skip("regopy is not installed: make setup")
    policy = EVALUATORS[request.param].load(read_bundle(Path(POLICY)))

    def answer(path: str, value: JsonValue) -> JsonValue:
        evaluation = policy.evaluate(Question(path, value, time_ns=0, seed=""))
        assert isinstance(evaluation, Defined), evaluation
        return evaluation.value

    yield answer
    policy.close()
