# METADATA
# title: Facts
# description: >-
#   What the input must say before a rule may rely on it. A field that is missing or of another type is a gap.
#   Rules look at the input only once it is complete, so that an undefined value can never drop a refusal.
package lictor.facts

# METADATA
# title: Actions
# description: The product actions that this bundle has rules for.
actions := {"submit_workload"}

# METADATA
# title: Complete
# description: The action is known and the input says all that its rules need.
complete if {
	input.action in actions
	count(gaps) == 0
}

# METADATA
# title: Gaps
# description: What is missing or mistyped in the input of an action, as a field and what is expected there.
gaps contains {"field": "action", "expected": "a name"} if not _fits(_at(_said, ["action"]), "a name")

gaps contains gap if {
	input.action in actions
	some gap in tenant_gaps
}

gaps contains gap if {
	input.action in actions
	some gap in _request_gaps
}

# METADATA
# title: Gaps of the tenant
# description: What is missing or mistyped in the tenant and its ancestors.
tenant_gaps contains {"field": "tenant", "expected": "an object"} if not is_object(_at(_said, ["tenant"]))

tenant_gaps contains {"field": field, "expected": expected} if {
	is_object(input.tenant)
	some key, expected in {"id": "a name", "tier": "a name", "ancestors": "an array"}
	not _fits(_at(input.tenant, [key]), expected)
	field := sprintf("tenant.%s", [key])
}

tenant_gaps contains {"field": field, "expected": "a name"} if {
	some level in levels
	level.at != "tenant"
	not _fits(_at(level.facts, ["kind"]), "a name")
	field := sprintf("%s.kind", [level.at])
}

tenant_gaps contains {"field": field, "expected": expected} if {
	some level in levels
	some path, expected in {
		"state": "a name",
		"usage": "an object of names",
		"envelope.skus": "an object of names",
		"envelope.regions": "an array of names",
	}
	not _fits(_at(level.facts, split(path, ".")), expected)
	field := sprintf("%s.%s", [level.at, path])
}

# These only narrow what the tier permits: an envelope need not state them.
tenant_gaps contains {"field": field, "expected": "an array of names"} if {
	some level in levels
	some part in ["priorities", "shapes"]
	not _fits(object.get(level.facts, ["envelope", part], []), "an array of names")
	field := sprintf("%s.envelope.%s", [level.at, part])
}

tenant_gaps contains {"field": field, "expected": "a whole number from 0 to 1000000"} if {
	some level in levels
	_fits(level.facts.usage, "an object of names")
	some sku, used in level.facts.usage
	not _fits(used, "a whole number from 0 to 1000000")
	field := sprintf("%s.usage.%s", [level.at, sku])
}

tenant_gaps contains {"field": field, "expected": "a whole number from 0 to 1000000"} if {
	some level in levels
	_fits(level.facts.envelope.skus, "an object of names")
	some sku, granted in level.facts.envelope.skus
	some part in ["guaranteed", "burst"]
	not _fits(_at(_as_object(granted), [part]), "a whole number from 0 to 1000000")
	field := sprintf("%s.envelope.skus.%s.%s", [level.at, sku, part])
}

# METADATA
# title: Levels
# description: The tenant itself, then its ancestors, nearest first. Each has an envelope, and each limits.
levels := array.concat([{"at": "tenant", "facts": input.tenant}], _above) if is_object(input.tenant)

_above := [{"at": at, "facts": _as_object(ancestor)} |
	is_array(input.tenant.ancestors)
	ancestor := input.tenant.ancestors[index]
	at := sprintf("tenant.ancestors.%d", [index])
]

_request_gaps contains {"field": name, "expected": "an object"} if {
	some name in ["subject", "request", "fleet"]
	not is_object(_at(input, [name]))
}

_request_gaps contains {"field": field, "expected": "a name"} if {
	is_object(input.subject)
	some key in ["id", "tenant"]
	not _fits(_at(input.subject, [key]), "a name")
	field := sprintf("subject.%s", [key])
}

_request_gaps contains {"field": field, "expected": expected} if {
	is_object(input.request)
	some key, expected in {
		"workload": "a name",
		"kind": "one of job, lease, model, service",
		"sku": "a name",
		"shape": "a name",
		"priority": "a name",
		"region": "a name",
		"isolation": "one of none, mps, vgpu, mig",
		"replicas": "a whole number from 1 to 1000000",
		"gpus_per_replica": "a whole number from 1 to 1000000",
	}
	not _fits(_at(input.request, [key]), expected)
	field := sprintf("request.%s", [key])
}

_request_gaps contains {"field": "fleet.skus", "expected": "an object"} if {
	is_object(input.fleet)
	not is_object(_at(input.fleet, ["skus"]))
}

# A SKU that the fleet does not list has nothing free. One that it lists must say how much.
_request_gaps contains {"field": field, "expected": "a whole number from 0 to 1000000"} if {
	_fits(input.request.sku, "a name")
	summary := input.fleet.skus[input.request.sku]
	some part in _fleet_parts
	not _fits(_at(_as_object(summary), [part]), "a whole number from 0 to 1000000")
	field := sprintf("fleet.skus.%s.%s", [input.request.sku, part])
}

_fleet_parts contains part if some part in ["free", "largest_free_host"]

_fleet_parts contains "free_hosts" if input.request.shape == "baremetal"

# In OPA `not f(x)` is itself undefined when x is. So what may be missing is looked up with `_at`, which never is.
_at(object_, path) := object.get(object_, path, null)

default _said := {}

_said := input if is_object(input)

_as_object(value) := value if is_object(value)

_as_object(value) := {} if not is_object(value)

_fits(value, "an object") if is_object(value)

_fits(value, "an array") if is_array(value)

_fits(value, "a name") if _is_name(value)

_fits(value, "a whole number from 0 to 1000000") if _is_whole(value)

_fits(value, "a whole number from 1 to 1000000") if {
	_is_whole(value)
	value > 0
}

_fits(value, "one of job, lease, model, service") if value in {"job", "lease", "model", "service"}

_fits(value, "one of none, mps, vgpu, mig") if value in {"none", "mps", "vgpu", "mig"}

_fits(value, "an array of names") if {
	is_array(value)
	every item in value {
		_is_name(item)
	}
}

_fits(value, "an object of names") if {
	is_object(value)
	every key, _ in value {
		_is_name(key)
	}
}

# Names appear in messages, so they are short and plain.
_is_name(value) if {
	is_string(value)
	regex.match(`^[A-Za-z0-9][A-Za-z0-9._:@/-]{0,127}$`, value)
}

# The upper bound keeps every sum and product of the rules exact.
_is_whole(value) if {
	is_number(value)
	value == floor(value)
	value >= 0
	value <= 1000000
}
