from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from engine.errors import InvalidParameter, StoreUnavailable
from engine.ids import new_decision_id
from engine.journal.effect import Effect, effect_of
from engine.journal.query import Cursor, Filters
from engine.journal.record import GENESIS, Citation, Draft, Durability, Kind, Record, seal
from engine.journal.verify import verify
from engine.store.connection import Database, open_database
from engine.store.journal import JournalRepository
from engine.store.opening import Store, open_store

SALT = b"0123456789abcdef"


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    store = open_store(store_url)
    yield store
    store.close()


@pytest.fixture
def journal(store: Store) -> JournalRepository:
    return store.journal


def decision(time_ns: int = 1_000, **changes: object) -> Draft:
    draft = Draft(Kind.DECISION, new_decision_id(), time_ns, b'{"input":{"a":1},"subject":""}', path="lictor/admission")
    return dataclasses.replace(draft, **changes)  # type: ignore[arg-type]


def sealed(chain: str, *drafts: Draft, cites: tuple[Citation, ...] = ()) -> list[Record]:
    head = Citation(chain, 0, GENESIS)
    records = []
    for draft in (Draft(Kind.START, f"start of {chain}"[:36], 1, b"{}", cites=cites), *drafts):
        record = seal(draft, head, Durability.DURABLE, SALT)
        head = Citation(record.chain, record.seq, record.hash)
        records.append(record)
    return records


def ids(journal: JournalRepository, **filters: object) -> list[str]:
    return [record.decision_id for record in journal.page(Filters(**filters), limit=500).records]  # type: ignore[arg-type]


def test_record_read_back_is_the_record_that_was_sealed(journal):
    draft = decision(
        5_000,
        payload='{"input":"ü\\u0000","subject":"user:ana"}'.encode(),
        action="submit_workload",
        tenant="acme",
        outcome="deny",
        reasons=(("envelope_exceeded", "authority"), ("sku_unavailable", "capacity")),
        revision="r1",
        bundle_digest="sha256:ab",
        subject="user:ana",
        text="llama finetune",
    )
    start, record = sealed("chain_a", draft)
    journal.append([start, record])
    stored = journal.of_decision(draft.decision_id)[0]
    assert (stored.chain, stored.seq, stored.prev, stored.hash) == ("chain_a", 2, start.hash, record.hash)
    assert (stored.payload, stored.salt, stored.payload_digest) == (draft.payload, SALT, record.payload_digest)
    shared = ("kind", "decision_id", "time_ns", "path", "action", "tenant", "outcome", "reasons", "revision", "subject")
    assert {name: getattr(stored, name) for name in shared} == {name: getattr(draft, name) for name in shared}


def test_each_filter_alone_finds_exactly_its_records(journal):
    one = decision(10, tenant="acme", action="submit_workload", outcome="deny", reasons=(("a_code", "authority"),))
    two = decision(
        20, tenant="beta", action="submit_workload", outcome="allow", subject="user:bo", text="whisper large"
    )
    two = dataclasses.replace(two, payload=b'{"subject":"user:bo"}')
    three = decision(30, tenant="acme", outcome="allow", path="lictor/tiers", reasons=(("b_code", "capacity"),))
    journal.append(sealed("chain_a", one, two, three))
    a, b, c = one.decision_id, two.decision_id, three.decision_id
    assert ids(journal) == [c, b, a]
    assert ids(journal, tenant="acme") == [c, a]
    assert ids(journal, action="submit_workload") == [b, a]
    assert ids(journal, outcome="allow") == [c, b]
    assert ids(journal, reason="a_code") == [a]
    assert ids(journal, subject="user:bo") == [b]
    assert ids(journal, path="lictor/tiers") == [c]
    assert ids(journal, text="LARGE whisper") == [b]
    assert ids(journal, text="whisper small") == []
    assert ids(journal, since_ns=20) == [c, b]
    assert ids(journal, until_ns=20) == [a]
    assert ids(journal, tenant="acme", reason="b_code", since_ns=30, until_ns=31) == [c]
    assert ids(journal, tenant="acme", text="whisper") == []


@pytest.mark.parametrize(
    "words", ["a OR b", "NEAR(x", "text:whisper", "'; DROP TABLE journal; --", "whisper NOT large"]
)
def test_text_filter_takes_query_syntax_as_words(journal, words):
    journal.append(sealed("chain_a", decision(text="whisper large")))
    assert ids(journal, text=words) == []


@given(times=st.lists(st.integers(0, 3), min_size=1, max_size=30), limit=st.integers(1, 7))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_pages_together_are_every_record_once_newest_first(store, times, limit):
    tenant = new_decision_id()
    drafts = [decision(time_ns, tenant=tenant, reasons=(("a_code", "authority"),)) for time_ns in times]
    store.journal.append(sealed(f"chain_{tenant}", *drafts))
    for filters in (Filters(tenant=tenant), Filters(tenant=tenant, reason="a_code")):
        seen, cursor = [], None
        while True:
            page = store.journal.page(filters, cursor, limit)
            seen += page.records
            cursor = page.next
            if cursor is None:
                break
            assert len(page.records) == limit
            assert Cursor.parse(str(cursor)) == cursor
        assert [r.decision_id for r in seen] == [
            draft.decision_id
            for _, _, draft in sorted(
                ((t, n, d) for n, (t, d) in enumerate(zip(times, drafts, strict=True))), reverse=True
            )
        ]


def test_text_pages_continue_where_the_last_one_ended(journal):
    drafts = [decision(n, text="llama") for n in range(5)]
    journal.append(sealed("chain_a", *drafts))
    first = journal.page(Filters(text="llama"), limit=3)
    rest = journal.page(Filters(text="llama"), first.next, limit=3)
    found = [record.decision_id for record in (*first.records, *rest.records)]
    assert found == [draft.decision_id for draft in reversed(drafts)]
    assert rest.next is None


@pytest.mark.parametrize("limit", [0, -1, 501])
def test_page_size_outside_its_range_is_refused(journal, limit):
    with pytest.raises(InvalidParameter, match="limit: give 1 to 500"):
        journal.page(Filters(), limit=limit)


def test_new_chain_finds_the_heads_that_nobody_cited(journal):
    first = sealed("chain_a", decision())
    journal.append(first)
    head = Citation("chain_a", 2, first[-1].hash)
    assert journal.loose_heads() == [head]
    second = sealed("chain_b", cites=(head,))
    journal.append(second)
    assert journal.loose_heads() == [Citation("chain_b", 1, second[0].hash)]
    assert journal.heads() == [head, Citation("chain_b", 1, second[0].hash)]


def test_decision_comes_before_what_an_older_chain_says_of_it(journal):
    draft = decision(5)
    newer = sealed("chain_b", draft)
    target = Citation("chain_b", 2, newer[1].hash)
    journal.append(sealed("chain_a"))
    journal.append(newer)
    older = sealed("chain_a", Draft(Kind.ERASURE, draft.decision_id, 9, b"{}", cites=(target,)))
    journal.append(older[1:])
    assert [record.kind for record in journal.of_decision(draft.decision_id)] == [Kind.DECISION, Kind.ERASURE]
    assert verify(journal.in_chain_order(), journal.citing, journal.heads()).ok


def test_effect_follows_its_decision_and_is_no_decision_itself(journal):
    draft = decision(5, tenant="acme", action="scale_service")
    journal.append(sealed("chain_a", draft))
    effect = effect_of(journal.of_decision(draft.decision_id)[0], Effect.SUPERSEDED, 7, "version 3 came first")
    journal.append(sealed("chain_a", draft, effect)[2:])
    found = journal.of_decision(draft.decision_id)
    assert [(record.kind, record.outcome) for record in found] == [(Kind.DECISION, ""), (Kind.EFFECT, "superseded")]
    assert (found[1].tenant, found[1].payload) == ("acme", b'{"effect":"superseded","why":"version 3 came first"}')
    assert ids(journal, tenant="acme") == [draft.decision_id]
    assert verify(journal.in_chain_order(), journal.citing, journal.heads()).ok


def test_second_record_at_the_same_place_is_refused_whole(journal):
    records = sealed("chain_a", decision(), decision())
    journal.append(records[:2])
    with pytest.raises(StoreUnavailable):
        journal.append([records[2], records[1]])
    assert [record.seq for record in journal.in_chain_order()] == [1, 2]
    assert [head.seq for head in journal.heads()] == [2]


def test_erasure_takes_payload_subject_and_words_and_leaves_the_proof(journal):
    draft = decision(payload=b'{"input":"secret","subject":"user:ana"}', subject="user:ana", text="secret words")
    records = sealed("chain_a", draft)
    target = Citation("chain_a", 2, records[1].hash)
    erasure = Draft(Kind.ERASURE, draft.decision_id, 9, b'{"why":"law"}', cites=(target,))
    records = sealed("chain_a", draft, erasure)
    journal.append(records)
    stored, erased_by = journal.of_decision(draft.decision_id)
    assert (stored.payload, stored.salt, stored.subject, stored.hash) == (None, None, "", records[1].hash)
    assert erased_by.payload == b'{"why":"law"}'
    assert ids(journal, text="secret") == []
    assert ids(journal, subject="user:ana") == []
    report = verify(journal.in_chain_order(), journal.citing, journal.heads())
    assert (report.ok, report.records, report.erased) == (True, 3, 1)


def test_whole_journal_streams_in_chain_order_over_many_batches(journal, monkeypatch):
    monkeypatch.setattr("engine.store.journal._STREAM_BATCH", 3)
    journal.append(sealed("chain_a", *(decision() for _ in range(7))))
    journal.append(sealed("chain_b", *(decision() for _ in range(2))))
    places = [(record.chain, record.seq) for record in journal.in_chain_order()]
    assert places == [("chain_a", n) for n in range(1, 9)] + [("chain_b", n) for n in range(1, 4)]
    assert [(record.chain, record.seq) for record in journal.citing()] == [("chain_a", 1), ("chain_b", 1)]


FILTERS = {
    "nothing": Filters(),
    "tenant": Filters(tenant="t"),
    "action": Filters(action="a"),
    "outcome": Filters(outcome="deny"),
    "subject": Filters(subject="s"),
    "reason": Filters(reason="r"),
    "path": Filters(path="p"),
    "time": Filters(since_ns=1, until_ns=2),
    "tenant and time": Filters(tenant="t", since_ns=1),
}


@pytest.mark.parametrize("name", FILTERS)
def test_every_filter_is_answered_from_an_index_in_order(store_url, name):
    open_store(store_url).close()
    database = open_database(store_url)
    try:
        query = JournalRepository(database).page_query(FILTERS[name], Cursor(5, 5), 50)
        plan = _plan(database, query)
    finally:
        database.close()
    assert "index" in plan or "primary key" in plan or "journal_reason_pkey" in plan
    for whole_table in ("scan journal\n", "seq scan", "temp b-tree", "sort key"):
        assert whole_table not in plan


def _plan(database: Database, query: object) -> str:
    compiled = query.compile(database.engine, compile_kwargs={"literal_binds": True})  # type: ignore[attr-defined]
    with database.read() as connection:
        if database.is_sqlite:
            rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {compiled}").all()
            return "\n".join(str(row[3]) for row in rows).lower() + "\n"
        connection.execute(text("SET enable_seqscan = off"))
        connection.execute(text("SET enable_bitmapscan = off"))
        return "\n".join(str(row[0]) for row in connection.exec_driver_sql(f"EXPLAIN {compiled}")).lower() + "\n"
