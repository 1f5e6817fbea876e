"""A bot that uses more of what a player is told: pot odds, raise sizes, comments, the end of each hand.

``python pot_odds_bot.py HOST PORT [--game GAME]``, limit or no-limit. It is written to be read, not to be strong.
"""

from bots import Action, Bot, Category, View, run

CHANCE_BY_CATEGORY = {Category.HIGH_CARD: 0.3, Category.PAIR: 0.55, Category.TWO_PAIR: 0.75}
"""A rough guess of how often a hand of this category wins; anything better wins nearly always."""


class PotOddsBot(Bot):
    """Calls when the guessed chance to win exceeds what the pot asks for, and bets what it likes."""

    def __init__(self) -> None:
        self.chips = 0.0

    def act(self, view: View) -> Action:
        """Compare the chance to win with the price."""
        chance = CHANCE_BY_CATEGORY.get(view.category, 0.9)
        view.comment(f"{view.round_name}: {view.category.name}, chance {chance:.0%}, odds {view.pot_odds:.0%}")
        if chance > 0.7 and view.raises_this_round < 2:
            return view.raise_by_pot(0.5)
        if view.can_fold and chance < view.pot_odds:
            return view.fold()
        return view.call()

    def hand_finished(self, view: View) -> None:
        """Keep the score; the comment goes out with the next reply."""
        self.chips += view.value
        view.comment(f"{self.chips:+.0f} chips after {view.hand_number + 1} hands")


if __name__ == "__main__":
    run(PotOddsBot())
