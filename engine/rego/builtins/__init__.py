"""The builtin functions, one module a family.

Lives here: pure functions on Rego values, each bound to the name that OPA gives it.
Must not: reach the network, the environment, a file or the clock. What varies comes from `Circumstances`.
"""

from __future__ import annotations

import importlib
import pkgutil


def load_all() -> None:
    """Declare every builtin: each family does so when it is imported."""
    for family in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{family.name}")
