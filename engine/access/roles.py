"""Roles, and what each includes, in one table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from engine.errors import Forbidden


class Role(StrEnum):
    TENANT_USER = "tenant_user"
    TENANT_ADMIN = "tenant_admin"
    OPERATOR = "operator"
    POLICY_AUTHOR = "policy_author"
    AUDITOR = "auditor"
    NODE_AGENT = "node_agent"


class Permission(StrEnum):
    DECIDE = "decide"
    """Ask an entrypoint."""
    QUERY_DATA = "query_data"
    """Ask any path of the bundle: its tables may name other tenants."""
    READ_DECISIONS = "read_decisions"
    """A tenant's identity sees that tenant's only."""
    ERASE_DECISIONS = "erase_decisions"
    MANAGE_KEYS = "manage_keys"
    READ_METRICS = "read_metrics"


_ALL = frozenset(Permission)
_TENANT = frozenset({Permission.DECIDE, Permission.READ_DECISIONS})

GRANTS: Final[Mapping[Role, frozenset[Permission]]] = MappingProxyType(
    {
        Role.TENANT_USER: _TENANT,
        Role.TENANT_ADMIN: _TENANT,
        Role.OPERATOR: _ALL,
        Role.POLICY_AUTHOR: frozenset({Permission.DECIDE, Permission.QUERY_DATA}),
        Role.AUDITOR: frozenset({Permission.READ_DECISIONS, Permission.READ_METRICS}),
        Role.NODE_AGENT: frozenset(),
    }
)

TENANT_ROLES: Final = frozenset({Role.TENANT_USER, Role.TENANT_ADMIN})


@dataclass(frozen=True, slots=True)
class Identity:
    id: str
    name: str
    role: Role
    tenant: str = ""
    """The only tenant that this identity may see; empty for roles of the platform."""

    def may(self, permission: Permission) -> bool:
        return permission in GRANTS[self.role]

    def require(self, permission: Permission) -> None:
        if not self.may(permission):
            able = sorted(role.value for role, granted in GRANTS.items() if permission in granted)
            raise Forbidden(
                f"role {self.role.value} does not include {permission.value}; it takes one of: {', '.join(able)}"
            )
