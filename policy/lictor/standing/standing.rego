# METADATA
# title: Standing
# description: Whether the tenant itself may be granted anything, whatever it asks for.
package lictor.standing

import data.lictor.facts
import data.lictor.reason

# METADATA
# title: Good standing
# description: True only for an active tenant of a known tier below active ancestors.
default good := false

good if {
	count(facts.tenant_gaps) == 0
	tenant_active
	ancestors_active
	tier
	count(refusals) == 0
}

# METADATA
# title: Tier
# description: The row of the tenant's tier; undefined when the bundle has no such tier.
tier := data.lictor.tiers[input.tenant.tier]

# METADATA
# title: The tenant is active
# description: Any other state grants nothing.
tenant_active if input.tenant.state == "active"

# METADATA
# title: The ancestors are active
# description: All of them.
ancestors_active if {
	every ancestor in input.tenant.ancestors {
		ancestor.state == "active"
	}
}

# METADATA
# title: Refusals
# description: Why the tenant may be granted nothing.
refusals contains reason.authority("tenant_suspended", message) if {
	count(facts.tenant_gaps) == 0
	not tenant_active
	message := sprintf("the tenant is %s: expected active", [input.tenant.state])
}

refusals contains reason.authority("ancestor_suspended", message) if {
	count(facts.tenant_gaps) == 0
	some ancestor in input.tenant.ancestors
	not ancestor.state == "active"
	message := sprintf("the %s above the tenant is %s: expected active", [ancestor.kind, ancestor.state])
}

refusals contains reason.authority("tier_unknown", message) if {
	count(facts.tenant_gaps) == 0
	not tier
	text := sprintf("tier %s: expected one of", [input.tenant.tier])
	message := reason.ending_with(text, object.keys(data.lictor.tiers))
}
