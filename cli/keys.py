"""`lictor keys`: API keys of a running server."""

from __future__ import annotations

import click

from cli import options
from cli.client import Server
from cli.output import as_json, print_json, print_table
from engine.access.roles import Role


@click.group()
def keys() -> None:
    """Make, list and revoke API keys, through a running server and with an operator's key."""


@keys.command()
@click.option("--name", required=True, help="Whose key this is.")
@click.option("--role", required=True, type=click.Choice([role.value for role in Role]))
@click.option("--tenant", default="", help="For tenant roles: the only tenant that the key may see.")
@options.server_options
@as_json
def create(name: str, role: str, tenant: str, server: str, key: str | None, as_json: bool) -> None:
    """Make a key. It is shown once and cannot be shown again."""
    made = _server(server, key).call("POST", "/v1/api-keys", {"name": name, "role": role, "tenant": tenant})
    if as_json or not isinstance(made, dict):
        print_json(made)
    else:
        click.echo(f"{made['key']}\nshown this once; its id is {made['id']}")


@keys.command("list")
@options.server_options
@as_json
def list_keys(server: str, key: str | None, as_json: bool) -> None:
    """List all keys, without their secrets."""
    found = _server(server, key).call("GET", "/v1/api-keys")
    if as_json or not isinstance(found, dict):
        print_json(found)
        return
    fields = ("id", "name", "role", "tenant", "created", "revoked")
    known = found["keys"] if isinstance(found["keys"], list) else []
    rows = [[str(each[field] or "-") for field in fields] for each in known if isinstance(each, dict)]
    print_table([field.upper() for field in fields], rows)


@keys.command()
@click.argument("key_id")
@options.server_options
def revoke(key_id: str, server: str, key: str | None) -> None:
    """Revoke the key with the id KEY_ID (key_…)."""
    _server(server, key).call("DELETE", f"/v1/api-keys/{key_id}")
    click.echo(f"revoked {key_id}")


def _server(address: str, key: str | None) -> Server:
    return Server(address, key, options.settings().settings.operator_key_file)
