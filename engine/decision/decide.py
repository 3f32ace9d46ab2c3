"""`decide`: a loaded bundle and a question in, a decision out. Pure, and closed when anything is amiss.

An entrypoint of `engine.contracts` gets an answer in its contract, or a denial with a `fault` reason in the shape of
`lictor/admission`: where there is no bundle, the result is undefined, an error or of another shape. Any other path
answers as OPA would.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from pydantic import ValidationError

from engine.contracts.entrypoints import ENTRYPOINTS
from engine.contracts.reason import CODE_PATTERN, MESSAGE_LENGTH, Reason, ReasonKind
from engine.contracts.results import AdmissionResult, EntrypointResult, Outcome
from engine.evaluator.port import Defined, Evaluation, EvaluationError, Policy, Question, Undefined
from engine.jsontext import JsonValue


@dataclass(frozen=True, slots=True)
class Decision:
    evaluation: Evaluation
    """What the caller is answered."""
    outcome: str
    """`allow`, `queue` or `deny`; `answered`, `undefined` or `error` where the path has no such word."""
    reasons: tuple[Reason, ...] = ()

    @property
    def is_fault(self) -> bool:
        return self.outcome == "error" or any(reason.kind is ReasonKind.FAULT for reason in self.reasons)


def decide(policy: Policy | None, question: Question) -> Decision:
    if question.path in ENTRYPOINTS:
        return _bound(question.path, policy, question)
    evaluation = policy.evaluate(question) if policy else _NO_BUNDLE
    return _as_opa(evaluation)


FAULT_REASONS: Final = {
    "bundle_missing": "no bundle could be loaded; mend the bundle and start again, or roll back to a good one",
    "result_undefined": "the bundle has no answer for this entrypoint",
    "contract_broken": "the bundle's answer is not of the shape that the entrypoint promises",
    "mask_failed": "the bundle's mask failed, so the decision could not be remembered with its evidence",
    "entrypoint_unbound": "the entrypoint has no contract yet, so no answer of it can be trusted",
    "internal_error": "the evaluator failed with a code that is none",
}
"""Beside the evaluator's own (`engine.evaluator.port.FAULT_CODES`) and OPA's evaluation errors."""

_NO_BUNDLE = EvaluationError("bundle_missing", FAULT_REASONS["bundle_missing"])


def without_evidence(path: str, decision: Decision) -> Decision:
    """What is left of a decision whose question and answer may not be remembered: on an entrypoint, only a denial."""
    if path not in ENTRYPOINTS or decision.outcome == Outcome.DENY.value:
        return decision
    return _refused("mask_failed", FAULT_REASONS["mask_failed"])


def _as_opa(evaluation: Evaluation) -> Decision:
    match evaluation:
        case Defined():
            return Decision(evaluation, "answered")
        case Undefined():
            return Decision(evaluation, "undefined")
        case EvaluationError():
            return Decision(evaluation, "error")


def _bound(path: str, policy: Policy | None, question: Question) -> Decision:
    contract = ENTRYPOINTS[path]
    if contract is None:
        return _refused("entrypoint_unbound", f"{path} has no contract yet, so no answer of it can be trusted")
    match policy.evaluate(question) if policy else _NO_BUNDLE:
        case Defined() as answer:
            return _held_to(contract, path, answer)
        case Undefined():
            return _refused("result_undefined", f"{path} is undefined in the active bundle")
        case EvaluationError(code, message):
            return _refused(code, message)


def _held_to(contract: type[EntrypointResult], path: str, answer: Defined) -> Decision:
    try:
        result = contract.model_validate(answer.value)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in fault["loc"]) or "the result"
        return _refused("contract_broken", f"{path} broke its contract: {field}: {fault['msg']}")
    return _explained(result, answer)


def _explained(result: EntrypointResult, answer: Defined) -> Decision:
    """Each reason names the rules that gave it, unless the bundle does so itself."""
    value, reasons = answer.value, list(result.reasons)
    if isinstance(value, dict) and isinstance(given := value["reasons"], list):
        rules = [", ".join(answer.rules_of(reason)) for reason in given]
        value = {**value, "reasons": [_with_rule(reason, rule) for reason, rule in zip(given, rules, strict=True)]}
        reasons = [
            reason if reason.rule or not rule else reason.model_copy(update={"rule": rule})
            for reason, rule in zip(reasons, rules, strict=True)
        ]
    return Decision(Defined(value), result.verdict, tuple(reasons))


def _with_rule(reason: JsonValue, rule: str) -> JsonValue:
    return {**reason, "rule": rule} if rule and isinstance(reason, dict) and not reason.get("rule") else reason


def _refused(code: str, message: str) -> Decision:
    """Never raises, whatever an evaluator says: a refusal that cannot be written down would be none."""
    well_formed = re.fullmatch(CODE_PATTERN, code) is not None
    text = message.encode(errors="replace").decode()[:MESSAGE_LENGTH] or "the evaluator gave no message"
    reason = Reason(code=code if well_formed else "internal_error", kind=ReasonKind.FAULT, message=text)
    refusal = AdmissionResult(outcome=Outcome.DENY, reasons=[reason], obligations=[])
    return Decision(Defined(refusal.model_dump(mode="json", exclude_none=True)), refusal.verdict, (reason,))
