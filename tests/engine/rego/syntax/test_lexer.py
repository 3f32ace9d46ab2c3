from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.rego.syntax.lexer import Comment, Token, tokenize


def kinds(source: str) -> list[tuple[str, str]]:
    return [(token.kind, token.text) for token in tokenize(source)[0][:-1]]


def test_a_token_knows_its_place_and_what_is_before_it():
    tokens, _ = tokenize("a :=\n  é.b")

    assert tokens == [
        Token("identifier", "a", 1, 1, 0, 1, False, False),
        Token(":=", ":=", 1, 3, 2, 4, True, False),
        Token("illegal", "é", 2, 3, 7, 8, True, True),
        Token(".", ".", 2, 4, 8, 9, False, False),
        Token("identifier", "b", 2, 5, 9, 10, False, False),
        Token("eof", "", 2, 5, 10, 10, False, False),
    ]


def test_a_comment_is_kept_with_its_place_and_the_token_after_it():
    tokens, comments = tokenize("# one\r\na # two\nb#three")

    assert comments == [Comment(" one", 1, 1, 0), Comment(" two", 2, 3, 1), Comment("three", 3, 2, 2)]
    assert [(token.text, token.starts_line) for token in tokens] == [("a", True), ("b", True), ("", False)]


def test_rows_go_on_counting_after_a_raw_string():
    tokens, _ = tokenize("`a\nb` c\nd")

    assert [(token.text, token.row, token.col) for token in tokens] == [
        ("`a\nb`", 1, 1),
        ("c", 2, 4),
        ("d", 3, 1),
        ("", 3, 1),
    ]


def test_signs_are_the_longest_ones():
    assert [kind for kind, _ in kinds(":= : == = != < <= > >= |&+-*/%;.,")] == (
        [":=", ":", "==", "=", "!=", "<", "<=", ">", ">=", "|", "&", "+", "-", "*", "/", "%", ";", ".", ","]
    )


def test_keywords_are_kinds_but_and_and_or_are_names():
    assert [kind for kind, _ in kinds("if contains in every and or iffy")] == (
        ["if", "contains", "in", "every", "identifier", "identifier", "identifier"]
    )


def test_a_template_string_ends_where_its_own_braces_close():
    assert kinds('$"a{ {1: $"b{x}"}[1] }c\\{" y') == [
        ("template-string-part", "a"), ("{", "{"), ("number", "1"), (":", ":"), ("template-string-part", "b"),
        ("identifier", "x"), ("}", "}"), ("template-string-end", ""), ("}", "}"), ("[", "["), ("number", "1"),
        ("]", "]"), ("}", "}"), ("template-string-end", "c\\{"), ("identifier", "y"),
    ]  # fmt: skip


def test_a_raw_template_string_may_have_lines():
    tokens, _ = tokenize("$`a\n{x}\n` y")

    assert [(token.kind, token.row, token.col) for token in tokens] == [
        ("raw-template-string-part", 1, 1),
        ("identifier", 2, 2),
        ("}", 2, 3),
        ("raw-template-string-end", 2, 4),
        ("identifier", 3, 3),
        ("eof", 3, 3),
    ]


@pytest.mark.parametrize(
    ("source", "faults"),
    [
        ('"a', ("non-terminated string",)),
        ('"a\nb', ("non-terminated string",)),
        ('"\\q\\w"', ("illegal escape sequence", "illegal escape sequence")),
        ("`a", ("non-terminated string",)),
        ('$"a', ("non-terminated string",)),
        ('$"\\q"', ("illegal escape sequence",)),
        ("1.", ("expected fraction",)),
        ("1e+", ("expected exponent",)),
        ("1.ex", ("expected fraction", "expected exponent", "illegal number format")),
        ("0x1", ("illegal number format",)),
        ("!", ("illegal ! character",)),
        ("$", ("illegal $ character",)),
        ("\u00a0", ("illegal non-breaking space character, use a regular space instead",)),
        ("a\x00", ("illegal null character",)),
        ("a\ufeff", ("illegal byte-order mark",)),
    ],
)
def test_a_fault_of_the_text_is_on_its_token(source: str, faults: tuple[str, ...]):
    token = tokenize(source)[0][0]

    assert (token.kind, token.faults) == ("illegal", faults)


def test_a_byte_order_mark_is_skipped_at_the_start():
    assert tokenize("\ufeffa")[0][0][:4] == ("identifier", "a", 1, 2)


@given(st.text(alphabet=st.sampled_from('ab1.e"`$\\{}[]()#\n\r\t u=:!é\x00\ufeff'), max_size=60))
def test_tokens_and_comments_cover_the_text_in_order(source: str):
    tokens, _ = tokenize(source)

    ends = [0, *(token.end for token in tokens)]
    assert all(end <= token.start <= token.end for end, token in zip(ends, tokens, strict=False))
    for token in tokens[:-1]:
        line = source.split("\n")[token.row - 1]
        assert line.startswith(source[token.start : token.end].split("\n", 1)[0], token.col - 1)
    assert tokens[-1].kind == "eof"
