"""A problem as a person wants to read it: where, what, the line itself with a mark under the place, and a hint."""

from __future__ import annotations

import unicodedata
from typing import Final

from engine.rego.errors import RegoProblem

WIDTH: Final = 100
"""Longer lines are cut to a window around the place."""
_TAB: Final = 4


def describe(problem: RegoProblem, source: str) -> str:
    """All of it. `source` is the text of the problem's file."""
    shown = excerpt(problem, source)
    return f"{problem.location}: {problem.code}: {problem.message}" + ("\n" + shown if shown else "")


def excerpt(problem: RegoProblem, source: str) -> str:
    """The line, the mark and the hint; empty if the place is not in the text and there is no hint."""
    lines, row = source.split("\n"), problem.location.row
    parts = _marked(lines[row - 1].rstrip("\r"), problem.location.col) if 1 <= row <= len(lines) else []
    if problem.hint is not None:
        parts.append(f"hint: {problem.hint}")
    return "\n".join(parts)


def _marked(line: str, col: int) -> list[str]:
    before, after = _shown(line[: col - 1]), _shown(line[col - 1 :])
    start = max(0, len(before) - WIDTH // 2) if len(before) + len(after) > WIDTH else 0
    window = (before + after)[start : start + WIDTH]
    left, right = "…" if start else "", "…" if start + WIDTH < len(before) + len(after) else ""
    mark = " " * _columns(left + before[start:]) + "^"
    return [f"    {left}{window}{right}", f"    {mark}"]


def _shown(text: str) -> str:
    return text.replace("\t", " " * _TAB)


def _columns(text: str) -> int:
    """What the text takes on a screen: wide letters two columns, those that join others none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
