"""Every exception of Lictor, in one tree, each with a code that callers may rely on.

    LictorError
    ├── BadRequest                 what came from outside is wrong; nothing was changed
    │   ├── InvalidParameter         invalid_parameter      a value is of the wrong type, form or range
    │   ├── MalformedJson            malformed_json         the text is not JSON
    │   ├── TooLarge                 too_large              over a limit of size, depth or count
    │   └── NotFound                 resource_not_found     no such thing, or not for this identity
    ├── AccessRefused
    │   ├── Unauthenticated          unauthorized           no key, or none that we know
    │   └── Forbidden                forbidden              the identity's role does not include this
    ├── Overloaded                   overloaded             too many questions wait for an evaluator; try again
    ├── EvaluationFailed             internal_error         a plain data path could not be evaluated
    ├── BundleInvalid                bundle_invalid         the bundle is missing or broken; `problems` says where
    ├── SettingsInvalid              settings_invalid       a setting is unknown or has a wrong value
    └── StoreError
        ├── StoreUnavailable         store_unavailable      the store does not answer; try again
        ├── StoreLocked              store_locked           another process owns this SQLite file
        ├── StoreOutdated            store_outdated         the schema is older than this program
        ├── StoreNewer               store_newer            the schema is newer than this program
        ├── StoreDamaged             store_damaged          a stored record cannot be read; `lictor decisions verify`
        └── JournalOverloaded        journal_overloaded     too many records wait for the disk; try again

A refusal is not here: it is a value (`engine.decision`). Only `api.errors` knows HTTP.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault at one place, as OPA reports it in `errors`."""

    code: str
    message: str
    file: str = ""
    row: int = 0
    col: int = 0
    excerpt: str = ""
    """The line itself with the place marked, and perhaps a hint: for people."""

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.row, self.col) if part)
        return f"{place}: {self.code}: {self.message}" if place else f"{self.code}: {self.message}"


class LictorError(Exception):
    """Something that should not happen, with a code, a message that says what to do, and its single problems."""

    code: ClassVar[str]

    def __init__(self, message: str, problems: Sequence[Problem] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.problems = tuple(problems)


class BadRequest(LictorError):
    pass


class InvalidParameter(BadRequest):
    code = "invalid_parameter"


class MalformedJson(BadRequest):
    code = "malformed_json"


class TooLarge(BadRequest):
    code = "too_large"


class NotFound(BadRequest):
    code = "resource_not_found"


class AccessRefused(LictorError):
    pass


class Unauthenticated(AccessRefused):
    code = "unauthorized"


class Forbidden(AccessRefused):
    code = "forbidden"


class Overloaded(LictorError):
    code = "overloaded"


class EvaluationFailed(LictorError):
    code = "internal_error"


class BundleInvalid(LictorError):
    code = "bundle_invalid"


class SettingsInvalid(LictorError):
    code = "settings_invalid"


class StoreError(LictorError):
    pass


class StoreUnavailable(StoreError):
    code = "store_unavailable"


class StoreLocked(StoreError):
    code = "store_locked"


class StoreOutdated(StoreError):
    code = "store_outdated"


class StoreNewer(StoreError):
    code = "store_newer"


class StoreDamaged(StoreError):
    code = "store_damaged"


class JournalOverloaded(StoreError):
    code = "journal_overloaded"
