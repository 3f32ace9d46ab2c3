"""What must stay complete in the starter bundle: its codes, its roots, its packages and their metadata."""

from __future__ import annotations

import json
import re

import pytest
import yaml

from engine.bundle.content import Module
from engine.bundle.source import package_of, read_bundle
from engine.contracts.results import Outcome
from engine.rego.program import compile_modules
from tests.policy.starter import POLICY, all_cases

BUNDLE = read_bundle(POLICY)
CODE = re.compile(
    r"\breason\.(authority|capacity)\(\"([a-z_]+)\"|^incomplete\(.* := (authority)\(\"([a-z_]+)\"", re.MULTILINE
)
IMPURE = re.compile(r"time\.now_ns|http\.send|rand\.|uuid\.|opa\.runtime|net\.|rego\.metadata")


def _codes_in_rules() -> set[tuple[str, str]]:
    found = [match for module in BUNDLE.modules for match in CODE.findall(module.source)]
    return {(code or other_code, kind or other_kind) for kind, code, other_kind, other_code in found}


def test_code_table_lists_exactly_the_codes_of_the_rules() -> None:
    table = yaml.safe_load((POLICY / "lictor/codes/data.yaml").read_text())
    assert {(code, row["kind"]) for code, row in table.items()} == _codes_in_rules()
    assert all(row.keys() == {"kind", "meaning"} and row["meaning"] for row in table.values())


def test_every_code_is_wanted_by_a_case() -> None:
    wanted = {code for case in all_cases() for code in case.want["reasons"]}
    assert wanted == {code for code, _ in _codes_in_rules()}


def test_every_outcome_is_wanted_by_a_case() -> None:
    assert {case.want["outcome"] for case in all_cases() if "outcome" in case.want} == set(Outcome)


def test_every_file_lies_under_a_root_of_the_manifest() -> None:
    manifest = json.loads((POLICY / ".manifest").read_text())
    assert manifest == {"revision": "starter-1", "roots": ["lictor", "system/log"], "rego_version": 1}
    files = [file.relative_to(POLICY).as_posix() for file in POLICY.rglob("*") if file.is_file()]
    strays = [file for file in files if not file.startswith(tuple(f"{root}/" for root in manifest["roots"]))]
    assert strays == [".manifest"]


@pytest.mark.parametrize("module", BUNDLE.modules, ids=lambda module: module.path)
def test_package_is_named_after_its_folder(module: Module) -> None:
    assert "/".join(package_of(module.source) or ()) == module.path.rpartition("/")[0]


@pytest.mark.parametrize("module", BUNDLE.modules, ids=lambda module: module.path)
def test_every_public_rule_has_a_title_and_a_description(module: Module) -> None:
    """Where a rule has several bodies, the first one carries it."""
    heads = re.finditer(r"^(?:default )?([a-z]\w*)", module.source, re.MULTILINE)
    seen: set[str] = set()
    for head in heads:
        if head.group(1) in seen | {"default", "import"}:
            continue
        seen.add(head.group(1))
        above = module.source[: head.start()].rpartition("\n\n")[2]
        assert above.startswith("# METADATA\n# title: "), f"{module.path}: {head.group(1)}"
        assert "\n# description: " in above, f"{module.path}: {head.group(1)}"


@pytest.mark.parametrize("module", BUNDLE.modules, ids=lambda module: module.path)
def test_rules_use_nothing_that_varies_outside_the_input(module: Module) -> None:
    assert IMPURE.findall(module.source) == []


def test_tests_beside_the_rules_pass_in_our_engine() -> None:
    sources = {module.path: module.source for module in (*BUNDLE.modules, *BUNDLE.tests)}
    program = compile_modules(sources, BUNDLE.data)
    written = [
        (*(package_of(module.source) or ()), line.split(" ")[0])
        for module in BUNDLE.tests
        for line in module.source.splitlines()
        if line.startswith("test_")
    ]
    assert len(written) == 20
    assert [path for path in written if program.evaluate(path).value is not True] == []
