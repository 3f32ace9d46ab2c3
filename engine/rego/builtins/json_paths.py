"""Parts of documents by their paths: `json.filter`, `json.remove` and `json.patch` (RFC 6902, and sets as well)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from engine.rego.builtins.bounds import bounded_results
from engine.rego.builtins.go_text import value_text
from engine.rego.builtins.operands import operand_array, operand_collection, operand_error, operand_object
from engine.rego.builtins.registry import builtin
from engine.rego.errors import BuiltinError
from engine.rego.values import UNDEFINED, Frozen, RegoSet, Value, equal, freeze, get, kind_of, thaw

Path = list[Value]
Tree = dict[Frozen, Any]
"""Segments of paths; None is the end of one, and ends all that go deeper."""

_INDEX: Final = re.compile(r"[+-]?[0-9]{1,18}(?:\.0*)?")
_PATHS: Final = "must be one of {set, array} containing string paths or array of path segments but got "


@builtin("json.filter")
def filter_(obj: Value, paths: Value) -> dict[Frozen, Value]:
    kept: dict[Frozen, Value] = _filtered(
        operand_object("json.filter", 1, obj),
        _tree([_path("json.filter", path) for path in _paths("json.filter", paths)]),
    )
    return kept


@builtin("json.remove")
def remove(obj: Value, paths: Value) -> dict[Frozen, Value]:
    document = operand_object("json.remove", 1, obj)
    kept: dict[Frozen, Value] = _removed(
        document, _tree([_path("json.remove", path) for path in _paths("json.remove", paths)])
    )
    return kept


@builtin("json.patch")
def patch(document: Value, operations: Value) -> Value:
    steps = operand_array("json.patch", 2, operations)
    sizes: dict[int, tuple[Value, int]] = {}
    copied = 0
    for step in steps:
        document, source = _applied(document, step)
        # A copy of a copy of a copy costs nothing to make, and everything to read.
        if source is not UNDEFINED:
            copied += _size(source, sizes)
            bounded_results("json.patch", copied)
    if document is UNDEFINED:
        raise BuiltinError("json.patch: the whole document was removed")
    return document


def _paths(name: str, value: Value) -> list[Value]:
    return list(operand_collection(name, 2, value))


def _path(name: str, value: Value) -> Path:
    if type(value) is str:
        if not value:
            return []
        return [part.replace("~1", "/").replace("~0", "~") for part in value.lstrip("/").split("/")]
    if type(value) is list:
        return value
    raise operand_error(name, 2, _PATHS + kind_of(value))


def _tree(paths: list[Path]) -> Tree:
    root: Tree = {}
    for path in filter(None, paths):
        node: Any = root
        for segment in path[:-1]:
            node = node.setdefault(freeze(segment), {})
            if node is None:
                break
        if node is not None:
            node[freeze(path[-1])] = None
    return root


def _filtered(value: Value, tree: Tree | None) -> Value:
    if tree is None:
        return value
    if type(value) is list:
        return [_filtered(item, tree[str(at)]) for at, item in enumerate(value) if str(at) in tree]
    if type(value) is dict:
        return {key: _filtered(item, tree[key]) for key, item in value.items() if key in tree}
    if type(value) is RegoSet:
        return RegoSet(_filtered(thaw(item), tree[item]) for item in value.frozen if item in tree)
    return value


def _removed(value: Value, tree: Tree | None) -> Value:
    """UNDEFINED if nothing of it is left."""
    if tree is None:
        return UNDEFINED
    if type(value) is dict:
        pairs = ((key, _removed(item, tree[key]) if key in tree else item) for key, item in value.items())
        return {key: item for key, item in pairs if item is not UNDEFINED}
    if type(value) is list:
        items = (_removed(item, tree[str(at)]) if str(at) in tree else item for at, item in enumerate(value))
        return [item for item in items if item is not UNDEFINED]
    if type(value) is RegoSet:
        items = (_removed(thaw(item), tree[item]) if item in tree else thaw(item) for item in value.frozen)
        return RegoSet(item for item in items if item is not UNDEFINED)
    return value


def _applied(document: Value, step: Value) -> tuple[Value, Value]:
    """The document after one operation, and what was copied if that was the operation."""
    if type(step) is not dict:
        raise _fault("must be an array of JSON-Patch objects, but at least one element is not an object")
    target = _attribute(step, "path")
    operation = _attribute(step, "op")
    if type(operation) is not str:
        raise _fault(f"attribute 'op' must be a string but found: {kind_of(operation)}")
    path = _path("json.patch", target)
    if operation == "add":
        return _edited(document, path, _insertion(_attribute(step, "value"))), UNDEFINED
    if operation == "remove":
        return _edited(document, path, _delete), UNDEFINED
    if operation == "replace":
        rest = _edited(document, path, _delete)
        return _edited(rest, path, _insertion(_attribute(step, "value"))), UNDEFINED
    if operation == "test":
        found, wanted = _found(document, path), _attribute(step, "value")
        if found is UNDEFINED or not equal(found, wanted):
            expected, shown = value_text(wanted), "" if found is UNDEFINED else value_text(found)
            raise _fault(f"value from EditTree != patch value.\n\nExpected: {expected}\n\nFound: {shown}")
        return document, UNDEFINED
    if operation not in ("move", "copy"):
        raise _fault(f"unrecognized op: '{operation}'")
    source = _path("json.patch", _attribute(step, "from"))
    moved = _found(document, source)
    if operation == "copy":
        return _edited(document, path, _insertion(moved)), moved
    return _edited(_edited(document, source, _delete), path, _insertion(moved)), UNDEFINED


def _attribute(step: dict[Frozen, Value], name: str) -> Value:
    if name not in step:
        raise _fault(f"missing required attribute '{name}'")
    return step[name]


Edit = Callable[[Value, Value], Value]
"""From a collection and a key of it to the changed collection; with UNDEFINED as the key, to a whole document."""


def _edited(document: Value, path: Path, edit: Edit) -> Value:
    """A changed copy: only what the path leads through is new."""
    if not path:
        return edit(document, UNDEFINED)
    parents = [document]
    for segment in path[:-1]:
        parents.append(_child(parents[-1], segment))
    changed = edit(parents[-1], path[-1])
    for parent, segment in zip(reversed(parents[:-1]), reversed(path[:-1]), strict=True):
        changed = _with_child(parent, segment, changed)
    return changed


def _found(document: Value, path: Path) -> Value:
    for segment in path:
        document = _child(document, segment)
    return document


def _child(parent: Value, segment: Value) -> Value:
    if parent is UNDEFINED:
        raise _fault("nil value encountered where composite value was expected")
    if type(parent) is list:
        index = _index(parent, segment)
        if 0 <= index < len(parent):
            return parent[index]
        raise _fault(f"path {index} does not exist in array term {value_text(parent)}")
    if type(parent) is not dict and type(parent) is not RegoSet:
        raise _no_composite(parent, segment)
    child = get(parent, segment)
    if child is UNDEFINED:
        raise _fault(f"path {value_text(segment)} does not exist in {kind_of(parent)} term {value_text(parent)}")
    return child


def _with_child(parent: Value, segment: Value, child: Value) -> Value:
    if type(parent) is list:
        index = _index(parent, segment)
        return [*parent[:index], child, *parent[index + 1 :]]
    if type(parent) is dict:
        return {**parent, freeze(segment): child}
    return RegoSet.of_frozen((parent.frozen - {freeze(segment)}) | {freeze(child)})


def _insertion(value: Value) -> Edit:
    def insert(parent: Value, key: Value) -> Value:
        if key is UNDEFINED:
            return value
        if parent is UNDEFINED:
            raise _fault("deleted node encountered during insert operation")
        if type(parent) is dict:
            return {**parent, freeze(key): value}
        if type(parent) is RegoSet:
            if not equal(key, value):
                raise _fault(f"set key {value_text(key)} does not equal value to be inserted {value_text(value)}")
            return RegoSet.of_frozen(parent.frozen | {freeze(value)})
        if type(parent) is not list:
            raise _no_composite(parent)
        index = _index(parent, key)
        if not 0 <= index <= len(parent):
            raise _fault("index for array insertion out of bounds")
        return [*parent[:index], value, *parent[index:]]

    return insert


def _delete(parent: Value, key: Value) -> Value:
    if parent is UNDEFINED:
        raise _fault("deleted node encountered during delete operation")
    if key is UNDEFINED:
        return UNDEFINED
    if type(parent) is list:
        index = _index(parent, key)
        if not 0 <= index < len(parent):
            raise _fault("index for array delete out of bounds")
        return [*parent[:index], *parent[index + 1 :]]
    if kind_of(parent) not in ("object", "set"):
        raise _no_composite(parent)
    if get(parent, key) is UNDEFINED:
        raise _fault(f"cannot delete child key {value_text(key)} that does not exist")
    if type(parent) is RegoSet:
        return RegoSet.of_frozen(parent.frozen - {freeze(key)})
    return {other: item for other, item in parent.items() if other != freeze(key)}


def _index(array: list[Value], segment: Value) -> int:
    """A number, the text of one, or `-` for the end."""
    if type(segment) is str:
        if segment == "-":
            return len(array)
        if not _INDEX.fullmatch(segment):
            raise _fault("invalid string for indexing")
        if segment != "0" and segment.startswith("0"):
            raise _fault("leading zeros are not allowed in JSON paths")
        return int(float(segment)) if "." in segment else int(segment)
    if type(segment) is int:
        return segment
    if type(segment) is float:
        if segment.is_integer():
            return int(segment)
        raise _fault("invalid number type for indexing")
    raise _fault("invalid type for indexing")


def _size(value: Value, known: dict[int, tuple[Value, int]]) -> int:
    """How many values it is when written out; each one is kept, so that its id stays its own."""
    if type(value) not in (list, dict, RegoSet):
        return 1
    if id(value) not in known:
        items = value.values() if type(value) is dict else value if type(value) is list else value.unordered()
        known[id(value)] = value, 1 + sum(_size(item, known) for item in items)
    return known[id(value)][1]


def _no_composite(value: Value, segment: Value = UNDEFINED) -> BuiltinError:
    place = "" if segment is UNDEFINED else f" for path {value_text(segment)}"
    name = kind_of(value).capitalize()
    return _fault(f"expected composite type{place}, found value: {value_text(value)} (type: ast.{name})")


def _fault(message: str) -> BuiltinError:
    return BuiltinError(f"json.patch: {message}")
