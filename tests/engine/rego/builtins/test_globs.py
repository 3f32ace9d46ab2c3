from __future__ import annotations

import pytest

from engine.rego.builtins.globs import match, quote_meta


@pytest.mark.parametrize(
    ("glob", "delimiters", "text", "matches"),
    [
        ("*.github.com", ["."], "api.github.com", True),
        ("*.github.com", ["."], "cdn.api.github.com", False),
        ("api.**.com", ["."], "api.cdn.github.com", True),
        ("*", [], "foo.bar", False),
        ("*", None, "foo.bar", True),
        ("{cat,bat,[fr]at}", [], "rat", True),
        ("[!abc]at", [], "cat", False),
        ("?at", ["f"], "fat", False),
    ],
)
def test_a_glob_matches_as_opas_does(glob: str, delimiters: list[str] | None, text: str, matches: bool):
    assert match(glob, delimiters, text) is matches


def test_many_stars_are_quick():
    assert match("*a" * 60 + "b", None, "a" * 20_000) is False


def test_a_quoted_pattern_matches_itself():
    text = "a*[b]{c}?\\"
    assert match(quote_meta(text), None, text) is True
