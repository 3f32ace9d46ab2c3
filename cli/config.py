"""`lictor config`."""

from __future__ import annotations

from pathlib import Path

import click

from cli import options
from cli.output import as_json, print_json, print_table
from engine.jsontext import JsonValue


@click.command()
@options.config_file
@as_json
def config(config_file: Path | None, as_json: bool) -> None:
    """Show every setting, its value, and where the value comes from.

    \b
    A flag wins over the environment, the environment over the file, the file over the default:
      lictor serve --port 9000
      LICTOR_PORT=9000 lictor serve
      echo 'port = 9000' > lictor.toml
    """
    from api.settings import PREFIX, without_secret

    loaded = options.settings(config_file)
    values = {
        name: without_secret(str(value)) if value is not None else ""
        for name, value in loaded.settings.model_dump(mode="json").items()
    }
    origins = {name: loaded.origins.get(name, "default") for name in values}
    fields = type(loaded.settings).model_fields
    if as_json:
        print_json({name: _described(values[name], origins[name]) for name in values})
        return
    rows = [
        [PREFIX + name.upper(), values[name] or "-", origins[name], fields[name].description or ""] for name in values
    ]
    print_table(["SETTING", "VALUE", "FROM", "MEANING"], rows)


def _described(value: str, origin: str) -> JsonValue:
    return {"value": value, "from": origin}
