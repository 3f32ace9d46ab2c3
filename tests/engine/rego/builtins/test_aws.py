"""Signed requests, by themselves and beside a real OPA."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import engine.rego.builtins.aws  # noqa: F401 (declares what is called)
from tests.engine.rego.builtins.against_opa import Call, differences, ours

SIGN = "providers.aws.sign_req"
CONFIG = {"aws_access_key": "id", "aws_secret_access_key": "secret", "aws_service": "s3", "aws_region": "eu-west-1"}
REQUEST = {"method": "get", "url": "http://example.com/a b?q=1"}
MISSING = '{"aws_access_key", "aws_region", "aws_secret_access_key", "aws_service"}'
NOW = 1_451_311_705_000_000_000
URLS = [
    "http://example.com", "https://a.b:8080/x/y?q=1&b=%20#f", "http://é.com/ü?ü", "http://x/%2F/a b", "http://u:p@h/",
    "//h/p", "mailto:x", "/p/q", "http://[::1]:80/", "http://[::1%25en0]/", "http://a:b", "http://a b/", ":x",
    "http://x/%zz", "", "http://h/a!b'c(d)*", "http://h/a%21b", "http://h?", "ftp://a:1:2/", "http://%41/", "*",
    "http://%C3%A9/", "http://h/%ff", "y:z/x", "./y:z", 'http://h/^`{}|\\<>"', "http://[1.2.3.4]/", "http://[x/",
]  # fmt: skip


def test_a_request_gains_the_headers_of_its_signature():
    signed = ours(SIGN, {**REQUEST, "headers": {"X": "y", "User-Agent": "z"}}, CONFIG, NOW)
    digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    names = "host;x;x-amz-content-sha256;x-amz-date"
    signature = signed["headers"].pop("Authorization")
    assert signed == {
        **REQUEST,
        "headers": {
            "X": "y",
            "User-Agent": "z",
            "host": "example.com",
            "x-amz-content-sha256": digest,
            "x-amz-date": "20151228T140825Z",
        },
    }
    scope = "Credential=id/20151228/eu-west-1/s3/aws4_request"
    assert signature.startswith(f"AWS4-HMAC-SHA256 {scope},SignedHeaders={names},Signature=")


@pytest.mark.parametrize(
    ("request_", "config", "time_ns", "message"),
    [
        ({}, CONFIG, NOW, 'operand 1 missing required request parameters(s): {"method", "url"}'),
        ({**REQUEST, "a": 1}, CONFIG, NOW, 'operand 1 invalid request parameters(s): {"a"}'),
        ({**REQUEST, "url": 1}, CONFIG, NOW, 'operand 1 invalid values for required request parameters(s): {"url"}'),
        (REQUEST, {}, 0, f"operand 2 missing required AWS config parameters(s): {MISSING}"),
        (REQUEST, CONFIG, 0.5, "operand 3 could not convert time_ns value into a unix timestamp"),
        (REQUEST, CONFIG, 2**63, "operand 3 could not convert time_ns value into a unix timestamp"),
    ],
)
def test_what_cannot_be_signed_is_a_type_error(request_: Any, config: Any, time_ns: Any, message: str):
    assert ours(SIGN, request_, config, time_ns) == ("error", "eval_type_error", f"{SIGN}: {message}")


def test_every_call_is_answered_as_by_opa(opa: str, tmp_path: Path):
    bodies = ({"body": {"b": [1.5, None, "<é>"], "a": 1}}, {"raw_body": "x<é>"}, {"raw_body": 5, "body": 3})
    headers = ({"A": "b", "c": 1, "Authorization": "y", "X-Amz-Date": "z"}, {"x-amz-content-sha256": "zz"}, [1])
    configs = (
        CONFIG,
        CONFIG | {"aws_service": "ec2"},
        CONFIG | {"aws_session_token": "token", "disable_payload_signing": True},
        CONFIG | {"disable_payload_signing": 1},
    )
    requests = [*(REQUEST | body for body in bodies), *(REQUEST | {"headers": header} for header in headers)]
    calls: list[Call] = [
        *((SIGN, {"method": "get", "url": url}, CONFIG, NOW) for url in URLS),
        *((SIGN, request, config, NOW) for request in requests for config in configs),
        *((SIGN, REQUEST, CONFIG, moment) for moment in (0, -1, 2**63 - 1, -(2**63), "x", 1.5)),
        (SIGN, 1, CONFIG, NOW),
        (SIGN, {}, 1, NOW),
        (SIGN, {}, {}, NOW),
    ]
    assert differences(opa, calls, tmp_path) == []
