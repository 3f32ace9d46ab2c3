"""Linking: rules grouped into documents and functions, checked against each other, compiled, and put together.

The generated source is kept: it is what `lictor policy compile --dump` shows and what a traceback points into.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from engine.rego import runtime
from engine.rego import syntax as s
from engine.rego.builtins.registry import BUILTINS, Builtin
from engine.rego.codegen import Code, constant_repr, local
from engine.rego.errors import BuiltinError, Location, RegoProblem
from engine.rego.resolve import dotted
from engine.rego.safety import Ordered
from engine.rego.signatures import signatures
from engine.rego.values import UNDEFINED, RegoSet, Value, compare, equal, freeze, get, make_object
from engine.rego.walking import parts_of


@dataclass(slots=True)
class Group:
    """All rules of one document or function."""

    path: tuple[str, ...]
    rules: list[s.Rule] = field(default_factory=list)
    suffixes: list[tuple[s.Term, ...]] = field(default_factory=list)
    """Of each rule: the part of its head that is only known at run time."""

    @property
    def arity(self) -> int | None:
        args = self.rules[0].head.args
        return len(args) if args is not None else None

    @property
    def is_object(self) -> bool:
        return any(self.suffixes)

    @property
    def is_set(self) -> bool:
        return not self.is_object and self.rules[0].head.contains is not None


class Linker:
    def __init__(self) -> None:
        self.problems: list[RegoProblem] = []
        self.source: list[str] = []
        self.program = runtime.Program()
        self._nodes: dict[tuple[str, ...], runtime.Node] = {(): self.program.root}
        self._functions: dict[tuple[str, ...], Group] = {}
        self._constants: dict[object, str] = {}
        self._numbers: dict[str, int] = {}
        self._used: dict[tuple[str, ...], runtime.Node] = {}
        self._namespace: dict[str, Any] = {**_NAMESPACE, "NODES": self._used}

    # --- rules

    def link(self, rules: list[s.Rule], packages: Iterable[tuple[str, ...]] = ()) -> None:
        groups = group_rules(rules)
        for package in packages:
            self._node(package).is_package = True
        for group in groups:
            self._place(group)
        self.problems.extend(recursive(groups, self))
        for group in groups:
            self._compile(group)
        self._run()

    def _place(self, group: Group) -> None:
        node = self._node(group.path)
        if group.arity is not None:
            node.function = len(self._functions)
            self._functions[group.path] = group
        else:
            node.document = len(self.program.paths)
            self.program.paths.append(group.path)

    def _node(self, path: tuple[str, ...]) -> runtime.Node:
        node = self.program.root
        for end, part in enumerate(path, 1):
            if part not in node.children:
                node.children[part] = runtime.Node(path[:end])
                self._nodes[path[:end]] = node.children[part]
            node = node.children[part]
        return node

    def _compile(self, group: Group) -> None:
        node = self._nodes[group.path]
        if group.is_object:
            self._compile_partial(group, f"d{node.document}", "new_object()", "finished(out)")
        elif group.is_set:
            self._compile_partial(group, f"d{node.document}", "set()", "RegoSet.of_frozen(out)")
        else:
            self._compile_complete(group)

    def _compile_complete(self, group: Group) -> None:
        args = [f"a{n}" for n in range(group.arity or 0)]
        signature = ", ".join(["q", *args])
        header = f"def {self._label(group)}({signature}):"
        lines = [header, "    value = UNDEFINED"]
        default = "value"
        for rule in group.rules:
            if rule.default:
                default = self._default(rule)
                continue
            names = self._chain(rule, signature)
            lines.append(f"    found = {names[0]}({signature})")
            lines.extend(f"    if found is UNDEFINED: found = {name}({signature})" for name in names[1:])
            lines.append(f"    if found is not UNDEFINED: value = agreed(value, found, {self.place(rule.location)})")
        if default != "value":
            lines.append(f"    if value is UNDEFINED: value = {default}(q)")
        lines.append("    return value")
        self.source.append("\n".join(lines))

    def _label(self, group: Group) -> str:
        node = self._nodes[group.path]
        return f"d{node.document}" if node.document is not None else f"f{node.function}"

    def _default(self, rule: s.Rule) -> str:
        name = self.name("default")
        code = Code(self, f"def {name}(q):", "return UNDEFINED", set())
        code.add(f"return {code.term(rule.head.value or s.Scalar(True, rule.location))}")
        self.source.append("\n".join(code.lines))
        return name

    def _chain(self, rule: s.Rule, signature: str) -> list[str]:
        """The clause and its `else` branches, in order."""
        names = []
        each: s.Rule | None = rule
        while each is not None:
            names.append(self.name("r"))
            self._clause(names[-1], each, signature)
            each = each.otherwise
        return names

    def _clause(self, name: str, rule: s.Rule, signature: str) -> None:
        code = Code(self, f"def {name}({signature}):  # {rule.location}", "return found", set())
        code.add("found = UNDEFINED")
        body = list(rule.body)
        for number, pattern in enumerate(rule.head.args or ()):
            if isinstance(pattern, s.Var | s.Scalar | s.Array | s.Object):
                code.match(pattern, f"a{number}")
            else:  # it may use what only the body binds
                given = s.Var(f"given{number}", pattern.location)
                code.match(given, f"a{number}")
                same = s.Call(("eq",), (given, pattern), pattern.location, infix=True)
                body.append(s.Expr(same, False, (), pattern.location))
        value = rule.head.value or s.Scalar(True, rule.location)

        def tail(inner: Code) -> None:
            if isinstance(value, s.Scalar):
                inner.add(f"return {inner.term(value)}")
            else:
                inner.add(f"found = agreed(found, {inner.term(value)}, {self.place(rule.location)})")

        code.body(tuple(body), tail)
        code.end()
        code.add("return found")
        self.source.append("\n".join(code.lines))

    def _compile_partial(self, group: Group, label: str, start: str, result: str) -> None:
        lines = [f"def {label}(q):", f"    out = {start}"]
        for rule, suffix in zip(group.rules, group.suffixes, strict=True):
            if rule.default:
                continue
            name = self.name("r")
            self._partial_clause(name, rule, suffix)
            lines.append(f"    {name}(q, out)")
        lines.append(f"    return {result}")
        self.source.append("\n".join(lines))

    def _partial_clause(self, name: str, rule: s.Rule, suffix: tuple[s.Term, ...]) -> None:
        code = Code(self, f"def {name}(q, out):  # {rule.location}", "return", set())
        place = self.place(rule.location)

        def tail(inner: Code) -> None:
            leaf = rule.head.contains or rule.head.value or s.Scalar(True, rule.location)
            *path, value = inner.terms([*suffix, leaf])
            if not suffix:
                inner.add(f"out.add(freeze({value}))")
            else:
                into = "insert" if rule.head.contains is None else "insert_member"
                inner.add(f"{into}(out, ({', '.join(path)},), {value}, {place})")

        code.body(rule.body, tail)
        self.source.append("\n".join(code.lines))

    def _run(self) -> None:
        exec(compile("\n\n\n".join(self.source), "<rego>", "exec"), self._namespace)  # noqa: S102  our own code
        self.program.documents[:] = [self._namespace[f"d{n}"] for n in range(len(self.program.paths))]

    # --- queries

    def query(self, body: s.Body, variables: dict[str, str]) -> Callable[[runtime.Query], list[dict[str, Value]]]:
        name = self.name("query")
        code = Code(self, f"def {name}(q):", "return out", set())
        code.add("out = []")
        shown = {written: made for written, made in variables.items() if not written.startswith("$")}

        def tail(inner: Code) -> None:
            pairs = ", ".join(f"{w!r}: {local(m)}" for w, m in shown.items() if m in inner.bound)
            inner.add(f"out.append({{{pairs}}})")

        code.body(body, tail)
        code.end()
        code.add("return out")
        text = "\n".join(code.lines)
        self.source.append(text)
        exec(compile(text, "<rego query>", "exec"), self._namespace)  # noqa: S102  our own code
        made: Callable[[runtime.Query], list[dict[str, Value]]] = self._namespace[name]
        return made

    # --- what the code generator asks for

    def name(self, prefix: str) -> str:
        self._numbers[prefix] = self._numbers.get(prefix, 0) + 1
        return f"{prefix}_{self._numbers[prefix]}"

    def constant(self, value: Value) -> str:
        written = constant_repr(value)
        if written is not None:
            return written
        return self._named_constant(("value", freeze(value), type(value)), value, "K")

    def place(self, location: Location) -> str:
        return self._named_constant(location, location, "AT")

    def _named_constant(self, key: object, value: object, prefix: str) -> str:
        if key not in self._constants:
            self._constants[key] = self.name(prefix)
            self._namespace[self._constants[key]] = value
        return self._constants[key]

    def is_ground(self, term: s.Term) -> bool:
        match term:
            case s.Scalar():
                return True
            case s.Array(items) | s.Set(items):
                return all(self.is_ground(item) for item in items)
            case s.Object(pairs):
                return all(self.is_ground(part) for pair in pairs for part in pair)
            case _:
                return False

    def ground(self, term: s.Term) -> Value:
        match term:
            case s.Scalar(value):
                return value
            case s.Array(items):
                return [self.ground(item) for item in items]
            case s.Set(items):
                return RegoSet(self.ground(item) for item in items)
            case s.Object(pairs):
                return make_object((self.ground(key), self.ground(value)) for key, value in pairs)
            case _:
                raise TypeError(f"{term} is not ground")

    def is_relation(self, call: s.Call) -> bool:
        """Whether it may have many results for the same arguments."""
        signature = signatures().get(".".join(call.operator))
        return signature is not None and signature.relation

    def function(self, call: s.Call) -> str:
        group = self._functions.get(call.operator[1:])
        if group is None:
            self.problem("rego_type_error", f"undefined function {'.'.join(call.operator)}", call.location)
            return "None"
        return self._label(group)

    def builtin(self, name: str) -> str:
        label = "b_" + name.replace(".", "_")
        if label not in self._namespace:
            self._namespace[label] = _callable(BUILTINS.get(name) or _unavailable(name))
        return label

    def mock(self, term: s.Term) -> str | None:
        """What a function is replaced by, if that is a function too."""
        if isinstance(term, s.Ref) and isinstance(term.head, s.Var):
            if term.head.name == "$builtin" and isinstance(term.path[0], s.Scalar):
                return self.builtin(str(term.path[0].value))
            path = dotted(term)
            if path is not None and path[0] == "data" and path[1:] in self._functions:
                return self._label(self._functions[path[1:]])
        return None

    def with_path(self, target: s.Ref | s.Var) -> str | tuple[str, ...]:
        """A document's path, or a function's name."""
        if isinstance(target, s.Ref) and isinstance(target.head, s.Var) and target.head.name == "$builtin":
            return str(target.path[0].value) if isinstance(target.path[0], s.Scalar) else ""
        path = dotted(target) or ("input",)
        return ".".join(path) if path[1:] in self._functions else path

    def use_node(self, path: tuple[str, ...]) -> bool:
        node = self._nodes.get(path)
        if node is None or not (node.children or path):
            return False
        self._used[path] = node
        return True

    def follow(self, path: tuple[s.Term, ...]) -> tuple[runtime.Node | None, int]:
        """The node that the constant beginning of a path names, and how much of the path that is."""
        node = self.program.root
        for used, part in enumerate(path):
            if node.document is not None:
                return node, used
            if not isinstance(part, s.Scalar) or type(part.value) is not str:
                return node, used
            if part.value not in node.children:
                rest = next((n for n in range(used, len(path)) if not _is_base_key(path[n])), len(path))
                return None, rest
            node = node.children[part.value]
        return node, len(path)

    def used_by(self, part: s.Ref | s.Call) -> set[tuple[str, ...]]:
        """The documents and functions that a ref or a call needs."""
        if isinstance(part, s.Call):
            return {part.operator[1:]} if part.operator[1:] in self._functions else set()
        if not isinstance(part.head, s.Var) or part.head.name != "data":
            return set()
        node, used = self.follow(part.path)
        return _documents(node, part.path[used:]) if node is not None else set()

    def report_unsafe(self, ordered: Ordered) -> None:
        for var, expr in ordered.unsafe:
            shown = "_" if var.startswith("w") and var[1:].isdigit() else var
            self.problem("rego_unsafe_var_error", f"var {shown} is unsafe", expr.location)

    def problem(self, code: str, message: str, location: Location) -> None:
        self.problems.append(RegoProblem(code, message, location))


def _documents(node: runtime.Node, rest: tuple[s.Term, ...]) -> set[tuple[str, ...]]:
    """Those at or below `node` that a path of which `rest` is left can reach."""
    own = {node.path} if node.document is not None else set[tuple[str, ...]]()
    children = list(node.children.values())
    if rest and isinstance(rest[0], s.Scalar):
        children = [node.children[rest[0].value]] if rest[0].value in node.children else []
    return own.union(*(_documents(child, rest[1:]) for child in children))


def group_rules(rules: Iterable[s.Rule]) -> list[Group]:
    """By the constant beginning of their heads; what extends a partial object belongs to that object."""
    split = [(*_split(rule.head.ref), rule) for rule in rules]
    partial = {prefix for prefix, suffix, _ in split if suffix}
    groups: dict[tuple[str, ...], Group] = {}
    for prefix, suffix, rule in split:
        owner = next((prefix[:end] for end in range(1, len(prefix)) if prefix[:end] in partial), prefix)
        extra = tuple(s.Scalar(part, rule.location) for part in prefix[len(owner) :])
        group = groups.setdefault(owner, Group(owner))
        group.rules.append(rule)
        group.suffixes.append((*extra, *suffix))
    return list(groups.values())


def _split(ref: tuple[s.Term, ...]) -> tuple[tuple[str, ...], tuple[s.Term, ...]]:
    end = next((n for n, part in enumerate(ref) if not _is_name(part)), len(ref))
    return tuple(part.value for part in ref[:end] if isinstance(part, s.Scalar)), ref[end:]


def _is_base_key(part: s.Term) -> bool:
    """A key of a base document: `data.a[2]` means the key "2", as a path in a URL does."""
    return isinstance(part, s.Scalar) and type(part.value) in {str, int}


def _is_name(part: s.Term) -> bool:
    return isinstance(part, s.Scalar) and type(part.value) is str


def recursive(groups: list[Group], linker: Linker) -> list[RegoProblem]:
    """Rules that need themselves, directly or through others."""
    uses = {group.path: _uses(group, linker) for group in groups}
    problems, done = [], set[tuple[str, ...]]()
    for group in groups:
        cycle = _cycle(group.path, uses, done)
        if cycle is not None:
            shown = " -> ".join("data." + ".".join(path) for path in cycle)
            message = f"rule data.{'.'.join(group.path)} is recursive: {shown}"
            problems.append(RegoProblem("rego_recursion_error", message, group.rules[0].location))
    return problems


def _cycle(
    start: tuple[str, ...], uses: dict[tuple[str, ...], set[tuple[str, ...]]], done: set[tuple[str, ...]]
) -> list[tuple[str, ...]] | None:
    """A way from `start` back to itself."""
    trail, stack = {start: start}, [start]
    while stack:
        here = stack.pop()
        for used in sorted(uses.get(here, ())):
            if used == start:
                way = [here]
                while way[-1] != start:
                    way.append(trail[way[-1]])
                return [*reversed(way), start]
            if used not in trail:
                trail[used] = here
                stack.append(used)
    done.add(start)
    return None


def _uses(group: Group, linker: Linker) -> set[tuple[str, ...]]:
    found: set[tuple[str, ...]] = set()
    for rule in group.rules:
        each: s.Rule | None = rule
        while each is not None:
            for part in parts_of(each):
                found |= linker.used_by(part)
            each = each.otherwise
    return found


def _unavailable(name: str) -> Builtin:
    def refuse(*_: Value) -> Value:
        raise BuiltinError(f"{name}: not available")

    return Builtin(name, refuse)


def _callable(builtin: Builtin) -> Callable[..., Value]:
    call, name, needs_circumstances = builtin.call, builtin.name, builtin.circumstances

    def run(q: runtime.Query, *args: Value) -> Value:
        if q.mocks and name in q.mocks:
            return q.mocked(name, args)
        return call(q.circumstances, *args) if needs_circumstances else call(*args)

    return run


def _call_function(q: runtime.Query, name: str, function: Callable[..., Value], *args: Value) -> Value:
    if q.mocks and name in q.mocks:
        return q.mocked(name, args)
    q.tick()
    return function(q, *args)


def _holds_for_all(q: runtime.Query, holds: Callable[[Value, Value], bool], collection: Value) -> bool:
    for key, value in runtime.items(collection):
        q.tick()
        if not holds(key, value):
            return False
    return type(collection) in {list, dict, RegoSet}


_NAMESPACE: dict[str, Any] = {
    "UNDEFINED": UNDEFINED, "RegoSet": RegoSet, "equal": equal, "compare": compare, "freeze": freeze, "get": get,
    "items": runtime.items, "elements": runtime.elements, "agreed": runtime.agreed, "insert": runtime.insert,
    "insert_member": runtime.insert_member, "new_object": runtime.new_object, "finished": runtime.finished,
    "collected": runtime.collected, "builtin_failed": runtime.builtin_failed, "BuiltinError": BuiltinError,
    "interpolated": runtime.interpolated, "q_call": _call_function, "holds_for_all": _holds_for_all,
}  # fmt: skip
