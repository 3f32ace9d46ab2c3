"""The only place that knows both an error's code and its HTTP status. Bodies are OPA's: `{code, message, errors}`."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from types import MappingProxyType
from typing import Final

import orjson
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from engine.errors import LictorError, Problem
from engine.jsontext import JsonValue

log = logging.getLogger("lictor.api")

STATUS: Final[Mapping[str, HTTPStatus]] = MappingProxyType(
    {
        "invalid_parameter": HTTPStatus.BAD_REQUEST,
        "malformed_json": HTTPStatus.BAD_REQUEST,
        "too_large": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        "resource_not_found": HTTPStatus.NOT_FOUND,
        "unauthorized": HTTPStatus.UNAUTHORIZED,
        "forbidden": HTTPStatus.FORBIDDEN,
        "overloaded": HTTPStatus.SERVICE_UNAVAILABLE,
        "internal_error": HTTPStatus.INTERNAL_SERVER_ERROR,
        "bundle_invalid": HTTPStatus.INTERNAL_SERVER_ERROR,
        "settings_invalid": HTTPStatus.INTERNAL_SERVER_ERROR,
        "store_unavailable": HTTPStatus.SERVICE_UNAVAILABLE,
        "store_locked": HTTPStatus.SERVICE_UNAVAILABLE,
        "store_outdated": HTTPStatus.SERVICE_UNAVAILABLE,
        "store_newer": HTTPStatus.SERVICE_UNAVAILABLE,
        "store_damaged": HTTPStatus.INTERNAL_SERVER_ERROR,
        "journal_overloaded": HTTPStatus.SERVICE_UNAVAILABLE,
    }
)


def error_body(code: str, message: str, problems: Sequence[Problem] = ()) -> dict[str, JsonValue]:
    body: dict[str, JsonValue] = {"code": code, "message": message}
    if problems:
        body["errors"] = [_problem(problem) for problem in problems]
    return body


def error_headers(status: int) -> dict[str, str]:
    if status == HTTPStatus.UNAUTHORIZED:
        return {"www-authenticate": 'Bearer realm="lictor"'}
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        return {"retry-after": "1"}
    return {}


def install_error_handlers(app: FastAPI) -> None:
    app.add_exception_handler(LictorError, _on_lictor_error)
    app.add_exception_handler(RequestValidationError, _on_validation_error)
    app.add_exception_handler(HTTPException, _on_http_exception)
    app.add_exception_handler(Exception, _on_anything_else)


async def _on_lictor_error(_: Request, error: Exception) -> Response:
    if not isinstance(error, LictorError):
        raise error
    return _response(STATUS[error.code], error_body(error.code, error.message, error.problems))


async def _on_validation_error(request: Request, error: Exception) -> Response:
    if not isinstance(error, RequestValidationError):
        raise error
    if any(fault["type"] == "json_invalid" for fault in error.errors()):
        return _response(HTTPStatus.BAD_REQUEST, error_body("malformed_json", "body: not JSON"))
    problems = [
        Problem("invalid_parameter", f"{'.'.join(str(part) for part in fault['loc'][1:]) or 'body'}: {fault['msg']}")
        for fault in error.errors()
    ]
    kind = request.headers.get("content-type", "")
    if request.method == "POST" and not kind.startswith("application/json"):
        hint = f"content-type: send the body as application/json, not {kind or 'without one'}"
        problems.append(Problem("invalid_parameter", hint))
    message = "; ".join(problem.message for problem in problems)
    return _response(HTTPStatus.BAD_REQUEST, error_body("invalid_parameter", message, problems))


async def _on_http_exception(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    code, message = {
        404: ("resource_not_found", f"no such route: {request.method} {request.url.path}; see /docs"),
        413: ("too_large", str(error.detail)),
        405: ("method_not_allowed", f"{request.url.path} does not take {request.method}"),
    }.get(error.status_code, ("invalid_parameter", str(error.detail)))
    return _response(error.status_code, error_body(code, message), error.headers)


async def _on_anything_else(_: Request, error: Exception) -> Response:
    log.error("unexpected error", exc_info=error)
    return _response(500, error_body("internal_error", "something unexpected went wrong; the server's log says what"))


def _response(status: int, body: JsonValue, headers: Mapping[str, str] | None = None) -> Response:
    return Response(
        orjson.dumps(body), status, {**error_headers(status), **(headers or {})}, media_type="application/json"
    )


def _problem(problem: Problem) -> dict[str, JsonValue]:
    body: dict[str, JsonValue] = {"code": problem.code, "message": problem.message}
    if problem.file:
        body["location"] = {"file": problem.file, "row": problem.row, "col": problem.col}
    return body
