"""Counterfactual regret minimisation: players near equilibrium of hold'em, Leduc and Kuhn poker.

The betting is a tree of arrays made by the rule book (`tree`), hands are buckets (`features`, `abstraction`). Boards
are drawn (`deals`), and each is walked for all holdings at once (`walk`), from which the solver learns and measures how
far a strategy is from an equilibrium (`solver`). `training` goes from settings to a file (`strategy_files`), and `bot`
plays it: `lookup` has its buckets, and what is played after raises that the tree does not have. When the last card is
dealt, `rivers` solves what is left with all holdings. Nothing here is imported before it is needed.
"""
