"""A whole bot: raises with a pair or better, else calls. ``python minimal_bot.py HOST PORT [--game GAME]``."""

from bots import Action, Bot, Category, View, run


class PairRaiser(Bot):
    """Raises whenever it holds a pair or better."""

    def act(self, view: View) -> Action:
        """Look at the hand, not at the opponent."""
        return view.raise_min() if view.category >= Category.PAIR else view.call()


if __name__ == "__main__":
    run(PairRaiser())
