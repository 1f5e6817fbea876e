"""The reference pages, generated while the site is built: commands, settings, fields of a result, public names."""

from __future__ import annotations

from typing import Any, Final

import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from typer.main import get_command

from dealer.cli.commands import help_page
from dealer.cli.help import HELP_ENTRY, Entry

PACKAGES: Final = ("engine", "protocol", "logs", "bots", "dealer")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages: an event of MkDocs."""
    files.append(File.generated(config, "reference/command-line.md", content=command_line()))
    files.append(File.generated(config, "reference/settings.md", content=run_settings()))
    files.append(File.generated(config, "reference/result.md", content=result_fields()))
    for package in PACKAGES:
        files.append(File.generated(config, f"reference/{package}.md", content=f"# {package}\n\n::: {package}\n"))
    return files


def command_line() -> str:
    """A section per command: usage, description, arguments and options."""
    from dealer.cli import COMMANDS
    from dealer.cli.app import application

    return "# Command line\n\n" + "\n".join(_sections(get_command(application(COMMANDS)), "arena", None))


def run_settings() -> str:
    """A table of the settings of a run."""
    from bots.sdk.options import reference_table
    from dealer.run.settings import RunSettings

    lines = [
        "# Settings of a run",
        "",
        "The keys of `run.toml`, and the keywords of `dealer.play` and `tournament`.",
        "",
    ]
    return "\n".join([*lines, *reference_table(RunSettings)]) + "\n"


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


def _sections(command: Any, name: str, parent: Any) -> list[str]:
    context = typer.Context(command, info_name=name, parent=parent)
    page = help_page(command, context)
    lines = []
    if parent is not None:
        rows = [_row(entry) for _, entries in page.sections for entry in entries if entry != HELP_ENTRY]
        table = ["| option | meaning |", "| --- | --- |", *rows, ""] if rows else []
        lines += [f"## {context.command_path}", "", f"    {page.usage}", "", page.description, "", *table]
    for each, subcommand in sorted(getattr(command, "commands", {}).items()):
        if not subcommand.hidden:
            lines += _sections(subcommand, each, context)
    return lines


def _row(entry: Entry) -> str:
    name, text = (part.replace("|", "\\|") for part in (entry.names, entry.full_text))
    return f"| `{name}` | {text.replace('<', '&lt;')} |"
