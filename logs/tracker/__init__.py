"""How each bot plays, from the hands it has played.

    statistics = statistics_of(count_hands(find(["runs/x"])))
    print(statistics.model_dump_json(indent=2))

- `columns`: hands in columns, from any source; `clean_logs`: the same from clean logs without making records
- `hand_facts`: what is counted in one hand; `all_in`: what an all-in hand is worth before the last cards
- `hand_counts`: counting columns, in bounded memory
- `many_files`: counting files and folders, big logs in several processes
- `definitions`: what each statistic is called and means, and the twelve classes of players
- `statistics`: from counts to figures, as data
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
