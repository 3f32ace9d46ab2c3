"""The audit queries: filtered pages, one decision with what became of it, export, checkpoint, erasure."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from api.auth import Caller, requires
from api.runtime import Runtime
from api.signing import signing_key
from engine.access.roles import TENANT_ROLES, Identity, Permission
from engine.errors import Forbidden, NotFound
from engine.ids import is_decision_id
from engine.journal.checkpoint import make_checkpoint
from engine.journal.query import MAX_PAGE, Cursor, Filters
from engine.journal.record import Citation, Draft, Kind, StoredRecord
from engine.journal.view import line_of, view_of
from engine.jsontext import JsonValue, canonical
from engine.store.journal import JournalRepository

router = APIRouter(prefix="/v1/decisions", tags=["audit"])

_PLACE = frozenset({"chain", "seq", "prev", "hash", "cites", "salt", "payload_digest"})


class DecisionQuery(BaseModel):
    """All filters that are given must hold."""

    model_config = ConfigDict(extra="forbid")

    tenant: str | None = None
    action: str | None = None
    outcome: str | None = Field(None, description="allow, queue, deny; answered, undefined or error for other paths")
    reason: str | None = Field(None, description="a reason code, such as envelope_exceeded")
    subject: str | None = None
    path: str | None = None
    text: str | None = Field(None, description="words that must all occur in the request or the reasons")
    since: str | None = Field(None, description="RFC 3339, inclusive")
    until: str | None = Field(None, description="RFC 3339, exclusive")
    cursor: str | None = Field(None, description="`next` of the page before")
    limit: Annotated[int, Field(ge=1, le=MAX_PAGE)] = 50


class Erasure(BaseModel):
    model_config = ConfigDict(extra="forbid")

    reason: Annotated[str, Field(min_length=1, max_length=500, description="why, for the record")]


@router.get("", summary="Decisions, newest first", dependencies=[requires(Permission.READ_DECISIONS)])
def list_decisions(request: Request, caller: Caller, query: Annotated[DecisionQuery, Query()]) -> dict[str, Any]:
    filters = filters_of(query, caller)
    cursor = Cursor.parse(query.cursor) if query.cursor is not None else None
    page = _journal(request).page(filters, cursor, query.limit)
    return {
        "decisions": [_shown(record, caller) for record in page.records],
        "next": str(page.next) if page.next else None,
    }


@router.get(
    "/export",
    summary="Every record as JSON lines, in chain order: what `lictor decisions verify FILE` takes",
    dependencies=[requires(Permission.READ_DECISIONS)],
)
def export(request: Request, caller: Caller) -> StreamingResponse:
    _refuse_tenants(caller)
    return StreamingResponse(_lines(_journal(request)), media_type="application/x-ndjson")


@router.get(
    "/checkpoint",
    summary="The heads of all chains, signed: keep it elsewhere, and a cut tail will show",
    dependencies=[requires(Permission.READ_DECISIONS)],
)
def checkpoint(request: Request, caller: Caller) -> dict[str, Any]:
    _refuse_tenants(caller)
    runtime: Runtime = request.app.state.runtime
    key = signing_key(runtime.settings.signing_key_file)
    return dict(make_checkpoint(_journal(request).heads(), runtime.clock.now_ns(), key))


@router.get("/{decision_id}", summary="One decision", dependencies=[requires(Permission.READ_DECISIONS)])
def show_decision(request: Request, caller: Caller, decision_id: str) -> dict[str, Any]:
    records = _records(request, caller, decision_id)
    return {**_shown(records[0], caller), "history": [_shown(record, caller) for record in records[1:]]}


@router.post(
    "/{decision_id}/erase",
    summary="Take away a decision's payload, for ever; the chain still verifies and says who did it",
    dependencies=[requires(Permission.ERASE_DECISIONS)],
)
async def erase_decision(request: Request, caller: Caller, decision_id: str, erasure: Erasure) -> dict[str, Any]:
    runtime: Runtime = request.app.state.runtime
    record = (await asyncio.to_thread(_records, request, caller, decision_id))[0]
    if record.payload is not None:
        draft = _erasure_of(record, caller, erasure.reason, runtime.clock.now_ns())
        await runtime.journal.submit(draft, wait=True)
    return view_of((await asyncio.to_thread(_records, request, caller, decision_id))[0])


def filters_of(query: DecisionQuery, caller: Identity) -> Filters:
    """A tenant's identity sees that tenant only, whatever it asks for."""
    tenant = query.tenant
    if caller.role in TENANT_ROLES:
        if tenant not in {None, caller.tenant}:
            raise NotFound(f"tenant {tenant} is not known")
        tenant = caller.tenant
    return Filters.of(**{**query.model_dump(exclude={"cursor", "limit"}), "tenant": tenant})


def _records(request: Request, caller: Identity, decision_id: str) -> list[StoredRecord]:
    found = _journal(request).of_decision(decision_id) if is_decision_id(decision_id) else []
    hidden = caller.role in TENANT_ROLES and any(record.tenant != caller.tenant for record in found[:1])
    if not found or hidden or found[0].kind is not Kind.DECISION:
        raise NotFound(f"decision {decision_id} is not known")
    return found


def _shown(record: StoredRecord, caller: Identity) -> dict[str, JsonValue]:
    """To a tenant without its place in the chain, which would tell how much all others ask for."""
    view = view_of(record)
    if caller.role not in TENANT_ROLES:
        return view
    return {name: value for name, value in view.items() if name not in _PLACE}


def _erasure_of(record: StoredRecord, caller: Identity, reason: str, now_ns: int) -> Draft:
    payload: dict[str, JsonValue] = {"erased_by": caller.id, "why": reason}
    return Draft(
        kind=Kind.ERASURE,
        decision_id=record.decision_id,
        time_ns=now_ns,
        payload=canonical(payload),
        tenant=record.tenant,
        cites=(Citation(record.chain, record.seq, record.hash),),
    )


def _refuse_tenants(caller: Identity) -> None:
    if caller.role in TENANT_ROLES:
        raise Forbidden("chains hold the records of all tenants; use /v1/decisions for your own")


def _lines(journal: JournalRepository) -> Iterator[bytes]:
    for record in journal.in_chain_order():
        yield line_of(record)


def _journal(request: Request) -> JournalRepository:
    runtime: Runtime = request.app.state.runtime
    return runtime.store.journal
