"""What each entrypoint answers.

A rule set that is true to these is enforced by `engine.decision`: an answer of another shape becomes a denial with a
`fault` reason that names the field.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, JsonValue, NonNegativeInt, model_validator

from engine.contracts.model import Contract
from engine.contracts.reason import Reason, ReasonKind


class Outcome(StrEnum):
    ALLOW = "allow"
    QUEUE = "queue"
    DENY = "deny"


class Obligation(Contract):
    """What must be honoured if the action goes ahead: `{"type": "max_runtime", "parameters": {"hours": 24}}`."""

    type: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{1,63}$")]
    parameters: dict[str, JsonValue] = Field(default_factory=dict)


class EntrypointResult(Contract):
    reasons: list[Reason]

    @property
    def verdict(self) -> str:
        """The word that the journal files the decision under."""
        return "answered"


class AdmissionResult(EntrypointResult):
    """`lictor/admission`: may this product action go ahead?"""

    outcome: Annotated[Outcome, Field(strict=False)]
    obligations: list[Obligation]

    @model_validator(mode="after")
    def reasons_explain_the_outcome(self) -> Self:
        kinds = {reason.kind for reason in self.reasons}
        if self.outcome is Outcome.ALLOW and kinds:
            raise ValueError("outcome is allow, yet there are reasons against it")
        if self.outcome is Outcome.QUEUE and kinds != {ReasonKind.CAPACITY}:
            raise ValueError("outcome is queue: it needs reasons, all of kind capacity")
        if self.outcome is Outcome.DENY and not kinds:
            raise ValueError("outcome is deny without a reason")
        return self

    @property
    def verdict(self) -> str:
        return self.outcome.value


class SkuEntitlement(Contract):
    """What a tenant may still hold of one SKU: the smallest of its own and every ancestor's envelope."""

    guaranteed: NonNegativeInt
    burst: NonNegativeInt
    used: NonNegativeInt
    guaranteed_left: NonNegativeInt
    burst_left: NonNegativeInt


class EntitlementResult(EntrypointResult):
    """`lictor/entitlement`: what may this tenant hold and ask for?

    Its reasons say why something that the tenant has on paper is not in force, such as a suspended ancestor.
    """

    tier: str | None
    """Null when the tenant's tier is not one of the bundle's."""
    skus: dict[str, SkuEntitlement]
    priorities: list[str]
    shapes: list[str]
    regions: list[str]
