"""`rego.metadata.rule()` and `rego.metadata.chain()`: what they give is known when a policy is loaded, and written in.

Annotations themselves are read by `metadata`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from engine.rego.check.ruletree import constant_part
from engine.rego.errors import Location, RegoProblem
from engine.rego.syntax import tree as s
from engine.rego.syntax.metadata import Annotation
from engine.rego.syntax.walking import branches, mapped, mapped_rule, rule_nodes

RULE, CHAIN = ("rego", "metadata", "rule"), ("rego", "metadata", "chain")

Path = tuple[Any, ...]


class Annotations:
    """Of all modules, by what they are about."""

    def __init__(self, modules: Sequence[s.Module]) -> None:
        self.problems: list[RegoProblem] = []
        self._packages: dict[Path, Annotation] = {}
        self._documents: dict[Path, Annotation] = {}
        """Those of scope `document` by rule, of scope `subpackages` by package."""
        self._places: dict[tuple[str, Path], Location] = {}
        for module in sorted(modules, key=lambda module: module.file):
            self._add(module)

    def rewritten(self, rule: s.Rule, package: Path) -> s.Rule:
        """With constants in the place of calls. The rule's head starts with its package."""
        calls = {n.operator for b in branches(rule) for n in rule_nodes(b) if isinstance(n, s.Call)}
        if not calls & {RULE, CHAIN}:
            return rule

        def change(node: Any) -> Any:  # noqa: ANN401  a node of the same kind, or its value
            if isinstance(node, s.Call) and node.operator in {RULE, CHAIN}:
                value = self.of_rule(rule) if node.operator == RULE else self.chain(rule, package)
                return _as_result(term_of(value, node.location), node)
            return mapped(node, change)

        return mapped_rule(rule, change)

    def of_rule(self, rule: s.Rule) -> Annotation:
        return next(_of_scope(rule.annotations, "rule"), {})

    def chain(self, rule: s.Rule, package: Path) -> list[Annotation]:
        """From the rule itself outwards, each with the path that it is about."""
        path = tuple(part.value for part in constant_part(rule.head.ref))
        own = [_link(path, each) for each in reversed(list(_of_scope(rule.annotations, "rule")))]
        chain = own or [{"path": list(path)}]
        if path in self._documents:
            chain.append(_link(path, self._documents[path]))
        if package in self._packages:
            chain.append(_link(package, self._packages[package]))
        around = [package[:end] for end in range(len(package), -1, -1)]
        return [*chain, *(_link(each, self._documents[each]) for each in around if each in self._documents)]

    def _add(self, module: s.Module) -> None:
        for annotation, place in _placed(module.annotations, module.package_location, module):
            into = self._packages if annotation["scope"] == "package" else self._documents
            self._declare(annotation, module.package, into, place)
        for rule in module.rules:
            path = (*module.package, *_names(rule.head.ref))
            for annotation, place in _placed(rule.annotations, rule.location, module):
                if annotation["scope"] == "document":
                    self._declare(annotation, path, self._documents, place)

    def _declare(self, annotation: Annotation, path: Path, into: dict[Path, Annotation], at: Location) -> None:
        scope = annotation["scope"]
        first = self._places.setdefault((scope, path), at)
        if path in into and first is not at:
            message = f"{scope} annotation redeclared: {first.file}:{first.row}"
            self.problems.append(RegoProblem("rego_type_error", message, at))
        into.setdefault(path, annotation)


def term_of(value: Any, location: Location) -> s.Term:  # noqa: ANN401  whatever YAML holds
    if isinstance(value, dict):
        pairs = ((s.Scalar(key, location), term_of(item, location)) for key, item in value.items())
        return s.Object(tuple(pairs), location)
    if isinstance(value, list):
        return s.Array(tuple(term_of(item, location) for item in value), location)
    return s.Scalar(value, location)


def _as_result(value: s.Term, call: s.Call) -> s.Term:
    """A call with one argument says that this is the result."""
    return s.Call(("eq",), (call.args[0], value), call.location, infix=True) if call.args else value


def _link(path: Path, annotation: Annotation) -> Annotation:
    return {"path": list(path), "annotations": annotation}


def _of_scope(annotations: Iterable[Annotation], scope: str) -> Iterator[Annotation]:
    return (each for each in annotations if each["scope"] == scope)


def _placed(
    annotations: Sequence[Annotation], statement: Location, module: s.Module
) -> Iterable[tuple[Annotation, Location]]:
    """Each with the line that begins it: they are the last such lines above their statement."""
    starts = [
        at for at, text in module.comments
        if at.col == 1 and at.row < statement.row and text.strip().startswith("METADATA")
    ]  # fmt: skip
    known = starts[len(starts) - len(annotations) :]
    return (
        zip(annotations, known, strict=True)
        if len(known) == len(annotations)
        else ((each, statement) for each in annotations)
    )


def _names(ref: tuple[s.Term, ...]) -> Iterator[Any]:
    for place, part in enumerate(ref):
        if isinstance(part, s.Var) and place == 0:
            yield part.name
        elif isinstance(part, s.Scalar):
            yield part.value
        else:
            return
