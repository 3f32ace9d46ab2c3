"""Where the starter bundle is, and all of its cases."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.policy.case_tables import Case, read_table, tables_under

ROOT: Final = Path(__file__).parents[2]
POLICY: Final = ROOT / "policy"
EXAMPLES: Final = ROOT / "examples"


def all_cases() -> list[Case]:
    return [case for table in tables_under(POLICY) for case in read_table(table)]
