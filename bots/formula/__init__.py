"""Players of one formula, after a thesis of 2008: what they see, what they compute of it, what they do.

decisions     the five decisions, and the action each is in a game
chance        the chance to win, in per cent
observation   all that a player sees, as one value
relations     the formulas: what is seen -> a number -> a decision
bot           the players `mfs` and `rh`

Source: V. S. Fazio, "Algoritmos para um jogador inteligente de Poker", Universidade Federal de Santa Catarina, 2008.
Only a part of the text could be read. Its formulas 1, 2, 5 and 6 and its tables 2 and 3 are pictures that are missing
from it; what stands here for them is put together from the sentences around them, and each place says from which.

The other two kinds of simple player of the work, with a constant decision and with random ones, are options of the
bots of the same names: ``constant?decision=3`` and ``random?decisions=20/50/15/10/5`` (`bots.baseline`).
"""
