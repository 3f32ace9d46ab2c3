"""Which variables of a rule nothing binds, found and placed as OPA does: on the steps of `hoisting`.

Does not decide in which order a body runs; that is `safety`, which asks the same of whole expressions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from engine.rego.check.hoisting import Hoister, Step, closures_in, is_made, own_vars
from engine.rego.check.readiness import taken_in_order
from engine.rego.check.suggestions import Suggest
from engine.rego.errors import Location, RegoProblem
from engine.rego.syntax import tree as s
from engine.rego.syntax.variables import ROOTS, all_vars, matching_values, written_name

UNSAFE = "rego_unsafe_var_error"
_LATER_KEYWORDS = frozenset({"and", "or"})
"""Words that are variables unless they are imported."""


def unsafe_heads(rule: s.Rule, suggest: Suggest) -> list[RegoProblem]:
    """Variables of the head that do not even occur in the body."""
    _, steps, args, heads = _hoisted_rule(rule)
    known = ROOTS.union(*(_names(step) for step in steps), (var.name for var in own_vars(*args)))
    places = {var.name: var.location for term in heads for var in sorted(own_vars(term), key=_place)}
    return [_problem(name, at, suggest) for name, at in places.items() if name not in known and not is_made(name)]


def unsafe_bodies(rule: s.Rule, suggest: Suggest) -> list[RegoProblem]:
    hoister, steps, args, _ = _hoisted_rule(rule)
    safe = ROOTS | {var.name for var in own_vars(*args)}
    return _problems(_Check(hoister).unsafe_of(steps, frozenset(safe)), suggest)


def unsafe_of_query(body: s.Body, suggest: Suggest) -> list[RegoProblem]:
    hoister = Hoister()
    return _problems(_Check(hoister).unsafe_of(hoister.steps_of(body), ROOTS), suggest)


def bound_by(body: s.Body, safe: frozenset[str]) -> frozenset[str]:
    """`safe` and what the expressions bind in the order in which they are written."""
    known = set(safe)
    for step in Hoister().steps_of(body):
        known |= outputs(step, known)
    return frozenset(known)


def _hoisted_rule(rule: s.Rule) -> tuple[Hoister, list[Step], list[s.Term], list[s.Term]]:
    """The steps of the body, those that the head adds to them, what is left of its arguments and of the rest."""
    hoister, head = Hoister(), rule.head
    steps = hoister.steps_of(rule.body)
    hoister.steps = steps
    parts = [part for part in head.ref if not isinstance(part, s.Scalar)]
    keys = [part if isinstance(part, s.Var) else hoister.made_equal(hoister.hoisted(part, ()), ()) for part in parts]
    others = [term for term in (head.contains, head.value) if term is not None]
    left = [hoister.outside(hoister.hoisted(term, ())) for term in (*others, *(head.args or ()))]
    return hoister, steps, left[len(others) :], [*left[: len(others)], *keys]


@dataclass(slots=True)
class _Check:
    hoister: Hoister
    found: dict[Step, set[str]] = field(default_factory=dict)

    def unsafe_of(self, steps: list[Step], outer: frozenset[str]) -> dict[Step, set[str]]:
        """By step, what is not bound there; `outer` is bound around the body."""
        self._order(steps, outer)
        return {step: names for step, names in self.found.items() if names}

    def _order(self, steps: list[Step], outer: frozenset[str]) -> None:
        own = {step: _names(step) for step in steps}
        inside = set().union(*own.values())
        safe = set(inside & outer)
        nested = {step: _nested_names(step) & inside - outer for step in steps}
        names = [own[step] | nested[step] for step in steps]
        taken = taken_in_order(names, lambda n: _taken(steps[n], safe, own[steps[n]], nested[steps[n]]))
        done = [steps[number] for number in taken]
        for step in [step for number, step in enumerate(steps) if number not in set(taken)]:
            missing = (nested[step] - safe or own[step]) - outputs(step, safe & own[step]) - safe
            self.found.setdefault(step, set()).update(missing or nested[step])
        self._descend(done, own, outer)

    def _descend(self, done: list[Step], own: dict[Step, set[str]], outer: frozenset[str]) -> None:
        """Into the bodies of what could be ordered: each sees what came before it."""
        known = set(outer)
        for step in done:
            for closure in closures_in((*step.terms, *step.withs)):
                heads, steps = self.hoister.steps_of_comprehension(closure)
                missing = heads - known - set().union(*map(_names, steps))
                self.found.setdefault(step, set()).update(missing)
                self._order(steps, frozenset(known))
            known |= step.binds
            for body in step.bodies:
                self._order(self.hoister.steps_of(body), frozenset(known))
            known |= own[step]


def _taken(step: Step, safe: set[str], own: set[str], nested: set[str]) -> set[str] | None:
    """What the step binds, which is safe from now on, if all that it needs is so already."""
    gives = outputs(step, safe & own)
    if (nested and nested == gives) or (own | nested) - gives - safe:
        return None
    safe |= gives
    return gives


def outputs(step: Step, safe: set[str]) -> set[str]:
    """What the step binds where `safe` is bound already."""
    if step.negated or (step.bodies and not step.terms):
        return set()
    if any(var.name not in safe | ROOTS for var in own_vars(*step.withs)):
        return set()
    found = _bound_by_refs(step.terms, safe)
    if step.unifies:
        known = safe | found
        left = {var.name for var in own_vars(step.terms[0])} if step.assigns else set()
        return (found | _unified(step.terms[0], step.terms[1], known - left | ROOTS)) - safe
    if step.result is None:
        return found
    return found | {step.result.name} if _pattern_names(step.terms) <= found | safe else set()


def _place(var: s.Var) -> Location:
    return var.location


def _names(step: Step) -> set[str]:
    result = (step.result,) if step.result is not None else ()
    return {var.name for var in own_vars(*step.terms, *step.withs, *result)} - ROOTS


def _nested_names(step: Step) -> set[str]:
    names = set().union(*(all_vars(closure) for closure in closures_in((*step.terms, *step.withs))))
    return names.union(*(all_vars(expr) for body in step.bodies for expr in body))


def _bound_by_refs(terms: Iterable[s.Term], safe: set[str]) -> set[str]:
    """The variables in the paths of refs whose heads are bound."""
    found: set[str] = set()
    for ref in _refs(terms):
        if isinstance(ref.head, s.Var) and ref.head.name in safe | ROOTS:
            found |= _path_names(ref)
    return found - ROOTS


def _refs(terms: Iterable[s.Term]) -> Iterator[s.Ref]:
    for term in terms:
        match term:
            case s.Ref(head, path):
                yield term
                yield from _refs((head, *path))
            case s.Array(items) | s.Set(items):
                yield from _refs(items)
            case s.Object(pairs):
                yield from _refs(part for pair in pairs for part in pair)


def _path_names(ref: s.Ref) -> set[str]:
    return set().union(*(_path_names(p) if isinstance(p, s.Ref) else {v.name for v in own_vars(p)} for p in ref.path))


def _pattern_names(terms: Iterable[s.Term]) -> set[str]:
    """The variables that values would be needed for, heads of refs, keys and members of sets aside."""
    found: set[str] = set()
    for term in terms:
        match term:
            case s.Var(name):
                found.add(name)
            case s.Ref(_, items) | s.Array(items):
                found |= _pattern_names(items)
            case s.Object(pairs):
                found |= _pattern_names(value for _, value in pairs)
    return found - ROOTS


def _unified(one: s.Term, other: s.Term, safe: set[str]) -> set[str]:
    equations = list(_equations(one, other))
    found: set[str] = set()
    while True:
        known = safe | found
        new = {name for a, b in equations for name in (*_given(a, b, known), *_given(b, a, known))} - known
        if not new:
            return found
        found |= new


def _equations(one: s.Term, other: s.Term) -> Iterator[tuple[s.Term, s.Term]]:
    """What must be equal for both to be: of arrays and objects, their parts."""
    if isinstance(one, s.Array) and isinstance(other, s.Array):
        pairs = list(zip(one.items, other.items, strict=True)) if len(one.items) == len(other.items) else []
    elif isinstance(one, s.Object) and isinstance(other, s.Object):
        pairs = (matching_values(one, other) or []) if len(one.items) == len(other.items) else []
    else:
        yield one, other
        return
    for a, b in pairs:
        yield from _equations(a, b)


def _given(pattern: s.Term, value: s.Term, known: set[str]) -> set[str]:
    """What the pattern binds if the value is there."""
    if isinstance(pattern, s.Var):
        return {pattern.name} if _is_there(value, known) else set()
    if isinstance(pattern, s.Array | s.Object) and not isinstance(value, s.Scalar | s.Set | s.Array | s.Object):
        return _pattern_names((pattern,)) if _is_there(value, known) else set()
    return set()


def _is_there(term: s.Term, known: set[str]) -> bool:
    match term:
        case s.Var(name):
            return name in known
        case s.Ref(s.Var(name), _):
            return name in known
        case s.Array() | s.Object():
            return _pattern_names((term,)) <= known
        case _:
            return True


def _problems(unsafe: dict[Step, set[str]], suggest: Suggest) -> list[RegoProblem]:
    """One a variable, at the first step that lacks it; what is only assigned from others goes without saying."""
    places: dict[str, Location] = {}
    for step, names in unsafe.items():
        for name in names:
            places[name] = min(places.get(name, step.location), step.location)
    written = {name: at for name, at in places.items() if not is_made(name)}
    assigned = {var.name for step in unsafe if step.assigns for var in own_vars(step.terms[0])}
    meant = {name: at for name, at in written.items() if name not in assigned} or written
    if meant:
        return [_problem(name, at, suggest) for name, at in meant.items()]
    return [RegoProblem(UNSAFE, "expression is unsafe", at) for at in sorted(set(places.values()))]


def _problem(name: str, location: Location, suggest: Suggest) -> RegoProblem:
    shown = written_name(name)
    hint = f" (hint: `import future.keywords.{shown}` to import a future keyword)" if shown in _LATER_KEYWORDS else ""
    return RegoProblem(UNSAFE, f"var {shown} is unsafe{hint}", location, suggest(shown, called=False))
