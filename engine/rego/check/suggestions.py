"""What a name that means nothing may have been meant to be."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Protocol


class Suggest(Protocol):
    def __call__(self, name: str, *, called: bool) -> str | None:
        """For a name that is called or, if not, stands as a variable."""


def suggestion(name: str, known: Iterable[str]) -> str | None:
    """A name that differs by little: one letter more, less or other in every five or so."""
    others = sorted({each for each in known if each != name and not each.startswith("internal.")})
    found = get_close_matches(name, others, n=1, cutoff=0.8 if len(name) > 3 else 0.6)
    if found and len(name) > 1:
        return f"did you mean `{found[0]}`?"
    return None


def no_suggestion(name: str, *, called: bool) -> str | None:  # noqa: ARG001  where nothing is known of the names around
    return None
