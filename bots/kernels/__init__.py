"""Players compiled, for training: whole hands of the simple players and of one that learns, at any stakes.

players    what each kind of player decides, as the bots of the same names do
hands      the hands: rules, decisions, pots, and the chances that `bots.sdk.chance` gives, draw for draw

Functions on arrays and integers which validate nothing. Each is held in tests against the bots themselves in
`bots.self_play`: the same decisions, the same chips.
"""
