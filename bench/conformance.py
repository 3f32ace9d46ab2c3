"""Our Rego engine against OPA's own evaluation cases.

    python -m bench.conformance --cases DIR [--json] [--filter TEXT] [--failures] [--messages]

DIR is `v1/test/cases/testdata/v1` of OPA's repository. Each case runs in a process that may die: what crashes, never
ends or takes all memory is one crashed case. An error passes by its code; with --messages its words must be OPA's too.
*core* is every case but those of graphql, JSON schema, AWS, x509, http.send, net.lookup_ip_addr, render_template and
rego.parse_module.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Final

from bench.opa_cases import Case, CasesInvalid, Outcome, Verdict, judge_error, judge_rows, load_cases, wanted_text
from engine.rego.builtins.registry import Circumstances
from engine.rego.check.capabilities import OUTSIDE
from engine.rego.errors import EvalError, RegoSyntaxError
from engine.rego.program import run_query
from engine.rego.values import UNDEFINED, Value

TIME_LIMIT_S: Final = 10.0
MEMORY_LIMIT: Final = 4 * 2**30
"""Bytes of address space for each process."""
WORKERS: Final = 2

RunQuery = Callable[[dict[str, str], Value, Value, str, bool], list[dict[str, Value]]]


def main() -> None:
    options = _options()
    try:
        cases = [case for case in load_cases(options.cases) if options.filter in f"{case.file} {case.note}"]
    except CasesInvalid as error:
        sys.exit(f"conformance: {error}")
    outcomes = run_cases(cases, our_engine, options.time_limit)
    if options.messages:
        outcomes = [_strictly_worded(outcome) for outcome in outcomes]
    if options.failures:
        _print_failures(cases, outcomes)
    figures = summary(cases, outcomes)
    if not options.json:
        for name, value in figures.items():
            print(f"{name:32} {value}")
        return
    print(json.dumps(figures))


def our_engine(modules: dict[str, str], data: Value, given: Value, query: str, strict: bool) -> list[dict[str, Value]]:
    """With what a decision is refused: the cases ask for it."""
    return run_query(modules, data, given, query, Circumstances(time.time_ns(), strict=strict), OUTSIDE)


def summary(cases: Sequence[Case], outcomes: Sequence[Outcome]) -> dict[str, int]:
    verdicts = [outcome.verdict for outcome in outcomes]
    core = [outcome.verdict for case, outcome in zip(cases, outcomes, strict=True) if case.family is None]
    worded = [outcome.message_matches for outcome in outcomes if outcome.message_matches is not None]
    return {
        "total": len(verdicts),
        "passed": verdicts.count(Verdict.PASSED),
        "failed": verdicts.count(Verdict.FAILED),
        "crashed": verdicts.count(Verdict.CRASHED),
        "core_total": len(core),
        "core_passed": core.count(Verdict.PASSED),
        "messages_total": len(worded),
        "messages_matched": worded.count(True),
    }


def run_case(case: Case, engine: RunQuery) -> Outcome:
    """In this process, for as long as it takes."""
    os.environ.update(case.env)
    try:
        given = _input(case, engine)
        return judge_rows(case, engine(dict(case.modules), case.data, given, case.query, case.strict))
    except (EvalError, RegoSyntaxError) as error:
        return judge_error(case, error)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is this case's fault alone
        return Outcome(Verdict.CRASHED, f"{type(error).__name__}: {error}")
    finally:
        for name in case.env:
            os.environ.pop(name, None)


def run_cases(cases: Sequence[Case], engine: RunQuery, time_limit: float = TIME_LIMIT_S) -> list[Outcome]:
    """Each in a process of its own or one that served before; in the order of `cases`."""
    outcomes: dict[int, Outcome] = {}
    waiting = list(range(len(cases)))[::-1]
    workers = [_Worker(cases, engine) for _ in range(min(WORKERS, len(cases)))]
    try:
        while len(outcomes) < len(cases):
            for worker in workers:
                if worker.case is None and waiting:
                    worker.start(waiting.pop())
            busy = [worker for worker in workers if worker.case is not None]
            wait([worker.pipe for worker in busy], timeout=0.1)
            for worker in busy:
                if (done := worker.outcome(time_limit)) is not None:
                    outcomes[done[0]] = done[1]
                    _progress(len(outcomes), len(cases))
    finally:
        for worker in workers:
            worker.stop()
    return [outcomes[number] for number in range(len(cases))]


class _Worker:
    """A process that runs one case at a time; another takes its place when it dies or is too late."""

    def __init__(self, cases: Sequence[Case], engine: RunQuery) -> None:
        self._cases = cases
        self._engine = engine
        self.case: int | None = None
        self._deadline_from = 0.0
        self._begin()

    def start(self, number: int) -> None:
        self.case = number
        self._deadline_from = time.monotonic()
        self.pipe.send(number)

    def outcome(self, time_limit: float) -> tuple[int, Outcome] | None:
        """Of the case that it was given, once there is one."""
        if self.case is None:
            return None
        number = self.case
        try:
            if self.pipe.poll():
                found: Outcome = self.pipe.recv()
                self.case = None
                return number, found
            if time.monotonic() - self._deadline_from < time_limit:
                return None
            why = f"no answer within {time_limit:g} s"
        except (EOFError, ConnectionError):
            self._process.join()
            why = f"the process died: exit code {self._process.exitcode}"
        self.stop()
        self.case = None
        self._begin()
        return number, Outcome(Verdict.CRASHED, why)

    def stop(self) -> None:
        self._process.kill()
        self._process.join()
        self.pipe.close()

    def _begin(self) -> None:
        self.pipe, theirs = _FORK.Pipe()
        self._process: BaseProcess = _FORK.Process(
            target=_serve, args=(self.pipe, theirs, self._cases, self._engine), daemon=True
        )
        self._process.start()
        theirs.close()


def _serve(ours: Connection[Any, Any], pipe: Connection[Any, Any], cases: Sequence[Case], engine: RunQuery) -> None:
    ours.close()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    while True:
        try:
            number = pipe.recv()
        except EOFError:
            return
        pipe.send(run_case(cases[number], engine))


def _input(case: Case, engine: RunQuery) -> Value:
    if case.input_term is not None:
        return engine({}, {}, UNDEFINED, f"x = {case.input_term}", False)[0]["x"]
    return UNDEFINED if case.input is None else case.input


def _strictly_worded(outcome: Outcome) -> Outcome:
    if outcome.verdict is Verdict.PASSED and outcome.message_matches is False:
        return replace(outcome, verdict=Verdict.FAILED)
    return outcome


def _print_failures(cases: Sequence[Case], outcomes: Sequence[Outcome]) -> None:
    for case, outcome in zip(cases, outcomes, strict=True):
        if outcome.verdict is not Verdict.PASSED:
            family = f" [{case.family}]" if case.family else ""
            print(f"{case.file} {case.index} {outcome.verdict}{family}: {case.note}")
            print(f"    wanted {wanted_text(case)}\n    came   {outcome.came}")


def _progress(done: int, total: int) -> None:
    if done % 100 == 0 or done == total:
        print(f"conformance: {done} of {total}", file=sys.stderr, flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.conformance", description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=Path, required=True, help="the folder of OPA's cases")
    parser.add_argument("--json", action="store_true", help="print one JSON object last")
    parser.add_argument("--filter", default="", help="only cases with this text in their file or note")
    parser.add_argument("--failures", action="store_true", help="list what did not pass")
    parser.add_argument("--messages", action="store_true", help="errors must have OPA's words too")
    parser.add_argument("--time-limit", type=float, default=TIME_LIMIT_S, help="seconds per case (default %(default)s)")
    return parser.parse_args()


_FORK: Final = multiprocessing.get_context("fork")


if __name__ == "__main__":
    main()
