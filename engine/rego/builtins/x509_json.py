"""Certificates, requests and names as policies see them: the fields of Go's structs, with its names, in JSON."""

from __future__ import annotations

import base64
from datetime import datetime
from ipaddress import IPv4Address, IPv6Address
from typing import Final

from engine.rego.builtins.go_text import without_surrogates
from engine.rego.builtins.go_url import Url
from engine.rego.builtins.x509_certificate import Certificate, Extension, Name, Request
from engine.rego.builtins.x509_extensions import AlternativeNames, Meaning, Subtree
from engine.rego.builtins.x509_keys import DsaPublic, EcPublic, ObjectId, PublicKey, RsaPublic
from engine.rego.values import Value

_LISTS: Final = {
    6: "Country", 10: "Organization", 11: "OrganizationalUnit", 7: "Locality", 8: "Province", 9: "StreetAddress",
    17: "PostalCode",
}  # fmt: skip
_SINGLE: Final = {3: "CommonName", 5: "SerialNumber"}


def certificate_value(certificate: Certificate, meaning: Meaning) -> dict[str, Value]:
    return {
        "Raw": _b64(certificate.raw),
        "RawTBSCertificate": _b64(certificate.tbs),
        "RawSubjectPublicKeyInfo": _b64(certificate.key.raw),
        "RawSubject": _b64(certificate.subject.raw),
        "RawIssuer": _b64(certificate.issuer.raw),
        "Signature": _b64(certificate.signature),
        "SignatureAlgorithm": certificate.signature_algorithm,
        "PublicKeyAlgorithm": certificate.key.algorithm,
        "PublicKey": public_key_value(certificate.key.key),
        "Version": certificate.version,
        "SerialNumber": certificate.serial,
        "Issuer": name_value(certificate.issuer),
        "Subject": name_value(certificate.subject),
        "NotBefore": _time(certificate.not_before),
        "NotAfter": _time(certificate.not_after),
        "Extensions": _extensions(certificate.extensions),
        "ExtraExtensions": None,
        **_meaning(meaning),
        **_names(meaning.names),
    }


def uri_strings(meaning: Meaning) -> Value:
    return [without_surrogates(str(uri)) for uri in meaning.names.uris] or None


def request_value(request: Request, names: AlternativeNames) -> dict[str, Value]:
    return {
        "Raw": _b64(request.raw),
        "RawTBSCertificateRequest": _b64(request.tbs),
        "RawSubjectPublicKeyInfo": _b64(request.key.raw),
        "RawSubject": _b64(request.subject.raw),
        "Version": request.version,
        "Signature": _b64(request.signature),
        "SignatureAlgorithm": request.signature_algorithm,
        "PublicKeyAlgorithm": request.key.algorithm,
        "PublicKey": public_key_value(request.key.key),
        "Subject": name_value(request.subject),
        "Attributes": [
            {"Type": list(kind), "Value": [[_attribute(*pair) for pair in pairs] for pairs in values]}
            for kind, values in request.attributes
        ]
        or None,
        "Extensions": _extensions(request.extensions),
        "ExtraExtensions": None,
        **_names(names),
    }


def name_value(name: Name) -> dict[str, Value]:
    made: dict[str, Value] = {**dict.fromkeys(_LISTS.values()), **dict.fromkeys(_SINGLE.values(), "")}
    for kind, value in name.attributes:
        number = kind[3] if value is not None and len(kind) == 4 and kind[:3] == (2, 5, 4) else 0
        if number in _SINGLE:
            made[_SINGLE[number]] = value
        elif number in _LISTS:
            made[_LISTS[number]] = [*(made[_LISTS[number]] or []), value]
    made["Names"] = [{"Type": list(kind), "Value": value} for kind, value in name.attributes] or None
    return made | {"ExtraNames": None}


def public_key_value(key: PublicKey | None) -> Value:
    if isinstance(key, RsaPublic):
        return {"N": key.n, "E": key.e}
    if isinstance(key, EcPublic):
        return {"Curve": {}, "X": key.x, "Y": key.y}
    if isinstance(key, DsaPublic):
        return {"P": key.p, "Q": key.q, "G": key.g, "Y": key.y}
    return None if key is None else _b64(key)


def _meaning(meaning: Meaning) -> dict[str, Value]:
    made: dict[str, Value] = {
        "KeyUsage": meaning.key_usage,
        "UnhandledCriticalExtensions": _ids(meaning.unhandled),
        "ExtKeyUsage": meaning.usages or None,
        "UnknownExtKeyUsage": _ids(meaning.unknown_usages),
        "BasicConstraintsValid": meaning.is_ca is not None,
        "IsCA": bool(meaning.is_ca),
        "MaxPathLen": meaning.path_length,
        "MaxPathLenZero": meaning.is_ca is not None and meaning.path_length == 0,
        "SubjectKeyId": None if meaning.subject_key is None else _b64(meaning.subject_key),
        "AuthorityKeyId": None if meaning.authority_key is None else _b64(meaning.authority_key),
        "OCSPServer": meaning.status_servers or None,
        "IssuingCertificateURL": meaning.issuer_urls or None,
        "CRLDistributionPoints": meaning.revocation_lists or None,
        "PermittedDNSDomainsCritical": meaning.constraints_critical,
        "PolicyIdentifiers": None if meaning.policies is None else [list(one) for one in meaning.policies],
        "Policies": [_dotted(one) for one in meaning.policies or ()] or None,
        "PolicyMappings": [
            {"IssuerDomainPolicy": _dotted(issuer), "SubjectDomainPolicy": _dotted(subject)}
            for issuer, subject in meaning.policy_mappings
        ]
        or None,
    }
    for kind, subtrees in (("Permitted", meaning.permitted), ("Excluded", meaning.excluded)):
        made[f"{kind}DNSDomains"] = subtrees.dns or None
        made[f"{kind}IPRanges"] = [_subtree(one) for one in subtrees.addresses] or None
        made[f"{kind}EmailAddresses"] = subtrees.emails or None
        made[f"{kind}URIDomains"] = subtrees.uris or None
    for name, number in (
        ("RequireExplicitPolicy", meaning.require_explicit_policy),
        ("InhibitPolicyMapping", meaning.inhibit_policy_mapping),
        ("InhibitAnyPolicy", meaning.inhibit_any_policy),
    ):
        made |= {name: number or 0, f"{name}Zero": number == 0}
    return made


def _names(names: AlternativeNames) -> dict[str, Value]:
    return {
        "DNSNames": names.dns or None,
        "EmailAddresses": names.emails or None,
        "IPAddresses": [_address(one) for one in names.addresses] or None,
        "URIs": [_url(one) for one in names.uris] or None,
    }


def _extensions(extensions: list[Extension]) -> Value:
    return [{"Id": list(one.id), "Critical": one.critical, "Value": _b64(one.value)} for one in extensions] or None


def _attribute(kind: ObjectId, value: bytes | str) -> dict[str, Value]:
    return {"Type": list(kind), "Value": value if isinstance(value, str) else _b64(value)}


def _url(url: Url) -> dict[str, Value]:
    made: dict[str, Value] = {
        "Scheme": url.scheme,
        "Opaque": url.opaque,
        "Host": url.host,
        "Path": url.path,
        "RawPath": url.raw_path,
        "RawQuery": url.raw_query,
        "Fragment": url.fragment,
        "RawFragment": url.raw_fragment,
    }
    texts = {name: without_surrogates(text) for name, text in made.items()}
    flags = {"OmitHost": url.omit_host, "ForceQuery": url.force_query}
    return {**texts, **flags, "User": None if url.user is None else {}}


def _subtree(subtree: Subtree) -> dict[str, Value]:
    return {"IP": _address(subtree[0]), "Mask": _b64(subtree[1])}


def _address(data: bytes) -> str:
    if len(data) == 4:
        return str(IPv4Address(data))
    address = IPv6Address(data)
    return str(address.ipv4_mapped or address)


def _ids(ids: list[ObjectId]) -> Value:
    return [list(one) for one in ids] or None


def _dotted(one: ObjectId) -> str:
    return ".".join(map(str, one))


def _b64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _time(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")
