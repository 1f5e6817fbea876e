"""The bot of a thesis of 2013: an equilibrium before the flop, a simulation after it; see `docs/lp-mc.md`.

bot               the players mc, lp and lp-mc
simulation        its options, the model of the opponent, and from a state to expected values
drawn_showdowns   the cards of a simulated hand, compiled
preflop           the game before the flop, its solution and the printed one, hand by hand in words
strategy          both solutions as a shipped table

Source: Jan Vytrísal, "Texas hold'em limit pokerbot", bachelor's thesis, Univerzita Palackého v Olomouci, 2013.
"""
