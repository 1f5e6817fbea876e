"""Counting the hands of files and folders: several files, or parts of big ones, at the same time.

Files of the same seed hold the same cards: they are read side by side, deal by deal, so that the hands of a deal come
one after the other and count as one unit of the intervals. Each such group of files, and each part of a big one, is
counted by itself, and the counts are merged in the order of the hands. So the number of processes changes neither the
figures (except for the last digits of sums of fractions and the places of a curve's points) nor the problems reported.

More than one process means that others are started which import the main module, as is usual on all platforms but one:
a script that asks for them needs its ``if __name__ == "__main__":``.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import zip_longest
from typing import Final, NamedTuple

from logs.acpc_log.parts import LogPart, cut_logs, only_score
from logs.acpc_log.state_lines import is_same_score, wrong_score
from logs.errors import LogError, LogProblem, ProblemKind, UncleanLogError
from logs.files import is_plain
from logs.hand_identity import SeenHands
from logs.hand_source import HandSource, side_by_side
from logs.record import HandRecord
from logs.tracker.clean_logs import clean_columns
from logs.tracker.hand_counts import MAX_BIG_POTS, HandCounts

_MIN_BYTES: Final = 8_000_000
"""In all, before a second process is worth its start (half a second, and two to compile what all-in hands need)."""
_MIN_PART_BYTES: Final = 4_000_000
"""No part of a group of files is smaller."""


class _Job(NamedTuple):
    """Files with the same cards, or a part of each (`parts` is empty for whole files), to be counted; `is_last` if no
    other part of the files follows.
    """

    source: HandSource
    parts: Sequence[LogPart]
    is_last: bool
    big_pots: int


class _Counted(NamedTuple):
    """The result of a job: the hands, the chips of each player in each file where parts were read, why no more could be
    read, and the identities of hands outside logs.
    """

    counts: HandCounts
    net: list[dict[str, float]]
    problems: list[LogProblem]
    failure: LogError | None
    seen: SeenHands


def count_hands(
    source: HandSource,
    *,
    big_pots: int = MAX_BIG_POTS,
    processes: int = 1,
    on_progress: Callable[[int], None] = lambda hands: None,
) -> HandCounts:
    """Count hands, each once: copies of files are left out, and reported as problems.

    Args:
        big_pots: how many of the hands with the biggest pots are kept.
        processes: the most that count at the same time; where there are few hands, one does.
        on_progress: is called now and then with the number of hands counted.

    Raises:
        LogError: a file cannot be read at all.
        DamagedLogError: a problem was met while reading strictly.
        OSError: a file cannot be read.
    """
    source = source.without_copies()
    seen = SeenHands()
    if processes > 1 and _bytes_of(source) >= _MIN_BYTES:
        sent = replace(source, on_problem=None, has_others=source.has_others and source.on_problem is not None)
        jobs = [job for group in sent.groups() for job in _jobs(group, processes, big_pots)]
        return _merge(jobs, processes, source, on_progress)
    counts = HandCounts(big_pots=big_pots)
    for group in source.groups():
        more, _ = _count(_Job(group, (), True, big_pots), seen, lambda hands: on_progress(counts.hands + hands))
        counts.merge(more)
    source.report_repeats(seen)
    return counts


def _may_be_clean(group: HandSource) -> bool:
    """Whether to try to read the hands into columns at once."""
    repeats = group.repeats or {}
    is_log = all(file.format is None and file.path not in repeats for file in group.files)
    return not group.times and group.transcript is None and is_log


def _bytes_of(source: HandSource) -> int:
    return sum(os.path.getsize(file.path) for file in source.files)


def _jobs(group: HandSource, processes: int, big_pots: int) -> Iterator[_Job]:
    is_whole = group.times or group.transcript is not None
    wanted = 1 if is_whole else min(_bytes_of(group) // _MIN_PART_BYTES, processes)
    parts: list[Sequence[LogPart]] = [()]
    if wanted > 1 and all(file.format is None and is_plain(file.path) for file in group.files):
        parts = list(zip(*cut_logs([file.path for file in group.files], wanted), strict=True))
        if len(parts) == 1:
            parts = [()]
    for part in parts:
        yield _Job(group, part, part is parts[-1], big_pots)


def _merge(jobs: list[_Job], processes: int, source: HandSource, on_progress: Callable[[int], None]) -> HandCounts:
    counts = HandCounts(big_pots=jobs[0].big_pots)
    group_counts = HandCounts(big_pots=jobs[0].big_pots)
    net: list[dict[str, float]] = []
    problems: list[LogProblem] = []
    seen = SeenHands()
    for job, counted in zip(jobs, _count_all(jobs, processes), strict=True):
        if not seen.contents.keys().isdisjoint(counted.seen.contents):
            # Rare: the job is done again without the hands that others before it hold.
            counted = _count_apart(job, seen)
        else:
            seen.add(counted.seen)
        group_counts.merge(counted.counts)
        net += counted.net
        problems += counted.problems
        source.report(counted.problems)
        if counted.failure is not None:
            raise counted.failure
        if job.is_last:
            if job.parts:
                damaged = {problem.path for problem in problems}
                files = job.source.files
                for place, file in enumerate(files):
                    if file.path not in damaged:
                        source.report(_check_score(file.path, net[place :: len(files)]))
            counts.merge(group_counts)
            group_counts = HandCounts(big_pots=job.big_pots)
            net = []
            problems = []
        on_progress(counts.hands + group_counts.hands)
    source.report_repeats(seen)
    return counts


def _count_all(jobs: list[_Job], processes: int) -> Iterator[_Counted]:
    """Do all jobs; the results come in their order."""
    # Threads and forks do not go together, and not every platform has forks.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(processes, len(jobs)), mp_context=context) as pool:
        try:
            yield from pool.map(_count_apart, jobs)
        finally:
            pool.shutdown(cancel_futures=True)


def _count_apart(job: _Job, seen: SeenHands | None = None) -> _Counted:
    """Do a job, as a rule in another process."""
    problems: list[LogProblem] = []
    seen = SeenHands() if seen is None else seen
    try:
        counts, net = _count(job._replace(source=replace(job.source, on_problem=problems.append)), seen)
    except LogError as error:
        return _Counted(HandCounts(), [], problems, error, seen)
    return _Counted(counts, net, problems, None, seen)


def _count(
    job: _Job, seen: SeenHands, on_progress: Callable[[int], None] = lambda hands: None
) -> tuple[HandCounts, list[dict[str, float]]]:
    """Count hands, and the chips of each player in each file where parts are read."""
    source = job.source
    if _may_be_clean(source):
        counts = HandCounts(big_pots=job.big_pots)
        with contextlib.suppress(UncleanLogError):
            for columns, so_far in clean_columns([file.path for file in source.files], job.parts, source.game):
                counts.count([columns])
                on_progress(counts.hands)
                net = so_far
            return counts, net
    net = [{} for _ in job.parts]
    hands = [source.read(file, part, seen=seen) for file, part in zip_longest(source.files, job.parts)]
    if job.parts:
        hands = list(map(_tallied, hands, net))
    return HandCounts(big_pots=job.big_pots).add_all(side_by_side(hands), on_progress), net


def _tallied(hands: Iterable[HandRecord], net: dict[str, float]) -> Iterator[HandRecord]:
    """The hands, while the chips of each player are added up."""
    for record in hands:
        for name, value in zip(record.names, record.values, strict=True):
            net[name] = net.get(name, 0.0) + value
        yield record


def _check_score(path: str, parts: Sequence[dict[str, float]]) -> list[LogProblem]:
    """Whether the score of a log is the sum of the hands of its parts, as far as its names show."""
    found = only_score(path)
    if found is None or not all(set(net) <= set(found[1].names) for net in parts):
        return []
    line_number, (totals, names) = found
    net = [sum(part.get(name, 0.0) for part in parts) for name in names]
    if is_same_score(net, totals):
        return []
    return [LogProblem(path, line_number, None, wrong_score(net), ProblemKind.NOTED)]
