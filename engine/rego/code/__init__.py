"""From checked rules to Python source, and from that to a program.

Lives here: one function a rule, loops for what iterates, indexes over rules, names and constants.
Must not: find faults in rules: what gets here is right, or `engine.rego.check` is wrong.
"""
