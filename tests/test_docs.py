"""The documentation is true: its verifier verifies, its commands and links exist, its tables are complete."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from starlette.routing import BaseRoute

from api.app import create_app
from api.errors import STATUS
from api.settings import PREFIX, Settings
from cli.main import lictor
from engine.access.roles import Role
from engine.jsontext import JsonValue
from tests.api.conftest import BUNDLE, serving, write_bundle

PROJECT = Path(__file__).parent.parent
PAGES = sorted(
    [*PROJECT.glob("*.md"), *(PROJECT / "docs").rglob("*.md")],
    key=lambda page: page.relative_to(PROJECT).as_posix(),
)
NAMES = [page.relative_to(PROJECT).as_posix() for page in PAGES]

_FENCE = re.compile(r"^```[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"(?:^    \S[^\n]*\n)+", re.MULTILINE)
_INLINE = re.compile(r"`([^`\n]+)`")
_COMMAND = re.compile(r"(?:^|[\s/$(])lictor((?: [a-z][a-z-]*)+)(?=$|[^a-z/.])([^|\n]*)", re.MULTILINE)

Line = dict[str, Any]


def text_of(name: str) -> str:
    return (PROJECT / name).read_text(encoding="utf-8")


# The journal's stand-alone verifier


HARD: tuple[JsonValue, ...] = (
    {"numbers": [1e16, 1.5e-7, 0.1, -0.0, 3, 1e300]},
    {"numbers": [1e16, 1.5e-7, 2**70]},
    {"text": 'ä € 𝄞 "quoted" back\\slash tab\t del\x7f \u2028 unit\x1f', "ü": 1, "\U0001f600": 2, "\uff5e": 3},
)


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two chains with everything that makes hashing hard: odd numbers and texts, masked, failed and erased records."""
    folder = tmp_path_factory.mktemp("journal")
    maskless = {path: text for path, text in BUNDLE.items() if not path.startswith("system/")}
    with serving(folder, bundle=write_bundle(folder / "maskless", maskless)) as server:
        for given in HARD:
            server.ask("/v1/data/test/echo", {"input": given})
        asked = server.ask("/v1/data/lictor/admission", {"input": {"action": "submit_workload"}}).json()
        erased = server.ask(f"/v1/decisions/{asked['decision_id']}/erase", {"reason": "law"})
        assert erased.status_code == HTTPStatus.OK
    with serving(folder, bundle=write_bundle(folder / "bundle")) as server:
        for masked in ({"secret": "s", "card": "1234"}, {"break_the_mask": True}, {"want": "allow"}):
            server.ask("/v1/data/test/echo", {"input": masked})
        exported: str = server.get("/v1/decisions/export").text
    return exported.rstrip("\n").split("\n")


@pytest.fixture
def verify(tmp_path: Path) -> Callable[[list[str]], tuple[int, str]]:
    """The program on the page, in an interpreter that sees nothing but the standard library."""
    (program,) = re.findall(r"^```python\n(.*?)^```", text_of("docs/journal.md"), re.MULTILINE | re.DOTALL)
    script, file = tmp_path / "verifier.py", tmp_path / "journal.jsonl"
    script.write_text(program, encoding="utf-8")

    def run(lines: list[str]) -> tuple[int, str]:
        file.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        command = [sys.executable, "-I", "-S", str(script), str(file)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.stderr == ""
        return done.returncode, done.stdout.strip()

    return run


def test_untouched_export_is_whole(export, verify):
    assert verify(export) == (0, f"whole: {len(export)} records in 2 chains")
    assert [json.loads(line).get("input") for line in export[1 : 1 + len(HARD)]] == list(HARD)


def changed(lines: list[str], kind: str, **changes: Any) -> list[str]:
    """The last record of `kind`, with some fields set."""
    index = max(i for i, line in enumerate(lines) if json.loads(line)["kind"] == kind)
    record = json.loads(lines[index]) | changes
    return [*lines[:index], json.dumps(record, sort_keys=True, ensure_ascii=False), *lines[index + 1 :]]


def without(lines: list[str], wanted: Callable[[Line], bool]) -> list[str]:
    return [line for line in lines if not wanted(json.loads(line))]


TAMPERINGS: dict[str, tuple[Callable[[list[str]], list[str]], str]] = {
    "outcome": (lambda lines: changed(lines, "decision", outcome="allow"), "changed"),
    "reasons": (lambda lines: changed(lines, "decision", reasons=[{"code": "x", "kind": "fault"}]), "changed"),
    "time": (lambda lines: changed(lines, "decision", timestamp="2026-01-01T00:00:00.000000001Z"), "changed"),
    "bundle": (lambda lines: changed(lines, "decision", bundles={"lictor": {"revision": "", "digest": ""}}), "changed"),
    "input": (lambda lines: changed(lines, "decision", input={"want": "deny"}), "payload"),
    "a field more": (lambda lines: changed(lines, "decision", note="all was well"), "payload"),
    "payload gone": (lambda lines: changed(lines, "decision", salt=None), "payload"),
    "why": (lambda lines: changed(lines, "erasure", why="no reason"), "payload"),
    "record gone": (lambda lines: [*lines[:2], *lines[3:]], "gap or broken link"),
    "tail gone": (lambda lines: without(lines, lambda r: r["kind"] == "erasure"), "citation"),
    "start gone": (lambda lines: lines[1:], "chain without start"),
    "order": (lambda lines: [lines[0], lines[2], lines[1], *lines[3:]], "gap or broken link"),
    "chain gone": (lambda lines: without(lines, lambda r: r["chain"] == json.loads(lines[0])["chain"]), "citation"),
}


@pytest.mark.parametrize("what", TAMPERINGS)
def test_tampered_export_is_not_whole(export, verify, what):
    tamper, fault = TAMPERINGS[what]
    code, said = verify(tamper(export))
    assert code == 1
    assert fault in {line.rpartition(": ")[2] for line in said.splitlines()}


# Commands


def code_of(page: str) -> Iterator[str]:
    """Everything that is written as code: blocks, then spans of what is left."""
    yield from _FENCE.findall(page)
    page = _FENCE.sub("", page)
    yield from _INDENTED.findall(page)
    yield from _INLINE.findall(_INDENTED.sub("", page))


def commands_of(page: str) -> set[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Words after `lictor`, and the long flags behind them."""
    return {
        (tuple(words.split()), tuple(re.findall(r"(?<=\s)--[a-z][a-z-]*", rest)))
        for code in code_of(page)
        for words, rest in _COMMAND.findall(code)
    }


def resolved(words: tuple[str, ...]) -> list[str]:
    """The words that name a command; the rest are its arguments."""
    command: click.Command = lictor
    path: list[str] = []
    for word in words:
        if not isinstance(command, click.Group):
            break
        assert word in command.commands, f"`lictor {' '.join(words)}`: there is no {word}"
        command = command.commands[word]
        path.append(word)
    return path


@pytest.mark.parametrize("name", NAMES)
def test_commands_and_flags_on_the_page_exist(name):
    for words, flags in sorted(commands_of(text_of(name))):
        path = resolved(words)
        answer = CliRunner().invoke(lictor, [*path, "--help"])
        assert answer.exit_code == 0, answer.output
        for flag in flags:
            assert re.search(rf"{flag}\b(?!-)", answer.output), f"lictor {' '.join(path)} has no {flag}"


def test_commands_are_found_as_people_write_them():
    page = (
        "Run `lictor db upgrade` or\n\n```\n$ .venv/bin/lictor decisions list --limit 1 | head\nlictor: stopped\n```\n"
    )
    assert commands_of(page) == {(("db", "upgrade"), ()), (("decisions", "list"), ("--limit",))}
    with pytest.raises(AssertionError, match="there is no frobnicate"):
        resolved(("policy", "frobnicate"))


def test_readme_names_every_command_and_make_target():
    readme = text_of("README.md")
    for path in leaves(lictor):
        assert f"`lictor {path}" in readme
    for target in re.findall(r"^([a-z]+):.*## ", (PROJECT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE):
        assert f"`make {target}`" in readme


def leaves(group: click.Group, above: str = "") -> Iterator[str]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from leaves(command, f"{above}{name} ")
        else:
            yield above + name


# Links


@pytest.mark.parametrize("name", NAMES)
def test_links_between_pages_resolve(name):
    page = PROJECT / name
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)", _FENCE.sub("", text_of(name))):
        if re.match(r"[a-z]+:", target):
            continue
        linked = (page.parent / target).resolve() if target else page
        assert linked.exists(), f"{name}: {target}"
        assert linked.is_relative_to(PROJECT), f"{name}: {target}"
        if anchor:
            assert anchor in anchors_of(linked), f"{name}: {target}#{anchor}"


def test_index_of_decision_records_is_complete():
    index = text_of("docs/adr/README.md")
    for record in sorted((PROJECT / "docs" / "adr").glob("[0-9]*.md")):
        assert f"]({record.name})" in index
        headings = re.findall(r"^\*\*(\w[\w ]*)\.\*\*", record.read_text(encoding="utf-8"), re.MULTILINE)
        assert headings == ["Context", "Decision", "Consequences", "Enforced by"], record.name


def anchors_of(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", _FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


# Tables


def test_api_page_has_every_error_code_with_its_status():
    page = text_of("docs/api.md")
    for code, status in STATUS.items():
        assert f"| `{code}` | {status.value} |" in page


def test_api_page_has_every_route(tmp_path):
    page = text_of("docs/api.md")
    with serving(tmp_path, bundle=write_bundle(tmp_path / "bundle")) as server:
        schema = create_app(server.runtime).openapi()
        mounted = [path for route in create_app(server.runtime).routes if (path := mount_of(route))]
        scraped = server.get("/metrics").text
    for path, methods in schema["paths"].items():
        for method in methods:
            assert f"`{method.upper()} {path}`" in page
    for path in mounted:
        assert f"{path}/{{path}}`" in page
    operations = text_of("docs/operations.md")
    for metric in re.findall(r"^# TYPE (\S+) ", scraped, re.MULTILINE):
        if not metric.endswith("_created"):
            assert f"`{metric}`" in operations


def mount_of(route: BaseRoute) -> str:
    return str(getattr(route, "path", "")) if type(route).__name__ == "Mount" else ""


def test_operations_page_has_every_setting_and_role():
    page = text_of("docs/operations.md")
    for name, field in Settings.model_fields.items():
        assert re.search(rf"^{PREFIX}{name.upper()} .* {re.escape(str(field.description))}$", page, re.MULTILINE), name
    for role in Role:
        assert f"| `{role.value}` |" in page
