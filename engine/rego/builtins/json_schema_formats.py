"""The keyword `format` of JSON schemas: what OPA knows of it, with Go's idea of each."""

from __future__ import annotations

import re
from collections.abc import Callable
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Final

from engine.rego.builtins.go_url import BadUrl, Url, parse_url
from engine.rego.builtins.gotimeparse import parse_time
from engine.rego.builtins.regular_expressions import is_valid as is_pattern

_TIMES: Final = ("15:04:05Z07:00", "15:04:05")
_DATE: Final = "2006-01-02"
_MOMENTS: Final = (*_TIMES, _DATE, "2006-01-02T15:04:05Z07:00")

# Possessive: each of these takes what it can and never tries again.
_LABEL: Final = r"[a-zA-Z0-9](?:[a-zA-Z0-9\-]{0,61}[a-zA-Z0-9])?"
_HOSTNAME: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})*+")
_UUID: Final = re.compile(r"[a-fA-F0-9]{8}-(?:[a-fA-F0-9]{4}-){3}[a-fA-F0-9]{12}")
_POINTER: Final = re.compile(r"(?:/(?:[^~/]|~[01])*+)*+")
_RELATIVE_POINTER: Final = re.compile(r"(?:0|[1-9][0-9]*+)(?:#|(?:/(?:[^~/]|~[01])*+)*+)")
_TEMPLATE: Final = re.compile(r"(?:[^{]|\{[^}]*+\})*+")

_ATEXT: Final = r"[^\x00-\x20\x7f()<>\[\]:;@\\,\".]"
_DOT_ATOM: Final = rf"{_ATEXT}++(?:\.{_ATEXT}++)*+"
_QUOTED: Final = r"\"(?:[^\x00-\x08\x0a-\x1f\x7f\"\\]|\\[^\x00-\x08\x0a-\x1f\x7f])*+\""
_ADDRESS: Final = re.compile(rf"[ \t]*+(?:{_DOT_ATOM}|(?!\"\"){_QUOTED})@[ \t]*+(?:{_DOT_ATOM}|\[([^\[\]\\ ]*+)\])")
_PHRASE: Final = re.compile(rf"(?:(?:[ \t]++|(?:{_ATEXT}|\.)++|{_QUOTED}))*+")


def is_format(name: str, text: str) -> bool:
    """A format that nobody knows is met by everything."""
    check = _FORMATS.get(name)
    return check is None or check(text)


def _is_time_of(*layouts: str) -> Callable[[str], bool]:
    return lambda text: any(_parses(layout, text) for layout in layouts)


def _parses(layout: str, text: str) -> bool:
    try:
        parse_time(layout, text)
    except ValueError:
        return False
    return True


def _fully(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: pattern.fullmatch(text) is not None


def _is_hostname(text: str) -> bool:
    return len(text) < 256 and _HOSTNAME.fullmatch(text) is not None


def _is_ip(mark: str) -> Callable[[str], bool]:
    return lambda text: mark in text and _is_address(text)


def _is_address(text: str) -> bool:
    try:
        return IPv6Address(text).scope_id is None if ":" in text else bool(IPv4Address(text).packed)
    except AddressValueError:
        return False


def _url(text: str) -> Url | None:
    try:
        return None if "\\" in text else parse_url(text)
    except BadUrl:
        return None


def _is_uri(text: str) -> bool:
    url = _url(text)
    return url is not None and bool(url.scheme)


def _is_template(text: str) -> bool:
    url = _url(text)
    return url is not None and _TEMPLATE.fullmatch(url.path) is not None


def _is_email(text: str) -> bool:
    """One address of RFC 5322: bare, or in angle brackets behind a name, or the only one of a group."""
    end = _mailbox_end(text, 0)
    if end is None:
        name = _phrase_end(text, 0)
        end = _mailbox_end(text, name + 1) if text[name : name + 1] == ":" else None
        if end is None or text[end : end + 1] != ";":
            return False
        end = _comments_end(text, end + 1)
    return end == len(text)


def _mailbox_end(text: str, start: int) -> int | None:
    """Behind the address that begins here, and the comments after it."""
    bare = _ADDRESS.match(text, start)
    if bare is not None and _domain_holds(bare):
        return _comments_end(text, bare.end())
    opening = _phrase_end(text, start)
    angled = _ADDRESS.match(text, opening + 1) if text[opening : opening + 1] == "<" else None
    if angled is None or not _domain_holds(angled) or text[angled.end() : angled.end() + 1] != ">":
        return None
    return _comments_end(text, angled.end() + 1)


def _phrase_end(text: str, start: int) -> int:
    found = _PHRASE.match(text, start)
    return _comments_end(text, found.end() if found else start)


def _comments_end(text: str, start: int) -> int:
    """Behind blanks and comments, which may hold comments. One that does not end is none."""
    depth, end, at = 0, start, start
    while at < len(text) and (depth or text[at] in " \t("):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 2 if depth and text[at] == "\\" else 1
        end = at if not depth else end
    return end


def _domain_holds(address: re.Match[str]) -> bool:
    return address[1] is None or _is_address(address[1])


_FORMATS: Final[dict[str, Callable[[str], bool]]] = {
    "date": _is_time_of(_DATE),
    "time": _is_time_of(*_TIMES),
    "date-time": _is_time_of(*_MOMENTS),
    "hostname": _is_hostname,
    "email": _is_email,
    "idn-email": _is_email,
    "ipv4": _is_ip("."),
    "ipv6": _is_ip(":"),
    "uri": _is_uri,
    "iri": _is_uri,
    "uri-reference": lambda text: _url(text) is not None,
    "iri-reference": lambda text: _url(text) is not None,
    "uri-template": _is_template,
    "uuid": _fully(_UUID),
    "regex": is_pattern,
    "json-pointer": _fully(_POINTER),
    "relative-json-pointer": _fully(_RELATIVE_POINTER),
}
