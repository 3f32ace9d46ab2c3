"""URLs, taken apart, written again and resolved as Go does it."""

from __future__ import annotations

import pytest

from engine.rego.builtins.go_url import BadUrl, Url, parse_url


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("", Url()),
        ("*", Url(path="*")),
        ("HTTP://h/p?q#f", Url(scheme="http", host="h", path="/p", raw_query="q", fragment="f")),
        ("mailto:a@b", Url(scheme="mailto", opaque="a@b")),
        ("http://u:p%40@h:8/", Url(scheme="http", user="u:p%40", host="h:8", path="/")),
        ("http://h/a%2Fb", Url(scheme="http", host="h", path="/a/b", raw_path="/a%2Fb")),
        ("file:/x", Url(scheme="file", path="/x", omit_host=True)),
        ("x?", Url(path="x", force_query=True)),
        ("#a%2Fb", Url(fragment="a/b", raw_fragment="a%2Fb")),
        ("http://[fe80::1%25en0]:8", Url(scheme="http", host="[fe80::1%en0]:8")),
    ],
)
def test_a_url_is_taken_apart_and_written_as_it_was(text: str, url: Url):
    assert parse_url(text) == url
    assert str(url) == text.replace("HTTP", "http").replace("%zz", "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (":x", 'parse ":x": missing protocol scheme'),
        ("1:2", 'parse "1:2": first path segment in URL cannot contain colon'),
        ("http://a b", 'parse "http://a b": invalid character " " in host name'),
        ("http://h/%zz", 'parse "http://h/%zz": invalid URL escape "%zz"'),
        ("http://h:x/", 'parse "http://h:x/": invalid port ":x" after host'),
        ("http://[::1", "parse \"http://[::1\": missing ']' in host"),
        ("http://[1.2.3.4]", 'parse "http://[1.2.3.4]": invalid IP-literal'),
        ("http://%41/", 'parse "http://%41/": invalid URL escape "%41"'),
        ("a\nb", 'parse "a\\nb": net/url: invalid control character in URL'),
    ],
)
def test_what_is_no_url_is_told_with_gos_words(text: str, message: str):
    with pytest.raises(BadUrl) as caught:
        parse_url(text)
    assert str(caught.value) == message


# The examples of RFC 3986, 5.4.
@pytest.mark.parametrize(
    ("reference", "resolved"),
    [
        ("g:h", "g:h"),
        ("g", "http://a/b/c/g"),
        ("./g", "http://a/b/c/g"),
        ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"),
        ("//g", "http://g"),
        ("?y", "http://a/b/c/d;p?y"),
        ("g?y#s", "http://a/b/c/g?y#s"),
        ("#s", "http://a/b/c/d;p?q#s"),
        ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"),
        ("..", "http://a/b/"),
        ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"),
        ("./../g", "http://a/b/g"),
        ("g/../h", "http://a/b/c/h"),
    ],
)
def test_a_reference_is_resolved_against_its_base(reference: str, resolved: str):
    assert str(parse_url("http://a/b/c/d;p?q").resolve(parse_url(reference))) == resolved


def test_a_long_path_of_steps_up_and_down_takes_no_long_time():
    path = "a/" * 100_000 + "../" * 100_000
    assert str(parse_url("http://h/").resolve(parse_url(path))) == "http://h/"
