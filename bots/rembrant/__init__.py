"""Rembrant, a bot of rules for hold'em: its tables as data, the readers of a situation, the bot that joins them.

printed    the tables of the work, as printed          kinds     hand and board -> column of a table
tables     situation -> rule                           danger    board -> what it threatens
cells      what a cell can say                         opponent  betting -> line of a table
groups     hole cards -> hand of a preflop table       choice    which move of a cell with two
style      what the work leaves open                   sizes     move -> legal action
"""

from bots.rembrant.bot import RembrantBot

__all__ = ["RembrantBot"]
