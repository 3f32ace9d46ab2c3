"""What generated code can name: the runtime's functions, builtins, constants, and names of its own."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Final

from engine.rego.builtins.registry import BUILTINS, Builtin
from engine.rego.errors import BuiltinError, Location
from engine.rego.run import runtime
from engine.rego.run.choices import choose
from engine.rego.run.query import LARGE, PENDING, Query
from engine.rego.values import UNDEFINED, RegoSet, Value, compare, equal, freeze, get


class Namespace:
    def __init__(self) -> None:
        self.values: dict[str, Any] = dict(_RUNTIME)
        self._constants: dict[object, str] = {}
        self._numbers: dict[str, int] = {}

    def fresh(self, prefix: str) -> str:
        self._numbers[prefix] = self._numbers.get(prefix, 0) + 1
        return f"{prefix}_{self._numbers[prefix]}"

    def constant(self, value: Value) -> str:
        """Scalars stand in the code as they are; anything else is built once."""
        if value is None or isinstance(value, bool | int | str):
            return repr(value)
        return self.named(("value", freeze(value), type(value)), value, "K")

    def texts(self, values: Collection[str]) -> str:
        """A set of strings, as Python's own."""
        return self.named(("texts", frozenset(values)), frozenset(values), "TEXTS")

    def place(self, location: Location) -> str:
        return self.named(location, location, "AT")

    def origin(self, location: Location) -> str:
        where = (f"{location.file}:{location.row}",)
        return self.named(("origin", where), where, "FROM")

    def builtin(self, name: str) -> tuple[str, list[str]]:
        """What to call, and what it takes before its arguments."""
        builtin = BUILTINS.get(name) or _unavailable(name)
        label = self.named(("builtin", name), builtin.call, f"b_{name.replace('.', '_')}")
        return label, ["q.circumstances"] if builtin.circumstances else []

    def mockable_builtin(self, name: str) -> str:
        """One that takes the query first, which may say that something else stands in for it."""
        builtin = BUILTINS.get(name) or _unavailable(name)
        return self.named(("mockable", name), _mockable(builtin), f"m_{name.replace('.', '_')}")

    def named(self, key: object, value: object, prefix: str) -> str:
        """The name of a value that is the same for equal keys."""
        if key not in self._constants:
            self._constants[key] = self.fresh(prefix)
            self.values[self._constants[key]] = value
        return self._constants[key]


def _unavailable(name: str) -> Builtin:
    def refuse(*_: Value) -> Value:
        raise BuiltinError(f"{name}: not available")

    return Builtin(name, refuse)


def _mockable(builtin: Builtin) -> Callable[..., Value]:
    call, name, needs_circumstances = builtin.call, builtin.name, builtin.circumstances

    def run(q: Query, *args: Value) -> Value:
        if q.mocks and name in q.mocks:
            return q.mocked(name, args)
        return call(q.circumstances, *args) if needs_circumstances else call(*args)

    return run


_RUNTIME: Final[dict[str, Any]] = {
    "UNDEFINED": UNDEFINED,
    "PENDING": PENDING,
    "MISSING": runtime.MISSING,
    "NUMBERS": frozenset({int, float}),
    "HASHED": frozenset({str, int, float}),
    "COUNTED": frozenset({str, list, dict, RegoSet}),
    "COLLECTIONS": frozenset({list, dict, RegoSet}),
    "BuiltinError": BuiltinError,
    "RegoSet": RegoSet,
    "LARGE": LARGE,
    **{
        function.__name__: function
        for function in (
            equal, compare, freeze, get, choose, runtime.items, runtime.items_in_order, runtime.elements,
            runtime.elements_in_order, runtime.member, runtime.holds_for_all, runtime.agreed, runtime.insert,
            runtime.insert_key, runtime.insert_member, runtime.prepare, runtime.new_object, runtime.finished,
            runtime.interpolated, runtime.builtin_failed, runtime.call_function, runtime.noted, runtime.note_document,
        )
    },
}  # fmt: skip
