"""`lictor serve`."""

from __future__ import annotations

import contextlib
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli import options

if TYPE_CHECKING:
    from api.runtime import Runtime


@click.command()
@options.config_file
@click.option("--host", help="Address to listen on. Default: 127.0.0.1.")
@click.option("--port", type=int, help="Port to listen on, 0 for a free one. Default: 8181.")
@options.database_url
@options.bundle
@click.option("--journal", type=click.Choice(["durable", "relaxed"]), help="When to answer: after the sync, or before.")
@click.option("--log-format", type=click.Choice(["text", "json"]), help="Log lines for people or for programs.")
def serve(config_file: Path | None, **flags: object) -> None:
    """Start the control plane; Ctrl-C stops it, and all state is kept.

    Without any setting: SQLite and keys under .lictor/, and the bundle that Lictor ships. `lictor config` shows every
    setting and where it comes from.
    """
    from api import server
    from api.logs import configure_logs

    settings = options.settings(config_file, **flags).settings
    configure_logs(settings.log_format, settings.log_level)
    server.serve(settings, _greet)
    with contextlib.suppress(BrokenPipeError):
        click.echo("lictor: stopped; all state is kept")


def _greet(runtime: Runtime, address: str) -> None:
    """Where the API is, and three commands that show what it does. Nobody may be listening."""
    with contextlib.suppress(BrokenPipeError):
        _say_all(runtime, address)


def _say_all(runtime: Runtime, address: str) -> None:
    settings = runtime.settings
    click.echo(f"lictor: the API is at {address}   (Ctrl-C stops it)")
    _say_bundle(runtime)
    if runtime.new_operator_key is not None:
        kept = f"kept in {settings.operator_key_file}" if settings.is_embedded else "note it now"
        click.echo(f"  operator key  {runtime.new_operator_key}\n                shown this once, {kept}")
    elif settings.is_embedded:
        click.echo(f"  operator key  in {settings.operator_key_file}")
    _say_next_steps(runtime, address)


def _say_bundle(runtime: Runtime) -> None:
    current, trouble = runtime.active.current, runtime.active.trouble
    if current is not None:
        click.echo(f"  bundle        {current.bundle.revision} ({current.bundle.digest[:19]})")
    if trouble is not None:
        fate = "the last good bundle decides" if current else "there is no other: EVERYTHING IS DENIED"
        click.secho(f"  bundle        refused: {trouble.message}; {fate}", fg="red")
        for problem in trouble.problems[:10]:
            click.echo(f"                {problem}")


def _say_next_steps(runtime: Runtime, address: str) -> None:
    settings = runtime.settings
    examples = Path(__file__).parent.parent / "examples"
    if not settings.is_embedded or not examples.is_dir():
        return
    program = _shown(Path(sys.argv[0]))
    server = "" if address == "http://127.0.0.1:8181" else f" --server {address}"
    key = f"$(cat {shlex.quote(str(_shown(settings.operator_key_file)))})"
    admitted, refused = (_shown(examples / f"submit-{fate}.json") for fate in ("admitted", "refused"))
    store = (
        ""
        if settings.store_url == f"sqlite:///{Path('.lictor/lictor.db')}"
        else f" --database-url {settings.store_url}"
    )
    click.echo(f"""
In another terminal:
  1. a request that is admitted
     {program} decide lictor/admission -i {admitted} --key "{key}"{server}
  2. one that is refused, with its reasons
     {program} decide lictor/admission -i {refused} --key "{key}"{server}
  3. the audit records of both
     {program} decisions list{store}

The same over HTTP, from anything that speaks it:
  curl -H "Authorization: Bearer {key}" -d @{admitted} {address}/v1/data/lictor/admission
""")


def _shown(path: Path) -> Path:
    """As short as it can be typed from here."""
    try:
        return path.absolute().relative_to(Path.cwd())
    except ValueError:
        return path
