"""The evaluator port on regopy: a pool of worker subprocesses with deadlines.

Lives here: which worker answers, when one is replaced, and what a fault is called. regopy itself is in the worker; what
it cannot read exactly is refused before it gets there (`exact_text`, `rego_scan`).
"""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass
from typing import Final

from engine import jsontext
from engine.bundle.content import Bundle, Module
from engine.contracts.entrypoints import ENTRYPOINTS
from engine.errors import BundleInvalid, EvaluationFailed, LictorError, Problem
from engine.evaluator.exact_text import Segment, exact_text, reference, segments_of
from engine.evaluator.frames import FrameError
from engine.evaluator.handing_out import HandingOut
from engine.evaluator.port import (
    FAULT_CODES,
    Defined,
    Evaluation,
    EvaluationError,
    NoInput,
    Question,
    Undefined,
)
from engine.evaluator.rego_scan import cuts_strings, input_mocks, position, problems_of
from engine.evaluator.regopy_process import WorkerDiedError, WorkerProcess, WorkerTimeoutError

FAST_PATHS: Final = (*ENTRYPOINTS, "system/log/mask")
"""Compiled once, when the bundle is loaded; any other path compiles on its first question to a worker."""

_ALARM_MARGIN_S: Final = 0.25
"""The worker's own alarm goes off after our deadline: it is for a worker whose parent is gone."""
_START_S: Final = 20.0
_BACKOFF_S: Final = (0.0, 0.1, 0.5, 2.0, 10.0)
_CLOSE_S: Final = 5.0
_MAX_ANSWER_DEPTH: Final = 300


@dataclass(frozen=True, slots=True)
class Limits:
    deadline_s: float
    wait_s: float
    """How long a question waits for a free worker."""
    load_s: float


class RegopyEvaluator:
    def __init__(self, *, workers: int = 2, deadline_s: float = 1.0, wait_s: float = 1.0, load_s: float = 20.0) -> None:
        self._workers = workers
        self._limits = Limits(deadline_s, wait_s, load_s)

    def load(self, bundle: Bundle) -> RegopyPolicy:
        data, unreadable = exact_text(bundle.data, "data")
        problems = [Problem("data_unreadable", str(fault)) for fault in unreadable]
        for module in bundle.modules:
            problems += problems_of(module)
        started: list[WorkerProcess] = []
        try:
            # All at once: they import regopy side by side while the first one has its word on the bundle.
            started.extend(WorkerProcess() for _ in range(self._workers))
            load = _load_frame(bundle, "{}" if unreadable else data, self._limits.load_s)
            _check([*problems, *_load_problems(bundle, started[0], load, self._limits.load_s)])
            for worker in started[1:]:
                _load(worker, load, self._limits.load_s)
            return RegopyPolicy(started, load, self._limits)
        except BaseException:
            for worker in started:
                worker.dispose()
            raise


class RegopyPolicy:
    """A bundle in several workers. Whoever takes a worker from `_free` gives it back or replaces it."""

    def __init__(self, workers: list[WorkerProcess], load: bytes, limits: Limits) -> None:
        self._load = load
        self._limits = limits
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._workers = set(workers)
        self._replacing: set[threading.Thread] = set()
        self._gone = threading.Condition(self._lock)
        self._free: HandingOut[WorkerProcess] = HandingOut()
        for worker in workers:
            self._free.put(worker)

    @property
    def blocking(self) -> bool:
        return True

    @property
    def pids(self) -> tuple[int, ...]:
        """The workers that run now, for those who watch or test them."""
        with self._lock:
            return tuple(worker.pid for worker in self._workers)

    def evaluate(self, question: Question) -> Evaluation:
        segments = segments_of(question.path)
        refusal = _refused_path(segments)
        text = ""
        if refusal is None and not isinstance(question.input, NoInput):
            text, unreadable = exact_text(question.input, "input")
            refusal = str(unreadable[0]) if unreadable else None
        if refusal is not None:
            return EvaluationError("evaluator_input", refusal)
        worker = self._take()
        if isinstance(worker, EvaluationError):
            return worker
        return self._ask(worker, _ask_frame(segments, text, self._limits.deadline_s))

    def close(self) -> None:
        """Ends every worker. A question that is being answered gets `evaluator_died`."""
        self._closed.set()
        with self._lock:
            for worker in self._workers:
                worker.kill()
            replacing = tuple(self._replacing)
        while (idle := self._free.take()) is not None:
            self._dispose(idle)
        for thread in replacing:
            thread.join(_CLOSE_S)
        with self._gone:
            self._gone.wait_for(lambda: not self._workers, _CLOSE_S)

    def _take(self) -> WorkerProcess | EvaluationError:
        until = time.monotonic() + self._limits.wait_s
        while True:
            if self._closed.is_set():
                return EvaluationError("evaluator_died", "the policy is closed")
            worker = self._free.take(until - time.monotonic())
            if worker is None:
                return EvaluationError("evaluator_busy", f"{FAULT_CODES['evaluator_busy']}; ask again or add workers")
            if worker.alive():
                return worker
            self._replace(worker)

    def _ask(self, worker: WorkerProcess, payload: bytes) -> Evaluation:
        try:
            answer = worker.ask(payload, self._limits.deadline_s)
        except WorkerTimeoutError:
            self._replace(worker)
            return EvaluationError("evaluator_timeout", f"stopped after {self._limits.deadline_s} s")
        except WorkerDiedError:
            self._replace(worker)
            return EvaluationError("evaluator_died", f"the worker ended with {worker.end()}")
        except FrameError as error:
            self._replace(worker)
            return EvaluationError("evaluator_input", str(error))
        except BaseException:
            self._replace(worker)
            raise
        self._give_back(worker)
        return _evaluation(answer)

    def _give_back(self, worker: WorkerProcess) -> None:
        if self._closed.is_set():
            self._dispose(worker)
            return
        self._free.put(worker)
        if self._closed.is_set() and (idle := self._free.take()) is not None:
            self._dispose(idle)

    def _dispose(self, worker: WorkerProcess) -> None:
        worker.dispose()
        with self._gone:
            self._workers.discard(worker)
            self._gone.notify_all()

    def _replace(self, worker: WorkerProcess) -> None:
        """A new worker is made in a thread, so that the answer about the old one need not wait for it."""
        self._dispose(worker)
        thread = threading.Thread(target=self._start_another, name="regopy-replace", daemon=True)
        with self._lock:
            if self._closed.is_set():
                return
            self._replacing.add(thread)
            thread.start()

    def _start_another(self) -> None:
        try:
            attempt = 0
            while not self._closed.wait(_BACKOFF_S[min(attempt, len(_BACKOFF_S) - 1)]):
                if self._started_one():
                    return
                attempt += 1
        finally:
            with self._lock:
                self._replacing.discard(threading.current_thread())

    def _started_one(self) -> bool:
        try:
            worker = self._new_worker()
        except OSError:
            return False
        if worker is None:
            return False
        try:
            _load(worker, self._load, self._limits.load_s)
        except LictorError:
            self._dispose(worker)
            return False
        self._give_back(worker)
        return True

    def _new_worker(self) -> WorkerProcess | None:
        """None once the policy is closed: under the lock, so that `close` sees every worker that it must end."""
        with self._lock:
            if self._closed.is_set():
                return None
            worker = WorkerProcess()
            self._workers.add(worker)
            return worker


def _load_frame(bundle: Bundle, data: str, load_s: float) -> bytes:
    header = {
        "modules": [module.source for module in bundle.modules],
        "data": data,
        "keys": list(bundle.data),
        "entrypoints": FAST_PATHS,
        "escapes": not cuts_strings(bundle.modules),
        "alarm_s": load_s + _ALARM_MARGIN_S,
    }
    return b"L" + json.dumps(header).encode()


def _ask_frame(segments: tuple[Segment, ...], text: str, deadline_s: float) -> bytes:
    header = {"segments": segments, "alarm_s": deadline_s + _ALARM_MARGIN_S}
    return b"A" + json.dumps(header).encode() + b"\n" + text.encode()


def _load(worker: WorkerProcess, load: bytes, load_s: float) -> bytes:
    """The worker's report on the bundle. What stops a load is never the policy's answer: an exception."""
    try:
        worker.hello(_START_S)
    except (WorkerDiedError, WorkerTimeoutError) as error:
        worker.dispose()
        raise EvaluationFailed(
            f"regopy's worker cannot be started ({worker.end()}); is `lictor[server]` installed?"
        ) from error
    try:
        return worker.ask(load, load_s)
    except WorkerTimeoutError as error:
        raise _one_problem("evaluator_timeout", f"regopy did not compile the bundle within {load_s} s") from error
    except FrameError as error:
        raise _one_problem("too_large", f"the bundle is too large for regopy's worker: {error}") from error
    except WorkerDiedError as error:
        worker.dispose()
        raise _one_problem("evaluator_died", f"regopy's compiler ended with {worker.end()} on this bundle") from error


def _load_problems(bundle: Bundle, worker: WorkerProcess, load: bytes, load_s: float) -> list[Problem]:
    try:
        report = _load(worker, load, load_s)
    except BundleInvalid as error:
        mocks = [mock for module in bundle.modules for mock in input_mocks(module)]
        return [*error.problems, *(mocks if error.problems[0].code == "evaluator_died" else ())]
    problems = [
        _parse_problem(bundle.modules[index] if index is not None else None, offset, message)
        for index, offset, message in json.loads(report[1:])
    ]
    return list(dict.fromkeys(problems))


def _parse_problem(module: Module | None, byte_offset: int, message: str) -> Problem:
    if module is None:
        return Problem("rego_compile_error", message)
    offset = len(module.source.encode()[:byte_offset].decode(errors="ignore"))
    return Problem("rego_parse_error", message, module.path, *position(module.source, offset))


def _one_problem(code: str, message: str) -> BundleInvalid:
    return BundleInvalid(message, [Problem(code, message)])


def _check(problems: list[Problem]) -> None:
    if not problems:
        return
    more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
    raise BundleInvalid(f"the bundle cannot be loaded: {problems[0]}{more}", problems)


def _refused_path(segments: tuple[Segment, ...]) -> str | None:
    try:
        reference(segments)
    except ValueError as error:
        return str(error)
    return None


def _evaluation(answer: bytes) -> Evaluation:
    match answer[:1]:
        case b"V":
            return _defined(answer[1:])
        case b"U":
            return Undefined()
        case b"E":
            code, message = json.loads(answer[1:])
            return EvaluationError(code, message)
        case kind:
            return EvaluationError("evaluator_output", f"the worker answered an unknown frame {kind!r}")


def _defined(text: bytes) -> Evaluation:
    try:
        return Defined(jsontext.parse(text, what="answer", max_depth=_MAX_ANSWER_DEPTH))
    except LictorError as error:
        return EvaluationError("evaluator_output", error.message)
