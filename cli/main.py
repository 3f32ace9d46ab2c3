"""`lictor`: the command and its groups. Commands import what they need when they run, so that `--help` is quick."""

from __future__ import annotations

import sys
from importlib.metadata import version
from textwrap import indent

import click

from cli import config, db, decide, decisions, keys, policy, serve
from engine.errors import LictorError

EPILOG = """
\b
First steps:
  lictor serve                                   start the control plane (SQLite under .lictor/, default bundle)
  lictor decide lictor/admission -i request.json ask it
  lictor decisions list                          see what it answered
  lictor policy eval lictor/tiers                look into the bundle, without a server

Settings come from lictor.toml, the environment (LICTOR_PORT=…) and flags: `lictor config` shows every one.
"""


@click.group(epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(version("lictor"), message="lictor %(version)s")
def lictor() -> None:
    """The business-rules control plane of a multi-tenant GPU platform.

    Capacity does not determine execution. Authority determines execution.
    """


for command in (serve.serve, decide.decide, decisions.decisions, policy.policy, keys.keys, config.config, db.db):
    lictor.add_command(command)


def main() -> None:
    """Exit codes: 0 done, 1 refused or failed, 2 wrong usage."""
    try:
        sys.exit(lictor(standalone_mode=False) or 0)
    except click.exceptions.Abort:
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except LictorError as error:
        click.echo(f"lictor: {error.message}", err=True)
        for problem in error.problems:
            click.echo(f"  {problem}", err=True)
            if problem.excerpt:
                click.echo(indent(problem.excerpt, "    "), err=True)
        sys.exit(1)
    except BrokenPipeError:
        sys.stderr.close()  # the reader, such as `head`, has had enough
        sys.exit(0)
    except OSError as error:
        click.echo(f"lictor: {error}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
