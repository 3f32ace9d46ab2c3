"""X.509 certificates and requests, read from DER with Go's idea of what is right.

Not here: their keys (x509_keys), what their extensions say (x509_extensions), whether to trust them (x509_verify).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

from engine.rego.builtins.x509_der import (
    BOOLEAN,
    GENERALIZED_TIME,
    OCTET_STRING,
    SEQUENCE,
    SET,
    UTC_TIME,
    Der,
    X509Fault,
    context,
    right_aligned,
)
from engine.rego.builtins.x509_keys import KeyInfo, ObjectId, parse_key_info, signature_algorithm_of

_EXTENSION_REQUEST: Final[ObjectId] = (1, 2, 840, 113549, 1, 9, 14)
_STRINGS: Final = (0x0C, 0x12, 0x13, 0x14, 0x16, 0x1E)
"""Tags of text."""
_PRINTABLE: Final = re.compile(rb"[a-zA-Z0-9'()+,\-./ :=?*&]*")
_NUMERIC: Final = re.compile(rb"[0-9 ]*")
_TIMES: Final = {
    2: re.compile(r"([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})?(Z|[+-][0-9]{4})"),
    4: re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})(Z|[+-][0-9]{4})"),
}
"""By the digits of the year."""


@dataclass(frozen=True, slots=True)
class Extension:
    id: ObjectId
    critical: bool
    value: bytes


@dataclass(frozen=True, slots=True)
class Name:
    raw: bytes
    attributes: tuple[tuple[ObjectId, str | None], ...]
    """None: a value that is no text, which only a request may have."""


@dataclass(slots=True)
class Certificate:
    raw: bytes
    tbs: bytes
    version: int
    serial: int
    signature_algorithm: int
    signature: bytes
    issuer: Name
    subject: Name
    not_before: datetime
    not_after: datetime
    key: KeyInfo
    extensions: list[Extension] = field(default_factory=list)


@dataclass(slots=True)
class Request:
    raw: bytes
    tbs: bytes
    version: int
    signature_algorithm: int
    signature: bytes
    subject: Name
    key: KeyInfo
    attributes: list[tuple[ObjectId, list[list[tuple[ObjectId, bytes | str]]]]] = field(default_factory=list)
    extensions: list[Extension] = field(default_factory=list)


def parse_certificates(data: bytes) -> list[Certificate]:
    """One after the other. Raises X509Fault."""
    reader = Der(data)
    made: list[Certificate] = []
    while not reader.empty:
        made.append(_certificate(reader))
    return made


def parse_certificate(data: bytes) -> Certificate:
    reader = Der(data)
    made = _certificate(reader)
    if not reader.empty:
        raise X509Fault("x509: trailing data")
    return made


def parse_request(data: bytes) -> Request:
    fault = "asn1: structure error: tags don't match, or a part is missing"
    reader = Der(data)
    _, raw, inside = reader.element(SEQUENCE, fault)
    if not reader.empty:
        raise X509Fault("asn1: syntax error: trailing data")
    outer = Der(inside)
    _, tbs, body = outer.element(SEQUENCE, fault)
    algorithm = signature_algorithm_of(outer.octets(SEQUENCE, fault), fault)
    signature = right_aligned(*outer.bits(fault))
    inner = Der(body)
    version = inner.integer(fault)
    subject = parse_name(inner.element(SEQUENCE, fault)[1], loose=True)
    key = parse_key_info(inner.element(SEQUENCE, fault)[1])
    made = Request(raw, tbs, version, algorithm, signature, subject, key)
    _read_attributes(inner, made)
    return made


def parse_name(raw: bytes, *, loose: bool = False) -> Name:
    fault = "x509: invalid RDNSequence"
    sequence = Der(raw).inside(SEQUENCE, fault)
    attributes: list[tuple[ObjectId, str | None]] = []
    while not sequence.empty:
        group = sequence.inside(SET, fault)
        while not group.empty:
            attribute = group.inside(SEQUENCE, f"{fault}: invalid attribute")
            kind = attribute.oid(f"{fault}: invalid attribute type")
            tag, _, value = attribute.element(None, f"{fault}: invalid attribute value")
            try:
                attributes.append((kind, None if loose and tag not in _STRINGS else string_of(tag, value)))
            except X509Fault as error:
                raise X509Fault(f"{fault}: invalid attribute value: {error}") from error
    return Name(raw, tuple(attributes))


def string_of(tag: int, value: bytes) -> str:
    if tag == 0x14:  # T.61, which everybody takes for Latin-1
        return value.decode("latin-1")
    if tag == 0x0C:
        return _checked(value, "utf-8", "invalid UTF-8 string")
    if tag == 0x13:
        return _matching(value, _PRINTABLE, "invalid PrintableString")
    if tag == 0x16:
        return _checked(value, "ascii", "invalid IA5String")
    if tag == 0x12:
        return _matching(value, _NUMERIC, "invalid NumericString")
    if tag == 0x1E:
        return _bmp_string(value)
    raise X509Fault(f"unsupported string type: {tag}")


def _certificate(reader: Der) -> Certificate:
    _, raw, inside = reader.element(SEQUENCE, "x509: malformed certificate")
    outer = Der(inside)
    _, tbs, body = outer.element(SEQUENCE, "x509: malformed tbs certificate")
    inner = Der(body)
    version = _version(inner)
    serial = inner.integer("x509: malformed serial number")
    if serial < 0:
        raise X509Fault("x509: negative serial number")
    algorithm = inner.octets(SEQUENCE, "x509: malformed signature algorithm identifier")
    if outer.octets(SEQUENCE, "x509: malformed algorithm identifier") != algorithm:
        raise X509Fault("x509: inner and outer signature algorithm identifiers don't match")
    signature_algorithm = signature_algorithm_of(algorithm, "x509: malformed OID")
    issuer = parse_name(inner.element(SEQUENCE, "x509: malformed issuer")[1])
    validity = inner.inside(SEQUENCE, "x509: malformed validity")
    not_before, not_after = _time(validity), _time(validity)
    subject = parse_name(inner.element(SEQUENCE, "x509: malformed issuer")[1])
    key = parse_key_info(inner.element(SEQUENCE, "x509: malformed spki")[1])
    extensions = _extensions(inner, version)
    signature = right_aligned(*outer.bits("x509: malformed signature"))
    made = Certificate(
        raw, tbs, version, serial, signature_algorithm, signature, issuer, subject, not_before, not_after, key
    )
    made.extensions = extensions
    return made


def _version(inner: Der) -> int:
    wrapped = inner.optional(context(0, constructed=True), "x509: malformed version")
    version = 1 + (wrapped.integer("x509: malformed version") if wrapped else 0)
    if version < 1:
        raise X509Fault("x509: malformed version")
    if version > 3:
        raise X509Fault("x509: invalid version")
    return version


def _extensions(inner: Der, version: int) -> list[Extension]:
    if version > 1:
        inner.optional(context(1), "x509: malformed issuerUniqueID")
        inner.optional(context(2), "x509: malformed subjectUniqueID")
    wrapped = inner.optional(context(3, constructed=True), "x509: malformed extensions") if version == 3 else None
    if wrapped is None:
        return []
    sequence = wrapped.inside(SEQUENCE, "x509: malformed extensions")
    made: dict[ObjectId, Extension] = {}
    while not sequence.empty:
        one = _extension(sequence.inside(SEQUENCE, "x509: malformed extension"))
        if one.id in made:
            shown = ".".join(map(str, one.id))
            raise X509Fault(f'x509: certificate contains duplicate extension with OID "{shown}"')
        made[one.id] = one
    return list(made.values())


def _extension(reader: Der) -> Extension:
    kind = reader.oid("x509: malformed extension OID field")
    critical = reader.peek(BOOLEAN) and reader.boolean("x509: malformed extension critical field")
    return Extension(kind, critical, reader.octets(OCTET_STRING, "x509: malformed extension value field"))


def _read_attributes(inner: Der, made: Request) -> None:
    fault = "asn1: structure error: tags don't match, or a part is missing"
    attributes = inner.inside(context(0, constructed=True), fault)
    while not attributes.empty:
        found = _attribute(attributes.element(None, fault)[1])
        if found is None:
            continue
        kind, values = found
        shown = _attribute_values(values)
        if shown is not None:
            made.attributes.append((kind, shown))
        if kind == _EXTENSION_REQUEST and values:
            _read_requested(Der(values).inside(SEQUENCE, fault), made, fault)


def _attribute(data: bytes) -> tuple[ObjectId, bytes] | None:
    """Its type and its values; what is not made so does not count."""
    try:
        reader = Der(data).inside(SEQUENCE, "")
        return reader.oid(""), reader.octets(SET, "")
    except X509Fault:
        return None


def _read_requested(sequence: Der, made: Request, fault: str) -> None:
    known = {other.id for other in made.extensions}
    while not sequence.empty:
        one = _extension(sequence.inside(SEQUENCE, fault))
        if one.id in known:
            raise X509Fault("x509: certificate request contains duplicate requested extensions")
        known.add(one.id)
        made.extensions.append(one)


def _attribute_values(values: bytes) -> list[list[tuple[ObjectId, bytes | str]]] | None:
    """Sets of sequences of a type and a value; None for what is made otherwise, as a challenge password is."""
    reader, made = Der(values), []
    try:
        while not reader.empty:
            sequence, pairs = reader.inside(SEQUENCE, ""), []
            while not sequence.empty:
                pair = sequence.inside(SEQUENCE, "")
                kind = pair.oid("")
                tag, _, value = pair.element(None, "")
                pairs.append((kind, value if tag == OCTET_STRING else string_of(tag, value)))
                if not pair.empty:
                    return None
            made.append(pairs)
    except X509Fault:
        return None
    return made


def _time(reader: Der) -> datetime:
    if reader.peek(UTC_TIME):
        return _moment(reader.octets(UTC_TIME, ""), 2, "x509: malformed UTCTime")
    if reader.peek(GENERALIZED_TIME):
        return _moment(reader.octets(GENERALIZED_TIME, ""), 4, "x509: malformed GeneralizedTime")
    raise X509Fault("x509: unsupported time format")


def _moment(data: bytes, digits: int, fault: str) -> datetime:
    found = _TIMES[digits].fullmatch(data.decode("ascii", "replace"))
    if found is None:
        raise X509Fault(fault)
    year = int(found[1])
    if digits == 2:
        year += 1900 if year >= 50 else 2000
    try:
        month, day, hour, minute, second = (int(part or 0) for part in found.groups()[1:6])
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError as error:
        raise X509Fault(fault) from error
    zone = found[7]
    if zone == "Z":
        return moment
    offset = timedelta(hours=int(zone[1:3]), minutes=int(zone[3:]))
    if not offset or offset >= timedelta(days=1) or int(zone[3:]) > 59:
        raise X509Fault(fault)
    return moment.replace(tzinfo=timezone(offset if zone[0] == "+" else -offset))


def _checked(value: bytes, encoding: str, fault: str) -> str:
    try:
        return value.decode(encoding)
    except UnicodeDecodeError as error:
        raise X509Fault(fault) from error


def _matching(value: bytes, pattern: re.Pattern[bytes], fault: str) -> str:
    if not pattern.fullmatch(value):
        raise X509Fault(fault)
    return value.decode("ascii")


def _bmp_string(value: bytes) -> str:
    if len(value) % 2:
        raise X509Fault("invalid BMPString")
    points = [int.from_bytes(value[at : at + 2]) for at in range(0, len(value), 2)]
    points = points[:-1] if points and not points[-1] else points
    if any(point >= 0xFFFE or 0xFDD0 <= point <= 0xFDEF or 0xD800 <= point <= 0xDFFF for point in points):
        raise X509Fault("invalid BMPString")
    return "".join(map(chr, points))
