"""Convert ACPC logs to PokerStars histories for a tracker, and to a CSV file with a row per hand.

    python examples/convert_acpc_logs.py LOGS FOLDER

LOGS is a folder of logs of the reference dealer, of a competition since 2012 or of this dealer, also compressed.
`arena export LOGS -o FOLDER` writes the same histories; here you can select and change hands on the way.
"""

import csv
import sys
from pathlib import Path

from logs import format_state_line
from logs.export import Exporter, ExportOptions
from logs.hand_source import find
from logs.pokerstars import POKERSTARS


def main(source: str, folder: str) -> int:
    """Convert all hands; print damaged lines and return the number of hands."""
    output = Path(folder)
    output.mkdir(parents=True, exist_ok=True)
    exporter = Exporter(POKERSTARS, str(output / "pokerstars"), ExportOptions(hero=None))
    hands = 0
    with (output / "hands.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["match", "hand", "players", "values", "state"])
        for record in find([source], on_problem=lambda problem: print(problem, file=sys.stderr)).hands():
            exporter.write(record)
            players, values = "|".join(record.names), "|".join(f"{value:g}" for value in record.values)
            table.writerow([record.match_name, record.hand_number, players, values, format_state_line(record).strip()])
            hands += 1
    exporter.close()
    print(f"{hands:,} hands in {folder}")
    return hands


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(f"usage: python {sys.argv[0]} LOGS FOLDER")
    main(sys.argv[1], sys.argv[2])
