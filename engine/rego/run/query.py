"""One evaluation: input and data, what is known already, and what may still be spent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NoReturn

from engine.rego.builtins.registry import Circumstances
from engine.rego.errors import EvalError
from engine.rego.run.origins import Rules, Where
from engine.rego.values import UNDEFINED, Frozen, Value, get, sort_values, thaw

LARGE: Final = 4_096
"""Characters or elements: what is smaller costs its steps and no more."""
LARGEST_TOTAL: Final = 128 * 2**20


class OverBudget(EvalError):
    """An evaluation that was stopped: too many steps, or too deep."""

    def __init__(self, message: str) -> None:
        super().__init__("eval_cancel_error", message)


class OverDeadline(OverBudget):
    """It took too long."""


class Pending:
    """Stands in a memo for what nobody has asked for yet."""

    def __repr__(self) -> str:
        return "PENDING"


PENDING: Final = Pending()


@dataclass(slots=True)
class Budget:
    """Shared by a query and everything that `with` derives from it."""

    left: int = 10_000_000
    """Steps: elements of loops and calls of functions. Compiled code takes them from here before it makes them."""
    room: int = LARGEST_TOTAL

    def spend(self) -> NoReturn:
        """Called when `left` is used up."""
        raise OverBudget("the evaluation took more steps than its budget allows")

    def made(self, count: int) -> None:
        """Called for a large text or collection that a builtin made, with its length."""
        self.room -= count
        if self.room < 0:
            raise OverBudget(f"the evaluation made more than {LARGEST_TOTAL} characters and elements in large values")


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
    """Compiled rules, shared by all queries and threads: nothing here changes once it is linked."""

    root: Node = field(default_factory=lambda: Node(()))
    documents: list[Document] = field(default_factory=list)
    paths: list[tuple[str, ...]] = field(default_factory=list)
    """Of each document."""
    with_origins: bool = False


class Query:
    __slots__ = ("budget", "calls", "circumstances", "data", "input", "memo", "mocks", "program", "sets", "where")

    def __init__(
        self,
        program: Program,
        given: Value,
        data: Value,
        circumstances: Circumstances,
        budget: Budget,
    ) -> None:
        self.program = program
        self.input = given
        self.data = data
        self.circumstances = circumstances
        self.budget = budget
        self.memo: list[Value] = [PENDING] * len(program.documents)
        self.calls: dict[object, Value] = {}
        """What functions gave for arguments that they had before."""
        self.mocks: dict[str, Value | Callable[..., Value]] = {}
        self.where: list[Where | None] = [None] * len(self.memo) if program.with_origins else []
        """Of each document: the rules that gave its value, or each of its elements or keys."""
        self.sets: list[dict[Frozen, Rules]] = []
        """The elements of all partial sets, in the order in which they were finished; shared with derived queries."""

    def document(self, number: int) -> Value:
        """The value of a rule, evaluated once."""
        value = self.memo[number]
        if value is PENDING:
            value = self.memo[number] = self.program.documents[number](self)
        return value

    def base(self, path: Iterable[Value]) -> Value:
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
        derived = self.calls.get(("unmocked", name))
        if derived is None:
            derived = self._derived()
            derived.mocks = {other: value for other, value in self.mocks.items() if other != name}
            self.calls["unmocked", name] = derived
        return mock(derived, *args)

    def having(self, replaced: Iterable[tuple[tuple[str, ...], Value]], mocks: dict[str, Value]) -> Query:
        """The same query with other input, data or functions, as `with` asks for."""
        self.budget.left -= 1 + len(self.memo) // 64
        if self.budget.left < 0:
            self.budget.spend()
        derived = self._derived()
        derived.mocks = {**self.mocks, **mocks}
        for path, value in replaced:
            if path[0] == "input":
                derived.input = _replaced(derived.input, path[1:], value)
            else:
                derived.data = _replaced(derived.data, path[1:], value)
                derived.hide(path[1:], value)
        return derived

    def _derived(self) -> Query:
        derived = Query(self.program, self.input, self.data, self.circumstances, self.budget)
        derived.sets = self.sets
        return derived

    def hide(self, path: tuple[str, ...], value: Value) -> None:
        """Rules at and below a replaced document are what it says that they are."""
        for number, own in enumerate(self.program.paths):
            if own[: len(path)] == path:
                found = value
                for part in own[len(path) :]:
                    found = get(found, part)
                self.memo[number] = found


def _replaced(document: Value, path: tuple[str, ...], value: Value) -> Value:
    if not path:
        return value
    copy: dict[Frozen, Value] = dict(document) if type(document) is dict else {}
    copy[path[0]] = _replaced(copy.get(path[0], UNDEFINED), path[1:], value)
    return copy
