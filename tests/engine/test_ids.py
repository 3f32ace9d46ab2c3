from __future__ import annotations

import re
import uuid

import pytest

from engine.ids import is_decision_id, new_decision_id, new_id


def test_new_id_has_its_prefix_and_the_hex_of_a_uuid7():
    made = new_id("key")
    assert re.fullmatch(r"key_[0-9a-f]{32}", made)
    assert uuid.UUID(made.removeprefix("key_")).version == 7


def test_new_ids_differ_and_sort_by_time():
    made = [new_id("wl") for _ in range(1000)]
    assert made == sorted(set(made))


def test_new_decision_id_is_a_plain_uuid7():
    made = new_decision_id()
    assert str(uuid.UUID(made)) == made
    assert uuid.UUID(made).version == 7
    assert is_decision_id(made)


def test_uuid_of_another_version_is_a_decision_id_as_opa_makes_them():
    assert is_decision_id("4ca636c1-55e4-417a-b1d8-4aceb67960d1")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "key_0198c5a2000070008000000000000001",
        "0198c5a2-0000-7000-8000-00000000000",
        "0198c5a2000070008000000000000001",
        "0198C5A2-0000-7000-8000-000000000001",
        "0198c5a2-0000-7000-8000-000000000001\n",
        "0198c5a2-0000-7000-8000-00000000000g",
        "' OR 1=1",
    ],
)
def test_text_of_another_form_is_no_decision_id(text: str):
    assert not is_decision_id(text)
