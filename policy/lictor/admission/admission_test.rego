# The case tables beside this file say every rule in detail; these tests say the main ones to `opa test`.
package lictor.admission_test

import data.lictor.admission

_given := {
	"action": "submit_workload",
	"subject": {"id": "user:ana", "tenant": "acme-ai"},
	"tenant": {
		"id": "acme-ai",
		"state": "active",
		"tier": "standard",
		"envelope": {"skus": {"h100-80g": {"guaranteed": 8, "burst": 4}}, "regions": ["eu-west"]},
		"usage": {"h100-80g": 6},
		"ancestors": [],
	},
	"request": {
		"workload": "llama-finetune",
		"kind": "job",
		"sku": "h100-80g",
		"shape": "gpu_slice",
		"replicas": 1,
		"gpus_per_replica": 2,
		"priority": "normal",
		"region": "eu-west",
		"isolation": "none",
	},
	"fleet": {"skus": {"h100-80g": {"free": 12, "largest_free_host": 8}}},
}

_max_runtime := {"type": "max_runtime", "parameters": {"hours": 168}}

_with(path, value) := json.patch(_given, [{"op": "add", "path": path, "value": value}])

_without(path) := json.patch(_given, [{"op": "remove", "path": path}])

_codes(answer) := {reason.code | some reason in answer.reasons}

test_a_request_inside_the_guarantee_is_allowed if {
	answer := admission with input as _given
	answer == {"outcome": "allow", "reasons": set(), "obligations": {_max_runtime}}
}

test_a_request_beyond_the_guarantee_is_allowed_as_burst if {
	answer := admission with input as _with("/request/gpus_per_replica", 6)
	burst := {"type": "burst", "parameters": {"gpus": 4}}
	answer == {"outcome": "allow", "reasons": set(), "obligations": {_max_runtime, burst}}
}

test_a_request_beyond_the_burst_is_denied if {
	answer := admission with input as _with("/request/gpus_per_replica", 7)
	answer.outcome == "deny"
	answer.obligations == set()
	_codes(answer) == {"envelope_exceeded"}
}

test_a_request_that_fits_nowhere_now_is_queued if {
	answer := admission with input as _with("/fleet/skus/h100-80g/largest_free_host", 1)
	answer.outcome == "queue"
	answer.obligations == {_max_runtime}
	{[reason.code, reason.kind] | some reason in answer.reasons} == {["sku_unavailable", "capacity"]}
}

test_a_suspended_tenant_is_denied if {
	answer := admission with input as _with("/tenant/state", "suspended")
	answer.outcome == "deny"
	_codes(answer) == {"tenant_suspended"}
}

test_an_unknown_action_is_denied if {
	answer := admission with input as _with("/action", "reboot_fleet")
	answer.outcome == "deny"
	_codes(answer) == {"action_unknown"}
}

test_no_fact_can_be_left_out if {
	needed := [
		"/action",
		"/subject",
		"/subject/tenant",
		"/tenant",
		"/tenant/state",
		"/tenant/tier",
		"/tenant/envelope",
		"/tenant/usage",
		"/tenant/ancestors",
		"/request",
		"/request/sku",
		"/request/gpus_per_replica",
		"/request/isolation",
		"/fleet",
	]
	every path in needed {
		answer := admission with input as _without(path)
		answer.outcome == "deny"
		_codes(answer) == {"request_incomplete"}
	}
}

test_an_input_that_is_no_object_is_denied if {
	every nothing in [null, "text", 5, []] {
		answer := admission with input as nothing
		answer.outcome == "deny"
		_codes(answer) == {"request_incomplete"}
	}
}

# A row of the bundle's own data that lacks a column must not let anything pass.
test_a_tier_without_its_limits_grants_nothing if {
	answer := admission with input as _given with data.lictor.tiers as {"standard": {}}
	answer.outcome == "deny"
}

test_a_sku_without_its_columns_grants_nothing if {
	answer := admission with input as _given with data.lictor.skus as {"h100-80g": {}}
	answer.outcome == "deny"
}
