"""What an auditor may ask for: filters, a cursor, a page."""

from __future__ import annotations

from dataclasses import dataclass

from engine.errors import InvalidParameter
from engine.journal.record import StoredRecord

MAX_PAGE = 500
MAX_FILTER = 256


@dataclass(frozen=True, slots=True)
class Cursor:
    """The last record of a page: the next page begins after it. To its holder it is only a word."""

    time_ns: int
    id: int

    def __str__(self) -> str:
        return f"{self.time_ns:x}-{self.id:x}"

    @classmethod
    def parse(cls, text: str) -> Cursor:
        time_ns, separator, row = text.partition("-")
        try:
            cursor = cls(int(time_ns, 16), int(row, 16))
        except ValueError:
            cursor = cls(-1, -1)
        if not separator or not (0 <= cursor.time_ns < 2**63 and 0 <= cursor.id < 2**63):
            raise InvalidParameter("cursor: not one that a page gave; leave it out to begin at the newest")
        return cursor


@dataclass(frozen=True, slots=True)
class Filters:
    """All that are given must hold. Times are nanoseconds: `since` inclusive, `until` exclusive."""

    tenant: str | None = None
    action: str | None = None
    outcome: str | None = None
    reason: str | None = None
    subject: str | None = None
    path: str | None = None
    text: str | None = None
    since_ns: int | None = None
    until_ns: int | None = None

    def __post_init__(self) -> None:
        for name in ("tenant", "action", "outcome", "reason", "subject", "path", "text"):
            value = getattr(self, name)
            if value is not None and not 0 < len(value) <= MAX_FILTER:
                raise InvalidParameter(f"{name}: give 1 to {MAX_FILTER} characters, not {len(value)}")
            if value is not None and "\x00" in value:
                raise InvalidParameter(f"{name}: has a NUL character, which no record can have")
        if self.since_ns is not None and self.until_ns is not None and self.since_ns >= self.until_ns:
            raise InvalidParameter("since: must be earlier than until")


@dataclass(frozen=True, slots=True)
class Page:
    records: list[StoredRecord]
    """Newest first."""
    next: Cursor | None
