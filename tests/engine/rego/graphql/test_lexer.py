"""Tokens, and where gqlparser says that they are."""

from __future__ import annotations

import pytest

from engine.rego.graphql.faults import Position
from engine.rego.graphql.lexer import (
    BLOCK_STRING,
    COMMENT,
    EOF,
    FLOAT,
    INT,
    INVALID,
    NAME,
    STRING,
    Token,
    tokens,
)


def token(kind: str, value: str, line: int, column: int, fault: str = "") -> Token:
    return Token(kind, value, Position(line, column), fault)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a1 _b", [token(NAME, "a1", 1, 1), token(NAME, "_b", 1, 4), token(EOF, "", 1, 6)]),
        ("...!", [token("...", "", 1, 1), token("!", "", 1, 4), token(EOF, "", 1, 5)]),
        ("-0 1.5e-3", [token(INT, "-0", 1, 1), token(FLOAT, "1.5e-3", 1, 4), token(EOF, "", 1, 10)]),
        ("#é\t\n,a", [token(COMMENT, "#é\t", 1, 1), token(NAME, "a", 2, 2), token(EOF, "", 2, 3)]),
        ('""', [token(STRING, "", 1, 2), token(EOF, "", 1, 3)]),
        ('"\\"\\u00e9\\/"', [token(STRING, '"é/', 1, 2), token(EOF, "", 1, 13)]),
        ('"\\ud83d\\ude00"', [token(STRING, "\ufffd\ufffd", 1, 2), token(EOF, "", 1, 15)]),
    ],
)
def test_text_becomes_tokens_with_their_places(text: str, found: list[Token]):
    assert tokens(text) == found


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [("\na", 2, 1), ("\ra", 2, 1), ("\r\na", 2, 2), ("\n\r\na", 3, 2), ("\ufeff a", 1, 3), ("\t\ta", 1, 3)],
)
def test_a_place_counts_lines_and_columns_as_gqlparser_does(text: str, line: int, column: int):
    assert tokens(text)[0] == token(NAME, "a", line, column)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ('"""a"""', "a"),
        ('""""""', ""),
        ('"""\n  a\n    b\n\n  """', "a\n  b"),
        ('"""  a\n  b"""', "  a\nb"),
        ('"""a\n  b"""', "a\n  b"),
        ('"""a\r\nb\rc"""', "a\nb\nc"),
        ('"""a\\"""b"""', 'a"""b'),
        ('"""a\\nb"""', "a\\nb"),
        ('"""a"""""', 'a""'),
        ('"""a""b"""', 'a""b'),
    ],
)
def test_a_block_string_loses_its_indentation(written: str, value: str):
    assert tokens(written)[0][:2] == (BLOCK_STRING, value)


def test_a_block_string_is_on_the_line_where_it_ends():
    assert tokens('"""a\r\nbc""" d') == [
        token(BLOCK_STRING, "a\nbc", 2, -2),
        token(NAME, "d", 2, 7),
        token(EOF, "", 2, 8),
    ]


@pytest.mark.parametrize(
    ("text", "column", "fault"),
    [
        ("a ?", 3, 'Cannot parse the unexpected character "?".'),
        ("é", 1, 'Cannot parse the unexpected character "Ã".'),
        ("..", 1, 'Cannot parse the unexpected character ".".'),
        ("'", 1, "Unexpected single quote character ('), did you mean to use a double quote (\")?"),
        ("\x07", 1, 'Cannot contain the invalid character "\\u0007"'),
        ("01", 2, 'Invalid number, unexpected digit after 0: "1".'),
        ("-a", 2, 'Invalid number, expected digit but got: "a".'),
        ("1.", 3, "Invalid number, expected digit but got: <EOF>."),
        ("1e+", 4, "Invalid number, expected digit but got: <EOF>."),
        ('"a', 3, "Unterminated string."),
        ('"\x02', 2, 'Invalid character within String: "\\u0002".'),
        ('"\\x"', 3, "Invalid character escape sequence: \\x."),
        ('"\\u00g0"', 3, "Invalid character escape sequence: \\u00g0."),
        ('"\\', 3, "Invalid character escape sequence."),
        ('"""a', 5, "Unterminated string."),
        ('"""\x02', 4, 'Invalid character within String: "\\u0002".'),
    ],
)
def test_what_is_no_token_is_the_last_one_and_says_why(text: str, column: int, fault: str):
    assert tokens(text)[-1] == token(INVALID, "", 1, column, fault)
