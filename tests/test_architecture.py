"""The drawing, the contracts, the packages and the pins say the same; whoever adds a package must tell all of them."""

from __future__ import annotations

import ast
import re
import tomllib
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).parent.parent
PYPROJECT: dict[str, Any] = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
CONTRACTS: dict[str, dict[str, Any]] = {
    contract["id"]: contract for contract in PYPROJECT["tool"]["importlinter"]["contracts"]
}
ROOTS: frozenset[str] = frozenset(PYPROJECT["tool"]["importlinter"]["root_packages"])

NOT_OF_THE_PROGRAM = frozenset({"bench", "tests", "policy"})
"""Top-level folders that no part of the program may import, so that import-linter does not read them."""

CONTROL_PLANE = frozenset({"alembic", "fastapi", "regopy", "sqlalchemy", "starlette", "uvicorn"})

Edges = set[tuple[str, str]]


def test_drawing_has_exactly_the_edges_of_the_layers():
    drawn = drawn_edges((PROJECT / "docs" / "architecture.md").read_text(encoding="utf-8"))
    expected = layer_edges(CONTRACTS["lanes"]["layers"]) | layer_edges(CONTRACTS["engine"]["layers"])
    assert drawn == expected | {("nodeagent", "engine.contracts")}


def test_drawing_with_an_edge_too_many_or_too_few_differs():
    page = '```mermaid\ngraph TD\n    a["a"] --> b_c["b.c"]\n    a --> d["d"]\n```\n'
    assert drawn_edges(page) == layer_edges(["a", "b.c | d"])
    assert drawn_edges(page.replace("    a --> d", "    b_c --> d")) != layer_edges(["a", "b.c | d"])


def test_root_packages_are_all_packages_of_the_program():
    assert {file.parent.name for file in PROJECT.glob("*/__init__.py")} - NOT_OF_THE_PROGRAM == ROOTS


@pytest.mark.parametrize("contract", ["agent", "rego", "contracts", "home-of-sqlalchemy", "engine"])
def test_contract_mentions_every_module_that_its_meaning_demands(contract):
    assert demanded(contract, children("engine")) == mentioned(contract)


@pytest.mark.parametrize("contract", ["agent", "rego", "contracts", "home-of-sqlalchemy", "engine"])
def test_new_package_of_the_engine_is_missing_until_it_is_mentioned(contract):
    grown = children("engine") | {"engine.not_yet_there"}
    assert demanded(contract, grown) - mentioned(contract) == {"engine.not_yet_there"}


def test_every_adapter_is_kept_apart_from_the_others():
    adapters = children("adapters")
    assert set(CONTRACTS["adapters"]["modules"]) == adapters
    named = {module for module in CONTRACTS["home-of-kubernetes"]["source_modules"] if module.startswith("adapters.")}
    assert named == adapters - {"adapters.k8s"}


@pytest.mark.parametrize(
    "package",
    sorted(
        file.parent.relative_to(PROJECT).as_posix()
        for root in PROJECT.glob("*/__init__.py")
        if root.parent.name not in {"tests", "policy"}
        for file in root.parent.rglob("__init__.py")
    ),
)
def test_package_says_what_lives_in_it_and_what_must_not(package):
    source = (PROJECT / package / "__init__.py").read_text(encoding="utf-8")
    lines = (ast.get_docstring(ast.parse(source)) or "").splitlines()
    starts = {start for line in lines for start in ("Lives here:", "Must not:") if line.startswith(start)}
    assert starts == {"Lives here:", "Must not:"}


def test_pins_are_names_and_versions_only():
    for line in pin_lines():
        assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9][A-Za-z0-9.!+_-]*", line), line


def test_every_declared_dependency_is_pinned():
    extras = PYPROJECT["project"]["optional-dependencies"]
    assert declared(*extras) - {normal(line.partition("==")[0]) for line in pin_lines()} == set()


def test_gpu_host_installs_no_control_plane():
    assert declared("agent") & CONTROL_PLANE == set()
    assert declared("server") & CONTROL_PLANE != set()


def drawn_edges(page: str) -> Edges:
    """The edges of the page's one mermaid graph, by the labels of their nodes."""
    (graph,) = re.findall(r"^```mermaid\ngraph TD\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    labels = dict(re.findall(r'(\w+)\["([^"]+)"\]', graph))
    bare = re.sub(r'\["[^"]+"\]', "", graph)
    return {(labels[upper], labels[lower]) for upper, lower in re.findall(r"(\w+) --> (\w+)", bare)}


def layer_edges(layers: list[str]) -> Edges:
    """From every module of a layer to every module of the next lower one."""
    split = [[module.strip() for module in layer.split("|")] for layer in layers]
    return {edge for upper, lower in pairwise(split) for edge in product(upper, lower)}


def children(package: str) -> frozenset[str]:
    """The modules and packages directly in `package`."""
    folder = PROJECT / package
    modules = {file.stem for file in folder.glob("*.py")} - {"__init__"}
    packages = {entry.name for entry in folder.iterdir() if entry.is_dir() and any(entry.glob("*.py"))}
    return frozenset(f"{package}.{name}" for name in modules | packages)


def demanded(contract: str, engine: frozenset[str]) -> frozenset[str]:
    outside = ROOTS - {"engine"}
    return {
        "agent": (outside - {"nodeagent"}) | (engine - {"engine.contracts"}),
        "rego": outside | (engine - {"engine.rego"}),
        # What lies above the engine is the business of `lanes`.
        "contracts": engine - {"engine.contracts"},
        "home-of-sqlalchemy": outside | (engine - {"engine.store"}),
        # `engine.rego` imports nothing of the rest (its own contract), so it has no layer.
        "engine": engine - {"engine.rego"},
    }[contract]


def mentioned(contract: str) -> frozenset[str]:
    found = CONTRACTS[contract]
    match contract:
        case "engine":
            return frozenset(module.strip() for layer in found["layers"] for module in layer.split("|"))
        case "home-of-sqlalchemy":
            return frozenset(found["source_modules"])
        case "contracts":
            return frozenset(module for module in found["forbidden_modules"] if module.startswith("engine."))
        case _:
            return frozenset(found["forbidden_modules"])


def pin_lines() -> list[str]:
    lines = (PROJECT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def declared(*extras: str) -> set[str]:
    """The distributions that an installation with `extras` names; `lictor[…]` stands for the extras in its brackets."""
    project = PYPROJECT["project"]
    names: set[str] = set()
    for requirement in [
        *project["dependencies"],
        *(r for extra in extras for r in project["optional-dependencies"][extra]),
    ]:
        found = re.match(r"([A-Za-z0-9._-]+)(?:\[([^\]]*)\])?", requirement)
        assert found is not None, requirement
        if normal(found[1]) == "lictor":
            names |= declared(*(extra.strip() for extra in found[2].split(",")))
        else:
            names.add(normal(found[1]))
    return names


def normal(name: str) -> str:
    """As package indexes compare names."""
    return re.sub(r"[-_.]+", "-", name).lower()
