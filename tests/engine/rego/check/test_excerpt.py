from __future__ import annotations

import pytest

from engine.rego.check.excerpt import WIDTH, describe, excerpt
from engine.rego.errors import Location, RegoProblem


def at(row: int, col: int, hint: str | None = None) -> RegoProblem:
    return RegoProblem("rego_type_error", "undefined function f", Location("a.rego", row, col), hint)


def test_a_problem_shows_its_line_and_its_place():
    assert describe(at(2, 6), "package a\np := f(1)\n") == (
        "a.rego:2:6: rego_type_error: undefined function f\n    p := f(1)\n         ^"
    )


def test_an_excerpt_is_what_follows_the_message():
    assert excerpt(at(2, 6), "package a\np := f(1)\n") == "    p := f(1)\n         ^"
    assert excerpt(at(9, 1), "package a") == ""


def test_a_hint_comes_last():
    assert describe(at(2, 6, "did you mean `g`?"), "package a\np := f(1)").splitlines()[3] == "hint: did you mean `g`?"


def test_a_tab_is_four_columns_and_the_mark_stays_under_the_place():
    assert describe(at(1, 3), "\t\tf(1)").splitlines()[1:] == ["            f(1)", "            ^"]


def test_the_mark_stays_under_the_place_after_wide_and_joining_letters():
    assert describe(at(1, 4), "日e\u0301f(1)").splitlines()[2] == " " * (4 + 3) + "^"


def test_a_long_line_is_cut_to_a_window_around_the_place():
    _, line, mark = describe(at(1, 301), "a" * 300 + "f(1)" + "b" * 300).splitlines()

    assert len(line) == 4 + WIDTH + 2
    assert (line[4], line[-1]) == ("…", "…")
    assert line[mark.index("^")] == "f"


def test_a_line_as_wide_as_the_window_is_whole():
    assert describe(at(1, 1), "f" * WIDTH).splitlines()[1] == "    " + "f" * WIDTH


@pytest.mark.parametrize("row", [0, 3])
def test_a_place_outside_of_the_text_shows_no_line(row: int):
    assert describe(at(row, 1), "package a\np := 1") == f"a.rego:{row}:1: rego_type_error: undefined function f"


def test_a_carriage_return_is_not_shown():
    assert describe(at(1, 1), "f(1)\r\n").splitlines()[1] == "    f(1)"
