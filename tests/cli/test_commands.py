from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from engine.store.opening import open_reader
from tests.cli.conftest import LICTOR, RunningServer, Terminal
from tests.testbeds.postgres import free_port

PROJECT = Path(__file__).parent.parent.parent
ADMITTED = str(PROJECT / "examples" / "submit-admitted.json")
REFUSED = str(PROJECT / "examples" / "submit-refused.json")


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory):
    """A terminal beside a server that has answered twice."""
    terminal = Terminal(tmp_path_factory.mktemp("used"))
    server = RunningServer(terminal)
    for example in (ADMITTED, REFUSED):
        terminal.run("decide", "lictor/admission", "-i", example)
    yield terminal
    server.stop()


def listed(terminal: Terminal, *arguments: str) -> list[str]:
    answer = terminal.run("decisions", "list", "--json", *arguments)
    assert answer.returncode == 0, answer.stderr
    return [decision["outcome"] for decision in json.loads(answer.stdout)["decisions"]]


def test_list_filters_and_pages(used):
    assert listed(used) == ["deny", "allow"]
    assert listed(used, "--reason", "region_not_permitted", "--tenant", "acme-ai") == ["deny"]
    assert listed(used, "--outcome", "allow", "--since", "2020-01-01") == ["allow"]
    assert listed(used, "--until", "2020-01-01") == []
    page = used.run("decisions", "list", "--limit", "1").stdout
    cursor = page.rpartition("--cursor ")[2].strip()
    assert listed(used, "--cursor", cursor) == ["allow"]


def test_show_tells_why_and_where_in_the_chain(used):
    decision_id = json.loads(used.run("decisions", "list", "--json").stdout)["decisions"][0]["decision_id"]
    shown = used.run("decisions", "show", decision_id).stdout
    for words in ("region_not_permitted (authority)", "asked by", "durability  durable", "replayable  yes", "seq 3"):
        assert words in shown
    assert json.loads(used.run("decisions", "show", decision_id, "--json").stdout)["history"] == []


def test_export_verifies_as_a_file_and_a_changed_line_is_found(used):
    lines = used.run("decisions", "export").stdout.splitlines()
    export = used.folder / "journal.jsonl"
    export.write_text("\n".join(lines) + "\n")
    assert used.run("decisions", "verify", str(export)).returncode == 0
    export.write_text("\n".join(lines).replace('"outcome":"deny","path"', '"outcome":"allow","path"') + "\n")
    changed = used.run("decisions", "verify", str(export), "--json")
    assert changed.returncode == 1
    assert [fault["code"] for fault in json.loads(changed.stdout)["faults"]] == ["changed"]
    export.write_text("nonsense\n")
    nonsense = used.run("decisions", "verify", str(export))
    assert (nonsense.returncode, nonsense.stdout) == (1, "")
    assert "journal.jsonl line 1: not JSON" in nonsense.stderr


def test_checkpoint_shows_a_cut_tail(used):
    checkpoint = used.folder / "checkpoint.json"
    checkpoint.write_text(used.run("decisions", "checkpoint").stdout)
    export = used.folder / "cut.jsonl"
    lines = used.run("decisions", "export").stdout.splitlines()
    export.write_text("\n".join(lines[:-1]) + "\n")
    assert used.run("decisions", "verify", str(export)).returncode == 0
    cut = used.run("decisions", "verify", str(export), "--checkpoint", str(checkpoint))
    assert cut.returncode == 1
    assert "citation_broken" in cut.stdout
    other = used.run("decisions", "verify", "--checkpoint", str(checkpoint), "--public-key", "AAAA")
    assert "signed by another key" in other.stderr


def test_keys_are_made_listed_used_and_revoked(used):
    made = json.loads(used.run("keys", "create", "--name", "bot", "--role", "auditor", "--json").stdout)
    assert "bot" in used.run("keys", "list").stdout
    refused = used.run("decide", "lictor/admission", "-i", ADMITTED, "--key", made["key"])
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "role auditor does not include decide" in refused.stderr
    assert used.run("keys", "revoke", made["id"]).stdout == f"revoked {made['id']}\n"
    assert "unknown or revoked API key" in used.run("keys", "list", "--key", made["key"]).stderr


def test_erase_takes_the_payload_through_the_server(used):
    answer = json.loads(used.run("decide", "lictor/admission", "-i", ADMITTED, "--json").stdout)
    assert used.run("decisions", "erase", answer["decision_id"], "--reason", "law").returncode == 0
    shown = used.run("decisions", "show", answer["decision_id"]).stdout
    assert "later: erasure" in shown
    assert "replayable  no" in shown
    assert "input:" not in shown
    assert used.run("decisions", "verify").returncode == 0


def test_policy_eval_needs_no_server(terminal):
    result = terminal.run("policy", "eval", "lictor/admission", "-i", REFUSED)
    assert result.returncode == 0
    assert json.loads(result.stdout)["outcome"] == "deny"
    tier = terminal.run("policy", "eval", "lictor/tiers/standard")
    assert json.loads(tier.stdout)["may_burst"] is True
    nothing = terminal.run("policy", "eval", "lictor/nothing")
    assert (nothing.returncode, nothing.stderr) == (1, "undefined: the bundle has no value at lictor/nothing\n")
    assert not (terminal.folder / ".lictor").exists()


def test_policy_check_names_every_problem(terminal):
    bundle = terminal.folder / "bundle"
    bundle.mkdir()
    (bundle / "a.rego").write_text("package a\nx := := 1\n")
    (bundle / "b.rego").write_text("package b\n\ny := [\n")
    checked = terminal.run("policy", "check", str(bundle))
    assert checked.returncode == 1
    assert "a.rego:2" in checked.stderr
    assert "b.rego:" in checked.stderr
    errors = json.loads(terminal.run("policy", "check", str(bundle), "--json").stdout)["errors"]
    assert {error["file"] for error in errors} == {"a.rego", "b.rego"}


def test_config_shows_values_and_where_they_come_from(terminal):
    (terminal.folder / "lictor.toml").write_text('port = 9000\nlog_level = "debug"\n')
    terminal.environment["LICTOR_PORT"] = "9001"
    terminal.environment["LICTOR_DATABASE_URL"] = "postgresql://me:hunter2@db/lictor"
    shown = json.loads(terminal.run("config", "--json").stdout)
    assert shown["port"] == {"value": "9001", "from": "LICTOR_PORT"}
    assert shown["log_level"] == {"value": "debug", "from": "lictor.toml"}
    assert shown["database_url"] == {"value": "postgresql://me:…@db/lictor", "from": "LICTOR_DATABASE_URL"}
    assert shown["host"] == {"value": "127.0.0.1", "from": "default"}
    assert "hunter2" not in terminal.run("config").stdout


def test_db_upgrade_brings_an_empty_postgresql_up_to_date(terminal, postgres):
    url = postgres.url(postgres.new_database())
    refused = terminal.run("serve", "--port", "0", "--database-url", url)
    assert (refused.returncode, "run `lictor db upgrade`" in refused.stderr) == (1, True)
    assert "upgraded from empty to" in terminal.run("db", "upgrade", "--database-url", url).stdout
    assert "is up to date" in terminal.run("db", "upgrade", "--database-url", url).stdout


def test_activated_bundle_is_the_one_that_a_replica_loads(terminal, postgres_url):
    bundle = terminal.folder / "bundle"
    bundle.mkdir()
    (bundle / ".manifest").write_text('{"revision": "mine-7"}')
    (bundle / "a.rego").write_text("package a\n\nx := 1\n")
    done = terminal.run("policy", "activate", str(bundle), "--database-url", postgres_url)
    assert (done.returncode, done.stdout) == (0, "mine-7 is active\n")
    (bundle / "a.rego").write_text("package a\n\nx := := 1\n")
    refused = terminal.run("policy", "activate", str(bundle), "--database-url", postgres_url)
    assert refused.returncode == 1
    store = open_reader(postgres_url)
    active = store.bundles.active()
    store.close()
    assert active is not None
    assert active.revision == "mine-7"


MISTAKES = [
    (["frobnicate"], 2, "No such command 'frobnicate'"),
    (["serve", "--prot", "1"], 2, "No such option"),
    (["serve", "--port", "99999"], 1, "port (--port) is '99999'"),
    (["serve", "--database-url", "mysql://x"], 1, "database_url must be sqlite:///"),
    (["serve", "--config", "none.toml"], 1, "none.toml cannot be read"),
    (["decisions", "list"], 1, "start the server once (`lictor serve`)"),
    (["decisions", "list", "--since", "noon"], 1, "since: 'noon' is not a time"),
    (["decisions", "show", "nonsense", "--database-url", "sqlite:///none.db"], 1, "does not exist yet"),
    (
        ["decide", "lictor/admission", "--server", "http://127.0.0.1:1", "--key", "x"],
        1,
        "no server at http://127.0.0.1:1",
    ),
    (["decisions", "verify", "-"], 2, "'-' does not exist"),
    (["decide", "lictor/admission"], 1, "no API key: set LICTOR_KEY"),
    (["decide", "lictor/admission", "-i", "none.json"], 2, "none.json"),
    (["policy", "eval", "lictor/admission", "--bundle", "none"], 1, "bundle none does not exist"),
]


@pytest.mark.parametrize(("arguments", "code", "words"), MISTAKES, ids=[" ".join(case[0][:3]) for case in MISTAKES])
def test_mistake_is_answered_in_a_sentence(terminal, arguments, code, words):
    result = terminal.run(*arguments)
    assert result.returncode == code
    assert words in result.stderr
    assert "Traceback" not in result.stderr
    assert [file.name for file in terminal.folder.iterdir()] == []


def test_unknown_setting_in_the_environment_is_refused_with_a_suggestion(terminal):
    terminal.environment["LICTOR_PROT"] = "9000"
    result = terminal.run("config")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == "lictor: LICTOR_PROT in the environment is not a setting; did you mean port?\n"


def test_misspelt_path_is_not_taken_for_a_yes(used):
    result = used.run("decide", "lictor/admision", "-i", ADMITTED)
    assert (result.returncode, result.stdout) == (1, "")
    assert "undefined: the bundle has no value at lictor/admision" in result.stderr
    assert used.run("decide", "lictor/admision", "-i", ADMITTED, "--json").returncode == 1


def test_greeting_that_nobody_reads_does_not_stop_the_server(terminal):
    port = free_port()
    command = f"{LICTOR} serve --port {port} | head -1"
    with subprocess.Popen(
        command, shell=True, cwd=terminal.folder, env=terminal.environment, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    ) as pipeline:  # fmt: skip
        answered = wait_for_health(port)
        os.killpg(pipeline.pid, signal.SIGTERM)
        _, said = pipeline.communicate(timeout=30)
    assert answered
    assert "Traceback" not in said


def wait_for_health(port: int) -> bool:
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health/ready", timeout=5) as answer:
                return bool(answer.status == 200)
        except urllib.error.HTTPError:
            return False
        except OSError:
            time.sleep(0.05)
    return False


def test_input_that_is_not_json_is_refused_before_anything_is_sent(terminal):
    result = terminal.run("decide", "lictor/admission", "-i", "-", "--key", "x", stdin="{")
    assert result.returncode == 1
    assert "not JSON" in result.stderr
