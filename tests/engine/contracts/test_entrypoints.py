from __future__ import annotations

from engine.contracts.actions import Action
from engine.contracts.entrypoints import ENTRYPOINTS
from engine.contracts.results import AdmissionResult, EntitlementResult


def test_the_five_entrypoints_are_in_the_table_with_their_contracts():
    assert dict(ENTRYPOINTS) == {
        "lictor/entitlement": EntitlementResult,
        "lictor/admission": AdmissionResult,
        "lictor/cotenancy": None,
        "lictor/preemption": None,
        "lictor/degradation": None,
    }


def test_the_eleven_product_actions_are_named():
    assert set(Action) == {
        "tenant_signup",
        "tenant_deletion",
        "submit_workload",
        "create_service",
        "deploy_model",
        "scale_service",
        "change_batch_size",
        "request_gpu_sharing",
        "change_placement",
        "change_priority",
        "request_quota_increase",
    }
