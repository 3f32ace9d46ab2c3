"""A running server, over HTTP: its answers, or its coded error as ours."""

from __future__ import annotations

from pathlib import Path

import click

from engine.jsontext import JsonValue, parse

TIMEOUT_S = 30.0


class Server:
    def __init__(self, address: str, key: str | None, key_file: Path) -> None:
        self._address = address.rstrip("/")
        self._key = key or _from_file(key_file)

    def call(self, method: str, path: str, body: JsonValue = None) -> JsonValue:
        import httpx2

        headers = {"Authorization": f"Bearer {self._key}"}
        try:
            response = httpx2.request(method, self._address + path, json=body, headers=headers, timeout=TIMEOUT_S)
        except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError) as error:
            raise click.ClickException(
                f"no server at {self._address}: {error}; start one with `lictor serve`, or name another with --server"
            ) from error
        if response.is_error:
            raise click.ClickException(_refusal(response.status_code, response.content))
        return parse(response.content, what="answer", max_depth=1000)


def _from_file(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError as error:
        raise click.ClickException(
            f"no API key: set LICTOR_KEY or give --key ({file}, which the embedded default keeps, cannot be read here)"
        ) from error


def _refusal(status: int, content: bytes) -> str:
    try:
        body = parse(content, what="answer")
    except Exception:  # noqa: BLE001  whatever a proxy in between has written
        body = None
    if isinstance(body, dict) and "message" in body:
        return f"{body['message']} ({body.get('code')}, HTTP {status})"
    return f"the server answered HTTP {status}"
