"""OPA's evaluation cases: reading them, sorting them into families, and judging an answer as OPA's own runner does.

Lives here: what needs no evaluator.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import yaml

from engine.rego.errors import EvalError, RegoSyntaxError
from engine.rego.run.plain import plain
from engine.rego.values import Frozen, Value, freeze, sort_values


@dataclass(frozen=True)
class Case:
    file: str
    """Its path below the folder of cases."""
    index: int
    note: str
    query: str
    modules: Mapping[str, str]
    """By the names that OPA's runner gives them: `test-0.rego`, …"""
    data: Value
    input: Value
    """None if there is none: OPA cannot tell the two apart here either."""
    input_term: str | None
    """The input as Rego, for what JSON cannot say; it comes before `input`."""
    want_result: Sequence[Mapping[str, Value]] | None
    want_defined: bool | None
    want_error_code: str | None
    want_error: str | None
    sort_bindings: bool
    strict: bool
    env: Mapping[str, str]
    family: str | None
    """Of those that are no part of the core; None for the core."""


class Verdict(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    CRASHED = "crashed"


@dataclass(frozen=True)
class Outcome:
    verdict: Verdict
    came: str
    """The answer, for people."""
    message_matches: bool | None = None
    """Whether an error that was wanted has OPA's wording; None if no wording was wanted."""


class CasesInvalid(Exception):
    """A file of cases cannot be read as such."""


def load_cases(folder: Path) -> list[Case]:
    """Every case below `folder`, in the order of files."""
    files = sorted(path for path in folder.rglob("*") if path.suffix in {".yaml", ".yml"})
    if not files:
        raise CasesInvalid(f"{folder} holds no YAML file of cases")
    return [case for path in files for case in _cases_of(path, path.relative_to(folder).as_posix())]


def wanted_text(case: Case) -> str:
    """What the case wants, for people."""
    if case.want_error_code is not None or case.want_error is not None:
        return f"error {wanted_code(case) or ''}: {case.want_error or ''}"
    return _shown(case.want_result) if case.want_result is not None else f"defined: {case.want_defined}"


def wanted_code(case: Case) -> str | None:
    """A case without `want_error_code` may name the code in the text that it wants."""
    named = _CODE.search(case.want_error or "")
    return case.want_error_code or (named[0] if named else None)


def judge_rows(case: Case, rows: Sequence[Mapping[str, Value]]) -> Outcome:
    """Of an evaluation that gave these solutions."""
    came = [{name: _binding(value, case.sort_bindings) for name, value in row.items()} for row in rows]
    if case.want_error_code is not None or case.want_error is not None:
        passed = False
    elif case.want_result is not None:
        passed = _as_set(came) == _as_set(case.want_result)
    else:
        passed = case.want_defined is not None and case.want_defined == bool(rows)
    return Outcome(Verdict.PASSED if passed else Verdict.FAILED, _shown(came))


def judge_error(case: Case, error: EvalError | RegoSyntaxError) -> Outcome:
    """Of an evaluation that ended so. The code decides; whether the words are OPA's is told apart."""
    code, text = _code_and_text(error)
    if case.want_error_code is None and case.want_error is None:
        return Outcome(Verdict.FAILED, text)
    passed = wanted_code(case) in {None, code}
    matches = None if case.want_error is None else case.want_error in text
    return Outcome(Verdict.PASSED if passed else Verdict.FAILED, text, matches)


def family_of(file: str, text: str) -> str | None:
    """The family of a case in the folder that `file` begins with and whose own text is `text`; None for the core."""
    folder = file.partition("/")[0]
    if folder.startswith("cryptox509"):
        return "x509"
    if folder.startswith("jwt") and ("BEGIN CERTIFICATE" in text or "x5c" in text):
        return "x509"
    return _FAMILIES.get(folder)


def _cases_of(path: Path, file: str) -> Iterator[Case]:
    try:
        document = yaml.load(path.read_bytes(), Loader=_JsonYaml)  # a loader of plain values
    except yaml.YAMLError as error:
        raise CasesInvalid(f"{file}: {error}") from error
    if not isinstance(document, dict) or not isinstance(document.get("cases"), list):
        raise CasesInvalid(f"{file}: there is no list `cases`")
    for index, written in enumerate(document["cases"]):
        unknown = sorted(set(written) - _KEYS)
        if unknown:
            raise CasesInvalid(f"{file}: case {index}: what {', '.join(unknown)} means is not known")
        yield _case(file, index, written)


def _case(file: str, index: int, written: dict[str, Any]) -> Case:
    text = "\n".join(
        [written["query"], *written.get("modules", []), repr(written.get("data")), repr(written.get("input"))]
    )
    return Case(
        file=file,
        index=index,
        note=written["note"],
        query=written["query"],
        modules={f"test-{number}.rego": module for number, module in enumerate(written.get("modules", []))},
        data=written.get("data") or {},
        input=written.get("input"),
        input_term=written.get("input_term"),
        want_result=written.get("want_result"),
        want_defined=written.get("want_defined"),
        want_error_code=written.get("want_error_code"),
        want_error=written.get("want_error"),
        sort_bindings=written.get("sort_bindings", False),
        strict=written.get("strict_error", False),
        env=written.get("env", {}),
        family=family_of(file, text),
    )


def _binding(value: Value, sort_bindings: bool) -> Value:
    bare = plain(value)
    return sort_values(bare) if sort_bindings and isinstance(bare, list) else bare


def _as_set(rows: Sequence[Mapping[str, Value]]) -> set[Frozen]:
    """OPA compares solutions without their order and without repetitions."""
    return {freeze(dict(row)) for row in rows}


def _code_and_text(error: EvalError | RegoSyntaxError) -> tuple[str, str]:
    """The text as OPA prints it: the place without its column, the code, the message."""
    told = error.problems[0] if isinstance(error, RegoSyntaxError) else error
    place = f"{told.location.file}:{told.location.row}: " if told.location is not None else ""
    return told.code, f"{place}{told.code}: {told.message}"


def _shown(rows: Sequence[Mapping[str, Value]]) -> str:
    return json.dumps([plain(dict(row)) for row in rows], ensure_ascii=False, default=repr)


class _JsonYaml(yaml.CSafeLoader):
    """A date stays the text that it was written as, as it does for OPA."""


_JsonYaml.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}
_CODE: Final = re.compile(r"\b(eval|rego)_\w+_error\b")
_FAMILIES: Final = {
    "graphql": "graphql",
    "invalidkeyerror": "http.send",
    "jsonschema": "JSON schema",
    "netlookupipaddr": "net.lookup_ip_addr",
    "providers-aws": "AWS",
    "regoparsemodule": "rego.parse_module",
    "rendertemplate": "render_template",
}
_KEYS: Final = frozenset({
    "note", "query", "modules", "data", "input", "input_term", "want_result", "want_defined", "want_error_code",
    "want_error", "sort_bindings", "strict_error", "env", "ignore_generated_vars", "experimental_keywords",
})  # fmt: skip
