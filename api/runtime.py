"""The composition root: every part of the server, opened in order and closed in the reverse one."""

from __future__ import annotations

import asyncio
import os
import socket
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path

from api.auth import Authenticator
from api.metrics import Metrics
from api.settings import Settings
from engine.access.keys import make_key
from engine.access.roles import Role
from engine.clock import Clock, SystemClock
from engine.decision.active import ActiveBundle
from engine.decision.desk import Desk
from engine.errors import SettingsInvalid
from engine.evaluator.compiled import CompiledEvaluator
from engine.evaluator.port import Evaluator
from engine.evaluator.regopy_pool import RegopyEvaluator
from engine.journal.waiting import LoopWaiting
from engine.journal.writer import Journal
from engine.store.opening import Store, open_store


class Runtime:
    def __init__(self, settings: Settings, clock: Clock | None = None) -> None:
        """Opens everything; a `LictorError` says what stood in the way, and nothing is left open."""
        self.settings = settings
        self._closed = False
        self.clock = clock or SystemClock()
        self.metrics = Metrics()
        self.store = open_store(settings.store_url, settings.journal)
        try:
            self.new_operator_key = first_operator_key(self.store, settings, self.clock)
            self.authenticator = Authenticator(self.store.keys)
            self.journal: Journal[asyncio.Future[None]] = Journal(
                self.store.journal, LoopWaiting(), self.clock, settings.journal
            )
            grace_s = 2 * settings.evaluator_deadline_ms / 1000
            self.active = ActiveBundle(evaluator_of(settings), self.store.bundles, self.clock, grace_s)
            self.active.start(settings.bundle, take_over=self.store.is_exclusive)
            self.journal.open()
        except BaseException:
            if hasattr(self, "active"):
                self.active.close()
            self.store.close()
            raise
        labels = {"app": "lictor", "version": version("lictor"), "id": f"{socket.gethostname()}:{os.getpid()}"}
        self._evaluations = ThreadPoolExecutor(settings.evaluator_workers, "lictor-evaluation")
        self.desk = Desk(self.active, self.journal, self.clock, {**labels}, self.metrics.answered, self._evaluations)
        self._measure()

    def close(self) -> None:
        """Writes what waits, then ends everything; safe to repeat."""
        if not self._closed:
            self._closed = True
            self.journal.close()
            self._evaluations.shutdown()
            self.active.close()
            self.store.close()

    def _measure(self) -> None:
        journal, active = self.journal, self.active
        gauge = self.metrics.gauge
        gauge("lictor_journal_lag_seconds", "Age of the oldest record that waits for the disk.", journal.lag_s)
        gauge("lictor_journal_waiting_records", "Records that wait for the disk.", journal.waiting_records)
        gauge("lictor_journal_records", "Records written by this process.", lambda: journal.counts.records)
        gauge("lictor_journal_groups", "Commits that wrote them.", lambda: journal.counts.groups)
        gauge("lictor_journal_lost_records", "Answered in relaxed mode, then not written.", lambda: journal.counts.lost)
        gauge(
            "lictor_bundle_loaded", "1 if a bundle decides; without one, all is denied.", lambda: bool(active.current)
        )
        gauge("lictor_bundle_trouble", "1 if the bundle asked for was refused.", lambda: bool(active.trouble))


def first_operator_key(store: Store, settings: Settings, clock: Clock) -> str | None:
    """The key of the first operator, if there is none yet. The file comes first: a key that nobody was told is lost."""
    if not store.keys.is_empty():
        return None
    key, record = make_key("first operator", Role.OPERATOR, "", clock.now_ns())
    if settings.is_embedded:
        _keep(key, settings.operator_key_file)
    store.keys.add(record)
    return key


def _keep(key: str, file: Path) -> None:
    """In place of a key that opens nothing: the database beside it has no keys yet."""
    try:
        file.unlink(missing_ok=True)
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
            out.write(key + "\n")
    except OSError as error:
        raise SettingsInvalid(f"{file} cannot be written: {error.strerror}") from error


def evaluator_of(settings: Settings) -> Evaluator:
    deadline_s = settings.evaluator_deadline_ms / 1000
    if settings.evaluator == "regopy":
        return RegopyEvaluator(workers=settings.evaluator_workers, deadline_s=deadline_s)
    allowed = [name.strip() for name in settings.allowed_builtins.split(",") if name.strip()]
    return CompiledEvaluator(deadline_s=deadline_s, steps=settings.evaluator_steps, allowed_builtins=allowed)
