# METADATA
# title: Entitlement
# description: >-
#   What may this tenant hold and ask for? The document of this package is the answer, so that helpers here are
#   functions. Granted numbers are as on paper, what is left is as in force, and reasons say where the two part.
package lictor.entitlement

import data.lictor.envelope
import data.lictor.facts
import data.lictor.reason
import data.lictor.standing

# METADATA
# title: Tier
# description: The tenant's tier; null when it is not one of the bundle's.
default tier := null

tier := input.tenant.tier if standing.tier

# METADATA
# title: SKUs
# description: Those of the tenant's own envelope. Nothing is left of what is not in force.
skus[sku] := object.union(granted, {
	"guaranteed_left": _guaranteed_left(sku, granted),
	"burst_left": _burst_left(sku, granted),
}) if {
	some sku, granted in envelope.skus
}

# METADATA
# title: Priorities
# description: What the tenant may ask for.
priorities contains priority if {
	standing.good
	some priority in envelope.priorities
}

# METADATA
# title: Shapes
# description: What the tenant may ask for.
shapes contains shape if {
	standing.good
	some shape in envelope.shapes
}

# METADATA
# title: Regions
# description: Where the tenant may run.
regions contains region if {
	standing.good
	some region in envelope.regions
}

# METADATA
# title: Reasons
# description: Why something that the tenant has on paper is not in force.
reasons contains reason.incomplete(gap) if some gap in facts.tenant_gaps

reasons contains refusal if some refusal in standing.refusals

reasons contains reason.authority("sku_unknown", message) if {
	some sku, _ in envelope.skus
	not data.lictor.skus[sku]
	message := sprintf("%s is in the envelope and not sold", [sku])
}

reasons contains reason.authority("burst_not_permitted", message) if {
	some sku, granted in envelope.skus
	granted.burst > 0
	standing.tier
	not standing.tier.may_burst
	message := sprintf("%d %s of burst are in the envelope, and tier %s may not burst", [
		granted.burst,
		sku,
		input.tenant.tier,
	])
}

_guaranteed_left(sku, granted) := granted.guaranteed_left if _in_force(sku)

_guaranteed_left(sku, _) := 0 if not _in_force(sku)

_burst_left(sku, granted) := granted.burst_left if _burst_in_force(sku)

_burst_left(sku, _) := 0 if not _burst_in_force(sku)

_in_force(sku) if {
	standing.good
	data.lictor.skus[sku]
}

_burst_in_force(sku) if {
	_in_force(sku)
	standing.tier.may_burst
}
