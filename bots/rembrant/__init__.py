"""Rembrant, a rule bot for hold'em: its tables as data, the readers of a situation, and the bot that combines them.

rules      the tables of the paper, as printed; hand and board -> column; the moves of a cell; which of two is played
bot        the rest: the opponent's last action, sizes, the player

Source: G. Vohl, B. Bošković, J. Brest, "Poker program Rembrant", University of Maribor; the program played at the ACPC
2011.
"""

from bots.rembrant.bot import RembrantBot

__all__ = ["RembrantBot"]
