"""Crosstables for pages: what each bot won from each other, every cell with the way to what is behind it."""

from __future__ import annotations

from dataclasses import dataclass

from dealer.run.results import GameStandings, TournamentResult
from dealer.watching import WatchedRun
from dealer.web.addresses import contest_path
from engine.text import shown
from logs.estimation import Rate


@dataclass(frozen=True, slots=True)
class Cell:
    """What the bot of a line won from that of a column.

    Attributes:
        text: in mbb/g with its interval; empty where they have not met.
        heat: ``won2``, ``won1``, ``even``, ``lost1`` or ``lost2``: which way, and how far beyond chance.
        path: the address of what is behind it; empty where there is none, or more than one.
        words: all of it in a sentence.
    """

    text: str
    heat: str = ""
    path: str = ""
    words: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A bot in the table.

    Attributes:
        place: in the ranking. name: the bot. mean: over all its contests. cells: against each bot.
        is_provisional: whether too little is known to go by its mean.
    """

    place: int
    name: str
    mean: Cell
    cells: tuple[Cell, ...]
    is_provisional: bool = False


@dataclass(frozen=True, slots=True)
class LineUp:
    """A table of more than two bots.

    Attributes:
        name: who sits there. path: the address of what is behind it. deals: played in every seating.
        won: the bots that sit there, each with what it won from the others.
    """

    name: str
    path: str
    deals: int
    won: tuple[tuple[str, Cell], ...]


@dataclass(frozen=True, slots=True)
class Crosstable:
    """The standings of one game.

    Attributes:
        game: its name. names: of the columns. lines: the bots.
        is_by_company: whether a cell is what the bot of its line won at the tables at which that of its column sat too.
    """

    game: str
    names: tuple[str, ...]
    lines: tuple[Line, ...]
    is_by_company: bool = False


def cell_of(rate: Rate | None, path: str = "", words: str = "") -> Cell:
    """A rate in a table; `words` say what it is where its own do not."""
    if rate is None:
        return Cell("")
    half = rate.half_width
    if half is None or abs(rate.mbb) <= half:
        heat = "even"
    else:
        heat = ("won" if rate.mbb > 0 else "lost") + ("2" if abs(rate.mbb) > 3 * half else "1")
    return Cell(rate.text().removesuffix(" mbb/g"), heat, path, shown(words or str(rate)))


def crosstables(run: WatchedRun) -> list[Crosstable]:
    """The standings of a tournament, a table for each game; of a run without a result or with one contest, none."""
    result = run.result
    if not isinstance(result, TournamentResult):
        return []
    return [_crosstable(run, standings) for standings in result.standings]


def _crosstable(run: WatchedRun, standings: GameStandings) -> Crosstable:
    order = [rank.player for rank in standings.total_bankroll]
    rates = {(cell.player, cell.opponent): cell.rate for cell in standings.crosstable}
    lines = []
    for rank in standings.total_bankroll:
        name = rank.player
        half = standings.half_width_95[name]
        mean = cell_of(Rate(standings.mbb_per_game[name], half, name, "the field"))
        contests = [_contest_of(run, standings.game, name, other) for other in order]
        cells = tuple(cell_of(rates.get((name, other)), at) for other, at in zip(order, contests, strict=True))
        lines.append(Line(rank.place, shown(name), mean, cells, is_provisional=half is None))
    is_by_company = any(len(one.players) > 2 for one in run.contests if one.game_name == standings.game)
    return Crosstable(shown(standings.game), tuple(map(shown, order)), tuple(lines), is_by_company)


def _contest_of(run: WatchedRun, game: str, *players: str) -> str:
    """The address of the contest in which all of them played, if it is one."""
    found = [one.key for one in run.contests if one.game_name == game and set(players) <= set(one.players)]
    return contest_path(run.key, found[0]) if len(found) == 1 and len(set(players)) > 1 else ""
