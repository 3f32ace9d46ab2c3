from __future__ import annotations

import base64

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import InvalidParameter
from engine.journal.checkpoint import heads_of, make_checkpoint, public_text
from engine.journal.record import Citation
from engine.jsontext import JsonValue, canonical, parse
from tests.builders import NOON_NS

KEY = Ed25519PrivateKey.from_private_bytes(b"k" * 32)
OTHER = Ed25519PrivateKey.from_private_bytes(b"o" * 32)
HEADS = [Citation("chain_1", 7, "a" * 64), Citation("chain_2", 1, "b" * 64)]
DAMAGED = "checkpoint: its signature does not hold; it was changed or damaged"


def checkpoint() -> dict[str, JsonValue]:
    return make_checkpoint(HEADS, NOON_NS, KEY)


def refusal(value: JsonValue, trusted: str | None = None) -> str:
    with pytest.raises(InvalidParameter) as refused:
        heads_of(value, trusted)
    return refused.value.message


def test_checkpoint_states_time_heads_and_key():
    made = checkpoint()
    del made["signature"]
    assert made == {
        "timestamp": "2026-01-01T12:00:00.000000000Z",
        "heads": [
            {"chain": "chain_1", "seq": 7, "hash": "a" * 64},
            {"chain": "chain_2", "seq": 1, "hash": "b" * 64},
        ],
        "public_key": base64.b64encode(KEY.public_key().public_bytes_raw()).decode(),
    }


@given(st.lists(st.builds(Citation, st.text(), st.integers(0, 2**70), st.text()), max_size=3), st.integers(0, 2**62))
def test_heads_of_a_checkpoint_are_those_it_was_made_of(heads: list[Citation], now_ns: int):
    made = parse(canonical(make_checkpoint(heads, now_ns, KEY)))
    assert heads_of(made) == heads
    assert heads_of(made, public_text(KEY.public_key())) == heads


def test_trusted_key_may_have_the_line_end_of_its_file():
    assert heads_of(checkpoint(), public_text(KEY.public_key()) + "\n") == HEADS


def test_checkpoint_of_another_key_is_refused():
    message = "checkpoint: signed by another key than the one given with --public-key"
    assert refusal(checkpoint(), public_text(OTHER.public_key())) == message
    assert refusal(make_checkpoint(HEADS, NOON_NS, OTHER), public_text(KEY.public_key())) == message


def test_checkpoint_that_names_the_trusted_key_but_is_signed_by_another_is_refused():
    forged = make_checkpoint(HEADS, NOON_NS, OTHER)
    forged["public_key"] = public_text(KEY.public_key())
    assert refusal(forged, public_text(KEY.public_key())) == DAMAGED


HEAD_1: JsonValue = {"chain": "chain_1", "seq": 7, "hash": "a" * 64}
HEAD_2: JsonValue = {"chain": "chain_2", "seq": 1, "hash": "b" * 64}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("timestamp", "2026-01-01T12:00:00.000000001Z"),
        ("heads", []),
        ("heads", [HEAD_1]),
        ("heads", [HEAD_2, HEAD_1]),
        ("heads", [{"chain": "chain_1", "seq": 6, "hash": "a" * 64}, HEAD_2]),
        ("heads", [{"chain": "chain_3", "seq": 7, "hash": "a" * 64}, HEAD_2]),
        ("heads", [{"chain": "chain_1", "seq": 7, "hash": "c" * 64}, HEAD_2]),
        ("heads", None),
        ("public_key", public_text(OTHER.public_key())),
        ("public_key", "x"),
        ("public_key", None),
        ("signature", base64.b64encode(b"\0" * 64).decode()),
        ("signature", ""),
        ("signature", "é"),
        ("signature", None),
        ("added", 1),
    ],
)
def test_checkpoint_with_any_field_changed_is_refused(field: str, value: JsonValue):
    assert refusal({**checkpoint(), field: value}) == DAMAGED


@pytest.mark.parametrize("field", sorted(checkpoint()))
def test_checkpoint_without_one_of_its_fields_is_refused(field: str):
    made = checkpoint()
    del made[field]
    assert refusal(made) == DAMAGED


@given(st.integers(0, 511))
def test_signature_with_any_bit_changed_is_refused(bit: int):
    made = checkpoint()
    signature = bytearray(base64.b64decode(str(made["signature"])))
    signature[bit // 8] ^= 1 << bit % 8
    assert refusal({**made, "signature": base64.b64encode(signature).decode()}) == DAMAGED


def test_signature_with_foreign_characters_is_refused():
    assert refusal({**checkpoint(), "signature": f"!{checkpoint()['signature']}"}) == DAMAGED


@pytest.mark.parametrize("value", [None, [], "x", 1])
def test_value_that_is_no_checkpoint_is_refused(value: JsonValue):
    assert refusal(value) == "checkpoint: not one that `lictor decisions checkpoint` wrote"


def test_signed_statement_with_heads_of_another_form_is_refused():
    statement: dict[str, JsonValue] = {"public_key": public_text(KEY.public_key()), "heads": [{"chain": "c"}]}
    signature = base64.b64encode(KEY.sign(canonical(statement))).decode()
    assert refusal({**statement, "signature": signature}) == DAMAGED
