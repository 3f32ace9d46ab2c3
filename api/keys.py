"""API keys over HTTP: make one (shown once), list them, revoke one."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from api.auth import requires
from api.runtime import Runtime
from engine.access.keys import KeyRecord, is_key_id, make_key
from engine.access.roles import Permission, Role
from engine.clock import rfc3339
from engine.errors import NotFound

router = APIRouter(prefix="/v1/api-keys", tags=["access"], dependencies=[requires(Permission.MANAGE_KEYS)])


class NewKey(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(min_length=1, max_length=100, description="whose key this is")]
    role: Role
    tenant: Annotated[str, Field(max_length=100, description="for tenant roles: the only tenant it may see")] = ""


@router.post("", status_code=201, summary="Make a key; the answer is the only time it is shown")
def create_key(request: Request, wanted: NewKey) -> dict[str, Any]:
    runtime: Runtime = request.app.state.runtime
    key, record = make_key(wanted.name, wanted.role, wanted.tenant, runtime.clock.now_ns())
    runtime.store.keys.add(record)
    return {"key": key, **_view(record)}


@router.get("", summary="All keys, without their secrets")
def list_keys(request: Request) -> dict[str, Any]:
    runtime: Runtime = request.app.state.runtime
    return {"keys": [_view(record) for record in runtime.store.keys.all()]}


@router.delete("/{key_id}", summary="Revoke a key: at once here, within seconds on other replicas")
def revoke_key(request: Request, key_id: str) -> dict[str, Any]:
    runtime: Runtime = request.app.state.runtime
    if not is_key_id(key_id) or not runtime.store.keys.revoke(key_id, runtime.clock.now_ns()):
        raise NotFound(f"key {key_id} is not known")
    runtime.authenticator.forget_all()
    return {"id": key_id, "revoked": True}


def _view(record: KeyRecord) -> dict[str, Any]:
    identity = record.identity
    return {
        "id": identity.id,
        "name": identity.name,
        "role": identity.role.value,
        "tenant": identity.tenant or None,
        "created": rfc3339(record.created_ns),
        "revoked": rfc3339(record.revoked_ns) if record.revoked_ns is not None else None,
    }
