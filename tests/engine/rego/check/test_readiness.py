from __future__ import annotations

from engine.rego.check.readiness import taken_in_order

Things = list[tuple[set[str], set[str]]]


def order_of(things: Things) -> tuple[list[int], int]:
    """Of things with what they need and what they give, and how often one was asked whether it is ready."""
    known: set[str] = set()
    asked = 0

    def take(number: int) -> set[str] | None:
        nonlocal asked
        asked += 1
        needs, gives = things[number]
        if not needs <= known:
            return None
        known.update(gives)
        return gives

    return taken_in_order([needs | gives for needs, gives in things], take), asked


def test_the_first_that_is_ready_is_taken_first():
    assert order_of([({"x"}, set()), (set(), {"y"}), (set(), {"x"}), ({"y"}, set())])[0] == [1, 2, 0, 3]


def test_what_is_never_ready_is_left_out():
    assert order_of([({"x"}, {"y"}), ({"y"}, {"x"}), (set(), {"z"})])[0] == [2]


def test_things_are_asked_again_only_when_something_of_theirs_came():
    things: Things = [({f"x{n + 1}"}, {f"x{n}"}) for n in range(100)]
    order, asked = order_of([*things, (set(), {"x100"})])

    assert order == list(range(100, -1, -1))
    assert asked == 201
