"""The decision API, as OPA answers it: plain ASGI, because it is the hot path and needs nothing of a framework.

POST, GET  /v1/data/{path}         {"input": …}            → {"result": …, "decision_id": …}
POST       /v0/data/{path}         the input itself        → the value itself
POST       /v1/batch/data/{path}   {"inputs": {id: …}}     → {"responses": {id: …}}
"""

from __future__ import annotations

import asyncio
import json
import logging
from dataclasses import dataclass
from http import HTTPStatus
from importlib.metadata import version
from typing import Final
from urllib.parse import parse_qs

from starlette.types import Receive, Scope, Send

from api.auth import Authenticator
from api.body import read_body
from api.errors import STATUS, error_body, error_headers
from api.settings import Settings
from engine.access.roles import TENANT_ROLES, Identity, Permission
from engine.contracts.entrypoints import ENTRYPOINTS
from engine.decision.desk import Answer, Desk
from engine.decision.recording import Asker
from engine.errors import EvaluationFailed, InvalidParameter, LictorError, Problem, TooLarge
from engine.evaluator.port import NO_INPUT, Defined, EvaluationError, NoInput, Undefined
from engine.ids import new_decision_id
from engine.jsontext import JsonValue, canonical, parse

log = logging.getLogger("lictor.api")

MAX_PATH = 1_024
BATCH_BODIES = 4
"""A batch may grow to so many bodies when `common_input` is merged into each input."""

PREFIXES: Final = {"/v1/data": "v1", "/v0/data": "v0", "/v1/batch/data": "batch"}

_VERSION = version("lictor")

_MISSING_INPUT: JsonValue = {"code": "api_usage_warning", "message": "'input' key missing from the request"}


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request, taken apart."""

    path: str
    params: dict[str, list[str]]
    body: bytes
    caller: Identity
    asker: Asker

    def wants(self, option: str) -> bool:
        return _wants(self.params, option)


class DecisionRoute:
    """One ASGI application for the three prefixes; `prefix` says which."""

    def __init__(self, desk: Desk, authenticator: Authenticator, settings: Settings, prefix: str) -> None:
        style = PREFIXES[prefix]
        self._prefix = prefix
        self._desk = desk
        self._authenticator = authenticator
        self._settings = settings
        self._style = style
        self._methods = ("POST", "GET") if style == "v1" else ("POST",)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        pretty = _wants(_params(scope), "pretty")
        try:
            status, body = await self._respond(scope, receive)
        except* LictorError as group:
            error = _first(group)
            status, body = STATUS[error.code], error_body(error.code, error.message, error.problems)
        except* Exception:
            log.exception("unexpected error")
            status = HTTPStatus.INTERNAL_SERVER_ERROR
            body = error_body("internal_error", "something unexpected went wrong; the server's log says what")
        await _send(send, status, _encode(body, pretty=pretty))

    async def _respond(self, scope: Scope, receive: Receive) -> tuple[int, JsonValue]:
        if scope["method"] not in self._methods:
            allowed = " or ".join(self._methods)
            return 405, error_body("method_not_allowed", f"this path takes {allowed}, not {scope['method']}")
        asked = await self._take_apart(scope, receive)
        if self._style == "batch":
            return await self._batch(asked)
        if self._style == "v0":
            return await self._v0(asked)
        return await self._v1(asked, scope["method"])

    async def _take_apart(self, scope: Scope, receive: Receive) -> _Asked:
        headers = {name: value.decode("latin-1") for name, value in reversed(scope["headers"])}  # the first one counts
        caller = await self._authenticator.identify(headers.get(b"authorization", ""))
        path = _path(scope["path"], self._prefix)
        caller.require(Permission.DECIDE if path in ENTRYPOINTS else Permission.QUERY_DATA)
        params = _params(scope)
        if params.get("explain", ["off"])[0] not in {"", "off"}:
            raise InvalidParameter("explain: the active evaluator gives no trace; leave it out")
        body = await read_body(headers, receive)
        address = ":".join(str(part) for part in scope.get("client") or ())
        tenant = caller.tenant if caller.role in TENANT_ROLES else ""
        return _Asked(path, params, body, caller, Asker(caller.id, tenant, address))

    async def _v1(self, asked: _Asked, method: str) -> tuple[int, JsonValue]:
        given = self._input_param(asked) if method == "GET" else self._input_of(asked)
        answer = await self._desk.answer(asked.path, given, asked.asker)
        status, body = _as_opa(answer)
        if method == "POST" and isinstance(given, NoInput):
            body["warning"] = _MISSING_INPUT
        _add_extras(asked, answer, body)
        return status, body

    async def _v0(self, asked: _Asked) -> tuple[int, JsonValue]:
        given: JsonValue | NoInput = self._parse(asked.body) if asked.body.strip() else NO_INPUT
        answer = await self._desk.answer(asked.path, given, asked.asker)
        match answer.decision.evaluation:
            case Defined(value):
                return 200, value
            case Undefined():
                document = ".".join(["data", *filter(None, asked.path.split("/"))])
                return 404, error_body("undefined_document", f"document missing or undefined: {document}")
            case EvaluationError():
                return _as_opa(answer)

    async def _batch(self, asked: _Asked) -> tuple[int, JsonValue]:
        inputs = self._batch_inputs(asked)
        batch_id = new_decision_id()
        turn = asyncio.Semaphore(self._settings.evaluator_workers)  # a batch must not push in front of everyone else

        async def one(given: JsonValue) -> Answer:
            async with turn:
                return await self._desk.answer(asked.path, given, asked.asker, batch_id)

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(given)) for given in inputs.values()]
        answers = [task.result() for task in tasks]
        responses: dict[str, dict[str, JsonValue]] = {}
        statuses = set()
        for name, answer in zip(inputs, answers, strict=True):
            status, body = _as_opa(answer)
            _add_extras(asked, answer, body)
            responses[name] = body
            statuses.add(status)
            body["http_status_code"] = str(status)
        if len(statuses) <= 1:
            for body in responses.values():
                del body["http_status_code"]
        overall = 207 if len(statuses) > 1 else next(iter(statuses), 200)
        return overall, {"batch_decision_id": batch_id, "responses": dict(responses)}

    def _batch_inputs(self, asked: _Asked) -> dict[str, JsonValue]:
        body = self._parse(asked.body)
        inputs = body.get("inputs") if isinstance(body, dict) else None
        if not isinstance(body, dict) or not isinstance(inputs, dict):
            raise InvalidParameter('body: expected {"inputs": {"any id": input, …}}')
        if len(inputs) > self._settings.max_batch:
            raise TooLarge(f"inputs: {len(inputs)} are more than the {self._settings.max_batch} of one batch")
        common, room = body.get("common_input"), BATCH_BODIES * self._settings.max_body_bytes
        merged: dict[str, JsonValue] = {}
        for name, given in inputs.items():
            merged[name] = _merged(common, given)
            room -= len(canonical(merged[name]))
            if room < 0:
                raise TooLarge("common_input: merged into every input it makes too much; send fewer inputs at once")
        return merged

    def _input_of(self, asked: _Asked) -> JsonValue | NoInput:
        if not asked.body.strip():
            return NO_INPUT
        body = self._parse(asked.body)
        if not isinstance(body, dict):
            raise InvalidParameter(f'body: expected an object {{"input": …}}, got {_kind(body)}')
        return body.get("input", NO_INPUT)

    def _input_param(self, asked: _Asked) -> JsonValue | NoInput:
        given = asked.params.get("input")
        return parse(given[0].encode(), what="input", max_depth=self._settings.max_depth) if given else NO_INPUT

    def _parse(self, body: bytes) -> JsonValue:
        return parse(body, max_depth=self._settings.max_depth)


def _first(group: ExceptionGroup[LictorError]) -> LictorError:
    """Of a batch several may have failed, for one reason as a rule."""
    error = group.exceptions[0]
    return _first(error) if isinstance(error, ExceptionGroup) else error


def _params(scope: Scope) -> dict[str, list[str]]:
    return parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)


def _wants(params: dict[str, list[str]], option: str) -> bool:
    """OPA's boolean parameters: present without a value, or `true`."""
    return params.get(option, ["false"])[0].lower() in {"", "true", "1"}


def _path(full: str, prefix: str) -> str:
    path = full.removeprefix(prefix).strip("/")
    if len(path) > MAX_PATH:
        raise TooLarge(f"path: {len(path)} characters are more than {MAX_PATH}")
    if any(not part or not part.isprintable() for part in path.split("/")) and path:
        raise InvalidParameter("path: an empty or unprintable part between slashes names no document")
    return path


def _as_opa(answer: Answer) -> tuple[int, dict[str, JsonValue]]:
    match answer.decision.evaluation:
        case Defined(value):
            return 200, {"decision_id": answer.decision_id, "result": value}
        case Undefined():
            return 200, {"decision_id": answer.decision_id}
        case EvaluationError(code, message):
            body = error_body(
                EvaluationFailed.code, "error(s) occurred while evaluating query", [Problem(code, message)]
            )
            return 500, {**body, "decision_id": answer.decision_id}


def _add_extras(asked: _Asked, answer: Answer, body: dict[str, JsonValue]) -> None:
    if asked.wants("metrics") or asked.wants("instrument"):
        body["metrics"] = {
            "timer_rego_query_eval_ns": answer.evaluation_ns,
            "timer_server_handler_ns": answer.durable_ns,
        }
    if asked.wants("provenance"):
        body["provenance"] = {
            "version": _VERSION,
            "bundles": {"lictor": {"revision": answer.revision}} if answer.revision else {},
        }


def _merged(common: JsonValue, given: JsonValue) -> JsonValue:
    """Deep merge: what is in `given` wins."""
    if isinstance(common, dict) and isinstance(given, dict):
        return {
            **common,
            **{key: _merged(common[key], value) if key in common else value for key, value in given.items()},
        }
    return given


def _kind(value: JsonValue) -> str:
    names = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def _encode(body: JsonValue, *, pretty: bool) -> bytes:
    if pretty:
        return json.dumps(body, indent=2, ensure_ascii=False).encode() + b"\n"
    return canonical(body)


async def _send(send: Send, status: int, body: bytes) -> None:
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    headers.extend((name.encode(), value.encode()) for name, value in error_headers(status).items())
    await send({"type": "http.response.start", "status": int(status), "headers": headers})
    await send({"type": "http.response.body", "body": body})
