"""Whether a document is what a compiled JSON schema asks for, and each reason why it is not, with OPA's words.

Where OPA goes through the names of an object in no order, here they come sorted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Final

from engine.rego.builtins.bounds import MAX_TEXT
from engine.rego.builtins.json_schema_compile import Schema, canonical, is_number
from engine.rego.builtins.json_schema_formats import is_format
from engine.rego.builtins.json_schema_references import Json, SchemaFault
from engine.rego.builtins.regular_expressions import match

MAX_STEPS: Final = 1_000_000
"""Pairs of a value and a schema: schemas that refer to each other can multiply them without end."""
_ROOT: Final = "(Root)"
_BOUNDS: Final = (
    ("maximum", "number_lte", "Must be less than or equal to"),
    ("exclusiveMaximum", "number_lt", "Must be less than"),
    ("minimum", "number_gte", "Must be greater than or equal to"),
    ("exclusiveMinimum", "number_gt", "Must be greater than"),
)


@dataclass(frozen=True, slots=True)
class Fault:
    kind: str
    field: str
    description: str


@dataclass(slots=True)
class _Budget:
    """What one validation has taken so far."""

    steps: int = 0
    words: int = 0

    def step(self) -> None:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise SchemaFault(f"the validation takes more than {MAX_STEPS} steps")

    def say(self, length: int) -> None:
        self.words += length
        if self.words > MAX_TEXT:
            raise SchemaFault(f"the faults would have more than {MAX_TEXT} characters")


@dataclass(slots=True)
class _Result:
    budget: _Budget
    faults: list[Fault] = field(default_factory=list)
    score: int = 0
    """How near the value came: of several schemas none of which fits, the faults of the nearest are shown."""

    def add(self, kind: str, place: str, description: str) -> None:
        self.budget.say(2 * (len(place) + len(description)))
        self.faults.append(Fault(kind, place.removeprefix(_ROOT + "."), description))
        self.score -= 2

    def merge(self, other: _Result) -> None:
        self.faults += other.faults
        self.score += other.score


def faults_of(schema: Schema, document: Json) -> list[Fault]:
    """Raises SchemaFault where there would be no end of it, or RecursionError."""
    return _Validation().of(schema, document, _ROOT).faults


class _Validation:
    def __init__(self) -> None:
        self._budget = _Budget()

    def of(self, schema: Schema, value: Json, place: str) -> _Result:
        result = _Result(self._budget)
        self._check(schema, value, result, place)
        return result

    def _check(self, schema: Schema, value: Json, result: _Result, place: str) -> None:
        while schema.target is not None and schema.constant is None:
            self._budget.step()
            schema = schema.target
        self._budget.step()
        if schema.constant is not None:
            if not schema.constant:
                result.add("false", place, "False always fails validation")
            return
        given = _type(value)
        if schema.types and given not in schema.types and not (given == "integer" and "number" in schema.types):
            expected = schema.types[0] if len(schema.types) == 1 else f"[{','.join(schema.types)}]"
            result.add("invalid_type", place, f"Invalid type. Expected: {expected}, given: {given}")
            return
        self._combinations(schema, value, result, place)
        if is_number(value):
            _check_number(schema, value, result, place)
        elif isinstance(value, list):
            self._check_array(schema, value, result, place)
        elif isinstance(value, dict):
            self._check_object(schema, value, result, place)
        _check_common(schema, value, result, place)
        if isinstance(value, str):
            _check_string(schema, value, result, place)
        elif isinstance(value, dict):
            for name, child in schema.properties.items():
                if name in value:
                    self._check(child, value[name], result, f"{place}.{name}")
        result.score += 1

    def _combinations(self, schema: Schema, value: Json, result: _Result, place: str) -> None:
        if schema.any_of:
            self._any_of(schema.any_of, value, result, place)
        if schema.one_of:
            self._one_of(schema.one_of, value, result, place)
        if schema.all_of:
            found = [self.of(each, value, place) for each in schema.all_of]
            for each in found:
                result.merge(each)
            if any(each.faults for each in found):
                result.add("number_all_of", place, "Must validate all the schemas (allOf)")
        if schema.negated and not self.of(schema.negated, value, place).faults:
            result.add("number_not", place, "Must not validate the schema (not)")
        if schema.dependencies and isinstance(value, dict):
            self._dependencies(schema, value, result, place)
        if schema.condition:
            self._condition(schema, schema.condition, value, result, place)
        result.score += 1

    def _any_of(self, schemas: list[Schema], value: Json, result: _Result, place: str) -> None:
        found: list[_Result] = []
        for schema in schemas:
            found.append(self.of(schema, value, place))
            if not found[-1].faults:
                return
        result.add("number_any_of", place, "Must validate at least one schema (anyOf)")
        result.merge(max(found, key=lambda each: each.score))

    def _one_of(self, schemas: list[Schema], value: Json, result: _Result, place: str) -> None:
        found = [self.of(schema, value, place) for schema in schemas]
        valid = sum(not each.faults for each in found)
        if valid == 1:
            return
        result.add("number_one_of", place, "Must validate one and only one schema (oneOf)")
        if not valid:
            result.merge(max(found, key=lambda each: each.score))

    def _dependencies(self, schema: Schema, value: dict[str, Json], result: _Result, place: str) -> None:
        for name in sorted(value):
            wanted = schema.dependencies.get(name, [])
            if isinstance(wanted, Schema):
                self._check(wanted, value, result, place)
                continue
            for other in wanted:
                if other not in value:
                    result.add("missing_dependency", place, f"Has a dependency on {other}")

    def _condition(self, schema: Schema, condition: Schema, value: Json, result: _Result, place: str) -> None:
        holds = not self.of(condition, value, place).faults
        branch = schema.then if holds else schema.otherwise
        found = self.of(branch, value, place) if branch else _Result(self._budget)
        if found.faults:
            kind, words = ("then", '"then" as "if" was valid') if holds else ("else", '"else" as "if" was not valid')
            result.add(f"condition_{kind}", place, f"Must validate {words}")
            result.merge(found)

    def _check_array(self, schema: Schema, value: list[Json], result: _Result, place: str) -> None:
        self._check_items(schema, value, result, place)
        if len(value) < schema.sizes.get("minItems", 0):
            result.add("array_min_items", place, f"Array must have at least {schema.sizes['minItems']} items")
        if len(value) > schema.sizes.get("maxItems", len(value)):
            result.add("array_max_items", place, f"Array must have at most {schema.sizes['maxItems']} items")
        if schema.unique_items:
            _check_unique(value, result, place)
        if schema.contains:
            self._contains(schema.contains, value, result, place)
        result.score += 1

    def _check_items(self, schema: Schema, value: list[Json], result: _Result, place: str) -> None:
        schemas = schema.items * len(value) if schema.items_alike else schema.items
        for index, (item, each) in enumerate(zip(value, schemas, strict=False)):
            result.merge(self.of(each, item, f"{place}.{index}"))
        if not schemas or len(schemas) >= len(value):
            return
        if schema.additional_items is False:
            result.add("array_no_additional_items", place, "No additional items allowed on array")
        elif isinstance(schema.additional_items, Schema):
            for index in range(len(schemas), len(value)):
                result.merge(self.of(schema.additional_items, value[index], f"{place}.{index}"))

    def _contains(self, schema: Schema, value: list[Json], result: _Result, place: str) -> None:
        found: list[_Result] = []
        for index, item in enumerate(value):
            found.append(self.of(schema, item, f"{place}.{index}"))
            if not found[-1].faults:
                return
        result.add("contains", place, "At least one of the items must match")
        if found:
            result.merge(max(found, key=lambda each: each.score))

    def _check_object(self, schema: Schema, value: dict[str, Json], result: _Result, place: str) -> None:
        if len(value) < schema.sizes.get("minProperties", 0):
            result.add("array_min_properties", place, f"Must have at least {schema.sizes['minProperties']} properties")
        if len(value) > schema.sizes.get("maxProperties", len(value)):
            result.add("array_max_properties", place, f"Must have at most {schema.sizes['maxProperties']} properties")
        for name in schema.required:
            if name in value:
                result.score += 1
            else:
                result.add("required", place, f"{name} is required")
        for name in sorted(value):
            self._check_property(schema, name, value[name], result, place)
        if schema.property_names:
            for name in sorted(value):
                found = self.of(schema.property_names, name, place)
                if found.faults:
                    result.add("invalid_property_name", place, f'Property name of "{name}" does not match')
                    result.merge(found)
        result.score += 1

    def _check_property(self, schema: Schema, name: str, value: Json, result: _Result, place: str) -> None:
        """Of a name that the schema does not have: its patterns, else what it says of additional ones."""
        matched = False
        for pattern, each in schema.pattern_properties.items():
            self._budget.step()
            if match(pattern, name):
                matched = True
                result.merge(self.of(each, value, f"{place}.{name}"))
        if matched:
            result.score += 1
        elif name not in schema.properties:
            if schema.additional_properties is False:
                description = f"Additional property {name} is not allowed"
                result.add("additional_property_not_allowed", place, description)
            elif isinstance(schema.additional_properties, Schema):
                result.merge(self.of(schema.additional_properties, value, f"{place}.{name}"))


def _type(value: Json) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if is_number(value):
        return "integer" if value == int(value) else "number"
    return "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"


def _check_number(schema: Schema, value: int | Decimal, result: _Result, place: str) -> None:
    if schema.multiple_of is not None and (Fraction(value) / Fraction(schema.multiple_of)).denominator != 1:
        result.add("multiple_of", place, f"Must be a multiple of {_shown(schema.multiple_of)}")
    for name, kind, words in _BOUNDS:
        bound = schema.bounds.get(name)
        if bound is None:
            continue
        beyond = value > bound if "aximum" in name else value < bound
        if beyond or (name.startswith("exclusive") and value == bound):
            result.add(kind, place, f"{words} {_shown(bound)}")
    result.score += 1


def _check_string(schema: Schema, value: str, result: _Result, place: str) -> None:
    if len(value) < schema.sizes.get("minLength", 0):
        words = f"String length must be greater than or equal to {schema.sizes['minLength']}"
        result.add("string_gte", place, words)
    if len(value) > schema.sizes.get("maxLength", len(value)):
        result.add("string_lte", place, f"String length must be less than or equal to {schema.sizes['maxLength']}")
    if schema.pattern is not None and not match(schema.pattern, value):
        result.add("pattern", place, f"Does not match pattern '{schema.pattern}'")
    result.score += 1


def _check_common(schema: Schema, value: Json, result: _Result, place: str) -> None:
    shown = place.removeprefix(_ROOT + ".")
    if schema.const is not None and canonical(value) != schema.const:
        result.add("const", place, f"{shown} does not match: {schema.const}")
    if schema.enum is not None and canonical(value) not in schema.enum:
        result.add("enum", place, f"{shown} must be one of the following: {', '.join(schema.enum)}")
    if schema.format and isinstance(value, str) and not is_format(schema.format, value):
        result.add("format", place, f"Does not match format '{schema.format}'")
    result.score += 1


def _check_unique(value: list[Json], result: _Result, place: str) -> None:
    seen: dict[str, int] = {}
    for index, item in enumerate(value):
        text = canonical(item)
        if text in seen:
            result.add("unique", place, f"array items[{seen[text]},{index}] must be unique")
        seen[text] = index


def _shown(bound: int | Decimal) -> str:
    """As Go writes a big float: with an exponent from a million on and below a ten-thousandth."""
    sign, digits, power = Decimal(bound).as_tuple()
    text = "".join(map(str, digits)).lstrip("0")
    kept = text.rstrip("0") or "0"
    exponent = int(power) + len(text) - 1 if text else 0
    if not -4 <= exponent < 6:
        mantissa = kept[0] + ("." + kept[1:] if len(kept) > 1 else "")
        return f"{'-' if sign else ''}{mantissa}e{exponent:+03d}"
    plain = kept.ljust(exponent + 1, "0") if exponent >= 0 else "0" * -exponent + kept
    whole = max(exponent, 0) + 1
    return f"{'-' if sign and text else ''}{plain[:whole]}{'.' + plain[whole:] if plain[whole:] else ''}"
