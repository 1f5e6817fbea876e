"""Formats of unsupported card rooms are named together with a converter."""

from __future__ import annotations

from pathlib import Path

import pytest

from logs.errors import LogError
from logs.hand_source import find
from logs.rooms import ROOMS, room_of

TRACKER = "use a tracker that exports it in the format of PokerStars, which is read"
POKERKIT = "PokerKit converts it to PHH, which is read"

BEGINNINGS = {
    "Winamax": (
        "Winamax Poker - CashGame - HandId: #1-2-3 - Holdem no limit (0.01€/0.02€) - 2024/02/01 18:00:00 UTC\n",
        TRACKER,
    ),
    "888poker": ("#Game No : 1\n***** 888poker Hand History for Game 1 *****\n$0.01/$0.02 Blinds No Limit\n", TRACKER),
    "PartyPoker": ("Game #1 starts.\n\n#Game No : 1\n***** Hand History for Game 1 *****\n", POKERKIT),
    "iPoker": ('<?xml version="1.0" encoding="utf-8"?>\n<session sessioncode="1">\n <general>\n', POKERKIT),
    "Merge": ('<description type="Holdem" stakes="No Limit $0.25/$0.50"/>\n<game id="1-2" starttime="1">\n', TRACKER),
    "Ignition or Bovada": (
        "Bovada Hand #1 TBL#2 HOLDEM No Limit - 2015-12-01 04:04:36\nSeat 1: UTG ($2 in chips)\n",
        "ic2ps converts it to the format of PokerStars, which is read",
    ),
    "PokerNow": (
        'entry,at,order\n"-- ending hand #7 --",2020-06-01T00:00:00.000Z,159000000000000\n',
        "PokerNowLogConverter converts it to the format of PokerStars, which is read",
    ),
    "Full Tilt Poker": ("Full Tilt Poker Game #1: Table X - $1/$2\n", POKERKIT),
    "Absolute Poker or UltimateBet": ("Stage #1: Holdem  No Limit $1 - 2009-11-30 15:50:12 (ET)\n", POKERKIT),
    "Ongame": ("***** History for hand R5-2-3 *****\nStart hand: Sun Feb 13 14:14:04 GMT+0100 2011\n", POKERKIT),
    "the Winning network (Americas Cardroom)": ("Game started at: 2016/10/2 21:0:42\nGame ID: 7 40/80 X\n", TRACKER),
    "Microgaming": ('----PRIMA.DAT----\n\n<Game id="3" date="2010-01-04 18:08:29" tablename="X">\n', TRACKER),
    "Boss Media": ('<HISTORY ID="2" SESSION="session7.xml" TABLE="X">\n', TRACKER),
    "Everest Poker": ('<SESSION time="1335014137" tableName="X" id="1">\n', TRACKER),
    "BetOnline": ("BetOnline Poker Game #9: Hold'em No Limit ($0.25/0.50) - 2012/03/18 15:58:15\n", TRACKER),
    "PKR": ("Table #4 - X\nStarting Hand #2\nStart time of hand: 12 May 2012 03:37:34\n", TRACKER),
    "Cake Poker": ("Hand#2 - X (6-max) 1 -- $0.02/$0.04 FL Hold'em -- 2011/05/08 - 10:21:06\n", TRACKER),
}


def test_every_room_is_tested() -> None:
    assert list(BEGINNINGS) == [room.name for room in ROOMS]


@pytest.mark.parametrize("name", BEGINNINGS)
def test_a_room_is_named_with_what_converts_its_files(tmp_path: Path, name: str) -> None:
    text, advice = BEGINNINGS[name]
    path = tmp_path / "x.txt"
    sentence = f"it looks like a hand history of {name}: {advice}"
    for content in (text.encode("utf-8-sig"), text.encode("cp1252")):
        path.write_bytes(content)
        with pytest.raises(LogError) as raised:
            list(find([path]).hands())
        assert str(raised.value) == f"{path}: {sentence}"


def test_other_rooms_and_other_texts() -> None:
    assert room_of(["Enet Game #7: Omaha"]) == f"it looks like a hand history of another card room: {TRACKER}"
    assert room_of(["***** Betfair Poker Hand History for Game 1 *****"]) is not None
    assert room_of(["Dear Ann,", "a game is on"]) is None
    assert room_of([]) is None
