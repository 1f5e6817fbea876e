"""Counterfactual regret minimisation: players near equilibrium of hold'em, Leduc and Kuhn poker.

The betting is a tree of arrays made by the rule book (`tree`), hands are buckets (`boards`, `strengths`,
`abstraction`). Boards are drawn (`deals`), and each is walked for all holdings at once (`walk`), from which the solver
learns (`solver`). `measure` says how far a strategy is from an equilibrium, `training` goes from settings to a file
(`files`), and `bot` plays it. In no-limit games `sizes` says which raises the tree has, and `translation`, `places` and
`play` what is played after others. When the last card is dealt, `rivers` solves what is left with all holdings
(`river_walk`, `ends`), given what both would have come with (`ranges`). Nothing here is imported before it is needed.
"""
