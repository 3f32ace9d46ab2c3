"""From text to a tree: tokens, terms, rules, METADATA, each with its place.

Lives here: the grammar, the tree (`tree`), and walks over it.
Must not: know what a name means.
"""
