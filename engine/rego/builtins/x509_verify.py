"""Whether a certificate can be traced to a root, as Go decides it: signatures, validity, usages, constraints, policies.

Nothing is looked up: whether a certificate was revoked, nobody asks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.serialization import load_der_public_key

from engine.rego.builtins.x509_certificate import Certificate
from engine.rego.builtins.x509_constraints import constraints_hold
from engine.rego.builtins.x509_extensions import ALTERNATIVE_NAMES, Meaning
from engine.rego.builtins.x509_policies import policies_hold

MAX_SIGNATURES: Final = 100
"""Go's own bound on the signatures that are checked for one chain."""
SERVER: Final = 1
ANY_USAGE: Final = 0
_MIN_RSA_BITS: Final = 1024
_CERT_SIGN: Final = 1 << 5
_HASHES: Final[dict[int, hashes.HashAlgorithm]] = {
    4: hashes.SHA256(), 5: hashes.SHA384(), 6: hashes.SHA512(), 10: hashes.SHA256(), 11: hashes.SHA384(),
    12: hashes.SHA512(), 13: hashes.SHA256(), 14: hashes.SHA384(), 15: hashes.SHA512(),
}  # fmt: skip
"""By Go's numbers for ways to sign. Those with MD5 or SHA-1 prove nothing."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Parsed:
    certificate: Certificate
    meaning: Meaning


@dataclass(frozen=True, slots=True)
class Wanted:
    time_ns: int
    dns_name: str = ""
    usages: tuple[int, ...] = ()
    """One of them has to be allowed; none stands for SERVER."""


class Untrusted(Exception):
    """No chain leads to the root."""


def verified_chain(parsed: list[Parsed], wanted: Wanted) -> list[Parsed]:
    """From the last, the leaf, to the first, the root; those between may be used. Raises Untrusted."""
    if len(parsed) < 2:
        raise Untrusted
    root, *intermediates, leaf = parsed
    search = _Search(root, _unique(intermediates), wanted)
    if not search.is_valid(leaf, []) or (wanted.dns_name and not _is_named(leaf.meaning, wanted.dns_name)):
        raise Untrusted
    chains = [[leaf]] if leaf.certificate.raw == root.certificate.raw else search.chains([leaf])
    for chain in chains:
        if _is_acceptable(chain, wanted.usages or (SERVER,)):
            return chain
    raise Untrusted


@dataclass(slots=True)
class _Search:
    root: Parsed
    intermediates: list[Parsed]
    wanted: Wanted
    signatures: int = field(default=0)

    def chains(self, chain: list[Parsed]) -> list[list[Parsed]]:
        child = chain[-1]
        roots = _by_plausibility(child, [self.root])
        found = [[*chain, root] for root in roots if self._issued(root, child, chain, is_root=True)]
        for parent in _by_plausibility(child, self.intermediates):
            if self._issued(parent, child, chain, is_root=False):
                found += self.chains([*chain, parent])
        return found

    def _issued(self, parent: Parsed, child: Parsed, chain: list[Parsed], *, is_root: bool) -> bool:
        self.signatures += 1
        if self.signatures > MAX_SIGNATURES or parent.certificate.key.key is None or _is_in(parent, chain):
            return False
        if not _may_sign(parent) or not _signature_holds(child.certificate, parent.certificate):
            return False
        return (is_root or bool(parent.meaning.is_ca)) and self.is_valid(parent, chain)

    def is_valid(self, one: Parsed, chain: list[Parsed]) -> bool:
        """At the end of this chain: known in all that is critical, in time, and not too far from the leaf."""
        meaning, certificate = one.meaning, one.certificate
        if meaning.unhandled:
            return False
        if not _ns(certificate.not_before) <= self.wanted.time_ns <= _ns(certificate.not_after):
            return False
        return meaning.is_ca is None or meaning.path_length < 0 or len(chain) - 1 <= meaning.path_length


def _ns(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(seconds=1) * 1_000_000_000


def _by_plausibility(child: Parsed, candidates: list[Parsed]) -> list[Parsed]:
    """First those whose key has the identifier that the child names."""
    named = [one for one in candidates if one.certificate.subject.raw == child.certificate.issuer.raw]
    wanted = child.meaning.authority_key or b""

    def rank(one: Parsed) -> int:
        own = one.meaning.subject_key or b""
        return 0 if own == wanted else 1 if not own or not wanted else 2

    return sorted(named, key=rank)


def _unique(parsed: list[Parsed]) -> list[Parsed]:
    return list({one.certificate.raw: one for one in reversed(parsed)}.values())[::-1]


def _is_in(one: Parsed, chain: list[Parsed]) -> bool:
    """The same name and key again, with the same alternative names, leads nowhere."""
    own = _alternative_names(one)
    for other in chain:
        same_name = other.certificate.subject.raw == one.certificate.subject.raw
        if same_name and other.certificate.key.raw == one.certificate.key.raw:
            others = _alternative_names(other)
            if own == others:
                return True
            if own is None or others is None:
                return False
    return False


def _alternative_names(one: Parsed) -> bytes | None:
    return next((each.value for each in one.certificate.extensions if each.id == ALTERNATIVE_NAMES), None)


def _may_sign(parent: Parsed) -> bool:
    meaning = parent.meaning
    if meaning.is_ca is False or (parent.certificate.version == 3 and meaning.is_ca is None):
        return False
    return not meaning.key_usage or bool(meaning.key_usage & _CERT_SIGN)


def _signature_holds(child: Certificate, parent: Certificate) -> bool:
    try:
        key = load_der_public_key(parent.key.raw)
        algorithm, digest = child.signature_algorithm, _HASHES.get(child.signature_algorithm)
        if isinstance(key, ed25519.Ed25519PublicKey) and algorithm == 16:
            key.verify(child.signature, child.tbs)
        elif isinstance(key, ec.EllipticCurvePublicKey) and digest and algorithm in (10, 11, 12):
            key.verify(child.signature, child.tbs, ec.ECDSA(digest))
        elif isinstance(key, rsa.RSAPublicKey) and digest and algorithm not in (10, 11, 12):
            if key.key_size < _MIN_RSA_BITS:
                return False
            key.verify(child.signature, child.tbs, _padding(algorithm, digest), digest)
        else:
            return False
    except (InvalidSignature, UnsupportedAlgorithm, ValueError):
        return False
    return True


def _padding(algorithm: int, digest: hashes.HashAlgorithm) -> padding.AsymmetricPadding:
    if algorithm < 13:
        return padding.PKCS1v15()
    return padding.PSS(padding.MGF1(digest), padding.PSS.DIGEST_LENGTH)


def _is_named(meaning: Meaning, host: str) -> bool:
    bare = host[1:-1] if len(host) >= 3 and host[0] == "[" and host[-1] == "]" else host
    address = _address(bare)
    if address is not None:
        return any(_plain(ip_address(one)) == address for one in meaning.names.addresses)
    name = _lower(host)
    return any(_matches(pattern, name) for pattern in meaning.names.dns)


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return None if "%" in text else _plain(ip_address(text))
    except ValueError:
        return None


def _plain(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address


def _matches(pattern: str, name: str) -> bool:
    if not _is_hostname(name.removesuffix("."), pattern=False) or not _is_hostname(pattern, pattern=True):
        return pattern not in ("", ".") and name not in ("", ".") and _lower(pattern) == name
    parts, wanted = _lower(pattern).split("."), name.removesuffix(".").split(".")
    if parts[0] == "*":
        parts[0] = wanted[0]
    return parts == wanted


def _is_hostname(host: str, *, pattern: bool) -> bool:
    if not host or host == "*":
        return False
    parts = host.split(".")
    if pattern and parts[0] == "*":
        del parts[0]
    return all(part and part[0] != "-" and all(_is_plain(char) for char in part) for part in parts)


def _is_plain(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char in "-_")


def _lower(text: str) -> str:
    return "".join(char.lower() if char.isascii() else char for char in text)


def _is_acceptable(chain: list[Parsed], usages: tuple[int, ...]) -> bool:
    meanings = [one.meaning for one in chain]
    if not policies_hold([(one.certificate, one.meaning) for one in chain]):
        return False
    return (ANY_USAGE in usages or _usages_hold(meanings, usages)) and constraints_hold(meanings)


def _usages_hold(meanings: list[Meaning], usages: tuple[int, ...]) -> bool:
    """Whether one of them is allowed by all that say anything of it."""
    left = set(usages)
    for meaning in meanings:
        if (meaning.usages or meaning.unknown_usages) and ANY_USAGE not in meaning.usages:
            left &= set(meaning.usages)
    return bool(left)
