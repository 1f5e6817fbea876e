"""Bots that decide by a single formula, after a thesis of 2008.

`formulas` has the observed quantities, the formulas and the decisions; `bot` has the players `mfs` and `rh`.

Source: V. S. Fazio, "Algoritmos para um jogador inteligente de Poker", Universidade Federal de Santa Catarina, 2008.
Formulas 1, 2, 5 and 6 and tables 2 and 3 are pictures that the available text lacks. They are reconstructed from the
sentences around them. The other two simple players of the thesis, with a constant decision and with random ones, are
``constant?decision=3`` and ``random?decisions=20/50/15/10/5`` (`bots.baseline`).
"""
