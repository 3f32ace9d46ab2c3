"""Refs: whether a document can have what a ref asks it for, and what the variables in the ref are then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.rego.errors import RegoProblem
from engine.rego.syntax import tree as s
from engine.rego.syntax.term_text import TermTexts, value_text
from engine.rego.syntax.variables import ROOTS
from engine.rego.types.env import Env, Node, head_name, key_of
from engine.rego.types.types import (
    ANY,
    STRING,
    AnyOf,
    Array,
    Function,
    Object,
    Set,
    Type,
    keys_type,
    select,
    text_of,
    unifies,
    values_type,
)
from engine.rego.types.unification import unify
from engine.rego.values import Frozen, Value, sort_values, thaw


class RefCheck:
    """Of the refs of one rule. `subjects` are the terms that generated variables stand for."""

    def __init__(self, subjects: Mapping[str, s.Term]) -> None:
        self._subjects = subjects
        self._texts = TermTexts(subjects)

    def check(self, env: Env, ref: s.Ref) -> RegoProblem | None:
        found = env.of_ref(ref)
        if isinstance(found, Function):
            return self._unsupported(ref, len(ref.path), found)
        return self._in_scopes(env, ref)

    def _in_scopes(self, env: Env, ref: s.Ref) -> RegoProblem | None:
        """The innermost scope that knows the whole way decides; none does for a base document."""
        name = head_name(ref)
        scope: Env | None = env
        while scope is not None:
            if name in scope.vars:
                known = scope.vars[name]
                return self._leaf(env, known, ref, 0) if known is not None else None
            if scope.tree is not None and name in scope.tree.children:
                leads, problem = self._in_tree(env, scope.tree.children[name], ref)
                if leads:
                    return problem
            scope = scope.next
        if name and name not in ROOTS:
            env.learn(name, ANY)
        return self._leaf(env, ANY, ref, 0)

    def _in_tree(self, env: Env, node: Node, ref: s.Ref) -> tuple[bool, RegoProblem | None]:
        """Whether the tree knows where the ref leads, and what is wrong with it."""
        if node.value is not None:
            return True, self._leaf(env, node.value, ref, 0)
        for place, part in enumerate(ref.path):
            problem = self._step(env, node, ref, place)
            if problem is not None:
                return True, problem
            child = node.children.get(key_of(part))
            if child is None:
                return False, None
            if child.value is not None:
                return True, self._leaf(env, child.value, ref, place + 1)
            node = child
        return True, None

    def _step(self, env: Env, node: Node, ref: s.Ref, place: int) -> RegoProblem | None:
        """Within a package, whose keys are strings."""
        part = ref.path[place]
        is_string = isinstance(part, s.Scalar) and isinstance(part.value, str)
        if place < 2 and not is_string and not isinstance(part, s.Var):
            return self._invalid(ref, place, env.of(part), STRING, _children(node))
        if not isinstance(part, s.Var):
            return None
        keys, known = keys_type(node.extent()), env.of_var(part.name)
        if known is None:
            env.learn(part.name, keys)
        elif not unifies(keys, known):
            return self._invalid(ref, place, known, keys, _children(node))
        return None

    def _leaf(self, env: Env, of: Type | None, ref: s.Ref, place: int) -> RegoProblem | None:
        """From `place` on the path leads into a value of type `of`."""
        for at in range(place, len(ref.path)):
            part = ref.path[at]
            if _is_empty(of):
                return self._invalid(ref, at, None, None, [])
            keys = keys_type(of)
            if keys is None:
                return self._unsupported(ref, at, of)
            problem = self._key(env, of, keys, ref, at)
            if problem is not None:
                return problem
            of = select(of, part.value) if isinstance(part, s.Scalar) else values_type(of)
        return None

    def _key(self, env: Env, of: Type | None, keys: Type, ref: s.Ref, at: int) -> RegoProblem | None:
        part = ref.path[at]
        match part:
            case s.Scalar(value):
                return None if select(of, value) is not None else self._invalid(ref, at, None, keys, _candidates(of))
            case s.Var(name) if env.of_var(name) is None:
                env.learn(name, keys)
                return None
            case s.Array() | s.Object() | s.Set():
                return None if unify(env, part, keys) else self._invalid(ref, at, env.of(part), keys, [])
            case _:
                known = env.of(part)
                if known is None or unifies(known, keys):
                    return None
                return self._invalid(ref, at, known, keys, _candidates(of))

    def _invalid(
        self, ref: s.Ref, at: int, have: Type | None, want: Type | None, one_of: Sequence[Value]
    ) -> RegoProblem:
        pad = " " * (len(self._texts.ref(ref, at).encode()) + 1)
        found = f"have (type): {have}" if have is not None else f"have: {self._texts.term(ref.path[at])}"
        wanted = f"want (type): {text_of(want)}"
        if one_of or want is None:
            wanted = f"want (one of): [{' '.join(map(value_text, one_of))}]"
        text = self._texts.ref(ref, len(ref.path))
        return _problem(f"undefined ref: {text}", [text, f"{pad}^", f"{pad}{found}", f"{pad}{wanted}"], ref)

    def _unsupported(self, ref: s.Ref, at: int, have: Type | None) -> RegoProblem:
        """The value before the part `at` of the path has no parts."""
        text = self._texts.ref(ref, len(ref.path))
        lines = [text, "^" * len(self._texts.ref(ref, at).encode()), f"have: {text_of(have)}"]
        if not isinstance(have, Function):
            return _problem(f"undefined ref: {text}", lines, ref)
        last = ref.path[-1] if ref.path else None
        generated = isinstance(last, s.Var) and last.name.startswith("$") and last.name not in self._subjects
        function = self._texts.ref(ref, len(ref.path) - 1) if generated else text
        return _problem(f"function {function} used as reference, not called", lines, ref)


def _problem(message: str, lines: Sequence[str], ref: s.Ref) -> RegoProblem:
    return RegoProblem("rego_type_error", "\n\t".join([message, *lines]), ref.location)


def _is_empty(of: Type | None) -> bool:
    """A collection that can hold nothing."""
    if isinstance(of, Object | Array):
        return not of.static and of.dynamic is None
    return isinstance(of, Set) and of.of is None


def _children(node: Node) -> list[Value]:
    return sort_values(thaw(key) for key in node.children if not isinstance(key, tuple))


def _candidates(of: Type | None) -> list[Value]:
    """The keys that would have done."""
    return sort_values(map(thaw, dict.fromkeys(_static_keys(of))))


def _static_keys(of: Type | None) -> list[Frozen]:
    if isinstance(of, Object):
        return [key for key, _ in of.static]
    return [key for member in of.of for key in _static_keys(member)] if isinstance(of, AnyOf) else []
