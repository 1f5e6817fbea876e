"""Counterfactual regret minimisation: players near equilibrium of hold'em, Leduc and Kuhn poker.

The betting is a tree of arrays made by the rule book (`tree`), hands are buckets (`features`, `abstraction`). Hold'em
is learnt from drawn deals (`sampling`), small games on their sequence form, where how far a strategy is from an
equilibrium is exact (`small_games`). `expectation` is what one strategy of hold'em wins from another. `training` goes
from settings to a file (`strategy_files`), and `bot` plays it: `lookup` has its buckets, and what is played after
raises that the tree does not have. When the last card is dealt, or the one before it, `endgames` solves what is left
with all holdings. Nothing here is imported before it is needed.
"""
