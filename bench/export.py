"""Hand histories, compared with pokerkit.

pokerkit writes and reads PHH, but writes no PokerStars text, so there are four jobs. "PokerStars text from a
log" is what `arena export` does, reading and writing, and "statistics of a log" what `arena stats` does in one process;
neither has a peer. "PHH text of hands" begins with finished hands
as each program holds them: a record here, a played state there. "hands of PHH text" ends with them: both check every
action against the rules. All take turns in every repeat, on the same hands of random play; pokerkit gets the first.
"""

from __future__ import annotations

import importlib
import statistics
import tempfile
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from time import perf_counter
from typing import Any

from bots.sdk.registry import make_bot
from dealer.bench import Row
from dealer.match.events import Event, HandFinished, Watcher
from dealer.match.in_process import InProcessMatch
from dealer.match.setup import MatchSetup
from logs import HandRecord, format_header, format_state_line
from logs.acpc_log.reader import read_log
from logs.export import Exporter
from logs.hand_source import find
from logs.phh import format_phhs, read_phh
from logs.pokerstars import POKERSTARS
from logs.tracker import count_hands
from protocol import find_game

OURS = "acpc-arena"
PEER = "pokerkit"
UNIT = "hands/s"
PEERS_HANDS = 40
"""Share of the hands for pokerkit, which is a hundred times slower."""
SEED = 20_241
_FEW_WAYS = ("calling", "folding", "raising", "folding", "random", "folding")
"""Six players whose bettings repeat, as those of people do before the flop."""

_Timed = tuple[int, Callable[[], object]]
"""A number of hands and the work on them."""


def measure(repeats: int = 5, hands: int = 20_000) -> list[Row]:
    """Measure our formats and those of pokerkit, whose rows are zeros with a note if it is not installed.

    Args:
        repeats: how often each program is timed.
        hands: of each game.

    Raises:
        OSError: the temporary folder cannot be written.
    """
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for game, bots in (
            ("limit", ("random", "calling")),
            ("nolimit", ("random", "calling")),
            ("nolimit6", None),
            ("limit6", _FEW_WAYS),
        ):
            rows += _measure_game(game, bots, Path(folder) / game, repeats, hands)
    return rows


class _Keeper(Watcher):
    wants = frozenset({HandFinished})

    def __init__(self) -> None:
        self.records: list[HandRecord] = []

    def notice(self, event: Event) -> None:
        if isinstance(event, HandFinished):
            self.records.append(event.record)


def random_records(name: str, bots: Sequence[str] | None, hands: int) -> list[HandRecord]:
    """Play a match of random bots."""
    game_name, game = find_game(name)
    words = bots or ("random",) * game.num_players
    setup = MatchSetup(game, f"bench.{game_name}", hands, SEED, tuple(f"P{seat + 1}" for seat in range(len(words))))
    keeper = _Keeper()
    InProcessMatch(setup, [make_bot(word, seat) for seat, word in enumerate(words)], [keeper]).play(hands)
    return keeper.records


def _measure_game(game: str, bots: Sequence[str] | None, folder: Path, repeats: int, hands: int) -> list[Row]:
    records = random_records(game, bots, hands)
    folder.mkdir()
    log = folder / "bench.log"
    header = format_header("bench", find_game(game)[0], hands, SEED, t_response_ms=1, t_hand_ms=1, t_per_hand_ms=1)
    log.write_text(header + "".join(map(format_state_line, records)), "utf-8")
    phh = list(format_phhs(records))
    lines = "".join(phh).splitlines(keepends=True)
    ours: dict[str, _Timed] = {
        f"PokerStars text from a log, {game}": (hands, lambda: _export(log, folder)),
        f"statistics of a log, {game}": (hands, lambda: count_hands(find([log]))),
        f"PHH text of hands, {game}": (hands, lambda: _exhaust(format_phhs(records))),
        f"hands of PHH text, {game}": (hands, lambda: _exhaust(read_phh(lines))),
    }
    theirs, note = _peers(phh[:PEERS_HANDS], list(ours)[2:])
    rates: dict[tuple[str, str], list[float]] = {}
    for _ in range(repeats):
        for who, jobs in ((OURS, ours), (PEER, theirs)):
            for group, (count, run) in jobs.items():
                start = perf_counter()
                run()
                rates.setdefault((group, who), []).append(count / (perf_counter() - start))
    rows = []
    for group in ours:
        our_rates = rates[group, OURS]
        rows.append(_row(group, OURS, our_rates, None, ""))
        if group in theirs:
            rows.append(_row(group, f"{PEER} {metadata.version(PEER)}", rates[group, PEER], our_rates, ""))
        else:
            rows.append(Row(group, PEER, 0.0, 0.0, 0.0, UNIT, None, note if "PHH" in group else "does not do it"))
    return rows


def _row(group: str, who: str, rates: Sequence[float], ours: Sequence[float] | None, note: str) -> Row:
    ratio = None if ours is None else statistics.median(our / their for our, their in zip(ours, rates, strict=True))
    return Row(group, who, statistics.median(rates), min(rates), max(rates), UNIT, ratio, note)


def _export(log: Path, folder: Path) -> None:
    exporter = Exporter(POKERSTARS, folder, force=True)
    for record in read_log(log):
        exporter.write(record)
    exporter.close()


def _exhaust(things: Any) -> None:
    for _ in things:
        pass


def _peers(texts: Sequence[str], groups: Sequence[str]) -> tuple[dict[str, _Timed], str]:
    """Jobs of pokerkit for writing and reading PHH; empty if it is not installed."""
    try:
        library = importlib.import_module(PEER)
    except ImportError:
        return {}, "not installed"
    history = library.HandHistory
    hands = [text.partition("\n")[2] for text in texts]
    played = []
    for text in hands:
        hand = history.loads(text)
        *_, state = hand
        played.append((hand.create_game(), state))

    def write() -> None:
        for game, state in played:
            history.from_game_state(game, state).dumps()

    def read() -> None:
        for text in hands:
            _exhaust(history.loads(text))

    return {groups[0]: (len(hands), write), groups[1]: (len(hands), read)}, ""
