# A policy of the size that tenants write: may this GPU workload be admitted, at what price, into which queue?
package gpu.admission

import data.catalog

decision := {
	"allow": allow,
	"denials": denials,
	"grants": grants,
	"price": price,
	"queue": queue,
	"headroom": headroom,
}

default allow := false

allow if {
	count(denials) == 0
	input.tenant.state == "active"
	every container in input.request.containers {
		container.cpu <= sku.cpu_per_gpu * input.request.gpus_per_replica
		container.memory_gb <= sku.memory_gb * input.request.gpus_per_replica
	}
}

default queue := "none"

queue := "express" if {
	allow
	input.request.priority in {"high", "urgent"}
} else := "spot" if {
	allow
	needs_burst
} else := "regular" if allow

default price := 0

price := ((sku.price_cents * gpus_asked) * input.request.hours) - discount(gpus_asked)

needs_burst if gpus_asked > left.guaranteed

tier := catalog.tiers[input.tenant.tier]

sku := catalog.skus[input.request.sku]

gpus_asked := input.request.replicas * input.request.gpus_per_replica

quota := object.get(input.tenant.quota, input.request.sku, {"guaranteed": 0, "burst": 0})

gpus_used[name] := sum([lease.gpus | some lease in input.tenant.leases; lease.sku == name; holds(lease)]) if {
	some name, _ in input.tenant.quota
}

left := {
	"guaranteed": max([0, quota.guaranteed - gpus_held]),
	"burst": smaller(quota.burst, (quota.guaranteed + quota.burst) - gpus_held),
}

gpus_held := object.get(gpus_used, input.request.sku, 0)

headroom := {name: free | some name, allowed in input.tenant.quota; free := allowed.guaranteed - gpus_used[name]}

labels_missing := {label | some label in catalog.labels_required} - object.keys(input.request.labels)

holds(lease) if lease.state in catalog.holding_states

smaller(a, b) := a if a < b

else := b

discount(gpus) := (gpus * sku.price_cents) * step.percent if {
	some step in tier.discounts
	gpus >= step.from
	gpus < step.below
} else := 0

refusal(code, message) := {"code": code, "kind": catalog.codes[code].kind, "message": message}

denials contains refusal("tenant_inactive", sprintf("tenant %s is %s", [input.tenant.id, input.tenant.state])) if {
	input.tenant.state != "active"
}

denials contains refusal("role_missing", sprintf("%s in tier %s", [input.subject.id, input.tenant.tier])) if {
	not has_role
}

has_role if {
	some role in input.subject.roles
	role in tier.roles
}

denials contains refusal("sku_not_permitted", sprintf("%s with %s", [input.request.sku, input.tenant.tier])) if {
	not input.request.sku in tier.skus
}

denials contains refusal("region_not_sold", sprintf("%s is not in %s", [input.request.sku, input.request.region])) if {
	not input.request.region in sku.regions
}

denials contains refusal("priority_not_permitted", sprintf("priority %s", [input.request.priority])) if {
	catalog.priorities[input.request.priority] > tier.priority
}

denials contains refusal("isolation_missing", sprintf("%s cannot give %s", [input.request.shape, wanted])) if {
	wanted := input.request.isolation
	not wanted in object.get(sku.shapes, input.request.shape, [])
}

denials contains refusal("too_wide", sprintf("a host has %d GPUs", [sku.gpus_per_host])) if {
	input.request.gpus_per_replica > sku.gpus_per_host
}

denials contains refusal("quota_exceeded", sprintf("%d of %d", [gpus_asked, left.guaranteed + left.burst])) if {
	gpus_asked > left.guaranteed + left.burst
}

denials contains refusal("burst_not_permitted", sprintf("%d over the guarantee", [gpus_asked - left.guaranteed])) if {
	needs_burst
	not tier.may_burst
}

denials contains refusal("label_missing", sprintf("label %s", [label])) if some label in labels_missing

denials contains refusal("image_untrusted", sprintf("container %s: %s", [container.name, container.image])) if {
	some container in input.request.containers
	not trusted(container.image)
}

trusted(image) if {
	some prefix in catalog.image_prefixes
	startswith(image, prefix)
}

denials contains refusal("budget_exceeded", sprintf("%d cents, %d left", [price, input.tenant.budget_cents])) if {
	price > input.tenant.budget_cents
}

grants contains {"type": "burst", "gpus": gpus_asked - left.guaranteed} if needs_burst

grants contains {"type": "max_runtime", "hours": smaller(tier.max_hours, input.request.hours)} if allow

grants contains {"type": "mount", "volume": volume.name, "mode": lower(volume.mode)} if {
	some volume in input.request.volumes
	volume.encrypted == true
}
