"""Rules of fragments: what they are made on, where they are spread, and that none holds itself."""

from __future__ import annotations

from engine.rego.graphql.faults import Position
from engine.rego.graphql.suggestions import did_you_mean, suggested
from engine.rego.graphql.syntax import (
    OBJECT,
    Definition,
    FragmentDefinition,
    FragmentSpread,
    InlineFragment,
    Selection,
)
from engine.rego.graphql.walker import Findings


class FragmentRules:
    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._schema = findings.schema
        self._names: set[str] = set()
        self._used: set[str] = set()
        self._uses_count = True
        self._searched: set[str] = set()
        self._path: list[FragmentSpread] = []

    def inline_is_on_composite_type(self, fragment: InlineFragment) -> None:
        definition = self._schema.types.get(fragment.type_condition)
        if definition is not None and not definition.is_composite:
            message = f'Fragment cannot condition on non composite type "{fragment.type_condition}".'
            self._findings.report(message, fragment.position)

    def is_on_composite_type(self, fragment: FragmentDefinition) -> None:
        if fragment.definition is None or not fragment.type_condition or fragment.definition.is_composite:
            return
        message = f'Fragment "{fragment.name}" cannot condition on non composite type "{fragment.type_condition}".'
        self._findings.report(message, fragment.position)

    def spread_is_known(self, spread: FragmentSpread) -> None:
        if spread.definition is None:
            self._findings.report(f'Unknown fragment "{spread.name}".', spread.position)

    def inline_is_on_known_type(self, fragment: InlineFragment) -> None:
        if fragment.type_condition and fragment.type_condition not in self._schema.types:
            self._findings.report(f'Unknown type "{fragment.type_condition}".', fragment.position)

    def is_on_known_type(self, fragment: FragmentDefinition) -> None:
        name = fragment.type_condition
        if name not in self._schema.types:
            similar = suggested(name, self._schema.types, self._findings.budget)
            message = f'Unknown type "{name}".' + did_you_mean("Did you mean", similar)
            self._findings.report(message, fragment.position)

    def does_not_hold_itself(self, fragment: FragmentDefinition) -> None:
        self._search_cycles(fragment, {})

    def spread_is_use(self, spread: FragmentSpread) -> None:
        if self._uses_count:
            self._used.add(spread.name)

    def is_used(self, fragment: FragmentDefinition) -> None:
        # Only now: what the first fragment spreads counts as used, even if nobody uses that fragment. gqlparser's way.
        self._uses_count = False
        if fragment.name not in self._used:
            self._findings.report(f'Fragment "{fragment.name}" is never used.', fragment.position)

    def inline_is_possible(self, fragment: InlineFragment) -> None:
        parent = fragment.object_definition
        if parent is not None and not self._can_be(parent, fragment.type_condition):
            self._impossible("Fragment", parent, fragment.type_condition, fragment.position)

    def spread_is_possible(self, spread: FragmentSpread) -> None:
        parent, fragment = spread.object_definition, spread.definition
        if parent is not None and fragment is not None and not self._can_be(parent, fragment.type_condition):
            self._impossible(f'Fragment "{spread.name}"', parent, fragment.type_condition, spread.position)

    def name_is_unique(self, fragment: FragmentDefinition) -> None:
        if fragment.name in self._names:
            self._findings.report(f'There can be only one fragment named "{fragment.name}".', fragment.position)
        self._names.add(fragment.name)

    def _can_be(self, parent: Definition, condition: str) -> bool:
        """Whether an object of the one type may be of the other; also where another rule speaks."""
        definition = self._schema.types.get(condition)
        if not parent.is_composite or definition is None or not definition.is_composite:
            return True
        possible = self._schema.possible_types
        parents = [parent] if parent.kind == OBJECT else possible.get(parent.name, [])
        others = possible.get(condition, [])
        self._findings.budget.spend(len(parents) + len(others))
        return not {one.name for one in parents}.isdisjoint(one.name for one in others)

    def _impossible(self, what: str, parent: Definition, condition: str, position: Position | None) -> None:
        never = f'objects of type "{parent.name}" can never be of type "{condition}"'
        self._findings.report(f"{what} cannot be spread here as {never}.", position)

    def _search_cycles(self, fragment: FragmentDefinition, depth_of: dict[str, int]) -> None:
        if fragment.name in self._searched:
            return
        self._searched.add(fragment.name)
        self._findings.budget.deeper()
        depth_of[fragment.name] = len(self._path)
        for spread in _spreads(fragment.selection_set):
            inner = self._findings.document.fragments.first(spread.name)
            if spread.name in depth_of:
                self._report_cycle(spread, self._path[depth_of[spread.name] :])
            elif inner is not None:
                self._path.append(spread)
                self._search_cycles(inner, depth_of)
                self._path.pop()
        del depth_of[fragment.name]
        self._findings.budget.back()

    def _report_cycle(self, spread: FragmentSpread, path: list[FragmentSpread]) -> None:
        names = ", ".join(f'"{step.name}"' for step in path)
        via = f" via {names}" if names else ""
        self._findings.report(f'Cannot spread fragment "{spread.name}" within itself{via}.', spread.position)


def _spreads(selections: list[Selection]) -> list[FragmentSpread]:
    """Of all depths, in gqlparser's order: the last selection set that was met is looked at first."""
    found: list[FragmentSpread] = []
    waiting = [selections]
    while waiting:
        for selection in waiting.pop():
            if isinstance(selection, FragmentSpread):
                found.append(selection)
            else:
                waiting.append(selection.selection_set)
    return found
