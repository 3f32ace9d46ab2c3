"""What fits nowhere else.

Not here: `print` and `rego.metadata.*`, which the compiler knows; `opa.runtime`, which it refuses.
"""

from __future__ import annotations

from engine.rego.builtins.operands import operand_string
from engine.rego.builtins.registry import builtin
from engine.rego.values import Value


@builtin("trace")
def trace(note: Value) -> bool:
    """The note is dropped: there is nobody to read it."""
    operand_string("trace", 1, note)
    return True
