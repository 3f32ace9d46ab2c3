"""The bench itself, in small: kill -9 under load loses nothing, whatever the figures are."""

from __future__ import annotations

import json
import subprocess
import sys


def test_answered_decisions_survive_kills_and_every_group_is_synced(strace, tmp_path):
    run = subprocess.run(
        [
            sys.executable, "-m", "bench.journal", "--json", "--answered", "200", "--kills", "3", "--records", "2560",
            "--rounds", "1", "--folder", tmp_path,
        ],
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    figures = json.loads(run.stdout.splitlines()[-1])
    assert figures["answered"] >= 200
    assert figures["kills"] >= 3
    assert (figures["lost"], figures["faults"], figures["chain_ok"]) == (0, 0, True)
    assert figures["fsyncs_per_commit_group"] >= 1
    assert list(tmp_path.iterdir()) == []
