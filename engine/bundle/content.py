"""A bundle in memory: immutable, identified by the digest of its files."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from engine.jsontext import JsonValue


@dataclass(frozen=True, slots=True)
class Module:
    path: str
    """Relative to the bundle's root, with forward slashes."""
    source: str

    @property
    def is_test(self) -> bool:
        return self.path.endswith("_test.rego")


@dataclass(frozen=True, slots=True)
class Bundle:
    revision: str
    digest: str
    """`sha256:…` over every file of the bundle."""
    roots: tuple[str, ...]
    modules: tuple[Module, ...]
    """The rules, sorted by path; tests are apart, so that they never reach a decision."""
    tests: tuple[Module, ...]
    data: dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class PackedBundle:
    """A bundle as it is kept: every file, in one archive."""

    digest: str
    revision: str
    archive: bytes
    """A `.tar.gz`."""


def digest_of(files: Mapping[str, bytes]) -> str:
    """Independent of the order of files and of the archive's own form."""
    whole = hashlib.sha256()
    for path in sorted(files):
        whole.update(f"{len(path.encode())}:{path}{len(files[path])}:".encode())
        whole.update(files[path])
    return f"sha256:{whole.hexdigest()}"
