"""`json.verify_schema`, `json.match_schema`: a document, as a value or as JSON text, beside a JSON schema.

Our own validator rather than a library's: policies read the kinds and words of the faults, which are those of the one
validator that OPA has, as are its liberties (drafts mixed, patterns of RE2, no check of the schema by its draft).
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Final

from engine.rego.builtins.bounds import bounded_results
from engine.rego.builtins.encoding import json_is_valid, json_marshal, without_half_characters
from engine.rego.builtins.json_schema_compile import Schema, compiled
from engine.rego.builtins.json_schema_references import Json, SchemaFault
from engine.rego.builtins.json_schema_validate import faults_of
from engine.rego.builtins.registry import builtin
from engine.rego.errors import BuiltinError
from engine.rego.values import Value

MAX_EXPONENT: Final = 5_000
"""Of a number: it is calculated with exactly."""


@builtin("json.verify_schema")
def verify_schema(schema: Value) -> Value:
    try:
        _compiled(schema)
    except SchemaFault as fault:
        return [False, f"jsonschema: {fault}"]
    return [True, None]


@builtin("json.match_schema")
def match_schema(document: Value, schema: Value) -> Value:
    name = "json.match_schema"
    try:
        read = _read(document)
        faults = faults_of(_compiled(schema), read)
    except SchemaFault as fault:
        raise BuiltinError(f"{name}: {fault}") from fault
    except RecursionError as error:
        raise BuiltinError(f"{name}: nested too deeply") from error
    bounded_results(name, 4 * len(faults))
    shown = [
        {"error": f"{one.field}: {one.description}", "type": one.kind, "field": one.field, "desc": one.description}
        for one in faults
    ]
    return [not faults, shown]


def _compiled(schema: Value) -> Schema:
    try:
        return compiled(_read(schema))
    except RecursionError as error:
        raise SchemaFault("nested too deeply") from error


def _read(value: Value) -> Json:
    if type(value) is str:
        if not json_is_valid(value):
            raise SchemaFault("invalid JSON string")
    elif type(value) is dict or type(value) is list:
        value = json_marshal(value)
    else:
        raise SchemaFault("wrong type, expected string or object")
    try:
        return without_half_characters(json.loads(value, parse_float=_number))
    except SchemaFault:
        raise
    except ValueError as error:  # Python's own bound on digits
        raise SchemaFault(f"a number is too long: {error}") from error


def _number(text: str) -> Decimal:
    number = Decimal(text)
    if len(text) > MAX_EXPONENT or abs(number.adjusted()) > MAX_EXPONENT:
        raise SchemaFault(f"the number {text[:32]} is too large or too small")
    return number
