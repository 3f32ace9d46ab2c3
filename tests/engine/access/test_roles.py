from __future__ import annotations

import pytest

from engine.access.roles import GRANTS, TENANT_ROLES, Identity, Permission, Role
from engine.errors import Forbidden

MAY = {
    "tenant_user": {"decide", "read_decisions"},
    "tenant_admin": {"decide", "read_decisions"},
    "operator": {"decide", "query_data", "read_decisions", "erase_decisions", "manage_keys", "read_metrics"},
    "policy_author": {"decide", "query_data"},
    "auditor": {"read_decisions", "read_metrics"},
    "node_agent": set[str](),
}


def test_every_role_is_in_the_table_of_grants():
    assert set(GRANTS) == set(Role)


def test_table_of_grants_is_spelled_out_here_too():
    assert {role.value: {permission.value for permission in granted} for role, granted in GRANTS.items()} == MAY


@pytest.mark.parametrize("permission", Permission)
@pytest.mark.parametrize("role", Role)
def test_identity_may_what_its_role_includes_and_nothing_else(role: Role, permission: Permission):
    identity = Identity("key_1", "name", role, "acme" if role in TENANT_ROLES else "")
    allowed = permission.value in MAY[role.value]
    assert identity.may(permission) is allowed
    if allowed:
        identity.require(permission)
        return
    with pytest.raises(Forbidden) as refused:
        identity.require(permission)
    assert refused.value.message.startswith(f"role {role.value} does not include {permission.value}; it takes one of: ")


def test_refusal_names_the_roles_that_may():
    with pytest.raises(Forbidden) as refused:
        Identity("key_1", "name", Role.POLICY_AUTHOR).require(Permission.READ_METRICS)
    assert refused.value.message == (
        "role policy_author does not include read_metrics; it takes one of: auditor, operator"
    )


def test_every_permission_is_granted_to_some_role():
    assert frozenset().union(*GRANTS.values()) == set(Permission)


def test_roles_of_a_tenant_are_the_two_that_begin_so():
    assert {role for role in Role if role.value.startswith("tenant_")} == TENANT_ROLES
