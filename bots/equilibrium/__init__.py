"""The bot ``equilibrium`` for small games of two players.

- `bot`: the player, with strategies that ship as text and need no solver
- `deviations`: costs of another player's decisions compared with the equilibrium, from finished hands
"""
