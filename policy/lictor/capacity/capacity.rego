# METADATA
# title: Capacity for submit_workload
# description: >-
#   Whether the fleet could hold it now, by the summary in the input: what is free of each SKU in the region that is
#   asked for. Necessary, not sufficient: placement has the last word.
package lictor.capacity

import data.lictor.facts
import data.lictor.reason
import data.lictor.request

# METADATA
# title: Available
# description: Enough is free, and one replica fits on a host.
default available := false

available if {
	facts.complete
	input.request.shape == "baremetal"
	_hosts <= _free("free_hosts")
}

available if {
	facts.complete
	input.request.shape != "baremetal"
	request.asked <= _free("free")
	input.request.gpus_per_replica <= _free("largest_free_host")
}

# METADATA
# title: Shortages
# description: What is missing now. A reason to wait, never to refuse.
shortages contains reason.capacity("sku_unavailable", message) if {
	facts.complete
	input.request.shape == "baremetal"
	not available
	message := sprintf("asked for %d whole %s hosts: %d free in %s", [
		_hosts,
		input.request.sku,
		_free("free_hosts"),
		input.request.region,
	])
}

shortages contains reason.capacity("sku_unavailable", message) if {
	facts.complete
	input.request.shape != "baremetal"
	not available
	message := sprintf("asked for %d %s, %d on one host: %d free in %s, at most %d on one host", [
		request.asked,
		input.request.sku,
		floor(input.request.gpus_per_replica),
		_free("free"),
		input.request.region,
		_free("largest_free_host"),
	])
}

_hosts := ceil(request.asked / request.sku.gpus_per_host)

_free(part) := floor(object.get(input.fleet.skus, [input.request.sku, part], 0))
