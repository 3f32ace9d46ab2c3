"""What the Rego evaluators are asked: a policy, its data and distinct inputs, the same ones in every run.

Lives here: `shape` (a policy of the size that tenants write, beside this file) and `admission` (the project's bundle
with inputs made from its own cases). Must not: evaluate anything.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from engine.bundle.source import read_bundle
from engine.jsontext import JsonValue, canonical, parse

SHAPE: Final = Path(__file__).parent / "rego_policy"
BUNDLE: Final = Path(__file__).parent.parent / "policy"
SEED: Final = 20260131

_SKUS: Final = ("a100-40g", "a100-80g", "l40s-48g", "a10-24g", "l4-24g", "h100-80g")
_TEAMS: Final = ("research", "search", "speech", "vision", "platform", "evaluation")


@dataclass(frozen=True, slots=True)
class Workload:
    modules: Mapping[str, str]
    """Source by file name."""
    data: JsonValue
    path: str
    """Of the document that is asked for, with slashes."""
    inputs: tuple[bytes, ...]
    """JSON texts, no two of them equal."""


def shape(samples: int) -> Workload:
    module = SHAPE / "admission.rego"
    data = parse((SHAPE / "data.json").read_bytes(), what="data.json")
    chance = random.Random(SEED)
    inputs = tuple(canonical(_request(chance, number)) for number in range(samples))
    return Workload({module.name: module.read_text()}, data, "gpu/admission/decision", inputs)


def admission(samples: int) -> Workload:
    bundle = read_bundle(BUNDLE)
    path = "lictor/admission"
    cases = [given for table in sorted(BUNDLE.rglob("cases.yaml")) for given in _given_of(table, path)]
    chance = random.Random(SEED)
    inputs = tuple(canonical(_varied(cases[number % len(cases)], chance, number)) for number in range(samples))
    return Workload({module.path: module.source for module in bundle.modules}, bundle.data, path, inputs)


# --- shape ------------------------------------------------------------------------------------------------------------


def _request(chance: random.Random, number: int) -> dict[str, Any]:
    """About half of them are admitted; the others break one to four rules."""
    sku = chance.choice(_SKUS[:3])
    given = _admissible(chance, number, sku)
    if chance.random() < 0.5:
        for fault in chance.sample(_FAULTS, chance.choice((1, 1, 2, 4))):
            at, value = chance.choice(fault)
            _set(given, at, value)
    return given


def _admissible(chance: random.Random, number: int, sku: str) -> dict[str, Any]:
    tenant = f"tenant-{chance.randrange(200):03}"
    team = chance.choice(_TEAMS)
    tier, priorities = chance.choice((("standard", ("batch", "normal")), ("guaranteed", ("normal", "high"))))
    return {
        "action": "submit_workload",
        "time": f"2026-01-31T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z",
        "subject": {"id": f"user:{chance.randrange(5000)}", "tenant": tenant, "roles": ["viewer", "admin"]},
        "tenant": {
            "id": tenant,
            "state": "active",
            "tier": tier,
            "budget_cents": chance.randrange(2_000_000, 9_000_000),
            "quota": {name: {"guaranteed": chance.randrange(6, 40), "burst": 16} for name in (sku, "h100-80g")},
            "leases": [_lease(chance, turn, sku) for turn in range(6)],
        },
        "request": {
            "workload": f"{team}-training-{number:05}",
            "kind": chance.choice(("job", "service", "lease")),
            "sku": sku,
            "shape": "gpu_slice",
            "replicas": chance.randrange(1, 4),
            "gpus_per_replica": chance.choice((1, 2, 4)),
            "hours": chance.randrange(1, 200),
            "priority": chance.choice(priorities),
            "region": chance.choice(("eu-west", "us-east")),
            "isolation": "none",
            "labels": {"team": team, "cost-centre": f"cc-{chance.randrange(1000, 1010)}", "environment": "research"},
            "containers": [
                {"name": "trainer", "image": "images.example.com/trusted/trainer:2.4", "cpu": 8, "memory_gb": 64},
                {"name": "metrics", "image": "mirror.example.com/metrics:1.9", "cpu": 1, "memory_gb": 2},
            ],
            "volumes": [
                {"name": "datasets", "mode": "ReadOnly", "encrypted": True},
                {"name": "scratch", "mode": "ReadWrite", "encrypted": chance.random() < 0.5},
            ],
        },
    }


def _lease(chance: random.Random, turn: int, sku: str) -> dict[str, Any]:
    return {
        "id": f"lease-{turn}",
        "sku": chance.choice((sku, sku, "h100-80g")),
        "gpus": chance.randrange(1, 5),
        "state": chance.choice(("running", "running", "draining", "ended")),
    }


_FAULTS: Final[tuple[tuple[tuple[str, JsonValue], ...], ...]] = (
    (("tenant.state", "suspended"), ("tenant.state", "closed")),
    (("subject.roles", ["viewer"]), ("subject.roles", [])),
    (("request.sku", "h200-141g"), ("request.sku", "t4-16g"), ("tenant.tier", "best_effort")),
    (("request.region", "ap-south"), ("request.region", "moon-base")),
    (("request.priority", "urgent"),),
    (("request.isolation", "mig"), ("request.shape", "hologram")),
    (("request.gpus_per_replica", 12), ("request.gpus_per_replica", 64)),
    (("request.replicas", 9), ("request.replicas", 40)),
    (("request.labels", {}), ("request.labels", {"team": "search"})),
    (("request.containers.1.image", "elsewhere.example.org/metrics:1"),),
    (("tenant.budget_cents", 500), ("tenant.budget_cents", 0)),
    (("request.containers.0.cpu", 500),),
)
"""Each fault in its variants: where, and what stands there instead."""

# --- admission --------------------------------------------------------------------------------------------------------


def _given_of(table: Path, path: str) -> Iterator[Any]:
    """The input of each case of the table: the common one with what the case sets and unsets."""
    content = yaml.safe_load(table.read_text())
    if content["path"] != path:
        return
    for case in content["cases"]:
        given = deepcopy(content["given"])
        for at, value in case.get("set", {}).items():
            _set(given, at, deepcopy(value))
        for at in case.get("unset", []):
            holder, last = _holder(given, at)
            del holder[last]
        yield given


def _varied(case: dict[str, Any], chance: random.Random, number: int) -> dict[str, Any]:
    """The same situation at another time with other numbers; what a case has left out or broken stays so."""
    given = deepcopy(case)
    given["time"] = f"2026-01-31T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z"
    for at, value in (
        ("request.workload", f"llama-finetune-{number:05}"),
        ("tenant.usage.h100-80g", chance.randrange(9)),
        ("fleet.skus.h100-80g.free", chance.randrange(24)),
    ):
        _reset(given, at, value)
    return given


def _reset(value: Any, at: str, replacement: JsonValue) -> None:  # noqa: ANN401 - any JSON value
    """Where there is a value of the same type already."""
    try:
        holder, last = _holder(value, at)
        if type(holder[last]) is type(replacement):
            holder[last] = replacement
    except (KeyError, TypeError):
        return


# --- places -----------------------------------------------------------------------------------------------------------


def _set(value: Any, at: str, replacement: JsonValue) -> None:  # noqa: ANN401 - any JSON value
    holder, last = _holder(value, at)
    if isinstance(holder, list) and last == len(holder):
        holder.append(replacement)
    else:
        holder[last] = replacement


def _holder(value: Any, at: str) -> tuple[Any, Any]:  # noqa: ANN401 - any JSON value
    """What holds the last step of the dotted path, and that step as a key or an index."""
    *parents, last = at.split(".")
    for step in parents:
        value = value[int(step) if isinstance(value, list) else step]
    return value, int(last) if isinstance(value, list) else last
