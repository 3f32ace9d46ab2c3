"""API keys: 256 random bits behind an id. Only a SHA-256 is kept: what cannot be guessed needs no slower hash."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field

from engine.access.roles import TENANT_ROLES, Identity, Role
from engine.errors import InvalidParameter
from engine.ids import new_id

_FORM = re.compile(r"lictor_([0-9a-f]{32})_([A-Za-z0-9_-]{43})")


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """A key as it is stored."""

    identity: Identity
    secret_sha256: str
    created_ns: int
    revoked_ns: int | None = None


@dataclass(frozen=True, slots=True)
class PresentedKey:
    id: str
    secret: str = field(repr=False)

    def opens(self, record: KeyRecord) -> bool:
        found = hashlib.sha256(self.secret.encode()).hexdigest()
        return hmac.compare_digest(found, record.secret_sha256) and record.revoked_ns is None


def make_key(name: str, role: Role, tenant: str, now_ns: int) -> tuple[str, KeyRecord]:
    """The key in plain text, to be shown once, and what to keep of it."""
    if not 1 <= len(name) <= 100 or not name.isprintable():
        raise InvalidParameter("name: give 1 to 100 printable characters that say whose key this is")
    if (role in TENANT_ROLES) != bool(tenant):
        problem = "needs a tenant" if role in TENANT_ROLES else "is not bound to a tenant"
        raise InvalidParameter(f"tenant: role {role.value} {problem}")
    if len(tenant) > 100 or not tenant.isprintable():
        raise InvalidParameter("tenant: give at most 100 printable characters")
    key_id, secret = new_id("key"), secrets.token_urlsafe(32)
    identity = Identity(key_id, name, role, tenant)
    digest = hashlib.sha256(secret.encode()).hexdigest()
    return f"lictor_{key_id.removeprefix('key_')}_{secret}", KeyRecord(identity, digest, now_ns)


def is_key_id(text: str) -> bool:
    return re.fullmatch(r"key_[0-9a-f]{32}", text) is not None


def parse_key(text: str) -> PresentedKey | None:
    found = _FORM.fullmatch(text)
    return PresentedKey(f"key_{found[1]}", found[2]) if found else None
