"""A document or a function as Python: one function a clause, and one that tries those that can match."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from engine.rego.code.bodies import Code
from engine.rego.code.grouping import Group
from engine.rego.code.indexing import FEWEST, demands_of
from engine.rego.errors import Location
from engine.rego.syntax import tree as s
from engine.rego.syntax.ground import ground_value, is_ground
from engine.rego.values import Frozen, freeze

if TYPE_CHECKING:
    from engine.rego.code.linking import Linker


class GroupCode:
    """The source of all functions of one group."""

    def __init__(self, linker: Linker, group: Group, label: str) -> None:
        self.source: list[str] = []
        self._linker = linker
        self._names = linker.names
        self._group = group
        self._label = label
        self._number = linker.number_of(group.path)
        """Of a document whose origins are kept."""
        self._rules = [rule for rule in group.rules if not rule.default]
        self._args = [f"a{n}" for n in range(group.arity or 0)]
        self._signature = ", ".join(["q", *self._args])
        if group.is_object or group.is_set:
            self._partial()
        else:
            self._complete()

    # --- complete rules and functions

    def _complete(self) -> None:
        label, default = self._label, next((rule for rule in self._group.rules if rule.default), None)
        if self._linker.is_remembered(self._group.path):
            label = self._remembering()
        if len(self._rules) == 1 and self._rules[0].otherwise is None and default is None:
            self._clause(label, self._rules[0])
            return
        names = [self._chain(f"rule{n}", rule) for n, rule in enumerate(self._rules, 1)]
        alike = _same_constant(self._rules)
        lines = [f"def {label}({self._signature}):", *([] if alike else ["    value = UNDEFINED"])]
        for name, at, indent in self._trials(lines, names):
            lines.append(f"{indent}found = {name}({self._signature})")
            then = "return found" if alike else f"value = agreed(value, found, {at})"
            lines.append(f"{indent}if found is not UNDEFINED: {then}")
        lines.extend(self._otherwise(alike, default))
        self._add(lines)

    def _remembering(self) -> str:
        """A function that asks what it gave before. What it has is told by identity unless it is a text or a number,
        and kept as long as the answer, so that nothing else takes its place."""
        inner = f"new_{self._label}"
        parts = [f"{arg} if type({arg}) in HASHED else (id({arg}),)" for arg in self._args]
        self._add(
            [
                f"def {self._label}({self._signature}):",
                f"    key = ({', '.join([repr(self._label), *parts])})",
                "    if key in q.calls: return q.calls[key][0]",
                f"    found = {inner}({self._signature})",
                f"    q.calls[key] = ({', '.join(['found', *self._args])})",
                "    return found",
            ]
        )
        return inner

    def _chain(self, which: str, rule: s.Rule) -> str:
        """The clause and its `else` branches, in order, as one function."""
        label = f"{which}_{self._label}"
        if rule.otherwise is None:
            self._clause(label, rule)
            return label
        lines, number = [f"def {label}({self._signature}):"], 0
        each: s.Rule | None = rule
        while each is not None:
            name = f"{which}_else{number}_{self._label}" if number else f"{which}_if_{self._label}"
            self._clause(name, each)
            lines += [f"    found = {name}({self._signature})", "    if found is not UNDEFINED: return found"]
            each, number = each.otherwise, number + 1
        self._add([*lines, "    return UNDEFINED"])
        return label

    def _clause(self, name: str, rule: s.Rule) -> None:
        code = Code(self._linker, f"def {name}({self._signature}):  # {shown(rule.location)}", "return UNDEFINED")
        code.assigned = ["found"]
        if self._group.arity is not None:
            code.add("q.budget.left -= 1")
            code.add("if q.budget.left < 0: q.budget.spend()")
        compared = tuple(self._matched_args(code, rule))
        body = (*rule.body, *compared)
        value = rule.head.value or s.Scalar(True, rule.location)
        several = False

        def tail(inner: Code) -> None:
            nonlocal several
            result = inner.term(value)
            several = inner.in_loop_since(0) and not is_ground(value)
            if several:
                inner.add(f"found = agreed(found, {result}, {self._names.place(rule.location)})")
                return
            if self._number is not None:
                inner.add(self._noted(rule))
            inner.add(f"return {result}")

        code.body(body, tail)
        code.end()
        if several or code.is_split:
            code.add_first("found = UNDEFINED")
        if several and self._number is not None:
            code.add(f"if found is not UNDEFINED: {self._noted(rule)}")
        code.finish("return found" if several else "return UNDEFINED")
        self._add(code.lines)

    def _matched_args(self, code: Code, rule: s.Rule) -> Iterator[s.Expr]:
        """Patterns of arguments are matched at once; one that uses what only the body binds is compared there."""
        for number, pattern in enumerate(rule.head.args or ()):
            if isinstance(pattern, s.Var | s.Scalar | s.Array | s.Object):
                code.match(pattern, f"a{number}")
                continue
            given = s.Var(f"$given{number}", pattern.location)
            code.match(given, f"a{number}")
            same = s.Call(("eq",), (given, pattern), pattern.location, infix=True)
            yield s.Expr(same, False, (), pattern.location)

    def _otherwise(self, alike: bool, default: s.Rule | None) -> list[str]:
        """What it is where no clause gave it a value."""
        if default is None:
            return ["    return UNDEFINED" if alike else "    return value"]
        lines = [] if alike else ["    if value is not UNDEFINED: return value"]
        if self._number is not None:
            lines.append(f"    {self._noted(default)}")
        return [*lines, f"    return {self._default(default)}"]

    def _default(self, rule: s.Rule) -> str:
        """A default may be a comprehension, but uses no variable from outside."""
        value = rule.head.value or s.Scalar(True, rule.location)
        if is_ground(value):
            return self._names.constant(ground_value(value))
        code = Code(self._linker, f"def default_{self._label}(q):  # {shown(rule.location)}", "return UNDEFINED")
        code.add(f"return {code.term(value)}")
        self._add(code.lines)
        return f"default_{self._label}(q)"

    def _noted(self, rule: s.Rule) -> str:
        """The rule, as an origin of the document; of several that agree, all are."""
        origin = self._names.origin(rule.location)
        alone = len(self._rules) <= 1 or rule.default
        return f"q.where[{self._number}] = {origin}" if alone else f"note_document(q, {self._number}, {origin})"

    # --- partial sets and objects

    def _partial(self) -> None:
        kind = "set" if self._group.is_set else "flat" if self._group.is_flat_object else "deep"
        start, result = (_TRACED if self._number is not None else _PARTIAL)[kind]
        names = [f"rule{n}_{self._label}" for n in range(1, len(self._rules) + 1)]
        suffixes = [
            suffix for rule, suffix in zip(self._group.rules, self._group.suffixes, strict=True) if not rule.default
        ]
        for name, rule, suffix in zip(names, self._rules, suffixes, strict=True):
            self._partial_clause(name, rule, suffix)
        lines = [f"def {self._label}(q):", f"    out = {start}"]
        if containers := _containers(suffixes, self._rules):
            lines.append(f"    prepare(out, {self._names.named(containers, containers, 'CONTAINERS')})")
        if self._number is not None:
            lines.append("    where = out" if kind == "set" else "    where = {}")
        for name, _, indent in self._trials(lines, names):
            lines.append(f"{indent}{name}(q, out{', where' if self._number is not None else ''})")
        if self._number is not None:
            lines.append(f"    q.where[{self._number}] = where")
            lines.extend(["    q.sets.append(where)"] if kind == "set" else [])
        self._add([*lines, f"    return {result}"])

    def _partial_clause(self, name: str, rule: s.Rule, suffix: tuple[s.Term, ...]) -> None:
        given = "out, where" if self._number is not None else "out"
        code = Code(self._linker, f"def {name}(q, {given}):  # {shown(rule.location)}", "return")
        leaf = rule.head.contains or rule.head.value or s.Scalar(True, rule.location)

        def tail(inner: Code) -> None:
            if self._group.is_set:
                self._collect(inner, inner.frozen(leaf), rule)
            else:
                *path, value = inner.terms([*suffix, leaf])
                self._insert(inner, path, value, rule)

        code.body(rule.body, tail)
        code.end()
        self._add(code.lines)

    def _collect(self, code: Code, element: str, rule: s.Rule) -> None:
        if self._number is None:
            code.add(f"out.add({element})")
        else:
            code.add(f"noted(where, {element}, {self._names.origin(rule.location)})")

    def _insert(self, code: Code, path: list[str], value: str, rule: s.Rule) -> None:
        at = self._names.place(rule.location)
        if self._number is not None:
            code.add(f"noted(where, freeze({path[0]}), {self._names.origin(rule.location)})")
        if self._group.is_flat_object:
            code.add(f"insert_key(out, {path[0]}, {value}, {at})")
        else:
            into = "insert" if rule.head.contains is None else "insert_member"
            code.add(f"{into}(out, ({', '.join(path)},), {value}, {at})")

    # --- both

    def _trials(self, lines: list[str], names: list[str]) -> Iterator[tuple[str, str, str]]:
        """Clause after clause; or, if there is an index, one loop over those that can match."""
        if not self._worth_an_index():
            for name, rule in zip(names, self._rules, strict=True):
                yield name, self._names.place(rule.location), "    "
            return
        index = self._linker.index(list(zip(names, self._rules, strict=True)))
        given = f", ({''.join(arg + ', ' for arg in self._args)})" if self._args else ""
        lines.append(f"    for clause in choose(q, {index}{given}):")
        yield "clause", self._names.place(self._rules[0].location), "        "

    def _worth_an_index(self) -> bool:
        demanding = sum(bool(demands_of(rule, self._linker.is_base)) for rule in self._rules)
        return demanding >= FEWEST

    def _add(self, lines: Sequence[str]) -> None:
        self.source.append("\n".join(lines))


def shown(location: Location) -> str:
    """For a comment: a file may have any name, but none that ends the line."""
    return "".join(letter if letter.isprintable() else "?" for letter in str(location))


_PARTIAL: Final = {
    "set": ("set()", "RegoSet.of_frozen(out)"),
    "flat": ("{}", "out"),
    "deep": ("new_object()", "finished(out)"),
}
_TRACED: Final = {**_PARTIAL, "set": ("{}", "RegoSet.of_frozen(set(out))")}
"""Where origins are kept, a set is made of the keys of its origins."""


def _containers(
    suffixes: Sequence[tuple[s.Term, ...]], rules: Sequence[s.Rule]
) -> tuple[tuple[tuple[Frozen, ...], bool], ...]:
    """What is there even if no rule holds, as OPA has it: `p[2] contains x` makes `p[2]` a set, if an empty one.

    Each is a path, and whether a set is there or an object.
    """
    found = {}
    for suffix, rule in zip(suffixes, rules, strict=True):
        constant = tuple(freeze(part.value) for part in takewhile(_is_scalar, suffix) if isinstance(part, s.Scalar))
        whole, is_set = len(constant) == len(suffix), rule.head.contains is not None
        path = constant if is_set or not whole else constant[:-1]
        if path:
            found[path] = is_set and whole
    return tuple(found.items())


def _is_scalar(term: s.Term) -> bool:
    return isinstance(term, s.Scalar)


def _same_constant(rules: Sequence[s.Rule]) -> bool:
    """Whether no two clauses can disagree, so that the first that holds says it all."""
    if len(rules) == 1:
        return True
    values = [rule.head.value for rule in rules]
    constants = {(type(v.value), v.value) if isinstance(v, s.Scalar) else (bool, True) for v in values}
    written = all(value is None or isinstance(value, s.Scalar) for value in values)
    return written and len(constants) == 1 and all(rule.otherwise is None for rule in rules)
