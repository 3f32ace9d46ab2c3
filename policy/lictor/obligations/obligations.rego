# METADATA
# title: Obligations of submit_workload
# description: What must be honoured if it goes ahead, now or after a wait.
package lictor.obligations

import data.lictor.authority
import data.lictor.isolation
import data.lictor.request
import data.lictor.standing

# METADATA
# title: Due
# description: One obligation per type.
due contains {"type": "max_runtime", "parameters": {"hours": standing.tier.max_runtime_hours}} if {
	authority.granted
	input.request.kind in {"job", "lease"}
}

due contains {"type": "isolation", "parameters": {"level": isolation.level}} if {
	authority.granted
	isolation.level != "none"
}

# What is held beyond the guarantee is the first to yield.
due contains {"type": "burst", "parameters": {"gpus": request.asked - request.left.guaranteed_left}} if {
	authority.granted
	request.asked > request.left.guaranteed_left
}
