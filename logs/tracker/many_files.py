"""Count the hands of files and folders, with several processes for big logs.

Files of the same seed have the same cards. They are read side by side, deal by deal, so that the hands of a deal are
one unit of the intervals. Each such group of files, or part of a group of big files, is counted by itself, and the
counts are merged in the order of the hands. The number of processes changes neither the problems reported nor the
figures, except for the last digits of float sums and the places of a curve's points.

Processes are spawned, which imports the main module. A script that asks for several needs ``if __name__ ==
"__main__":``.
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
"""Size of all files from which a second process is worth its start, half a second to two."""
_MIN_PART_BYTES: Final = 4_000_000
"""Size of the smallest part of a group of files."""


class _Job(NamedTuple):
    """Files with the same cards, or a part of each.

    Attributes:
        parts: part of each file; empty for whole files.
        is_last: whether no later part of the files follows.
    """

    source: HandSource
    parts: Sequence[LogPart]
    is_last: bool
    big_pots: int


class _JobResult(NamedTuple):
    """Result of a job.

    Attributes:
        net: net chips of each player in each file, if parts were read.
        failure: error that ended the reading.
        seen: identities of hands outside logs.
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
    """Count hands, each once: copies of files are left out and reported as problems.

    Args:
        big_pots: number of hands with the biggest pots to keep.
        processes: maximum number of processes; small files are counted in this one.
        on_progress: called with the number of hands counted, now and then.

    Raises:
        LogError: a file cannot be read at all.
        DamagedLogError: a problem was met while reading strictly.
        OSError: a file cannot be read.
    """
    source = source.without_copies()
    seen = SeenHands()
    if processes > 1 and _total_bytes(source) >= _MIN_BYTES:
        # Problems are collected in the other processes and reported here.
        silent = replace(source, on_problem=None, has_others=source.has_others and source.on_problem is not None)
        jobs: list[_Job] = []
        for group in silent.groups():
            jobs += _jobs(group, processes, big_pots)
        return _count_in_processes(jobs, processes, source, on_progress)
    counts = HandCounts(big_pots=big_pots)
    for group in source.groups():
        job = _Job(group, (), True, big_pots)
        group_counts, _ = _count(job, seen, lambda hands: on_progress(counts.hands + hands))
        counts.merge(group_counts)
    source.report_repeats(seen)
    return counts


def _may_be_clean(group: HandSource) -> bool:
    """Return whether the files may be logs that `clean_columns` can read."""
    repeats = group.repeats or {}
    are_logs = all(file.format is None and file.path not in repeats for file in group.files)
    return not group.times and group.transcript is None and are_logs


def _total_bytes(source: HandSource) -> int:
    return sum(os.path.getsize(file.path) for file in source.files)


def _jobs(group: HandSource, processes: int, big_pots: int) -> Iterator[_Job]:
    """Yield the jobs of a group of files, in the order of their hands."""
    # Times and transcripts belong to whole files.
    can_be_cut = not group.times and group.transcript is None
    num_parts = min(_total_bytes(group) // _MIN_PART_BYTES, processes) if can_be_cut else 1
    parts: list[Sequence[LogPart]] = [()]
    if num_parts > 1 and all(file.format is None and is_plain(file.path) for file in group.files):
        # Parts of all files that have the same hand numbers.
        cut_parts = list(zip(*cut_logs([file.path for file in group.files], num_parts), strict=True))
        if len(cut_parts) > 1:
            parts = list(cut_parts)
    for part in parts:
        yield _Job(group, part, part is parts[-1], big_pots)


def _count_in_processes(
    jobs: list[_Job], processes: int, source: HandSource, on_progress: Callable[[int], None]
) -> HandCounts:
    counts = HandCounts(big_pots=jobs[0].big_pots)
    group_counts = HandCounts(big_pots=jobs[0].big_pots)
    net: list[dict[str, float]] = []
    problems: list[LogProblem] = []
    seen = SeenHands()
    for job, result in zip(jobs, _do_jobs(jobs, processes), strict=True):
        if not seen.contents.keys().isdisjoint(result.seen.contents):
            # Rare: an earlier job has counted some of these hands, and the job is done again without them.
            result = _do_job(job, seen)
        else:
            seen.add(result.seen)
        group_counts.merge(result.counts)
        net += result.net
        problems += result.problems
        source.report(result.problems)
        if result.failure is not None:
            raise result.failure
        if job.is_last:
            if job.parts:
                _check_scores(job, net, problems, source)
            counts.merge(group_counts)
            group_counts = HandCounts(big_pots=job.big_pots)
            net = []
            problems = []
        on_progress(counts.hands + group_counts.hands)
    source.report_repeats(seen)
    return counts


def _do_jobs(jobs: list[_Job], processes: int) -> Iterator[_JobResult]:
    """Yield the results of all jobs in their order."""
    # Forks are unsafe in a program with threads, and not available on every platform.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(processes, len(jobs)), mp_context=context) as pool:
        try:
            yield from pool.map(_do_job, jobs)
        finally:
            pool.shutdown(cancel_futures=True)


def _do_job(job: _Job, seen: SeenHands | None = None) -> _JobResult:
    """Do a job, usually in another process."""
    problems: list[LogProblem] = []
    seen = SeenHands() if seen is None else seen
    reporting_job = job._replace(source=replace(job.source, on_problem=problems.append))
    try:
        counts, net = _count(reporting_job, seen)
    except LogError as error:
        return _JobResult(HandCounts(), [], problems, error, seen)
    return _JobResult(counts, net, problems, None, seen)


def _count(
    job: _Job, seen: SeenHands, on_progress: Callable[[int], None] = lambda hands: None
) -> tuple[HandCounts, list[dict[str, float]]]:
    """Count hands; return also the net chips of each player in each file if parts are read."""
    source = job.source
    if _may_be_clean(source):
        counts = HandCounts(big_pots=job.big_pots)
        paths = [file.path for file in source.files]
        with contextlib.suppress(UncleanLogError):
            for columns, net_so_far in clean_columns(paths, job.parts, source.game):
                counts.count([columns])
                on_progress(counts.hands)
                net = net_so_far
            return counts, net
    # From the beginning, record by record.
    net = [{} for _ in job.parts]
    hands = [source.read(file, part, seen=seen) for file, part in zip_longest(source.files, job.parts)]
    if job.parts:
        hands = list(map(_add_up_net, hands, net))
    counts = HandCounts(big_pots=job.big_pots).add_all(side_by_side(hands), on_progress)
    return counts, net


def _add_up_net(hands: Iterable[HandRecord], net: dict[str, float]) -> Iterator[HandRecord]:
    """Yield the hands, and add the chips of each player to `net`."""
    for record in hands:
        for name, value in zip(record.names, record.values, strict=True):
            net[name] = net.get(name, 0.0) + value
        yield record


def _check_scores(
    job: _Job, net: Sequence[dict[str, float]], problems: Sequence[LogProblem], source: HandSource
) -> None:
    """Report each undamaged file whose score is not the sum of its hands; `net` is by part, then by file."""
    damaged_paths = {problem.path for problem in problems}
    files = job.source.files
    for index, file in enumerate(files):
        if file.path not in damaged_paths:
            source.report(_check_score(file.path, net[index :: len(files)]))


def _check_score(path: str, part_net: Sequence[dict[str, float]]) -> list[LogProblem]:
    """Return a problem if the score of a log has the same names as its parts and another sum."""
    located_score = only_score(path)
    if located_score is None:
        return []
    line_number, score = located_score
    if not all(set(net) <= set(score.names) for net in part_net):
        return []
    totals = [sum(net.get(name, 0.0) for net in part_net) for name in score.names]
    if is_same_score(totals, score.totals):
        return []
    return [LogProblem(path, line_number, None, wrong_score(totals), ProblemKind.NOTED)]
