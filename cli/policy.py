"""`lictor policy`: work on a bundle, without a server."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from cli import options
from cli.output import as_json, print_json
from engine.errors import BundleInvalid, Problem
from engine.jsontext import JsonValue, parse

if TYPE_CHECKING:
    from engine.bundle.content import Bundle
    from engine.evaluator.port import NoInput, Policy


@click.group()
def policy() -> None:
    """Evaluate and check bundles."""


@policy.command("eval")
@click.argument("path")
@click.option("-i", "--input", "body", type=click.File("rb"), help="JSON file with the input, or - for standard input.")
@options.config_file
@options.bundle
@click.option(
    "--raw", is_flag=True, help="Print the bundle's own answer, even where it breaks the entrypoint's contract."
)
def evaluate(path: str, body: BinaryIO | None, config_file: Path | None, bundle: Path | None, raw: bool) -> None:
    """Evaluate the document at PATH, such as lictor/admission, and print it.

    The input is what rules see as `input`; a file that holds only {"input": …}, as the API takes it, is unwrapped.
    Nothing is journaled. Exit code 1 if the document is undefined or an error.
    """
    from engine.decision.decide import decide
    from engine.evaluator.port import Defined, EvaluationError, Question

    question = Question(path.strip("/"), _input(body), time.time_ns(), seed="0" * 32)
    with _loaded(config_file, bundle) as (_, loaded):
        evaluation = loaded.evaluate(question) if raw else decide(loaded, question).evaluation
    match evaluation:
        case Defined(value):
            print_json(value)
        case EvaluationError(code, message):
            raise click.ClickException(f"{code}: {message}")
        case _:
            click.echo(f"undefined: the bundle has no value at {path}", err=True)
            raise click.exceptions.Exit(1)


@policy.command()
@click.argument("bundle", type=click.Path(path_type=Path), required=False)
@options.config_file
@as_json
def check(bundle: Path | None, config_file: Path | None, as_json: bool) -> None:
    """Load BUNDLE and report everything that is wrong with it. Exit code 1 if anything is."""
    try:
        with _loaded(config_file, bundle) as (checked, _):
            modules = len(checked.modules) + len(checked.tests)
            revision = checked.revision
    except BundleInvalid as error:
        if not as_json:
            raise
        print_json(
            {"ok": False, "message": error.message, "errors": [_location(problem) for problem in error.problems]}
        )
        raise click.exceptions.Exit(1) from error
    if as_json:
        print_json({"ok": True, "revision": revision, "modules": modules, "errors": []})
    else:
        click.echo(f"{revision}: {modules} modules, no problem found")


@policy.command("compile")
@click.argument("bundle", type=click.Path(path_type=Path), required=False)
@options.config_file
@click.option("--dump", is_flag=True, help="Print the Python that the rules became.")
def compile_(bundle: Path | None, config_file: Path | None, dump: bool) -> None:
    """Compile BUNDLE with Lictor's own engine and say how large the program is.

    With --dump the program itself is printed: one function for each rule, with the place of the rule beside it.
    """
    from engine.bundle.source import read_bundle
    from engine.evaluator.compiled import CompiledEvaluator

    settings = options.settings(config_file, bundle=bundle).settings
    content = read_bundle(settings.bundle)
    source = CompiledEvaluator().load(content).source
    if dump:
        click.echo(source)
    else:
        lines = source.count("\n") + 1
        click.echo(
            f"{content.revision}: {len(content.modules)} modules became {lines} lines of Python; see them: --dump"
        )


@policy.command()
@click.argument("bundle", type=click.Path(path_type=Path), required=False)
@options.config_file
@options.database_url
def activate(bundle: Path | None, config_file: Path | None, database_url: str | None) -> None:
    """Check BUNDLE and make it the one that every replica on this database follows, within seconds.

    The embedded default needs no activation: `lictor serve` activates its bundle when it starts.
    """
    from api.runtime import evaluator_of
    from engine.clock import SystemClock
    from engine.decision.active import ActiveBundle
    from engine.store.opening import open_store

    settings = options.settings(config_file, bundle=bundle, database_url=database_url, evaluator_workers=1).settings
    store = open_store(settings.store_url)
    active = ActiveBundle(evaluator_of(settings), store.bundles, SystemClock())
    try:
        active.activate(settings.bundle)
        revision = active.current.bundle.revision if active.current else ""
    finally:
        active.close()
        store.close()
    click.echo(f"{revision} is active")


@contextmanager
def _loaded(config_file: Path | None, bundle: Path | None) -> Iterator[tuple[Bundle, Policy]]:
    from api.runtime import evaluator_of
    from engine.bundle.source import read_bundle

    settings = options.settings(config_file, bundle=bundle, evaluator_workers=1).settings
    content = read_bundle(settings.bundle)
    loaded = evaluator_of(settings).load(content)
    try:
        yield content, loaded
    finally:
        loaded.close()


def _input(body: BinaryIO | None) -> JsonValue | NoInput:
    from engine.evaluator.port import NO_INPUT

    if body is None:
        return NO_INPUT
    given = parse(body.read(), what=Path(body.name).name)
    return given["input"] if isinstance(given, dict) and set(given) == {"input"} else given


def _location(problem: Problem) -> JsonValue:
    return asdict(problem)
