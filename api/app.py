"""The FastAPI application: routes, limits and error bodies over a running `Runtime`."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from importlib.metadata import version

from fastapi import FastAPI, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.routing import Mount, Route

from api import audit, health, keys
from api.auth import requires
from api.body import BodyLimit
from api.decision_route import PREFIXES, DecisionRoute
from api.errors import install_error_handlers
from api.runtime import Runtime
from engine.access.roles import Permission

log = logging.getLogger("lictor.api")

FOLLOW_S = 2.0
"""How often a replica looks whether another has activated a bundle."""


def create_app(runtime: Runtime) -> FastAPI:
    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        following = asyncio.create_task(_follow_bundle(runtime))
        yield
        following.cancel()
        await asyncio.to_thread(runtime.close)

    app = FastAPI(
        title="Lictor",
        version=version("lictor"),
        summary="The business-rules control plane of a multi-tenant GPU platform.",
        lifespan=lifespan,
    )
    app.state.runtime = runtime
    app.add_middleware(BodyLimit, limit=runtime.settings.max_body_bytes)
    install_error_handlers(app)
    for prefix in PREFIXES:
        route = DecisionRoute(runtime.desk, runtime.authenticator, runtime.settings, prefix)
        app.router.routes.extend([Route(prefix, endpoint=route, methods=None), Mount(prefix, app=route)])
    for router in (audit.router, keys.router, health.router):
        app.include_router(router)
    app.add_api_route("/metrics", _metrics, tags=["operations"], dependencies=[requires(Permission.READ_METRICS)])
    return app


def _metrics(request: Request) -> Response:
    """Prometheus' text format."""
    runtime: Runtime = request.app.state.runtime
    return Response(generate_latest(runtime.metrics.registry), media_type=CONTENT_TYPE_LATEST)


async def _follow_bundle(runtime: Runtime) -> None:
    while True:
        await asyncio.sleep(FOLLOW_S)
        try:
            await asyncio.to_thread(runtime.active.follow)
        except Exception:  # whatever it is, the next look may succeed, and no look at all would go unnoticed
            log.exception("cannot look for a new bundle")
