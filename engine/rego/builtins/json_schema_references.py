"""Where a `$ref` of a JSON schema leads: within the document, to an `$id` in it, or to the schema of a draft itself.

Not here: any file and any host. A reference to one is refused, as by an OPA that may reach no network.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

from engine.rego.builtins.go_url import BadUrl, Url, parse_url

Json = Any
"""None, bool, int, Decimal, str, list or dict with string keys."""

HYBRID: Final = 1_000
"""No draft is named: the keywords of all of them hold."""
_DRAFTS: Final = {f"http://json-schema.org/draft-0{number}/schema": number for number in (4, 6, 7)}
_LITERAL: Final = ("const", "enum")
_NAMED: Final = ("properties", "dependencies", "patternProperties")


class SchemaFault(ValueError):
    """A schema that cannot be used, with OPA's words."""


@dataclass(frozen=True, slots=True)
class Document:
    node: Json
    draft: int | None
    """None: as whoever refers to it."""


class Documents:
    """Every document that a reference may name. Those that are added have their references made absolute, in place."""

    def __init__(self, root: Json) -> None:
        self._known: dict[str, Document] = {}
        self._add(root, Url())

    def find(self, reference: str) -> Document:
        if reference in self._known:
            return self._known[reference]
        url = parsed(reference)
        base = str(url.without_fragment())
        if base not in self._known:
            self._add(_fetched(url, reference), url.without_fragment())
        whole = self._known[base]
        found = Document(_pointed(whole.node, url.fragment), whole.draft)
        self._known[reference] = found
        return found

    def _add(self, document: Json, base: Url) -> None:
        draft = named_draft(document)
        self._resolve(document, base, draft)
        self._known[str(base)] = Document(document, draft)

    def _resolve(self, node: Json, base: Url, draft: int | None) -> None:
        if isinstance(node, list):
            for item in node:
                self._resolve(item, base, draft)
        elif isinstance(node, dict):
            base = self._identified(node, base, draft)
            if isinstance(node.get("$ref"), str):
                node["$ref"] = _joined(base, node["$ref"]) or node["$ref"]
            for key in sorted(node):
                # What is called `$ref` among properties is the name of one.
                named = key in _NAMED and isinstance(node[key], dict)
                for child in node[key].values() if named else () if key in _LITERAL or key in _NAMED else (node[key],):
                    self._resolve(child, base, draft)

    def _identified(self, node: dict[str, Json], base: Url, draft: int | None) -> Url:
        own = node.get("id" if "id" in node else "$id")
        absolute = _joined(base, own) if isinstance(own, str) else None
        if absolute is None:
            return base
        if absolute in self._known:
            raise SchemaFault(f'Reference already exists: "{absolute}"')
        self._known[absolute] = Document(node, draft)
        return parse_url(absolute)


def named_draft(document: Json) -> int | None:
    if isinstance(document, bool):
        return None
    if not isinstance(document, dict):
        raise SchemaFault("schema is invalid")
    if "$schema" not in document:
        return None
    if not isinstance(document["$schema"], str):
        raise SchemaFault("$schema must be of type string")
    return _DRAFTS.get(str(parsed(document["$schema"])))


def parsed(text: str) -> Url:
    try:
        return parse_url(text)
    except BadUrl as error:
        raise SchemaFault(str(error)) from error


def _joined(base: Url, text: str) -> str | None:
    try:
        return str(parse_url(str(base.without_fragment().resolve(parse_url(text)))))
    except BadUrl:
        return None  # it is refused where the keyword is read


def _fetched(url: Url, reference: str) -> Json:
    in_file = url.scheme == "file"
    if not (url.path.startswith("/") if in_file else url.scheme and url.host):
        raise SchemaFault(f"Reference {reference} must be canonical")
    draft = _DRAFTS.get(str(url.without_fragment()))
    if draft is None:
        raise SchemaFault(f"remote reference loading disabled: {reference}")
    return json.loads(_texts_of_drafts()[str(draft)])


@cache
def _texts_of_drafts() -> dict[str, str]:
    drafts = json.loads(files(__package__).joinpath("json_schema_drafts.json").read_text("utf-8"))
    return {number: json.dumps(schema) for number, schema in drafts.items()}


def _pointed(node: Json, pointer: str) -> Json:
    if not pointer.startswith("/"):
        return node  # a name that no `$id` has: OPA takes the whole document
    for token in pointer[1:].split("/"):
        node = _child(node, token)
    return node


def _child(node: Json, token: str) -> Json:
    if isinstance(node, dict):
        name = token.replace("~1", "/").replace("~0", "~")
        if name not in node:
            raise SchemaFault(f"Object has no key '{name}'")
        return node[name]
    if not isinstance(node, list):
        raise SchemaFault(f"Invalid token reference '{token}'")
    if not token.removeprefix("-").removeprefix("+").isdecimal() or len(token) > 18:
        raise SchemaFault(f"Invalid array index '{token}'")
    if not 0 <= int(token) < len(node):
        raise SchemaFault(f"Out of bound array[0,{len(node)}] index '{int(token)}'")
    return node[int(token)]
