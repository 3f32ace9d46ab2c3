"""Against a real socket: what comes before anyone is known."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator

import pytest

from tests.cli.conftest import RunningServer, Terminal


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    server = RunningServer(Terminal(tmp_path_factory.mktemp("protocol")))
    yield server.port
    server.stop()


def answer_to(port: int, *chunks: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        received = b""
        try:
            for chunk in chunks:
                connection.sendall(chunk)
            while part := connection.recv(65536):
                received += part
        except OSError:
            pass
        return received


def test_header_without_end_is_cut_off(port):
    answer = answer_to(port, b"GET /health HTTP/1.1\r\nhost: x\r\nlong: ", *[b"x" * 65536] * 40)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 431 ")


def test_ordinary_head_with_a_large_body_in_one_piece_is_answered(port):
    body = b'{"input": "' + b"x" * 200_000 + b'"}'
    head = b"POST /v1/data/x HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(body)
    assert answer_to(port, head + body).startswith(b"HTTP/1.1 401 ")


def test_head_that_never_comes_is_given_up(port, monkeypatch):
    began = time.monotonic()
    assert answer_to(port, b"GET /health HTT") == b""
    assert time.monotonic() - began < 25
