"""What the extensions of a certificate say: names, usages, constraints, policies."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address
from typing import Final

from engine.rego.builtins.go_text import quote
from engine.rego.builtins.go_url import BadUrl, Url, parse_url
from engine.rego.builtins.x509_certificate import Extension
from engine.rego.builtins.x509_der import BOOLEAN, INTEGER, OCTET_STRING, OID, SEQUENCE, Der, X509Fault, context, oid_of
from engine.rego.builtins.x509_keys import ObjectId

Subtree = tuple[bytes, bytes]
"""An address and its mask."""

USAGES: Final[dict[ObjectId, int]] = {
    (2, 5, 29, 37, 0): 0,
    **{(1, 3, 6, 1, 5, 5, 7, 3, number): number for number in range(1, 10)},
    (1, 3, 6, 1, 4, 1, 311, 10, 3, 3): 10,
    (2, 16, 840, 1, 113730, 4, 1): 11,
    (1, 3, 6, 1, 4, 1, 311, 2, 1, 22): 12,
    (1, 3, 6, 1, 4, 1, 311, 61, 1, 1): 13,
}
"""Go's numbers for extended usages of a key."""
ALTERNATIVE_NAMES: Final[ObjectId] = (2, 5, 29, 17)
NAME_CONSTRAINTS: Final[ObjectId] = (2, 5, 29, 30)
_INFORMATION_ACCESS: Final[ObjectId] = (1, 3, 6, 1, 5, 5, 7, 1, 1)
_MASK: Final = re.compile(rb"\xff*[\x00\x80\xc0\xe0\xf0\xf8\xfc\xfe]?\x00*")
_QUOTED_LOCAL: Final = re.compile(
    r'"((?:[\x01-\x08\x0b\x0c\x0e-\x1f !#-\[\]-\x7f]|\\[\x01-\x09\x0b\x0c\x0e-\x7f])*+)"@(.*)', re.DOTALL
)
_LOCAL: Final = re.compile(r"((?:[0-9a-zA-Z!#$%&'*+\-/=?^_`{|}~.]|\\.)++)@(.*)", re.DOTALL)


@dataclass(slots=True)
class AlternativeNames:
    dns: list[str] = field(default_factory=list)
    emails: list[str] = field(default_factory=list)
    addresses: list[bytes] = field(default_factory=list)
    uris: list[Url] = field(default_factory=list)


@dataclass(slots=True)
class Subtrees:
    dns: list[str] = field(default_factory=list)
    addresses: list[Subtree] = field(default_factory=list)
    emails: list[str] = field(default_factory=list)
    uris: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Meaning:
    """Of all extensions together. None where one is not there."""

    key_usage: int = 0
    is_ca: bool | None = None
    path_length: int = 0
    """-1: basic constraints without one. 0 also where there are no basic constraints."""
    names: AlternativeNames = field(default_factory=AlternativeNames)
    permitted: Subtrees = field(default_factory=Subtrees)
    excluded: Subtrees = field(default_factory=Subtrees)
    constraints_critical: bool = False
    revocation_lists: list[str] = field(default_factory=list)
    authority_key: bytes | None = None
    subject_key: bytes | None = None
    require_explicit_policy: int | None = None
    inhibit_policy_mapping: int | None = None
    inhibit_any_policy: int | None = None
    usages: list[int] = field(default_factory=list)
    unknown_usages: list[ObjectId] = field(default_factory=list)
    policies: list[ObjectId] | None = None
    policy_mappings: list[tuple[ObjectId, ObjectId]] = field(default_factory=list)
    status_servers: list[str] = field(default_factory=list)
    issuer_urls: list[str] = field(default_factory=list)
    unhandled: list[ObjectId] = field(default_factory=list)
    """Critical ones that nobody knows."""


def meaning_of(extensions: list[Extension]) -> Meaning:
    """Raises X509Fault."""
    meaning = Meaning()
    for extension in extensions:
        read = _READERS.get(extension.id)
        handled = read is not None and read(extension, meaning)
        if extension.critical and not handled:
            meaning.unhandled.append(extension.id)
    return meaning


def alternative_names(value: bytes) -> AlternativeNames:
    reader = Der(value).inside(SEQUENCE, "x509: invalid subject alternative names")
    names = AlternativeNames()
    while not reader.empty:
        tag, _, data = reader.element(None, "x509: invalid subject alternative name")
        if tag == context(1):
            names.emails.append(_ascii(data, "x509: SAN rfc822Name is malformed"))
        elif tag == context(2):
            names.dns.append(_ascii(data, "x509: SAN dNSName is malformed"))
        elif tag == context(6):
            names.uris.append(_uri(_ascii(data, "x509: SAN uniformResourceIdentifier is malformed")))
        elif tag == context(7):
            if len(data) not in (4, 16):
                raise X509Fault(f"x509: cannot parse IP address of length {len(data)}")
            names.addresses.append(data)
    return names


def is_domain(name: str, *, constraint: bool) -> bool:
    if not name:
        return True
    if constraint:
        name = name.removeprefix(".")
    return all(name.split(".")) and all("!" <= char <= "~" for char in name)


def mailbox(text: str) -> tuple[str, str] | None:
    """The local part and the domain; None if it is no address."""
    quoted = _QUOTED_LOCAL.fullmatch(text)
    found = quoted or (None if text.startswith('"') else _LOCAL.fullmatch(text))
    if found is None:
        return None
    local = re.sub(r"\\(.)", r"\1", found[1], flags=re.DOTALL)
    if quoted is None and (local.startswith(".") or local.endswith(".") or ".." in local):
        return None
    return (local, found[2]) if is_domain(found[2], constraint=False) else None


def _uri(text: str) -> Url:
    try:
        uri = parse_url(text)
    except BadUrl as error:
        raise X509Fault(f"x509: cannot parse URI {quote(text)}: {error}") from error
    if uri.host and not is_domain(uri.host, constraint=False):
        raise X509Fault(f"x509: cannot parse URI {quote(text)}: invalid domain")
    return uri


def _read_key_usage(extension: Extension, meaning: Meaning) -> bool:
    data, _ = Der(extension.value).bits("x509: invalid key usage")
    bits = "".join(f"{byte:08b}" for byte in data)[:9]
    meaning.key_usage = sum(1 << place for place, bit in enumerate(bits) if bit == "1")
    return True


def _read_basic_constraints(extension: Extension, meaning: Meaning) -> bool:
    fault = "x509: invalid basic constraints"
    reader = Der(extension.value).inside(SEQUENCE, fault)
    meaning.is_ca = reader.peek(BOOLEAN) and reader.boolean(fault)
    meaning.path_length = reader.integer(fault) if reader.peek(INTEGER) else -1
    if not -1 <= meaning.path_length < 2**63:
        raise X509Fault(fault)
    return True


def _read_alternative_names(extension: Extension, meaning: Meaning) -> bool:
    names = meaning.names = alternative_names(extension.value)
    return bool(names.dns or names.emails or names.addresses or names.uris)


def _read_name_constraints(extension: Extension, meaning: Meaning) -> bool:
    fault = "x509: invalid NameConstraints extension"
    outer = Der(extension.value)
    reader = outer.inside(SEQUENCE, fault)
    permitted = reader.optional(context(0, constructed=True), fault)
    excluded = reader.optional(context(1, constructed=True), fault)
    if not outer.empty or not reader.empty:
        raise X509Fault(fault)
    if not (permitted and permitted.data) and not (excluded and excluded.data):
        raise X509Fault("x509: empty name constraints extension")
    known = _read_subtrees(permitted, meaning.permitted, fault) & _read_subtrees(excluded, meaning.excluded, fault)
    meaning.constraints_critical = extension.critical
    return known


def _read_subtrees(reader: Der | None, made: Subtrees, fault: str) -> bool:
    known = True
    while reader is not None and not reader.empty:
        tag, _, data = reader.inside(SEQUENCE, fault).element(None, fault)
        if tag == context(7):
            made.addresses.append(_network(data))
        elif tag in (context(1), context(2), context(6)):
            _read_subtree(tag, _ascii(data, "x509: invalid constraint value: it is not ASCII"), made)
        else:
            known = False
    return known


def _read_subtree(tag: int, text: str, made: Subtrees) -> None:
    kind, values = {
        context(1): ("rfc822Name", made.emails),
        context(2): ("dnsName", made.dns),
        context(6): ("URI", made.uris),
    }[tag]
    if tag == context(6) and _is_address(text):
        raise X509Fault(f"x509: failed to parse URI constraint {quote(text)}: cannot be IP address")
    whole_address = tag == context(1) and "@" in text
    if mailbox(text) is None if whole_address else not is_domain(text, constraint=True):
        raise X509Fault(f"x509: failed to parse {kind} constraint {quote(text)}")
    values.append(text)


def _network(data: bytes) -> Subtree:
    if len(data) not in (8, 32):
        raise X509Fault(f"x509: IP constraint contained value of length {len(data)}")
    address, mask = data[: len(data) // 2], data[len(data) // 2 :]
    if not _MASK.fullmatch(mask):
        raise X509Fault(f"x509: IP constraint contained invalid mask {mask.hex()}")
    return address, mask


def _read_revocation_lists(extension: Extension, meaning: Meaning) -> bool:
    fault = "x509: invalid CRL distribution point"
    reader = Der(extension.value).inside(SEQUENCE, f"{fault}s")
    while not reader.empty:
        name = reader.inside(SEQUENCE, fault).optional(context(0, constructed=True), fault)
        if name is None:
            continue
        full = name.inside(context(0, constructed=True), fault)
        while full.peek(context(6)):
            meaning.revocation_lists.append(_loose(full.octets(context(6), fault)))
    return True


def _read_authority_key(extension: Extension, meaning: Meaning) -> bool:
    if extension.critical:
        raise X509Fault("x509: authority key identifier incorrectly marked critical")
    fault = "x509: invalid authority key identifier"
    reader = Der(extension.value).inside(SEQUENCE, fault)
    meaning.authority_key = reader.octets(context(0), fault) if reader.peek(context(0)) else None
    return True


def _read_subject_key(extension: Extension, meaning: Meaning) -> bool:
    if extension.critical:
        raise X509Fault("x509: subject key identifier incorrectly marked critical")
    meaning.subject_key = Der(extension.value).octets(OCTET_STRING, "x509: invalid subject key identifier")
    return True


def _read_policy_constraints(extension: Extension, meaning: Meaning) -> bool:
    fault = "x509: invalid policy constraints extension"
    reader = Der(extension.value).inside(SEQUENCE, fault)
    if reader.peek(context(0)):
        meaning.require_explicit_policy = reader.integer(fault, context(0))
    if reader.peek(context(1)):
        meaning.inhibit_policy_mapping = reader.integer(fault, context(1))
    return True


def _read_inhibit_any_policy(extension: Extension, meaning: Meaning) -> bool:
    meaning.inhibit_any_policy = Der(extension.value).integer("x509: invalid inhibit any policy extension")
    return True


def _read_usages(extension: Extension, meaning: Meaning) -> bool:
    fault = "x509: invalid extended key usages"
    reader = Der(extension.value).inside(SEQUENCE, fault)
    while not reader.empty:
        usage = reader.oid(fault)
        if usage in USAGES:
            meaning.usages.append(USAGES[usage])
        else:
            meaning.unknown_usages.append(usage)
    return True


def _read_policies(extension: Extension, meaning: Meaning) -> bool:
    fault = "x509: invalid certificate policies"
    reader = Der(extension.value).inside(SEQUENCE, fault)
    found: dict[ObjectId, None] = {}
    while not reader.empty:
        policy = reader.inside(SEQUENCE, fault).oid(fault)
        if policy in found:
            raise X509Fault(fault)
        found[policy] = None
    meaning.policies = list(found)
    return True


def _read_policy_mappings(extension: Extension, meaning: Meaning) -> bool:
    fault = "x509: invalid policy mappings extension"
    reader = Der(extension.value).inside(SEQUENCE, fault)
    while not reader.empty:
        pair = reader.inside(SEQUENCE, fault)
        issuer, subject = (oid_of(pair.octets(OID, fault), fault) for _ in range(2))
        meaning.policy_mappings.append((issuer, subject))
    return True


def _read_information_access(extension: Extension, meaning: Meaning) -> bool:
    if extension.critical:
        raise X509Fault("x509: authority info access incorrectly marked critical")
    fault = "x509: invalid authority info access"
    reader = Der(extension.value).inside(SEQUENCE, fault)
    while not reader.empty:
        access = reader.inside(SEQUENCE, fault)
        method = access.oid(fault)
        if not access.peek(context(6)):
            continue
        text = _loose(access.octets(context(6), fault))
        if method == (1, 3, 6, 1, 5, 5, 7, 48, 1):
            meaning.status_servers.append(text)
        elif method == (1, 3, 6, 1, 5, 5, 7, 48, 2):
            meaning.issuer_urls.append(text)
    return True


def _ascii(data: bytes, fault: str) -> str:
    try:
        return data.decode("ascii")
    except UnicodeDecodeError as error:
        raise X509Fault(fault) from error


def _loose(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _is_address(text: str) -> bool:
    try:
        return bool(IPv6Address(text).packed if ":" in text else IPv4Address(text).packed)
    except ValueError:
        return False


_READERS: Final[dict[ObjectId, Callable[[Extension, Meaning], bool]]] = {
    (2, 5, 29, 14): _read_subject_key,
    (2, 5, 29, 15): _read_key_usage,
    ALTERNATIVE_NAMES: _read_alternative_names,
    (2, 5, 29, 19): _read_basic_constraints,
    NAME_CONSTRAINTS: _read_name_constraints,
    (2, 5, 29, 31): _read_revocation_lists,
    (2, 5, 29, 32): _read_policies,
    (2, 5, 29, 33): _read_policy_mappings,
    (2, 5, 29, 35): _read_authority_key,
    (2, 5, 29, 36): _read_policy_constraints,
    (2, 5, 29, 37): _read_usages,
    (2, 5, 29, 54): _read_inhibit_any_policy,
    _INFORMATION_ACCESS: _read_information_access,
}
"""Each says whether it understood all of it."""
