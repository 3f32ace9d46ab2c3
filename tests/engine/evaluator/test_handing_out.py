from __future__ import annotations

import threading

from engine.evaluator.handing_out import HandingOut

WAIT_S = 20.0


def test_last_returned_is_taken_first_and_an_empty_one_gives_nothing():
    things: HandingOut[str] = HandingOut()
    things.put("cold")
    things.put("warm")
    assert [things.take(), things.take(), things.take(), things.take(0.01)] == ["warm", "cold", None, None]


def test_returner_that_comes_back_at_once_waits_behind_those_who_came_before():
    things: HandingOut[str] = HandingOut()
    got: list[str | None] = []
    waiter = threading.Thread(target=lambda: got.append(things.take(WAIT_S)))
    waiter.start()
    while not things._waiting:
        pass
    things.put("it")
    assert things.take() is None
    waiter.join()
    assert got == ["it"]


def test_waiters_are_served_in_the_order_in_which_they_came():
    things: HandingOut[int] = HandingOut()
    order: list[tuple[int, int | None]] = []
    lock = threading.Lock()

    def wait(number: int) -> None:
        item = things.take(WAIT_S)
        with lock:
            order.append((number, item))

    threads = []
    for number in range(5):
        threads.append(threading.Thread(target=wait, args=(number,)))
        threads[-1].start()
        while len(things._waiting) <= number:
            pass
    for item in range(5):
        things.put(item)
    for thread in threads:
        thread.join()
    assert sorted(order) == [(number, number) for number in range(5)]


def test_waiter_whose_time_is_up_takes_nothing_from_the_next():
    things: HandingOut[str] = HandingOut()
    assert things.take(0.01) is None
    things.put("it")
    assert things.take() == "it"
