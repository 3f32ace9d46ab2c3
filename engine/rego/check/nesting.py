"""How deep terms and bodies may stand inside of each other: later stages descend into them with Python's own stack."""

from __future__ import annotations

from typing import Final

from engine.rego.errors import RegoProblem
from engine.rego.syntax import tree as s
from engine.rego.syntax.walking import Node, branches, children, head_terms

DEEPEST: Final = 120


def nesting_problems(rule: s.Rule) -> list[RegoProblem]:
    """The first place that is too deep. `1 + 1 + 1` is two deep, and so is a rule with one `else`."""
    for number, branch in enumerate(branches(rule)):
        if number > DEEPEST:
            return [RegoProblem("rego_compile_error", f"more than {DEEPEST} else branches", branch.location)]
        waiting: list[tuple[Node, int]] = [(node, 1) for node in (*head_terms(branch.head), *branch.body)]
        while waiting:
            node, depth = waiting.pop()
            if depth > DEEPEST:
                message = f"nested too deeply: more than {DEEPEST} levels"
                return [RegoProblem("rego_compile_error", message, node.location)]
            waiting.extend((child, depth + 1) for child in children(node))
    return []
