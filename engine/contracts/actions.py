"""The product actions: each is one `lictor/admission` input with `action` set."""

from __future__ import annotations

from enum import StrEnum


class Action(StrEnum):
    TENANT_SIGNUP = "tenant_signup"
    TENANT_DELETION = "tenant_deletion"
    SUBMIT_WORKLOAD = "submit_workload"
    CREATE_SERVICE = "create_service"
    DEPLOY_MODEL = "deploy_model"
    SCALE_SERVICE = "scale_service"
    CHANGE_BATCH_SIZE = "change_batch_size"
    REQUEST_GPU_SHARING = "request_gpu_sharing"
    CHANGE_PLACEMENT = "change_placement"
    CHANGE_PRIORITY = "change_priority"
    REQUEST_QUOTA_INCREASE = "request_quota_increase"
