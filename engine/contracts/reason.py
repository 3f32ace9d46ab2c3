"""A reason: why a decision is what it is, and whether authority, capacity or a fault stood in the way."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from engine.contracts.model import Contract

CODE_PATTERN = r"^[a-z][a-z0-9_]{1,63}$"
MESSAGE_LENGTH = 2000

ReasonCode = Annotated[str, Field(pattern=CODE_PATTERN)]


class ReasonKind(StrEnum):
    AUTHORITY = "authority"
    """The rules forbid it: more hardware would not help."""
    CAPACITY = "capacity"
    """The rules permit it; slots are missing now."""
    FAULT = "fault"
    """The rules could not be asked, so the answer is no."""


class Reason(Contract):
    code: ReasonCode
    kind: Annotated[ReasonKind, Field(strict=False)]
    message: Annotated[str, Field(min_length=1, max_length=MESSAGE_LENGTH)]
    remedy: str | None = None
    """What would be admitted instead; verified by deciding again, attached after evaluation."""
    rule: str | None = None
    """`file:line` of the rule that gave the reason; attached after evaluation."""
