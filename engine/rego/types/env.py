"""What the type checker knows: the types of rules in a tree, and those of variables in scopes above it.

Not here: when a type is learned or refused, which is `type_body`'s and `typecheck`'s to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Final, TypeAlias

from engine.rego.syntax import tree as s
from engine.rego.syntax.variables import BUILTIN, ROOTS
from engine.rego.types.flattening import Comprehension
from engine.rego.types.signatures import signature
from engine.rego.types.types import (
    ANY,
    BOOLEAN,
    STRING,
    Any,
    AnyOf,
    Array,
    Object,
    Set,
    Type,
    select,
    type_of_value,
    union,
    union_of,
    values_type,
)
from engine.rego.values import UNDEFINED, Frozen, RegoSet, Undefined, Value, freeze, make_object, thaw

Key: TypeAlias = "Frozen | tuple[str, str]"
"""Of a child in the tree: a value, or ("var", name), which no value equals."""

OPEN: Final = (STRING, ANY)
"""Of the other properties of a package: there may be documents that no rule defines."""


class Node:
    """A document, and those below it. A rule may have a thousand definitions: they are joined when it is asked for."""

    __slots__ = ("_definitions", "children")

    def __init__(self) -> None:
        self._definitions: list[Type] = []
        self.children: dict[Key, Node] = {}

    @property
    def value(self) -> Type | None:
        if len(self._definitions) > 1:
            self.value = merged_all(self._definitions)
        return self._definitions[0] if self._definitions else None

    @value.setter
    def value(self, of: Type | None) -> None:
        self._definitions = [of] if of is not None else []

    def put(self, path: Sequence[Key], of: Type) -> None:
        self._at(path).value = of

    def add(self, of: Type) -> None:
        self._definitions.append(of)

    def insert(self, path: Sequence[Key], of: Type) -> None:
        """Joined with what is at `path` already, and with the objects that it is a part of."""
        node = self
        for place, key in enumerate(path):
            node = node.children.setdefault(key, Node())
            if place + 1 < len(path) and isinstance(node.value, Object):
                node.value = _with_property(node.value, path[place + 1 :], of)
        node.add(of)
        if isinstance(of, Object) and node.children:
            for below, leaf in list(node.leaves(())):
                if isinstance(node.value, Object):
                    node.value = _with_property(node.value, below, leaf)

    def extent(self) -> Type:
        """The type of the whole document."""
        if self.value is not None:
            return self.value
        static = tuple((key, child.extent()) for key, child in self.children.items() if not isinstance(key, tuple))
        return Object(static, OPEN)

    def _at(self, path: Sequence[Key]) -> Node:
        node = self
        for key in path:
            node = node.children.setdefault(key, Node())
        return node

    def leaves(self, path: tuple[Key, ...]) -> Iterator[tuple[tuple[Key, ...], Type]]:
        for key, child in self.children.items():
            if child.value is not None:
                yield (*path, key), child.value
            else:
                yield from child.leaves((*path, key))


class Env:
    """One scope. The documents that `with` replaces are a tree of its own, above the one of the rules."""

    __slots__ = ("changes", "closure", "next", "tree", "vars")

    def __init__(
        self,
        next: Env | None,  # noqa: A002
        closure: Callable[[Env, Comprehension], Type | None],
        tree: Node | None = None,
    ) -> None:
        self.next = next
        self.closure = closure
        self.tree = tree
        self.vars: dict[str, Type | None] = {}
        self.changes = 0

    def inner(self) -> Env:
        return Env(self, self.closure)

    def replacing(self, tree: Node) -> Env:
        """For one expression: what it tells of variables outlives it."""
        env = Env(self, self.closure, tree)
        env.vars = self.vars
        return env

    def learn(self, name: str, of: Type | None) -> None:
        self.vars[name] = of
        env = self
        while env.next is not None and env.next.vars is env.vars:
            env = env.next
        env.changes += 1

    def state(self) -> tuple[int, ...]:
        """Changes whenever the answer to any question may."""
        own = (id(self), len(self.vars), self.changes)
        return own if self.next is None else (*own, *self.next.state())

    def of_var(self, name: str) -> Type | None:
        env: Env | None = self
        while env is not None:
            if name in env.vars:
                return env.vars[name]
            env = env.next
        return None

    def of(self, term: s.Term) -> Type | None:
        if isinstance(term, s.Var):
            return self.of_var(term.name)
        if isinstance(term, s.Scalar):
            return type_of_value(term.value)
        return self.of_ref(term) if isinstance(term, s.Ref) else self._composite(term)

    def _composite(self, term: s.Term) -> Type | None:
        match term:
            case s.Array(items):
                return Array(tuple(map(self.of, items)))
            case s.Set(items):
                return Set(union_of(map(self.of, items)))
            case s.Object():
                return self._object(term)
            case s.ArrayComprehension() | s.SetComprehension() | s.ObjectComprehension():
                return self.closure(self, term)
            case s.Logical():
                return BOOLEAN
            case _:
                return None

    def _object(self, term: s.Object) -> Type:
        static: dict[Frozen, Type | None] = {}
        dynamic = None
        for key, item in term.items:
            value = constant(key)
            if isinstance(value, Undefined):
                dynamic = (self.of(key), self.of(item))
            else:
                static[freeze(value)] = self.of(item)
        return Object(tuple(static.items()), dynamic)

    def of_ref(self, ref: s.Ref) -> Type | None:
        name = head_name(ref)
        if name == BUILTIN:
            found = signature(str(getattr(ref.path[0], "value", "")))
            return found.type if found is not None else None
        env: Env | None = self
        while env is not None:
            if name in env.vars:
                return select_path(env.vars[name], ref.path)
            if env.tree is not None and name in env.tree.children:
                of = _below(env.tree.children[name], ref.path)
                if not isinstance(of, Undefined):
                    return of
            env = env.next
        return ANY if name in ROOTS else None


def head_name(ref: s.Ref) -> str:
    """Empty if it is a scalar, of which nothing can be a part."""
    return ref.head.name if isinstance(ref.head, s.Var) else ""


def key_of(term: s.Term) -> Key:
    """Under which a part of a ref is found in the tree."""
    value = term.value if isinstance(term, s.Scalar) else constant(term)
    if isinstance(value, Undefined):
        return ("var", term.name if isinstance(term, s.Var) else "")
    return freeze(value)


def constant(term: s.Term) -> Value | Undefined:
    """The value that a term is, if nothing has to be evaluated for it."""
    match term:
        case s.Scalar(value):
            return value
        case s.Array(items) | s.Set(items):
            values = [constant(item) for item in items]
            if any(value is UNDEFINED for value in values):
                return UNDEFINED
            return values if isinstance(term, s.Array) else RegoSet(values)
        case s.Object(pairs):
            entries = [(constant(key), constant(item)) for key, item in pairs]
            unknown = any(part is UNDEFINED for entry in entries for part in entry)
            return UNDEFINED if unknown else make_object(entries)
        case _:
            return UNDEFINED


def select_path(of: Type | None, path: Sequence[s.Term]) -> Type | None:
    """The type of `of[…][…]`; a union of all that it may be where a key is not known."""
    for part in path:
        if of is None:
            return None
        of = select(of, part.value) if isinstance(part, s.Scalar) else values_type(of)
    return of


def _below(node: Node, path: Sequence[s.Term]) -> Type | Undefined | None:
    """UNDEFINED if no rule says anything about it."""
    for place, part in enumerate(path):
        child = node.children.get(key_of(part))
        if child is not None:
            node = child
        elif node.value is not None:
            return select_path(node.value, path[place:])
        elif constant(part) is UNDEFINED:
            return select_path(node.extent(), path[place:])
        else:
            return UNDEFINED
    return node.extent()


def merged_all(types: Sequence[Type | None]) -> Type | None:
    sets = [of for of in types if isinstance(of, Set)]
    if len(sets) == len(types):
        return Set(union_of(of.of for of in sets))
    dynamic = [of.dynamic for of in types if isinstance(of, Object) and not of.static and of.dynamic is not None]
    if len(dynamic) == len(types):
        return Object((), (union_of(key for key, _ in dynamic), merged_all([value for _, value in dynamic])))
    return reduce(merged, types)


def merged(one: Type | None, other: Type | None) -> Type | None:
    """The type of a rule with two definitions: sets and partial objects become one, the rest a union."""
    if isinstance(one, Object) and isinstance(other, Object) and not one.static and not other.static:
        if one.dynamic is None or other.dynamic is None:
            return other if one.dynamic is None else one
        value = merged(one.dynamic[1], other.dynamic[1])
        return Object((), (union(one.dynamic[0], other.dynamic[0]), value))
    if isinstance(one, Set) and isinstance(other, Set):
        return Set(union(one.of, other.of))
    if isinstance(one, AnyOf | Any) and not isinstance(other, AnyOf | Any):
        one, other = other, one
    if isinstance(one, Object) and isinstance(other, AnyOf) and not one.static and one.dynamic is not None:
        return _merged_into(other, one)
    return union(one, other)


def _merged_into(many: AnyOf, one: Object) -> Type | None:
    for place, member in enumerate(many.of):
        if isinstance(member, Object) and not member.static and member.dynamic is not None and one.dynamic is not None:
            key, value = (union(a, b) for a, b in zip(member.dynamic, one.dynamic, strict=True))
            return AnyOf((*many.of[:place], Object((), (key, value)), *many.of[place + 1 :]))
    return union(many, one)


def _with_property(of: Object, path: Sequence[Key], value: Type) -> Object:
    inner = _with_property(Object(), path[1:], value) if len(path) > 1 else value
    key = type_of_value(thaw(path[0])) if not isinstance(path[0], tuple) else None
    known = of.dynamic or (None, None)
    return Object(of.static, (union(known[0], key), union(known[1], inner)))
