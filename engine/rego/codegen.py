"""From checked rules to Python source: one function a clause, nested loops for what iterates, plain code for the rest.

A body becomes straight-line code. What can fail leaves by `continue` inside a loop and by `return` outside of one; what
iterates opens a `for`, and everything after it happens inside. Bodies that must not leak bindings (comprehensions,
negation, `every`, `with`) are functions of their own, which see the variables around them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING

from engine.rego import syntax as s
from engine.rego.errors import Location
from engine.rego.resolve import ROOTS, all_vars, expr_vars
from engine.rego.safety import evaluated, flow_of, matching_values, order_body, unified
from engine.rego.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.rego.linking import Linker

_COMPARISONS = {"lt": "< 0", "lte": "<= 0", "gt": "> 0", "gte": ">= 0"}


class Code:
    """Lines of one Python function, and how a body leaves it."""

    def __init__(self, linker: Linker, header: str, leave: str, bound: set[str], indent: int = 0) -> None:
        self.linker = linker
        self.lines = [" " * indent + header]
        self.bound = bound
        self._indent = indent + 4
        self._leave = leave
        self._loops = 0

    def add(self, line: str) -> None:
        self.lines.append(" " * self._indent + line)

    @property
    def fail(self) -> str:
        return "continue" if self._loops else self._leave

    def unless(self, condition: str) -> None:
        """Leave if `condition` holds."""
        self.add(f"if {condition}: {self.fail}")

    def loop(self, target: str, over: str) -> None:
        self.add(f"for {target} in {over}:")
        self._indent += 4
        self._loops += 1
        self.add("q.tick()")

    def end(self) -> None:
        """Back to the top of the function, after all loops."""
        self._indent -= 4 * self._loops
        self._loops = 0

    def inner(self, header: str, leave: str) -> Code:
        return Code(self.linker, header, leave, set(self.bound), self._indent)

    def insert(self, inner: Code) -> None:
        self.lines.extend(inner.lines)

    @contextmanager
    def nested(self) -> Iterator[None]:
        self._indent += 4
        yield
        self._indent -= 4

    # --- bodies and expressions

    def body(self, body: s.Body, tail: Callable[[Code], None]) -> None:
        ordered = order_body(body, frozenset(self.bound))
        self.linker.report_unsafe(ordered)
        visible = frozenset(self.bound | {var.name for expr in body for var in expr_vars(expr)})
        for expr in ordered.body:
            self._expr(expr, visible)
        tail(self)

    def _expr(self, expr: s.Expr, visible: frozenset[str]) -> None:
        if expr.withs:
            self._with(expr, visible)
        elif expr.negated:
            self._not(expr)
        else:
            self._statement(expr.of, visible)

    def _statement(self, of: s.Term | s.SomeDeclaration | s.SomeIn | s.Every, visible: frozenset[str]) -> None:
        match of:
            case s.SomeDeclaration():
                return
            case s.SomeIn(key, value, collection):
                self._some_in(key, value, collection)
            case s.Every():
                self._every(of)
            case s.Call(("eq",) | ("assign",), args):
                self._unify(args[0], args[1], visible)
            case s.Logical():
                self._logical(of)
            case s.Scalar(value):
                if value is False:
                    self.add(self.fail)
            case _:
                self.unless(f"{self.term(of)} is False")

    def _not(self, expr: s.Expr) -> None:
        name = self.linker.name("n")
        inner = self.inner(f"def {name}():", "return False")
        inner.body((s.Expr(expr.of, False, (), expr.location),), lambda code: code.add("return True"))
        inner.end()
        inner.add("return False")
        self.insert(inner)
        self.unless(f"{name}()")

    def _with(self, expr: s.Expr, visible: frozenset[str]) -> None:
        """All solutions under the changed circumstances first; what follows happens under the old ones."""
        replaced, mocks = [], []
        for each in expr.withs:
            value = self.linker.mock(each.value) or self.term(each.value)
            path = self.linker.with_path(each.target)
            if isinstance(path, str):
                mocks.append(f"{path!r}: {value}")
            else:
                replaced.append(f"({path!r}, {value})")
        plain = s.Expr(expr.of, expr.negated, (), expr.location)
        gives = sorted(flow_of(plain, frozenset(self.bound), visible).gives - self.bound)
        name = self.linker.name("s")
        inner = self.inner(f"def {name}(q):", "return out")
        inner.add("out = []")
        found = "(" + "".join(f"{local(var)}, " for var in gives) + ")"
        inner.body((plain,), lambda code: code.add(f"out.append({found})"))
        inner.end()
        inner.add("return out")
        self.insert(inner)
        derived = f"q.having([{', '.join(replaced)}], {{{', '.join(mocks)}}})"
        self.loop(found if gives else "_", f"{name}({derived})" if gives else f"{name}({derived})[:1]")
        self.bound.update(gives)

    def _some_in(self, key: s.Term | None, value: s.Term, collection: s.Term) -> None:
        over = self.term(collection)
        if key is None:
            target = self._target(value)
            self.loop(target, f"elements({over})")
            self._match_later(value, target)
            return
        key_target, value_target = self._target(key), self._target(value)
        self.loop(f"{key_target}, {value_target}", f"items({over})")
        self._match_later(key, key_target)
        self._match_later(value, value_target)

    def _target(self, pattern: s.Term) -> str:
        """A name for what a loop gives: the variable's own if it is one to be bound."""
        if isinstance(pattern, s.Var) and pattern.name not in self.bound and pattern.name not in ROOTS:
            return local(pattern.name)
        return self.linker.name("t")

    def _match_later(self, pattern: s.Term, target: str) -> None:
        if isinstance(pattern, s.Var) and local(pattern.name) == target:
            self.bound.add(pattern.name)
        else:
            self.match(pattern, target)

    def _every(self, every: s.Every) -> None:
        over = self.term(every.collection)
        name = self.linker.name("e")
        inner = self.inner(f"def {name}(key, value):", "return False")
        for var, source in ((every.key, "key"), (every.value, "value")):
            if var is not None:
                inner.add(f"{local(var.name)} = {source}")
                inner.bound.add(var.name)
        inner.body(every.body, lambda code: code.add("return True"))
        inner.end()
        inner.add("return False")
        self.insert(inner)
        self.unless(f"not holds_for_all(q, {name}, {over})")

    def _logical(self, logical: s.Logical) -> None:
        names = []
        for operand in logical.operands:
            names.append(self.linker.name("o"))
            inner = self.inner(f"def {names[-1]}():", "return False")
            inner.body(operand, lambda code: code.add("return True"))
            inner.end()
            inner.add("return False")
            self.insert(inner)
        if logical.operator == "not":
            self.unless(f"{names[0]}()")
        else:
            self.unless(f"not ({f' {logical.operator} '.join(f'{name}()' for name in names)})")

    # --- unification

    def _unify(self, one: s.Term, other: s.Term, visible: frozenset[str]) -> None:
        if isinstance(one, s.Array) and isinstance(other, s.Array):
            if len(one.items) != len(other.items):
                self.add(self.fail)
                return
            self._unify_pairs(list(zip(one.items, other.items, strict=True)), visible)
            return
        if isinstance(one, s.Object) and isinstance(other, s.Object):
            pairs = matching_values(one, other)
            if pairs is not None:
                self._unify_pairs(pairs, visible)
                return
        bound = frozenset(self.bound)
        if evaluated(other, bound, visible).needs - bound:
            one, other = other, one
        self.match(one, self.term(other))

    def _unify_pairs(self, pairs: list[tuple[s.Term, s.Term]], visible: frozenset[str]) -> None:
        waiting = list(pairs)
        while waiting:
            bound = frozenset(self.bound)
            place = next((n for n, pair in enumerate(waiting) if unified(*pair, bound, visible).needs <= bound), 0)
            self._unify(*waiting[place], visible)
            del waiting[place]

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
            case s.Scalar(text) if type(text) is str:
                self.unless(f"{value} != {text!r}")
            case _:
                self.unless(f"not equal({self.term(pattern)}, {value})")

    def _has_unbound(self, term: s.Term) -> bool:
        return bool(all_vars(term) - self.bound)

    def _held(self, expression: str) -> str:
        """A name for an expression that is used more than once."""
        if expression.isidentifier():
            return expression
        name = self.linker.name("t")
        self.add(f"{name} = {expression}")
        return name

    # --- terms: a Python expression for a value that is there; what can be undefined leaves first

    def term(self, term: s.Term) -> str:
        match term:
            case s.Scalar(value):
                return self.linker.constant(value)
            case s.Var(name):
                return self._root(name) if name in ROOTS else local(name)
            case s.Ref():
                return self._ref(term)
            case s.Call():
                return self._call(term)
            case s.Array() | s.Set() | s.Object():
                return self._composite(term)
            case s.TemplateString():
                return self._template(term)
            case s.Logical():
                self._logical(term)
                return "True"
            case _:
                return self._comprehension(term)

    def _root(self, name: str) -> str:
        if name == "input":
            self.unless("q.input is UNDEFINED")
            return "q.input"
        return self._held("q.whole(NODES[()])") if self.linker.use_node(()) else "q.data"

    def _composite(self, term: s.Array | s.Set | s.Object) -> str:
        if not all_vars(term) and self.linker.is_ground(term):
            return self.linker.constant(self.linker.ground(term))
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

    def _template(self, term: s.TemplateString) -> str:
        parts = []
        for part in term.parts:
            if isinstance(part, str):
                parts.append(repr(part))
                continue
            name = self.linker.name("i")
            inner = self.inner(f"def {name}():", "return UNDEFINED")
            found = s.Var(name, part.location)
            held = s.Call(("eq",), (found, _value_of(part)), part.location, infix=True)
            expr = s.Expr(held, part.negated, part.withs, part.location)
            inner.body((expr,), _returns(found))
            inner.end()
            inner.add("return UNDEFINED")
            self.insert(inner)
            parts.append(f"interpolated({name}())")
        return f"''.join([{', '.join(parts)}])"

    def _comprehension(self, term: s.ArrayComprehension | s.SetComprehension | s.ObjectComprehension) -> str:
        name = self.linker.name("c")
        start, result = {
            s.ArrayComprehension: ("[]", "out"),
            s.SetComprehension: ("set()", "RegoSet.of_frozen(out)"),
            s.ObjectComprehension: ("{}", "out"),
        }[type(term)]
        inner = self.inner(f"def {name}():", f"return {result}")
        inner.add(f"out = {start}")

        def tail(code: Code) -> None:
            if isinstance(term, s.ArrayComprehension):
                code.add(f"out.append({code.term(term.head)})")
            elif isinstance(term, s.SetComprehension):
                code.add(f"out.add(freeze({code.term(term.head)}))")
            else:
                key, value = code.terms([term.key, term.value])
                code.add(f"collected(out, {key}, {value}, {code.linker.place(term.location)})")

        inner.body(term.body, tail)
        inner.end()
        inner.add(f"return {result}")
        self.insert(inner)
        return self._held(f"{name}()")

    def _call(self, call: s.Call) -> str:
        args = self.terms(list(call.args))
        name = ".".join(call.operator)
        if call.operator[0] == "data":
            target = self.linker.function(call)
            result = self._held(f"q_call({', '.join(['q', repr(name), target, *args])})")
            self.unless(f"{result} is UNDEFINED")
            return result
        if name == "equal":
            return f"equal({args[0]}, {args[1]})"
        if name == "neq":
            return f"(not equal({args[0]}, {args[1]}))"
        if name in _COMPARISONS:
            return f"(compare({args[0]}, {args[1]}) {_COMPARISONS[name]})"
        result = self._builtin(name, args, call.location)
        if self.linker.is_relation(call):
            each = self.linker.name("t")
            self.loop(each, result)
            return each
        return result

    def _builtin(self, name: str, args: list[str], location: Location) -> str:
        result = self.linker.name("t")
        self.add("try:")
        with self.nested():
            self.add(f"{result} = {self.linker.builtin(name)}({', '.join(['q', *args])})")
        self.add("except BuiltinError as error:")
        with self.nested():
            self.add(f"builtin_failed(q, error, {self.linker.place(location)})")
            self.add(self.fail)
        self.unless(f"{result} is UNDEFINED")
        return result

    # --- refs

    def _ref(self, ref: s.Ref) -> str:
        if isinstance(ref.head, s.Var) and ref.head.name == "data":
            return self._data_ref(ref)
        value = self.term(ref.head)
        return self._path(value, ref.path)

    def _path(self, value: str, path: tuple[s.Term, ...]) -> str:
        for part in path:
            value = self._step(value, part)
        return value

    def _step(self, value: str, part: s.Term) -> str:
        is_pattern = isinstance(part, s.Var | s.Array | s.Object)
        if is_pattern and self._has_unbound(part):
            over = self._held(value)
            key, found = self._target(part), self.linker.name("t")
            self.loop(f"{key}, {found}", f"items({over})")
            self._match_later(part, key)
            return found
        key = self.term(part)
        found = self.linker.name("t")
        if isinstance(part, s.Scalar) and type(part.value) is str:
            held = self._held(value)
            self.add(f"{found} = {held}.get({key}, UNDEFINED) if type({held}) is dict else get({held}, {key})")
        else:
            self.add(f"{found} = get({value}, {key})")
        self.unless(f"{found} is UNDEFINED")
        return found

    def _data_ref(self, ref: s.Ref) -> str:
        """As far as the path is constant it is followed now; from there on at run time."""
        node, used = self.linker.follow(ref.path)
        if node is None:
            constant = tuple(p.value for p in ref.path[:used] if isinstance(p, s.Scalar))
            value = self._held(f"q.base({constant!r})")
            self.unless(f"{value} is UNDEFINED")
            return self._path(value, ref.path[used:])
        if node.document is not None:
            value = self._held(f"q.document({node.document})")
            self.unless(f"{value} is UNDEFINED")
            return self._path(value, ref.path[used:])
        self.linker.use_node(node.path)
        here = f"NODES[{node.path!r}]"
        if used == len(ref.path):
            value = self._held(f"q.whole({here})")
            self.unless(f"{value} is UNDEFINED")
            return value
        part = ref.path[used]
        if isinstance(part, s.Var | s.Array | s.Object) and self._has_unbound(part):
            key, value = self._target(part), self.linker.name("t")
            self.loop(f"{key}, {value}", f"q.children({here})")
            self._match_later(part, key)
        else:
            value = self._held(f"q.child({here}, {self.term(part)})")
            self.unless(f"{value} is UNDEFINED")
        return self._path(value, ref.path[used + 1 :])


def _returns(found: s.Var) -> Callable[[Code], None]:
    return lambda code: code.add(f"return {local(found.name)}")


def _value_of(part: s.Expr) -> s.Term:
    """The term of a template's expression; a statement has none, and is true where it holds."""
    if isinstance(part.of, s.SomeDeclaration | s.SomeIn | s.Every):
        return s.Scalar(True, part.location)
    return part.of


def local(name: str) -> str:
    return f"v_{name}"


def constant_repr(value: Value) -> str | None:
    """Scalars stand in the code as they are."""
    return repr(value) if value is None or isinstance(value, bool | int | str) else None
