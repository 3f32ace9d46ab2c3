"""Which rules a ref may mean, and in which order rules can be looked at so that what they use comes first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.rego.syntax import tree as s
from engine.rego.types.env import Key, constant, key_of
from engine.rego.types.flattening import FlatRule
from engine.rego.values import UNDEFINED


class _Place:
    __slots__ = ("children", "rules")

    def __init__(self) -> None:
        self.rules: list[int] = []
        self.children: dict[Key, _Place] = {}

    def everything(self) -> Iterator[int]:
        yield from self.rules
        for child in self.children.values():
            yield from child.everything()


class RuleGraph:
    """Rules are known by their number in `rules`."""

    def __init__(self, rules: Sequence[FlatRule]) -> None:
        self._rules = rules
        self._root = _Place()
        for number, rule in enumerate(rules):
            self._place(ground_keys(rule.path)).rules.append(number)
        self._uses = [{n for ref in rule.uses for n in self.meant(ref)} for rule in rules]
        self._users: list[list[int]] | None = None

    def meant(self, ref: s.Ref) -> set[int]:
        """The rules that define what `ref` reads, or a part of it. `ref` begins at `data`."""
        found: set[int] = set()
        self._walk(self._root, ref.path, 0, found)
        return found

    def dependents(self, ref: s.Ref) -> set[int]:
        """Those of `meant`, and all that use them, directly or not."""
        found: set[int] = set()
        waiting = list(self.meant(ref))
        while waiting:
            number = waiting.pop()
            if number not in found:
                found.add(number)
                waiting.extend(self._users_of(number))
        return found

    def order(self) -> tuple[list[int], set[int]]:
        """What is used comes before what uses it. Then those for which that is impossible: they use themselves."""
        done: dict[int, bool] = {}
        order: list[int] = []
        recursive: set[int] = set()
        for number in range(len(self._rules)):
            self._visit(number, done, order, recursive)
        return order, recursive

    def _visit(self, start: int, done: dict[int, bool], order: list[int], recursive: set[int]) -> None:
        if start in done:
            return
        done[start] = False
        path = [(start, iter(sorted(self._uses[start])))]
        while path:
            number, uses = path[-1]
            following = next((each for each in uses if not done.get(each, False)), None)
            if following is None:
                done[number] = True
                order.append(number)
                path.pop()
            elif following in done:
                recursive.add(following)
            else:
                done[following] = False
                path.append((following, iter(sorted(self._uses[following]))))

    def _users_of(self, number: int) -> list[int]:
        if self._users is None:
            self._users = [[] for _ in self._rules]
            for user, uses in enumerate(self._uses):
                for used in uses:
                    self._users[used].append(user)
        return self._users[number]

    def _place(self, keys: Sequence[Key]) -> _Place:
        place = self._root
        for key in keys:
            place = place.children.setdefault(key, _Place())
        return place

    def _walk(self, place: _Place, path: Sequence[s.Term], at: int, found: set[int]) -> None:
        if at == len(path):
            found.update(place.everything())
            return
        is_constant = constant(path[at]) is not UNDEFINED
        children = [place.children.get(key_of(path[at]))] if is_constant else place.children.values()
        for child in children:
            if child is not None:
                found.update(n for n in child.rules if may_meet(self._rules[n].path, path, at + 1))
                self._walk(child, path, at + 1, found)


def ground_keys(path: Sequence[s.Term]) -> list[Key]:
    """Of a rule's path below `data`, as far as no variable is in it."""
    keys: list[Key] = []
    for part in path:
        if not isinstance(part, s.Scalar):
            break
        keys.append(key_of(part))
    return keys


def may_meet(one: Sequence[s.Term], other: Sequence[s.Term], start: int) -> bool:
    """Whether two paths may mean one document from `start` on: no two constants differ."""
    for a, b in zip(one[start:], other[start:], strict=False):
        if constant(a) is not UNDEFINED and constant(b) is not UNDEFINED and key_of(a) != key_of(b):
            return False
    return True
