"""`lictor decide`: ask a running server."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import click

from cli import options
from cli.client import Server
from cli.output import as_json, colour_of, print_json, print_reasons
from engine.jsontext import JsonValue, parse


@click.command()
@click.argument("path")
@click.option(
    "-i", "--input", "body", type=click.File("rb"), help='JSON file with {"input": …}, or - for standard input.'
)
@options.server_options
@as_json
def decide(path: str, body: BinaryIO | None, server: str, key: str | None, as_json: bool) -> None:
    """Ask a running server for the decision at PATH, such as lictor/admission. It is journaled like any other.

    \b
    Exit code: 0 allowed (or, where there is no verdict, answered); 1 not allowed, or undefined.
    """
    asked = _asked(body)
    key_file = options.settings().settings.operator_key_file
    answer = Server(server, key, key_file).call("POST", f"/v1/data/{path.strip('/')}", asked)
    if not isinstance(answer, dict):
        raise click.ClickException("the server's answer is not an object")
    if "result" not in answer and not as_json:
        raise click.ClickException(
            f"undefined: the bundle has no value at {path} (decision {answer.get('decision_id')}); is it misspelt?"
        )
    result = answer.get("result")
    outcome = str(result["outcome"]) if isinstance(result, dict) and "outcome" in result else ""
    if as_json or not outcome:
        print_json(answer)
    else:
        _print_verdict(path, outcome, answer)
    if outcome not in {"", "allow"} or "result" not in answer:
        raise click.exceptions.Exit(1)


def _asked(body: BinaryIO | None) -> JsonValue:
    asked = parse(body.read(), what=Path(body.name).name) if body else {}
    if not isinstance(asked, dict) or (asked and "input" not in asked):
        raise click.ClickException('the file must hold {"input": …}')
    return asked


def _print_verdict(path: str, outcome: str, answer: dict[str, JsonValue]) -> None:
    click.secho(outcome.upper(), fg=colour_of(outcome), bold=True, nl=False)
    click.echo(f"  {path}  decision {answer.get('decision_id')}")
    result = answer["result"]
    if isinstance(result, dict):
        print_reasons(result.get("reasons"))
        obligations = result.get("obligations")
        for obligation in obligations if isinstance(obligations, list) else []:
            if isinstance(obligation, dict):
                parameters = obligation.get("parameters")
                terms = parameters.items() if isinstance(parameters, dict) else ()
                click.echo(f"  obligation {obligation.get('type')}: {', '.join(f'{k}={v}' for k, v in terms)}")
