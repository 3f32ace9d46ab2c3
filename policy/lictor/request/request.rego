# METADATA
# title: The request
# description: What a workload asks for, in numbers, and whether that makes sense for its SKU and shape.
package lictor.request

import data.lictor.envelope
import data.lictor.facts

# METADATA
# title: SKU
# description: The row of the SKU that is asked for; undefined when it is not sold.
sku := data.lictor.skus[input.request.sku]

# METADATA
# title: Asked
# description: GPUs over all replicas. A share or a partition counts as the one GPU that it touches.
asked := floor(input.request.replicas * input.request.gpus_per_replica) if facts.complete

# METADATA
# title: Left
# description: What the effective envelope still has of the SKU.
left := envelope.numbers(input.request.sku) if facts.complete

# METADATA
# title: A replica fits its shape
# description: Bare metal is whole hosts, a slice stays on one host, a share or a partition is of one GPU.
replica_fits if {
	facts.complete
	input.request.shape == "baremetal"
	floor(input.request.gpus_per_replica) % sku.gpus_per_host == 0
}

replica_fits if {
	facts.complete
	input.request.shape == "gpu_slice"
	input.request.gpus_per_replica <= sku.gpus_per_host
}

replica_fits if {
	facts.complete
	input.request.shape in {"gpu_share", "mig"}
	input.request.gpus_per_replica == 1
}

# METADATA
# title: What fits
# description: In words, what a replica of the shape may hold.
default fitting := "a shape that the rules know"

fitting := sprintf("a multiple of %d, whole hosts", [sku.gpus_per_host]) if input.request.shape == "baremetal"

fitting := sprintf("at most %d, one host", [sku.gpus_per_host]) if input.request.shape == "gpu_slice"

fitting := "exactly 1" if input.request.shape in {"gpu_share", "mig"}
