"""Unification of terms with types: whether the two may agree, and what variables are if they do."""

from __future__ import annotations

from collections.abc import Sequence

from engine.rego.syntax import tree as s
from engine.rego.types.env import Env, constant
from engine.rego.types.types import ANY, Any, AnyOf, Array, Object, Set, Type, is_unknown, select, unifies, union
from engine.rego.values import Undefined, freeze


def unify_terms(env: Env, one: s.Term, one_type: Type | None, other: s.Term, other_type: Type | None) -> bool:
    """`one = other`. The types are those that `env` gives them."""
    unknown, other_unknown = is_unknown(one_type), is_unknown(other_type)
    if not unknown:
        return unify(env, other, one_type) if other_unknown else unifies(one_type, other_type)
    if not other_unknown:
        return unify(env, one, other_type)
    if isinstance(one, s.Array | s.Object):
        return _unify_composite(env, one, other)
    if isinstance(one, s.Var) and isinstance(other, s.Array | s.Object):
        return _unify_composite(env, other, one)
    if isinstance(one, s.Var) and isinstance(other, s.Var):
        return _unify_open(env, one, other)
    if isinstance(one, s.Var) and one_type is None and other_type is not None:
        return unify(env, one, other_type)
    return isinstance(other, s.Var) and other_type is None and one_type is not None and unify(env, other, one_type)


def unify(env: Env, term: s.Term, of: Type | None, *, joined: bool = False) -> bool:
    """Whether `term` may be of type `of`. Its variables learn theirs; `joined` with what they may be already."""
    if isinstance(term, s.Var):
        return _unify_var(env, term.name, of, joined)
    if isinstance(term, s.Array | s.Object | s.Set):
        return _unify_literal(env, term, of, joined)
    return unifies(env.of(term), of)


def _unify_var(env: Env, name: str, of: Type | None, joined: bool) -> bool:
    known = env.of_var(name)
    if joined:
        env.learn(name, union(known, of))
    elif known is not None:
        return unifies(known, of)
    else:
        env.learn(name, of)
    return True


def _unify_literal(env: Env, term: s.Array | s.Object | s.Set, of: Type | None, joined: bool) -> bool:
    if isinstance(of, Any):
        for part in _parts(term):
            unify(env, part, ANY, joined=True)
        return True
    if isinstance(of, AnyOf):
        # Every member is tried: each may tell something more of the variables.
        return max([unify(env, term, member, joined=True) for member in of.of], default=False)
    if isinstance(term, s.Array):
        return isinstance(of, Array) and _unify_array(env, term, of, joined)
    if isinstance(term, s.Object):
        return isinstance(of, Object) and _unify_object(env, term, of, joined)
    return isinstance(of, Set) and all(unify(env, item, of.of, joined=joined) for item in term.items)


def _parts(term: s.Array | s.Object | s.Set) -> Sequence[s.Term]:
    return [part for pair in term.items for part in pair] if isinstance(term, s.Object) else term.items


def _unify_array(env: Env, term: s.Array, of: Array, joined: bool) -> bool:
    if len(term.items) != len(of.static) and of.dynamic is None:
        return False
    return all(unify(env, item, of.item(place), joined=joined) for place, item in enumerate(term.items))


def _unify_object(env: Env, term: s.Object, of: Object, joined: bool) -> bool:
    if len(term.items) != len(of.static) and of.dynamic_value is None:
        return False
    return all(_unify_property(env, key, item, of, joined) for key, item in term.items)


def _unify_property(env: Env, key: s.Term, item: s.Term, of: Object, joined: bool) -> bool:
    value = constant(key)
    if isinstance(value, Undefined):
        unify(env, item, ANY, joined=joined)
        return True
    found = select(of, value)
    return found is not None and unify(env, item, found, joined=joined)


def _unify_composite(env: Env, one: s.Array | s.Object, other: s.Term) -> bool:
    """Neither of the two is known entirely: item by item."""
    if isinstance(other, s.Var):
        return _unify_open(env, one, other)
    pairs = _paired(one, other)
    return pairs is not None and all(unify_terms(env, a, env.of(a), b, env.of(b)) for a, b in pairs)


def _unify_open(env: Env, one: s.Term, var: s.Term) -> bool:
    return unify(env, one, ANY) and unify(env, var, env.of(one))


def _paired(one: s.Array | s.Object, other: s.Term) -> list[tuple[s.Term, s.Term]] | None:
    if len(one.items) != len(getattr(other, "items", ())):
        return None
    if isinstance(one, s.Array) and isinstance(other, s.Array):
        return list(zip(one.items, other.items, strict=True))
    if isinstance(one, s.Object) and isinstance(other, s.Object):
        values = {_key(key): item for key, item in other.items}
        if all(_key(key) in values for key, _ in one.items):
            return [(item, values[_key(key)]) for key, item in one.items]
    return None


def _key(term: s.Term) -> object:
    value = constant(term)
    return term if isinstance(value, Undefined) else freeze(value)
