"""What takes too long is interrupted, and nothing else ever is."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from engine.rego.run.watchdog import EVERY_S, TooLate, in_time


def endless() -> None:
    while True:
        sum(range(100))


def test_work_that_is_done_in_time_gives_its_result():
    assert in_time(10.0, lambda: 7) == 7
    assert in_time(float("inf"), lambda: 7) == 7


def test_fault_of_the_work_is_its_own():
    with pytest.raises(ZeroDivisionError):
        in_time(10.0, lambda: 1 // 0)


def test_endless_work_is_interrupted():
    began = time.monotonic()
    with pytest.raises(TooLate):
        in_time(0.05, endless)
    assert time.monotonic() - began < 5.0


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_work_that_goes_on_after_an_interruption_is_interrupted_again():
    ignored = 0

    class Stubborn:
        """Python ignores what is raised in a `__del__`."""

        def __del__(self) -> None:
            nonlocal ignored
            try:
                until = time.monotonic() + 1.0
                while time.monotonic() < until:
                    pass
            finally:
                ignored += 1

    def work() -> None:
        Stubborn()
        endless()

    with pytest.raises(TooLate):
        in_time(0.01, work)
    assert ignored == 1


def test_many_that_end_at_their_deadline_are_late_or_done_and_nothing_is_left_behind():
    """The moment between the end of the work and the closing of its guard, over and over, in several threads."""

    def ends_about_now(number: int) -> str:
        until = time.monotonic() + 0.02 + (number % 40) * 0.001

        def work() -> str:
            while time.monotonic() < until:
                pass
            return "done"

        try:
            return in_time(0.02, work)
        except TooLate:
            return "late"

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(ends_about_now, range(200)))
        assert set(answers) <= {"done", "late"}
        # Were an interruption still on its way, it would come here.
        assert sum(pool.map(lambda n: len(range(n)), range(200))) == 19_900
    time.sleep(3 * EVERY_S)


def test_each_thread_has_a_deadline_of_its_own():
    results: dict[str, str] = {}

    def ask(name: str, seconds: float, work_s: float) -> None:
        def work() -> str:
            until = time.monotonic() + work_s
            while time.monotonic() < until:
                pass
            return "done"

        try:
            results[name] = in_time(seconds, work)
        except TooLate:
            results[name] = "late"

    threads = [threading.Thread(target=ask, args=args) for args in (("short", 0.05, 10.0), ("long", 30.0, 0.3))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {"short": "late", "long": "done"}
