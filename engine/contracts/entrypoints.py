"""The entrypoints, in one table: the paths that contracts bind. Any other path answers as OPA would."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from engine.contracts.results import AdmissionResult, EntitlementResult, EntrypointResult

ENTRYPOINTS: Final[Mapping[str, type[EntrypointResult] | None]] = MappingProxyType(
    {
        "lictor/entitlement": EntitlementResult,
        "lictor/admission": AdmissionResult,
        # Their contracts come with their rules. Until then a bundle has no answer that could be trusted: denied.
        "lictor/cotenancy": None,
        "lictor/preemption": None,
        "lictor/degradation": None,
    }
)
