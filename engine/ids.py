"""Ids: UUIDv7, so that they sort by time, with a prefix that says what they name (`key_…`)."""

from __future__ import annotations

import re

import uuid_utils

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def new_id(prefix: str) -> str:
    return f"{prefix}_{uuid_utils.uuid7().hex}"


def new_decision_id() -> str:
    """A plain UUID, as OPA's decision ids are."""
    return str(uuid_utils.uuid7())


def is_decision_id(text: str) -> bool:
    return _UUID.fullmatch(text) is not None
