"""A JSON schema of draft 4, 6 or 7, or of all of them at once, read into what validation needs.

Not here: what the keywords mean to a document (json_schema_validate).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

from engine.rego.builtins.go_text import json_string
from engine.rego.builtins.json_schema_references import HYBRID, Documents, Json, SchemaFault, named_draft, parsed
from engine.rego.builtins.regular_expressions import is_valid as is_pattern

MAX_SCHEMAS: Final = 100_000
"""In one schema, at all depths and behind all references."""
TYPES: Final = ("array", "boolean", "integer", "number", "null", "object", "string")
_INT64: Final = 2**63


@dataclass(slots=True)
class Schema:
    draft: int
    constant: bool | None = None
    """Of the schemas `true` and `false`."""
    target: Schema | None = None
    """What a `$ref` stands for; nothing else counts then."""
    types: list[str] = field(default_factory=list)
    properties: dict[str, Schema] = field(default_factory=dict)
    pattern_properties: dict[str, Schema] = field(default_factory=dict)
    additional_properties: bool | Schema | None = None
    property_names: Schema | None = None
    dependencies: dict[str, list[str] | Schema] = field(default_factory=dict)
    items: list[Schema] = field(default_factory=list)
    items_alike: bool = False
    additional_items: bool | Schema | None = None
    contains: Schema | None = None
    multiple_of: int | Decimal | None = None
    bounds: dict[str, int | Decimal] = field(default_factory=dict)
    """`minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`, of numbers."""
    sizes: dict[str, int] = field(default_factory=dict)
    """`minLength`, `maxItems` and their like."""
    pattern: str | None = None
    format: str = ""
    required: dict[str, None] = field(default_factory=dict)
    """Names, in their order."""
    unique_items: bool = False
    const: str | None = None
    enum: dict[str, None] | None = None
    """Values as canonical JSON, in their order."""
    one_of: list[Schema] = field(default_factory=list)
    any_of: list[Schema] = field(default_factory=list)
    all_of: list[Schema] = field(default_factory=list)
    negated: Schema | None = None
    condition: Schema | None = None
    then: Schema | None = None
    otherwise: Schema | None = None


def compiled(document: Json) -> Schema:
    """The document is changed. Raises SchemaFault, or RecursionError."""
    compiler = _Compiler(Documents(document))
    return compiler.schema(document, Schema(named_draft(document) or HYBRID))


def canonical(value: Json) -> str:
    """JSON with every number as a float of 64 bits would be written, so that 1 and 1.0 are the same."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{json_string(key)}:{canonical(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, str):
        return json_string(value)
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return _float_text(value)


def is_number(value: Json) -> bool:
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


def _float_text(number: int | Decimal) -> str:
    try:
        value = float(number)
    except OverflowError:
        value = float("inf")
    if value in (float("inf"), float("-inf")):
        raise SchemaFault(f"the number {number:.3e} is too large for a float of 64 bits")
    exact = Decimal(repr(value)).normalize()
    if not exact or Decimal("1e-6") <= abs(exact) < Decimal("1e21"):
        return format(exact, "f") if exact else ("-0" if exact.is_signed() else "0")
    digits = "".join(map(str, exact.as_tuple().digits))
    mantissa = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
    return f"{'-' if exact < 0 else ''}{mantissa}e{exact.adjusted():+03d}".replace("e-0", "e-")


class _Compiler:
    """One schema and all that it refers to; a reference is compiled once, so that schemas may refer to themselves."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._referred: dict[str, Schema] = {}
        self._count = 0

    def schema(self, node: Json, made: Schema) -> Schema:
        self._count += 1
        if self._count > MAX_SCHEMAS:
            raise SchemaFault(f"more than {MAX_SCHEMAS} schemas in one")
        if isinstance(node, bool) and made.draft >= 6:
            made.constant = node
            return made
        if not isinstance(node, dict):
            raise SchemaFault("Expected: Valid Schema, given: Invalid JSON")
        self._meta(node, made)
        reference = _text(node, "$ref")
        if reference is not None:
            reference = str(parsed(reference))
            if reference not in self._referred:
                made.target = self._refer(reference, made)
                return made
            made.target = self._referred[reference]
        for read in (_types, self._objects, self._arrays, _numbers, _strings, _sizes_of_objects, _sizes_of_arrays):
            read(node, made)
        self._rest(node, made)
        return made

    def _child(self, node: Json, parent: Schema) -> Schema:
        return self.schema(node, Schema(parent.draft))

    def _meta(self, node: dict[str, Json], made: Schema) -> None:
        old_name = made.draft == 4 or (made.draft == HYBRID and "id" in node)
        own = _text(node, "id" if old_name else "$id")
        if own is not None:
            parsed(own)
        definitions = node.get("definitions", {})
        if not isinstance(definitions, dict) or not all(_is_schema(each) for each in definitions.values()):
            raise _wrong_type("Array Of Schemas", "definitions")
        for each in definitions.values():
            self._child(each, made)
        for name in ("title", "description"):
            _text(node, name)

    def _refer(self, reference: str, made: Schema) -> Schema:
        target = self._referred[reference] = Schema(made.draft)
        document = self._documents.find(reference)
        target.draft = document.draft or made.draft
        if not _is_schema(document.node):
            raise SchemaFault("Valid Schema must be of type object")
        return self.schema(document.node, target)

    def _objects(self, node: dict[str, Json], made: Schema) -> None:
        properties = node.get("properties", {})
        if not isinstance(properties, dict):
            raise SchemaFault("Properties must be of type object")
        made.properties = {name: self._child(properties[name], made) for name in sorted(properties)}
        made.additional_properties = self._flag_or_schema(node, "additionalProperties", made)
        patterns = node.get("patternProperties", {})
        if not isinstance(patterns, dict):
            raise _wrong_type("Valid Schema", "patternProperties")
        for pattern in sorted(patterns):
            if not is_pattern(pattern):
                raise SchemaFault(f"Invalid regex pattern '{pattern}'")
            made.pattern_properties[pattern] = self._child(patterns[pattern], made)
        if "propertyNames" in node and made.draft >= 6:
            if not _is_schema(node["propertyNames"]):
                raise _wrong_type("Valid Schema", "patternProperties")
            made.property_names = self._child(node["propertyNames"], made)
        if "dependencies" in node:
            self._dependencies(node["dependencies"], made)

    def _dependencies(self, node: Json, made: Schema) -> None:
        if not isinstance(node, dict):
            raise SchemaFault("dependencies must be of type object")
        for name in sorted(node):
            wanted = node[name]
            if _is_schema(wanted):
                made.dependencies[name] = self._child(wanted, made)
            elif isinstance(wanted, list) and all(isinstance(each, str) for each in wanted):
                made.dependencies[name] = wanted
            else:
                raise SchemaFault("Dependency must be of type Schema Or Array Of Strings")

    def _arrays(self, node: dict[str, Json], made: Schema) -> None:
        if "items" in node:
            items = node["items"]
            made.items_alike = not isinstance(items, list)
            for item in [items] if made.items_alike else items:
                if not _is_schema(item):
                    raise _wrong_type("Valid Schema/Array Of Schemas", "items")
                made.items.append(self._child(item, made))
        made.additional_items = self._flag_or_schema(node, "additionalItems", made)

    def _flag_or_schema(self, node: dict[str, Json], name: str, made: Schema) -> bool | Schema | None:
        if name not in node or isinstance(node[name], bool):
            return node.get(name)
        if not isinstance(node[name], dict):
            raise _wrong_type("boolean/Valid Schema", name)
        return self._child(node[name], made)

    def _rest(self, node: dict[str, Json], made: Schema) -> None:
        if made.draft >= 6:
            made.contains = self._child(node["contains"], made) if "contains" in node else None
            made.const = canonical(node["const"]) if "const" in node else None
        if "enum" in node:
            values = _list(node, "enum")
            made.enum = dict.fromkeys(map(canonical, values))
            if len(made.enum) < len(values):
                raise SchemaFault("enum items must be unique")
        for name, schemas in (("oneOf", made.one_of), ("anyOf", made.any_of), ("allOf", made.all_of)):
            schemas += [self._child(each, made) for each in _list(node, name)]
        made.negated = self._single(node, "not", made)
        if made.draft >= 7:
            made.condition = self._single(node, "if", made)
            made.then = self._single(node, "then", made)
            made.otherwise = self._single(node, "else", made)

    def _single(self, node: dict[str, Json], name: str, made: Schema) -> Schema | None:
        if name not in node:
            return None
        if not _is_schema(node[name]):
            raise SchemaFault(f"{name} must be of an object")
        return self._child(node[name], made)


def _types(node: dict[str, Json], made: Schema) -> None:
    named = node.get("type", [])
    for name in [named] if isinstance(named, str) else named if isinstance(named, list) else [None]:
        if not isinstance(name, str):
            raise _wrong_type("type", "string/Array Of Strings")
        if name not in TYPES:
            valid = " ".join(TYPES)
            raise SchemaFault(
                f"has a primitive type that is NOT VALID -- given: /{name}/ Expected valid values are:[{valid}]"
            )
        if name in made.types:
            raise SchemaFault(f"{name} type is duplicated")
        made.types.append(name)


def _numbers(node: dict[str, Json], made: Schema) -> None:
    if "multipleOf" in node:
        if not is_number(node["multipleOf"]):
            raise _wrong_type("Number", "multipleOf")
        if node["multipleOf"] <= 0:
            raise SchemaFault("multipleOf must be strictly greater than 0")
        made.multiple_of = node["multipleOf"]
    for plain, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if plain in node:
            if not is_number(node[plain]):
                raise SchemaFault(f"{plain} must be of a Number")
            made.bounds[plain] = node[plain]
        if exclusive in node:
            _exclusive(node[exclusive], plain, exclusive, made)


def _exclusive(value: Json, plain: str, exclusive: str, made: Schema) -> None:
    """A flag in draft 4, a bound of its own since, either where no draft is named."""
    flag = isinstance(value, bool) and made.draft in (4, HYBRID)
    if not flag and (made.draft == 4 or not is_number(value)):
        raise _wrong_type({4: "boolean", HYBRID: "boolean/number"}.get(made.draft, "number"), exclusive)
    if not flag:
        made.bounds[exclusive] = value
    elif plain not in made.bounds:
        raise SchemaFault(f"{exclusive} cannot be used without {plain}")
    elif value:
        made.bounds[exclusive] = made.bounds.pop(plain)


def _strings(node: dict[str, Json], made: Schema) -> None:
    _size(node, "minLength", made)
    _size(node, "maxLength", made)
    _in_order("minLength", "maxLength", made)
    made.pattern = _text(node, "pattern")
    if made.pattern is not None and not is_pattern(made.pattern):
        raise SchemaFault("pattern must be a valid regex")
    made.format = _text(node, "format") or ""


def _sizes_of_objects(node: dict[str, Json], made: Schema) -> None:
    _size(node, "minProperties", made)
    _size(node, "maxProperties", made)
    _in_order("minProperties", "maxProperties", made)
    for name in _list(node, "required"):
        if not isinstance(name, str):
            raise _wrong_type("string", "required")
        if name in made.required:
            raise SchemaFault("required items must be unique")
        made.required[name] = None


def _sizes_of_arrays(node: dict[str, Json], made: Schema) -> None:
    _size(node, "minItems", made)
    _size(node, "maxItems", made)
    if not isinstance(node.get("uniqueItems", False), bool):
        raise SchemaFault("uniqueItems must be of a boolean")
    made.unique_items = node.get("uniqueItems", False)


def _size(node: dict[str, Json], name: str, made: Schema) -> None:
    if name not in node:
        return
    size = node[name]
    if not isinstance(size, int) or isinstance(size, bool) or not -_INT64 <= size < _INT64:
        raise SchemaFault(f"{name} must be of an integer")
    if size < 0:
        raise SchemaFault(f"{name} must be greater than or equal to 0")
    made.sizes[name] = size


def _in_order(low: str, high: str, made: Schema) -> None:
    if low in made.sizes and high in made.sizes and made.sizes[low] > made.sizes[high]:
        raise SchemaFault(f"{low} cannot be greater than {high}")


def _text(node: dict[str, Json], name: str) -> str | None:
    value = node.get(name)
    if name in node and not isinstance(value, str):
        raise _wrong_type("string", name)
    return value


def _list(node: dict[str, Json], name: str) -> list[Json]:
    value = node.get(name, [])
    if not isinstance(value, list):
        raise SchemaFault(f"{name} must be of an array")
    return value


def _is_schema(node: Json) -> bool:
    return isinstance(node, dict | bool)


def _wrong_type(expected: str, given: str) -> SchemaFault:
    return SchemaFault(f"Invalid type. Expected: {expected}, given: {given}")
