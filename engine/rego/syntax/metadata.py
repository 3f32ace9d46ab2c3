"""The METADATA comments of a module: YAML into annotations, in OPA's normal form, and the statement of each."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeAlias

import yaml

from engine.rego.errors import Location, RegoProblem
from engine.rego.syntax.cursor import PARSE_ERROR
from engine.rego.syntax.lexer import Comment

Annotation: TypeAlias = dict[str, Any]

MOST_NODES: Final = 10_000
_SCOPES: Final = {"rule": "rule", "document": "rule", "package": "package", "subpackages": "package"}
"""And what each has to stand above."""


class MetadataFault(Exception):
    """A block that says what it must not; its message is OPA's where that is good."""


def blocks(comments: Sequence[Comment]) -> list[list[Comment]]:
    """Runs of comments at the start of their lines, the first of each being `# METADATA`."""
    found: list[list[Comment]] = []
    is_open = False
    for comment in comments:
        if comment.col == 1 and comment.text.strip().startswith("METADATA"):
            found.append([comment])
            is_open = True
        elif is_open and comment.col == 1 and comment.row == found[-1][-1].row + 1:
            found[-1].append(comment)
        else:
            is_open = False
    return found


def read(block: Sequence[Comment], file: str) -> Annotation | RegoProblem:
    text = "".join(line.text.removeprefix(" ") + "\n" for line in block[1:])
    if not text.strip():
        return _problem("expected METADATA block, found whitespace", file, block[0].row)
    try:
        raw = yaml.load(text, Loader=_Loader)  # noqa: S506 — a SafeLoader, see below
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        row = block[min(mark.line + 1, len(block) - 1)].row if mark else block[1].row
        return _problem(f"yaml: {getattr(error, 'problem', None) or error}", file, row)
    except (ValueError, RecursionError, OverflowError) as error:
        return _problem(f"yaml: {error}", file, block[1].row)
    if _expanded(raw, {}) > MOST_NODES:
        return _problem(f"yaml: more than {MOST_NODES} values, with aliases written out", file, block[0].row)
    try:
        return _normal(raw)
    except MetadataFault as fault:
        return _problem(str(fault), file, block[0].row)


def _expanded(value: object, known: dict[int, int]) -> int:
    """How many values it would be without aliases."""
    if id(value) not in known:
        known[id(value)] = MOST_NODES + 1  # an alias of what it is in would never end
        below = (
            [*value.keys(), *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
        )
        known[id(value)] = 1 + sum(_expanded(item, known) for item in below)
    return known[id(value)]


class Attached:
    """Annotations by the index of the statement below them; and what is wrong with where they stand."""

    def __init__(self, file: str, statements: Iterable[tuple[str, int]]) -> None:
        """The statements in the order of the text: `package`, `import` or `rule`, and the row."""
        self.file = file
        self.statements = list(statements)
        self.rows = [row for _, row in self.statements]
        self.by_statement: dict[int, list[Annotation]] = {}
        self.problems: list[RegoProblem] = []

    def attach(self, annotation: Annotation, row: int) -> None:
        index = bisect_right(self.rows, row)
        kind = self.statements[index][0] if index < len(self.statements) else ""
        entrypoint = annotation.get("entrypoint", False)
        scope = annotation.get("scope") or (kind if kind != "rule" or not entrypoint else "document")
        below = f" (have {kind})" if kind else ""
        if scope not in _SCOPES:
            message = f"invalid annotation scope '{scope}'. Use one of 'rule', 'document', 'package', or 'subpackages'"
            self.problems.append(_problem(message, self.file, row))
        elif _SCOPES[scope] != kind:
            message = f"annotation scope '{scope}' must be applied to {_SCOPES[scope]}{below}"
            self.problems.append(_problem(message, self.file, row))
        if entrypoint and scope not in ("document", "package"):
            message = f"annotation entrypoint applied to non-document or package scope '{scope}'"
            self.problems.append(_problem(message, self.file, row))
        self.by_statement.setdefault(index, []).append(annotation | {"scope": scope})


class _Loader(yaml.SafeLoader):
    """Dates stay text, as they do in OPA's fields."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, regexp) for tag, regexp in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _problem(message: str, file: str, row: int) -> RegoProblem:
    return RegoProblem(PARSE_ERROR, message, Location(file, row, 1))


def _normal(raw: object) -> Annotation:
    if raw is None:
        return {}
    if not isinstance(raw, dict):
        raise MetadataFault(f"yaml: expected a mapping of annotations, got {type(raw).__name__}")
    annotation: Annotation = {}
    for field, normal in _FIELDS.items():
        if raw.get(field) is not None:
            value = normal(raw[field])
            if value not in ("", [], False, None):
                annotation[field] = value
    return annotation


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return str(value)
    raise MetadataFault(f"yaml: cannot unmarshal {type(value).__name__} into string: {value!r}")


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise MetadataFault(f"yaml: cannot unmarshal {value!r} into bool")
    return value


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise MetadataFault(f"yaml: cannot unmarshal {type(value).__name__} into a list: {value!r}")
    return value


def _mapping(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise MetadataFault(f"yaml: cannot unmarshal {type(value).__name__} into a map: {value!r}")
    return {_key(key): _with_text_keys(item) for key, item in value.items()}


def _with_text_keys(value: object) -> Any:  # noqa: ANN401 — whatever YAML holds
    if isinstance(value, dict):
        return {_key(key): _with_text_keys(item) for key, item in value.items()}
    return [_with_text_keys(item) for item in value] if isinstance(value, list) else value


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise MetadataFault(f"invalid map key type(s): {key!r}")
    return key


def _author(value: object) -> dict[str, str]:
    if isinstance(value, str):
        words = value.split()
        if not words:
            raise MetadataFault("invalid author definition : author is an empty string")
        email = ""
        if words[-1].startswith("<") and words[-1].endswith(">"):
            email = words.pop()[1:-1]
        return _without_empty(name=" ".join(words), email=email)
    if isinstance(value, dict):
        author = _without_empty(name=_stripped(value, "name"), email=_stripped(value, "email"))
        if author:
            return author
        raise MetadataFault(f"invalid author definition {value}: 'name' and/or 'email' values required in object")
    raise MetadataFault(f"invalid author definition {value}: invalid value type, must be string or map")


def _resource(value: object) -> dict[str, str]:
    what = f"invalid related-resource definition {value}"
    if isinstance(value, str):
        if not value:
            raise MetadataFault(f"{what}: ref URL may not be empty string")
        return {"ref": value}
    if isinstance(value, dict):
        ref = _stripped(value, "ref")
        if not ref:
            raise MetadataFault(f"{what}: 'ref' value required in object")
        return _without_empty(description=_stripped(value, "description"), ref=ref)
    raise MetadataFault(f"{what}: invalid value type, must be string or map")


def _stripped(value: dict[Any, Any], key: str) -> str:
    text = value.get(key)
    return text.strip() if isinstance(text, str) else ""


def _without_empty(**fields: str) -> dict[str, str]:
    return {key: value for key, value in fields.items() if value}


def _schema(value: object) -> dict[str, Any]:
    pair = _mapping(value)
    for path, schema in pair.items():
        if isinstance(schema, str):
            if schema != "schema" and not schema.startswith(("schema.", "schema[")):
                raise MetadataFault("invalid schema reference")
            return {"path": path, "schema": schema}
        if isinstance(schema, dict):
            return {"path": path, "definition": schema}
        raise MetadataFault(f'invalid schema declaration for path "{path}"')
    raise MetadataFault("invalid document reference")


_FIELDS: Final[dict[str, Callable[[object], Any]]] = {
    "scope": _text,
    "title": _text,
    "entrypoint": _flag,
    "description": _text,
    "organizations": lambda value: [_text(item) for item in _list(value)],
    "related_resources": lambda value: [_resource(item) for item in _list(value)],
    "authors": lambda value: [_author(item) for item in _list(value)],
    "schemas": lambda value: [_schema(item) for item in _list(value)],
    "compile": _mapping,
    "custom": _mapping,
    "labels": _mapping,
}
