"""Hand evaluation, compared with evaluators for Python.

On a shared machine rates vary, and ratios of simultaneous measurements vary little. So the programs take turns: every
repeat times each program once, on the same random seven-card hands, and ratios are computed within a repeat. One-time
work of a user is not timed: importing, compiling, converting cards to a library's objects.

There are two jobs. "one call" ranks hands held as Python objects, one function call each. "batch" is our ranking of a
whole array; no peer has a batch call, so their users must write loops, and these are timed. The loops take the first of
the array's hands, treys the first of those.
"""

from __future__ import annotations

import importlib
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import metadata
from time import perf_counter
from typing import TYPE_CHECKING, Any

from dealer.bench import Row

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ONE_CALL = "evaluator, one call"
BATCH = "evaluator, batch"
OURS = "acpc-arena"
UNIT = "hands/s"

CALLED_HANDS = 20_000
SLOW_HANDS = 2_000
"""Share of the hands for treys, which is ten times slower than the others."""
BATCH_HANDS = 1_000_000
SEED = 20_241


@dataclass(frozen=True, slots=True)
class _Entrant:
    """A timed loop; `run` evaluates `hands` hands once."""

    who: str
    hands: int
    run: Callable[[], object]

    def rate(self) -> float:
        """Return the hands per second of a run, after an untimed run that fills the cache.

        Otherwise each entrant would start with the cache of its predecessor: ours loses a sixth that way.
        """
        self.run()
        start = perf_counter()
        self.run()
        return self.hands / (perf_counter() - start)


def measure(repeats: int = 7) -> list[Row]:
    """Measure our evaluators and all installed peers; others get a row of zeros with a note.

    Takes about a second to prepare, and a tenth of a second per repeat.

    Raises:
        ValueError: fewer than one repeat.
    """
    if repeats < 1:
        raise ValueError(f"at least one repeat is needed, not {repeats}")
    from engine.batch import rank_hands
    from engine.evaluator import rank_hand

    array = random_hands(BATCH_HANDS)
    hands = [tuple(hand) for hand in array[:CALLED_HANDS].tolist()]
    call = _Entrant(OURS, len(hands), lambda: _each(rank_hand, hands))
    batch = _Entrant(OURS, len(array), lambda: rank_hands(array))
    peers: list[_Entrant] = []
    missing: list[str] = []
    for name, prepare in _PEERS.items():
        try:
            library = importlib.import_module(name)
        except ImportError:
            missing.append(name)
        else:
            peers.append(prepare(library, f"{name} {metadata.version(name)}", hands))
    entrants = [call, batch, *peers]
    rank_hands(array[:1])  # compiles
    rounds = [[entrant.rate() for entrant in entrants] for _ in range(repeats)]
    call_rates, batch_rates, *peer_rates = zip(*rounds, strict=True)
    rows: list[Row] = []
    for group, ours in ((ONE_CALL, call_rates), (BATCH, batch_rates)):
        rows.append(_row(group, OURS, ours, None))
        rows += [_row(group, peer.who, rates, ours) for peer, rates in zip(peers, peer_rates, strict=True)]
        rows += [Row(group, name, 0.0, 0.0, 0.0, UNIT, None, "not installed") for name in missing]
    return rows


def random_hands(count: int, seed: int = SEED) -> NDArray[np.uint8]:
    """Return the first seven cards of `count` shuffled decks, shape (count, 7)."""
    import numpy as np

    generator = np.random.default_rng(seed)
    hands = np.empty((count, 7), np.uint8)
    deck = np.broadcast_to(np.arange(52, dtype=np.uint8), (count, 52)).copy()
    everyone = np.arange(count)
    for place in range(7):  # the first seven steps of a Fisher-Yates shuffle, in all decks together
        chosen = generator.integers(place, 52, count)
        hands[:, place] = deck[everyone, chosen]
        deck[everyone, chosen] = deck[:, place]
    return hands


def _row(group: str, who: str, rates: Sequence[float], ours: Sequence[float] | None) -> Row:
    ratio = None if ours is None else statistics.median(our / their for our, their in zip(ours, rates, strict=True))
    return Row(group, who, statistics.median(rates), min(rates), max(rates), UNIT, ratio)


def _each(call: Callable[[Any], object], hands: Iterable[Any]) -> None:
    """Call a function with each hand as its argument."""
    for hand in hands:
        call(hand)


def _each_star(call: Callable[..., object], hands: Iterable[Any]) -> None:
    """Call a function with the cards of each hand as its arguments."""
    for hand in hands:
        call(*hand)


def _texts(hand: Sequence[int]) -> list[str]:
    from engine.cards import CARD_TEXTS

    return [CARD_TEXTS[card] for card in hand]


def _phevaluator(library: Any, who: str, hands: list[tuple[int, ...]]) -> _Entrant:
    # Numbers its cards as we do, and takes the numbers themselves.
    return _Entrant(who, len(hands), lambda: _each_star(library.evaluate_cards, hands))


def _treys(library: Any, who: str, hands: list[tuple[int, ...]]) -> _Entrant:
    evaluate = library.Evaluator().evaluate
    cards = [[library.Card.new(text) for text in _texts(hand)] for hand in hands[:SLOW_HANDS]]
    split = [(hand[:2], hand[2:]) for hand in cards]
    return _Entrant(who, len(split), lambda: _each_star(evaluate, split))


def _card_objects(library: Any, who: str, hands: list[tuple[int, ...]]) -> _Entrant:
    cards = [[library.Card(text) for text in _texts(hand)] for hand in hands]
    return _Entrant(who, len(cards), lambda: _each(library.evaluate, cards))


_PEERS: dict[str, Callable[[Any, str, list[tuple[int, ...]]], _Entrant]] = {
    "phevaluator": _phevaluator,
    "treys": _treys,
    "eval7": _card_objects,
    "pkrbot": _card_objects,
}
