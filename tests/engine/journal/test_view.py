from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import InvalidParameter
from engine.journal.record import Citation, Draft, Durability, Kind, StoredRecord, hash_of
from engine.journal.view import record_of, view_of
from engine.jsontext import JsonValue, canonical, parse
from tests.builders import chain, draft, erased, nested, sealed, start, stored

CITED = Citation("chain_0", 7, "a" * 64)

texts = st.text(max_size=10)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
json_values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=8
)
payloads = st.fixed_dictionaries(
    {"subject": texts, "metrics": json_values},
    optional={"input": json_values, "result": json_values, "erased": st.just(["/input"]), "labels": json_values},
)
citations = st.builds(Citation, texts, st.integers(0, 2**40), texts)


@st.composite
def records(draw: st.DrawFn) -> StoredRecord:
    payload = draw(payloads)
    made = Draft(
        kind=draw(st.sampled_from(Kind)),
        decision_id=draw(texts),
        time_ns=draw(st.integers(0, 2**63 - 1)),
        payload=canonical(payload),
        path=draw(texts),
        action=draw(texts),
        tenant=draw(texts),
        outcome=draw(texts),
        reasons=tuple(draw(st.lists(st.tuples(texts, texts), max_size=3))),
        revision=draw(texts),
        bundle_digest=draw(texts),
        subject=str(payload["subject"]),
        cites=tuple(draw(st.lists(citations, max_size=2))),
    )
    record = stored(sealed(made, durability=draw(st.sampled_from(Durability)))[0])
    return erased(record) if draw(st.booleans()) else record


@given(records())
def test_exported_record_read_back_is_the_same_record(record: StoredRecord):
    again = record_of(parse(canonical(view_of(record))))
    assert again == record
    assert hash_of(again) == record.hash


def test_view_has_the_names_of_opa_and_ours():
    record = chain(draft())[1]
    assert view_of(record) == {
        "kind": "decision",
        "decision_id": record.decision_id,
        "timestamp": "2026-01-01T12:00:00.000000000Z",
        "path": "lictor/admission",
        "action": "submit_workload",
        "tenant": "acme",
        "outcome": "deny",
        "reasons": [{"code": "envelope_exceeded", "kind": "authority"}],
        "bundles": {"lictor": {"revision": "r1", "digest": "sha256:" + "b" * 64}},
        "cites": [],
        "chain": "chain_1",
        "seq": 2,
        "prev": record.prev,
        "hash": record.hash,
        "durability": "durable",
        "payload_digest": record.payload_digest,
        "salt": "AQEBAQEBAQEBAQEBAQEBAQ==",
        "replayable": True,
        "input": {"tenant": {"id": "acme"}},
        "subject": "wl_1",
    }


def test_erased_record_shows_its_header_only():
    whole = view_of(chain(draft())[1])
    bare = view_of(erased(chain(draft())[1]))
    assert bare == {**{name: whole[name] for name in bare}, "salt": None, "replayable": False}
    assert whole.keys() - bare.keys() == {"input", "subject"}


@pytest.mark.parametrize(
    ("changes", "replayable"),
    [
        ({}, True),
        ({"payload": b'{"erased":["/input/a"],"masked":[]}'}, False),
        ({"payload": b'{"erased":[],"masked":["/input/a"]}'}, False),
        ({"payload": b'{"erased":[],"masked":[]}'}, True),
        ({"kind": Kind.EFFECT}, False),
        ({"kind": Kind.ERASURE}, False),
    ],
)
def test_only_a_whole_decision_is_replayable(changes: dict[str, object], replayable: bool):
    assert view_of(chain(draft(**changes))[1])["replayable"] is replayable


def test_start_record_shows_what_it_cites():
    record = stored(sealed(start((CITED,)))[0])
    assert view_of(record)["cites"] == [{"chain": "chain_0", "seq": 7, "hash": "a" * 64}]
    assert record_of(view_of(record)) == record


@pytest.mark.parametrize("depth", [129, 600])
def test_payload_deeper_than_a_request_may_be_is_shown(depth: int):
    record = chain(draft(payload=canonical({"input": nested(depth)}), subject=""))[1]
    assert view_of(record)["input"] == nested(depth)
    assert record_of(view_of(record)) == record


@pytest.mark.parametrize(
    "name",
    [
        "kind", "decision_id", "timestamp", "path", "action", "tenant", "outcome", "reasons", "bundles", "cites",
        "chain", "seq", "prev", "hash", "durability", "payload_digest", "salt",
    ],
)  # fmt: skip
def test_view_without_one_of_its_fields_is_no_record(name: str):
    view = view_of(chain(draft())[1])
    del view[name]
    with pytest.raises(InvalidParameter, match=r"not a record that `lictor decisions export` wrote: it has no '"):
        record_of(view)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kind", "other"), ("kind", None), ("decision_id", 1), ("timestamp", "yesterday"), ("timestamp", 1),
        ("reasons", {}), ("reasons", ["x"]), ("reasons", [{"code": "x"}]), ("bundles", None), ("bundles", {}),
        ("bundles", {"lictor": {"revision": 1, "digest": "d"}}), ("cites", None), ("cites", [{"chain": "c"}]),
        ("cites", [{"chain": "c", "seq": True, "hash": "h"}]), ("seq", "1"), ("seq", 1.0), ("seq", True),
        ("durability", "maybe"), ("salt", "not base64!"), ("salt", 5), ("subject", 5),
    ],
)  # fmt: skip
def test_view_with_a_wrong_field_is_no_record(name: str, value: JsonValue):
    with pytest.raises(InvalidParameter, match="not a record that `lictor decisions export` wrote"):
        record_of({**view_of(chain(draft())[1]), name: value})


@pytest.mark.parametrize("value", [None, [], "x", 1, {}])
def test_value_that_is_no_view_is_no_record(value: JsonValue):
    with pytest.raises(InvalidParameter, match="not a record that `lictor decisions export` wrote"):
        record_of(value)


def test_payload_changed_in_an_export_is_another_payload():
    record = chain(draft())[1]
    view = view_of(record)
    assert record_of({**view, "input": {}}) == replace(record, payload=b'{"input":{},"subject":"wl_1"}')
    assert record_of({**view, "extra": 1}).payload != record.payload


def test_erased_view_with_content_is_no_record():
    view = view_of(erased(chain(draft())[1]))
    view["result"] = {"outcome": "allow"}
    with pytest.raises(InvalidParameter, match="erased, yet it has result"):
        record_of(view)


def test_view_that_claims_to_be_replayable_and_is_not_is_no_record():
    view = view_of(chain(draft())[1])
    with pytest.raises(InvalidParameter, match="replayable is not what the rest"):
        record_of({**view, "replayable": not view["replayable"]})
