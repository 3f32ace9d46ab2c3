"""OPA's own evaluation cases, all of them: none but those of expected_failures.yaml may fail."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bench.conformance import our_engine, run_cases
from bench.opa_cases import Verdict, load_cases
from tests.engine.rego.expected_failures import Place, difference, read_expected

FOLDER = "LICTOR_OPA_CASES"


@pytest.mark.skipif(
    not os.environ.get(FOLDER), reason=f"set {FOLDER} to the folder v1/test/cases/testdata/v1 of OPA's repository"
)
def test_exactly_the_expected_cases_fail():
    cases = load_cases(Path(os.environ[FOLDER]))
    places = [Place(case.file, case.index) for case in cases]
    outcomes = run_cases(cases, our_engine)
    failing = [place for place, found in zip(places, outcomes, strict=True) if found.verdict is not Verdict.PASSED]
    found = difference(read_expected(), failing, places)
    assert not found.found, str(found)
