"""How much one call of a builtin may make: beyond that it is an error, not an empty memory."""

from __future__ import annotations

from typing import Final

from engine.rego.errors import BuiltinError

MAX_TEXT: Final = 16 * 1024 * 1024
"""Characters of one result."""
MAX_RESULTS: Final = 1_000_000
"""Elements of one result, at all depths."""


def bounded_length(name: str, length: int) -> None:
    if length > MAX_TEXT:
        raise BuiltinError(f"{name}: the result would have more than {MAX_TEXT} characters")


def bounded_results(name: str, count: int) -> None:
    if count > MAX_RESULTS:
        raise BuiltinError(f"{name}: the result would have more than {MAX_RESULTS} elements")
