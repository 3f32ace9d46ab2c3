# METADATA
# title: Authority over submit_workload
# description: >-
#   Whether the rules permit it, whatever is free. Each refusal is the absence of positive evidence, `not …`, and the
#   grant asks for all of that evidence once more: a rule that is forgotten or undefined refuses.
package lictor.authority

import data.lictor.envelope
import data.lictor.facts
import data.lictor.isolation
import data.lictor.reason
import data.lictor.request
import data.lictor.standing

# METADATA
# title: Granted
# description: True only if everything that must hold does, and nothing was refused.
default granted := false

granted if {
	facts.complete
	standing.good
	subject_belongs
	request.sku
	shape_sold
	shape_permitted
	priority_permitted
	region_sold
	region_permitted
	isolation.enforceable
	request.replica_fits
	workload_within_tier
	within_envelope
	burst_permitted
	count(refusals) == 0
}

# METADATA
# title: The subject belongs
# description: A subject acts for its own tenant only.
subject_belongs if input.subject.tenant == input.tenant.id

# METADATA
# title: The shape is sold
# description: GPUs of this SKU can be held in this shape.
shape_sold if request.sku.shapes[input.request.shape]

# METADATA
# title: The shape is permitted
# description: By the tier and by every envelope that narrows it.
shape_permitted if input.request.shape in envelope.shapes

# METADATA
# title: The priority is permitted
# description: By the tier and by every envelope that narrows it.
priority_permitted if input.request.priority in envelope.priorities

# METADATA
# title: The region is sold
# description: There are hosts of this SKU in the region.
region_sold if input.request.region in request.sku.regions

# METADATA
# title: The region is permitted
# description: By the envelope of every level.
region_permitted if input.request.region in envelope.regions

# METADATA
# title: The workload is within its tier
# description: All replicas together.
workload_within_tier if request.asked <= standing.tier.max_gpus_per_workload

# METADATA
# title: Within the envelope
# description: Guarantee and burst together cover what is asked.
within_envelope if request.asked <= request.left.guaranteed_left + request.left.burst_left

# METADATA
# title: Burst is permitted
# description: Only a tier that may burst goes beyond its guarantee.
burst_permitted if request.asked <= request.left.guaranteed_left

burst_permitted if standing.tier.may_burst

# METADATA
# title: Refusals
# description: Why the rules forbid it. Whatever a missing tier or SKU makes meaningless is not said.
refusals contains reason.incomplete(gap) if some gap in facts.gaps

refusals contains reason.authority("action_unknown", message) if {
	count(facts.gaps) == 0
	not input.action in facts.actions
	text := sprintf("action %s: expected one of", [input.action])
	message := reason.ending_with(text, facts.actions)
}

refusals contains refusal if {
	facts.complete
	some refusal in standing.refusals
}

refusals contains reason.authority("tenant_mismatch", message) if {
	facts.complete
	not subject_belongs
	message := "the subject does not belong to the tenant for which it asks"
}

refusals contains reason.authority("sku_unknown", message) if {
	facts.complete
	not request.sku
	text := sprintf("SKU %s: expected one of", [input.request.sku])
	message := reason.ending_with(text, object.keys(data.lictor.skus))
}

refusals contains reason.authority("shape_not_sold", message) if {
	facts.complete
	request.sku
	not shape_sold
	text := sprintf("%s is not sold as %s: expected one of", [input.request.sku, input.request.shape])
	message := reason.ending_with(text, object.keys(request.sku.shapes))
}

refusals contains reason.authority("shape_not_permitted", message) if {
	facts.complete
	standing.tier
	not shape_permitted
	text := sprintf("shape %s: expected one of", [input.request.shape])
	message := reason.ending_with(text, envelope.shapes)
}

refusals contains reason.authority("priority_not_permitted", message) if {
	facts.complete
	standing.tier
	not priority_permitted
	text := sprintf("priority %s: expected one of", [input.request.priority])
	message := reason.ending_with(text, envelope.priorities)
}

refusals contains reason.authority("region_not_sold", message) if {
	facts.complete
	request.sku
	not region_sold
	text := sprintf("%s is not sold in %s: expected one of", [input.request.sku, input.request.region])
	message := reason.ending_with(text, request.sku.regions)
}

refusals contains reason.authority("region_not_permitted", message) if {
	facts.complete
	not region_permitted
	text := sprintf("region %s: expected one of", [input.request.region])
	message := reason.ending_with(text, envelope.regions)
}

refusals contains reason.authority("isolation_unenforceable", message) if {
	facts.complete
	standing.tier
	shape_sold
	not isolation.enforceable
	text := sprintf("%s as %s cannot enforce isolation %s: it enforces", [
		input.request.sku,
		input.request.shape,
		isolation.level,
	])
	message := reason.ending_with(text, request.sku.shapes[input.request.shape])
}

refusals contains reason.authority("replica_misfit", message) if {
	facts.complete
	shape_sold
	not request.replica_fits
	message := sprintf("%d GPUs per replica as %s: expected %s", [
		floor(input.request.gpus_per_replica),
		input.request.shape,
		request.fitting,
	])
}

refusals contains reason.authority("workload_too_large", message) if {
	facts.complete
	standing.tier
	not workload_within_tier
	message := sprintf("asked for %d GPUs: tier %s permits %d per workload", [
		request.asked,
		input.tenant.tier,
		standing.tier.max_gpus_per_workload,
	])
}

refusals contains reason.authority("envelope_exceeded", message) if {
	facts.complete
	request.sku
	not within_envelope
	message := sprintf("asked for %d %s: %d guaranteed left (limited by %s), %d burst left (limited by %s)", [
		request.asked,
		input.request.sku,
		request.left.guaranteed_left,
		envelope.limited_by(input.request.sku, "guaranteed", request.left.guaranteed_left),
		request.left.burst_left,
		envelope.limited_by(input.request.sku, "burst", request.left.burst_left),
	])
}

refusals contains reason.authority("burst_not_permitted", message) if {
	facts.complete
	request.sku
	standing.tier
	within_envelope
	not burst_permitted
	message := sprintf("asked for %d %s: %d guaranteed left, and tier %s may not burst", [
		request.asked,
		input.request.sku,
		request.left.guaranteed_left,
		input.tenant.tier,
	])
}
