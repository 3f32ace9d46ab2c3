"""Modules in, a program out: parsed, checked, compiled once, and evaluated as often as one likes, from any thread."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from engine.rego.builtins.registry import Circumstances
from engine.rego.check.data_conflicts import data_conflicts
from engine.rego.check.stages import check, check_query
from engine.rego.code.linking import Linker
from engine.rego.errors import RegoProblem, RegoSyntaxError
from engine.rego.run.origins import Origins
from engine.rego.run.query import Budget, OverBudget, OverDeadline, Program, Query
from engine.rego.run.watchdog import TooLate, in_time
from engine.rego.syntax.parser import parse_module, parse_query
from engine.rego.syntax.tree import Module, Rule
from engine.rego.values import UNDEFINED, Value, get


@dataclass(frozen=True, slots=True)
class Limits:
    steps: int = 10_000_000
    """Elements of loops and calls of functions."""
    seconds: float = math.inf


@dataclass(frozen=True, slots=True)
class Evaluated:
    value: Value
    """UNDEFINED if there is none."""
    origins: Origins
    """Empty unless the program was compiled to keep them."""


UNLIMITED: Final = Limits()
NO_MODULES: Final[Mapping[str, str]] = {}
TOO_DEEP: Final = "rules or values are nested more deeply than the budget allows"


def _as_it_is(value: Value) -> Value:
    return value


class Compiled:
    """A program with the data that it runs on. Safe to share: an evaluation changes nothing here."""

    def __init__(self, program: Program, data: Value, source: str) -> None:
        self._program = program
        self._data = data
        self.source = source
        """The Python that the rules became."""

    def evaluate(
        self,
        path: Sequence[str],
        given: Value = UNDEFINED,
        circumstances: Circumstances | None = None,
        limits: Limits = UNLIMITED,
        finish: Callable[[Value], Value] = _as_it_is,
    ) -> Evaluated:
        """The document at a path below `data`. EvalError if there is no answer.

        `finish` is what is to be done with a value that is there, within the same limits.
        """
        budget = Budget(limits.steps)
        query = Query(self._program, given, self._data, circumstances or Circumstances(), budget)

        def work() -> Value:
            found = _document(query, path)
            return found if found is UNDEFINED else finish(found)

        try:
            value = in_time(limits.seconds, work)
        except TooLate as error:
            raise OverDeadline("the evaluation took longer than its deadline allows") from error
        except (RecursionError, MemoryError) as error:
            raise OverBudget(TOO_DEEP) from error
        return Evaluated(value, Origins(self._program.paths, query.where, query.sets))


def compile_modules(
    modules: Mapping[str, str],
    data: Value,
    *,
    tests: Mapping[str, str] = NO_MODULES,
    with_origins: bool = False,
    allowed: Collection[str] = (),
) -> Compiled:
    """`modules` by file. `tests` are checked with them and left out of the program.

    `allowed` are builtins that are refused otherwise. RegoSyntaxError with all that is wrong.
    """
    parsed = parse_all({**modules, **tests})
    rules = [rule for rule in _checked(parsed, allowed) if rule.location.file not in tests]
    if conflicts := list(data_conflicts(rules, data)):
        raise RegoSyntaxError(conflicts)
    linker = Linker(with_origins)
    linker.link(rules, [module.package for module in parsed if module.file not in tests])
    return Compiled(linker.program, data, "\n\n\n".join(linker.source))


def run_query(
    modules: Mapping[str, str],
    data: Value,
    given: Value,
    query: str,
    circumstances: Circumstances | None = None,
    allowed: Collection[str] = (),
) -> list[dict[str, Value]]:
    """The bindings of the query's variables, one dict a solution."""
    parsed = parse_all(modules)
    rules = _checked(parsed, allowed)
    asked = check_query(parse_query(query), rules, allowed)
    if asked.problems:
        raise RegoSyntaxError(asked.problems)
    linker = Linker()
    linker.link(rules, [module.package for module in parsed], [asked.body])
    run = linker.query(asked.body, asked.variables)
    try:
        return run(Query(linker.program, given, data, circumstances or Circumstances(), Budget()))
    except RecursionError as error:
        raise OverBudget(TOO_DEEP) from error


def _checked(parsed: Sequence[Module], allowed: Collection[str]) -> Sequence[Rule]:
    checked = check(parsed, allowed)
    if checked.problems:
        raise RegoSyntaxError(checked.problems)
    return checked.rules


def parse_all(modules: Mapping[str, str]) -> list[Module]:
    """All of them, or all that is wrong with any."""
    parsed, problems = [], list[RegoProblem]()
    for file, source in modules.items():
        try:
            parsed.append(parse_module(source, file))
        except RegoSyntaxError as error:
            problems.extend(error.problems)
    if problems:
        raise RegoSyntaxError(problems)
    return parsed


def _document(query: Query, path: Sequence[str]) -> Value:
    node = query.program.root
    for used, part in enumerate(path):
        if node.document is not None:
            return _below(query.document(node.document), path[used:])
        if part not in node.children:
            return _below(query.base(node.path), path[used:])
        node = node.children[part]
    return UNDEFINED if node.function is not None else query.whole(node)


def _below(value: Value, path: Sequence[str]) -> Value:
    for part in path:
        if value is UNDEFINED:
            return UNDEFINED
        value = get(value, int(part) if type(value) is list and part.isdecimal() else part)
    return value
