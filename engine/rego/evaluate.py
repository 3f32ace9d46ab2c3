"""Modules in, answers out: parse, resolve, check, compile, run."""

from __future__ import annotations

from collections.abc import Mapping

from engine.rego.builtins import load_all
from engine.rego.builtins.registry import Circumstances
from engine.rego.errors import RegoProblem, RegoSyntaxError
from engine.rego.linking import Linker
from engine.rego.parser import parse_module, parse_query
from engine.rego.resolve import Resolver
from engine.rego.runtime import Budget, Query
from engine.rego.signatures import signatures
from engine.rego.syntax import Module, Rule, Scalar, Term, Var
from engine.rego.values import Value


def run_query(
    modules: Mapping[str, str], data: Value, given: Value, query: str, strict: bool = False
) -> list[dict[str, Value]]:
    """The bindings of the query's variables, one dict a solution."""
    load_all()
    linker = Linker()
    parsed = [parse_module(source, file) for file, source in modules.items()]
    arities = {**_builtin_arities(), **_function_arities(parsed)}
    linker.link(resolved_rules(parsed, arities, linker.problems), (module.package for module in parsed))
    resolver = Resolver((), (), frozenset(), signatures().keys(), arities)
    body, variables = resolver.query(parse_query(query))
    run = linker.query(body, variables)
    problems = [*linker.problems, *resolver.problems]
    if problems:
        raise RegoSyntaxError(sorted(set(problems), key=lambda problem: problem.location))
    return run(Query(linker.program, given, data, Circumstances(strict=strict), Budget()))


def resolved_rules(
    parsed: list[Module], arities: Mapping[tuple[str, ...], int], problems: list[RegoProblem]
) -> list[Rule]:
    names: dict[tuple[str, ...], set[str]] = {}
    for module in parsed:
        names.setdefault(module.package, set()).update(_first_name(rule) for rule in module.rules)
    rules: list[Rule] = []
    for module in parsed:
        resolver = Resolver(module.package, module.imports, names[module.package], signatures().keys(), arities)
        rules.extend(resolver.rule(rule) for rule in module.rules)
        problems.extend(resolver.problems)
    return rules


def _builtin_arities() -> dict[tuple[str, ...], int]:
    return {tuple(name.split(".")): len(signature.type.args) for name, signature in signatures().items()}


def _function_arities(parsed: list[Module]) -> dict[tuple[str, ...], int]:
    return {
        ("data", *module.package, *(_name(part) for part in rule.head.ref)): len(rule.head.args)
        for module in parsed
        for rule in module.rules
        if rule.head.args is not None
    }


def _first_name(rule: Rule) -> str:
    return _name(rule.head.ref[0])


def _name(part: Term) -> str:
    return part.name if isinstance(part, Var) else str(part.value) if isinstance(part, Scalar) else ""
