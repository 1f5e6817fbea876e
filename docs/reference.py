"""The reference pages, generated while the site is built: commands, fields of a result, public names."""

from __future__ import annotations

from typing import Any, Final

import click
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from typer.main import get_command

PACKAGES: Final = ("engine", "protocol", "logs", "bots", "dealer")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages: an event of MkDocs."""
    files.append(File.generated(config, "reference/command-line.md", content=command_line()))
    files.append(File.generated(config, "reference/result.md", content=result_fields()))
    for package in PACKAGES:
        files.append(File.generated(config, f"reference/{package}.md", content=f"# {package}\n\n::: {package}\n"))
    return files


def command_line() -> str:
    """A section per command: usage, description, arguments and options."""
    from dealer.cli import COMMANDS
    from dealer.cli.app import application

    return "# Command line\n\n" + "\n".join(_sections(get_command(application(COMMANDS)), "arena"))


def result_fields() -> str:
    """A table per model of `result.json`."""
    from pydantic import BaseModel

    from dealer.run import results
    from logs.variance import estimates

    lines = ["# result.json", "", "The fields of `result.json`, which every run writes and `--json` prints."]
    for module in (results, estimates):
        for model in vars(module).values():
            if not isinstance(model, type) or not issubclass(model, BaseModel) or model.__module__ != module.__name__:
                continue
            if not model.model_fields:
                continue
            lines += ["", f"## {model.__name__}", "", str(model.__doc__), "", "| field | meaning |", "| --- | --- |"]
            lines += [f"| `{name}` | {field.description or ''} |" for name, field in model.model_fields.items()]
    return "\n".join(lines) + "\n"


def _sections(command: Any, name: str) -> list[str]:
    context = click.Context(command, info_name=name)
    subcommands = getattr(command, "commands", {})
    lines = []
    if name != "arena":
        lines += [f"## {name}", "", f"    {_usage(command, context)}", "", _prose(command.help), ""]
        rows = [row for parameter in command.params if (row := _row(parameter, context))]
        lines += ["| option | meaning |", "| --- | --- |", *rows, ""]
    for each in sorted(subcommands):
        if not subcommands[each].hidden:
            lines += _sections(subcommands[each], f"{name} {each}")
    return lines


def _usage(command: Any, context: click.Context) -> str:
    return " ".join([context.command_path, *command.collect_usage_pieces(context)])


def _prose(text: str | None) -> str:
    return "\n".join(line.strip() for line in (text or "").replace("\b", "").splitlines()).strip()


def _row(parameter: Any, context: click.Context) -> str:
    record = parameter.get_help_record(context)
    if record is None or getattr(parameter, "hidden", False):
        return ""
    name, text = (" ".join(part.split()).replace("|", "\\|").replace("<", "&lt;") for part in record)
    return f"| `{name.replace('&lt;', '<')}` | {text} |"
