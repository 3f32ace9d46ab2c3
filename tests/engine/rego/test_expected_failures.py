"""The list itself: its format, and what it says about a run."""

from __future__ import annotations

import pytest

from tests.engine.rego.expected_failures import Difference, Place, difference, read_expected

ONE, TWO, THREE = Place("a/a.yaml", 0), Place("a/a.yaml", 1), Place("b/b.yaml", 0)


def test_entries_are_read_with_their_reasons(tmp_path):
    path = tmp_path / "list.yaml"
    path.write_text("- {file: a/a.yaml, index: 1, reason: no graphql}\n- {file: b/b.yaml, index: 0, reason: no x509}\n")
    assert read_expected(path) == {TWO: "no graphql", THREE: "no x509"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "- {file: a, index: 0}",
        "- {file: a, index: 0, reason: ' '}",
        "- {file: a, index: zero, reason: b}",
        "- {file: a, index: 0, reason: b, owner: c}",
        "- {file: a, index: 0, reason: b}\n- {file: a, index: 0, reason: c}",
        "- {file: a, index: 1, reason: b}\n- {file: a, index: 0, reason: c}",
    ],
)
def test_anything_else_is_refused(tmp_path, text):
    path = tmp_path / "list.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"not a list|not an entry|twice or out of order"):
        read_expected(path)


def test_our_own_list_is_well_formed():
    read_expected()


def test_a_run_as_expected_has_no_difference():
    assert not difference([ONE], [ONE], [ONE, TWO]).found


def test_fixed_broken_and_gone_cases_are_named():
    found = difference(expected=[ONE, THREE], failing=[TWO], known=[ONE, TWO])
    assert found == Difference(fixed=(ONE,), broken=(TWO,), gone=(THREE,))
    assert str(found) == "fixed: a/a.yaml 0\nnewly broken: a/a.yaml 1\nno such case: b/b.yaml 0"
