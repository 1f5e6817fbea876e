"""``arena claims``: show claims of publications with our verdicts, and compute figures again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated

import typer

from bots.sdk.options import Interval, Wording
from bots.studies.checking import Checked, Checker, Effort, claims_of, sample
from bots.studies.claims import Claim, Verdict
from bots.studies.study import NAMES, Study, counts_sentence, read_study
from dealer.cli.shell.console import Terminal, abort
from dealer.cli.shell.documents import DocumentOptions
from dealer.cli.shell.progress import showing_progress
from dealer.cli.shell.streams import EXIT_FAILED
from engine.errors import quoted
from engine.text import count_of
from logs.document import TEXT, Column, Document, Section, Table

_SAMPLE = 5


def claims(
    terminal: Terminal,
    name: Annotated[
        str,
        typer.Argument(
            metavar="WORK",
            help=f"One of {', '.join(NAMES)}; or a group of claims or a single one, such as kuhn.records or "
            "kuhn.records.3.",
        ),
    ] = "",
    check: Annotated[
        bool,
        "Compute figures again and compare them with the stored ones: those of a named group or claim, otherwise of a "
        "sample.",
    ] = False,
    sample_size: Annotated[
        int,
        "Number of claims in the sample. Each takes seconds.",
        Interval(1),
        Wording("N", flags="--sample"),
    ] = _SAMPLE,
    seed: Annotated[int, "Seed of the sample.", Wording("N")] = 1,
    *,
    output: DocumentOptions,
) -> None:
    """Show the claims of five publications with our verdicts: printed figures, ours, sources and reasons.

    With --check the exit code is 1 if a figure differs from the stored one.
    """
    studies = _studies(name)
    if check:
        _check(terminal, studies, name, sample_size, seed, output)
    elif not name:
        output.show(terminal, _overview(studies))
    elif name in NAMES:
        output.show(terminal, _work_document(studies[0]))
    else:
        output.show(terminal, _part_document(studies[0], name))


def _studies(name: str) -> list[Study]:
    """Read the studies that have claims of a name; abort the command for an unknown one."""
    work = name.partition(".")[0]
    if not name:
        return [read_study(work) for work in NAMES]
    if work not in NAMES:
        abort(f"there is no work {quoted(work)}; the works are {', '.join(NAMES)}")
    study = read_study(work)
    if not any(claims_of(study, name)):
        keys = [study.group_key(group) for group in study.data["claims"]]
        abort(f"{work} has no claims {quoted(name)}; its groups are {', '.join(keys)}, each with claims .1, .2 and on")
    return [study]


def _overview(studies: Sequence[Study]) -> Document:
    rows = []
    for study in studies:
        counts = study.counts()
        rows.append((study.name, *(counts[verdict] for verdict in Verdict), study.data["title"]))
    table = Table.of("Claims by work", ("work", *Verdict, Column("title", TEXT)), rows)
    return Document(
        "Claims of five publications",
        (counts_sentence(studies), "arena claims WORK shows the claims, arena claims --check recomputes some of them."),
        sections=(Section("", (table,)),),
    )


def _work_document(study: Study) -> Document:
    groups = [Section(_group_title(study, group.group["marker"]), (group.table,)) for group in study.judged_groups()]
    return Document(
        study.data["title"],
        (counts_sentence([study]), study.data["work"].strip()),
        sections=(Section("", (study.overview(),)), *groups),
    )


def _group_title(study: Study, marker: str) -> str:
    return f"{study.name}.{marker.replace(' ', '-')}"


def _part_document(study: Study, name: str) -> Document:
    """Show a group of claims, or a single claim."""
    sections = []
    for group in study.judged_groups():
        chosen = [row for row in group.claims if name in (study.group_key(group.group), row.claim.key)]
        if chosen:
            title = _group_title(study, group.group["marker"])
            sections.append(Section(title, (group._replace(claims=chosen).table,)))
    return Document(study.data["title"], (study.data["work"].strip(),), sections=tuple(sections))


def _check(
    terminal: Terminal, studies: Sequence[Study], name: str, sample_size: int, seed: int, output: DocumentOptions
) -> None:
    checkers = [Checker(study) for study in studies]
    known = [(checker, claim) for checker in checkers for claim in claims_of(checker.study, name)]
    chosen: Sequence[tuple[Checker, Claim]]
    if name and name not in NAMES:
        chosen = [(checker, claim) for checker, claim in known if _can_check(checker, claim, terminal)]
    else:
        chosen = sample(known, sample_size, seed)
    if not chosen:
        abort(f"none of these figures can be computed here; {_remedy(name.partition('.')[0] or 'NAME')}")
    rows = []
    with showing_progress(terminal, "computing") as show:
        for number, (checker, claim) in enumerate(chosen, 1):
            show((number - 1) / len(chosen), claim.key)
            rows.append(checker.check(claim))
    output.show(terminal, _check_document(rows, known))
    if not all(row.is_equal for row in rows):
        raise typer.Exit(EXIT_FAILED)


def _can_check(checker: Checker, claim: Claim, terminal: Terminal) -> bool:
    match checker.effort(claim):
        case Effort.NOT_MEASURED:
            terminal.note(f"{claim.key} was not measured.")
        case Effort.NEEDS_RUNS:
            terminal.note(f"{claim.key} needs runs that are not shipped; {_remedy(checker.study.name)}")
        case _:
            return True
    return False


def _remedy(work: str) -> str:
    return f"python research/studies/study.py {work} FOLDER, in the source, computes all figures"


def _check_document(rows: Sequence[Checked], known: Iterable[tuple[Checker, Claim]]) -> Document:
    efforts = [checker.effort(claim) for checker, claim in known]
    different = sum(not row.is_equal for row in rows)
    table = Table.of(
        "Figures computed again",
        ("claim", Column("", TEXT), "printed", "stored", "again", Column("verdict"), Column("result")),
        [
            (
                row.stored.claim.key,
                row.stored.claim.quantity,
                row.stored.printed,
                row.stored.ours,
                row.again.ours,
                row.again.verdict,
                "equal" if row.is_equal else "different",
            )
            for row in rows
        ],
        "Figures count as equal if they differ by less than 5 % of their half-interval.",
    )
    sentences = [
        f"{count_of(len(rows), 'figure')} computed again, {different or 'none'} different.",
        f"Of {count_of(len(efforts), 'claim')}, {efforts.count(Effort.SECONDS)} take seconds, "
        f"{efforts.count(Effort.MINUTES)} minutes or more, {efforts.count(Effort.NEEDS_RUNS)} need runs that are not "
        f"shipped, and {efforts.count(Effort.NOT_MEASURED)} have no figure.",
    ]
    return Document("Claims checked", tuple(sentences), sections=(Section("", (table,)),))
