# The case tables beside this file say every rule in detail; these tests say the main ones to `opa test`.
package lictor.entitlement_test

import data.lictor.entitlement

_given := {"tenant": {
	"id": "acme-ai",
	"state": "active",
	"tier": "standard",
	"envelope": {"skus": {"h100-80g": {"guaranteed": 8, "burst": 4}}, "regions": ["eu-west", "us-east"]},
	"usage": {"h100-80g": 6},
	"ancestors": [{
		"id": "acme",
		"kind": "organisation",
		"state": "active",
		"envelope": {"skus": {"h100-80g": {"guaranteed": 10, "burst": 2}}, "regions": ["eu-west"]},
		"usage": {"h100-80g": 9},
	}],
}}

_with(path, value) := json.patch(_given, [{"op": "add", "path": path, "value": value}])

_h100(guaranteed_left, burst_left) := {"h100-80g": {
	"guaranteed": 8,
	"burst": 2,
	"used": 6,
	"guaranteed_left": guaranteed_left,
	"burst_left": burst_left,
}}

test_the_smallest_of_all_levels_wins if {
	answer := entitlement with input as _given
	answer == {
		"tier": "standard",
		"skus": _h100(1, 2),
		"priorities": {"batch", "normal"},
		"shapes": {"gpu_share", "gpu_slice", "mig"},
		"regions": {"eu-west"},
		"reasons": set(),
	}
}

test_nothing_is_in_force_below_a_suspended_ancestor if {
	answer := entitlement with input as _with("/tenant/ancestors/0/state", "suspended")
	answer.skus == _h100(0, 0)
	answer.priorities == set()
	answer.shapes == set()
	answer.regions == set()
	{reason.code | some reason in answer.reasons} == {"ancestor_suspended"}
}

test_burst_is_not_in_force_in_a_tier_that_may_not_burst if {
	answer := entitlement with input as _with("/tenant/tier", "best_effort")
	answer.skus == _h100(1, 0)
	{reason.code | some reason in answer.reasons} == {"burst_not_permitted"}
}

test_an_unknown_tier_is_null if {
	answer := entitlement with input as _with("/tenant/tier", "platinum")
	answer.tier == null
	answer.skus == _h100(0, 0)
	{reason.code | some reason in answer.reasons} == {"tier_unknown"}
}

test_an_input_without_a_tenant_entitles_to_nothing if {
	answer := entitlement with input as {}
	answer.skus == {}
	{reason.code | some reason in answer.reasons} == {"request_incomplete"}
}
