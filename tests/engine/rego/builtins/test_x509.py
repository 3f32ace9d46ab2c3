"""Certificates, chains, requests and pairs, by themselves and beside a real OPA."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID, ObjectIdentifier

import engine.rego.builtins.x509  # noqa: F401 (declares what is called)
from engine.rego.builtins.registry import Circumstances
from engine.rego.builtins.x509_der import MAX_INPUT
from tests.engine.rego.builtins.against_opa import Call, differences, ours
from tests.engine.rego.builtins.certificates import (
    AFTER_NS,
    BEFORE_NS,
    CA,
    WITHIN_NS,
    Extensions,
    certificate,
    der_base64,
    dns,
    key,
    key_pem,
    name,
    pem,
)

PARSE = "crypto.x509.parse_certificates"
VERIFY = "crypto.x509.parse_and_verify_certificates"
VERIFY_WITH = "crypto.x509.parse_and_verify_certificates_with_options"
REQUEST = "crypto.x509.parse_certificate_request"
PAIR = "crypto.x509.parse_keypair"

POLICIES = [ObjectIdentifier("1.2.3"), ObjectIdentifier("2.23.140.1.2.1")]
EVERYTHING: Extensions = (
    (x509.BasicConstraints(ca=False, path_length=None), True),
    (
        x509.SubjectAlternativeName(
            [
                x509.DNSName("a.example.com"),
                x509.DNSName("*.w.example.com"),
                x509.IPAddress(ipaddress.ip_address("10.1.2.3")),
                x509.IPAddress(ipaddress.ip_address("fe80::1")),
                x509.RFC822Name("u@example.com"),
                x509.UniformResourceIdentifier("https://u@h.example.com:8/p%2Fq?x=1#f"),
            ]
        ),
        False,
    ),
    (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH, ObjectIdentifier("1.2.3.4")]), False),
    (x509.KeyUsage(True, False, True, False, False, False, False, False, False), True),
    (
        x509.CRLDistributionPoints(
            [x509.DistributionPoint([x509.UniformResourceIdentifier("http://crl/x")], None, None, None)]
        ),
        False,
    ),
    (x509.CertificatePolicies([x509.PolicyInformation(policy, None) for policy in POLICIES]), False),
    (x509.PolicyConstraints(0, 1), True),
    (x509.InhibitAnyPolicy(2), True),
    (x509.UnrecognizedExtension(ObjectIdentifier("1.3.6.1.4.1.99"), b"\x05\x00"), True),
    (x509.SubjectKeyIdentifier(b"own"), False),
    (x509.AuthorityKeyIdentifier(b"issuer", None, None), False),
)
LIMITED: Extensions = (
    (x509.BasicConstraints(ca=True, path_length=0), True),
    (
        x509.NameConstraints(
            [x509.DNSName("example.com"), x509.IPAddress(ipaddress.ip_network("10.0.0.0/8"))],
            [x509.DNSName("bad.example.com"), x509.RFC822Name("u@b.com"), x509.UniformResourceIdentifier(".c.com")],
        ),
        True,
    ),
)
ROOT = certificate(1, 1, CA)
MIDDLE = certificate(2, 1, LIMITED)
LEAF = certificate(3, 2, (dns("a.example.com", "*.w.example.com"),))
CHAIN = pem(ROOT, MIDDLE, LEAF)
CSR = (
    x509.CertificateSigningRequestBuilder()
    .subject_name(name("asked"))
    .add_extension(x509.SubjectAlternativeName([x509.DNSName("c.example.com")]), False)
    .add_attribute(x509.oid.AttributeOID.CHALLENGE_PASSWORD, b"secret")
    .sign(key(4), None)
)


def at(time_ns: int, call: str, *arguments: Any) -> Any:
    return ours(call, *arguments, circumstances=Circumstances(time_ns=time_ns))


def common_names(certificates: Any) -> list[str]:
    return [one["Subject"]["CommonName"] for one in certificates]


def test_a_certificate_has_the_fields_of_gos_struct():
    [found] = ours(PARSE, pem(LEAF))
    assert {name: found[name] for name in ("Version", "SerialNumber", "SignatureAlgorithm", "PublicKeyAlgorithm")} == {
        "Version": 3, "SerialNumber": 3, "SignatureAlgorithm": 16, "PublicKeyAlgorithm": 4,
    }  # fmt: skip
    assert found["DNSNames"] == ["a.example.com", "*.w.example.com"]
    assert (found["NotBefore"], found["NotAfter"]) == ("2020-01-01T00:00:00Z", "2030-01-01T00:00:00Z")
    assert found["Issuer"]["Names"] == [
        {"Type": [2, 5, 4, 6], "Value": "DE"},
        {"Type": [2, 5, 4, 3], "Value": "n2"},
    ]
    assert found["URIStrings"] is None


@pytest.mark.parametrize("text", [pem(ROOT, LEAF), pem(ROOT) + "\n# words\n" + pem(LEAF)])
def test_pem_may_hold_several_and_words_between(text: str):
    assert common_names(ours(PARSE, text)) == ["n1", "n3"]


def test_der_is_taken_in_base64():
    assert common_names(ours(PARSE, der_base64(LEAF))) == ["n3"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("foobar", "illegal base64 data at input byte 4"),
        ("YmFkc3RyaW5n", "x509: malformed certificate"),
        (key_pem(1), "PEM block type is 'PRIVATE KEY', expected CERTIFICATE"),
        ("x" * (MAX_INPUT + 1), f"the input has more than {MAX_INPUT} characters"),
    ],
)
def test_what_is_no_certificate_is_an_error(text: str, message: str):
    assert ours(PARSE, text) == ("error", "eval_builtin_error", f"{PARSE}: {message}")


def test_a_chain_is_given_from_the_leaf_to_the_root():
    valid, chain = at(WITHIN_NS, VERIFY, CHAIN)
    assert valid is True
    assert common_names(chain) == ["n3", "n2", "n1"]


@pytest.mark.parametrize("time_ns", [BEFORE_NS, AFTER_NS])
def test_the_time_of_the_evaluation_decides_whether_a_chain_is_valid(time_ns: int):
    assert at(time_ns, VERIFY, CHAIN) == [False, []]
    assert at(time_ns, VERIFY_WITH, CHAIN, {"CurrentTime": WITHIN_NS})[0] is True


def leaf_named(*names: x509.GeneralName) -> str:
    return pem(ROOT, MIDDLE, certificate(3, 2, ((x509.SubjectAlternativeName(names), False),)))


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        (pem(LEAF), False),
        (pem(ROOT, LEAF), False),
        (pem(MIDDLE, LEAF), True),
        (pem(LEAF, MIDDLE, ROOT), False),
        (pem(ROOT, certificate(2, 1), certificate(3, 2)), False),
        (pem(ROOT, certificate(2, 1, CA), certificate(3, 9)), False),
        (pem(ROOT, certificate(2, 1, LIMITED), certificate(4, 2, CA), certificate(3, 4)), False),
        (pem(ROOT, certificate(3, 1, ((x509.UnrecognizedExtension(POLICIES[0], b""), True),))), False),
        (leaf_named(x509.DNSName("x.example.com")), True),
        (leaf_named(x509.DNSName("example.org")), False),
        (leaf_named(x509.DNSName("sub.bad.example.com")), False),
        (leaf_named(x509.IPAddress(ipaddress.ip_address("10.9.9.9"))), True),
        (leaf_named(x509.IPAddress(ipaddress.ip_address("11.9.9.9"))), False),
        (leaf_named(x509.RFC822Name("u@b.com")), False),
        (leaf_named(x509.RFC822Name("v@b.com")), True),
        (leaf_named(x509.UniformResourceIdentifier("http://x.c.com/")), False),
        (leaf_named(x509.UniformResourceIdentifier("http://c.com/")), True),
        (leaf_named(x509.UniformResourceIdentifier("mailto:u@c.com")), False),
    ],
)
def test_a_chain_holds_only_if_everything_in_it_does(text: str, valid: bool):
    assert at(WITHIN_NS, VERIFY, text)[0] is valid


@pytest.mark.parametrize(
    ("required", "policies", "valid"),
    [(0, True, True), (0, False, False), (None, False, True), (1, False, False)],
)
def test_a_policy_that_is_required_must_be_there(required: int | None, policies: bool, valid: bool):
    held = (x509.CertificatePolicies([x509.PolicyInformation(POLICIES[0], None)]), False)
    asked = () if required is None else ((x509.PolicyConstraints(required, None), True),)
    middle = certificate(2, 1, (*CA, held, *asked))
    leaf = certificate(3, 2, (held,) if policies else ())
    assert at(WITHIN_NS, VERIFY, pem(ROOT, middle, leaf))[0] is valid


@pytest.mark.parametrize(
    ("options", "valid"),
    [
        ({"DNSName": "a.example.com"}, True),
        ({"DNSName": "A.Example.com."}, True),
        ({"DNSName": "b.example.com"}, False),
        ({"DNSName": "x.w.example.com"}, True),
        ({"DNSName": "x.y.w.example.com"}, False),
        ({"DNSName": "10.1.2.3"}, False),
        ({"KeyUsages": ["KeyUsageCodeSigning"]}, True),
        ({"MaxConstraintComparisons": 1}, True),
    ],
)
def test_options_narrow_what_is_valid(options: dict[str, Any], valid: bool):
    assert at(WITHIN_NS, VERIFY_WITH, CHAIN, options)[0] is valid


@pytest.mark.parametrize(
    ("usages", "valid"),
    [(["KeyUsageServerAuth"], False), (["KeyUsageClientAuth"], True), (["KeyUsageAny"], True), ([], False)],
)
def test_a_leaf_is_good_for_its_usages_only(usages: list[str], valid: bool):
    leaf = certificate(3, 1, ((x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), False),))
    assert at(WITHIN_NS, VERIFY_WITH, pem(ROOT, leaf), {"KeyUsages": usages})[0] is valid


def test_a_pair_whose_key_is_another_is_an_error():
    message = f"{PAIR}: tls: private key does not match public key"
    assert ours(PAIR, pem(LEAF), key_pem(4)) == ("error", "eval_builtin_error", message)


def test_every_call_is_answered_as_by_opa(opa: str, tmp_path: Path):
    everything = certificate(5, 1, EVERYTHING)
    moment = {"CurrentTime": WITHIN_NS}
    texts = (CHAIN, pem(ROOT, LEAF), pem(MIDDLE, LEAF), pem(ROOT, MIDDLE), pem(ROOT, everything), "x", "")
    calls: list[Call] = [
        *((PARSE, text) for text in (CHAIN, pem(everything), der_base64(MIDDLE), key_pem(1), "", "a", "-----BEGIN", 1)),
        *((VERIFY_WITH, text, moment) for text in texts),
        *(
            (VERIFY_WITH, CHAIN, moment | {"DNSName": host})
            for host in ("a.example.com", "[::1]", "*.w.example.com", "-")
        ),
        *((VERIFY_WITH, CHAIN, {option: 1.5}) for option in ("DNSName", "CurrentTime", "KeyUsages", "other")),
        (VERIFY_WITH, CHAIN, {"KeyUsages": ["a", "b", 1]}),
        *((REQUEST, text) for text in (pem(CSR), der_base64(CSR), pem(LEAF), "a")),
        *((PAIR, pem(LEAF, ROOT), key_pem(number)) for number in (3, 4)),
        (PAIR, key_pem(3), pem(LEAF)),
        (PAIR, pem(LEAF), pem(LEAF)),
        (PAIR, "", ""),
    ]
    assert differences(opa, calls, tmp_path) == []
