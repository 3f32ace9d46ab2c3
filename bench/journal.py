"""The journal under kill -9 and under load.

    python -m bench.journal --json

Three measurements, one JSON object last:

- *kills*: a real server on SQLite, concurrent clients, SIGKILL at random moments, restart, again and again. Every
  answer that a client received must be in the journal afterwards (`lost` is 0), and the journal must verify.
- *rates*: the journal alone, 64 concurrent writers, records of 3 kB, durable and relaxed in turns in one run.
- *syncs*: the same writers under strace. A kill cannot tell what was synced from what the kernel still holds, so the
  syncs of SQLite's log are counted from outside, for each commit group.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from bench.http_client import ServerGone, ask
from bench.server import Server
from engine.clock import SystemClock
from engine.ids import new_decision_id
from engine.journal.record import Draft, Durability, Kind, StoredRecord
from engine.journal.verify import verify
from engine.journal.waiting import LoopWaiting
from engine.journal.writer import Journal
from engine.jsontext import canonical
from engine.store.opening import open_reader, open_store

CLIENTS = 16
WRITERS = 64
RECORD_BYTES = 3_000
EXAMPLES = Path(__file__).parent.parent / "examples"


def main() -> None:
    options = _options()
    if options.write is not None:
        print(asyncio.run(_write(options.write, Durability.DURABLE, options.records)).groups)
        return
    folder = Path(tempfile.mkdtemp(prefix="lictor-bench-", dir=options.folder))
    try:
        figures = {
            **asyncio.run(_kills(folder, options.answered, options.kills, options.seed)),
            **_rates(folder, options.records, options.rounds),
            **_syncs(folder, options.records),
        }
    finally:
        shutil.rmtree(folder)
    if not options.json:
        for name, value in figures.items():
            print(f"{name:32} {value}")
        return
    print(json.dumps(figures))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.journal", description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object last")
    parser.add_argument("--answered", type=int, default=12_000, help="at least so many answers (default %(default)s)")
    parser.add_argument("--kills", type=int, default=25, help="at least so many SIGKILLs (default %(default)s)")
    parser.add_argument("--records", type=int, default=20_000, help="records per rate (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="durable and relaxed in turns (default %(default)s)")
    parser.add_argument("--seed", type=int, default=None, help="of the random moments (default: another each time)")
    parser.add_argument("--folder", type=Path, default=None, help="where to write; a real disk (default: temporary)")
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def _progress(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


# --- kills ------------------------------------------------------------------------------------------------------------


@dataclass
class _Load:
    answered: set[str] = field(default_factory=set)
    faults: int = 0
    """Answers other than 200: none is expected. One with a decision id is journaled like any other."""


async def _kills(folder: Path, wanted: int, kills: int, seed: int | None) -> dict[str, object]:
    seed = seed if seed is not None else random.randrange(2**32)
    moments = random.Random(seed)
    load, killed = _Load(), 0
    while killed < kills or len(load.answered) < wanted:
        with Server(folder) as server:
            clients = [asyncio.create_task(_client(server, load, number)) for number in range(CLIENTS)]
            await asyncio.sleep(moments.uniform(0.05, 2.5))
            server.kill()
            killed += 1
            await asyncio.gather(*clients)
        _progress(f"kills: {killed} of {kills}, answered {len(load.answered)} of {wanted}")
    with Server(folder):
        pass
    return {
        "seed": seed,
        "answered": len(load.answered),
        "kills": killed,
        "faults": load.faults,
        **_proof(folder, load),
    }


async def _client(server: Server, load: _Load, number: int) -> None:
    """Ask until the server is gone; only what was wholly received counts as answered."""
    admission = (EXAMPLES / "submit-admitted.json").read_bytes()
    turn = number
    try:
        async with ask(server.port, server.key) as asking:
            while True:
                turn += 1
                path, body = ("lictor/admission", admission) if turn % 10 == 0 else ("lictor/tiers/standard", b"{}")
                status, answer = await asking.post(f"/v1/data/{path}", body)
                found = json.loads(answer)
                if "decision_id" in found:
                    load.answered.add(found["decision_id"])
                if status != 200:
                    load.faults += 1
    except ServerGone:
        return


def _proof(folder: Path, load: _Load) -> dict[str, object]:
    store = open_reader(f"sqlite:///{folder / '.lictor' / 'lictor.db'}")
    kept = {record.decision_id for record in store.journal.in_chain_order() if isinstance(record, StoredRecord)}
    report = verify(store.journal.in_chain_order(), store.journal.citing, store.journal.heads())
    store.close()
    return {
        "lost": len(load.answered - kept),
        "journaled": report.records - report.chains,
        "chains": report.chains,
        "chain_ok": report.ok,
    }


# --- rates ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Written:
    per_s: float
    groups: int


def _rates(folder: Path, records: int, rounds: int) -> dict[str, object]:
    found: dict[Durability, list[float]] = {Durability.DURABLE: [], Durability.RELAXED: []}
    for turn in range(rounds):
        for durability, rates in found.items():
            written = asyncio.run(_write(folder / f"{durability}-{turn}", durability, records))
            rates.append(written.per_s)
            _progress(f"rates: {durability} {written.per_s:.0f}/s in {written.groups} groups")
    durable, relaxed = (statistics.median(rates) for rates in found.values())
    return {
        "durable_per_s": round(durable),
        "relaxed_per_s": round(relaxed),
        "durable_share": round(durable / relaxed, 3),
    }


async def _write(folder: Path, durability: Durability, records: int) -> _Written:
    """`records` by 64 writers, each of which waits for its answer before it writes the next."""
    store = open_store(f"sqlite:///{folder / 'journal.db'}", durability)
    journal = Journal(store.journal, LoopWaiting(), SystemClock(), durability)
    journal.open()

    async def writer(number: int) -> None:
        for turn in range(records // WRITERS):
            await journal.submit(_draft(number, turn))

    began = time.perf_counter()
    await asyncio.gather(*(writer(number) for number in range(WRITERS)))
    await asyncio.to_thread(journal.close)
    took = time.perf_counter() - began
    store.close()
    return _Written(records // WRITERS * WRITERS / took, journal.counts.groups)


def _draft(number: int, turn: int) -> Draft:
    message = f"asked for {turn} h100-80g: 2 guaranteed left, 4 burst left"
    subject = f"user:{turn % 100}"
    payload = {
        "subject": subject,
        "input": {"request": {"workload": f"llama-{number}"}},
        "result": {"message": message},
    }
    filling = "x" * (RECORD_BYTES - len(canonical(payload)) - len(',"filling":""'))
    return Draft(
        kind=Kind.DECISION,
        decision_id=new_decision_id(),
        time_ns=time.time_ns(),
        payload=canonical({**payload, "filling": filling}),
        path="lictor/admission",
        action="submit_workload",
        tenant=f"tenant-{number}",
        outcome="deny",
        reasons=(("envelope_exceeded", "authority"),),
        revision="starter-1",
        bundle_digest="sha256:" + "0" * 64,
        subject=subject,
        text=f"llama-{number} {message}",
    )


# --- syncs ------------------------------------------------------------------------------------------------------------


def _syncs(folder: Path, records: int) -> dict[str, object]:
    strace = shutil.which("strace")
    if strace is None:
        _progress("syncs: strace is missing; `make testbeds` brings it")
        return {"fsyncs_per_commit_group": None}
    return {"fsyncs_per_commit_group": _count_syncs(strace, folder, records // 4)}


def _count_syncs(strace: str, folder: Path, records: int) -> float:
    """Syncs of the write-ahead log alone: those of the database file, when the log is folded into it, do not count."""
    trace = folder / "strace"
    run = subprocess.run(
        [
            strace, "-f", "-y", "-e", "trace=fsync,fdatasync", "-o", trace, sys.executable, "-m", "bench.journal",
            "--write", folder / "syncs", "--records", str(records),
        ],
        check=True, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    groups = int(run.stdout.split()[-1])
    syncs = sum("journal.db-wal" in line and "resumed" not in line for line in trace.read_text().splitlines())
    _progress(f"syncs: {syncs} for {groups} groups")
    return round(syncs / groups, 3)


if __name__ == "__main__":
    main()
