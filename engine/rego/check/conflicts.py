"""Rules that cannot stand beside each other: of two kinds, of two arities, one below another, or where a package is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from engine.rego.check.ruletree import RuleNode, is_constant, name_text, ref_text
from engine.rego.errors import Location, RegoProblem
from engine.rego.syntax import tree as s


def conflict_problems(tree: RuleNode, modules: Sequence[s.Module]) -> Iterator[RegoProblem]:
    packages = {module.file: module.package_location for module in modules}
    for node in tree.below():
        if node.rules:
            yield from _at(node, packages)
    yield from _packages_at_rules(modules)


def _at(node: RuleNode, packages: Mapping[str, Location]) -> Iterator[RegoProblem]:
    first, name = node.rules[0], ref_text(node.rules[-1].head.ref)
    inner = _below(node)
    defaults = [rule for rule in node.rules if rule.default]
    if inner:
        lines = "\n".join(f"  rule {ref_text(rule.head.ref)} at {_place(rule.location)}" for rule in inner)
        yield _problem(f"rule {name} conflicts with:\n{lines}", first.location)
    elif _differ(node.rules):
        yield _problem(f"conflicting rules {name} found", first.location)
    elif len(defaults) > 1:
        places = ", ".join(_place(rule.location) for rule in defaults)
        yield _problem(f"multiple default rules {name} found at {places}", packages[defaults[0].location.file])


def _below(node: RuleNode) -> list[s.Rule]:
    """What a rule with one value or a set, or a function, cannot have inside; an object can, but for functions."""
    rules = [rule for child in node.children.values() for each in child.below() for rule in each.rules]
    if not any(is_constant(rule.head.ref) for rule in node.rules):
        rules = [rule for rule in rules if rule.head.args]
    outermost: list[s.Rule] = []
    for rule in sorted(rules, key=lambda rule: ref_text(rule.head.ref)):
        if not any(_starts_with(rule.head.ref, other.head.ref) for other in outermost):
            outermost.append(rule)
    return outermost


def _starts_with(ref: tuple[s.Term, ...], beginning: tuple[s.Term, ...]) -> bool:
    return ref_text(ref[: len(beginning)]) == ref_text(beginning)


def _differ(rules: Sequence[s.Rule]) -> bool:
    """In whether they give one value or many, one for all or one a key, or in how many arguments they take."""
    many = {rule.head.contains is not None for rule in rules}
    arities = {len(rule.head.args or ()) for rule in rules}
    keyed = {not is_constant(rule.head.ref) for rule in rules}
    return len(many) > 1 or len(arities) > 1 or len(keyed) > 1


def _packages_at_rules(modules: Sequence[s.Module]) -> Iterator[RegoProblem]:
    for module in modules:
        for rule in module.rules:
            path = _constant_path(rule)
            for other in modules if path else ():
                if path is not None and other.package == (*module.package, *path) and other is not module:
                    package, at = name_text(other.package), _place(rule.location)
                    message = f"package {package} conflicts with rule {name_text(path)} defined at {at}"
                    yield _problem(message, module.package_location)


def _constant_path(rule: s.Rule) -> tuple[str, ...] | None:
    parts = [
        part.name if place == 0 and isinstance(part, s.Var) else getattr(part, "value", None)
        for place, part in enumerate(rule.head.ref)
    ]
    return tuple(part for part in parts if isinstance(part, str)) if all(isinstance(p, str) for p in parts) else None


def _place(location: Location) -> str:
    return f"{location.file}:{location.row}"


def _problem(message: str, location: Location) -> RegoProblem:
    return RegoProblem("rego_type_error", message, location)
