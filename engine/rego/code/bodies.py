"""From checked bodies to Python: straight-line code for what happens once, a `for` for what iterates.

Everything after a loop happens inside of it. What must not leak its bindings (comprehensions, negation, `every`) is a
block of its own, or a function where a loop inside of it must be left early; `with` is always a function, because what
it encloses sees another query.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from engine.rego.check.safety import evaluated, flow_of, matching_values, unified
from engine.rego.code.negation import TakenOut
from engine.rego.code.terms import Enclosing, TermCode, local
from engine.rego.syntax import tree as s
from engine.rego.syntax.variables import ROOTS, expr_vars, is_wildcard

Tail = Callable[["Code"], None]


class Code(TermCode):
    """The code of bodies: statements one after the other, those inside of a loop that come after it."""

    def inner(self, header: str, leave: str) -> Code:
        """A function inside this one, which sees what is bound here."""
        made = Code(self.linker, header, leave, self.indent)
        made.bound, made.known, made.ordered = set(self.bound), dict(self.known), self.ordered
        return made

    def insert(self, inner: Code) -> None:
        inner.end()
        self.lines.extend(inner.lines)

    # --- bodies and expressions

    def body(self, body: s.Body, tail: Tail) -> None:
        """Its expressions in their order, in which each finds bound what it needs; `tail` comes after them."""
        visible = frozenset(self.bound | {var.name for expr in body for var in expr_vars(expr)})
        for place, expr in enumerate(body):
            self._bind_known_keys(expr, body[place + 1 :])
            self._expr(expr, visible)
        tail(self)

    def _expr(self, expr: s.Expr, visible: frozenset[str]) -> None:
        if expr.withs:
            self._with(expr, visible)
        elif expr.negated:
            self._not(expr)
        else:
            self._statement(expr.of, visible)

    def _bind_known_keys(self, expr: s.Expr, following: s.Body) -> None:
        """`xs[k]; k == "a"`: the key is known before the loop over all keys begins, which then is a lookup."""
        for key in _iterated_keys(expr):
            if key not in self.bound:
                value = next((value for each in following if (value := self._said_of(key, each)) is not None), None)
                if value is not None:
                    self.match(s.Var(key, expr.location), self.term(value))

    def _said_of(self, key: str, expr: s.Expr) -> s.Term | None:
        """What `key` must be, if the expression says so in terms of what is bound and cannot fail otherwise."""
        if expr.negated or expr.withs or not isinstance(expr.of, s.Call):
            return None
        if expr.of.operator not in {("eq",), ("equal",)}:
            return None
        for one, other in (expr.of.args, expr.of.args[::-1]):
            if isinstance(one, s.Var) and one.name == key and _is_simple(other) and not self._has_unbound(other):
                return other
        return None

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
            case s.Call() if (condition := self._condition(of)) is not None:
                self.unless(f"not ({condition})")
            case s.Logical():
                self._logical(of)
            case s.Scalar(value):
                if value is False:
                    self.add(self.fail)
            case _:
                self.unless(f"{self.term(of)} is False")

    def holds(self, prefix: str, body: s.Body) -> str:
        """The name of what is true if the body has a solution."""
        name = self.fresh(prefix)
        mark, bound, known = self.mark(), set(self.bound), dict(self.known)
        self.add(f"{name} = False")
        looped = False

        def tail(code: Code) -> None:
            nonlocal looped
            looped = code.in_loop_since(depth)
            code.add(f"{name} = True")

        with self.once():
            depth = self.depth
            self.body(body, tail)
        self.bound, self.known = bound, known
        if not looped:
            return name
        self.back_to(mark)
        return self._holds_function(name, body)

    def _holds_function(self, name: str, body: s.Body) -> str:
        """A loop that must be left at the first solution needs `return`."""
        inner = self.inner(f"def {name}():", "return False")
        inner.body(body, lambda code: code.add("return True"))
        inner.finish("return False")
        self.insert(inner)
        return f"{name}()"

    def _not(self, expr: s.Expr) -> None:
        taken = TakenOut(expr.of, lambda: "$" + self.fresh("h"))
        for var, term in taken.terms:
            self.match(var, self.term(term))
        self.unless(self.holds("n", (s.Expr(taken.rest, False, (), expr.location),)))

    def _logical(self, logical: s.Logical) -> None:
        """Each operand is a function, so that the second is asked only if the first does not answer."""
        names = [self._holds_function(self.fresh("o"), operand) for operand in logical.operands]
        condition = f" {logical.operator} ".join(names)
        self.unless(names[0] if logical.operator == "not" else f"not ({condition})")

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
        given = flow_of(plain, frozenset(self.bound), visible).gives - self.bound
        gives = sorted(var for var in given if not is_wildcard(var))
        name = self.fresh("s")
        inner = self.inner(f"def {name}(q):", "return out")
        inner.known = {}
        inner.add("out = []")
        found = "(" + "".join(f"{local(var)}, " for var in gives) + ")"
        inner.body((plain,), lambda code: code.add(f"out.append({found})"))
        inner.finish("return out")
        self.insert(inner)
        derived = f"q.having([{', '.join(replaced)}], {{{', '.join(mocks)}}})"
        self.loop(found if gives else "_", f"{name}({derived})" if gives else f"{name}({derived})[:1]")
        self.bound.update(gives)

    def _some_in(self, key: s.Term | None, value: s.Term, collection: s.Term) -> None:
        over = self.term(collection)
        if key is None:
            self._each_element(value, over)
        elif self._has_unbound(key):
            self._each_item(key, value, over)
        else:
            found = self._held(f"get({over}, {self.term(key)})")
            self.unless(f"{found} is UNDEFINED")
            self.match(value, found)

    def _every(self, every: s.Every) -> None:
        over = self._held(self.term(every.collection))
        name = self.fresh("e")
        if self._every_inline(every, name, over):
            return
        inner = self.inner(f"def {name}(key, value):", "return False")
        for var, source in ((every.key, "key"), (every.value, "value")):
            if var is not None:
                inner.add(f"{local(var.name)} = {source}")
                inner.bound.add(var.name)
        inner.ordered = False
        inner.body(every.body, lambda code: code.add("return True"))
        inner.finish("return False")
        self.insert(inner)
        self.unless(f"not holds_for_all(q, {name}, {over})")

    def _every_inline(self, every: s.Every, name: str, over: str) -> bool:
        """As a loop that the first failure leaves; False, and nothing done, if the body loops itself."""
        mark, bound, known = self.mark(), set(self.bound), dict(self.known)
        self.add(f"{name} = type({over}) in COLLECTIONS")
        value = local(every.value.name)
        if every.key is None:
            self.add(f"for {value} in elements(q, {over}):")
        else:
            self.bound.add(every.key.name)
            self.add(f"for {local(every.key.name)}, {value} in items(q, {over}):")
        self.bound.add(every.value.name)
        with self.nested():
            self.add(f"{name} = False")
            looped = False

            def tail(code: Code) -> None:
                nonlocal looped
                looped = code.in_loop_since(depth)
                code.add(f"{name} = True")

            with self.once():
                depth = self.depth
                self.body(every.body, tail)
            self.add(f"if not {name}: break")
        self.bound, self.known = bound, known
        if looped:
            self.back_to(mark)
            return False
        self.unless(f"not {name}")
        return True

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

    # --- terms with a body of their own

    def enclosed(self, term: Enclosing) -> str:
        match term:
            case s.TemplateString():
                return self._template(term)
            case s.Logical():
                self._logical(term)
                return "True"
            case _:
                return self._comprehension(term)

    def _template(self, term: s.TemplateString) -> str:
        parts = []
        for part in term.parts:
            if isinstance(part, str):
                parts.append(repr(part))
                continue
            name = self.fresh("i")
            inner = self.inner(f"def {name}():", "return UNDEFINED")
            found = s.Var(f"${name}", part.location)
            held = s.Call(("eq",), (found, _value_of(part)), part.location, infix=True)
            expr = s.Expr(held, part.negated, part.withs, part.location)
            inner.body((expr,), _returns(found))
            inner.finish("return UNDEFINED")
            self.insert(inner)
            parts.append(f"interpolated({name}())")
        return f"''.join([{', '.join(parts)}])"

    def _comprehension(self, term: s.ArrayComprehension | s.SetComprehension | s.ObjectComprehension) -> str:
        name = self.fresh("c")
        bound, known, ordered = set(self.bound), dict(self.known), self.ordered
        self.ordered = isinstance(term, s.ArrayComprehension)
        self.add(f"{name} = {_EMPTY[type(term)]}")

        def tail(code: Code) -> None:
            if isinstance(term, s.ArrayComprehension):
                code.add(f"{name}.append({code.term(term.head)})")
            elif isinstance(term, s.SetComprehension):
                code.add(f"{name}.add({code.frozen(term.head)})")
            else:
                key, value = code.terms([term.key, term.value])
                code.add(f"insert_key({name}, {key}, {value}, {code.names.place(term.location)})")

        with self.once():
            self.body(term.body, tail)
        self.bound, self.known, self.ordered = bound, known, ordered
        return self._held(f"RegoSet.of_frozen({name})") if isinstance(term, s.SetComprehension) else name


_EMPTY: Final[dict[type, str]] = {s.ArrayComprehension: "[]", s.SetComprehension: "set()", s.ObjectComprehension: "{}"}


def _iterated_keys(expr: s.Expr) -> list[str]:
    """Variables over whose values the expression would loop."""
    if expr.negated or expr.withs:
        return []
    if isinstance(expr.of, s.SomeIn):
        return [expr.of.key.name] if isinstance(expr.of.key, s.Var) else []
    sides = expr.of.args if isinstance(expr.of, s.Call) and expr.of.operator in _UNIFIED else (expr.of,)
    refs = [side for side in sides if isinstance(side, s.Ref)]
    return [part.name for ref in refs for part in ref.path if isinstance(part, s.Var) and part.name not in ROOTS]


_UNIFIED: Final = {("eq",), ("assign",)}


def _is_simple(term: s.Term) -> bool:
    """Constant, or a path into the input or a variable: nothing that could fail with an error."""
    if isinstance(term, s.Ref):
        return _is_simple(term.head) and all(isinstance(part, s.Scalar) for part in term.path)
    return isinstance(term, s.Scalar) or (isinstance(term, s.Var) and term.name != "data")


def _returns(found: s.Var) -> Tail:
    return lambda code: code.add(f"return {local(found.name)}")


def _value_of(part: s.Expr) -> s.Term:
    """The term of a template's expression; a statement has none, and is true where it holds."""
    if isinstance(part.of, s.SomeDeclaration | s.SomeIn | s.Every):
        return s.Scalar(True, part.location)
    return part.of
