"""What the starter bundle keeps out of the journal."""

from __future__ import annotations

import pytest

from engine.jsontext import JsonValue
from tests.policy.conftest import Ask


@pytest.mark.parametrize(
    ("recorded", "masked"),
    [
        ({"request": {"secrets": {"token": "t"}}}, ["/input/request/secrets"]),
        ({"request": {"secrets": False}}, ["/input/request/secrets"]),
        ({"request": {"secrets": None}}, ["/input/request/secrets"]),
        ({"subject": {"credential": "c"}}, ["/input/subject/credential"]),
        (
            {"request": {"secrets": {}}, "subject": {"credential": "c"}},
            ["/input/request/secrets", "/input/subject/credential"],
        ),
        ({"request": {"sku": "h100-80g"}, "subject": {"id": "user:ana"}}, []),
        ({}, []),
        (None, []),
    ],
)
def test_mask_names_the_secrets_that_are_there(recorded: JsonValue, masked: list[str], ask: Ask) -> None:
    record: JsonValue = {"path": "lictor/admission", "input": recorded}
    assert ask("system/log/mask", record) == masked
