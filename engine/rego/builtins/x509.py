"""`crypto.x509.*`: certificates, chains of them, requests, and certificates with their keys."""

from __future__ import annotations

import base64
from typing import Final

from engine.rego.builtins.operands import operand_object, operand_string
from engine.rego.builtins.private_keys import MatchFault, key_of_pair, private_key_value
from engine.rego.builtins.registry import Circumstances, builtin
from engine.rego.builtins.x509_certificate import (
    Certificate,
    Request,
    parse_certificate,
    parse_certificates,
    parse_request,
)
from engine.rego.builtins.x509_der import X509Fault, base64_bytes, input_bytes, pem_blocks
from engine.rego.builtins.x509_extensions import ALTERNATIVE_NAMES, AlternativeNames, alternative_names, meaning_of
from engine.rego.builtins.x509_json import certificate_value, request_value, uri_strings
from engine.rego.builtins.x509_verify import Parsed, Untrusted, Wanted, verified_chain
from engine.rego.errors import BuiltinError
from engine.rego.values import Frozen, RegoSet, Value, freeze, keys_of

_BEGIN: Final = b"-----BEGIN"
_USAGES: Final = {
    f"KeyUsage{name}": number
    for number, name in enumerate(
        (
            "Any", "ServerAuth", "ClientAuth", "CodeSigning", "EmailProtection", "IPSECEndSystem", "IPSECTunnel",
            "IPSECUser", "TimeStamping", "OCSPSigning", "MicrosoftServerGatedCrypto", "NetscapeServerGatedCrypto",
            "MicrosoftCommercialCodeSigning", "MicrosoftKernelCodeSigning",
        )
    )
}  # fmt: skip


@builtin("crypto.x509.parse_certificates")
def parse(certificates: Value) -> Value:
    name = "crypto.x509.parse_certificates"
    try:
        parsed = _parsed(operand_string(name, 1, certificates))
    except X509Fault as fault:
        raise BuiltinError(f"{name}: {fault}") from fault
    return [_with_uris(one) for one in parsed]


@builtin("crypto.x509.parse_and_verify_certificates", circumstances=True)
def parse_and_verify(circumstances: Circumstances, certificates: Value) -> Value:
    text = operand_string("crypto.x509.parse_and_verify_certificates", 1, certificates)
    try:
        chain = verified_chain(_parsed(text), Wanted(circumstances.time_ns))
    except (X509Fault, Untrusted):
        return [False, []]
    return [True, [_with_uris(one) for one in chain]]


@builtin("crypto.x509.parse_and_verify_certificates_with_options", circumstances=True)
def parse_and_verify_with_options(circumstances: Circumstances, certificates: Value, options: Value) -> Value:
    name = "crypto.x509.parse_and_verify_certificates_with_options"
    text, given = operand_string(name, 1, certificates), operand_object(name, 2, options)
    try:
        parsed = _parsed(text)
    except X509Fault:
        return [False, []]
    wanted = _wanted(name, given, circumstances.time_ns)
    try:
        chain = verified_chain(parsed, wanted)
    except Untrusted:
        return [False, []]
    return [True, [certificate_value(one.certificate, one.meaning) for one in chain]]


@builtin("crypto.x509.parse_certificate_request")
def parse_certificate_request(request: Value) -> Value:
    name = "crypto.x509.parse_certificate_request"
    text = operand_string(name, 1, request)
    try:
        found = parse_request(_request_bytes(text))
        return request_value(found, _requested_names(found))
    except X509Fault as fault:
        raise BuiltinError(f"{name}: {fault}") from fault


@builtin("crypto.x509.parse_keypair")
def parse_keypair(certificate: Value, key: Value) -> Value:
    name = "crypto.x509.parse_keypair"
    texts = operand_string(name, 1, certificate), operand_string(name, 1, key)
    try:
        certificates = _certificates_of_pair(texts[0])
        leaf = _read(parse_certificate(certificates[0]))
        private = key_of_pair(_maybe_base64(texts[1]), leaf.certificate.key.key)
    except (X509Fault, MatchFault) as fault:
        raise BuiltinError(f"{name}: {fault}") from fault
    return {
        "Certificate": [base64.b64encode(one).decode("ascii") for one in certificates],
        "PrivateKey": private_key_value(private),
        "SupportedSignatureAlgorithms": None,
        "OCSPStaple": None,
        "SignedCertificateTimestamps": None,
        "Leaf": certificate_value(leaf.certificate, leaf.meaning),
    }


def _parsed(text: str) -> list[Parsed]:
    data = input_bytes(text)
    data = data if data.startswith(_BEGIN) else base64_bytes(text)
    if data.startswith(_BEGIN):
        data = b"".join(_of_kind(block.kind, block.data) for block in pem_blocks(data))
    return [_read(certificate) for certificate in parse_certificates(data)]


def _of_kind(kind: str, data: bytes) -> bytes:
    if kind != "CERTIFICATE":
        raise X509Fault(f"PEM block type is '{kind}', expected CERTIFICATE")
    return data


def _read(certificate: Certificate) -> Parsed:
    return Parsed(certificate, meaning_of(certificate.extensions))


def _with_uris(one: Parsed) -> Value:
    return certificate_value(one.certificate, one.meaning) | {"URIStrings": uri_strings(one.meaning)}


def _wanted(name: str, options: dict[Frozen, Value], now_ns: int) -> Wanted:
    time_ns, dns_name = now_ns, ""
    usages: tuple[int, ...] = ()
    for key in keys_of(options):
        value = options[freeze(key)]
        if type(key) is not str:
            continue
        if key == "DNSName":
            dns_name = _option(name, key, value, str, "a string").strip('"')
        elif key == "CurrentTime":
            time_ns = _number(name, key, value, "a valid int64 number")
        elif key == "MaxConstraintComparisons":
            _number(name, key, value, "a valid number")  # Go no longer heeds it
        elif key == "KeyUsages":
            usages = _key_usages(name, value)
        else:
            raise BuiltinError(f"{name}: invalid key option")
    return Wanted(time_ns, dns_name, usages)


def _option(name: str, key: str, value: Value, kind: type, words: str) -> Value:
    if type(value) is not kind:
        raise BuiltinError(f"{name}: '{key}' should be {words}")
    return value


def _number(name: str, key: str, value: Value, words: str) -> int:
    if type(value) is not int and type(value) is not float:
        raise BuiltinError(f"{name}: '{key}' should be a number")
    if type(value) is not int or not -(2**63) <= value < 2**63:
        raise BuiltinError(f"{name}: '{key}' should be {words}")
    return value


def _key_usages(name: str, value: Value) -> tuple[int, ...]:
    if type(value) is not list and type(value) is not RegoSet:
        raise BuiltinError(f"{name}: 'KeyUsages' should be an Array or Set")
    names = [one.strip('"') for one in value if type(one) is str]
    unknown = [one for one in names if one not in _USAGES]
    if unknown:
        raise BuiltinError(f"{name}: invalid entries for 'KeyUsages' found: [{' '.join(unknown)}]")
    return tuple(_USAGES[one] for one in names)


def _request_bytes(text: str) -> bytes:
    data = input_bytes(text)
    data = data if data.startswith(b"-----BEGIN CERTIFICATE REQUEST-----") else base64_bytes(text)
    blocks = pem_blocks(data)
    if blocks and blocks[0].kind != "CERTIFICATE REQUEST":
        raise X509Fault("invalid PEM-encoded certificate signing request")
    return blocks[0].data if blocks else data


def _requested_names(request: Request) -> AlternativeNames:
    values = [one.value for one in request.extensions if one.id == ALTERNATIVE_NAMES]
    return alternative_names(values[-1]) if values else AlternativeNames()


def _maybe_base64(text: str) -> bytes:
    data = input_bytes(text)
    return data if data.startswith(b"-----BEGIN ") else base64_bytes(text)


def _certificates_of_pair(text: str) -> list[bytes]:
    data = _maybe_base64(text)
    if not data.startswith(b"-----BEGIN "):
        return [data]
    blocks = pem_blocks(data)
    found = [block.data for block in blocks if block.kind == "CERTIFICATE"]
    if found:
        return found
    if not blocks:
        raise X509Fault("tls: failed to find any PEM data in certificate input")
    kinds = [block.kind for block in blocks]
    if len(kinds) == 1 and kinds[0].endswith("PRIVATE KEY"):
        raise X509Fault(
            "tls: failed to find certificate PEM data in certificate input, but did find a private key; "
            "PEM inputs may have been switched"
        )
    skipped = " ".join(kinds)
    raise X509Fault(
        f'tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks '
        f"of the following types: [{skipped}]"
    )
