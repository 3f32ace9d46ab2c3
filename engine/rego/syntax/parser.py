"""Rego v1 text into the syntax tree. Not here: whether what was written means anything.

After a fault the next statement at the start of a line is read, so that one attempt tells all that is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engine.rego.errors import Location, RegoProblem, RegoSyntaxError
from engine.rego.syntax import lexer, metadata
from engine.rego.syntax.cursor import PARSE_ERROR, TooDeep
from engine.rego.syntax.literals import Literals
from engine.rego.syntax.terms import value_name
from engine.rego.syntax.tree import (
    Array,
    Body,
    Call,
    Expr,
    Head,
    Import,
    Module,
    Object,
    Ref,
    Rule,
    Scalar,
    Set,
    SomeDeclaration,
    SomeIn,
    TemplateString,
    Term,
    Var,
)

_FUTURE: Final = ("and", "contains", "every", "if", "in", "not", "or")
_TOO_DEEP: Final = "max parsing recursion depth exceeded"
_RULE_SIGNS: Final = (":=", "=", "if", "contains", "(")
_RULE_NAME_FOLLOWERS: Final = {
    **dict.fromkeys(("every", "if", "in", "some", "as"), _RULE_SIGNS),
    **dict.fromkeys(("package", "import"), (":=", "=", "(")),
    **dict.fromkeys(("not", "and", "or"), (":=", "=", "if", "contains")),
    "contains": ("if", "contains"),
}
"""After a keyword, what shows that it was meant to be the name of a rule."""


def parse_module(source: str, file: str, *, annotations: bool = True) -> Module:
    """`annotations`: METADATA comments are read, and must be right."""
    return _Parser(source, file).module(annotations)


def parse_query(source: str, file: str = "query", *, keywords: tuple[str, ...] = ()) -> Body:
    """A body without its braces. `keywords`: those of the future it may use, as if they were imported."""
    return _Parser(source, file).whole_query(keywords)


@dataclass(slots=True)
class _Written:
    """A rule's head as far as it was read, with what only the rules of v1 ask about."""

    ref: tuple[Term, ...]
    args: tuple[Term, ...] | None
    contains: Term | None
    value: Term | None
    location: Location
    end: int

    def head(self) -> Head:
        return Head(self.ref, self.args or None, self.contains, self.value, self.location)  # f() is a rule named f

    @property
    def is_function(self) -> bool:
        return bool(self.args)

    @property
    def looks_like_set(self) -> bool:
        """`p[x]`, which was a partial set before v1."""
        return len(self.ref) == 2 and not self.args and self.value is None and self.contains is None


class _Parser(Literals):
    def __init__(self, source: str, file: str) -> None:
        super().__init__(source, file)
        self.package: tuple[str, ...] = ()
        self.package_location: Location | None = None
        self.imports: list[Import] = []
        self.rules: list[Rule] = []
        self.later: list[RegoProblem] = []
        """What OPA finds wrong once everything was read."""
        self.is_first = True

    def module(self, annotations: bool) -> Module:
        found: list[RegoProblem] = []
        if self.kind == lexer.EOF and not self.problems:
            found.append(RegoProblem(PARSE_ERROR, "empty module", Location(self.file, 1, 1)))
        while self.kind != lexer.EOF:
            start = self.index
            if not self.guarded_statement():
                found.extend(self.problems)
                self.problems.clear()
                self.skip(start)
            self.forget()
        found.extend(self.problems)
        found.extend(self.later)
        package_annotations = self.annotate(found) if annotations else []
        if found:
            raise RegoSyntaxError(sorted(dict.fromkeys(found), key=lambda each: each.location))
        assert self.package_location is not None  # noqa: S101 — the first statement is a package, or that is a problem
        return Module(
            self.file,
            self.package,
            self.package_location,
            tuple(self.imports),
            tuple(self.rules),
            tuple(package_annotations),
            tuple((Location(self.file, each.row, each.col), each.text) for each in self.comments),
        )

    def whole_query(self, keywords: tuple[str, ...]) -> Body:
        for keyword in keywords:
            self.add_keyword(keyword)
        exprs: list[Expr] = []
        try:
            while self.kind != lexer.EOF:
                body = self.query(lexer.EOF, one_line=True)
                if body is None:
                    break
                exprs.extend(body)
        except (TooDeep, RecursionError):
            self.problem(self.location(), _TOO_DEEP)
        if not exprs and not self.problems:
            self.problem(Location(self.file, 1, 1), "empty query")
        if self.problems:
            raise RegoSyntaxError(self.problems)
        return tuple(exprs)

    def guarded_statement(self) -> bool:
        try:
            return self.statement() and not self.problems
        except (TooDeep, RecursionError):
            self.problem(self.location(), _TOO_DEEP)
            return False

    def skip(self, start: int) -> None:
        """To the next token that begins a line and can begin a statement."""
        index = max(start + 1, self.furthest)
        while index < len(self.tokens) - 1:
            token = self.tokens[index]
            if token.col == 1 and token.starts_line and (token.kind == lexer.NAME or self.is_keyword(token.kind)):
                break
            index += 1
        self.index = index
        self.kind = self.tokens[index].kind

    def statement(self) -> bool:
        if self.keyword_as_rule_name(self.kind, always=False):
            return False
        is_first, self.is_first = self.is_first, False
        location = self.location()
        if is_first and (self.kind != "package" or self.before_ref()):
            self.later.append(RegoProblem(PARSE_ERROR, "package expected", location))
        if self.kind == "package" and not self.before_ref():
            return self.package_statement(is_first, location)
        if self.kind == "import" and not self.before_ref():
            return self.import_statement(location)
        return self.rule_statement(location)

    def keyword_as_rule_name(self, kind: str, always: bool) -> bool:
        followers = _RULE_NAME_FOLLOWERS.get(kind)
        if followers is None or not (always or self.peek().kind in followers):
            return False
        self.problem(self.location(), f"{kind} keyword cannot be used for rule name")
        return True

    def package_statement(self, is_first: bool, location: Location) -> bool:
        self.advance()
        path = self.path("package")
        if path is None:
            return False
        if self.kind == "-":
            self.illegal()
            return False
        if is_first:
            self.package, self.package_location = tuple(name for name, _ in path), location
        else:
            self.later.append(RegoProblem(PARSE_ERROR, "unexpected package", location))
        return True

    def path(self, statement: str) -> list[tuple[str, Location]] | None:
        if self.kind != lexer.NAME and not self.is_keyword(self.kind):
            self.illegal()
            return None
        self.kind = lexer.NAME
        term = self.term()
        if isinstance(term, Var):
            return [(term.name, term.location)]
        if not isinstance(term, Ref) or not isinstance(term.head, Var):
            if term is not None and statement == "import":
                self.problem(self.location(), "expected path")
            elif isinstance(term, Ref):
                self.problem(term.location, f"unexpected {value_name(term.head)} token: expecting var")
            elif term is not None:
                self.illegal()
            return None
        path = [(term.head.name, term.head.location)]
        for part in term.path:
            if not isinstance(part, Scalar) or not isinstance(part.value, str):
                self.problem(part.location, f"unexpected {value_name(part)} token: expecting string")
                return None
            path.append((part.value, part.location))
        return path

    def import_statement(self, location: Location) -> bool:
        self.advance()
        path = self.path("import")
        if path is None:
            return False
        names = tuple(name for name, _ in path)
        start = path[0][1]
        if names[0] not in ("data", "input", "future", "rego"):
            self.hints.append("if this is unexpected, try updating OPA")
            roots = "{data, future, input, rego}"
            self.problem(start, f"unexpected import path, must begin with one of: {roots}, got: {names[0]}")
            return False
        alias_location = None
        alias = None
        if self.kind == "as":
            self.advance()
            alias_location = self.location()
            alias = self.alias()
            if alias is None:
                return False
        elif names[-1] in lexer.KEYWORDS and names[0] != "future":
            self.hints.append("import a different path or use an alias")
            self.problem(path[-1][1], f"unexpected import path, must not end with a keyword, got: {names[-1]}")
        if self.kind == "-":
            self.illegal()
            return False
        if names[0] in ("rego", "future"):
            self.language_import(names, start, alias_location)
        self.imports.append(Import(names, alias, location))
        return True

    def alias(self) -> str | None:
        if self.kind != lexer.NAME:
            self.illegal("expected var")
            return None
        alias = self.term()
        if not isinstance(alias, Var):
            self.illegal("expected var")
            return None
        if alias.name in ("input", "data"):
            self.problem(alias.location, f"unexpected import alias, must not be a reserved name, got: {alias.name}")
            return None
        return alias.name

    def language_import(self, names: tuple[str, ...], start: Location, alias: Location | None) -> None:
        if names[0] == "rego":
            if names != ("rego", "v1"):
                self.problem(start, f"invalid import `{'.'.join(names)}`, must be `rego.v1`")
            elif alias is not None:
                self.problem(alias, "`rego` imports cannot be aliased")
        elif len(names) == 1 or names[1] != "keywords":
            self.problem(start, "invalid import, must be `future.keywords`")
        elif alias is not None:
            self.problem(alias, "`future` imports cannot be aliased")
        elif len(names) == 3 and names[2] not in _FUTURE:
            self.problem(start, f"unexpected keyword, must be one of [{' '.join(_FUTURE)}]")
        else:
            for keyword in names[2:3] or _FUTURE:
                self.add_keyword(keyword)

    def rule_statement(self, location: Location) -> bool:
        state = self.save()
        self.name_before_ref()
        default = self.kind == "default"
        if default:
            self.advance()
            self.name_before_ref()
        written = None
        if self.kind == lexer.NAME or (self.kind == "contains" and not default):
            written = self.head(default)
        elif default:
            self.keyword_as_rule_name(self.kind, always=True)
        if written is not None:
            if default:
                return self.default_rule(written, location)
            if self.kind in ("if", "{"):
                return self.rule_with_body(written, location)
            if written.contains is not None and not self.problems:
                self.add_rule(written, (), location, has_if=False, generated_body=True)
                return True
        if self.problems:
            return False
        self.restore(state)
        return self.bare_statement(written, location)

    def bare_statement(self, written: _Written | None, location: Location) -> bool:
        """`p := 1`: OPA reads an expression, and makes a rule of it."""
        body = self.query(lexer.EOF, one_line=True)
        if body is None:
            return False
        fault = _fault_of_bare_rule(body)
        if fault is None and (written is None or written.end != self.index):
            fault = "expression cannot be used for rule head"
        if fault is not None or written is None:
            self.later.append(RegoProblem(PARSE_ERROR, fault or "", body[0].location))
            return True
        if written.looks_like_set:
            message = "`contains` keyword is required for partial set rules"
            self.later.append(RegoProblem(PARSE_ERROR, message, location))
        elif written.value is None and not written.is_function:
            message = "rule must have value assignment and/or body declaration"
            self.later.append(RegoProblem(PARSE_ERROR, message, location))
        self.add_rule(written, (), location, has_if=False, generated_body=True)
        return True

    def head(self, default: bool) -> _Written | None:
        location = self.location()
        name = self.var()
        ref: list[Term] = [Scalar(name.name, location)]
        args: tuple[Term, ...] | None = None
        self.advance()
        if self.glued and self.kind in _NOT_IN_HEAD:
            self.illegal()
        # OPA lets a blank stand before the first of them.
        more = self.kind in (".", "[", "(")
        while more and args is None:
            if self.kind == "(":
                args = self.arguments()
                taken = args is not None
            else:
                taken = self.dotted(ref) if self.kind == "." else self.bracketed(ref)
            if not taken:
                self.illegal("expected rule head name")
                return None
            more = self.glued and self.kind in (".", "[", "(")
        if more and self.kind != "(":
            return None
        written = _Written(tuple(ref), args, None, None, location, self.index)
        self.head_value(written, default)
        written.end = self.index
        return written

    def head_value(self, written: _Written, default: bool) -> None:
        name = self.source[self.tokens_start(written.location) : self.tokens[self.index - 1].end]
        if self.kind == "contains":
            example = f"(e.g., {name} contains <VALUE> {{ ... }})"
            if written.args is not None:
                self.illegal(f"the contains keyword can only be used with multi-value rule definitions {example}")
            self.advance()
            written.contains = self.infix()
            if written.contains is None:
                self.illegal(f"expected rule key term {example}")
        elif self.kind in ("=", ":="):
            sign = self.kind
            self.advance()
            written.value = self.infix()
            if written.value is None:
                if sign == "=":
                    note = f"expected rule value term (e.g., {name} = <VALUE> {{ ... }})"
                elif written.args:
                    note = f"expected function value term (e.g., {name.split('(')[0]}(...) := <VALUE> {{ ... }})"
                elif default:
                    note = f"expected default rule value term (e.g., default {name} := <VALUE>)"
                else:
                    note = f"expected rule value term (e.g., {name} := <VALUE> {{ ... }})"
                self.illegal(note)

    def tokens_start(self, location: Location) -> int:
        """The offset of a place on the way back from here."""
        index = self.index
        while (self.tokens[index].row, self.tokens[index].col) != (location.row, location.col):
            index -= 1
        return self.tokens[index].start

    def default_rule(self, written: _Written, location: Location) -> bool:
        if self.problems:
            return False
        if written.contains is not None or written.looks_like_set:
            self.problem(location, "illegal default rule (must have a value)")
            return False
        for kind in () if written.value is None else _unfit_for_default(written.value):
            self.problem(location, f"illegal default rule (value cannot contain {kind})")
        self.check_default_args(written.args or (), location)
        if self.problems:
            return False
        self.check_name(written, location)
        self.rules.append(Rule(written.head(), (), True, None, (), location))
        return True

    def check_default_args(self, args: tuple[Term, ...], location: Location) -> None:
        seen: set[str] = set()
        for arg in args:
            if not isinstance(arg, Var) or arg.name in ("input", "data"):
                self.problem(location, f"illegal default rule (arguments cannot contain {value_name(arg)})")
            elif arg.name in seen:
                self.problem(location, f"illegal default rule (arguments cannot be repeated {arg.name})")
            else:
                seen.add(arg.name)

    def rule_with_body(self, written: _Written, location: Location) -> bool:
        has_if = self.kind == "if"
        if has_if:
            self.advance()
            body = self.body_after_if()
        else:
            body = self.braces()
        if body is None:
            return False
        otherwise = None
        if self.kind == "else" and not self.name_before_ref():
            if any(not _is_ground(part) for part in written.ref[1:]):
                self.problem(self.location(), "else keyword cannot be used on rules with variables in head")
                return False
            if written.contains is not None or (not has_if and written.looks_like_set):
                self.problem(self.location(), "else keyword cannot be used on multi-value rules")
                return False
            otherwise = self.otherwise(written)
            if otherwise is None:
                return False
        self.add_rule(written, body, location, has_if=has_if, otherwise=otherwise)
        return self.further_bodies(written, has_if, otherwise is not None)

    def body_after_if(self) -> Body | None:
        state, starts_with_brace = self.save(), self.kind == "{"
        expr = self.literal()
        if expr is not None and not (starts_with_brace and isinstance(expr.of, Set)):
            return (expr,)
        if not starts_with_brace:
            return None
        # A set is never false, so `if {x}` is a body.
        self.restore(state)
        return self.braces()

    def further_bodies(self, written: _Written, has_if: bool, has_else: bool) -> bool:
        while self.kind == "{":
            location = self.location()
            if has_else:
                self.problem(location, "expected else keyword")
                return False
            body = self.braces()
            if body is None:
                return False
            self.add_rule(written, body, location, has_if=has_if)
        return True

    def otherwise(self, written: _Written) -> Rule | None:
        """A chain of `else`, built from its end."""
        links: list[tuple[Head, Body, Location]] = []
        more = True
        while more:
            location = self.location()
            self.advance()
            value: Term | None = None
            if self.kind in (":=", "="):
                self.advance()
                value = self.infix()
                if value is None:
                    return None
            elif self.kind not in ("{", "if"):
                self.illegal("expected else value term or rule body")
                return None
            body = self.else_body(location, bool(written.args))
            if body is None:
                return None
            links.append((Head(written.ref, written.args, None, value, location), body, location))
            more = self.kind == "else" and bool(body)
        rule: Rule | None = None
        for head, body, location in reversed(links):
            rule = Rule(head, body, False, rule, (), location)
        return rule

    def else_body(self, location: Location, is_function: bool) -> Body | None:
        if self.kind == "{":
            word = "function" if is_function else "rule"
            message = f"`if` keyword is required before {word} body"
            self.later.append(RegoProblem(PARSE_ERROR, message, location))
            return self.braces()
        if self.kind != "if":
            return ()
        self.advance()
        if self.kind == "{":
            return self.braces()
        if self.kind == lexer.EOF:
            self.illegal("rule body expected")
            return None
        expr = self.literal()
        return None if expr is None else (expr,)

    def add_rule(
        self,
        written: _Written,
        body: Body,
        location: Location,
        *,
        has_if: bool,
        otherwise: Rule | None = None,
        generated_body: bool = False,
    ) -> None:
        self.check_name(written, location)
        if not has_if and not generated_body:
            word = "function" if written.is_function else "rule"
            message = f"`if` keyword is required before {word} body"
            self.later.append(RegoProblem(PARSE_ERROR, message, location))
            if written.looks_like_set:
                message = "`contains` keyword is required for partial set rules"
                self.later.append(RegoProblem(PARSE_ERROR, message, location))
        self.rules.append(Rule(written.head(), body, False, otherwise, (), location))

    def check_name(self, written: _Written, location: Location) -> None:
        first = written.ref[0]
        if len(written.ref) == 1 and isinstance(first, Scalar) and first.value in lexer.KEYWORDS:
            message = f"{first.value} keyword cannot be used for rule name"
            self.later.append(RegoProblem(PARSE_ERROR, message, location))

    def annotate(self, found: list[RegoProblem]) -> list[metadata.Annotation]:
        """Gives the rules their annotations; answers those of the package."""
        blocks = metadata.blocks(self.comments)
        if not blocks:
            return []
        read = [(metadata.read(block, self.file), block[0].row) for block in blocks]
        faults = [each for each, _ in read if isinstance(each, RegoProblem)]
        if found or faults or self.package_location is None:
            found.extend(faults)
            return []
        places = [("package", self.package_location.row, -1)]
        places += [("import", each.location.row, -1) for each in self.imports]
        places += [("rule", rule.location.row, index) for index, rule in enumerate(self.rules)]
        places.sort(key=lambda place: place[1])
        attached = metadata.Attached(self.file, ((kind, row) for kind, row, _ in places))
        for each, row in read:
            if not isinstance(each, RegoProblem):
                attached.attach(each, row)
        found.extend(attached.problems)
        of_package = []
        for place, blocks_above in attached.by_statement.items():
            if place >= len(places):
                continue
            kind, _, index = places[place]
            if kind == "rule":
                rule = self.rules[index]
                self.rules[index] = Rule(
                    rule.head, rule.body, rule.default, rule.otherwise, tuple(blocks_above), rule.location
                )
            elif kind == "package":
                of_package = blocks_above
        return of_package


_NOT_IN_HEAD: Final = frozenset(("+", "-", "*", "/", "%", "&", "|", "==", "!=", ">", ">=", "<", "<="))


def _fault_of_bare_rule(body: Body) -> str | None:
    """Why an expression is no rule; in OPA's words."""
    expr = body[0]
    if len(body) != 1:
        return "multiple expressions cannot be used for rule head"
    if expr.withs:
        return "expressions using with keyword cannot be used for rule head"
    if expr.negated:
        return "negated expressions cannot be used for rule head"
    of = expr.of
    if isinstance(of, SomeDeclaration | SomeIn):
        return "'some' declarations cannot be used for rule head"
    if isinstance(of, Call):
        return _fault_of_call(of)
    if isinstance(of, Ref):
        return None if isinstance(of.head, Var) else "invalid rule head: it must begin with a name"
    if isinstance(of, Var) and value_name(of) == "ref":
        return "refs cannot be used for rule head"
    if isinstance(of, Var | Scalar | Array | Object | Set | TemplateString) or type(of).__name__.endswith(
        "Comprehension"
    ):
        return f"{value_name(of)} cannot be used for rule name"  # type: ignore[arg-type]
    return "expression cannot be used for rule head"


def _fault_of_call(call: Call) -> str | None:
    if not call.infix:
        return None if call.args else "rule argument list must take at least one argument"
    if call.operator not in (("eq",), ("assign",)):
        return "rule name conflicts with built-in function"
    left = call.args[0]
    if isinstance(left, Ref) and not isinstance(left.head, Var):
        return "invalid rule head: it must begin with a name"
    if isinstance(left, Var | Ref) or (isinstance(left, Call) and not left.infix):
        return None
    return f"{value_name(left)} cannot be used for rule name"


def _unfit_for_default(term: Term) -> list[str]:
    if isinstance(term, Ref | Var | Call):
        return [value_name(term)]
    if isinstance(term, Array | Set):
        return [kind for item in term.items for kind in _unfit_for_default(item)]
    if isinstance(term, Object):
        return [kind for pair in term.items for item in pair for kind in _unfit_for_default(item)]
    if isinstance(term, TemplateString):
        return ["call"] if any(isinstance(part, Expr) for part in term.parts) else []
    return []


def _is_ground(term: Term) -> bool:
    if isinstance(term, Var):
        return value_name(term) == "ref"
    if isinstance(term, Array | Set):
        return all(map(_is_ground, term.items))
    if isinstance(term, Object):
        return all(_is_ground(item) for pair in term.items for item in pair)
    if isinstance(term, Ref):
        return all(map(_is_ground, term.path))
    return isinstance(term, Scalar)
