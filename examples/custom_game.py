"""Play a game of your own, examples/custom.game, and solve a small one exactly.

    arena play examples/custom.game random calling
    python examples/custom_game.py

A `.game` file works wherever a game name does. Any bot that refuses no game plays it, in any language, because the
path of the file is in the variable ARENA_GAME.
"""

from pathlib import Path

from bots.research import LinearProgram, sequence_form, small_game
from dealer import play
from protocol import parse_game_definition

GAME = Path(__file__).with_name("custom.game")

# Kuhn poker with a deck of four cards instead of three; a single suit makes the ranks differ.
FOUR_CARDS = """
GAMEDEF
limit
numPlayers = 2
numRounds = 1
blind = 1 1
raiseSize = 1
firstPlayer = 1
maxRaises = 1
numSuits = 1
numRanks = 4
numHoleCards = 1
numBoardCards = 0
END GAMEDEF
"""


def main(deals: int = 200) -> float:
    """Play the game of the file, and return the value of the small game for its first player, in chips."""
    result = play(str(GAME), ["random", "calling"], deals=deals, seed=7, in_process=True)
    print(result.sentence)
    value, _ = LinearProgram(sequence_form(small_game(parse_game_definition(FOUR_CARDS)))).solve()
    print(f"Kuhn poker with four cards: {value:+.6f} chips per hand for the first player")
    return value


if __name__ == "__main__":
    main()
