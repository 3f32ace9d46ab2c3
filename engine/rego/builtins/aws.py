"""`providers.aws.sign_req`: a request with the headers of AWS's signature, version 4. Nothing is sent."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from engine.rego.builtins.encoding import json_marshal
from engine.rego.builtins.go_text import value_text, without_surrogates
from engine.rego.builtins.go_url import BadUrl, Url, parse_url
from engine.rego.builtins.operands import operand_error, operand_number, operand_object
from engine.rego.builtins.registry import builtin
from engine.rego.errors import BuiltinError
from engine.rego.values import Frozen, RegoSet, Value, freeze, keys_of, kind_of

_NAME: Final = "providers.aws.sign_req"
_REQUIRED_OF_AWS: Final = ("aws_service", "aws_access_key", "aws_secret_access_key", "aws_region")
_REQUIRED_OF_REQUEST: Final = ("method", "url")
_PARAMETERS: Final = frozenset(
    (
        "method", "url", "body", "enable_redirect", "force_json_decode", "force_yaml_decode", "headers", "raw_body",
        "tls_use_system_certs", "tls_ca_cert", "tls_ca_cert_file", "tls_ca_cert_env_variable", "tls_client_cert",
        "tls_client_cert_file", "tls_client_cert_env_variable", "tls_client_key", "tls_client_key_file",
        "tls_client_key_env_variable", "tls_insecure_skip_verify", "tls_server_name", "timeout", "cache",
        "force_cache", "force_cache_duration_seconds", "raise_error", "caching_mode", "max_retry_attempts",
        "cache_ignored_headers",
    )
)  # fmt: skip
"""What `http.send` takes."""
_UNSIGNED: Final = ("authorization", "user-agent", "x-amzn-trace-id")
"""Headers that a proxy may change."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

Object = dict[Frozen, Value]


@dataclass(frozen=True, slots=True)
class _Request:
    method: str
    url: Url
    headers: dict[str, str]
    content_hash: str


@dataclass(frozen=True, slots=True)
class _Scope:
    """For what a signature holds."""

    day: str
    moment: str
    region: str
    service: str

    def __str__(self) -> str:
        return f"{self.day}/{self.region}/{self.service}/aws4_request"


@builtin(_NAME)
def sign_req(request: Value, config: Value, time_ns: Value) -> Value:
    given, aws = operand_object(_NAME, 1, request), operand_object(_NAME, 1, config)
    _check_config(aws)
    moment = _moment(time_ns)
    _check_request(given)
    read = _request(given, aws)
    scope = _Scope(moment[:8], moment, aws["aws_region"], aws["aws_service"])
    own = _own_headers(read, scope, aws)
    signed = {name.lower(): text for name, text in sorted(read.headers.items()) if name.lower() not in _UNSIGNED}
    authorization = _authorization(read, scope, own | signed, aws)
    return {**given, "headers": {**read.headers, "Authorization": authorization, **own}}


def _check_config(aws: Object) -> None:
    missing = RegoSet(name for name in _REQUIRED_OF_AWS if name not in aws)
    if len(missing):
        raise operand_error(_NAME, 2, f"missing required AWS config parameters(s): {value_text(missing)}")
    wrong = RegoSet(name for name in _REQUIRED_OF_AWS if type(aws[name]) is not str)
    if len(wrong):
        raise operand_error(_NAME, 2, f"invalid values for required AWS config parameters(s): {value_text(wrong)}")


def _moment(value: Value) -> str:
    number = operand_number(_NAME, 1, value)
    if type(number) is not int or not -(2**63) <= number < 2**63:
        raise operand_error(_NAME, 3, "could not convert time_ns value into a unix timestamp")
    return (_EPOCH + timedelta(seconds=number // 1_000_000_000)).strftime("%Y%m%dT%H%M%SZ")


def _check_request(given: Object) -> None:
    unknown = RegoSet(key for key in keys_of(given) if type(key) is not str or key not in _PARAMETERS)
    if len(unknown):
        raise operand_error(_NAME, 1, f"invalid request parameters(s): {value_text(unknown)}")
    missing = RegoSet(name for name in _REQUIRED_OF_REQUEST if name not in given)
    if len(missing):
        raise operand_error(_NAME, 1, f"missing required request parameters(s): {value_text(missing)}")


def _request(given: Object, aws: Object) -> _Request:
    headers = given.get("headers", {})
    if type(headers) is not dict:
        raise operand_error(_NAME, 0, f"must be object but got {kind_of(headers)}")
    wrong = RegoSet(name for name in _REQUIRED_OF_REQUEST if type(given[name]) is not str)
    if len(wrong):
        raise operand_error(_NAME, 1, f"invalid values for required request parameters(s): {value_text(wrong)}")
    try:
        url = parse_url(given["url"])
    except BadUrl as error:
        raise BuiltinError(f"{_NAME}: {error}") from error
    texts = {_text(key): _text(headers[freeze(key)]) for key in keys_of(headers)}
    return _Request(given["method"], url, texts, _content_hash(given, aws))


def _content_hash(given: Object, aws: Object) -> str:
    unsigned = aws.get("disable_payload_signing", False)
    if type(unsigned) is not bool:
        raise operand_error(_NAME, 2, "invalid value for 'disable_payload_signing' in AWS config")
    if unsigned:
        return "UNSIGNED-PAYLOAD"
    body = _text(given["raw_body"]) if "raw_body" in given else json_marshal(given["body"]) if "body" in given else ""
    return hashlib.sha256(_bytes(body)).hexdigest()


def _own_headers(request: _Request, scope: _Scope, aws: Object) -> dict[str, str]:
    headers = {"host": without_surrogates(request.url.host), "x-amz-date": scope.moment}
    if scope.service in ("s3", "glacier"):
        headers["x-amz-content-sha256"] = request.content_hash
    token = _text(aws.get("aws_session_token", ""))
    return {**headers, "x-amz-security-token": token} if token else headers


def _authorization(request: _Request, scope: _Scope, signed: dict[str, str], aws: Object) -> str:
    names = sorted(signed)
    lines = (
        request.method,
        request.url.escaped_path,
        request.url.raw_query,
        *(f"{name}:{signed[name]}" for name in names),
        "",
        ";".join(names),
        request.content_hash,
    )
    digest = hashlib.sha256(_bytes("\n".join(lines))).hexdigest()
    text = f"AWS4-HMAC-SHA256\n{scope.moment}\n{scope}\n{digest}"
    signature = _mac(_signing_key(scope, aws["aws_secret_access_key"]), text).hex()
    credential = f"Credential={aws['aws_access_key']}/{scope}"
    return f"AWS4-HMAC-SHA256 {credential},SignedHeaders={';'.join(names)},Signature={signature}"


def _signing_key(scope: _Scope, secret: str) -> bytes:
    key = _bytes("AWS4" + secret)
    for part in (scope.day, scope.region, scope.service, "aws4_request"):
        key = _mac(key, part)
    return key


def _mac(key: bytes, text: str) -> bytes:
    return hmac.new(key, _bytes(text), "sha256").digest()


def _text(value: Value) -> str:
    """What is no string counts for nothing, as with OPA."""
    return value if type(value) is str else ""


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
