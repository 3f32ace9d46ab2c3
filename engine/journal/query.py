"""What an auditor may ask for: filters, a cursor, a page."""

from __future__ import annotations

from dataclasses import dataclass

from engine.clock import parse_rfc3339
from engine.errors import InvalidParameter
from engine.journal.record import StoredRecord
from engine.journal.words import plain_words

MAX_PAGE = 500
MAX_FILTER = 256
OUTCOMES = ("allow", "queue", "deny", "answered", "undefined", "error")


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
            if value is not None:
                _require_text(name, value)
        if self.outcome is not None and self.outcome not in OUTCOMES:
            raise InvalidParameter(f"outcome: {self.outcome!r} is not one of {', '.join(OUTCOMES)}")
        if self.text is not None and not plain_words(self.text):
            raise InvalidParameter("text: has no word to look for")
        if self.since_ns is not None and self.until_ns is not None and self.since_ns >= self.until_ns:
            raise InvalidParameter("since: must be earlier than until")

    @classmethod
    def of(cls, since: str | None = None, until: str | None = None, **words: str | None) -> Filters:
        """From what people write: times as RFC 3339."""
        return cls(since_ns=_moment("since", since), until_ns=_moment("until", until), **words)


def _require_text(name: str, value: str) -> None:
    if not 0 < len(value) <= MAX_FILTER:
        raise InvalidParameter(f"{name}: give 1 to {MAX_FILTER} characters, not {len(value)}")
    if "\x00" in value or not value.isprintable():
        raise InvalidParameter(f"{name}: has a character that no record is filed under")


def _moment(name: str, text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return parse_rfc3339(text)
    except ValueError as error:
        raise InvalidParameter(f"{name}: {text!r} is not a time; write it as 2026-01-31T12:00:00Z") from error


@dataclass(frozen=True, slots=True)
class Page:
    records: list[StoredRecord]
    """Newest first."""
    next: Cursor | None
