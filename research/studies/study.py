"""Measure the figures of a publication's claims, and write the pages about it.

    python research/studies/study.py NAME [FOLDER]

NAME is `evolved`, `kuhn`, `learner`, `lp-mc` or `rembrant`. `bots/studies/NAME.toml` has the claims: the printed value,
its place and uncertainty, and its measurement. With a folder, every figure that it lacks is measured; then NAME.csv
beside the claims has the figures and FOLDER/NAME.html the report. Without one, the claims are judged by the measured
figures of NAME.csv; only figures derived from them are computed. Both write research/tables/NAME.md and
research/tables/claims.md. Review the prose of these pages when figures have changed. `bots.studies.claims` has the rule
of the verdicts.

"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from bots.studies.claims import Verdict
from bots.studies.measured import Measured, read_figures, write_figures
from bots.studies.study import FOLDER, NAMES, Study, counts_sentence, read_study
from logs.document import TEXT, Column, Table
from logs.document.page import format_page
from logs.document.plain import markdown_table
from logs.whole_file import write_whole

sys.path.append(str(Path(__file__).resolve().parents[1]))
from blocks import APPENDIX, with_blocks


def blocks_of(study: Study) -> dict[Path, dict[str, str]]:
    """Tables of the pages, by page and marker."""
    tables = {
        marker: markdown_table(table) + (f"\n{table.note}\n" if table.note else "")
        for marker, table in study.tables().items()
    }
    return {APPENDIX / f"{study.name}.md": {"verdicts": markdown_table(study.overview())} | tables}


def claims_blocks() -> dict[str, str]:
    """Blocks of the page of all claims, by marker."""
    studies = [read_study(name) for name in NAMES]
    rows = []
    for study in studies:
        counts = study.counts()
        rows.append((study.name, *(counts[verdict] for verdict in Verdict), len(study.unjudged())))
    columns = ("work", *Verdict, "printed tables not judged")
    overview = f"{counts_sentence(studies)}\n\n" + markdown_table(Table.of("", columns, rows))
    return {"all claims": overview} | {f"claims of {study.name}": _claims_of_work(study) for study in studies}


def _claims_of_work(study: Study) -> str:
    lines = [study.data["work"].strip(), "", counts_sentence([study]), ""]
    for group in study.judged_groups():
        key = study.group_key(group.group)
        columns = (
            "claim",
            Column("printed claim", TEXT),
            "printed",
            "ours",
            Column("verdict"),
            Column("because", TEXT),
        )
        rows = [
            (row.claim.key.rpartition(".")[2], row.claim.quantity, row.printed, row.ours, row.verdict, row.claim.why)
            for row in group.claims
        ]
        table = Table.of("", columns, rows)
        lines += [f"### {group.table.title}", "", markdown_table(table), group.table.note, ""]
        command = group.group.get("command") or study.data.get("command", f"arena claims {key} --check")
        if any(row.claim.exact or row.claim.measured in study.figures for row in group.claims):
            lines += [f"Command: `{command}`", ""]
    if study.unjudged():
        lines += ["### Not judged", ""]
        columns = (Column("printed", TEXT), Column("where", TEXT), "figures", Column("because", TEXT))
        rows = [(part["title"], part["source"], part["figures"] or None, part["why"]) for part in study.unjudged()]
        lines.append(markdown_table(Table.of("", columns, rows)))
    return "\n".join(lines).rstrip("\n") + "\n"


def measure(study: Study, folder: Path) -> dict[str, Measured]:
    """Measure the figures that the folder lacks; return all figures of the study."""
    folder.mkdir(parents=True, exist_ok=True)
    figures: dict[str, Measured] = {}
    with ProcessPoolExecutor() as pool:
        running = {}
        for task in dict.fromkeys(study.module.tasks(study.needed(), folder)):
            path = folder / f"{re.sub('[^a-z0-9.,=-]+', '-', task.name.lower())}.json"
            if path.exists():
                stored = json.loads(path.read_text("utf-8"))
                figures |= {name: Measured(*figure) for name, figure in stored.items()}
            else:
                running[pool.submit(task.function, *task.arguments)] = path
        for done, future in enumerate(as_completed(running), 1):
            write_whole(running[future], json.dumps(future.result(), indent=0))
            figures |= future.result()
            print(f"{done} of {len(running)}: {running[future].stem}", flush=True)
    return {name: figures[name] for name in study.needed() if name in figures}


def with_expressions(name: str, figures: dict[str, Measured]) -> dict[str, Measured]:
    """Return measured figures of a study, and the values of its expressions."""
    study = Study(name, figures)
    measured = {figure: figures[figure] for figure in study.needed() if figure in figures}
    return measured | {text: study.evaluated(text) for text in study.expressions()}


def output_of(command: str) -> str:
    """Run a command in a new folder; return its output."""
    from typer.testing import CliRunner

    from dealer.cli import commands_for
    from dealer.cli.shell.app import application

    words, before = command.split()[1:], Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            result = CliRunner().invoke(application(commands_for(words)), words, prog_name="arena")
        finally:
            os.chdir(before)
    if result.exit_code:
        raise SystemExit(f"{command}: exit code {result.exit_code}\n{result.output}")
    return "```text\n" + "".join(f"{line.rstrip()}\n" for line in result.stdout.splitlines()) + "```\n"


def main(name: str = "", folder: str = "") -> None:
    if name not in NAMES:
        raise SystemExit(f"usage: python research/studies/study.py NAME [FOLDER], with NAME one of {', '.join(NAMES)}")
    path = FOLDER / f"{name}.csv"
    figures = measure(Study(name, {}), Path(folder)) if folder else read_figures(path)
    write_figures(path, with_expressions(name, figures))
    study = Study(name, read_figures(path))
    blocks = blocks_of(study)
    if folder:
        outputs = study.data.get("outputs", {})
        blocks[APPENDIX / f"{name}.md"] |= {marker: output_of(command) for marker, command in outputs.items()}
        Path(folder, f"{name}.html").write_text(format_page(study.document()), "utf-8")
    blocks[APPENDIX / "claims.md"] = claims_blocks()
    for page, of_page in blocks.items():
        page.write_text(with_blocks(page.read_text("utf-8"), of_page), "utf-8")
    print(study.document().sentences[0])


if __name__ == "__main__":
    main(*sys.argv[1:])
