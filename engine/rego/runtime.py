"""What compiled rules call while they run: the query with its memo and budget, lookups, iteration, results."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NoReturn

from engine.rego.builtins.registry import Circumstances
from engine.rego.errors import BuiltinError, EvalError, Location
from engine.rego.values import (
    UNDEFINED,
    Frozen,
    RegoSet,
    Value,
    equal,
    freeze,
    get,
    keys_of,
    sort_values,
    thaw,
)

STEPS_PER_LOOK: Final = 4_096
"""How often the clock is read: an evaluation ends within so many steps after its deadline."""


@dataclass(slots=True)
class Budget:
    """Shared by a query and everything that `with` derives from it."""

    steps: int = 10_000_000
    deadline: float | None = None
    """On the clock of `time.monotonic`."""
    depth: int = 0
    max_depth: int = 400

    def spend(self) -> None:
        """Called by `tick` each time that a slice is used up."""
        if self.steps <= 0:
            raise EvalError("eval_cancel_error", "the evaluation took more steps than its budget allows")
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise EvalError("eval_cancel_error", "the evaluation took longer than its deadline allows")


class Node:
    """A place below `data`: what rules define here, and what lies below."""

    __slots__ = ("children", "document", "function", "is_package", "path")

    def __init__(self, path: tuple[str, ...]) -> None:
        self.path = path
        self.children: dict[str, Node] = {}
        self.document: int | None = None
        self.function: int | None = None
        self.is_package = False
        """A module says that it is one: it is an object, if an empty one."""


Document = Callable[["Query"], Value]


@dataclass(slots=True)
class Program:
    """Compiled rules, shared by all queries and threads."""

    root: Node = field(default_factory=lambda: Node(()))
    documents: list[Document] = field(default_factory=list)
    paths: list[tuple[str, ...]] = field(default_factory=list)
    """Of each document."""


class Query:
    """One evaluation: input and data, what is known already, and what may still be spent."""

    __slots__ = ("budget", "circumstances", "data", "input", "left", "memo", "mocks", "program")

    def __init__(
        self, program: Program, given: Value, data: Value, circumstances: Circumstances, budget: Budget
    ) -> None:
        self.program = program
        self.input = given
        self.data = data
        self.circumstances = circumstances
        self.budget = budget
        self.memo: dict[object, Value] = {}
        self.mocks: dict[str, Value | Callable[..., Value]] = {}
        self.left = STEPS_PER_LOOK

    def tick(self) -> None:
        """One step of a loop or a call."""
        self.left -= 1
        if self.left <= 0:
            self.left = STEPS_PER_LOOK
            self.budget.steps -= STEPS_PER_LOOK
            self.budget.spend()

    def document(self, number: int) -> Value:
        """The value of a rule, evaluated once."""
        value = self.memo.get(number)
        if value is None:
            value = self._evaluate(number)
            self.memo[number] = value
        return None if value is _NULL else value

    def _evaluate(self, number: int) -> Value:
        self.tick()
        self.budget.depth += 1
        if self.budget.depth > self.budget.max_depth:
            raise EvalError("eval_cancel_error", "rules call each other more deeply than the budget allows")
        try:
            value = self.program.documents[number](self)
        finally:
            self.budget.depth -= 1
        return _NULL if value is None else value

    def base(self, path: Iterable[str | int]) -> Value:
        value = self.data
        for part in path:
            # A number means the key of an object too, as in the path of a URL.
            value = get(value, str(part) if type(part) is int and type(value) is dict else part)
            if value is UNDEFINED:
                return UNDEFINED
        return value

    def whole(self, node: Node) -> Value:
        """Everything at and below `node`: rules over base documents."""
        if node.document is not None:
            return self.document(node.document)
        base = self.base(node.path)
        if not node.children and not (node.is_package and base is UNDEFINED):
            return base
        merged: dict[Frozen, Value] = dict(base) if type(base) is dict else {}
        for name, child in node.children.items():
            if child.function is None:
                value = self.whole(child)
                if value is not UNDEFINED:
                    merged[name] = value
        return merged

    def child(self, node: Node, key: Value) -> Value:
        """The document of one key of a package."""
        if type(key) is int:  # as in a path of a URL
            key = str(key)
        child = node.children.get(key) if type(key) is str else None
        if child is None or child.function is not None:
            return get(self.base(node.path), key)
        return self.whole(child)

    def children(self, node: Node) -> Iterator[tuple[Value, Value]]:
        base = self.base(node.path)
        keys = {thaw(key) for key in base} if type(base) is dict else set()
        for key in sort_values(keys | {name for name, child in node.children.items() if child.function is None}):
            value = self.child(node, key)
            if value is not UNDEFINED:
                yield key, value

    def mocked(self, name: str, args: tuple[Value, ...]) -> Value:
        """What stands in for a function. Inside of it the function is itself again."""
        mock = self.mocks[name]
        if not callable(mock):
            return mock
        derived = self.memo.get(("unmocked", name))
        if derived is None:
            derived = Query(self.program, self.input, self.data, self.circumstances, self.budget)
            derived.mocks = {other: value for other, value in self.mocks.items() if other != name}
            self.memo["unmocked", name] = derived
        return mock(derived, *args)

    def having(self, replaced: Iterable[tuple[tuple[str, ...], Value]], mocks: dict[str, Value]) -> Query:
        """The same query with other input, data or functions, as `with` asks for."""
        derived = Query(self.program, self.input, self.data, self.circumstances, self.budget)
        derived.mocks = {**self.mocks, **mocks}
        for path, value in replaced:
            if path[0] == "input":
                derived.input = _replaced(derived.input, path[1:], value)
            else:
                derived.data = _replaced(derived.data, path[1:], value)
                derived._hide(path[1:], value)
        return derived

    def _hide(self, path: tuple[str, ...], value: Value) -> None:
        """Rules at and below a replaced document are what it says that they are."""
        for number, own in enumerate(self.program.paths):
            if own[: len(path)] == path:
                found = value
                for part in own[len(path) :]:
                    found = get(found, part)
                self.memo[number] = _NULL if found is None else found


class _Null:
    """Stands for null in a memo, where None means that nothing is known."""


_NULL: Final = _Null()


def items(collection: Value) -> Iterable[tuple[Value, Value]]:
    """Key and value of each element, in OPA's order."""
    kind = type(collection)
    if kind is list:
        return enumerate(collection)
    if kind is dict:
        return [(thaw(key), value) for key, value in collection.items()]
    if kind is RegoSet:
        return [(value, value) for value in collection]
    return ()


def elements(collection: Value) -> Iterable[Value]:
    kind = type(collection)
    if kind is list or kind is RegoSet:
        return collection  # type: ignore[no-any-return]
    if kind is dict:
        return collection.values()  # type: ignore[no-any-return]
    return ()


def agreed(known: Value, found: Value, location: Location) -> Value:
    """The one value of a complete rule."""
    if known is UNDEFINED or equal(known, found):
        return found
    raise EvalError("eval_conflict_error", "complete rules must not produce multiple outputs", location)


def insert(target: dict[Frozen, Value], path: tuple[Value, ...], value: Value, location: Location) -> None:
    """A key of a partial object, at any depth."""
    target = _descended(target, path[:-1], location)
    key = freeze(path[-1])
    if key in target and not equal(target[key], value):
        raise EvalError("eval_conflict_error", "object keys must be unique", location)
    target[key] = value


def insert_member(target: dict[Frozen, Value], path: tuple[Value, ...], value: Value, location: Location) -> None:
    """An element of a set that is itself below a partial object."""
    holder = _descended(target, path[:-1], location)
    members = holder.setdefault(freeze(path[-1]), _Members())
    if type(members) is not _Members:
        raise EvalError("eval_conflict_error", "object keys must be unique", location)
    members.add(freeze(value))


class _Members(set[Frozen]):
    """A set in the making."""


class _Branch(dict[Frozen, Value]):
    """An object in the making, as opposed to one that a rule gave as a value."""


def finished(value: Value) -> Value:
    kind = type(value)
    if kind is _Members:
        return RegoSet.of_frozen(value)
    if kind is _Branch:
        return {key: finished(item) for key, item in value.items()}
    return value


def new_object() -> dict[Frozen, Value]:
    return _Branch()


def _descended(target: dict[Frozen, Value], path: tuple[Value, ...], location: Location) -> dict[Frozen, Value]:
    for part in path:
        below = target.setdefault(freeze(part), _Branch())
        if type(below) is not _Branch:
            raise EvalError("eval_conflict_error", "object keys must be unique", location)
        target = below
    return target


def collected(pairs: dict[Frozen, Value], key: Value, value: Value, location: Location) -> None:
    """A key of an object comprehension."""
    frozen = freeze(key)
    if frozen in pairs and not equal(pairs[frozen], value):
        raise EvalError("eval_conflict_error", "object keys must be unique", location)
    pairs[frozen] = value


def interpolated(value: Value) -> str:
    """A value inside a template string; what is undefined says so."""
    if value is UNDEFINED:
        return "<undefined>"
    return value if type(value) is str else written(value)


def written(value: Value) -> str:
    """A value as OPA prints it."""
    kind = type(value)
    if kind is str or kind is bool or value is None or kind is int or kind is float:
        return json.dumps(value, ensure_ascii=False)
    if kind is list:
        return "[" + ", ".join(map(written, value)) + "]"
    if kind is RegoSet:
        return "{" + ", ".join(map(written, value)) + "}" if len(value) else "set()"
    pairs = ((key, value[freeze(key)]) for key in keys_of(value))
    return "{" + ", ".join(f"{written(key)}: {written(item)}" for key, item in pairs) + "}"


def builtin_failed(query: Query, error: BuiltinError, location: Location) -> None:
    """Undefined to the rule, unless the query is strict."""
    if query.circumstances.strict:
        raise EvalError(error.code, error.message, location) from error


def no_function(name: str) -> NoReturn:
    raise EvalError("eval_type_error", f"{name} is not a function")


def _replaced(document: Value, path: tuple[str, ...], value: Value) -> Value:
    if not path:
        return value
    copy: dict[Frozen, Value] = dict(document) if type(document) is dict else {}
    copy[path[0]] = _replaced(copy.get(path[0], UNDEFINED), path[1:], value)
    return copy
