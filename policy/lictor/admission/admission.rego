# METADATA
# title: Admission
# description: >-
#   May this product action go ahead? The document of this package is the answer, so everything else that the rules
#   need lives beside it.
package lictor.admission

import data.lictor.authority
import data.lictor.capacity
import data.lictor.obligations as duties

# METADATA
# title: Outcome
# description: Denied unless authority is granted; then allowed if slots are there, or queued until they are.
default outcome := "deny"

outcome := "allow" if {
	authority.granted
	capacity.available
}

outcome := "queue" if {
	authority.granted
	not capacity.available
}

# METADATA
# title: Reasons
# description: What stands in the way. Capacity is spoken of only where authority is granted.
reasons contains refusal if some refusal in authority.refusals

reasons contains shortage if {
	authority.granted
	some shortage in capacity.shortages
}

# METADATA
# title: Obligations
# description: What must be honoured if it goes ahead; none where it is denied.
obligations contains duty if some duty in duties.due
