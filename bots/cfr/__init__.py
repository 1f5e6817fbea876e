"""Counterfactual regret minimisation: the bot ``cfr``, its strategies and their training.

`tree` turns the betting of a game into arrays, `merged_tree` that of no-limit hold'em with more players, and
`abstraction` groups its hands into buckets. `training` learns a strategy: `sampling` for hold'em, from drawn deals, and
`small_games` for Kuhn and Leduc, on the sequence form. `strategy_files` stores it and `bot` plays it, with `lookup` to
find a real hand in it and `endgames` to solve rivers and turns during play. `expectation`, `answer` and `opponent`
measure and exploit strategies.
"""
