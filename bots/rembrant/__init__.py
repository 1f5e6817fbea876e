"""Rembrant, a rule bot for hold'em: its tables as data, the readers of a situation, and the bot that combines them.

tables     the tables of the work, as printed: situation -> rule
kinds      hand and board -> column of a table
cells      the contents of a cell
choice     the move of a cell with two, by the threats of the board, and what else the work leaves open
bot        the rest: the opponent's last action, sizes, the player
"""

from bots.rembrant.bot import RembrantBot

__all__ = ["RembrantBot"]
