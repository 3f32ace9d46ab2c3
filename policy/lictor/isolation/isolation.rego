# METADATA
# title: Isolation
# description: >-
#   The stronger of what the request asks for and what its tier insists on for the shape, and whether the slots of the
#   SKU can enforce it.
package lictor.isolation

import data.lictor.facts
import data.lictor.request
import data.lictor.standing

# METADATA
# title: Level
# description: The isolation that the workload must get.
level := demanded[count(demanded) - 1] if {
	facts.complete
	demanded := [name |
		some name in ["none", "mps", "vgpu", "mig"] # weakest first
		name in _demanded
	]
}

# METADATA
# title: Enforceable
# description: Slots of this SKU and shape enforce that level.
enforceable if level in request.sku.shapes[input.request.shape]

_demanded contains input.request.isolation

_demanded contains standing.tier.minimum_isolation[input.request.shape]
