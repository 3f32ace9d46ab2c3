"""The cost of our Rego engine: against regopy and OPA, and as policies and their inputs grow.

    python -m bench.rego --json [--samples N] [--opa PATH] [--only shape|admission|scaling|rules] [--profile]

- *shape* and *admission*: two policies (bench/rego_workloads.py), JSON bytes in and JSON bytes out, every input another
  one, no cache of results. All evaluators must give the same answers, or nothing is measured. Rounds visit the
  evaluators in turn on the same inputs; a figure is the median over rounds, a ratio the median of the rounds' ratios:
  what else the machine does in a round slows all of them. OPA's figure is the server's own timer of the evaluation
  alone, which favours OPA: `opa_handler_us` is the one with its JSON.
- *scaling* and *rules*: bench/rego_growth.py.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench.opa_server import OpaFailed, OpaServer, find_opa
from bench.rego_growth import WrongAnswer, rules, scaling
from bench.rego_sides import LictorSide, RegopySide, SideFailed, has_regopy
from bench.rego_workloads import Workload, admission, shape
from engine.jsontext import canonical, parse

SAMPLES: Final = 1_000
ROUNDS: Final = 20
SLOW_SHARE: Final = 5
"""One of so many inputs is put to regopy before the measurement: it takes milliseconds for each."""
HOTTEST: Final = 30

POLICIES: Final[Mapping[str, Callable[[int], Workload]]] = {"shape": shape, "admission": admission}
HEADLINE: Final = "shape"
GROWTH: Final[Mapping[str, Callable[[], dict[str, Any]]]] = {"scaling": scaling, "rules": rules}

Figures = dict[str, float | None]


def main() -> None:
    options = _options()
    try:
        figures = _figures(options)
    except (Disagreement, OpaFailed, SideFailed, WrongAnswer) as error:
        sys.exit(f"rego: {error}")
    if not options.json:
        for name, value in figures.items():
            print(f"{name:24} {value}")
        return
    print(json.dumps(figures))


class Disagreement(Exception):
    """Two evaluators answer the same question differently."""


def _figures(options: argparse.Namespace) -> dict[str, Any]:
    opa = options.opa or find_opa()
    if opa is None:
        _progress("OPA is missing; `make testbeds` brings it")
    found: dict[str, Any] = {}
    for name, make in POLICIES.items():
        if options.only in (None, name):
            workload = make(options.samples)
            if options.profile:
                _profile(name, workload)
            policy = compare(name, workload, opa)
            found |= {**policy, name: policy} if name == HEADLINE else {name: policy}
    for name, measure in GROWTH.items():
        if options.only in (None, name):
            _progress(name)
            found |= measure()
    return found


# --- evaluators side by side ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sides:
    lictor: LictorSide
    regopy: RegopySide | None
    opa: OpaServer | None


def compare(name: str, workload: Workload, opa: str | None) -> Figures:
    with _sides(workload, opa) as sides:
        _progress(f"{name}: do all evaluators agree?")
        _check_agreement(name, workload.inputs, sides)
        _progress(f"{name}: {len(workload.inputs)} inputs")
        return _summary(_rounds(workload.inputs, sides))


@contextmanager
def _sides(workload: Workload, opa: str | None) -> Iterator[Sides]:
    given = (workload.modules, workload.data, workload.path)
    lictor, regopy = LictorSide(*given), RegopySide(*given) if has_regopy() else None
    if opa is None:
        yield Sides(lictor, regopy, None)
        return
    with tempfile.TemporaryDirectory(prefix="lictor-bench-") as folder, OpaServer(opa, Path(folder), *given) as server:
        yield Sides(lictor, regopy, server)


def _check_agreement(name: str, inputs: Sequence[bytes], sides: Sides) -> None:
    """Each input is asked once here, which warms all of them up as well."""
    for number, given in enumerate(inputs):
        ours = sides.lictor.answer(given)
        if sides.opa is not None:
            require_same(f"{name} {number}: lictor and OPA", given, ours, sides.opa.ask(given).result)
        if sides.regopy is not None and number % SLOW_SHARE == 0:
            require_same(f"{name} {number}: lictor and regopy", given, ours, sides.regopy.answer(given))


def require_same(who: str, given: bytes, one: bytes, other: bytes) -> None:
    one, other = (text and canonical(parse(text)) for text in (one, other))
    if one != other:
        first, second = (text.decode() or "undefined" for text in (one, other))
        raise Disagreement(f"{who} disagree\n  {first}\n  {second}\n  input {given.decode()}")


@dataclass(frozen=True, slots=True)
class Round:
    """Microseconds for each input."""

    lictor: float
    regopy: float | None
    opa: float | None
    opa_handler: float | None


def _rounds(inputs: Sequence[bytes], sides: Sides) -> list[Round]:
    count = min(ROUNDS, len(inputs))
    return [_round(inputs[number::count], sides) for number in range(count)]


def _round(inputs: Sequence[bytes], sides: Sides) -> Round:
    lictor = _wall_us(sides.lictor.answer, inputs)
    regopy = _wall_us(sides.regopy.answer, inputs) if sides.regopy is not None else None
    if sides.opa is None:
        return Round(lictor, regopy, None, None)
    timed = [sides.opa.ask(given) for given in inputs]
    opa = statistics.fmean(each.eval_ns for each in timed) / 1_000
    return Round(lictor, regopy, opa, statistics.fmean(each.handler_ns for each in timed) / 1_000)


def _wall_us(answer: Callable[[bytes], bytes], inputs: Sequence[bytes]) -> float:
    began = time.perf_counter()
    for given in inputs:
        answer(given)
    return (time.perf_counter() - began) / len(inputs) * 1e6


def _summary(rounds: Sequence[Round]) -> Figures:
    return {
        "lictor_us": _median([each.lictor for each in rounds]),
        "regopy_us": _median([each.regopy for each in rounds]),
        "ratio_regopy": _median([each.regopy and each.regopy / each.lictor for each in rounds]),
        "opa_us": _median([each.opa for each in rounds]),
        "ratio_opa": _median([each.opa and each.opa / each.lictor for each in rounds]),
        "opa_handler_us": _median([each.opa_handler for each in rounds]),
    }


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(statistics.median(known), 2) if known else None


# --- the rest ---------------------------------------------------------------------------------------------------------


def _profile(name: str, workload: Workload) -> None:
    """Where our engine spends its time, on stderr; the profiler itself slows small functions most."""
    side = LictorSide(workload.modules, workload.data, workload.path)
    profiler = cProfile.Profile()
    profiler.enable()
    for given in workload.inputs:
        side.answer(given)
    profiler.disable()
    _progress(f"{name}: the hottest functions")
    pstats.Stats(profiler, stream=sys.stderr).sort_stats("tottime").print_stats(HOTTEST)


def _progress(message: str) -> None:
    print(f"rego: {message}", file=sys.stderr, flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.rego", description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object last")
    parser.add_argument("--samples", type=_positive, default=SAMPLES, help="inputs per policy (default %(default)s)")
    parser.add_argument("--opa", type=_program, help="the program (default: on PATH, or where testbeds are)")
    parser.add_argument("--only", choices=[*POLICIES, *GROWTH], help="one of the measurements")
    parser.add_argument("--profile", action="store_true", help="list the hottest functions of our engine too")
    return parser.parse_args()


def _positive(text: str) -> int:
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"{number} is not a positive number")
    return number


def _program(text: str) -> str:
    if (found := shutil.which(text)) is None:
        raise argparse.ArgumentTypeError(f"{text} is no program that can be run")
    return found


if __name__ == "__main__":
    main()
