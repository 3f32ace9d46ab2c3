"""All that is checked before a policy may run, in OPA's order: a stage that finds faults is the last one to look.

Misspelt names are an exception: OPA tells undefined functions first and unsafe variables once those are mended. Here
both are told: they are the commonest of mistakes, and in different rules one does not bring about the other.

Some stages only add to the list (duplicate imports, unused declarations, deprecated builtins), as they do in OPA: what
they find does not make later findings doubtful.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from engine.rego.builtins import load_all
from engine.rego.check.conflicts import conflict_problems
from engine.rego.check.functions import Functions
from engine.rego.check.metadata_calls import Annotations
from engine.rego.check.nesting import nesting_problems
from engine.rego.check.printing import print_problems, without_prints
from engine.rego.check.recursion import recursion_problems
from engine.rego.check.replacements import replacement_problems
from engine.rego.check.resolve import Env, Resolver
from engine.rego.check.ruletree import RuleNode, constant_part, rule_tree
from engine.rego.check.safety import ordered_query, ordered_rule
from engine.rego.check.shadowing import shadowed_by_arguments, shadowed_imports, shadowed_roots
from engine.rego.check.suggestions import Suggest, suggestion
from engine.rego.check.templates import template_problems
from engine.rego.check.unsafe import unsafe_heads
from engine.rego.errors import Location, RegoProblem
from engine.rego.syntax import tree as s
from engine.rego.syntax.variables import ROOTS, all_vars
from engine.rego.syntax.walking import branches
from engine.rego.types.checking import check_arities, check_types
from engine.rego.types.signatures import signatures


@dataclass(frozen=True, slots=True)
class Checked:
    rules: tuple[s.Rule, ...]
    """Resolved, and every body in an order in which it can run. None if there are problems."""
    problems: tuple[RegoProblem, ...]


@dataclass(frozen=True, slots=True)
class CheckedQuery:
    body: s.Body
    variables: Env
    """Which variable each written name became."""
    problems: tuple[RegoProblem, ...]


def check(modules: Sequence[s.Module], allowed: Collection[str] = ()) -> Checked:
    """`allowed` are builtins that would be refused otherwise."""
    load_all()
    run = _Run(sorted(modules, key=lambda module: module.file), allowed)
    stages = (
        run.nesting, run.arguments, run.resolve, run.templates, run.void_calls, run.prints, run.metadata,
        run.replacements, run.conflicts, run.misspelt, run.recursion, run.types,
    )  # fmt: skip
    fatal = next((found for stage in stages if (found := stage())), [])
    if not fatal:
        run.deprecated()
    problems = _sorted([*run.minor, *fatal])
    return Checked((), problems) if problems else Checked(tuple(run.rules), ())


def check_query(body: s.Body, rules: Sequence[s.Rule], allowed: Collection[str] = ()) -> CheckedQuery:
    """A query over rules that were checked; it has no package and no imports. Its types are not checked."""
    load_all()
    too_deep = nesting_problems(_as_rule(body))
    if too_deep:
        return CheckedQuery((), {}, tuple(too_deep))
    tree = rule_tree(rules)
    resolver = Resolver((), (), frozenset(), signatures().keys(), {**builtin_arities(), **_arities_of(rules)})
    resolved, variables = resolver.query(body)
    rule = _as_rule(resolved)
    functions = Functions(tree, signatures(), allowed)
    suggest = _suggester([*ROOTS, *variables], functions)
    minor = [*shadowed_roots(_as_rule(body)), *resolver.unused]
    ordered, unsafe = ordered_query(without_prints(rule).body, suggest)
    stages: tuple[Iterable[RegoProblem], ...] = (
        resolver.faults,
        template_problems(rule, signatures(), _Defined(tree)),
        functions.void_values(rule),
        print_problems(rule),
        replacement_problems(rule, tree, signatures()),
        [*functions.undefined(rule, suggest), *check_arities([rule, *_signatures_only(rules)])],
        unsafe,
        functions.called_rules(rule),
    )
    fatal = next((found for stage in stages if (found := list(stage))), [])
    minor.extend(functions.deprecated(rule) if not fatal else ())
    return CheckedQuery(ordered, variables, _sorted([*minor, *fatal]))


class _Run:
    """One check: `rules` are rewritten from stage to stage; what stages return ends it."""

    def __init__(self, modules: Sequence[s.Module], allowed: Collection[str]) -> None:
        self.modules = modules
        self.minor = [p for m in modules for p in shadowed_imports(m)]
        self.minor.extend(p for m in modules for rule in m.rules for p in shadowed_roots(rule))
        self.rules: list[s.Rule] = []
        self._allowed = allowed
        self._homes: list[s.Module] = [module for module in modules for _ in module.rules]
        self._names = _names_by_package(modules)
        self._tree = RuleNode()
        self._functions = Functions(self._tree, signatures(), allowed)

    def nesting(self) -> list[RegoProblem]:
        return [problem for module in self.modules for rule in module.rules for problem in nesting_problems(rule)]

    def arguments(self) -> list[RegoProblem]:
        return [problem for module in self.modules for rule in module.rules for problem in shadowed_by_arguments(rule)]

    def resolve(self) -> list[RegoProblem]:
        arities = {**builtin_arities(), **function_arities(self.modules)}
        faults: list[RegoProblem] = []
        for module in self.modules:
            names = self._names[module.package]
            resolver = Resolver(module.package, module.imports, names, signatures().keys(), arities)
            self.rules.extend(resolver.rule(rule) for rule in module.rules)
            self.minor.extend(resolver.unused)
            faults.extend(resolver.faults)
        self._grow()
        return faults

    def templates(self) -> list[RegoProblem]:
        defined = _Defined(self._tree)
        return [problem for rule in self.rules for problem in template_problems(rule, signatures(), defined)]

    def void_calls(self) -> list[RegoProblem]:
        return [problem for rule in self.rules for problem in self._functions.void_values(rule)]

    def prints(self) -> list[RegoProblem]:
        problems = [problem for rule in self.rules for problem in print_problems(rule)]
        self.rules = [without_prints(rule) for rule in self.rules]
        return problems

    def metadata(self) -> list[RegoProblem]:
        annotations = Annotations(self.modules)
        pairs = zip(self.rules, self._homes, strict=True)
        self.rules = [annotations.rewritten(rule, home.package) for rule, home in pairs]
        self._grow()
        return annotations.problems

    def replacements(self) -> list[RegoProblem]:
        return [problem for rule in self.rules for problem in replacement_problems(rule, self._tree, signatures())]

    def conflicts(self) -> list[RegoProblem]:
        return list(conflict_problems(self._tree, self.modules))

    def misspelt(self) -> list[RegoProblem]:
        """Three stages of OPA's at once, so that every misspelt name is told in one go; of one rule, only the first."""
        found = self.functions()
        for stage in (self.heads, self.bodies):
            faulty = {self._rule_at(problem.location) for problem in found}
            found.extend(problem for problem in stage() if self._rule_at(problem.location) not in faulty)
        return found

    def _rule_at(self, location: Location) -> Location | None:
        """Where the rule begins that a place is in."""
        begins = [rule.location for rule in self.rules if rule.location.file == location.file]
        return max((begin for begin in begins if begin <= location), default=None)

    def functions(self) -> list[RegoProblem]:
        undefined = [p for rule, suggest in self._with_suggestions() for p in self._functions.undefined(rule, suggest)]
        return [*undefined, *check_arities(self.rules)]

    def heads(self) -> list[RegoProblem]:
        return [
            problem
            for rule, suggest in self._with_suggestions()
            for branch in branches(rule)
            for problem in unsafe_heads(branch, suggest)
        ]

    def bodies(self) -> list[RegoProblem]:
        made = [ordered_rule(rule, suggest) for rule, suggest in self._with_suggestions()]
        problems = [problem for _, unsafe in made for problem in unsafe]
        # Recursion is looked for in the order in which the bodies are written.
        self._written, self.rules = self.rules, [rule for rule, _ in made]
        return problems

    def recursion(self) -> list[RegoProblem]:
        return recursion_problems(self._written, self._tree)

    def types(self) -> list[RegoProblem]:
        called = [problem for rule in self.rules for problem in self._functions.called_rules(rule)]
        return called or check_types(self.rules)

    def deprecated(self) -> None:
        self.minor.extend(problem for rule in self.rules for problem in self._functions.deprecated(rule))

    def _grow(self) -> None:
        self._tree = rule_tree(self.rules)
        self._functions = Functions(self._tree, signatures(), self._allowed)

    def _with_suggestions(self) -> Iterable[tuple[s.Rule, Suggest]]:
        for rule, home in zip(self.rules, self._homes, strict=True):
            imported = [each.alias or each.path[-1] for each in home.imports if each.path[0] in ROOTS]
            yield rule, _suggester([*ROOTS, *imported, *self._names[home.package]], self._functions, rule)


class _Defined:
    """Whether a ref names a rule that always has a value."""

    def __init__(self, tree: RuleNode) -> None:
        self._tree = tree

    def __call__(self, ref: s.Ref) -> bool:
        if not (isinstance(ref.head, s.Var) and ref.head.name == "data"):
            return False
        node = self._tree.find(ref.path)
        if node is None or not node.rules or node.rules[0].head.args:
            return False
        only = node.rules[0] if len(node.rules) == 1 else None
        return (
            node.rules[0].head.contains is not None
            or any(rule.default for rule in node.rules)
            or (only is not None and not only.body and isinstance(only.head.value, s.Scalar))
        )


def builtin_arities() -> dict[tuple[str, ...], int]:
    return {
        tuple(name.split(".")): len(signature.type.args)
        for name, signature in signatures().items()
        if signature.type.variadic is None
    }


def function_arities(modules: Iterable[s.Module]) -> dict[tuple[str, ...], int]:
    return {
        ("data", *module.package, *map(_name, rule.head.ref)): len(rule.head.args)
        for module in modules
        for rule in module.rules
        if rule.head.args is not None
    }


def _arities_of(rules: Iterable[s.Rule]) -> Mapping[tuple[str, ...], int]:
    return {
        ("data", *(str(part.value) for part in constant_part(rule.head.ref))): len(rule.head.args)
        for rule in rules
        if rule.head.args is not None
    }


def _signatures_only(rules: Iterable[s.Rule]) -> list[s.Rule]:
    """Functions without what they do."""
    functions = [rule for rule in rules if rule.head.args is not None and not rule.default]
    return [replace(rule, head=replace(rule.head, value=None), body=(), otherwise=None) for rule in functions]


def _names_by_package(modules: Iterable[s.Module]) -> dict[tuple[str, ...], set[str]]:
    names: dict[tuple[str, ...], set[str]] = {}
    for module in modules:
        names.setdefault(module.package, set()).update(_name(rule.head.ref[0]) for rule in module.rules)
    return names


def _name(part: s.Term) -> str:
    return part.name if isinstance(part, s.Var) else str(part.value) if isinstance(part, s.Scalar) else ""


def _suggester(names: Collection[str], functions: Functions, rule: s.Rule | None = None) -> Suggest:
    """For the names of one package, and the variables of one of its rules."""

    def suggest(name: str, *, called: bool) -> str | None:
        variables = set().union(*map(all_vars, rule.body)) if rule is not None and not called else ()
        return suggestion(name, [*names, *variables, *(functions.builtins if called else ())])

    return suggest


def _as_rule(body: s.Body) -> s.Rule:
    at = body[0].location if body else Location("", 1, 1)
    head = s.Head((s.Scalar("$query", at),), None, None, s.Scalar(True, at), at)
    return s.Rule(head, body, False, None, (), at)


def _sorted(problems: Iterable[RegoProblem]) -> tuple[RegoProblem, ...]:
    unique = {(each.code, each.message, each.location): each for each in problems}
    return tuple(sorted(unique.values(), key=lambda each: (each.location, each.code, each.message)))
