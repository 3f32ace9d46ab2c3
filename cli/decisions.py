"""`lictor decisions`: the journal, read from the store beside a running server, or over HTTP."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from cli import options
from cli.output import as_json, colour_of, print_json, print_reasons, print_table
from engine.errors import NotFound, TooLarge
from engine.jsontext import JsonValue, parse

if TYPE_CHECKING:
    from engine.journal.record import Citation, StoredRecord, Unreadable
    from engine.journal.verify import Report
    from engine.store.opening import Store


MAX_LINE = 64 * 2**20


@click.group()
def decisions() -> None:
    """Query, verify and export the decision journal.

    These read the store directly (--database-url), also while a server is running on it.
    """


@decisions.command("list")
@options.config_file
@options.database_url
@click.option("--tenant", help="Only this tenant's.")
@click.option("--action", help="Only this action's, such as submit_workload.")
@click.option("--outcome", help="allow, queue or deny; answered, undefined or error for other paths.")
@click.option("--reason", help="Only those with this reason code, such as envelope_exceeded.")
@click.option("--subject", help="Only this subject's, such as user:ana.")
@click.option("--path", help="Only this path's, such as lictor/admission.")
@click.option("--text", help="Only those with all of these words in the request or the reasons.")
@click.option("--since", help="RFC 3339 time, inclusive.")
@click.option("--until", help="RFC 3339 time, exclusive.")
@click.option("--limit", default=20, show_default=True, help="At most so many, newest first (1 to 500).")
@click.option("--cursor", help="Where the page before ended.")
@as_json
def list_decisions(
    config_file: Path | None,
    database_url: str | None,
    limit: int,
    cursor: str | None,
    as_json: bool,
    **filters: str | None,
) -> None:
    """List decisions, newest first."""
    from engine.journal.query import Cursor, Filters
    from engine.journal.view import view_of

    wanted = Filters.of(**filters)
    after = Cursor.parse(cursor) if cursor else None
    with _store(config_file, database_url) as store:
        page = store.journal.page(wanted, after, limit)
    views = [view_of(record) for record in page.records]
    if as_json:
        print_json({"decisions": list[JsonValue](views), "next": str(page.next) if page.next else None})
        return
    print_table(["TIME", "OUTCOME", "DECISION", "ACTION", "TENANT", "SUBJECT", "REASONS"], [_row(v) for v in views])
    if page.next:
        click.echo(f"more: add --cursor {page.next}")


@decisions.command()
@click.argument("decision_id")
@options.config_file
@options.database_url
@as_json
def show(decision_id: str, config_file: Path | None, database_url: str | None, as_json: bool) -> None:
    """Show one decision: what was asked, what was answered and why, and its place in the chain."""
    from engine.journal.record import Kind
    from engine.journal.view import view_of

    with _store(config_file, database_url) as store:
        records = store.journal.of_decision(decision_id)
    if not records or records[0].kind is not Kind.DECISION:
        raise NotFound(f"decision {decision_id} is not known; `lictor decisions list` shows the newest")
    view = {**view_of(records[0]), "history": list[JsonValue]([view_of(record) for record in records[1:]])}
    if as_json:
        print_json(view)
    else:
        _print_decision(view)


@decisions.command()
@click.argument("export_file", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=False)
@options.config_file
@options.database_url
@click.option("--checkpoint", type=click.File("rb"), help="A signed checkpoint: everything in it must still be there.")
@click.option("--public-key", help="The key that must have signed the checkpoint.")
@as_json
def verify(
    export_file: Path | None,
    config_file: Path | None,
    database_url: str | None,
    checkpoint: BinaryIO | None,
    public_key: str | None,
    as_json: bool,
) -> None:
    """Prove that the journal is whole: nothing changed, nothing missing, nothing erased without a record.

    With EXPORT_FILE (from `lictor decisions export`) no store is needed. Exit code 1 if anything is wrong.
    """
    from engine.journal.checkpoint import heads_of

    if public_key and not checkpoint:
        raise click.UsageError("--public-key says who must have signed the --checkpoint; give both")
    expected = heads_of(parse(checkpoint.read(), what="checkpoint"), public_key) if checkpoint else []
    if export_file is not None:
        report = _verify_file(export_file, expected)
    else:
        with _store(config_file, database_url) as store:
            report = _verify_store(store, expected)
    _print_report(report, as_json=as_json)
    if not report.ok:
        raise click.exceptions.Exit(1)


@decisions.command()
@options.config_file
@options.database_url
def export(config_file: Path | None, database_url: str | None) -> None:
    """Write every record as a JSON line, in chain order: `lictor decisions export > journal.jsonl`."""
    from engine.journal.view import line_of

    with _store(config_file, database_url) as store:
        for record in store.journal.in_chain_order():
            sys.stdout.buffer.write(line_of(record))


@decisions.command()
@options.config_file
@options.database_url
def checkpoint(config_file: Path | None, database_url: str | None) -> None:
    """Write the heads of all chains, signed. Keep it elsewhere: later, `verify --checkpoint` shows a cut tail."""
    from api.signing import signing_key
    from engine.clock import SystemClock
    from engine.journal.checkpoint import make_checkpoint

    key = signing_key(options.settings(config_file).settings.signing_key_file)
    with _store(config_file, database_url) as store:
        print_json(make_checkpoint(store.journal.heads(), SystemClock().now_ns(), key))


@decisions.command()
@click.argument("decision_id")
@click.option("--reason", required=True, help="Why; it is kept in the journal.")
@options.server_options
@as_json
def erase(decision_id: str, reason: str, server: str, key: str | None, as_json: bool) -> None:
    """Take away a decision's payload for ever, through a running server. The chain still verifies."""
    from cli.client import Server

    key_file = options.settings().settings.operator_key_file
    view = Server(server, key, key_file).call("POST", f"/v1/decisions/{decision_id}/erase", {"reason": reason})
    if as_json:
        print_json(view)
    else:
        click.echo(f"erased the payload of {decision_id}; its header stays in the chain")


@contextmanager
def _store(config_file: Path | None, database_url: str | None) -> Iterator[Store]:
    from engine.store.opening import open_reader

    store = open_reader(options.settings(config_file, database_url=database_url).settings.store_url)
    try:
        yield store
    finally:
        store.close()


def _row(view: dict[str, JsonValue]) -> list[str]:
    reasons = view["reasons"]
    codes = [str(reason["code"]) for reason in reasons if isinstance(reason, dict)] if isinstance(reasons, list) else []
    return [
        str(view["timestamp"])[:19] + "Z",
        str(view["outcome"]),
        str(view["decision_id"]),
        str(view["action"] or view["path"]),
        str(view["tenant"] or "-"),
        str(view.get("subject") or "-"),
        ", ".join(codes) or "-",
    ]


def _print_decision(view: dict[str, JsonValue]) -> None:
    outcome = str(view["outcome"])
    click.secho(outcome.upper(), fg=colour_of(outcome), bold=True, nl=False)
    click.echo(f"  {view['path']}  decision {view['decision_id']}")
    result = view.get("result")
    print_reasons(result.get("reasons") if isinstance(result, dict) else None)
    bundles = view["bundles"]
    bundle = bundles["lictor"] if isinstance(bundles, dict) else {}
    revision = f"{bundle['revision']} ({str(bundle['digest'])[:19]})" if isinstance(bundle, dict) else ""
    for name, value in (
        ("time", view["timestamp"]),
        ("action", view["action"]),
        ("tenant", view["tenant"]),
        ("subject", view.get("subject")),
        ("asked by", f"{view['identity']} from {view['requested_by']}" if "identity" in view else ""),
        ("bundle", revision),
        ("facts", view.get("facts")),
        ("durability", view["durability"]),
        ("replayable", "yes" if view.get("replayable") else "no"),
        ("masked", ", ".join(map(str, _items(view.get("erased")) + _items(view.get("masked"))))),
        ("chain", f"{view['chain']} seq {view['seq']}"),
        ("hash", view["hash"]),
    ):
        if value:
            click.echo(f"  {name:11} {value}")
    for name in ("input", "result", "error"):
        if name in view:
            click.echo(f"\n{name}:\n{json.dumps(view[name], indent=2, ensure_ascii=False)}")
    for later in _items(view["history"]):
        if isinstance(later, dict):
            click.echo(f"\nlater: {later['kind']} at {later['timestamp']}: {later.get('why') or later.get('effect')}")


def _items(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _verify_store(store: Store, expected: list[Citation]) -> Report:
    from engine.journal.verify import Fault
    from engine.journal.verify import verify as prove

    heads = [*expected, *store.journal.heads()]
    report = prove(_counted(store.journal.in_chain_order()), store.journal.citing, heads)
    if strays := store.journal.stray_index_rows():
        report.faults.append(Fault("index_changed", "", 0, f"{strays} index rows name no record: they were put there"))
    return report


def _verify_file(file: Path, expected: list[Citation]) -> Report:
    from engine.journal.verify import verify as prove

    return prove(_counted(_records(file)), lambda: (r for r in _records(file) if r.cites), expected)


def _records(file: Path) -> Iterator[StoredRecord]:
    from engine.journal.view import record_of

    with file.open("rb") as lines:
        for number in itertools.count(1):
            line = lines.readline(MAX_LINE)
            if not line:
                return
            what = f"{file.name} line {number}"
            if len(line) == MAX_LINE:
                raise TooLarge(f"{what}: longer than {MAX_LINE // 2**20} MiB; no record is")
            yield record_of(parse(line, what=what, max_depth=1000), what)


def _counted(records: Iterable[StoredRecord | Unreadable]) -> Iterator[StoredRecord | Unreadable]:
    """Progress on a terminal, for journals that take a while."""
    quiet = not sys.stderr.isatty()
    for number, record in enumerate(records, 1):
        yield record
        if number % 50_000 == 0 and not quiet:
            click.echo(f"\r{number:,} records", err=True, nl=False)


def _print_report(report: Report, *, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "ok": report.ok,
                "records": report.records,
                "chains": report.chains,
                "erased": report.erased,
                "faults": [
                    {"code": fault.code, "chain": fault.chain, "seq": fault.seq, "message": fault.message}
                    for fault in report.faults
                ],
            }
        )
        return
    summary = f"records: {report.records}, chains: {report.chains}, erased on record: {report.erased}"
    if report.ok:
        click.secho("whole: ", fg="green", nl=False)
        click.echo(f"nothing changed, nothing missing ({summary})")
        return
    click.secho(f"NOT WHOLE: {len(report.faults)} faults ({summary})", fg="red", bold=True)
    for fault in report.faults:
        click.echo(f"  {fault.code}: {fault.chain} seq {fault.seq}: {fault.message}")
