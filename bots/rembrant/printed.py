"""The tables of the work, in the printed layout: the whole strategy of the bot, as data.

Compare them with tables 2 to 17 of G. Vohl, B. Bošković, J. Brest, "Poker program Rembrant" (University of Maribor;
the program played at the ACPC 2011). `bots.rembrant.tables` reads them and refuses what it cannot read.

How to read a table:

- The first line has the group's name and the heads of the columns. Before the flop a head lists hands: ``AKs`` suited,
  ``AKo`` not, ``77`` a pair, ``A7s-A2s`` all hands from the first to the last, ``the rest`` those no table names.
- Every other row begins with the opponent's last action. ``other`` is the work's word for everything without a row of
  its own: after the flop the opponent has not acted yet; before it the opponent has posted a blind, called or checked.
- A cell is a move; or two moves with a slash, in the order printed; or ``call <= 40``: call a raise to at most 40
  chips, fold to a larger one. Those chips are the work's, whose blinds are 1 and 2.

Two places differ from the print. The cells of table 3 have slipped by half a row there; here they are in the
right rows. The head of group 8 reads "connectors XYs, X and Y below ten and unequal", which is taken
literally: any two suited cards below ten.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["POSTFLOP_TABLES", "PREFLOP_TABLES", "REST"]

REST: Final = "the rest"
"""The head of the column for every hand that no other column names."""

PREFLOP_TABLES: Final[Mapping[int, str]] = {
    2: """
        group 1  | AA KK
        other    | raise
        raise    | re-raise
        re-raise | all-in
        all-in   | call
    """,
    3: """
        group 2  | QQ JJ    | AKs AKo
        other    | raise    | raise
        raise    | re-raise | re-raise
        re-raise | call     | all-in
        all-in   | call     | call
    """,
    4: """
        group 3  | TT AQs AQo AJs KQs
        other    | raise
        raise    | call
        re-raise | call
        all-in   | fold
    """,
    5: """
        group 4  | 99 88 77 ATs ATo KJs AJo
        other    | raise
        raise    | call <= 40
        re-raise | call <= 40
        all-in   | fold
    """,
    6: """
        group 5  | KQo QJs KTs JTs
        other    | raise
        raise    | call <= 30
        re-raise | call <= 30
        all-in   | fold
    """,
    7: """
        group 6  | 66 55 44 33 22 KJo QTs A9s A8s QJo
        other    | raise
        raise    | call <= 20
        re-raise | call <= 20
        all-in   | fold
    """,
    8: """
        group 7  | A7s-A2s KTo JTo K9s Q9s T9s J9s
        other    | raise
        raise    | call <= 20
        re-raise | fold
        all-in   | fold
    """,
    9: """
        group 8  | A9o-A2o 98s-92s 87s-82s 76s-72s 65s-62s 54s-52s 43s-42s 32s
        other    | check
        raise    | call <= 5
        re-raise | fold
        all-in   | fold
    """,
    10: """
        group 9  | the rest
        other    | check
        raise    | fold
        re-raise | fold
        all-in   | fold
    """,
}

POSTFLOP_TABLES: Final[Mapping[int, str]] = {
    11: """
        high card | flop        | turn  | river
        raise     | fold        | fold  | fold
        re-raise  | fold        | fold  | fold
        all-in    | fold        | fold  | fold
        check     | check       | check | check
        other     | check/raise | check | check
    """,
    12: """
        pair      | top         | middle      | bottom      | over        | under
        raise     | re-raise    | call        | fold        | re-raise    | fold
        re-raise  | all-in      | fold        | fold        | all-in      | fold
        all-in    | call        | fold        | fold        | call        | fold
        check     | check/raise | check/raise | check/raise | check/raise | check/raise
        other     | check/raise | check/raise | check/raise | check/raise | check/raise
    """,
    13: """
        two pair  | both hole cards | one hole card, board pair | pocket pair, board pair | two board pairs
        raise     | re-raise        | call/re-raise             | call/re-raise           | call/fold
        re-raise  | all-in          | call/all-in               | re-raise/call           | fold
        all-in    | call            | call/fold                 | call/fold               | fold
        check     | raise           | raise                     | raise                   | raise
        other     | raise           | raise                     | raise                   | raise
    """,
    14: """
        trips     | trips         | set
        raise     | call/re-raise | re-raise
        re-raise  | call          | call/all-in
        all-in    | call          | call
        check     | check/raise   | check/raise
        other     | check/raise   | check/raise
    """,
    15: """
        straight  | top end       | bottom end  | both ends     | middle
        raise     | call/re-raise | call        | call/re-raise | call
        re-raise  | call/all-in   | call/fold   | call/all-in   | all-in
        all-in    | call          | call/fold   | call          | call
        check     | check/raise   | check/raise | check/raise   | check/raise
        other     | check/raise   | check/raise | check/raise   | check/raise
    """,
    16: """
        flush     | nut           | other
        raise     | call/re-raise | re-raise
        re-raise  | call/all-in   | all-in
        all-in    | call          | call/fold
        check     | check/raise   | check/raise
        other     | check/raise   | check/raise
    """,
    17: """
        full house or better | any
        raise                | call/re-raise
        re-raise             | call/all-in
        all-in               | call
        check                | check/raise
        other                | check/raise
    """,
}
