"""The report on an evolution: what its author printed beside what comes out here, and what could not be done then.

printed      the printed figures
play         how a player plays, and the tables of it
progress     winnings along the runs
genes        which genes are used
matches      the player against other bots, by the rules of the arena
build        the report
"""

from bots.evolved.report.build import ReportSettings, evolved_report

__all__ = ["ReportSettings", "evolved_report"]
