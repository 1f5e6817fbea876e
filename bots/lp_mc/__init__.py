"""The bot of a thesis of 2013: an equilibrium before the flop, a simulation after it; `docs/lp-mc.md` is its story.

model        what is known of the opponent             showdowns     the cards of a simulated hand, compiled
options      the settings of the simulation            mc            the player that simulates on every street
simulation   from a state to expected values
preflop      the game before the flop                  strategy      its two solutions, shipped as a table
published    its solution as the work had it, and what it printed
lp           the players that play it                  balance       hands before the flop, played by compiled code

Source: J. Vytrísal, "Texas hold'em limit pokerbot", Univerzita Palackého v Olomouci, 2013.
"""
