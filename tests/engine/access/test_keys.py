from __future__ import annotations

import hashlib
import re
from dataclasses import replace

import pytest

from engine.access.keys import KeyRecord, PresentedKey, make_key, parse_key
from engine.access.roles import TENANT_ROLES, Identity, Role
from engine.errors import InvalidParameter
from tests.builders import NOON_NS


def key() -> tuple[str, KeyRecord]:
    return make_key("laptop of ada", Role.OPERATOR, "", NOON_NS)


def test_made_key_opens_its_record():
    text, record = key()
    presented = parse_key(text)
    assert presented is not None
    assert presented.id == record.identity.id
    assert presented.opens(record)


def test_record_of_a_key_says_whose_it_is_and_when_it_was_made():
    _, record = make_key("ada", Role.TENANT_USER, "acme", NOON_NS)
    assert record == KeyRecord(
        Identity(record.identity.id, "ada", Role.TENANT_USER, "acme"), record.secret_sha256, NOON_NS, None
    )


def test_secret_of_a_key_is_not_in_its_record():
    text, record = key()
    secret = text[len("lictor_") + 33 :]
    assert secret not in repr(record)
    assert text not in repr(record)
    assert record.secret_sha256 == hashlib.sha256(secret.encode()).hexdigest()


def test_presented_key_does_not_show_its_secret():
    assert repr(PresentedKey("key_1", "s3cret")) == "PresentedKey(id='key_1')"


def test_key_has_256_random_bits_and_a_form_that_scanners_can_find():
    texts = {key()[0] for _ in range(50)}
    assert len({text[40:] for text in texts}) == 50
    assert all(re.fullmatch(r"lictor_[0-9a-f]{32}_[A-Za-z0-9_-]{43}", text) for text in texts)


def test_wrong_secret_does_not_open():
    text, record = key()
    presented = parse_key(text)
    assert presented is not None
    changed = ("A" if presented.secret[0] != "A" else "B") + presented.secret[1:]
    assert not PresentedKey(presented.id, changed).opens(record)
    assert not PresentedKey(presented.id, "").opens(record)


def test_key_of_another_record_does_not_open():
    text, _ = key()
    _, other = key()
    presented = parse_key(text)
    assert presented is not None
    assert not presented.opens(other)


@pytest.mark.parametrize("revoked_ns", [0, NOON_NS])
def test_revoked_key_does_not_open(revoked_ns: int):
    text, record = key()
    presented = parse_key(text)
    assert presented is not None
    assert not presented.opens(replace(record, revoked_ns=revoked_ns))


@pytest.mark.parametrize("role", Role)
def test_tenant_is_needed_by_roles_of_a_tenant_and_by_no_other(role: Role):
    needed = role in TENANT_ROLES
    _, record = make_key("ada", role, "acme" if needed else "", NOON_NS)
    assert record.identity.role is role
    with pytest.raises(InvalidParameter) as refused:
        make_key("ada", role, "" if needed else "acme", NOON_NS)
    problem = "needs a tenant" if needed else "is not bound to a tenant"
    assert refused.value.message == f"tenant: role {role.value} {problem}"


@pytest.mark.parametrize("name", ["", "x" * 101, "a\nb", "a\x00", "\u202e"])
def test_name_that_cannot_be_shown_is_refused(name: str):
    with pytest.raises(InvalidParameter, match=r"^name: give 1 to 100 printable characters"):
        make_key(name, Role.OPERATOR, "", NOON_NS)


@pytest.mark.parametrize("tenant", ["x" * 101, "a\nb", "\x00"])
def test_tenant_that_cannot_be_shown_is_refused(tenant: str):
    with pytest.raises(InvalidParameter, match=r"^tenant: give at most 100 printable characters$"):
        make_key("ada", Role.TENANT_ADMIN, tenant, NOON_NS)


def test_name_and_tenant_of_100_characters_are_taken():
    _, record = make_key("n" * 100, Role.TENANT_ADMIN, "t" * 100, NOON_NS)
    assert (record.identity.name, record.identity.tenant) == ("n" * 100, "t" * 100)


GOOD = "lictor_" + "0" * 32 + "_" + "a" * 43


@pytest.mark.parametrize(
    "text",
    [
        "",
        "lictor",
        GOOD[:-1],
        GOOD + "x",
        GOOD + "\n",
        " " + GOOD,
        GOOD.upper(),
        GOOD.replace("lictor_", "lictor-"),
        GOOD[:-1] + "+",
        GOOD[:10] + "g" + GOOD[11:],
        "lictor__" + GOOD[40:],
    ],
)
def test_text_of_another_form_is_no_key(text: str):
    assert parse_key(GOOD) == PresentedKey("key_" + "0" * 32, "a" * 43)
    assert parse_key(text) is None
