"""Counting the hands of files and folders: several files, or parts of a big one, at the same time.

Each file, and each part of a big ACPC log, is counted by itself, and the counts are merged in the order of the hands.
So the number of processes changes neither the figures (except for the last digits of sums of fractions and the places
of a curve's points) nor the problems reported.

More than one process means that others are started which import the main module, as is usual on all platforms but one:
a script that asks for them needs its ``if __name__ == "__main__":``.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from decimal import Decimal
from typing import Final, NamedTuple

from engine import Game
from logs.acpc_log.parts import LogPart, cut_log, only_score
from logs.acpc_log.reader import read_log
from logs.acpc_log.score import is_same_score, wrong_score
from logs.errors import DamagedLogError, LogError, LogProblem, ProblemKind
from logs.files import without_compression
from logs.reading import HandFile, find_hand_files, read_file, read_hands
from logs.tracker.hand_counts import MOST_BIG_POTS, HandCounts

__all__ = ["count_files"]

_LEAST_BYTES: Final = 8_000_000
"""In all, before a second process is worth its start (half a second, and two to compile what all-in hands need)."""
_PART_BYTES: Final = 4_000_000
"""No part of a file is smaller."""
_PROGRESS_HANDS: Final = 10_000

OnProblem = Callable[[LogProblem], None]


class _Options(NamedTuple):
    """How files are read."""

    game: Game | None
    times: bool
    transcript: str | None
    chip_value: Decimal | float | None
    big_pots: int


class _Job(NamedTuple):
    """A file, or a part of one, to be counted.

    Attributes:
        file: the file.
        part: the part; None for the whole file.
        is_last: whether no other part of the file follows.
        options: how it is read.
    """

    file: HandFile
    part: LogPart | None
    is_last: bool
    options: _Options


class _Counted(NamedTuple):
    """What came of a job.

    Attributes:
        counts: the hands.
        problems: what was found wrong on the way.
        failure: why no more could be read; None where everything was.
    """

    counts: HandCounts
    problems: list[LogProblem]
    failure: LogError | None


def count_files(
    paths: Iterable[str | os.PathLike[str]],
    *,
    game: Game | None = None,
    strict: bool = False,
    on_problem: OnProblem | None = None,
    times: bool = False,
    transcript: str | os.PathLike[str] | None = None,
    chip_value: Decimal | float | None = None,
    big_pots: int = MOST_BIG_POTS,
    processes: int = 1,
    on_progress: Callable[[int], None] | None = None,
) -> HandCounts:
    """Count the hands of files and folders.

    Args:
        paths: of files and folders.
        game: the game of ACPC logs; otherwise their headers name it.
        strict: stop at the first problem, except a half-written last line.
        on_problem: is called with every problem, in the order of the files.
        times: take the times of actions from the transaction logs that belong to ACPC logs.
        transcript: the dealer's transcript; for a single log.
        chip_value: what a chip is worth in the money of PHH files and PokerStars histories; see `logs.reading`.
        big_pots: how many of the hands with the biggest pots are kept.
        processes: the most that count at the same time; where there are few hands, one does.
        on_progress: is called now and then with the number of hands counted.

    Raises:
        LogError: there is no file, or one cannot be read at all.
        DamagedLogError: a problem was met while reading strictly.
        OSError: a file cannot be read.
    """
    files = find_hand_files(paths)
    transcript = None if transcript is None else os.fspath(transcript)
    options = _Options(game, times, transcript, chip_value, big_pots)
    if processes > 1 and sum(os.path.getsize(file.path) for file in files) >= _LEAST_BYTES:
        most_parts = 1 if times or transcript is not None else processes
        jobs = [job for file in files for job in _jobs(file, most_parts, options)]
        return _merge(jobs, processes, len(files), strict=strict, on_problem=on_problem, on_progress=on_progress)
    counts = HandCounts(big_pots=big_pots)
    for record in read_hands(
        [file.path for file in files],
        game=game,
        strict=strict,
        on_problem=on_problem,
        times=times,
        transcript=transcript,
        chip_value=chip_value,
    ):
        counts.add(record)
        if on_progress is not None and not counts.hands % _PROGRESS_HANDS:
            on_progress(counts.hands)
    return counts


def _jobs(file: HandFile, most_parts: int, options: _Options) -> Iterator[_Job]:
    """A file as one job or, a big log, as several."""
    wanted = min(most_parts, os.path.getsize(file.path) // _PART_BYTES)
    parts: Sequence[LogPart | None] = [None]
    if wanted > 1 and file.format is None and without_compression(file.path) == file.path:
        parts = cut_log(file.path, wanted)
    for part in parts:
        yield _Job(file, part, part is parts[-1], options)


def _merge(
    jobs: list[_Job],
    processes: int,
    files: int,
    *,
    strict: bool,
    on_problem: OnProblem | None,
    on_progress: Callable[[int], None] | None,
) -> HandCounts:
    """Do all jobs and merge what they count."""
    big_pots = jobs[0].options.big_pots
    counts, file_counts = HandCounts(big_pots=big_pots), HandCounts(big_pots=big_pots)
    is_clean = True
    for job, counted in zip(jobs, _count_all(jobs, processes), strict=True):
        file_counts.merge(counted.counts)
        problems = counted.problems
        is_clean = is_clean and not problems
        if job.is_last and job.part is not None and is_clean:
            problems = _check_score(job.file.path, file_counts)
        _report(problems, strict=strict, on_problem=on_problem)
        if counted.failure is not None:
            if strict or on_problem is None or files == 1:
                raise counted.failure
            on_problem(LogProblem(job.file.path, 1, None, counted.failure.problem, ProblemKind.SKIPPED))
        if job.is_last:
            counts.merge(file_counts)
            file_counts = HandCounts(big_pots=big_pots)
            is_clean = True
        if on_progress is not None:
            on_progress(counts.hands + file_counts.hands)
    return counts


def _count_all(jobs: list[_Job], processes: int) -> Iterator[_Counted]:
    """Do all jobs; the results come in their order."""
    # Threads and forks do not go together, and not every platform has forks.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(processes, len(jobs)), mp_context=context) as pool:
        try:
            yield from pool.map(_count, jobs)
        finally:
            pool.shutdown(cancel_futures=True)


def _count(job: _Job) -> _Counted:
    """Do one job."""
    game, times, transcript, chip_value, big_pots = job.options
    counts = HandCounts(big_pots=big_pots)
    problems: list[LogProblem] = []
    try:
        if job.part is not None:
            records = read_log(job.file.path, game=game, on_problem=problems.append, part=job.part)
        else:
            records = read_file(
                job.file,
                game=game,
                on_problem=problems.append,
                times=times,
                transcript=transcript,
                chip_value=chip_value,
            )
        counts.add_all(records)
    except LogError as error:
        return _Counted(counts, problems, error)
    return _Counted(counts, problems, None)


def _report(problems: list[LogProblem], *, strict: bool, on_problem: OnProblem | None) -> None:
    """Pass on what was found wrong.

    Raises:
        DamagedLogError: there was a problem while reading strictly.
    """
    for problem in problems:
        if on_problem is not None:
            on_problem(problem)
        if strict and problem.kind is not ProblemKind.HALF_WRITTEN:
            raise DamagedLogError(problem)


def _check_score(path: str, counts: HandCounts) -> list[LogProblem]:
    """Whether the score of a log that was read in parts is the sum of its hands, as far as its names can tell."""
    found = only_score(path)
    if found is None or set(found[1].names) != set(counts.names):
        return []
    line_number, (totals, names) = found
    net = [sum(seat.net for _, player in counts.by_game(name) for seat in player.positions) for name in names]
    if is_same_score(net, totals):
        return []
    return [LogProblem(path, line_number, None, wrong_score(net), ProblemKind.NOTED)]
