"""Rembrant, a rule bot for hold'em: its tables as data, the readers of a situation, and the bot that combines them.

printed    the tables of the work, as printed          kinds     hand and board -> column of a table
tables     situation -> rule                           danger    board -> its threats
cells      the contents of a cell                      opponent  betting -> row of a table
style      what the work leaves open                   choice    the move of a cell with two
sizes      move -> legal action
"""

from bots.rembrant.bot import RembrantBot

__all__ = ["RembrantBot"]
