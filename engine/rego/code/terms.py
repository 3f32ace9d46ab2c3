"""Terms as Python: an expression for a value that is there. What can be undefined leaves first."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Final, TypeAlias

from engine.rego.check.safety import evaluated
from engine.rego.code.lines import Lines
from engine.rego.errors import Location
from engine.rego.syntax import tree as s
from engine.rego.syntax.ground import ground_value, is_ground
from engine.rego.syntax.variables import MARK, ROOTS, all_vars, is_wildcard
from engine.rego.types.signatures import signatures

if TYPE_CHECKING:
    from engine.rego.code.linking import Linker

Enclosing: TypeAlias = s.ArrayComprehension | s.SetComprehension | s.ObjectComprehension | s.TemplateString | s.Logical

_SMALL: Final = frozenset({
    "plus", "minus", "mul", "div", "rem", "abs", "floor", "ceil", "round", "count", "object.get", "type_name",
    "startswith", "endswith", "contains", "to_number", "internal.member_3", "regex.match",
})  # fmt: skip
"""Builtins that make nothing large."""
_COMPARISONS: Final = {"lt": "<", "lte": "<=", "gt": ">", "gte": ">="}
_KINDS: Final = {
    "is_string": "type({}) is str", "is_boolean": "type({}) is bool", "is_array": "type({}) is list",
    "is_object": "type({}) is dict", "is_set": "type({}) is RegoSet", "is_null": "{} is None",
    "is_number": "type({}) in NUMBERS",
}  # fmt: skip


class TermCode(Lines, ABC):
    """The code of terms and patterns, and what it knows at the line that it has reached."""

    def __init__(self, linker: Linker, header: str, leave: str, indent: int = 0) -> None:
        super().__init__(header, leave, linker.names.fresh, indent)
        self.linker = linker
        self.names = linker.names
        self.bound: set[str] = set()
        self.known: dict[tuple[object, ...], str] = {}
        """Paths that were followed already, and the names of what was found there."""
        self.ordered = False
        """Whether the order of elements shows in the result."""

    @abstractmethod
    def enclosed(self, term: Enclosing) -> str:
        """A term that has a body of its own."""

    # --- terms: a Python expression for a value that is there; what can be undefined leaves first

    def term(self, term: s.Term) -> str:
        match term:
            case s.Scalar(value):
                return self.names.constant(value)
            case s.Var(name):
                return self._root(name) if name in ROOTS else local(name)
            case s.Ref():
                return self._ref(term)
            case s.Call():
                return self._call(term)
            case s.Array() | s.Set() | s.Object():
                return self._composite(term)
            case _:
                return self.enclosed(term)

    def terms(self, terms: list[s.Term]) -> list[str]:
        """Each of them, in an order in which all can be evaluated."""
        made: dict[int, str] = {}
        visible = frozenset(self.bound).union(*(all_vars(term) for term in terms))
        while len(made) < len(terms):
            bound = frozenset(self.bound)
            waiting = [n for n in range(len(terms)) if n not in made]
            ready = next((n for n in waiting if not self._needs(terms[n], bound, visible)), waiting[0])
            made[ready] = self.term(terms[ready])
        return [made[n] for n in range(len(terms))]

    def _needs(self, term: s.Term, bound: frozenset[str], visible: frozenset[str]) -> bool:
        return bool(evaluated(term, bound, visible).needs - bound)

    def frozen(self, term: s.Term) -> str:
        """A term as the element of a set or the key of an object."""
        value = self.term(term)
        return value if isinstance(term, s.Scalar) and type(term.value) is str else f"freeze({value})"

    def _root(self, name: str) -> str:
        if name == "input":
            self.unless("q.input is UNDEFINED")
            return "q.input"
        return self._held(f"q.whole({self.linker.node(())})")

    def _composite(self, term: s.Array | s.Set | s.Object) -> str:
        if not all_vars(term) and is_ground(term):
            return self.names.constant(ground_value(term))
        if isinstance(term, s.Object):
            parts = self.terms([part for pair in term.items for part in pair])
            keys = [
                key if isinstance(written, s.Scalar) and type(written.value) is str else f"freeze({key})"
                for (written, _), key in zip(term.items, parts[::2], strict=True)
            ]
            return "{" + ", ".join(f"{key}: {value}" for key, value in zip(keys, parts[1::2], strict=True)) + "}"
        parts = self.terms(list(term.items))
        listed = "[" + ", ".join(parts) + "]"
        return listed if isinstance(term, s.Array) else f"RegoSet({listed})"

    # --- patterns

    def match(self, pattern: s.Term, value: str) -> None:
        """`value` is a Python expression for a value that is there; variables of `pattern` are bound by it."""
        match pattern:
            case s.Var(name) if name not in ROOTS:
                if name in self.bound:
                    self.unless(f"not equal({local(name)}, {value})")
                else:
                    self.add(f"{local(name)} = {value}")
                    self.bound.add(name)
            case s.Array(entries) if self._has_unbound(pattern):
                held = self._held(value)
                self.unless(f"type({held}) is not list or len({held}) != {len(entries)}")
                for place, entry in enumerate(entries):
                    self.match(entry, f"{held}[{place}]")
            case s.Object(pairs) if self._has_unbound(pattern):
                held = self._held(value)
                self.unless(f"type({held}) is not dict or len({held}) != {len(pairs)}")
                for key, entry in pairs:
                    found = self._held(f"get({held}, {self.term(key)})")
                    self.unless(f"{found} is UNDEFINED")
                    self.match(entry, found)
            case _:
                self.unless(f"not ({_equality(self.term(pattern), value)})")

    def _has_unbound(self, term: s.Term) -> bool:
        return bool(all_vars(term) - self.bound)

    def _held(self, expression: str) -> str:
        """A name for an expression that is used more than once."""
        if expression.isidentifier():
            return expression
        name = self.fresh("t")
        self.add(f"{name} = {expression}")
        return name

    # --- loops

    def _each_element(self, pattern: s.Term, over: str) -> None:
        target = self._target(pattern)
        self.loop(target, f"elements{self._in_order}(q, {over})")
        self._match_later(pattern, target)

    def _each_item(self, key: s.Term, value: s.Term, over: str) -> None:
        key_target, value_target = self._target(key), self._target(value)
        self.loop(f"{key_target}, {value_target}", f"items{self._in_order}(q, {over})")
        self._match_later(key, key_target)
        self._match_later(value, value_target)

    @property
    def _in_order(self) -> str:
        return "_in_order" if self.ordered else ""

    def _target(self, pattern: s.Term) -> str:
        """A name for what a loop gives: the variable's own if it is one to be bound."""
        if isinstance(pattern, s.Var) and pattern.name not in self.bound and pattern.name not in ROOTS:
            return local(pattern.name)
        return self.fresh("t")

    def _match_later(self, pattern: s.Term, target: str) -> None:
        if isinstance(pattern, s.Var) and local(pattern.name) == target:
            self.bound.add(pattern.name)
        else:
            self.match(pattern, target)

    # --- calls

    def _call(self, call: s.Call) -> str:
        if call.operator[0] == "data":
            return self._function(call)
        condition = self._condition(call)
        if condition is not None:
            return f"({condition})"
        name = ".".join(call.operator)
        result = self._builtin(name, self.terms(list(call.args)), call.location)
        if _is_relation(name):
            each = self.fresh("t")
            self.loop(each, f"elements_in_order(q, {result})")
            return each
        return result

    def _function(self, call: s.Call) -> str:
        args = self.terms(list(call.args))
        if ("call", *call.operator, *args) in self.known:
            return self.known[("call", *call.operator, *args)]
        name, target = ".".join(call.operator), self.linker.function(call)
        mockable = self.linker.is_mocked(name)
        called = f"call_function(q, {name!r}, {target}" if mockable else f"{target}(q"
        result = self._held(", ".join([called, *args]) + ")")
        self.unless(f"{result} is UNDEFINED")
        self.known[("call", *call.operator, *args)] = result
        return result

    def _condition(self, call: s.Call) -> str | None:
        """A builtin that Python answers by itself, with True or False."""
        name = ".".join(call.operator)
        if self.linker.is_mocked(name):
            return None
        if name in {"equal", "neq"}:
            one, other = self.terms(list(call.args))
            return _equality(one, other) if name == "equal" else f"not ({_equality(one, other)})"
        if name in _COMPARISONS:
            return _comparison(_COMPARISONS[name], *map(self._held_unless_literal, self.terms(list(call.args))))
        if name == "internal.member_2":
            return self._membership(*call.args)
        return _KINDS[name].format(self._held(self.term(call.args[0]))) if name in _KINDS else None

    def _membership(self, value: s.Term, collection: s.Term) -> str:
        if isinstance(collection, s.Set) and all(map(_is_text, collection.items)):
            held = self._held(self.term(value))
            texts = self.names.texts([item.value for item in collection.items if isinstance(item, s.Scalar)])
            return f"type({held}) is str and {held} in {texts}"
        one, other = self.terms([value, collection])
        return f"member(q, {one}, {other})"

    def _held_unless_literal(self, value: str) -> str:
        return value if value.lstrip("-").isdigit() else self._held(value)

    def _builtin(self, name: str, args: list[str], location: Location) -> str:
        if ("call", name, *args) in self.known:
            return self.known[("call", name, *args)]
        result = self.fresh("t")
        function, takes = self.names.builtin(name)
        if self.linker.is_mocked(name):
            function, takes = self.names.mockable_builtin(name), ["q"]
        self.add("try:")
        with self.nested():
            self.add(f"{result} = {self._quick(name, args)}{function}({', '.join([*takes, *args])})")
        self.add("except BuiltinError as error:")
        with self.nested():
            self.add(f"builtin_failed(q, error, {self.names.place(location)})")
            self.add(self.fail)
        self.unless(f"{result} is UNDEFINED")
        if name not in _SMALL:
            self.add(f"if type({result}) in COUNTED and len({result}) > LARGE: q.budget.made(len({result}))")
        self.known[("call", name, *args)] = result
        return result

    def _quick(self, name: str, args: list[str]) -> str:
        """What most calls are, without a call."""
        if name == "count" and not self.linker.is_mocked(name) and args[0].isidentifier():
            return f"len({args[0]}) if type({args[0]}) in COUNTED else "
        return ""

    # --- refs

    def _ref(self, ref: s.Ref) -> str:
        if isinstance(ref.head, s.Var) and ref.head.name == "data":
            return self._data_ref(ref)
        if isinstance(ref.head, s.Var) and ref.head.name == "input" and ref.path and _is_text(ref.path[0]):
            return self._path("q.input", ref.path)
        return self._path(self.term(ref.head), ref.path)

    def _path(self, value: str, path: tuple[s.Term, ...]) -> str:
        while path:
            names = _leading_texts(path)
            value = self._followed(value, names) if names else self._step(value, path[0])
            path = path[max(len(names), 1) :]
        return value

    def _followed(self, value: str, names: tuple[str, ...]) -> str:
        """Constant keys: Python's own lookups, and its exceptions where there is nothing."""
        if (value, *names) in self.known:
            return self.known[(value, *names)]
        found = self.fresh("t")
        self.add(f"try: {found} = {value}{''.join(f'[{name!r}]' for name in names)}")
        self.add(f"except MISSING: {self.fail}")
        self.known[(value, *names)] = found
        return found

    def _step(self, value: str, part: s.Term) -> str:
        if isinstance(part, s.Var | s.Array | s.Object) and self._has_unbound(part):
            over = self._held(value)
            found = s.Var("$" + self.fresh("t"), part.location)
            if isinstance(part, s.Var) and is_wildcard(part.name):
                self._each_element(found, over)
            else:
                self._each_item(part, found, over)
            return local(found.name)
        over, key = self._held(value), self.term(part)
        found_name = self._held(
            f"{over}.get({key}, UNDEFINED) if type({over}) is dict and type({key}) is str else get({over}, {key})"
        )
        self.unless(f"{found_name} is UNDEFINED")
        return found_name

    def _data_ref(self, ref: s.Ref) -> str:
        """As far as the path is constant it is followed now; from there on at run time."""
        node, used = self.linker.follow(ref.path)
        if node is None:
            return self._base_ref(ref.path, used)
        if node.document is not None:
            return self._path(self._document(node.document), ref.path[used:])
        here = self.linker.node(node.path)
        if used == len(ref.path):
            value = self._held(f"q.whole({here})")
            self.unless(f"{value} is UNDEFINED")
            return value
        part = ref.path[used]
        if isinstance(part, s.Var | s.Array | s.Object) and self._has_unbound(part):
            key, value = self._target(part), self.fresh("t")
            self.loop(f"{key}, {value}", f"q.children({here})")
            self._match_later(part, key)
        else:
            value = self._held(f"q.child({here}, {self.term(part)})")
            self.unless(f"{value} is UNDEFINED")
        return self._path(value, ref.path[used + 1 :])

    def _base_ref(self, path: tuple[s.Term, ...], used: int) -> str:
        """What no rule defines: data alone."""
        constant = tuple(part.value for part in path[:used] if isinstance(part, s.Scalar))
        if all(type(part) is str for part in constant):
            return self._path("q.data", path)
        value = self._held(f"q.base({constant!r})")
        self.unless(f"{value} is UNDEFINED")
        return self._path(value, path[used:])

    def _document(self, number: int) -> str:
        if ("document", number) not in self.known:
            value = self.fresh("t")
            self.add(f"{value} = q.memo[{number}]")
            label = self.linker.label_of(number)
            self.add(f"if {value} is PENDING: {value} = q.memo[{number}] = {label}(q)")
            self.unless(f"{value} is UNDEFINED")
            self.known["document", number] = value
        return self.known["document", number]


def _equality(one: str, other: str) -> str:
    """Raw comparison is right where one side is a text, or a number that no boolean is taken for."""
    for literal, value in ((one, other), (other, one)):
        if literal[0] in "'\"" or (literal.lstrip("-").isdigit() and literal not in {"0", "1"}):
            return f"{value} == {literal}"
        if literal in _SINGLETONS and value.isidentifier() and value not in _SINGLETONS:
            return f"{value} is {literal}"
    return f"equal({one}, {other})"


_SINGLETONS: Final = {"None", "True", "False"}


def _comparison(operator: str, one: str, other: str) -> str:
    whole = " and ".join(f"type({side}) is int" for side in (one, other) if not side.lstrip("-").isdigit())
    slow = f"compare({one}, {other}) {operator} 0"
    return f"{one} {operator} {other} if {whole} else {slow}" if whole else slow


def _is_text(part: s.Term) -> bool:
    return isinstance(part, s.Scalar) and type(part.value) is str


def _leading_texts(path: tuple[s.Term, ...]) -> tuple[str, ...]:
    end = next((n for n, part in enumerate(path) if not _is_text(part)), len(path))
    return tuple(part.value for part in path[:end] if isinstance(part, s.Scalar))


def local(name: str) -> str:
    """A variable's name in Python. What the compiler made up begins with `$`, which no Rego name does.

    Python takes letters that look alike for the same, such as `x１` and `x1`: only plain letters are left as they are.
    """
    if name.startswith("$"):
        return f"g_{name[1:]}"
    return "v_" + (name if name.isascii() else "".join(_plain(letter) for letter in name))


def _plain(letter: str) -> str:
    return letter if letter.isascii() or letter == MARK else f"{MARK}u{ord(letter):x}{MARK}"


def _is_relation(name: str) -> bool:
    """Whether a builtin may have many results for the same arguments."""
    signature = signatures().get(name)
    return signature is not None and signature.relation
