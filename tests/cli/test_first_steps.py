"""The way of a newcomer: start, the three printed commands, stop, start again."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import RunningServer

PROJECT = Path(__file__).parent.parent.parent


def printed_commands(said: str) -> list[str]:
    return re.findall(r"^     (\S*lictor .*)$", said, re.MULTILINE)


def type_in(terminal, command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        shell=True,
        cwd=terminal.folder,
        env=terminal.environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_printed_commands_admit_refuse_and_show_both(terminal, server):
    admitted, refused, audit = printed_commands(server.said)
    allowed = type_in(terminal, admitted)
    assert (allowed.returncode, allowed.stdout.split()[0]) == (0, "ALLOW"), allowed.stderr
    denied = type_in(terminal, refused)
    assert (denied.returncode, denied.stdout.split()[0]) == (1, "DENY")
    assert re.findall(r"^  (\w+) \((\w+)\): ", denied.stdout, re.MULTILINE) == [
        ("envelope_exceeded", "authority"),
        ("priority_not_permitted", "authority"),
        ("region_not_permitted", "authority"),
    ]
    listed = type_in(terminal, audit).stdout.splitlines()
    assert [line.split()[1] for line in listed] == ["OUTCOME", "deny", "allow"]
    assert "envelope_exceeded, priority_not_permitted, region_not_permitted" in listed[1]


def test_printed_curl_gives_the_same_answer(terminal, server):
    curl = re.search(r"^  (curl .*)$", server.said, re.MULTILINE)
    assert curl is not None
    answer = type_in(terminal, curl[1])
    assert json.loads(answer.stdout)["result"]["outcome"] == "allow"


def test_ctrl_c_stops_cleanly_and_a_second_start_keeps_all_state(terminal, server):
    example = str(PROJECT / "examples" / "submit-admitted.json")
    assert terminal.run("decide", "lictor/admission", "-i", example).returncode == 0
    assert server.stop(signal.SIGINT) == 0
    assert server.said.splitlines()[-1] == "lictor: stopped; all state is kept"
    assert "Traceback" not in server.said
    again = RunningServer(terminal)
    try:
        assert "operator key  in .lictor/operator.key" in again.said
        assert terminal.run("decide", "lictor/admission", "-i", example).returncode == 0
        assert len(json.loads(terminal.run("decisions", "list", "--json").stdout)["decisions"]) == 2
    finally:
        assert again.stop(signal.SIGTERM) == 0
    proof = terminal.run("decisions", "verify")
    assert (proof.returncode, proof.stdout) == (
        0, "whole: nothing changed, nothing missing (records: 4, chains: 2, erased on record: 0)\n",
    )  # fmt: skip


def test_kill_then_restart_leaves_a_journal_that_verifies(terminal, server):
    example = str(PROJECT / "examples" / "submit-refused.json")
    answered = json.loads(terminal.run("decide", "lictor/admission", "-i", example, "--json").stdout)["decision_id"]
    server.stop(signal.SIGKILL)
    again = RunningServer(terminal)
    again.stop()
    assert terminal.run("decisions", "verify").returncode == 0
    assert terminal.run("decisions", "show", answered).stdout.startswith(
        f"DENY  lictor/admission  decision {answered}\n"
    )


def test_second_server_on_the_same_state_is_refused_in_one_line(terminal, server):
    second = terminal.run("serve", "--port", "0")
    assert (second.returncode, second.stdout) == (1, "")
    assert f"belongs to another Lictor process (pid {server.process.pid})" in second.stderr
    assert len(second.stderr.splitlines()) == 1


def test_port_that_is_taken_is_refused_in_one_line(terminal, server, tmp_path):
    second = terminal.run("serve", "--port", str(server.port))
    assert second.returncode == 1
    assert f"cannot listen on 127.0.0.1:{server.port}" in second.stderr
    assert len(second.stderr.splitlines()) == 1


def test_broken_bundle_at_start_denies_everything_and_says_where_it_is_broken(terminal):
    bundle = terminal.folder / "bundle"
    bundle.mkdir()
    (bundle / "a.rego").write_text("package a\n\nx := := 1\n")
    server = RunningServer(terminal, "--bundle", str(bundle))
    try:
        assert "EVERYTHING IS DENIED" in server.said
        example = str(PROJECT / "examples" / "submit-admitted.json")
        denied = terminal.run("decide", "lictor/admission", "-i", example)
        assert (denied.returncode, denied.stdout.split()[0]) == (1, "DENY")
        assert "bundle_missing (fault)" in denied.stdout
    finally:
        server.stop()
    assert "a.rego:3" in server.said


@pytest.mark.parametrize(
    "command", [["--help"], ["serve", "--help"], ["decisions", "--help"], ["policy", "eval", "-h"]]
)
def test_help_is_there_for_every_command(terminal, command):
    assert terminal.run(*command).stdout.startswith("Usage: lictor")
