"""Where a real system's program is: on PATH, in Debian's folders, or in the cache that `make testbeds` fills."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

IS_MISSING = "is missing; `make testbeds` brings it"


def find_program(name: str) -> str | None:
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    testbeds = Path(os.environ.get("LICTOR_TESTBEDS") or caches / "lictor" / "testbeds")
    found = shutil.which(name) or shutil.which(name, path=str(testbeds / "bin"))
    if found is None:
        debian = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
        found = str(debian[-1]) if debian else None
    return found


def require_program(name: str, system: str) -> str:
    """The program, or the test is reported as not run; under CI, where every system is installed, it fails."""
    found = find_program(name)
    if found is not None:
        return found
    message = f"{system} {IS_MISSING}"
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)
