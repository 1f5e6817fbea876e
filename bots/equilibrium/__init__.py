"""The bot `equilibrium`: small games of two players, played so that no opponent wins more than the game's value.

table      the strategies, shipped as texts that a playing bot reads without any solver
generate   makes them: the linear program of `bots.solving`
bot        the player
departures what another player gives away beside it, told from finished hands
"""
