"""Statistics of how each bot plays, such as VPIP, PFR and W$SD.

    statistics = statistics_of(count_hands(find(["runs/x"])))
    print(statistics.model_dump_json(indent=2))

- `columns`: hands of any source as arrays; `clean_logs`: the same from clean logs, without making records
- `hand_facts`: counters that follow from a betting line; `all_in`: expectation of an all-in hand
- `hand_counts`: counters of all players, in bounded memory
- `many_files`: counting of files and folders, with several processes for big logs
- `definitions`: names and meanings of the statistics, and the twelve styles of play
- `statistics`: figures from the counters, as a model
- `statistics_tables`: the figures as texts, tables and flat rows
"""

from logs.tracker.definitions import STATISTICS, Statistic
from logs.tracker.hand_counts import HandCounts
from logs.tracker.many_files import count_hands
from logs.tracker.statistics import BotStatistics, PositionStatistics, Statistics, statistics_of
from logs.tracker.statistics_tables import COLUMNS, rows

__all__ = [
    "COLUMNS",
    "STATISTICS",
    "BotStatistics",
    "HandCounts",
    "PositionStatistics",
    "Statistic",
    "Statistics",
    "count_hands",
    "rows",
    "statistics_of",
]
