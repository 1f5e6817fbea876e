"""Winnings of a bot that remembers the cards of one match in the next, and coverage of intervals
without duplicates.

    python research/serve/peeking.py [--deals N] [--contests N]

`Peek` calls, and keeps each hand that it has seen to the end. In a duplicate its opponent holds those cards in the next
match: from the flop on, once the board is the one it knows, it raises what wins and folds what loses. It is played with
a number for a seed, so that both seatings hold the same cards, and with a key, so that each has its own (as a server
deals to bots that could remember). Its honest worth is that of `calling`, which plays as it does with no deal known.

The second table counts how often the 95 % interval of a contest holds the true mean where every seating has cards of
its own: many short contests, against the mean of all.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from bots import Action, Bot, View
from dealer import play
from dealer.run.results import ContestResult
from engine import Card, DealKey, Seed, derived_seed, rank_hand

OPPONENTS = ("raising", "mfs", "rembrant")
OWN = ("Honest", "Peek")
"""The bots of this file."""
TABLES = (("limit", ("random",)), ("kuhn3", ("random", "raising")))


class Honest(Bot):
    """Calls; a server cannot know that this user's program remembers nothing."""

    def act(self, view: View) -> Action:
        """Call."""
        return view.call()


class Peek(Bot):
    """Calls, and knows in the second match of a duplicate the cards that it saw in the first."""

    seen: ClassVar[dict[int, tuple[tuple[Card, ...], tuple[Card, ...]]]] = {}
    """By the number of a hand, its own cards and the board: a file would do as well."""

    def act(self, view: View) -> Action:
        """Raise what wins and fold what loses, where that is known."""
        theirs, board = self.seen.get(view.hand_number, ((), ()))
        if not view.board or board[: len(view.board)] != view.board or set(theirs) & set(view.hole_cards):
            return view.call()
        mine, other = rank_hand(view.hole_cards + board), rank_hand(theirs + board)
        if mine > other and view.can_raise:
            return view.raise_min()
        return view.fold() if mine < other and view.can_fold else view.call()

    def hand_finished(self, view: View) -> None:
        """Keep what was seen."""
        if view.is_showdown:
            self.seen[view.hand_number] = view.hole_cards, view.board


def key(number: int) -> DealKey:
    """A key that everybody knows, so that this program always deals the same."""
    return DealKey(number.to_bytes(32, "little"))


def contest(game: str, bots: tuple[str, ...], seed: Seed, deals: int) -> ContestResult:
    """Play every seating in this process; a bot of this file plays as the program of a user."""
    Peek.seen.clear()
    texts = [f"{bot}={__file__}:{bot}" if bot in OWN else bot for bot in bots]
    with tempfile.TemporaryDirectory() as folder:
        return play(game, texts, seed=seed, deals=deals, in_process=True, export="none", out=Path(folder) / "run")


def peeking(deals: int) -> Iterator[tuple[str, str, str, str]]:
    """Winnings by opponent of the peeking bot with the same cards and with own cards, and of an honest bot."""
    for number, opponent in enumerate(OPPONENTS):
        yield (
            opponent,
            *(
                str(contest("limit", (who, opponent), seed, deals).rate())
                for who, seed in (("Peek", number), ("Peek", key(number)), ("calling", key(100 + number)))
            ),
        )


def coverage(game: str, others: tuple[str, ...], contests: int, deals: int) -> tuple[int, float]:
    """Number of contests with own cards whose intervals hold the mean of all, and that mean."""
    seeds = (derived_seed(key(7), number) for number in range(contests))
    rates = [contest(game, ("Honest", *others), seed, deals).rate() for seed in seeds]
    mean = sum(rate.mean for rate in rates) / contests
    return sum(rate.low <= mean <= rate.high for rate in rates), mean


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deals", type=int, default=3000)
    parser.add_argument("--contests", type=int, default=200)
    asked = parser.parse_args()
    print("| opponent | peeking, same cards | peeking, own cards | honest |\n| --- | ---: | ---: | ---: |")
    for row in peeking(asked.deals):
        print(f"| {' | '.join(row)} |", flush=True)
    for game, others in TABLES:
        held, mean = coverage(game, others, asked.contests, asked.deals // 10)
        print(f"{game}: {held} of {asked.contests} intervals hold {mean:+.1f}", flush=True)


if __name__ == "__main__":
    main()
