"""The bot `equilibrium`: small games of two players, played so that no opponent wins more than the game's value.

bot        the player, and the strategies, shipped as texts that it reads without any solver
generate   makes them: the linear program of `bots.solving`
deviations what another player gives away compared with it, from finished hands
"""
