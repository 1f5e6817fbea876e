"""Play a match from Python and analyse its hands with pandas, which is not installed with the arena.

    pip install pandas
    python examples/match_with_pandas.py

It prints the result, the winnings by position and street, and writes all hands to hands.csv.
"""

import pandas as pd

from dealer import play
from logs.hand_source import find


def hands_frame(folder: str) -> pd.DataFrame:
    """Collect the hands of a run as a data frame, with a row per hand and player."""
    rows = []
    for record in find([folder]).hands():
        for position, name in enumerate(record.names):
            rows.append(
                {
                    "match": record.match_name,
                    "hand": record.hand_number,
                    "player": name,
                    "position": position,
                    "rounds": record.betting.round + 1,
                    "showdown": record.betting.is_showdown,
                    "big_blinds": record.values[position] / record.game.big_blind,
                }
            )
    return pd.DataFrame(rows)


def main(deals: int = 300, folder: str = "runs/pandas") -> pd.DataFrame:
    """Play, print the tables and return the hands."""
    result = play("limit", ["raising", "calling"], deals=deals, seed=7, in_process=True, out=folder)
    print(result.sentence)
    print(result.to_frame()[["name", "chips", "faults"]])
    hands = hands_frame(folder)
    print(hands.groupby(["player", "position"])["big_blinds"].agg(["mean", "sem", "count"]))
    print(hands.pivot_table("big_blinds", "player", "rounds", aggfunc="sum"))
    hands.to_csv("hands.csv", index=False)
    return hands


if __name__ == "__main__":
    main()
