"""`lictor db`."""

from __future__ import annotations

from pathlib import Path

import click

from cli import options


@click.group()
def db() -> None:
    """The database schema."""


@db.command()
@options.config_file
@options.database_url
def upgrade(config_file: Path | None, database_url: str | None) -> None:
    """Bring the schema up to date.

    PostgreSQL needs this before a new version starts; SQLite is upgraded by `lictor serve` itself.
    """
    from api.settings import without_secret
    from engine.store.opening import upgrade_store

    url = options.settings(config_file, database_url=database_url).settings.store_url
    before, after = upgrade_store(url)
    if before == after:
        click.echo(f"{without_secret(url)} is up to date ({after})")
    else:
        click.echo(f"{without_secret(url)} upgraded from {before or 'empty'} to {after}")
