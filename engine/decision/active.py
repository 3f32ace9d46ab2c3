"""The bundle that decides now. A broken one never replaces a good one; with none at all, everything is denied."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from engine.bundle.content import Bundle, PackedBundle
from engine.bundle.files import pack, read_files, unpack
from engine.bundle.source import bundle_of, package_of
from engine.clock import Clock
from engine.errors import BundleInvalid
from engine.evaluator.port import Evaluator, Policy
from engine.journal.mask import MASK_PATH

log = logging.getLogger("lictor.bundle")


class BundleShelf(Protocol):
    """Where bundles that loaded are kept, and which of them is active."""

    def activate(self, bundle: PackedBundle, now_ns: int) -> None: ...

    def active_digest(self) -> str | None: ...

    def active(self) -> PackedBundle | None: ...


@dataclass(frozen=True, slots=True)
class LoadedBundle:
    bundle: Bundle
    policy: Policy
    masks: bool
    """Whether it has a say in what the journal remembers (`data.system.log.mask`)."""


class ActiveBundle:
    def __init__(self, evaluator: Evaluator, shelf: BundleShelf, clock: Clock, grace_s: float = 0.0) -> None:
        """`grace_s`: how long a decision may still hold a policy that was replaced."""
        self._evaluator = evaluator
        self._shelf = shelf
        self._clock = clock
        self._grace_s = grace_s
        self._lock = threading.Lock()
        self._closed = False
        self._retired: list[tuple[float, Policy]] = []
        self._refused: str | None = None
        """The stored bundle that could not be loaded here: once is enough to know."""
        self.current: LoadedBundle | None = None
        self.trouble: BundleInvalid | None = None
        """Why the bundle that was asked for is not the one that decides."""

    def start(self, source: Path, *, take_over: bool = True) -> None:
        """Load the bundle at `source` and make it the active one; if it is broken, the last good one stays.

        Without `take_over` a bundle that is active already stays too: a replica that restarts with an old file must not
        move the whole fleet back to it.
        """
        if not take_over:
            self.follow()
            if self.current is not None:
                return
        try:
            self.activate(source)
        except BundleInvalid as error:
            log.error("bundle refused", extra={"error": _sentence(error)})  # noqa: TRY400
            self.follow()
            self.trouble = error

    def activate(self, source: Path) -> None:
        files = read_files(source)
        loaded = self._load(bundle_of(files, str(source)))
        if self._shelf.active_digest() != loaded.bundle.digest:
            packed = PackedBundle(loaded.bundle.digest, loaded.bundle.revision, pack(files))
            try:
                self._shelf.activate(packed, self._clock.now_ns())
            except BaseException:
                loaded.policy.close()
                raise
        self._replace(loaded)
        self.trouble = None

    def follow(self) -> None:
        """Load the active bundle of the store, if another replica has changed it."""
        self._close_retired()
        digest = self._shelf.active_digest()
        if digest is None or digest == self._refused or (self.current and self.current.bundle.digest == digest):
            return
        packed = self._shelf.active()
        if packed is None:
            return
        try:
            self._replace(self._load(_unpacked(packed)))
            self.trouble = None
        except BundleInvalid as error:
            self.trouble, self._refused = error, digest
            log.error("stored bundle refused", extra={"error": _sentence(error)})  # noqa: TRY400

    def close(self) -> None:
        with self._lock:
            self._closed = True
            current, self.current = self.current, None
        for _, policy in self._retired:
            policy.close()
        if current is not None:
            current.policy.close()

    def _load(self, bundle: Bundle) -> LoadedBundle:
        return LoadedBundle(bundle, self._evaluator.load(bundle), _masks(bundle))

    def _replace(self, loaded: LoadedBundle) -> None:
        with self._lock:
            if self._closed:
                loaded.policy.close()
                return
            if self.current is not None:
                self._retired.append((time.monotonic(), self.current.policy))
            self.current = loaded
        log.info("bundle active", extra={"revision": loaded.bundle.revision, "digest": loaded.bundle.digest})

    def _close_retired(self) -> None:
        """Those that no decision can hold any more."""
        due = time.monotonic() - self._grace_s
        while self._retired and self._retired[0][0] <= due:
            self._retired.pop(0)[1].close()


def _masks(bundle: Bundle) -> bool:
    """A rule of any package above or below it, or plain data, can define the mask: to miss one would leak secrets."""
    mask = tuple(MASK_PATH.split("/"))
    packages = [package_of(module.source) or () for module in bundle.modules]
    return mask[0] in bundle.data or any(_overlap(package, mask) for package in packages)


def _overlap(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    shared = min(len(one), len(other))
    return one[:shared] == other[:shared]


def _unpacked(packed: PackedBundle) -> Bundle:
    bundle = bundle_of(unpack(packed.archive, packed.revision), packed.revision)
    if bundle.digest != packed.digest:
        raise BundleInvalid(f"bundle {packed.revision} in the store is not the one that was put there: {packed.digest}")
    return bundle


def _sentence(error: BundleInvalid) -> str:
    return "; ".join([error.message, *(str(problem) for problem in error.problems[:10])])
