from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import text

from engine.clock import SystemClock
from engine.ids import new_decision_id
from engine.journal.record import Citation, Draft, Kind, StoredRecord, Unreadable
from engine.journal.verify import Report, verify
from engine.journal.waiting import ThreadWaiting
from engine.journal.writer import Journal
from engine.jsontext import canonical
from engine.store.connection import Database, open_database
from engine.store.models import SEQ_BITS
from engine.store.opening import Store, open_store

FIRST, SECOND = 1 << SEQ_BITS, 2 << SEQ_BITS


@pytest.fixture
def store(tmp_path) -> Iterator[Store]:
    """Two chains of a start record and three decisions each."""
    url = f"sqlite:///{tmp_path / 'store.db'}"
    for _ in range(2):
        store = open_store(url)
        journal = Journal(store.journal, ThreadWaiting(), SystemClock())
        journal.open()
        for _ in range(3):
            draft = Draft(Kind.DECISION, new_decision_id(), 1, b'{"subject":"user:ana"}', subject="user:ana")
            journal.submit(draft).result(20)
        journal.close()
        store.close()
    store = open_store(url)
    yield store
    store.close()


@pytest.fixture
def tamper(store: Store, tmp_path) -> Iterator[Callable[[str], None]]:
    database: Database = open_database(f"sqlite:///{tmp_path / 'store.db'}")

    def run(statement: str) -> None:
        with database.write() as connection:
            assert connection.execute(text(statement)).rowcount >= 1

    yield run
    database.close()


def proof(store: Store, expected: list[Citation] | None = None) -> Report:
    return verify(store.journal.in_chain_order(), store.journal.citing, expected or [])


def faults(report: Report) -> list[tuple[str, int]]:
    return [(fault.code, fault.seq) for fault in report.faults]


def test_untouched_journal_is_whole(store):
    report = proof(store, store.journal.heads())
    assert (report.ok, report.records, report.chains, report.erased) == (True, 8, 2, 0)
    assert report.heads == store.journal.heads()


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("outcome", "'allow'"), ("tenant", "'other'"), ("action", "'x'"), ("path", "'x'"), ("time_ns", "5"),
        ("decision_id", "'x'"), ("reasons", "'[[\"a\",\"b\"]]'"), ("revision", "'x'"), ("bundle_digest", "'x'"),
        ("durability", "'relaxed'"), ("kind", "'effect'"), ("cites", "'[[\"c\",1,\"h\"]]'"),
    ],
)  # fmt: skip
def test_any_changed_header_field_is_found(store, tamper, column, value):
    tamper(f"UPDATE journal SET {column} = {value} WHERE id = {FIRST + 2}")
    assert ("changed", 2) in faults(proof(store))


def test_changed_header_with_its_hash_recomputed_breaks_the_link(store, tamper):
    tamper(f"UPDATE journal SET hash = '{'f' * 64}' WHERE id = {FIRST + 2}")
    assert faults(proof(store)) == [("changed", 2), ("broken_link", 3)]


def test_changed_payload_is_found(store, tamper):
    tamper(f"UPDATE journal SET payload = x'7b7d' WHERE id = {FIRST + 3}")
    assert faults(proof(store)) == [("payload_changed", 3)]


def test_changed_index_of_an_erasable_field_is_found(store, tamper):
    tamper(f"UPDATE journal SET subject = 'user:bo' WHERE id = {FIRST + 3}")
    assert faults(proof(store)) == [("index_changed", 3)]


def test_payload_taken_without_a_record_of_it_is_found(store, tamper):
    tamper(f"UPDATE journal SET payload = NULL, salt = NULL, subject = '' WHERE id = {FIRST + 3}")
    assert faults(proof(store)) == [("payload_missing", 3)]


def test_record_missing_in_the_middle_is_a_gap(store, tamper):
    tamper(f"DELETE FROM journal WHERE id = {FIRST + 2}")
    assert faults(proof(store)) == [("gap", 3)]


def test_chain_without_its_beginning_is_found(store, tamper):
    tamper(f"DELETE FROM journal WHERE id = {FIRST + 1}")
    assert faults(proof(store)) == [("chain_start", 2)]


def test_cut_tail_of_a_cited_chain_is_found(store, tamper):
    tamper(f"DELETE FROM journal WHERE id = {FIRST + 4}")
    assert faults(proof(store)) == [("citation_broken", 4)]


def test_vanished_chain_is_found_by_the_one_that_cites_it(store, tamper):
    tamper(f"DELETE FROM journal WHERE id < {SECOND}")
    assert faults(proof(store)) == [("citation_broken", 4)]


def test_cut_tail_of_the_newest_chain_is_found_only_with_its_head_from_elsewhere(store, tamper):
    heads = store.journal.heads()
    tamper(f"DELETE FROM journal WHERE id = {SECOND + 4}")
    assert faults(proof(store)) == []
    assert faults(proof(store, heads)) == [("citation_broken", 4)]


def test_record_swapped_for_another_of_the_same_chain_is_found(store, tamper):
    tamper(f"UPDATE journal SET id = 7 WHERE id = {FIRST + 2}")
    tamper(f"UPDATE journal SET id = {FIRST + 2} WHERE id = {FIRST + 3}")
    tamper(f"UPDATE journal SET id = {FIRST + 3} WHERE id = 7")
    assert {code for code, _ in faults(proof(store))} == {"changed", "broken_link"}


@pytest.mark.parametrize(
    "change", ["kind = 'zzz'", "reasons = 'zzz'", "cites = '[[1]]'", "payload = 'text'", "durability = 'x'"]
)
def test_row_that_is_no_record_is_a_fault_and_not_the_end(store, tamper, change):
    tamper(f"UPDATE journal SET {change} WHERE id = {FIRST + 2}")
    report = proof(store)
    assert ("unreadable", 2) in faults(report)
    assert report.records == 8


def test_payload_erased_while_the_journal_is_read_is_no_fault(store):
    target = next(r for r in store.journal.in_chain_order() if isinstance(r, StoredRecord) and r.kind is Kind.DECISION)
    erasure = Draft(Kind.ERASURE, target.decision_id, 9, b"{}", cites=(target.citation,))

    def citing() -> Iterator[StoredRecord]:
        yield from list(store.journal.citing())

    def records() -> Iterator[StoredRecord | Unreadable]:
        journal = Journal(store.journal, ThreadWaiting(), SystemClock())
        journal.open()
        journal.submit(erasure).result(20)
        journal.close()
        yield from store.journal.in_chain_order()

    report = verify(records(), citing)
    assert (report.faults, report.erased) == ([], 1)


def test_forged_content_in_an_erased_record_is_found(store, tamper):
    target = next(r for r in store.journal.in_chain_order() if isinstance(r, StoredRecord) and r.kind is Kind.DECISION)
    journal = Journal(store.journal, ThreadWaiting(), SystemClock())
    journal.open()
    journal.submit(Draft(Kind.ERASURE, target.decision_id, 9, b"{}", cites=(target.citation,))).result(20)
    journal.close()
    assert proof(store).ok
    tamper(f"UPDATE journal SET payload = x'7b7d' WHERE id = {FIRST + 2}")
    assert faults(proof(store)) == [("payload_changed", 2)]
    tamper(f"UPDATE journal SET payload = NULL, subject = 'user:eve' WHERE id = {FIRST + 2}")
    assert faults(proof(store)) == [("index_changed", 2)]


def test_row_before_the_first_place_is_found(store, tamper):
    columns = "prev, hash, kind, decision_id, time_ns, path, action, tenant, outcome, reasons, revision, bundle_digest"
    rest = "cites, durability, payload_digest, payload, salt, subject"
    tamper(f"INSERT INTO journal SELECT -5, {columns}, {rest} FROM journal WHERE id = {FIRST + 2}")
    assert not proof(store).ok


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM journal_reason",
        "UPDATE journal_reason SET time_ns = 5",
        f"INSERT INTO journal_reason VALUES ('forged_code', 1, {FIRST + 3})",
        "DELETE FROM journal_text",
        "UPDATE journal_text SET text = 'innocent words'",
    ],
)
def test_index_that_lies_is_found(tmp_path, statement):
    url = f"sqlite:///{tmp_path / 'store.db'}"
    store = open_store(url)
    journal = Journal(store.journal, ThreadWaiting(), SystemClock())
    journal.open()
    payload = canonical({"subject": "", "input": {"request": {"workload": "llama"}}})
    for code in ("a_code", "b_code"):
        reasons = ((code, "authority"),)
        draft = Draft(Kind.DECISION, new_decision_id(), 1, payload, tenant="acme", reasons=reasons, text="llama")
        journal.submit(draft).result(20)
    journal.close()
    assert proof(store).ok
    with sqlite3.connect(tmp_path / "store.db") as outsider:
        outsider.execute(statement)
    outsider.close()
    assert {code for code, _ in faults(proof(store))} == {"index_changed"}
    store.close()


def test_index_rows_of_no_record_are_counted(store, tamper):
    assert store.journal.stray_index_rows() == 0
    tamper("INSERT INTO journal_reason VALUES ('forged_code', 1, 77)")
    tamper("INSERT INTO journal_text (rowid, text) VALUES (78, 'forged')")
    assert store.journal.stray_index_rows() == 2


def test_chain_that_is_there_twice_is_found(store):
    records = list(store.journal.in_chain_order())
    assert "chain_twice" in {code for code, _ in faults(verify([*records, *records], store.journal.citing))}


def test_nothing_is_no_proof():
    assert not verify([], list).ok


def test_no_more_than_a_hundred_faults_are_listed(store, tamper, monkeypatch):
    monkeypatch.setattr("engine.journal.verify.MAX_FAULTS", 3)
    tamper("UPDATE journal SET tenant = 'x'")
    report = proof(store)
    assert len(report.faults) == 3
    assert not report.ok
