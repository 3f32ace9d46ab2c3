"""Modules of Rego, made of chances: the whole language, mostly well typed and safe, never recursive.

Lives here: what is written. Not here: what is changed of it afterwards, and what the answers must be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from random import Random
from typing import Any, Final, TypeAlias, TypeVar

Json: TypeAlias = Any
T = TypeVar("T")


@dataclass(frozen=True)
class Clause:
    head: str
    """With its value; `else` for what follows the first."""
    body: tuple[str, ...]
    movable: bool = True
    """Whether nothing in the body declares a variable, so that its expressions may change places."""

    def __str__(self) -> str:
        return self.head + " if {\n" + "".join(f"\t{each}\n" for each in self.body) + "}" if self.body else self.head


@dataclass(frozen=True)
class Module:
    package: str
    rules: tuple[tuple[Clause, ...], ...]
    """Each with its `else` branches."""
    names: tuple[str, ...]
    """Of documents, which can be asked for."""
    data: Json
    input: Json
    """NOTHING if there is none."""
    library: tuple[tuple[Clause, ...], ...] = ()
    """Rules of another package, which those of this one may use."""

    @property
    def sources(self) -> dict[str, str]:
        """By file."""
        return {"lib.rego": _source(LIBRARY, self.library), "t.rego": _source(self.package, self.rules)}


NOTHING: Final = object()
LIBRARY: Final = "lib"


def written(random: Random, package: str = "t") -> Module:
    library = _Author(random, LIBRARY)
    author = _Author(random, package)
    rules = library.rules(random.randint(0, 2))
    if rules:
        author.foreign = (f"data.{LIBRARY}", *(f"data.{LIBRARY}.{name}" for name in library.documents))
    return replace(author.module(), library=tuple(rules))


# --- what modules are made of


KEYS: Final = ("a", "b", "c")
SCALARS: Final = (
    "0", "1", "2", "-1", "1.0", "2.5", "10000000000", "true", "false", "null", '"a"', '"b"', '"c"', '"0"',
    '""', '"x y"', "`a`",
)  # fmt: skip
COMPARISONS: Final = ("==", "!=", "<", "<=", ">", ">=")
INNER: Final = 3
"""Of terms within terms."""


@dataclass
class _Scope:
    bound: list[str]
    declares: bool
    """With `:=` and `some`; otherwise variables are only unified."""

    def inner(self) -> _Scope:
        return _Scope(list(self.bound), self.declares)


@dataclass
class _Author:
    random: Random
    package: str
    documents: list[str] = field(default_factory=list)
    functions: dict[str, int] = field(default_factory=dict)
    numbers: count[int] = field(default_factory=count)
    foreign: tuple[str, ...] = ()
    """Refs to the documents of another package."""

    def rules(self, groups: int) -> list[tuple[Clause, ...]]:
        made: list[tuple[Clause, ...]] = []
        for number in range(groups):
            group = self._pick(
                (3, self._complete), (2, self._set), (3, self._object), (2, self._function), (1, self._indexed)
            )
            made.extend(group(number))
        return made

    def module(self) -> Module:
        rules = self.rules(self.random.randint(1, 4))
        given = NOTHING if self._chance(0.05) else self.json(INNER)
        return Module(self.package, tuple(rules), tuple(self.documents), self._data(), given)

    def _data(self) -> Json:
        data = {"d": {key: self.json(2) for key in KEYS}, "e": self.json(2)}
        return {**data, LIBRARY: {"base": self.json(1), "a": 1}} if self._chance(0.3) else data

    def json(self, depth: int) -> Json:
        size = self.random.randint(0, 3)
        if depth == INNER or (depth and self._chance(0.6)):
            if depth != INNER and self._chance(0.5):
                return [self.json(depth - 1) for _ in range(size)]
            return {key: self.json(depth - 1) for key in KEYS[: max(size, depth == INNER)]}
        return self.random.choice((0, 1, 2, 2.5, True, False, None, "a", "b", "c", "0", "1"))

    # --- rules

    def _complete(self, number: int) -> list[tuple[Clause, ...]]:
        name = f"p{number}"
        rules: list[tuple[Clause, ...]] = []
        if self._chance(0.3):
            rules.append((Clause(f"default {name} := {self._ground()}", ()),))
        same = self._ground() if self._chance(0.7) else None
        rules.extend(self._chain(name, _Scope([], self._chance(0.5)), same) for _ in range(self._some_of(2)))
        self.documents.append(name)
        return rules

    def _chain(self, head: str, scope: _Scope, value: str | None) -> tuple[Clause, ...]:
        """A rule and its `else` branches."""
        clauses = [self._clause(head, scope.inner(), value)]
        while self._chance(0.25):
            clauses.append(self._clause("else", scope.inner(), None))
        return tuple(clauses)

    def _clause(self, head: str, scope: _Scope, value: str | None) -> Clause:
        body = self._body(scope, self._some_of(3))
        said = f" := {value or self.term(scope, 2)}" if self._chance(0.8) else ""
        return Clause(head + said, body, not scope.declares)

    def _set(self, number: int) -> list[tuple[Clause, ...]]:
        name = f"p{number}"
        made = [self._member(name) for _ in range(self._some_of(3))]
        self.documents.append(name)
        return made

    def _member(self, name: str) -> tuple[Clause, ...]:
        scope = _Scope([], self._chance(0.5))
        body = self._body(scope, self._some_of(3))
        return (Clause(f"{name} contains {self.term(scope, 2)}", body, not scope.declares),)

    def _object(self, number: int) -> list[tuple[Clause, ...]]:
        """Heads with refs, of which some lie below others."""
        name = f"p{number}"
        shapes = self._pick(
            (3, ("[{}]",)), (1, (".a", ".b")), (1, (".a", "[{}]")), (1, (".a[{}]", ".b")), (1, ("[{}][{}]", "[{}].a")),
            (1, (".a.b", ".a[{}]", ".c")), (1, ("[{}] contains",)), (1, (".a contains", "[{}].b")),
            (1, ("[{}].a contains", "[{}].b")),
        )  # fmt: skip
        made = [self._entry(name + self.random.choice(shapes)) for _ in range(self._some_of(4))]
        self.documents.append(name)
        return made

    def _entry(self, shape: str) -> tuple[Clause, ...]:
        scope = _Scope([], self._chance(0.5))
        body = self._body(scope, self._some_of(3))
        keys = [self._key(scope) for _ in range(shape.count("{}"))]
        joint = " " if shape.endswith("contains") else " := "
        return (Clause(f"{shape.format(*keys)}{joint}{self.term(scope, 1)}", body, not scope.declares),)

    def _key(self, scope: _Scope) -> str:
        if scope.bound and self._chance(0.7):
            return self.random.choice(scope.bound)
        return self.term(scope, 1)

    def _function(self, number: int) -> list[tuple[Clause, ...]]:
        name, arity = f"f{number}", self.random.randint(1, 2)
        rules: list[tuple[Clause, ...]] = []
        if self._chance(0.2):
            rules.append((Clause(f"default {name}({', '.join('_' * arity)}) := {self._ground()}", ()),))
        same = self._ground() if self._chance(0.5) else None
        for _ in range(self._some_of(3)):
            scope = _Scope([], self._chance(0.5))
            args = ", ".join(self._argument(scope) for _ in range(arity))
            rules.append(self._chain(f"{name}({args})", scope, same))
        self.functions[name] = arity
        return rules

    def _argument(self, scope: _Scope) -> str:
        if self._chance(0.6):
            return self._new(scope)
        return self._ground() if self._chance(0.5) else self.pattern(scope, 2)

    def _indexed(self, number: int) -> list[tuple[Clause, ...]]:
        """Clauses enough for an index over what they demand."""
        name, path = f"p{number}", self._path("input")
        rules: list[tuple[Clause, ...]] = []
        for _ in range(self.random.randint(4, 6)):
            scope = _Scope([], False)
            tested = path if self._chance(0.8) else self._path("input")
            test = self._pick((3, f"{tested} == {self._scalar()}"), (1, f"{self._scalar()} = {tested}"),
                              (1, f"{tested} in {{{self._scalar()}, {self._scalar()}}}"))  # fmt: skip
            body = (test, *(self._body(scope, 1) if self._chance(0.5) else ()))
            rules.append((Clause(f"{name} contains {self.term(scope, 1)}", body),))
        self.documents.append(name)
        return rules

    # --- bodies

    def _body(self, scope: _Scope, size: int) -> tuple[str, ...]:
        return tuple(self._expression(scope) for _ in range(size))

    def _expression(self, scope: _Scope) -> str:
        make: Callable[[_Scope], str] = self._pick(
            (4, self._bind), (3, self._iterate), (2, self._destructure), (2, self._compare), (1, self._truth),
            (1, self._negated), (1, self._every), (1, self._membership), (2, self._modified), (1, self._both_sides),
            (1, self._key_later),
        )  # fmt: skip
        return make(scope)

    def _bind(self, scope: _Scope) -> str:
        value = self.term(scope, INNER)
        return f"{self._new(scope)} {':=' if scope.declares else '='} {value}"

    def _iterate(self, scope: _Scope) -> str:
        if scope.declares:
            over = self.collection(scope, 2) if self._chance(0.5) else self._of_any_type(scope)
            return self._some_in(scope, over)
        over = self.reference(scope)
        if self._chance(0.1):
            return f"walk({over}, [{self._new(scope)}, {self._new(scope)}])"
        key = "_" if self._chance(0.3) else self._new(scope)
        return f"{self._new(scope)} = {over}[{key}]" if self._chance(0.6) else f"{over}[{key}]"

    def _some_in(self, scope: _Scope, over: str) -> str:
        before = len(scope.bound)
        key = f"{self._new(scope)}, " if self._chance(0.3) else ""
        value = self.pattern(scope, 1) if self._chance(0.3) else self._new(scope)
        if len(scope.bound) == before:
            return f"{value} in {over}" if "_" not in value else "true"
        # OPA refuses what is declared and never used.
        return f"some {key}{value} in {over}; [{', '.join(scope.bound[before:])}] != 0"

    def _destructure(self, scope: _Scope) -> str:
        value, before = self._of_any_type(scope), len(scope.bound)
        pattern = self.pattern(scope, 2)
        unified = f"{pattern} = {value}" if self._chance(0.5) else f"{value} = {pattern}"
        return self._declaration(scope, before) + unified

    def _both_sides(self, scope: _Scope) -> str:
        """Arrays that bind on both sides, with calls and refs inside."""
        before, known = len(scope.bound), scope.inner()
        one, other = self._pair(scope, known, 2)
        return f"{self._declaration(scope, before)}{one} = {other}"

    def _pair(self, scope: _Scope, known: _Scope, depth: int) -> tuple[str, str]:
        """Two terms that bind each other's variables."""
        if depth <= 0 or self._chance(0.2):
            sides = (self._new(scope), self.term(known, 1))
            return sides if self._chance(0.5) else sides[::-1]
        pairs = [self._pair(scope, known, depth - 1) for _ in range(self._some_of(3))]
        one, other = ([pair[side] for pair in pairs] for side in range(2))
        if self._chance(0.6):
            return f"[{', '.join(one)}]", f"[{', '.join(other)}]"
        keys = self.random.sample(range(len(one)), len(one))
        return _object(range(len(one)), one), _object(keys, [other[key] for key in keys])

    def _key_later(self, scope: _Scope) -> str:
        over, before, key = self.reference(scope), len(scope.bound), self._new(scope)
        return f"{self._declaration(scope, before)}{over}[{key}]; {key} == {self._scalar()}"

    def _declaration(self, scope: _Scope, before: int) -> str:
        new = scope.bound[before:]
        return f"some {', '.join(new)}; " if new and scope.declares else ""

    def _compare(self, scope: _Scope) -> str:
        return f"{self.term(scope, 2)} {self.random.choice(COMPARISONS)} {self.term(scope, 2)}"

    def _truth(self, scope: _Scope) -> str:
        return self.term(scope, 2)

    def _negated(self, scope: _Scope) -> str:
        inner = scope.inner()
        return "not " + self._pick((2, self._truth), (1, self._compare), (1, self._membership))(inner)

    def _membership(self, scope: _Scope) -> str:
        key = f"{self.term(scope, 1)}, " if self._chance(0.2) else ""
        return f"{key}{self.term(scope, 1)} in {self.collection(scope, 2)}"

    def _every(self, scope: _Scope) -> str:
        over, inner = self.collection(scope, 2), scope.inner()
        names = ", ".join(self._new(inner) for _ in range(self._some_of(2)))
        inner.declares = True
        body = [*self._body(inner, self._some_of(2)), f"[{names}] != 0"]
        return f"every {names} in {over} {{ {'; '.join(body)} }}"

    def _modified(self, scope: _Scope) -> str:
        modifiers = "".join(self._with(scope) for _ in range(self._some_of(2)))
        expression: str = self._pick((2, self._bind), (1, self._truth), (1, self._negated), (1, self._compare))(scope)
        return expression + modifiers

    def _with(self, scope: _Scope) -> str:
        value = _without_template(self.term(scope.inner(), 1))
        targets = ["input", self._path("input", 1), self._path("data.d", 1), self._path("data.d", 1), "data.e"]
        targets += [*(f"data.{self.package}.{name}" for name in self.documents), *self.foreign, *self.foreign]
        targets += [f"{ref}.a" for ref in self.foreign[:1]]
        if self._chance(0.3):
            return f" with count as {value}" if self._chance(0.5) else " with count as object.keys"
        if self.functions and self._chance(0.3):
            name = self.random.choice(list(self.functions))
            alike = [
                other for other, arity in self.functions.items() if arity == self.functions[name] and other != name
            ]
            return f" with {name} as {self.random.choice([*alike, value])}"
        return f" with {self.random.choice(targets)} as {value}"

    # --- terms

    def term(self, scope: _Scope, depth: int) -> str:
        if depth <= 0:
            return self._pick((2, self._scalar()), (3, self._variable(scope)))
        make: Callable[[_Scope, int], str] = self._pick(
            (2, self._leaf), (4, self._referred), (2, self._array), (1, self._object_term), (1, self._set_term),
            (2, self._comprehension), (1, self._template), (2, self._call),
        )  # fmt: skip
        return make(scope, depth - 1)

    def collection(self, scope: _Scope, depth: int) -> str:
        make: Callable[[_Scope, int], str] = self._pick(
            (5, self._referred), (2, self._array), (1, self._object_term), (1, self._set_term), (1, self._comprehension)
        )
        return make(scope, depth - 1)

    def pattern(self, scope: _Scope, depth: int) -> str:
        if depth <= 0 or self._chance(0.3):
            if self._chance(0.6):
                return self._new(scope)
            return self._pick(
                (1, self._scalar()), (1, "_"), (len(scope.bound) * (not scope.declares), self._variable(scope))
            )
        items = [self.pattern(scope, depth - 1) for _ in range(self._some_of(3))]
        if self._chance(0.6):
            return f"[{', '.join(items)}]"
        return _object(range(len(items)), items)

    def reference(self, scope: _Scope) -> str:
        """Nothing but a ref without brackets around a variable that is not bound."""
        if (self.documents or scope.bound or self.foreign) and self._chance(0.5):
            return self._path(self.random.choice([*self.documents, *scope.bound, *self.foreign]), self._chance(0.15))
        return self._path(self._pick((2, "input"), (1, "data.d"), (1, "imported")))

    def _of_any_type(self, scope: _Scope) -> str:
        """A value of which the type checker knows nothing."""
        if self._chance(0.5):
            return self._path(self._pick((2, "input"), (1, "data.d")))
        return f"json.unmarshal(json.marshal({self.term(scope, 2)}))"

    def _path(self, root: str, longest: int = 2) -> str:
        return root + "".join(f".{self.random.choice(KEYS)}" for _ in range(self.random.randint(0, longest)))

    def _referred(self, scope: _Scope, depth: int) -> str:
        ref = self.reference(scope)
        if depth and self._chance(0.3):
            key = self._pick((1, self._scalar()), (1, self._variable(scope)), (1, self.term(scope, depth - 1)))
            return f"{ref}[{_without_template(key)}]"
        return ref

    def _leaf(self, scope: _Scope, _: int) -> str:
        return self._pick((1, self._scalar()), (2, self._variable(scope)))

    def _array(self, scope: _Scope, depth: int) -> str:
        return "[" + ", ".join(self._items(scope, depth)) + "]"

    def _set_term(self, scope: _Scope, depth: int) -> str:
        items = self._items(scope, depth)
        return "{" + ", ".join(items) + "}" if items else "set()"

    def _object_term(self, scope: _Scope, depth: int) -> str:
        keys = [self._pick((3, f'"{key}"'), (1, self.term(scope, depth))) for key in KEYS]
        return (
            "{" + ", ".join(f"{key}: {item}" for key, item in zip(keys, self._items(scope, depth), strict=False)) + "}"
        )

    def _items(self, scope: _Scope, depth: int) -> Sequence[str]:
        return [self.term(scope, depth) for _ in range(self.random.randint(0, 3))]

    def _comprehension(self, scope: _Scope, depth: int) -> str:
        inner = scope.inner()
        body = "; ".join(self._body(inner, self._some_of(2))) if depth else self._iterate(inner)
        head = self.term(inner, depth)
        match self.random.randrange(3):
            case 0:
                return f"[{head} | {body}]"
            case 1:
                return f"{{{head} | {body}}}"
            case _:
                return f"{{{self._key(inner)}: {head} | {body}}}"

    def _template(self, scope: _Scope, depth: int) -> str:
        declared = scope if scope.declares else _Scope([], True)
        return f'$"<{{{self._referred(declared, depth)}}}>{{{self.term(declared, depth)}}}"'

    def _call(self, scope: _Scope, depth: int) -> str:
        if self.functions and self._chance(0.5):
            name = self.random.choice(list(self.functions))
            return f"{name}({', '.join(self.term(scope, depth) for _ in range(self.functions[name]))})"
        shape = self.random.choice(_CALLS)
        terms = [self.term(scope, depth) for _ in range(2)]
        return shape.format(*terms, c=self.collection(scope, depth), r=self.reference(scope))

    def _variable(self, scope: _Scope) -> str:
        return self.random.choice(scope.bound) if scope.bound else self._path("input")

    def _scalar(self) -> str:
        return self.random.choice(SCALARS)

    def _ground(self) -> str:
        return self._pick((4, self._scalar()), (1, f"[{self._scalar()}]"), (1, f'{{"a": {self._scalar()}}}'))

    def _new(self, scope: _Scope) -> str:
        """A variable that is not bound; it is from now on."""
        scope.bound.append(f"x{next(self.numbers)}")
        return scope.bound[-1]

    # --- chances

    def _chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def _some_of(self, most: int) -> int:
        return self.random.randint(1, most)

    def _pick(self, *choices: tuple[int, T]) -> T:
        return self.random.choices([what for _, what in choices], [weight for weight, _ in choices])[0]


_CALLS: Final = (
    "count({c})", "count({r})", "sum({r})", "max({r})", "min({c})", "sort({r})", "type_name({})", "to_number({r})",
    "object.get({r}, {}, {})", "object.keys({r})", "array.concat({r}, {r})", "json.marshal({})", 'sprintf("%v", [{}])',
    "format_int({r}, 10)", 'concat(",", {r})', "({r} + {r})", "({r} - {r})", "({r} & {r})", "({r} | {r})",
    "is_string({})", "is_number({})", "union({{{r}}})", "({} in {c})", "({} == {})", "abs({r})", 'split({r}, "a")',
    "numbers.range({r}, 3)", "json.unmarshal(json.marshal({}))", "[i | some i, _ in {c}]", "({r} * 2)",
    "({{{}}} | {{{}}})", "is_array({})",
    "object.union({r}, {r})", "array.slice({r}, 0, 2)", "array.reverse({r})", "intersection({{{r}}})",
)  # fmt: skip


def _object(keys: Sequence[int], items: Sequence[str]) -> str:
    return "{" + ", ".join(f'"{KEYS[key]}": {item}' for key, item in zip(keys, items, strict=True)) + "}"


def _without_template(term: str) -> str:
    """OPA does not resolve what stands in a template within brackets or behind `with`."""
    return '"a"' if '$"' in term else term


def _source(package: str, rules: Sequence[Sequence[Clause]]) -> str:
    texts = (" ".join(map(str, rule)) for rule in rules)
    return f"package {package}\n\nimport data.d as imported\n\n" + "\n\n".join(texts) + "\n"
