"""Serving: the socket, uvicorn, and the first words to whoever started it."""

from __future__ import annotations

import contextlib
import signal
import socket
from collections.abc import Callable, Iterator

import uvicorn

from api.app import create_app
from api.http_protocol import BoundedHttp
from api.runtime import Runtime
from api.settings import Settings
from engine.errors import SettingsInvalid

SHUTDOWN_S = 10


def serve(settings: Settings, on_ready: Callable[[Runtime, str], None]) -> None:
    """Run until SIGINT or SIGTERM; `on_ready` is called with the address once requests are answered."""
    with _listen(settings) as listener:
        runtime = Runtime(settings)
        host, port = listener.getsockname()[:2]
        address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        config = uvicorn.Config(
            create_app(runtime),
            log_config=None,
            access_log=False,
            loop="uvloop",
            http=BoundedHttp,
            proxy_headers=False,  # the address in a record is the one that the connection came from
            limit_concurrency=settings.max_connections,
            lifespan="on",
            server_header=False,
            timeout_graceful_shutdown=SHUTDOWN_S,
        )
        try:
            _Server(config, lambda: on_ready(runtime, address)).run(sockets=[listener])
        finally:
            runtime.close()  # a second Ctrl-C skips the application's own farewell


class _Server(uvicorn.Server):
    """Says when it is ready, and ends with success when it is asked to stop."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_ready()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """As uvicorn's, except that the signal is not raised again once all is closed: it was obeyed."""
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
    except OSError as error:
        listener.close()
        place = f"{settings.host}:{settings.port}"
        raise SettingsInvalid(
            f"cannot listen on {place}: {error.strerror}; choose another --port (0 picks a free one) or --host"
        ) from error
    return listener
