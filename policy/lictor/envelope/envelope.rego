# METADATA
# title: The effective envelope
# description: >-
#   What the tenant may hold once every level above it had its say. A guarantee is backed by the guarantees above it, a
#   burst by the bursts above it, and of each the smallest wins. What a level does not grant, it does not permit.
package lictor.envelope

import data.lictor.facts
import data.lictor.standing

# METADATA
# title: SKUs
# description: The effective numbers of every SKU that the tenant's own envelope names.
skus[sku] := numbers(sku) if {
	count(facts.tenant_gaps) == 0
	some sku, _ in input.tenant.envelope.skus
}

# METADATA
# title: Priorities
# description: What the tier permits and no envelope narrows away.
priorities contains priority if {
	count(facts.tenant_gaps) == 0
	some priority in standing.tier.priorities
	_permitted_at_every_level("priorities", priority)
}

# METADATA
# title: Shapes
# description: What the tier permits and no envelope narrows away.
shapes contains shape if {
	count(facts.tenant_gaps) == 0
	some shape in standing.tier.shapes
	_permitted_at_every_level("shapes", shape)
}

# METADATA
# title: Regions
# description: Those that the envelope of every level names.
regions contains region if {
	count(facts.tenant_gaps) == 0
	some region in input.tenant.envelope.regions
	every level in facts.levels {
		region in level.facts.envelope.regions
	}
}

# METADATA
# title: Numbers of a SKU
# description: Granted and left, each the smallest of all levels; used is the tenant's own.
numbers(sku) := {
	"guaranteed": _smallest([_granted(level.facts, sku, "guaranteed") | some level in facts.levels]),
	"burst": _smallest([_granted(level.facts, sku, "burst") | some level in facts.levels]),
	"used": _used(input.tenant, sku),
	"guaranteed_left": _smallest([_left(level.facts, sku, "guaranteed") | some level in facts.levels]),
	"burst_left": _smallest([_left(level.facts, sku, "burst") | some level in facts.levels]),
}

# METADATA
# title: Who limits
# description: In words, the nearest level that has just `amount` left of this part of a SKU.
limited_by(sku, part, amount) := limiting[0] if {
	limiting := [_whose(level) |
		some level in facts.levels
		_left(level.facts, sku, part) == amount
	]
}

_left(level, sku, "guaranteed") := _excess(_granted(level, sku, "guaranteed"), _used(level, sku))

_left(level, sku, "burst") := _excess(_granted(level, sku, "burst"), bursting) if {
	bursting := _excess(_used(level, sku), _granted(level, sku, "guaranteed"))
}

# By how much `a` is more than `b`.
_excess(a, b) := a - b if a > b

_excess(a, b) := 0 if a <= b

# Said by comparison: not every evaluator orders numbers as numbers in the builtin `min`.
_smallest(numbers) := number if {
	some number in numbers
	every other in numbers {
		number <= other
	}
}

# `floor` makes 4 of 4.0, which is the same number in JSON.
_granted(level, sku, part) := floor(object.get(level.envelope.skus, [sku, part], 0))

_used(level, sku) := floor(object.get(level.usage, sku, 0))

_permitted_at_every_level(part, item) if {
	every level in facts.levels {
		_permitted_by(level.facts.envelope, part, item)
	}
}

_permitted_by(envelope, part, item) if item in envelope[part]

_permitted_by(envelope, part, _) if not envelope[part]

_whose(level) := "the tenant itself" if level.at == "tenant"

_whose(level) := sprintf("its %s", [level.facts.kind]) if level.at != "tenant"
