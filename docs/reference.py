"""The reference pages, generated while the site is built: commands, settings, JSON, public names, and the appendix."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer
from pydantic import BaseModel, TypeAdapter
from typer.main import get_command

from bots.sdk.options import options_of
from dealer.cli.shell.commands import help_page
from dealer.cli.shell.help import HELP_ENTRY, Entry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

TABLES: Final = Path(__file__).resolve().parents[1] / "research" / "tables"
PACKAGES: Final = ("engine", "protocol", "logs", "bots", "dealer")


class SectionData(BaseModel):
    """A section of a document: sentences, and tables, charts and lists of facts, each with its title."""

    title: str
    parts: list[str | dict[str, Any]]


class DocumentData(BaseModel):
    """Schema of a document without a type of its own, as `logs.document.plain.json_data` writes it."""

    schema_version: int
    title: str
    sentences: list[str]
    facts: dict[str, Any]
    sections: list[SectionData]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages: an event of MkDocs."""
    from mkdocs.structure.files import File, InclusionLevel

    files.append(File.generated(config, "reference/command-line.md", content=command_line()))
    files.append(File.generated(config, "reference/settings.md", content=run_settings()))
    files.append(File.generated(config, "reference/server-settings.md", content=server_settings()))
    files.append(File.generated(config, "reference/result.md", content=result_fields()))
    files.append(File.generated(config, "reference/findings.md", content=doctor_findings()))
    files.append(File.generated(config, "reference/json.md", content=json_page()))
    for name, schema in schemas().items():
        text = json.dumps(schema, indent=2) + "\n"
        path, level = f"reference/{name}.schema.json", InclusionLevel.INCLUDED  # mkdocs.yml excludes JSON
        files.append(File.generated(config, path, content=text, inclusion=level))
    for package in PACKAGES:
        files.append(File.generated(config, f"reference/{package}.md", content=f"# {package}\n\n::: {package}\n"))
    for path in sorted(TABLES.glob("*.md")):
        files.append(File.generated(config, f"appendix/{path.name}", content=appendix_page(path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rank the guides above the generated pages in the search: an event of MkDocs."""
    boost = 5.0
    if page.file.src_uri.startswith("reference/"):
        boost = 0.001
    elif page.file.src_uri in ("any-language.md", "trackers.md"):
        # For "C client" and "PokerTracker", which other pages mention as often.
        boost = 10
    page.meta.setdefault("search", {}).setdefault("boost", boost)
    return markdown


def appendix_page(path: Path) -> str:
    """A page of tables with its links as the site has them, kept out of the search."""
    return "---\nsearch:\n  exclude: true\n---\n\n" + path.read_text("utf-8").replace("](../../docs/", "](../")


def command_line() -> str:
    """A section per command: usage, description, and a table per group of options, as ``--help`` has them."""
    from dealer.cli import COMMANDS
    from dealer.cli.shell.app import application

    return "# Command line\n\n" + "\n".join(_sections(get_command(application(COMMANDS)), "arena", None))


def reference_table(declared: Any) -> Iterator[str]:
    """The lines of a Markdown table of options."""
    yield "| setting | default | from | to | meaning |"
    yield "| --- | --- | --- | --- | --- |"
    for option in options_of(declared):
        default = option.wording.otherwise or (f"`{option.value}`" if option.value not in ("", "null") else "")
        yield f"| `{option.name}` | {default} | {' | '.join(option.limits)} | {option.meaning} |"


def run_settings() -> str:
    """A table of the settings of a run."""
    from dealer.run.run_settings import BotSettings, RunSettings

    lines = [
        "# Settings of a run",
        "",
        "The keys of `run.toml`, and the keywords of `dealer.play` and `tournament`.",
        "",
    ]
    bots = ["", "## Settings of a bot", "", str(BotSettings.__doc__), "", *reference_table(BotSettings)]
    return "\n".join([*lines, *reference_table(RunSettings), *bots]) + "\n"


def server_settings() -> str:
    """A table per section of the configuration file of `arena serve`."""
    from dealer.server.server_settings import SECTIONS, heading

    lines = [
        "# Server settings",
        "",
        "All settings of a configuration file of `arena serve`, as `arena serve --init` writes them;",
        "[Operation](../operation.md) explains them.",
    ]
    for name, section in SECTIONS.items():
        lines += ["", f"## {f'`{heading(name)}`' if name else 'The server'}", "", str(section.__doc__), ""]
        lines += reference_table(section)
    return "\n".join(lines) + "\n"


def result_fields() -> str:
    """A table per model of `result.json`."""
    from dealer.run.results import result_values
    from logs.variance import estimates

    lines = ["# result.json", "", "The fields of `result.json`, which every run writes and `--json` prints."]
    for module in (result_values, estimates):
        for model in vars(module).values():
            if not isinstance(model, type) or not issubclass(model, BaseModel) or model.__module__ != module.__name__:
                continue
            if not model.model_fields:
                continue
            lines += ["", f"## {model.__name__}", "", str(model.__doc__), "", "| field | meaning |", "| --- | --- |"]
            lines += [f"| `{name}` | {field.description or ''} |" for name, field in model.model_fields.items()]
    return "\n".join(lines) + "\n"


def doctor_findings() -> str:
    """A section per finding of `arena doctor`, with wrong and right bytes."""
    from dealer.doctor.judge import Kind

    data = tomllib.loads(Path(__file__).with_name("findings.toml").read_text("utf-8"))
    lines = [
        "# Findings of the doctor",
        "",
        "[Doctor](../doctor.md) explains the command. In the examples the dealer has asked with",
        f"`{data['state']}`, in no-limit hold'em with blinds of 50 and 100, and STATE stands for these bytes.",
    ]
    for name, finding in data["findings"].items():
        kind = Kind(name)
        lines += ["", f"## {name}", "", f"*{kind.severity.value}*: {finding['meaning']} {kind.advice}".rstrip()]
        if "wrong" in finding:
            right = finding.get("right", r"STATE:c\r\n")
            lines += ["", "```text", f"wrong  {finding['wrong']}", f"right  {right}", "```"]
    return "\n".join(lines) + "\n"


PRINTED: Final = {
    "result": ("play", "tournament", "resume", "show", "deal", "table"),
    "benchmark": ("benchmark",),
    "runs": ("runs",),
    "statistics": ("stats",),
    "estimates": ("luck",),
    "leaks": ("leaks",),
    "deviations": ("leaks",),
    "hands": ("hands",),
    "gate": ("gate",),
    "games": ("games",),
    "bots": ("bots",),
    "equity": ("equity",),
    "export": ("export",),
    "warmup": ("warmup",),
    "exploitability": ("exploit exact", "exploit bound", "exploit against"),
    "doctor": ("doctor",),
    "situations": ("doctor --list",),
    "speed": ("bench dealer", "bench bot"),
    "solution": ("solve kuhn", "solve kuhn3", "solve leduc", "solve game"),
    "preflop": ("solve preflop",),
    "document": ("train", "evolve", "solve equities", "serve doctor", "serve users"),
}
"""The commands that print JSON of each schema."""


def schemas() -> dict[str, dict[str, Any]]:
    """The JSON schemas of what commands print with ``--json``, by the names of `PRINTED`."""
    from bots.cfr.expectation import ComparisonData
    from bots.cfr.response_estimates import ResponseData
    from bots.equilibrium.deviations import Deviations
    from bots.evaluation.exploiting import BoundsData
    from bots.lp_mc.preflop import PreflopSolution
    from bots.solving.equilibria import Solution
    from bots.solving.exact import ExpectationData, ExploitabilityData
    from dealer.bench import Row
    from dealer.cli.bots import BotsData
    from dealer.cli.equity import EquityData
    from dealer.cli.export import ExportData
    from dealer.cli.games import GamesData
    from dealer.cli.hands import HandsData, LossesData
    from dealer.cli.warmup import WarmupData
    from dealer.doctor.findings import DoctorReport, SituationsData
    from dealer.reports.benchmark_data import BenchmarkData
    from dealer.reports.gate_report import GateData
    from dealer.reports.leak_report import LeaksData
    from dealer.reports.run_lists import ListedRun
    from dealer.run.results import ContestResult, TournamentResult
    from logs.tracker.statistics import Statistics
    from logs.variance.estimates import Estimates

    kinds: dict[str, Any] = {
        "result": ContestResult | TournamentResult,
        "benchmark": BenchmarkData,
        "runs": list[ListedRun],
        "statistics": Statistics,
        "estimates": Estimates,
        "leaks": LeaksData,
        "deviations": Deviations,
        "hands": HandsData | LossesData,
        "gate": GateData,
        "games": GamesData,
        "bots": BotsData,
        "equity": EquityData,
        "export": ExportData,
        "warmup": WarmupData,
        "exploitability": ExploitabilityData | ExpectationData | BoundsData | ComparisonData | ResponseData,
        "doctor": DoctorReport,
        "situations": SituationsData,
        "speed": list[Row],
        "solution": Solution,
        "preflop": PreflopSolution,
        "document": DocumentData,
    }
    return {name: TypeAdapter(kind).json_schema(mode="serialization") for name, kind in kinds.items()}


def json_page() -> str:
    """A table of the schemas."""
    lines = [
        "# JSON",
        "",
        "Commands that show a result print it with `--json` as a value of these schemas (JSON Schema 2020-12), which",
        "are generated from the types of the program.",
        "",
        "| schema | printed by |",
        "| --- | --- |",
    ]
    for name, commands in PRINTED.items():
        lines.append(f"| [{name}]({name}.schema.json) | {', '.join(f'`arena {command}`' for command in commands)} |")
    lines += ["", "`arena leaks` prints deviations in games whose equilibrium is exact: Kuhn and Leduc poker."]
    return "\n".join(lines) + "\n"


def _sections(command: Any, name: str, parent: Any) -> list[str]:
    context = typer.Context(command, info_name=name, parent=parent)
    page = help_page(command, context)
    lines = []
    if parent is not None:
        lines += [f"## {context.command_path}", "", f"    {page.usage}", "", page.description, ""]
        for title, entries in page.sections:
            rows = [_row(entry) for entry in entries if entry != HELP_ENTRY]
            if rows:
                lines += [f"| {title} | |", "| --- | --- |", *rows, ""]
    for each, subcommand in sorted(getattr(command, "commands", {}).items()):
        if not subcommand.hidden:
            lines += _sections(subcommand, each, context)
    return lines


def _row(entry: Entry) -> str:
    name, text = (part.replace("|", "\\|") for part in (entry.names, entry.full_text))
    return f"| `{name}` | {text.replace('<', '&lt;')} |"
