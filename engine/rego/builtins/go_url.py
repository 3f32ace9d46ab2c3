"""URLs as Go's `net/url` takes them apart, writes them and resolves them.

Strings are Unicode here: an escape of bytes that are no UTF-8 is kept by its byte (`surrogateescape`), so that what is
written again is what was read.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, replace
from typing import Final

from engine.rego.builtins.go_text import quote

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_PORT: Final = re.compile(r"(?::[0-9]*)?")
_USERINFO: Final = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*")
_BAD_ESCAPE: Final = re.compile(r"%(?![0-9a-fA-F]{2})")
_ESCAPE: Final = re.compile(rb"%([0-9a-fA-F]{2})")
_UNRESERVED: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~")
_PLAIN: Final = {
    "path": _UNRESERVED | frozenset(b"$&+,/:;=@"),
    "user": _UNRESERVED | frozenset(b"$&+,;="),
    "host": _UNRESERVED | frozenset(b"!$&'()*+,;=:[]<>\""),
    "zone": _UNRESERVED | frozenset(b"!$&'()*+,;=:[]<>\""),
    "fragment": _UNRESERVED | frozenset(b"$&+,/:;=?@!()*"),
}
_ALWAYS_VALID: Final = frozenset(b"!$&'()*+,;=:@[]%")


class BadUrl(ValueError):
    """With Go's words."""


@dataclass(frozen=True, slots=True)
class Url:
    """The fields of Go's `url.URL`. `user` is written as it was meant, with its escapes."""

    scheme: str = ""
    opaque: str = ""
    user: str | None = None
    host: str = ""
    path: str = ""
    raw_path: str = ""
    omit_host: bool = False
    force_query: bool = False
    raw_query: str = ""
    fragment: str = ""
    raw_fragment: str = ""

    @property
    def escaped_path(self) -> str:
        if self.path == "*" and not self.raw_path:
            return "*"
        return _written(self.path, self.raw_path, "path")

    def __str__(self) -> str:
        text = f"{self.scheme}:" if self.scheme else ""
        text += self.opaque or self._hierarchy(bare=not text)
        if self.force_query or self.raw_query:
            text += "?" + self.raw_query
        return text + ("#" + _written(self.fragment, self.raw_fragment, "fragment") if self.fragment else "")

    def _hierarchy(self, *, bare: bool) -> str:
        authority = ""
        named = bool(self.host) or self.user is not None
        if named or (self.scheme and not self.omit_host and self.path):
            authority = "//" + (f"{self.user}@" if self.user is not None else "") + _escaped(self.host, "host")
        path = self.escaped_path
        if path and path[0] != "/" and self.host:
            return f"{authority}/{path}"
        if bare and not authority and ":" in path.partition("/")[0]:
            return f"./{path}"
        return authority + path

    def without_fragment(self) -> Url:
        return replace(self, fragment="", raw_fragment="")

    def resolve(self, reference: Url) -> Url:
        """RFC 3986: what `reference` means where this URL is the base."""
        scheme = reference.scheme or self.scheme
        if reference.scheme or reference.host or reference.user is not None:
            return _at_path(replace(reference, scheme=scheme), _resolved_path(reference.escaped_path, ""))
        if reference.opaque:
            return replace(reference, scheme=scheme, user=None, host="", path="")
        if not reference.path and not reference.force_query and not reference.raw_query:
            reference = replace(reference, raw_query=self.raw_query)
            if not reference.fragment:
                reference = replace(reference, fragment=self.fragment, raw_fragment=self.raw_fragment)
        if not reference.path and self.opaque:
            return replace(reference, scheme=scheme, opaque=self.opaque, user=None, host="", path="")
        found = replace(reference, scheme=scheme, host=self.host, user=self.user)
        return _at_path(found, _resolved_path(self.escaped_path, reference.escaped_path))


def parse_url(text: str) -> Url:
    """Raises BadUrl."""
    before, _, fragment = text.partition("#")
    try:
        url = _parsed(before)
    except BadUrl as error:
        raise BadUrl(f"parse {quote(before)}: {error}") from error
    if not fragment:
        return url
    try:
        plain = _unescaped(fragment, "fragment")
    except BadUrl as error:
        raise BadUrl(f"parse {quote(text)}: {error}") from error
    return replace(url, fragment=plain, raw_fragment="" if fragment == _escaped(plain, "fragment") else fragment)


def _parsed(text: str) -> Url:
    if _CONTROL.search(text):
        raise BadUrl("net/url: invalid control character in URL")
    if text == "*":
        return Url(path="*")
    if text.startswith(":"):
        raise BadUrl("missing protocol scheme")
    found = _SCHEME.match(text)
    scheme, rest = (found[1].lower(), text[found.end() :]) if found else ("", text)
    force_query = rest.endswith("?") and rest.count("?") == 1
    rest, _, query = rest.partition("?")
    url = Url(scheme=scheme, force_query=force_query, raw_query=query)
    if not rest.startswith("/"):
        if scheme:
            return replace(url, opaque=rest)
        if ":" in rest.partition("/")[0]:
            raise BadUrl("first path segment in URL cannot contain colon")
    if rest.startswith("//") and (scheme or not rest.startswith("///")):
        authority, slash, below = rest[2:].partition("/")
        user, host = _authority(scheme, authority)
        return _at_path(replace(url, user=user, host=host), slash + below)
    return _at_path(replace(url, omit_host=bool(scheme) and rest.startswith("/")), rest)


def _at_path(url: Url, escaped: str) -> Url:
    path = _unescaped(escaped, "path")
    return replace(url, path=path, raw_path="" if escaped == _escaped(path, "path") else escaped)


def _authority(scheme: str, text: str) -> tuple[str | None, str]:
    user, at, host = text.rpartition("@")
    host = _host(scheme, host)
    if not at:
        return None, host
    if not _USERINFO.fullmatch(user):
        raise BadUrl("net/url: invalid userinfo")
    name, colon, password = user.partition(":")
    parts = [_escaped(_unescaped(part, "user"), "user") for part in (name, password)]
    return parts[0] + (colon + parts[1] if colon else ""), host


def _host(scheme: str, text: str) -> str:
    opening = text.rfind("[")
    if opening > 0:
        raise BadUrl("invalid IP-literal")
    if opening == 0:
        return _bracketed(text)
    colon = text.find(":") if scheme in ("http", "https") else text.rfind(":")
    if colon >= 0:
        _check_port(text[colon:])
    return _unescaped(text, "host")


def _bracketed(text: str) -> str:
    inside, closing, port = text[1:].rpartition("]")
    if not closing:
        raise BadUrl("missing ']' in host")
    _check_port(port)
    address, mark, zone = inside.partition("%25")
    name = _unescaped(address, "host") + _unescaped(mark + zone, "zone")
    try:
        version = ipaddress.ip_address(name).version
    except ValueError as error:
        raise BadUrl(f"invalid host: ParseAddr({quote(name)}): unable to parse IP") from error
    if version == 4:
        raise BadUrl("invalid IP-literal")
    return f"[{name}]{_unescaped(port, 'host')}"


def _check_port(text: str) -> None:
    if not _PORT.fullmatch(text):
        raise BadUrl(f"invalid port {quote(text)} after host")


def _unescaped(text: str, where: str) -> str:
    if bad := _BAD_ESCAPE.search(text):
        raise BadUrl(f"invalid URL escape {quote(text[bad.start() : bad.start() + 3])}")
    raw = text.encode("utf-8", "surrogateescape")
    if where in ("host", "zone"):
        _check_host_bytes(raw, where)
    plain = _ESCAPE.sub(lambda found: bytes([int(found[1], 16)]), raw)
    return plain.decode("utf-8", "surrogateescape")


def _check_host_bytes(raw: bytes, where: str) -> None:
    for escape in _ESCAPE.finditer(raw):
        byte = int(escape[1], 16)
        in_zone = where == "zone" and (byte == 0x20 or byte in _PLAIN["host"])
        if escape[0] != b"%25" and not in_zone and (where == "zone" or byte < 0x80):
            raise BadUrl(f"invalid URL escape {quote(escape[0].decode())}")
    for byte in raw:
        if byte < 0x80 and byte != 0x25 and byte not in _PLAIN["host"]:
            raise BadUrl(f"invalid character {quote(chr(byte))} in host name")


def _escaped(text: str, where: str) -> str:
    plain = _PLAIN[where]
    raw = text.encode("utf-8", "surrogateescape")
    return "".join(chr(byte) if byte in plain else f"%{byte:02X}" for byte in raw)


def _written(plain: str, raw: str, where: str) -> str:
    """As it was written, if that is a right way to write it."""
    allowed = _PLAIN[where] | _ALWAYS_VALID
    if raw and all(byte in allowed for byte in raw.encode("utf-8", "surrogateescape")):
        return raw
    return _escaped(plain, where)


def _resolved_path(base: str, reference: str) -> str:
    if not reference:
        full = base
    elif reference.startswith("/"):
        full = reference
    else:
        full = base[: base.rfind("/") + 1] + reference
    if not full:
        return ""
    parts: list[str] = []
    for segment in full.split("/"):
        if segment == ".":
            parts = parts or [""]
        elif segment == "..":
            del parts[-1:]
            parts = [] if parts == [""] else parts
        else:
            parts.append(segment)
    text = "/".join(parts) + ("/" if segment in (".", "..") else "")
    return text if text.startswith("/") else f"/{text}"
