"""Health: alive, ready, and OPA's `/health`. Open to probes: nothing here tells more than that."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from api.runtime import Runtime
from engine.errors import StoreError

router = APIRouter(tags=["health"])


@router.get("/health", summary="As OPA answers it: {} when ready, 500 when not")
def health(request: Request) -> Response:
    trouble = _trouble(request.app.state.runtime)
    return JSONResponse({"error": "; ".join(trouble.values())} if trouble else {}, 500 if trouble else 200)


@router.get("/health/live", summary="The process answers")
async def live() -> dict[str, Any]:
    return {"live": True}


@router.get("/health/ready", summary="The store, the journal and a bundle are there; 503 says which is not")
def ready(request: Request) -> Response:
    runtime: Runtime = request.app.state.runtime
    trouble = _trouble(runtime)
    checks = {name: trouble.get(name, "ok") for name in ("store", "journal", "bundle")}
    body: dict[str, Any] = {"ready": not trouble, "checks": checks}
    if runtime.active.current is not None:
        body["revision"] = runtime.active.current.bundle.revision
    if runtime.active.trouble is not None:
        body["warning"] = "the bundle asked for was refused, the last good one decides"
    return JSONResponse(body, 503 if trouble else 200)


def _trouble(runtime: Runtime) -> dict[str, str]:
    trouble = {}
    try:
        runtime.store.ping()
    except StoreError:
        trouble["store"] = "the database does not answer"
    if (journal := runtime.journal.trouble()) is not None:
        trouble["journal"] = journal
    if runtime.active.current is None:
        trouble["bundle"] = "no bundle could be loaded: everything is denied"
    return trouble
