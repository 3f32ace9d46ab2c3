"""GraphQL: queries and schemas as values, and whether the one fits the other.

A document is given as text, or as the object that `graphql.parse_query` or `graphql.parse_schema` made of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Final, NamedTuple, TypeVar

from engine.rego.builtins.operands import operand_one_of, operand_string
from engine.rego.builtins.registry import builtin
from engine.rego.errors import BuiltinError
from engine.rego.graphql.faults import Fault, TooLarge
from engine.rego.graphql.query_parser import parse_query
from engine.rego.graphql.schema import Schema
from engine.rego.graphql.schema_loading import load_schema
from engine.rego.graphql.schema_parser import parse_schema
from engine.rego.graphql.shapes import WrongShape, from_value, to_value
from engine.rego.graphql.syntax import QueryDocument, SchemaDocument
from engine.rego.graphql.validation import faults_of
from engine.rego.values import Value

CACHED_SCHEMAS: Final = 4
MAX_CACHED_TEXT: Final = 1_000_000
"""Characters of a schema that is kept for the next query: a policy judges many queries by one schema."""

D = TypeVar("D", QueryDocument, SchemaDocument)


class _Loaded(NamedTuple):
    """Neither of them is changed by what is done with it."""

    document: SchemaDocument
    schema: Schema


class _Refused(Exception):
    """The answer of OPA is an error, or false: which of them, the builtin knows."""


@builtin("graphql.parse")
def parse(query: Value, schema: Value) -> list[Value]:
    name = "graphql.parse"
    # OPA counts these operands from 0.
    operand_one_of(name, 0, query, ("string", "object"))
    with _bounded(name):
        try:
            document = _query(query)
            operand_one_of(name, 1, schema, ("string", "object"))
            loaded = _loaded(schema)
            answer = [to_value(document), to_value(loaded.document)]
            _validate(loaded.schema, document)
        except _Refused as refused:
            raise BuiltinError(f"{name}: {refused}") from refused
        return answer


@builtin("graphql.parse_and_verify")
def parse_and_verify(query: Value, schema: Value) -> list[Value]:
    with _bounded("graphql.parse_and_verify"):
        try:
            document, loaded = _query(query), _loaded(schema)
            answer = [True, to_value(document), to_value(loaded.document)]
            _validate(loaded.schema, document)
        except _Refused:
            return [False, {}, {}]
        return answer


@builtin("graphql.is_valid")
def is_valid(query: Value, schema: Value) -> bool:
    with _bounded("graphql.is_valid"):
        try:
            document = _query(query)
            _validate(_loaded(schema).schema, document)
        except _Refused:
            return False
        return True


@builtin("graphql.schema_is_valid")
def schema_is_valid(schema: Value) -> bool:
    with _bounded("graphql.schema_is_valid"):
        try:
            _loaded(schema)
        except _Refused:
            return False
        return True


@builtin("graphql.parse_query")
def parse_query_text(query: Value) -> Value:
    return _parsed("graphql.parse_query", query, _query)


@builtin("graphql.parse_schema")
def parse_schema_text(schema: Value) -> Value:
    return _parsed("graphql.parse_schema", schema, _schema)


def _parsed(name: str, text: Value, parser: Callable[[Value], object]) -> Value:
    operand_string(name, 1, text)
    with _bounded(name):
        try:
            return to_value(parser(text))
        except _Refused as refused:
            raise BuiltinError(f"{name}: {refused}") from refused


@contextmanager
def _bounded(name: str) -> Iterator[None]:
    """A document that is too much for us has no answer: it is neither valid nor invalid."""
    try:
        yield
    except TooLarge as error:
        raise BuiltinError(f"{name}: {error}") from error
    except RecursionError as error:
        raise BuiltinError(f"{name}: the document is nested too deeply") from error


def _query(given: Value) -> QueryDocument:
    return _document(given, QueryDocument, parse_query)


def _schema(given: Value) -> SchemaDocument:
    return _document(given, SchemaDocument, parse_schema)


def _document(given: Value, kind: type[D], parser: Callable[[str], D]) -> D:
    try:
        if type(given) is str:
            return parser(given)
        if type(given) is dict:
            return from_value(kind, given)
    except Fault as fault:
        raise _Refused(_placed(str(fault))) from fault
    except WrongShape as error:
        raise _Refused(str(error)) from error
    raise _Refused("a document is a string or an object")


def _loaded(given: Value) -> _Loaded:
    if type(given) is str and len(given) <= MAX_CACHED_TEXT:
        return _remembered(given)
    return _load(given)


@lru_cache(maxsize=CACHED_SCHEMAS)
def _remembered(text: str) -> _Loaded:
    return _load(text)


def _load(given: Value) -> _Loaded:
    document = _schema(given)
    try:
        return _Loaded(document, load_schema(document))
    except Fault as fault:
        raise _Refused(f"Error in gqlparser SchemaDocument to Schema conversion: {fault}") from fault


def _validate(schema: Schema, query: QueryDocument) -> None:
    try:
        faults = faults_of(schema, query)
    except Fault as fault:
        raise _Refused(str(fault)) from fault
    if faults:
        raise _Refused(_placed("".join(f"{fault}\n" for fault in faults)))


def _placed(text: str) -> str:
    """OPA's words: the place of the first fault goes last, those of the others stay where they are."""
    parts = text.split(":", 3)
    if len(parts) == 4 and _is_count(parts[1]) and _is_count(parts[2]):
        message = parts[3].lstrip(" ").removesuffix(".\n")
        return f"{message} in GraphQL string at location {int(parts[1])}:{int(parts[2])}"
    return f"GraphQL parse error: {text}"


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 20
