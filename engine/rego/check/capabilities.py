"""Which builtins a policy may call. What reaches outside of a decision is refused when a policy is loaded."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from engine.rego.builtins.registry import BUILTINS

OUTSIDE: Final = frozenset({"http.send", "net.lookup_ip_addr", "opa.runtime"})
"""They ask the network or the process. Time, chance and UUIDs are values of the decision, and stay."""

WITHOUT_CODE: Final = frozenset(
    {"eq", "assign", "print", "rego.metadata.chain", "rego.metadata.rule", "internal.template_string"}
)
"""The compiler itself knows what they mean."""

SETTING: Final = "LICTOR_ALLOWED_BUILTINS"


def refusal(name: str, allowed: Collection[str]) -> str | None:
    """Why a builtin of OPA must not be called, if so. One that is in `allowed` is never refused here."""
    if name in allowed or name in WITHOUT_CODE:
        return None
    if name in OUTSIDE:
        return f"undefined function {name}: decisions must not reach outside; {SETTING} can permit it"
    if name not in BUILTINS:
        return f"undefined function {name}: this evaluator does not have it"
    return None
