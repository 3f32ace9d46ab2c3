"""Which rule gave a value: `file:line` of every rule that made it, for elements, keys and whole documents.

Compiled code keeps this if it was asked to; what was not asked for is not in the code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from engine.rego.values import Frozen, Value, freeze, thaw

Rules: TypeAlias = tuple[str, ...]
"""Places of rules (`file:line`), sorted."""
Where: TypeAlias = "Rules | dict[Frozen, Rules]"
"""Of a complete rule; or by element of a partial set, by key of a partial object."""

NONE: Final[Rules] = ()


class Origins:
    """Of one evaluation."""

    def __init__(
        self,
        paths: Sequence[tuple[str, ...]] = (),
        where: Sequence[Where | None] = (),
        sets: Sequence[dict[Frozen, Rules]] = (),
    ) -> None:
        """`where` is of the documents at `paths`; `sets` as they were finished: what others pass on comes first."""
        self._paths = paths
        self._where = where
        self._sets = sets
        self._made: dict[Frozen, Rules] | None = None

    def of_document(self, path: tuple[str, ...]) -> Rules:
        """The rules that gave a document its value, or any part of it."""
        where = self._of(path)
        return where if isinstance(where, tuple) else merged(*where.values())

    def of_key(self, path: tuple[str, ...], key: Value) -> Rules:
        """The rules that gave a partial rule this element or this key."""
        where = self._of(path)
        return NONE if isinstance(where, tuple) else where.get(freeze(key), NONE)

    def _of(self, path: tuple[str, ...]) -> Where:
        found = next((where for own, where in zip(self._paths, self._where, strict=False) if own == path), None)
        return NONE if found is None else found

    def of_value(self, value: Value) -> Rules:
        """The rules that made an element of some set, wherever it has gone from there.

        A rule that only passes on what another made holds the very same object: it is no origin.
        """
        if self._made is None:
            self._made = _by_element(self._sets)
        return self._made.get(freeze(value), NONE)


def merged(*rules: Rules) -> Rules:
    return tuple(sorted(set[str]().union(*rules)))


def _by_element(sets: Sequence[dict[Frozen, Rules]]) -> dict[Frozen, Rules]:
    made: dict[Frozen, Rules] = {}
    seen: dict[Frozen, set[int]] = {}
    for elements in sets:
        for element, rules in elements.items():
            objects = seen.setdefault(element, set())
            if id(thaw(element)) not in objects:
                made[element] = merged(made.get(element, NONE), rules)
                objects.add(id(thaw(element)))
    return made
