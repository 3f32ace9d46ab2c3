"""What compiled rules run on.

Lives here: the query with its memo and its budget, iteration, choices, origins, results.
Must not: know the syntax tree.
"""
