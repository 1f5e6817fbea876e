"""Base classes of commands and groups, with one style of help and errors.

An error is one sentence on standard error that names settings by their options; the exit code of a usage error is 2.
Errors of our packages and of the system that a command raises are printed the same way.
"""

from __future__ import annotations

import shlex
import sys
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from dealer.cli.shell.command_options import option_of
from dealer.cli.shell.console import Terminal
from dealer.cli.shell.help import HELP_ENTRY, Entry, Page, page_text
from dealer.cli.shell.old_spellings import new_spelling
from dealer.cli.shell.streams import EXIT_INTERRUPTED, EXIT_USAGE, prints_to_standard_error
from dealer.errors import CommandError, ConfigError, FolderTakenError
from engine.errors import PortableError, quoted
from engine.text import closest_word

_NO_BOUND: Final = 10**9
"""Bounds from here on are not shown in the help, since they only keep numbers representable."""
_BOT_COMMANDS: Final = ("arena doctor", "arena bench bot", "arena exploit exact", "arena exploit bound")
"""Commands whose argument BOT may be a shell command with blanks."""


class ArenaCommand(TyperCommand):
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words, and reject superfluous ones with advice on quotes for a bot's command."""
        ctx.allow_extra_args = True
        extra = super().parse_args(ctx, args)
        if extra and not ctx.resilient_parsing:
            message = f"unexpected argument {quoted(extra[0])}"
            if ctx.command_path in _BOT_COMMANDS:
                from dealer.table.players import quoting_advice

                message += f"; {quoting_advice([str(ctx.params['bot']), *extra])}"
            ctx.fail(message)
        return extra

    def format_help(self, ctx: Any, formatter: Any) -> None:
        _write_help(self, ctx, formatter)

    def invoke(self, ctx: Any) -> Any:
        # Bots loaded in this process may print. Only the command's own results go to standard output.
        with prints_to_standard_error() as output:
            ctx.obj.write_results_to(output)
            return super().invoke(ctx)


class ArenaGroup(TyperGroup):
    is_full = False
    """True for ``--help``, the full help, and False for ``-h``, the short one."""
    default_command = ""
    """Command of the group that runs if none is named; its help also lists the other commands."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        _write_help(self, ctx, formatter)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args and self.no_args_is_help and not ctx.resilient_parsing:
            typer.echo(ctx.get_help())
            ctx.exit(EXIT_USAGE)
        return super().parse_args(ctx, args)

    def main(self, *arguments: Any, **values: Any) -> Any:
        """Run a command, print its error if it raises one, and exit the process."""
        words = values.get("args")
        if words is None:
            words = sys.argv[1:]
        typed = list(words)
        self.is_full = "--help" in typed
        terminal = Terminal(shlex.join(["arena", *typed]))
        if (command := new_spelling(typed)) is not None:
            terminal.error(f"'arena {typed[0]}' has a new spelling; write: {command}")
            sys.exit(EXIT_USAGE)
        try:
            code = super().main(*arguments, **values | {"standalone_mode": False, "obj": terminal})
        except KeyboardInterrupt:
            code = EXIT_INTERRUPTED
        except OSError as error:
            if error.filename is None:
                raise
            terminal.error(f"{quoted(error.filename)}: {error.strerror}")
            code = EXIT_USAGE
        except typer.TyperException as error:
            terminal.error(_usage_problem(error))
            code = error.exit_code
        except PortableError as error:
            terminal.error(_error_text(error))
            code = error.code if isinstance(error, CommandError) else EXIT_USAGE
        sys.exit(code)


def help_page(command: Any, context: Any) -> Page:
    """Build the help of a command or a group."""
    panels: dict[str, list[Entry]] = {"Arguments": [], "Options": []}
    arguments = []
    rare = getattr(command.callback, "rare_options", ())
    for parameter in command.params:
        is_argument = parameter.param_type_name == "argument"
        title = parameter.rich_help_panel
        if not title:
            title = "Arguments" if is_argument else "Options"
        if not parameter.hidden:
            entry = _entry(parameter, context)
            panels.setdefault(title, []).append(entry._replace(is_rare=parameter.name in rare))
        if is_argument:
            arguments.append(_in_usage(parameter))
    panels["Options"].append(HELP_ENTRY)
    own_commands = getattr(command, "commands", {})
    path = context.command_path
    listed = dict(own_commands)
    group = None if context.parent is None else context.parent.command
    if isinstance(group, ArenaGroup) and group.default_command == command.name:
        path = context.parent.command_path
        listed = dict(group.commands)
        del listed[command.name]
    usage = [path, "[OPTIONS]", *arguments]
    if own_commands:
        usage.append("COMMAND ...")
    sections = [(title, entries) for title, entries in panels.items() if entries]
    entries = []
    for name, subcommand in listed.items():
        if not subcommand.hidden:
            first_paragraph = (subcommand.help or "").split("\n\n")[0]
            entries.append(Entry(name, first_paragraph))
    command_lists = [("Commands", entries)] if entries else []
    return Page(" ".join(usage), command.help or "", sections, command_lists, command.epilog or "")


def _write_help(command: Any, context: Any, formatter: Any) -> None:
    formatter.write(page_text(help_page(command, context), is_full=context.find_root().command.is_full))


def _entry(parameter: Any, context: Any) -> Entry:
    names = sorted(parameter.opts, key=len) + parameter.secondary_opts
    value = _value_name(parameter)
    is_argument = parameter.param_type_name == "argument"
    notes = []
    if parameter.required and not is_argument:
        notes.append("required")
    if default := _default(parameter, context):
        notes.append(f"default: {default}")
    if parameter.max is not None and parameter.max < _NO_BOUND:
        if parameter.min is None:
            notes.append(f"at most {parameter.max}")
        else:
            notes.append(f"{parameter.min} to {parameter.max}")
    if is_argument:
        label = value
    else:
        repeated = "..." if parameter.multiple else ""
        label = f"{', '.join(names)} {value}{repeated}".rstrip()
    return Entry(label, parameter.help or "", "; ".join(notes))


def _value_name(parameter: Any) -> str:
    """Return the placeholder of a parameter's value, or its choices; empty for a flag."""
    if parameter.metavar is not None or parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name.upper())
    if parameter.is_flag:
        return ""
    return str(parameter.display_type(None)).strip("<>")


def _in_usage(argument: Any) -> str:
    name = _value_name(argument)
    if argument.nargs != 1 and "..." not in name:
        name += "..."
    if argument.required or name.startswith("["):
        return name
    return f"[{name}]"


def _default(parameter: Any, context: Any) -> str:
    if isinstance(parameter.show_default, str):
        return parameter.show_default
    if not parameter.show_default:
        return ""
    value = parameter.get_default(context, call=False)
    if value is None or value is False:
        return ""
    return str(value)


def _usage_problem(error: typer.TyperException) -> str:
    """Compose the sentence of an error that typer raised: a wrong word, option or value."""
    parameter = getattr(error, "param", None)
    context = getattr(error, "ctx", None)
    message = f"{error.message[:1].lower()}{error.message[1:]}".rstrip(".").replace(". Did you", "; did you")
    if parameter is not None:
        from pydantic import ValidationError

        if isinstance(error.__cause__, ValidationError):
            from dealer.run.run_settings import problem_in_words

            problems = error.__cause__.errors(include_url=False)
            message = problem_in_words(problems[0])[1]
        name = _parameter_name(parameter)
        if message:
            return f"{name}: {message}"
        message = f"{name} is missing"
    possibilities = getattr(error, "possibilities", None) or ()
    if near := closest_word(getattr(error, "option_name", ""), possibilities):
        message += f"; did you mean {near!r}?"
    if context is not None and not message.endswith("?"):
        message += f"; see '{context.command_path} -h'"
    return message


def _parameter_name(parameter: Any) -> str:
    """Return the long name of an option, or the placeholder of an argument."""
    is_option = parameter.opts[0].startswith("-")
    return max(parameter.opts, key=len) if is_option else _value_name(parameter)


def _error_text(error: Exception) -> str:
    """Compose the sentence of an error, with settings under the names of their options."""
    if isinstance(error, ConfigError):
        return error.text(option_of)
    if isinstance(error, FolderTakenError):
        advice = "choose another folder with --out"
        if error.holds_run:
            advice = f"{advice}, or continue its run with 'arena resume {error.folder}'"
        return f"{error}; {advice}"
    return str(error)
