"""URIs, taken apart as Go does it: `uri.parse`, `uri.is_valid`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from engine.rego.builtins.operands import operand_string
from engine.rego.builtins.registry import builtin
from engine.rego.errors import BuiltinError
from engine.rego.values import Value

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_ESCAPE: Final = re.compile(r"%([0-9a-fA-F]{2})?")
_USERINFO: Final = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*")
_HOST: Final = re.compile(r"(?:[A-Za-z0-9\-._~!$&'()*+,;=:\[\]<>\"%]|[^\x00-\x7f])*")
_PORT: Final = re.compile(r"(?::[0-9]*)?")
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_PLAIN_IN_PATH: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~$&+,/:;=@")


class _BadUri(Exception):
    pass


@dataclass(slots=True)
class _Uri:
    scheme: str = ""
    hostname: str = ""
    port: str = ""
    path: str = ""
    raw_path: str = ""
    raw_query: str = ""
    fragment: str = ""


@builtin("uri.parse")
def parse(text: Value) -> dict[str, str]:
    try:
        found = _parsed(operand_string("uri.parse", 1, text))
    except _BadUri as error:
        raise BuiltinError(f"uri.parse: {error}") from error
    names = ("scheme", "hostname", "port", "path", "raw_path", "raw_query", "fragment")
    return {name: value for name in names if (value := getattr(found, name))}


@builtin("uri.is_valid")
def is_valid(text: Value) -> bool:
    try:
        _parsed(operand_string("uri.is_valid", 1, text))
    except _BadUri:
        return False
    return True


def _parsed(text: str) -> _Uri:
    if not text or _CONTROL.search(text):
        raise _BadUri("empty url or invalid control character in URL")
    uri = _Uri()
    rest, _, fragment = text.partition("#")
    uri.fragment = _unescaped(fragment)
    found = _SCHEME.match(rest)
    if found:
        uri.scheme, rest = found[1].lower(), rest[found.end() :]
    rest, _, uri.raw_query = rest.partition("?")
    if not rest.startswith("/"):
        if uri.scheme:  # opaque: `mailto:someone`
            return uri
        if ":" in rest.partition("/")[0]:
            raise _BadUri("first path segment in URL cannot contain colon")
    if rest.startswith("//"):
        authority, slash, below = rest[2:].partition("/")
        uri.hostname, uri.port = _authority(authority)
        rest = slash + below
    uri.path = _unescaped(rest)
    uri.raw_path = uri.path if rest == _escaped(uri.path) else rest
    return uri


def _authority(text: str) -> tuple[str, str]:
    userinfo, at, host = text.rpartition("@")
    if at and not _USERINFO.fullmatch(userinfo):
        raise _BadUri("net/url: invalid userinfo")
    _unescaped(userinfo)
    if host.startswith("["):
        inside, bracket, port = host.rpartition("]")
        if not bracket or not _PORT.fullmatch(port):
            raise _BadUri("missing ']' in host, or invalid port after it")
        return _unescaped(inside[1:], "host"), port[1:]
    name, colon, port = host.rpartition(":")
    if colon and not _PORT.fullmatch(colon + port):
        raise _BadUri(f"invalid port {colon + port!r} after host")
    name = name if colon else host
    if not _HOST.fullmatch(name):
        raise _BadUri("invalid character in host name")
    return _unescaped(name, "host"), port if colon else ""


def _unescaped(text: str, where: str = "path") -> str:
    for escape in _ESCAPE.finditer(text):
        if escape[1] is None or (where == "host" and int(escape[1], 16) < 0x80 and escape[0] != "%25"):
            raise _BadUri(f"invalid URL escape {text[escape.start() : escape.start() + 3]!r}")
    raw = re.sub(rb"%([0-9a-fA-F]{2})", lambda found: bytes([int(found[1], 16)]), text.encode(errors="replace"))
    return raw.decode(errors="replace")


def _escaped(path: str) -> str:
    return "".join(chr(byte) if byte in _PLAIN_IN_PATH else f"%{byte:02X}" for byte in path.encode(errors="replace"))
