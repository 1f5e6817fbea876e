"""Winnings of a bot that remembers cards from one match to the next; intervals without duplicates.

    python research/serve/peeking.py [--deals N] [--contests N]

`Peek` calls, and keeps each hand that it has seen to the end. In a duplicate its opponent holds those cards in the next
match: from the flop on, once the board is a known one, it raises winning hands and folds losing ones. It is played with
a number for a seed, so that both seatings hold the same cards, and with a key, so that each has its own (as a server
deals to bots that could remember). Its honest strength is that of `calling`, which plays the same without known deals.

The second table counts how often the 95 % interval of a contest holds the true mean when every seating has its own
cards: many short contests, compared with the mean of all.

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
"""Bots of this file."""
TABLES = (("limit", ("random",)), ("kuhn3", ("random", "raising")))


class Honest(Bot):
    """Calling bot; to the server, a user's program that may remember deals."""

    def act(self, view: View) -> Action:
        """Call."""
        return view.call()


class Peek(Bot):
    """Calling bot that knows, in the second match of a duplicate, the cards it saw in the first."""

    seen: ClassVar[dict[int, tuple[tuple[Card, ...], tuple[Card, ...]]]] = {}
    """Opponent's cards by hand number, own cards and board; a file would serve as well."""

    def act(self, view: View) -> Action:
        """Raise winning hands and fold losing ones if the deal is known."""
        theirs, board = self.seen.get(view.hand_number, ((), ()))
        if not view.board or board[: len(view.board)] != view.board or set(theirs) & set(view.hole_cards):
            return view.call()
        mine, other = rank_hand(view.hole_cards + board), rank_hand(theirs + board)
        if mine > other and view.can_raise:
            return view.raise_min()
        return view.fold() if mine < other and view.can_fold else view.call()

    def hand_finished(self, view: View) -> None:
        """Keep the visible cards."""
        if view.is_showdown:
            self.seen[view.hand_number] = view.hole_cards, view.board


def key(number: int) -> DealKey:
    """Return a fixed key, so that this program always deals the same cards."""
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
    options = parser.parse_args()
    print("| opponent | peeking, same cards | peeking, own cards | honest |\n| --- | ---: | ---: | ---: |")
    for row in peeking(options.deals):
        print(f"| {' | '.join(row)} |", flush=True)
    for game, others in TABLES:
        held, mean = coverage(game, others, options.contests, options.deals // 10)
        print(f"{game}: {held} of {options.contests} intervals hold {mean:+.1f}", flush=True)


if __name__ == "__main__":
    main()
