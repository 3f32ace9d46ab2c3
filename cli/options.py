"""Flags that several commands share, and the settings that they change."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from api.settings import LoadedSettings

F = TypeVar("F", bound=Callable[..., Any])

config_file = click.option(
    "--config",
    "config_file",
    type=click.Path(path_type=Path),
    help="Settings file (TOML). Default: lictor.toml here, if there is one.",
)
database_url = click.option(
    "--database-url", help="sqlite:///file.db or postgresql://user@host/name. Default: .lictor/lictor.db."
)
bundle = click.option(
    "--bundle",
    type=click.Path(path_type=Path),
    help="Bundle to use: a directory or a .tar.gz. Default: the one that Lictor ships (policy/).",
)


def settings(config_file: Path | None = None, **flags: object) -> LoadedSettings:
    from api.settings import load_settings

    return load_settings(flags, os.environ, config_file)


def server_options(command: F) -> F:
    """Where a running server is, and the key for it."""
    for option in (
        click.option(
            "--key",
            envvar="LICTOR_KEY",
            help="API key. Default: LICTOR_KEY, then the file operator.key of the embedded default.",
        ),
        click.option(
            "--server",
            envvar="LICTOR_SERVER",
            default="http://127.0.0.1:8181",
            show_default=True,
            help="A running server.",
        ),
    ):
        command = option(command)
    return command
