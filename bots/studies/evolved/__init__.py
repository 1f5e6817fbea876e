"""The report on an evolution: what its author printed beside what comes out here, and what could not be done then.

play      how a player plays, beside the printed figures        progress   winnings along the runs, and other runs
matches   the player against other bots, by the rules of the arena
report    which genes are used, and all of it together
"""
