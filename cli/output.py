"""What is printed: tables for people, JSON for programs."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence

import click

from engine.jsontext import JsonValue

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")


def print_json(value: JsonValue) -> None:
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Aligned columns; the last one takes what is left of the terminal."""
    if not rows:
        click.echo("nothing found")
        return
    rows = [[_shown(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in (headings, *rows)) for i in range(len(headings))]
    limit = shutil.get_terminal_size((160, 24)).columns if sys.stdout.isatty() else 0
    for number, row in enumerate((headings, *rows)):
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        click.secho(line[:limit] if limit else line, bold=number == 0)


def _shown(text: str) -> str:
    """What a caller wrote must not move our cursor."""
    return text if text.isprintable() else "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def print_reasons(reasons: JsonValue) -> None:
    """One block a reason: its code and kind, the sentence, and what would be admitted instead."""
    for reason in reasons if isinstance(reasons, list) else []:
        if isinstance(reason, dict):
            click.secho(f"  {reason.get('code')}", bold=True, nl=False)
            click.echo(f" ({reason.get('kind')}): {_shown(str(reason.get('message', '')))}")
            for extra in ("remedy", "rule"):
                if reason.get(extra):
                    click.echo(f"      {extra}: {reason[extra]}")


def colour_of(outcome: str) -> str:
    return {"allow": "green", "queue": "yellow", "deny": "red", "error": "red"}.get(outcome, "blue")
