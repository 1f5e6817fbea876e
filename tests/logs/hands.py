"""Hands for tests of formats: random play of any game, and recorded logs."""

from __future__ import annotations

import dataclasses
import io
import json
import lzma
import random
import tarfile
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import pytest

from engine import Deal, Game, Seat, betting_start, deal_hand, deals, hand_values
from logs import HandRecord, PlayerComment, Times, format_header, format_score_line, format_state_line
from logs.acpc_log.reader import read_log
from logs.formats.export_format import ExportOptions
from logs.ohh import OHH
from protocol import find_game, parse_game_definition
from tests.engine.strategies import random_action

DATA = Path(__file__).resolve().parents[1] / "conformance" / "data"
_MANIFEST = json.loads((DATA / "manifest.json").read_text())
OF_2012 = sorted(path.name.removesuffix(".log.xz") for path in (DATA / "dealer2012").glob("*.log.xz"))
NAMES = ("Ann", "Bob", "Cat", "Dan", "Eve", "Fay", "Gus", "Hal", "Ivy", "Jim")
HOLDEM = ("limit", "nolimit", "limit3", "nolimit3", "limit6", "nolimit6", "limit10", "nolimit10")
TOYS = ("kuhn", "kuhn3", "leduc", "leduc-nolimit")
T0 = 1_795_227_485_694_648


def recorded_cases(*games: str) -> list[Any]:
    """Parameters: recorded matches of games by prefix, slow if longer than 10,000 lines."""
    return [
        pytest.param(match["name"], marks=[pytest.mark.slow] * (sum(seat["lines"] for seat in match["seats"]) > 10_000))
        for match in _MANIFEST
        if match["name"].startswith(games or "")
    ]


def random_hands(
    game: Game | str,
    hands: int,
    seed: int = 1,
    *,
    first_hand: int = 0,
    names: tuple[str, ...] = NAMES,
    fixed_seats: bool = False,
    with_notes: bool = False,
    fold: float = 0.15,
) -> list[HandRecord]:
    """Play random legal actions; equal arguments share the result."""
    game = find_game(game)[1] if isinstance(game, str) else game
    return list(_random_hands(game, hands, seed, first_hand, names, fixed_seats, with_notes, fold))


@lru_cache(maxsize=16)
def _random_hands(
    game: Game,
    hands: int,
    seed: int,
    first_hand: int,
    names: tuple[str, ...],
    fixed_seats: bool,
    with_notes: bool,
    fold: float,
) -> tuple[HandRecord, ...]:
    chance = random.Random(seed)
    players = game.num_players
    records = []
    for number, deal in zip(range(first_hand, first_hand + hands), deals(game, seed, first_hand), strict=False):
        betting = betting_start(game)
        count = 0
        while not betting.finished:
            betting = betting.after(random_action(betting, chance, fold))
            count += 1
        times = tuple(Times(T0 + 1000 * (64 * number + i), T0 + 1000 * (64 * number + i) + 37) for i in range(count))
        remark = PlayerComment(Seat(number % players), count - 1, f'# hand {number}: "50/50", \t\\ x')
        records.append(
            HandRecord(
                game=game,
                match_name="match",
                hand_number=number,
                names_by_seat=names[:players],
                seats=tuple(Seat((p + (0 if fixed_seats else number)) % players) for p in range(players)),
                deal=deal,
                betting=betting,
                values=tuple(hand_values(betting, deal)),
                times=times if with_notes else (),
                comments=(remark,) if with_notes and number % 3 == 0 else (),
            )
        )
    return tuple(records)


def log_lines(
    records: list[HandRecord], game_name: str = "none.game", *, score: bool = True, seed: int | None = None
) -> list[str]:
    """Return the lines of a match's log; its header names the seed of the cards, if it is small."""
    header = format_header(
        "match",
        game_name,
        len(records),
        seed_of(records) if seed is None else seed,
        t_response_ms=600000,
        t_hand_ms=600000,
        t_per_hand_ms=7000,
    )
    lines = [*header.splitlines(keepends=True), *map(format_state_line, records)]
    return [*lines, format_score_line(totals_of(records), records[0].names_by_seat)] if score else lines


def seed_of(records: list[HandRecord]) -> int:
    """Find the small seed that deals the cards of random hands; 1 if none does."""
    first = records[:8]
    if first and first[-1].hand_number > 10_000:
        # The generator cannot skip hands.
        return 1

    def deals_them(seed: int) -> bool:
        dealt = [deal_hand(record.game, seed, record.hand_number) for record in first]
        return [deal.hole_cards for deal in dealt] == [record.deal.hole_cards for record in first]

    return next(filter(deals_them, (1, 0, *range(2, 12))), 1)


def totals_of(records: Iterable[HandRecord]) -> list[float]:
    """Net chips by seat."""
    totals: dict[Seat, float] = {}
    for record in records:
        for seat, value in zip(record.seats, record.values, strict=True):
            totals[seat] = totals.get(seat, 0.0) + value
    return [totals[seat] for seat in sorted(totals)]


@cache
def recorded_hands(name: str) -> tuple[HandRecord, ...]:
    """The hands of a recorded match, read from its log."""
    lines = recorded_file(name, "log").splitlines(keepends=True)
    return tuple(read_log(lines, game=recorded_game(name), strict=True))


def as_seen(record: HandRecord) -> HandRecord:
    """Return the part of a hand that a log keeps: the visible board, no times, no comments."""
    board = tuple(card for cards in record.board_by_round for card in cards)
    return dataclasses.replace(record, deal=Deal(record.deal.hole_cards, board), times=(), comments=())


def format_ohh(hand: HandRecord, options: ExportOptions | None = None) -> str:
    """Format a hand of its own match as a line of Open Hand History, without the blank line after it."""
    return OHH.start(hand, options or ExportOptions()).write(hand, 0).removesuffix("\n")


@cache
def recorded_file(name: str, ending: str) -> str:
    """Path of a file of a recorded match."""
    raw = lzma.decompress((DATA / "matches" / f"{name}.tar.xz").read_bytes())
    with tarfile.open(fileobj=io.BytesIO(raw)) as tar:
        member = tar.extractfile(f"{name}.{ending}")
        assert member is not None
        return member.read().decode("utf-8", "surrogateescape")


def recorded_game(name: str) -> Game:
    """Game of a recorded match."""
    by_name = {match["name"]: match["game"] for match in json.loads((DATA / "manifest.json").read_text())}
    return parse_game_definition((DATA / "games" / by_name[name]).read_text("ascii"))


@cache
def log_of_2012(name: str) -> str:
    """Path of a log that the reference dealer wrote in 2012."""
    return lzma.decompress((DATA / "dealer2012" / f"{name}.log.xz").read_bytes()).decode()


def each_byte_changed(text: bytes, signs: bytes) -> Iterator[bytes]:
    """Yield the text with each byte in turn replaced at random by a sign or any other byte."""
    chance = random.Random(5)
    for at in range(len(text)):
        changed = bytearray(text)
        changed[at] = chance.choice([0, *signs, 255, changed[at] ^ 1, chance.randrange(256)])
        yield bytes(changed)
