"""The evaluator port on our own engine: a bundle compiled to Python, evaluated in the thread that asks."""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Mapping
from typing import Final

from engine.bundle.content import Bundle
from engine.errors import BundleInvalid, Problem, SettingsInvalid
from engine.evaluator.port import (
    FAULT_CODES,
    Defined,
    Evaluation,
    EvaluationError,
    NoInput,
    Question,
    Undefined,
)
from engine.rego.builtins.registry import Circumstances
from engine.rego.check.excerpt import excerpt
from engine.rego.errors import EvalError, RegoProblem, RegoSyntaxError
from engine.rego.program import Compiled, Limits, compile_modules
from engine.rego.run.plain import plain
from engine.rego.run.query import OverBudget, OverDeadline
from engine.rego.run.watchdog import TooLate, in_time
from engine.rego.values import UNDEFINED, Frozen, Value

log = logging.getLogger("lictor.evaluator")

LOAD_S: Final = 30.0
DEFAULT_STEPS: Final = 10_000_000
PERMISSIBLE: Final = frozenset({"opa.runtime"})
"""What reaches outside and can be permitted. Nothing here asks the network, with or without a permission."""


class CompiledEvaluator:
    def __init__(
        self, *, deadline_s: float = 1.0, steps: int = DEFAULT_STEPS, allowed_builtins: Collection[str] = ()
    ) -> None:
        self._limits = Limits(steps, deadline_s)
        self._allowed = frozenset(allowed_builtins)
        if unknown := self._allowed - PERMISSIBLE:
            names, known = ", ".join(sorted(unknown)), ", ".join(sorted(PERMISSIBLE))
            raise SettingsInvalid(f"allowed_builtins: {names} cannot be permitted; expected: {known}")

    def load(self, bundle: Bundle) -> CompiledPolicy:
        sources = {module.path: module.source for module in bundle.modules}
        tests = {module.path: module.source for module in bundle.tests}

        def compiled() -> Compiled:
            return compile_modules(sources, bundle.data, tests=tests, with_origins=True, allowed=self._allowed)

        try:
            program = in_time(LOAD_S, compiled)
        except TooLate as error:
            raise BundleInvalid(
                f"the rules took more than {LOAD_S:.0f} s to compile; split or simplify them"
            ) from error
        except RegoSyntaxError as error:
            raise _invalid(error, {**sources, **tests}) from error
        environment: dict[Frozen, Value] = {"env": dict(os.environ)} if "opa.runtime" in self._allowed else {}
        return CompiledPolicy(program, self._limits, environment)


class CompiledPolicy:
    """Shared by threads as it is: an evaluation keeps what it needs to itself."""

    def __init__(self, program: Compiled, limits: Limits, runtime: dict[Frozen, Value] | None = None) -> None:
        """`runtime` is what `opa.runtime` answers, if it may be called."""
        self._runtime = runtime or {}
        self._program = program
        self._limits = limits

    @property
    def blocking(self) -> bool:
        return False

    @property
    def source(self) -> str:
        """The Python that the rules became."""
        return self._program.source

    def evaluate(self, question: Question) -> Evaluation:
        given = UNDEFINED if isinstance(question.input, NoInput) else question.input
        circumstances = Circumstances(question.time_ns, question.seed, runtime=self._runtime)
        path = [part for part in question.path.split("/") if part]
        try:
            found = self._program.evaluate(path, given, circumstances, self._limits, plain)
        except OverDeadline:
            return EvaluationError("evaluator_timeout", FAULT_CODES["evaluator_timeout"])
        except OverBudget as error:
            return EvaluationError("evaluator_budget", error.message)
        except EvalError as error:
            place = f"{error.location}: " if error.location is not None else ""
            return EvaluationError(error.code, f"{place}{error.message}")
        except Exception as error:
            log.exception("the evaluator failed", extra={"path": question.path})
            return EvaluationError("evaluator_failed", f"{FAULT_CODES['evaluator_failed']} ({type(error).__name__})")
        return Undefined() if found.value is UNDEFINED else Defined(found.value, found.origins.of_value)

    def close(self) -> None:
        """Nothing to end: no process, no thread."""


def _invalid(error: RegoSyntaxError, sources: Mapping[str, str]) -> BundleInvalid:
    count = len(error.problems)
    problems = [_problem(each, sources) for each in error.problems]
    return BundleInvalid(f"{count} problem{'s' if count != 1 else ''} in the rules", problems)


def _problem(problem: RegoProblem, sources: Mapping[str, str]) -> Problem:
    at = problem.location
    return Problem(problem.code, problem.message, at.file, at.row, at.col, excerpt(problem, sources.get(at.file, "")))
