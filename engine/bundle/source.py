"""From files to a `Bundle`: manifest, modules, and the data files merged into one document."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from engine.bundle.content import Bundle, Module, digest_of
from engine.bundle.files import DATA_NAMES, read_files
from engine.bundle.yamltext import parse_yaml
from engine.errors import BundleInvalid, LictorError, Problem
from engine.jsontext import JsonValue, parse

_PACKAGE = re.compile(r"^\s*package\s+([^\s#;]+)", re.MULTILINE)


class Manifest(BaseModel):
    """OPA's `.manifest`; fields that we do not use are left to their readers."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    # As much as the store can hold and index; NUL is no character in PostgreSQL.
    revision: Annotated[str, Field(max_length=256, pattern=r"\A[^\x00]*\z")] = ""
    roots: list[str] = [""]


def read_bundle(source: Path) -> Bundle:
    return bundle_of(read_files(source), str(source))


def bundle_of(files: Mapping[str, bytes], name: str = "bundle") -> Bundle:
    """The bundle made of `files`, or `BundleInvalid` with every problem at once."""
    problems: list[Problem] = []
    manifest = _manifest(files, problems)
    modules = _modules(files, problems)
    data = _data(files, problems)
    if not modules and not data and not problems:
        problems.append(Problem("bundle_empty", "no .rego module and no data file; is this the right folder?"))
    roots = tuple(root.strip("/") for root in manifest.roots)
    problems.extend(_outside_roots(roots, modules, data))
    if problems:
        raise BundleInvalid(f"bundle {name} has {len(problems)} problem(s)", problems)
    digest = digest_of(files)
    return Bundle(
        revision=manifest.revision or digest[:19],
        digest=digest,
        roots=roots,
        modules=tuple(module for module in modules if not module.is_test),
        tests=tuple(module for module in modules if module.is_test),
        data=data,
    )


def _manifest(files: Mapping[str, bytes], problems: list[Problem]) -> Manifest:
    if ".manifest" not in files:
        return Manifest()
    try:
        return Manifest.model_validate(parse(files[".manifest"], what=".manifest"))
    except LictorError as error:
        problems.append(Problem("manifest_invalid", error.message, ".manifest"))
    except ValidationError as error:
        for fault in error.errors():
            field = ".".join(str(part) for part in fault["loc"]) or "the manifest"
            problems.append(Problem("manifest_invalid", f"{field}: {fault['msg']}", ".manifest"))
    return Manifest()


def _modules(files: Mapping[str, bytes], problems: list[Problem]) -> list[Module]:
    modules = []
    for path in sorted(files):
        if path.endswith(".rego"):
            try:
                modules.append(Module(path, files[path].decode()))
            except UnicodeDecodeError as error:
                problems.append(Problem("module_invalid", f"not UTF-8 text: {error.reason}", path))
    return modules


def _data(files: Mapping[str, bytes], problems: list[Problem]) -> dict[str, JsonValue]:
    whole: dict[str, JsonValue] = {}
    origin: dict[tuple[str, ...], str] = {}
    for path in sorted(files):
        if PurePosixPath(path).name in DATA_NAMES:
            document = _document(path, files[path], problems)
            if document is not None:
                _merge(whole, _at(path, document), (path, origin, problems), ())
    return whole


def _document(path: str, text: bytes, problems: list[Problem]) -> dict[str, JsonValue] | None:
    try:
        value = parse(text, what=path) if path.endswith(".json") else parse_yaml(text, path)
    except LictorError as error:
        problems.extend(error.problems or [Problem("data_invalid", error.message, path)])
        return None
    if not isinstance(value, dict):
        problems.append(Problem("data_invalid", "the top level must be an object", path))
        return None
    return value


def _at(path: str, document: dict[str, JsonValue]) -> dict[str, JsonValue]:
    for folder in reversed(PurePosixPath(path).parent.parts):
        document = {folder: document}
    return document


_Merging = tuple[str, dict[tuple[str, ...], str], list[Problem]]


def _merge(whole: dict[str, JsonValue], part: dict[str, JsonValue], merging: _Merging, at: tuple[str, ...]) -> None:
    file, origin, problems = merging
    for key, value in part.items():
        here = (*at, key)
        present = whole.get(key)
        if isinstance(present, dict) and isinstance(value, dict):
            _merge(present, value, merging, here)
        elif key in whole:
            message = f"data.{'.'.join(here)} is also in {_first_origin(origin, here)}"
            problems.append(Problem("bundle_conflict", message, file))
        else:
            whole[key] = value
            origin[here] = file


def _first_origin(origin: Mapping[tuple[str, ...], str], here: tuple[str, ...]) -> str:
    return next(origin[here[:end]] for end in range(len(here), 0, -1) if here[:end] in origin)


def _outside_roots(roots: tuple[str, ...], modules: list[Module], data: dict[str, JsonValue]) -> list[Problem]:
    allowed = [tuple(root.split("/")) if root else () for root in roots]
    problems = []
    for module in modules:
        package = package_of(module.source)
        if package is not None and not module.is_test and not any(package[: len(r)] == r for r in allowed):
            message = f"package {'.'.join(package)} is outside the manifest's roots {list(roots)}"
            problems.append(Problem("bundle_root", message, module.path))
    problems.extend(
        Problem("bundle_root", f"data.{'.'.join(path)} is outside the manifest's roots {list(roots)}")
        for path in _stray(data, allowed, ())
    )
    return problems


def package_of(source: str) -> tuple[str, ...] | None:
    """The package that a module declares; None where there is none to be seen (the evaluator will say why)."""
    found = _PACKAGE.search(source)
    if found is None:
        return None
    return tuple(re.findall(r"[^.\[\]\"]+", found.group(1)))


def _stray(data: dict[str, JsonValue], roots: list[tuple[str, ...]], at: tuple[str, ...]) -> list[tuple[str, ...]]:
    if any(at[: len(root)] == root for root in roots):
        return []
    stray: list[tuple[str, ...]] = []
    for key, value in data.items():
        here = (*at, key)
        if any(here == root[: len(here)] for root in roots) and isinstance(value, dict):
            stray.extend(_stray(value, roots, here))
        elif not any(here[: len(root)] == root for root in roots):
            stray.append(here)
    return stray
