"""Bots of a thesis of 2013 that play an equilibrium before the flop and simulate after it (`docs/lp-mc.md`).

bot               the players mc, lp and lp-mc
simulation        options, the model of the opponent, and expected values of a state's actions
drawn_showdowns   compiled loops that draw the showdowns of a simulation
preflop           the game before the flop, its equilibrium, and the solution printed in the thesis
strategy          both solutions as a shipped table

Source: Jan Vytrísal, "Texas hold'em limit pokerbot", bachelor's thesis, Univerzita Palackého v Olomouci, 2013.
"""
