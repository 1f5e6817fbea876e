"""Drawing of a poker table on pages, an oval with the players around it, their cards and chips, the board and the pot.

The template ``table.html.jinja`` draws one moment of a hand (`logs.hand_view.HandView`). In ``static``,
``poker_table.css`` is its style, ``poker_table.js`` marks the changes when one drawing replaces another, and
``replay.js`` steps through a hand. Live tables, watched matches, replays and reports share the drawing.
"""
