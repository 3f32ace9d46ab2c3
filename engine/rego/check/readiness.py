"""Things that wait for names: each is taken as soon as all that it needs is there, the first of them first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from heapq import heapify, heappop, heappush


def taken_in_order(names: Sequence[Collection[str]], take: Callable[[int], Collection[str] | None]) -> list[int]:
    """The numbers of those that could be taken, in the order in which they were.

    `names` are those that decide whether a thing is ready. `take` gives the names that are there from now on, or None
    if the thing is not ready; it is asked again only when one of its names has come.
    """
    waiting_for: defaultdict[str, set[int]] = defaultdict(set)
    for number, each in enumerate(names):
        for name in each:
            waiting_for[name].add(number)
    candidates = list(range(len(names)))
    heapify(candidates)
    queued, taken = set(candidates), dict[int, None]()
    while candidates:
        number = heappop(candidates)
        queued.discard(number)
        given = take(number)
        if given is None:
            continue
        taken[number] = None
        for other in set().union(*(waiting_for[name] for name in given)) - taken.keys() - queued:
            queued.add(other)
            heappush(candidates, other)
    return list(taken)
