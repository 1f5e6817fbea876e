"""How each bot plays, from the hands it has played.

    statistics = statistics_of(count_files(["runs/x"]))
    print(statistics.model_dump_json(indent=2))

- `definitions`: what each statistic is called and means; help texts, tables and reports read it there
- `counts`: counting hands as they come, in memory that does not grow with them
- `files`: counting files and folders, big logs in several processes
- `derive`: from counts to figures
- `figures`: the figures as data; `rows`: as texts and as flat rows
- `style`: the twelve classes of players
"""

from logs.tracker.counts import HandCounts
from logs.tracker.definitions import STATISTICS, Statistic
from logs.tracker.derive import statistics_of
from logs.tracker.figures import BotStatistics, PositionStatistics, Statistics
from logs.tracker.files import count_files
from logs.tracker.rows import COLUMNS, rows, text_of

__all__ = [
    "COLUMNS",
    "STATISTICS",
    "BotStatistics",
    "HandCounts",
    "PositionStatistics",
    "Statistic",
    "Statistics",
    "count_files",
    "rows",
    "statistics_of",
    "text_of",
]
