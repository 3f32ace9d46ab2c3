"""The starter bundle, loaded once for all of these tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.bundle.source import read_bundle
from engine.evaluator.port import Defined, Question
from engine.evaluator.regopy_pool import RegopyEvaluator
from engine.jsontext import JsonValue
from tests.policy.starter import POLICY

Ask = Callable[[str, JsonValue], JsonValue]


@pytest.fixture(scope="package")
def ask() -> Iterator[Ask]:
    """The answer of the starter bundle at a path. An undefined answer or an error is a failure of the rules."""
    policy = RegopyEvaluator(workers=2, deadline_s=5.0).load(read_bundle(Path(POLICY)))

    def answer(path: str, value: JsonValue) -> JsonValue:
        evaluation = policy.evaluate(Question(path, value, time_ns=0, seed=""))
        assert isinstance(evaluation, Defined), evaluation
        return evaluation.value

    yield answer
    policy.close()
