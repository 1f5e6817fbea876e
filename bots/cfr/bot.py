"""The bot ``cfr``, which plays a strategy file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

from bots.errors import BotFileError
from bots.sdk.bot import DrawSeed, choose_action, draw, fresh_seed, uniform
from bots.sdk.learning import LearningBot, LearningJournal
from bots.sdk.options import FilePath
from bots.sdk.view import View
from engine import CALL, FOLD, Action, Game, betting_start
from engine.holdem import is_dealt_as_holdem
from protocol import find_game, format_action

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bots.cfr.endgames import Endgame, Endgames
    from bots.cfr.lookup import Reading
    from bots.cfr.opponent import Answerer, OpponentModel
    from bots.cfr.strategy_files import StrategyFile
    from bots.cfr.strategy_values import StrategyValues
    from bots.sdk.holdings import HoldingChances
    from engine import Card

_SHIPPED_GAMES: Final = (
    "limit",
    "limit3",
    "nolimit",
    "nolimit3",
    "nolimit6",
    "kuhn",
    "kuhn-depth",
    "leduc",
    "leduc-nolimit",
)
SHIPPED: Final[Mapping[str, str]] = {
    name: os.path.join(os.path.dirname(__file__), f"{name}.strategy") for name in _SHIPPED_GAMES
}
"""Strategy files of the package, by the short name of their game. The header of each records its training."""
VALUES_SUFFIX: Final = ".values"
"""Ending of the file of a strategy's values, beside the strategy."""
_LIMIT_RIVER_ITERATIONS: Final = 50
# No-limit rivers have more nodes and larger bets.
_NO_LIMIT_RIVER_ITERATIONS: Final = 200
_LIMIT_TURN_ITERATIONS: Final = 25
# A no-limit turn has a sixth of the nodes, so an iteration takes less time.
_NO_LIMIT_TURN_ITERATIONS: Final = 50
_MAX_ITERATIONS: Final = 100_000
_TURN: Final = 2


class _Decision(NamedTuple):
    """Policy of a decision with its source.

    Attributes:
        endgame: the solved endgame, None if the strategy was played.
        readings: sentence about the readings of raises, for the comment.
    """

    policy: Mapping[Action, float]
    endgame: Endgame | None
    readings: str = ""


class CfrBot(LearningBot):
    """Plays near an equilibrium, by a strategy from counterfactual regret minimisation in self-play.

    Algorithm: each action is drawn from the probabilities of the strategy for the betting so far and the bucket of the
        hand (Zinkevich et al. 2007, with deals sampled as in Lanctot et al. 2009). Before the flop each starting hand
        is a bucket of its own. On later rounds, hands of similar strength share a bucket (`bots.cfr.abstraction`).

    No-limit: the betting tree has few sizes, fractions of the pot and all-in. Other raises are read as the neighbouring
        sizes by the pseudo-harmonic mapping of Ganzfried & Sandholm (2013), and the bot plays the mean of all readings
        (`bots.cfr.lookup`). Its own raises are fractions of the real pot.

    Turns and rivers: from the turn on the bot solves the remaining game with all holdings of both players and the real
        pot (Ganzfried & Sandholm 2015), and plays the solution (`bots.cfr.endgames`). On the rivers after a turn,
        holdings of similar strength play alike; the river that comes is solved anew. `turns=0` solves rivers only.

    More players: limit hold'em for three or more, and no-limit hold'em for three and six, follow the strategy of the
        same self-play, with buckets on rivers. There is no guarantee, because even an equilibrium of more than two
        players can lose, and the strategy need not be one. The tree of limit has fewer raises per round. Further raises
        are read as calls and answered by the price of a call. The tree of no-limit has flops of up to three players
        (`bots.cfr.merged_tree`). Limps, odd raises and further callers are read as lines of the tree, and turns and
        rivers that two players see are solved.

    Opponents: with `exploit` the bot counts how its opponent in limit hold'em deviates from the strategy, and answers
        the deviations in this part of the hands (`bots.cfr.opponent`). Its play then depends on earlier hands, so
        contests with it are trainings.

    Other games: strategies ship for the games of `SHIPPED`, with exactly their blinds, raises and stacks.
        `arena train cfr` makes others.

    Strength: docs/cfr.md has results against all other bots, and the distance from an equilibrium.

    Draws depend only on the seed and the state, so without `exploit` a match that is resumed or split between hands
    plays the same.
    """

    def __init__(
        self,
        *,
        strategy: Annotated[FilePath, "a file that `arena train cfr` wrote; the shipped one by default"] = "",
        rivers: Annotated[
            int | None,
            "iterations by which each river is solved, with all holdings; 0 plays it by the buckets; 50 in "
            "limit and 200 in no-limit by default",
        ] = None,
        turns: Annotated[
            int | None,
            "iterations by which each turn is solved, with all rivers that may follow; 0 plays it by the buckets; 25 "
            "in limit and 50 in no-limit by default, 0 with rivers=0",
        ] = None,
        exploit: Annotated[
            float,
            "the part of the hands, 0 to 1, in which it plays what wins most from the opponent's actions so far, in "
            "limit hold'em; 0.3 is a good value",
        ] = 0.0,
        explain: Annotated[
            bool, "whether to send bucket, probabilities and how raises were read as a comment before each action"
        ] = False,
        seed: DrawSeed = None,
    ) -> None:
        for name, iterations in (("river", rivers), ("turn", turns)):
            if iterations is not None and not 0 <= iterations <= _MAX_ITERATIONS:
                raise ValueError(f"a {name} is solved by 0 to {_MAX_ITERATIONS:,} iterations, not {iterations}")
        if turns and rivers == 0:
            raise ValueError("turns are solved only where rivers are: rivers=0 needs turns=0")
        if not 0 <= exploit <= 1:
            raise ValueError(f"exploit is a part of the hands, from 0 to 1, not {exploit:g}")
        self._path = strategy
        self._iterations = rivers
        self._turns = turns
        self._exploit = exploit
        self._answerer: Answerer | None = None
        self._model: OpponentModel | None = None
        """Model of the opponent from the journal of the match."""
        self._journal: LearningJournal | None = None
        self._explains = explain
        self._seed = fresh_seed() if seed is None else seed
        self._files: dict[str, StrategyFile] = {}
        self._playing: tuple[Game, StrategyFile] | None = None
        self._endgames: dict[str, Endgames] = {}
        if strategy:
            try:
                self._file(strategy)
            except BotFileError as error:
                raise ValueError(str(error)) from error

    def refusal(self, game: Game) -> str | None:
        if self._exploit and not (game.is_limit and _is_holdem_of_two(game)):
            return "cfr answers its opponent in limit hold'em of two players: leave out exploit"
        if self._turns and not (is_dealt_as_holdem(game) and (game.num_players == 2 or not game.is_limit)):
            return "cfr solves turns in no-limit hold'em and in limit hold'em of two players: leave out turns"
        if self._path:
            trained = self._file(self._path).game
            if trained == game:
                return None
            name = os.path.basename(self._path)
            if trained._replace(stacks=game.stacks) == game:
                return (
                    f"{name} is a strategy for stacks of {_in_big_blinds(trained)} big blinds, not "
                    f"{_in_big_blinds(game)}: train one with `arena train cfr`"
                )
            return f"{name} is a strategy for another game"
        if _shipped_for(game) is not None:
            return None
        return f"cfr comes with strategies for {', '.join(SHIPPED)}; for another game, train one with `arena train cfr`"

    def prepare(self, game: Game) -> None:
        """Map the strategy into memory, and load the kernels and tables."""
        strategy = self.strategy(game)
        if is_dealt_as_holdem(game):
            # A lookup on each round loads the kernels of the features.
            for board in ((0, 5, 10), (0, 5, 10, 15), (0, 5, 10, 15, 20)):
                strategy.buckets_on(board)
            if self._iterations != 0 and _solves_rivers(strategy):
                from bots.cfr.endgames import Endgames

                # A short way to a turn that two players see.
                betting = betting_start(game)
                while betting.round < _TURN:
                    betting = betting.after(FOLD if len(betting.in_pot) > 2 else CALL)
                # One iteration loads all kernels of the solutions.
                endgames = Endgames(strategy, 1, min(self._turn_iterations(game), 1))
                if endgames.solves(_TURN):
                    endgames.at(betting, game.deck[:4])[0].policy(0)
                endgames.at(betting.after(CALL).after(CALL), game.deck[:5])[0].policy(0)
            if self._exploit:
                from engine.ranges import shares_against

                self._require_answerer(game)
                shares_against(game.deck[3:5], ())
                shares_against(game.deck[3:5], game.deck[:3])

    def hand_started(self, view: View) -> None:
        if self._answerer is not None:
            self._answerer.forget()

    def hand_finished(self, view: View) -> None:
        if not self._exploit:
            return
        answerer = self._require_answerer(view.game)
        occasions = answerer.occasions(view)
        answerer.model.learn(occasions)
        if self._journal is not None:
            self._journal.write(view.hand_number, " ".join([occasion.text for occasion in occasions]))

    def match_finished(self) -> None:
        self.end_training()

    def act(self, view: View) -> Action:
        answer = self._answer(view)
        if answer is not None:
            if self._explains:
                view.comment(
                    f"{_format_cards(view)}: an answer to the opponent's actions so far -> {format_action(answer)}"
                )
            return answer
        decision = self._decide(view)
        action = choose_action(decision.policy, uniform(draw(self._seed, view)))
        if self._explains:
            chances = ", ".join(f"{_format_kind(option)} {chance:.3f}" for option, chance in decision.policy.items())
            view.comment(
                f"{_format_cards(view)}: {self._reason(view, decision)}: {chances} -> {format_action(action)}"
                f"{decision.readings}"
            )
        return action

    def policy(self, view: View) -> Mapping[Action, float] | None:
        """Return the probabilities of the actions, or None with `exploit`, whose answers are not part of a policy."""
        if self._exploit:
            return None
        return self._decide(view).policy

    def policy_by_holding(self, view: View) -> HoldingChances | None:
        strategy = self.strategy(view.game)
        if self._exploit or not is_dealt_as_holdem(view.game):
            return None
        solved = self.endgame_at(view)
        if solved is not None:
            endgame, node = solved
            return {action: chances for action, chances in endgame.policy(node).items() if chances.any()}
        from bots.cfr.lookup import play

        return play(strategy, view.betting, view.board, strategy.buckets_on)[0]

    def _answer(self, view: View) -> Action | None:
        """Return an answer to the opponent in the hands drawn for it, else None."""
        # index=0: one draw for all decisions of a hand.
        if not self._exploit or uniform(draw(self._seed, view, index=0)) >= self._exploit:
            return None
        return self._require_answerer(view.game).answer(view)

    def _require_answerer(self, game: Game) -> Answerer:
        if self._answerer is None:
            from bots.cfr.opponent import Answerer, OpponentModel

            strategy = CfrBot(strategy=self._path, rivers=0)
            self._answerer = Answerer(game, strategy, self._model or OpponentModel())
        return self._answerer

    # ---- learning about an opponent

    @property
    def is_learning(self) -> bool:
        return self._exploit > 0

    @property
    def memory_path(self) -> str | None:
        return None

    def start_memory(self, game: Game) -> bytes:
        from bots.cfr.opponent import OpponentModel

        return OpponentModel().content()

    def train(self, start: str, journal: str) -> None:
        from bots.cfr.opponent import read_model

        self._model = read_model(start)
        self._model.learn_journal(journal)
        self._journal = LearningJournal(journal)

    def end_training(self) -> None:
        if self._journal is not None:
            self._journal.close()

    def merged(self, start: str, journals: Sequence[str]) -> bytes:
        from bots.cfr.opponent import read_model

        model = read_model(start)
        for journal in journals:
            model.learn_journal(journal)
        return model.content()

    # ---- the strategy

    def _decide(self, view: View) -> _Decision:
        import numpy as np

        from bots.cfr.lookup import play

        strategy = self.strategy(view.game)
        solved = self.endgame_at(view)
        if solved is not None:
            endgame, node = solved
            from engine.ranges import holding_number

            number = holding_number(*view.hole_cards)
            chances = {action: float(chance[number]) for action, chance in endgame.policy(node).items()}
            return _Decision(_without_zeros(chances), endgame)

        def buckets_on(board: tuple[Card, ...]) -> NDArray[np.int64]:
            return np.array([self._bucket(strategy, view, board)])

        policy, read = play(strategy, view.betting, view.board, buckets_on)
        chances = {action: float(chance[0]) for action, chance in policy.items()}
        readings = "".join(f"; {_format_reading(reading)}" for reading in read)
        return _Decision(_without_zeros(chances), None, readings)

    def _reason(self, view: View, decision: _Decision) -> str:
        endgame = decision.endgame
        if endgame is not None:
            gap = 1000 * endgame.solution.gap / view.big_blind
            name = "turn" if view.round == _TURN else "river"
            return f"{name} of {len(endgame.tree.kinds)} nodes solved, an answer wins {gap:.1f} mbb/g"
        strategy = self.strategy(view.game)
        return f"bucket {self._bucket(strategy, view, view.board) + 1} of {strategy.buckets[view.round]}"

    def endgame_at(self, view: View) -> tuple[Endgame, int] | None:
        """Return the solved endgame of a state and the node there, or None if the strategy plays the state."""
        if view.round < _TURN:
            return None
        endgames = self.endgames(view.game)
        if len(view.betting.round_starts[view.round].in_pot) > 2:
            return None
        if endgames is not None and endgames.solves(view.round):
            return endgames.at(view.betting, view.board)
        return None

    def endgames(self, game: Game) -> Endgames | None:
        """Return the solver of rivers and turns, None if the strategy plays all rounds."""
        strategy = self.strategy(game)
        if self._iterations == 0 or not _solves_rivers(strategy):
            return None
        if strategy.path not in self._endgames:
            from bots.cfr.endgames import Endgames

            rivers = self._iterations
            if rivers is None:
                rivers = _LIMIT_RIVER_ITERATIONS if game.is_limit else _NO_LIMIT_RIVER_ITERATIONS
            self._endgames[strategy.path] = Endgames(strategy, rivers, self._turn_iterations(game))
        return self._endgames[strategy.path]

    def _turn_iterations(self, game: Game) -> int:
        if self._turns is not None:
            return self._turns
        return _LIMIT_TURN_ITERATIONS if game.is_limit else _NO_LIMIT_TURN_ITERATIONS

    def _bucket(self, strategy: StrategyFile, view: View, board: tuple[Card, ...]) -> int:
        if is_dealt_as_holdem(view.game):
            from engine.ranges import holding_number

            return int(strategy.buckets_on(board)[holding_number(*view.hole_cards)])
        from bots.cfr.small_games import RankBuckets

        return RankBuckets(view.game).bucket(view.hole_cards[0], board)

    def strategy(self, game: Game) -> StrategyFile:
        """Return the strategy for a game, which plays all rounds that are not solved."""
        if self._playing is None or self._playing[0] is not game:
            self.require_game(game)
            self._playing = game, self._file(self._path or _shipped_for(game) or "")
        return self._playing[1]

    @property
    def solves_rivers(self) -> bool:
        return self._iterations != 0

    def river_solver(self) -> CfrBot:
        """Return a bot of the same strategy that solves rivers; this one, if it does."""
        if self.solves_rivers:
            return self
        return CfrBot(strategy=self._path)

    def values(self, game: Game) -> StrategyValues | None:
        """Return the values of the strategy for a game of hold'em, None if it has none.

        Raises:
            BotFileError: the file of the values is damaged or that of another strategy.
        """
        path = self.values_path(game)
        if path is None:
            return None
        from bots.cfr.strategy_values import read_values

        return read_values(path, self.strategy(game))

    def values_path(self, game: Game) -> str | None:
        """Return the path of the values of the strategy for a game of hold'em, None if it has none."""
        if self.refusal(game) is not None or not is_dealt_as_holdem(game):
            return None
        path = os.path.splitext(self.strategy(game).path)[0] + VALUES_SUFFIX
        return path if os.path.exists(path) else None

    def _file(self, path: str) -> StrategyFile:
        from bots.cfr.strategy_files import read_strategy

        if path not in self._files:
            self._files[path] = read_strategy(path)
        return self._files[path]


def _shipped_for(game: Game) -> str | None:
    for name, path in SHIPPED.items():
        if find_game(name)[1] == game:
            return path
    return None


def _in_big_blinds(game: Game) -> str:
    """Format the stacks of a game, for example ``200`` or ``50/100``."""
    return "/".join(sorted({f"{stack / game.big_blind:g}" for stack in game.stacks}))


def _is_holdem_of_two(game: Game) -> bool:
    return game.num_players == 2 and is_dealt_as_holdem(game)


def _solves_rivers(strategy: StrategyFile) -> bool:
    """Return whether rivers are solved that only two players see. In limit hold'em of more, buckets play them."""
    return _is_holdem_of_two(strategy.game) or strategy.entries is not None


def _without_zeros(chances: Mapping[Action, float]) -> dict[Action, float]:
    return {action: chance for action, chance in chances.items() if chance > 0}


def _format_cards(view: View) -> str:
    if not view.board:
        return view.hole_text
    return f"{view.hole_text} on {view.board_text}"


def _format_kind(action: Action) -> str:
    text = action.kind.name.lower()
    if action.hand_total:
        text += f" to {action.hand_total}"
    return text


def _format_reading(reading: Reading) -> str:
    known = []
    for pots, chance in reading.known:
        size = f"{pots:.2f}" if pots else "none"
        known.append(f"{size} {chance:.0%}")
    return f"{format_action(reading.action)} is {reading.pots:.2f} pots, read as {', '.join(known)}"
