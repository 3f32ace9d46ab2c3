"""Certificate policies: whether a chain that asks for an explicit policy still has one (RFC 5280 6.1, RFC 9618)."""

from __future__ import annotations

from typing import Final

from engine.rego.builtins.x509_certificate import Certificate
from engine.rego.builtins.x509_extensions import Meaning
from engine.rego.builtins.x509_keys import ObjectId

_ANY: Final[ObjectId] = (2, 5, 29, 32, 0)


def policies_hold(chain: list[tuple[Certificate, Meaning]]) -> bool:
    """The leaf first. The user asks for no policy in particular, so that only whether there is one matters."""
    if len(chain) == 1:
        return True
    explicit = mapping = inhibit_any = len(chain)
    valid: set[ObjectId] | None = {_ANY}
    for place in range(len(chain) - 2, -1, -1):
        certificate, meaning = chain[place]
        is_own = certificate.issuer.raw == certificate.subject.raw
        if not meaning.policies:
            valid = None
        if explicit == 0 and not valid:
            return False
        if valid is not None:
            takes_any = inhibit_any > 0 or (place > 0 and is_own)
            valid = _inherited(valid, set(meaning.policies or ()), takes_any)
            if place and meaning.policy_mappings:
                if mapping > 0 and any(_ANY in pair for pair in meaning.policy_mappings):
                    return False
                valid = _mapped(valid, meaning, allowed=mapping > 0)
        if place:
            step = int(not is_own)
            explicit = _least(max(0, explicit - step), meaning.require_explicit_policy)
            mapping = _least(max(0, mapping - step), meaning.inhibit_policy_mapping)
            inhibit_any = _least(max(0, inhibit_any - step), meaning.inhibit_any_policy)
    explicit = 0 if chain[0][1].require_explicit_policy == 0 else max(0, explicit - 1)
    return explicit > 0 or bool(valid)


def _inherited(expected: set[ObjectId], own: set[ObjectId], takes_any: bool) -> set[ObjectId]:
    valid = {policy for policy in own - {_ANY} if policy in expected or _ANY in expected}
    return valid | expected if _ANY in own and takes_any else valid


def _mapped(valid: set[ObjectId], meaning: Meaning, *, allowed: bool) -> set[ObjectId]:
    """What is expected of the next certificate."""
    issuers = {issuer for issuer, _ in meaning.policy_mappings}
    kept = valid - issuers
    if not allowed:
        return kept
    return kept | {to for issuer, to in meaning.policy_mappings if issuer in valid or _ANY in valid}


def _least(count: int, asked: int | None) -> int:
    return count if asked is None or asked < 0 else min(count, asked)
