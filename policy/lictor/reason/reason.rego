# METADATA
# title: Reasons
# description: How a rule says no. Codes and their meanings are in lictor/codes.
package lictor.reason

# METADATA
# title: Authority
# description: The rules forbid it. More hardware would not help.
authority(code, message) := {"code": code, "kind": "authority", "message": message}

# METADATA
# title: Capacity
# description: The rules permit it. Slots are missing now.
capacity(code, message) := {"code": code, "kind": "capacity", "message": message}

# METADATA
# title: Incomplete
# description: The reason for a gap in the input.
incomplete(gap) := authority("request_incomplete", sprintf("%s: expected %s", [gap.field, gap.expected]))

# METADATA
# title: Ending with names
# description: A message that ends with a list, in alphabetical order.
ending_with(text, names) := concat(" ", [text, concat(", ", sort(names))]) if count(names) > 0

ending_with(text, names) := concat(" ", [text, "none"]) if count(names) == 0
