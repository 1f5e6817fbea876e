"""Players of one formula, after a thesis of 2008.

`formulas` has what they observe, compute and decide; `bot` has the players `mfs` and `rh`.

Source: V. S. Fazio, "Algoritmos para um jogador inteligente de Poker", Universidade Federal de Santa Catarina, 2008.
Only part of the text is legible. Its formulas 1, 2, 5 and 6 and its tables 2 and 3 are missing pictures; they are
reconstructed from the sentences around them, which are named at each place.

The other two simple players of the thesis, with a constant decision and with random ones, are options of the bots of
the same names: ``constant?decision=3`` and ``random?decisions=20/50/15/10/5`` (`bots.baseline`).
"""
