"""Build the typer application ``arena`` from the modules of its commands."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Annotated

import typer

from dealer.cli.shell.command_options import takes_options
from dealer.cli.shell.commands import ArenaCommand, ArenaGroup
from dealer.cli.shell.console import Terminal
from dealer.cli.shell.help import version_line


def application(commands: Iterable[str]) -> typer.Typer:
    """Import the named commands and mount them.

    The module of a command has either a typer application ``app``, for a group, or a function of the command's name.
    """
    app = typer.Typer(
        name="arena",
        cls=ArenaGroup,
        help="Matches between poker programs over the ACPC protocol.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    for name in commands:
        module = importlib.import_module(f"dealer.cli.{name}")
        if hasattr(module, "app"):
            _prepare(module.app)
            app.add_typer(module.app, name=name)
        else:
            command = takes_options(getattr(module, name))
            app.command(name, cls=ArenaCommand, epilog=getattr(module, "EPILOG", None))(command)
    return app


def _prepare(group: typer.Typer) -> None:
    """Give the commands of a group our help, errors and declared options."""
    for command in group.registered_commands:
        command.cls = ArenaCommand
        if command.callback is not None:
            command.callback = takes_options(command.callback)
    for inner in group.registered_groups:
        if inner.typer_instance is not None:
            _prepare(inner.typer_instance)


def _show_version(context: typer.Context, is_set: bool) -> None:
    if is_set:
        context.ensure_object(Terminal).print(version_line())
        raise typer.Exit


def _options(
    context: typer.Context,
    _: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Matches between poker programs over the ACPC protocol."""
    context.ensure_object(Terminal)
