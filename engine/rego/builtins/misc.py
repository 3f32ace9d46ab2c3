"""What fits nowhere else.

Not here: `print` and `rego.metadata.*`, which the compiler knows.
"""

from __future__ import annotations

from engine.rego.builtins.operands import operand_string
from engine.rego.builtins.registry import Circumstances, builtin
from engine.rego.values import Value


@builtin("opa.runtime", circumstances=True)
def runtime(circumstances: Circumstances) -> Value:
    """Refused when a policy is loaded, unless whoever runs it permits it and says what it may know."""
    return circumstances.runtime


@builtin("trace")
def trace(note: Value) -> bool:
    """The note is dropped: there is nobody to read it."""
    operand_string("trace", 1, note)
    return True
