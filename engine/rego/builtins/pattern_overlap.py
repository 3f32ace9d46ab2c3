"""Whether two simple patterns can match the same text, for `regex.globs_match`.

A pattern is characters, `.` and `[sets]`, each with `+`, `*` or nothing after it. The answers are those of the library
that OPA uses (glob-intersection), also where those are not exact; but nothing is tried twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engine.rego.errors import BuiltinError

MAX_STEPS: Final = 1_000_000
MAX_REPEATS: Final = 100
"""Of `+` and `*` in both patterns."""

_ANY: Final = ((0, 0x10FFFF),)
_INVALID: Final = "the input provided is invalid"


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    ranges: tuple[tuple[int, int], ...]
    repeat: str


def overlap(one: str, other: str) -> bool:
    first, second = _simplified(_tokens(one)), _simplified(_tokens(other))
    if sum(token.repeat != "" for token in first + second) > MAX_REPEATS:
        raise BuiltinError(f"regex.globs_match: more than {MAX_REPEATS} repetitions")
    trimmed = _trimmed(first, second)
    return trimmed is not None and _Overlap(*trimmed).plain(0, 0)


class _Overlap:
    """The search: positions in both patterns, and what is known about them."""

    def __init__(self, first: list[_Token], second: list[_Token]) -> None:
        self._sides = (first, second)
        self._known: dict[tuple[str, int, int, int], bool] = {}
        self._steps = 0

    def plain(self, i: int, j: int) -> bool:
        return self._once("plain", 0, i, j)

    def _once(self, what: str, side: int, i: int, j: int) -> bool:
        key = (what, side, i, j)
        if key not in self._known:
            find = {"plain": self._plain, "plus": self._plus, "star": self._star}[what]
            self._known[key] = find(side, i, j)
        return self._known[key]

    def _plain(self, _: int, i: int, j: int) -> bool:
        first, second = self._sides
        while i < len(first) and j < len(second):
            self._step()
            for side, repeat in ((0, first[i].repeat), (1, second[j].repeat)):
                if repeat:
                    return self._once("plus" if repeat == "+" else "star", side, *((i, j) if side == 0 else (j, i)))
            if not _meet(first[i], second[j]):
                return False
            i, j = i + 1, j + 1
        return i == len(first) and j == len(second)

    def _plus(self, side: int, i: int, j: int) -> bool:
        """Side `side` repeats at `i`, the other one is at `j`."""
        repeated, other = self._sides[side], self._sides[1 - side]
        if not _meet(repeated[i], other[j]):
            return False
        if self._once("star", side, i, j + 1):
            return True
        return other[j].repeat != "" and self._beyond(side, i + 1, j)

    def _star(self, side: int, i: int, j: int) -> bool:
        repeated, other = self._sides[side], self._sides[1 - side]
        following = repeated[i + 1] if i + 1 < len(repeated) else None
        for at in range(j, len(other)):
            self._step()
            if following is not None and _meet(other[at], following) and self._beyond(side, i + 1, at):
                return True
            if not _meet(other[at], repeated[i]):
                return False
        return following is None

    def _beyond(self, side: int, i: int, j: int) -> bool:
        return self.plain(i, j) if side == 0 else self.plain(j, i)

    def _step(self) -> None:
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise BuiltinError(f"regex.globs_match: not answered within {MAX_STEPS} steps")


def _meet(one: _Token, other: _Token) -> bool:
    if "." in (one.kind, other.kind):
        return True
    return any(
        low <= other_high and other_low <= high for low, high in one.ranges for other_low, other_high in other.ranges
    )


def _trimmed(first: list[_Token], second: list[_Token]) -> tuple[list[_Token], list[_Token]] | None:
    """Without the equal beginning and end, but for one token of each; None if they differ there."""
    left = 0
    while left < min(len(first), len(second)) and not (first[left].repeat or second[left].repeat):
        if not _meet(first[left], second[left]):
            return None
        left += 1
    left = max(0, left - 1)
    i, j = len(first) - 1, len(second) - 1
    while i >= left and j >= left and not (first[i].repeat or second[j].repeat):
        if not _meet(first[i], second[j]):
            return None
        i, j = i - 1, j - 1
    if i < len(first) - 1:
        i, j = i + 1, j + 1
    return first[left : i + 1], second[left : j + 1]


def _simplified(tokens: list[_Token]) -> list[_Token]:
    simple: list[_Token] = tokens[:1]
    for token in tokens[1:]:
        latest = simple[-1]
        if token.repeat and latest.repeat and (token.kind, token.ranges) == (latest.kind, latest.ranges):
            simple[-1] = _Token(token.kind, token.ranges, "+" if "+" in (token.repeat, latest.repeat) else "*")
        else:
            simple.append(token)
    return simple


def _tokens(text: str) -> list[_Token]:
    tokens = []
    at = 0
    while at < len(text):
        char, escaped, at = _next(text, at)
        kind = "c"
        ranges: tuple[tuple[int, int], ...] = ((ord(char), ord(char)),)
        if not escaped and char == ".":
            kind, ranges = ".", _ANY
        elif not escaped and char == "]":
            raise _fault(text, at, "set-close ']' with no preceding '['")
        elif not escaped and char == "[":
            kind = "s"
            ranges, at = _set(text, at)
        elif not escaped and char in "+*":
            raise _fault(text, at, f"flag '{char}' must be preceded by a non-flag")
        repeat = text[at] if at < len(text) and text[at] in "+*" else ""
        at += len(repeat)
        tokens.append(_Token(kind, ranges, repeat))
    return tokens


def _set(text: str, at: int) -> tuple[tuple[tuple[int, int], ...], int]:
    ranges: list[tuple[int, int]] = []
    previous = ""
    while at < len(text):
        char, escaped, at = _next(text, at)
        if not escaped and char == "]":
            return tuple(sorted(set(ranges))), at
        if escaped or char != "-":
            ranges.append((ord(char), ord(char)))
            previous = char
            continue
        if not previous:
            raise _fault(text, at, "range character '-' must be preceded by a Unicode character")
        if at >= len(text) - 1:
            raise _fault(text, at, "range character '-' must be followed by a Unicode character")
        char, escaped, at = _next(text, at)
        if not escaped and char in "]-":
            raise _fault(text, at, "range character '-' cannot be followed by a special symbol")
        if char < previous:
            raise _fault(text, at, f"range is out of order: '{char}' comes before '{previous}' in Unicode")
        ranges.append((ord(previous), ord(char)))
        previous = ""
    raise _fault(text, at, "found [ without matching ]")


def _next(text: str, at: int) -> tuple[str, bool, int]:
    if text[at] != "\\":
        return text[at], False, at + 1
    if at == len(text) - 1:
        raise _fault(text, at, "input ends with a \\ (escape) character")
    return text[at + 1], True, at + 2


def _fault(text: str, at: int, message: str) -> BuiltinError:
    return BuiltinError(f"regex.globs_match: input:{text}, pos:{at}, {message}: {_INVALID}")
