"""The table as pages draw it: an oval with the players around it, their cards and chips, the board and the pot.

The template ``table.html.jinja`` draws one moment of a hand (`logs.hand_view.HandView`); ``static/poker_table.css`` is
its style, ``static/poker_table.js`` marks what is new when one drawing replaces another, and ``static/replay.js`` steps
through a hand. A person at a table, a match that is watched, a replay and a report all show this one drawing.
"""
