"""Rembrant, a bot for hold'em that plays the rule tables of a paper.

rules      the printed tables, the classes of hands and boards that select a cell, the choice between two moves
bot        the opponent's last action, the sizes, and the player

Source: G. Vohl, B. Bošković, J. Brest, "Poker program Rembrant", University of Maribor; the program played at the ACPC
2011.
"""

from bots.rembrant.bot import RembrantBot

__all__ = ["RembrantBot"]
