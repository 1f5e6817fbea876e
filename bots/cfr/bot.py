"""A strategy at the table: the bot ``cfr``."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

from bots.errors import BotFileError
from bots.sdk.bot import DrawSeed, choose_action, draw, fresh_seed, uniform
from bots.sdk.learning import LearningBot, LearningJournal
from bots.sdk.options import FilePath
from bots.sdk.view import View
from engine import CALL, Action, Game, betting_start
from engine.holdem import is_dealt_as_holdem
from protocol import find_game, format_action

if TYPE_CHECKING:
    from bots.cfr.endgames import Endgame, Endgames
    from bots.cfr.lookup import Reading
    from bots.cfr.opponent import Answerer, OpponentModel
    from bots.cfr.strategy_files import StrategyFile
    from bots.sdk.holdings import HoldingChances
    from engine import Card

_SHIPPED_GAMES: Final = ("limit", "limit3", "nolimit", "kuhn", "kuhn-depth", "leduc", "leduc-nolimit")
SHIPPED: Final[Mapping[str, str]] = {
    name: os.path.join(os.path.dirname(__file__), f"{name}.strategy") for name in _SHIPPED_GAMES
}
"""The strategies that ship, by the short name of their game; the first line of each has its training."""
_LIMIT_RIVER_ITERATIONS: Final = 50
_NO_LIMIT_RIVER_ITERATIONS: Final = 200
"""No-limit rivers have more nodes and larger bets."""
_MOST_ITERATIONS: Final = 100_000
_TURN: Final = 2


class _Decided(NamedTuple):
    policy: Mapping[Action, float]
    endgame: Endgame | None
    readings: str = ""


class CfrBot(LearningBot):
    """Plays near an equilibrium: what regret minimisation against itself has found.

    Algorithm: it draws each action by fixed probabilities, those of the betting so far and of the bucket that its hand
        falls into (Zinkevich et al. 2007; deals are sampled as by Lanctot et al. 2009). Before the flop each starting
        hand is a bucket of its own; later, hands that win about as often share one (`bots.cfr.abstraction`).

    No-limit: the tree of bettings has few sizes, fractions of the pot and all-in. Raises of other sizes are read as
        its neighbours, by the pseudo-harmonic mapping of Ganzfried & Sandholm (2013), and the bot plays by all
        readings at once, each weighted with how likely it is after everything it did itself
        (`bots.cfr.lookup`). Its own raises are fractions of the pot as it really is.

    Rivers: when the last card is dealt it solves what is left, with all holdings of both players and the pot that
        is on the table (Ganzfried & Sandholm 2015), and plays the solution (`bots.cfr.endgames`). With `turns` it
        solves turns, too, with all rivers behind them; 25 iterations take some tenths of a second.

    More players: of limit hold'em for three or more it plays what the same self-play finds, rivers by their buckets. It
        guarantees nothing there: even an equilibrium of more than two players can lose, and this need not be one. The
        tree has fewer raises in a round; those beyond are read as calls, and answered by their price
        (`bots.cfr.lookup`).

    Opponents: with `exploit` it counts how the opponent of limit hold'em departs from the strategy, and answers that in
        this part of the hands (`bots.cfr.opponent`). What it plays then depends on the hands before: in a contest that
        is training.

    Other games: strategies ship for the games of `SHIPPED`, with exactly their blinds, raises and stacks;
        `arena train cfr` makes others.

    Strength: docs/cfr.md has its results against all other bots, and how far it is from an equilibrium.

    Its draws depend only on the seed and the state, so without `exploit` a match that is resumed or split between hands
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
            int, "iterations by which each turn is solved, with all rivers that may follow; 0 plays it by the buckets"
        ] = 0,
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
            if iterations is not None and not 0 <= iterations <= _MOST_ITERATIONS:
                raise ValueError(f"a {name} is solved by 0 to {_MOST_ITERATIONS:,} iterations, not {iterations}")
        if turns and rivers == 0:
            raise ValueError("turns are solved only where rivers are: rivers=0 needs turns=0")
        if not 0 <= exploit <= 1:
            raise ValueError(f"exploit is a part of the hands, from 0 to 1, not {exploit:g}")
        self._path = strategy
        self._iterations = rivers
        self._turns = turns
        self._exploit = exploit
        self._answering: Answerer | None = None
        self._learnt: OpponentModel | None = None
        """What was learnt in the journal of the match."""
        self._journal: LearningJournal | None = None
        self._explains = explain
        self._seed = fresh_seed() if seed is None else seed
        self._read: dict[str, StrategyFile] = {}
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
        if self._turns and not _is_holdem_of_two(game):
            return "cfr solves turns in hold'em of two players: leave out turns"
        if self._path:
            if self._file(self._path).game == game:
                return None
            return f"{os.path.basename(self._path)} is a strategy for another game"
        if _shipped_for(game) is not None:
            return None
        return f"cfr comes with strategies for {', '.join(SHIPPED)}; for another game, train one with `arena train cfr`"

    def prepare(self, game: Game) -> None:
        """Map the file into memory, and load what counts hands and solves rivers."""
        strategy = self.strategy(game)
        if is_dealt_as_holdem(game):
            for board in ((0, 5, 10), (0, 5, 10, 15), (0, 5, 10, 15, 20)):
                strategy.buckets_on(board)
            if self._iterations != 0 and _is_holdem_of_two(game):
                from bots.cfr.endgames import Endgames

                betting = betting_start(game)
                while betting.round <= _TURN:
                    betting = betting.after(CALL)
                Endgames(strategy, 1, self._turns and 1).at(betting, game.deck[:5])[0].policy(0)
            if self._exploit:
                from engine.ranges import shares_against

                self._answerer(game)
                shares_against(game.deck[3:5], ())
                shares_against(game.deck[3:5], game.deck[:3])

    def hand_started(self, view: View) -> None:
        if self._answering is not None:
            self._answering.forget()

    def hand_finished(self, view: View) -> None:
        if not self._exploit:
            return
        answerer = self._answerer(view.game)
        occasions = answerer.occasions(view)
        answerer.model.learn(occasions)
        if self._journal is not None:
            self._journal.write(view.hand_number, " ".join([occasion.text for occasion in occasions]))

    def match_finished(self) -> None:
        self.end_training()

    def act(self, view: View) -> Action:
        if (answer := self._answer(view)) is not None:
            if self._explains:
                view.comment(f"{_cards(view)}: an answer to the opponent's actions so far -> {format_action(answer)}")
            return answer
        decided = self._decide(view)
        action = choose_action(decided.policy, uniform(draw(self._seed, view)))
        if self._explains:
            shown = ", ".join(f"{_word(action)} {chance:.3f}" for action, chance in decided.policy.items())
            view.comment(
                f"{_cards(view)}: {self._reason(view, decided)}: {shown} -> {format_action(action)}{decided.readings}"
            )
        return action

    def policy(self, view: View) -> Mapping[Action, float] | None:
        """None while it learns about its opponent."""
        if self._exploit:
            return None
        return self._decide(view).policy

    def policy_by_holding(self, view: View) -> HoldingChances | None:
        strategy = self.strategy(view.game)
        if self._exploit or not is_dealt_as_holdem(view.game):
            return None
        if (found := self._endgame(strategy, view)) is not None:
            endgame, node = found
            return {action: chances for action, chances in endgame.policy(node).items() if chances.any()}
        from bots.cfr.lookup import play

        return play(strategy, view.betting, view.board, strategy.buckets_on)[0]

    def _answer(self, view: View) -> Action | None:
        """What wins most from the opponent, in the hands that are chosen for it."""
        if not self._exploit or uniform(draw(self._seed, view, index=0)) >= self._exploit:
            return None
        return self._answerer(view.game).answer(view)

    def _answerer(self, game: Game) -> Answerer:
        if self._answering is None:
            from bots.cfr.opponent import Answerer, OpponentModel

            strategy = CfrBot(strategy=self._path, rivers=0)
            self._answering = Answerer(game, strategy, self._learnt or OpponentModel())
        return self._answering

    # ---- what it has learnt about an opponent

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

        self._learnt = read_model(start)
        self._learnt.learn_journal(journal)
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

    def _decide(self, view: View) -> _Decided:
        import numpy as np

        from bots.cfr.lookup import play

        strategy = self.strategy(view.game)
        if (found := self._endgame(strategy, view)) is not None:
            endgame, node = found
            from engine.ranges import holding_number

            number = holding_number(*view.hole_cards)
            chances = {action: float(chance[number]) for action, chance in endgame.policy(node).items()}
            return _Decided({action: chance for action, chance in chances.items() if chance > 0}, endgame)
        policy, read = play(
            strategy, view.betting, view.board, lambda board: np.array([self._bucket(strategy, view, board)])
        )
        chances = {action: float(chance[0]) for action, chance in policy.items()}
        readings = "".join(f"; {_in_words(reading)}" for reading in read)
        return _Decided({action: chance for action, chance in chances.items() if chance > 0}, None, readings)

    def _reason(self, view: View, decided: _Decided) -> str:
        if (endgame := decided.endgame) is not None:
            gap = 1000 * endgame.solution.gap / view.big_blind
            name = "turn" if view.round == _TURN else "river"
            return f"{name} of {len(endgame.tree.kinds)} nodes solved, an answer wins {gap:.1f} mbb/g"
        strategy = self.strategy(view.game)
        return f"bucket {self._bucket(strategy, view, view.board) + 1} of {strategy.buckets[view.round]}"

    def _endgame(self, strategy: StrategyFile, view: View) -> tuple[Endgame, int] | None:
        """The solved endgame of a state, and the node there; None where the strategy is played as it is."""
        if self._iterations == 0 or view.round < _TURN or not _is_holdem_of_two(view.game):
            return None
        if strategy.path not in self._endgames:
            from bots.cfr.endgames import Endgames

            rivers = self._iterations
            if rivers is None:
                rivers = _LIMIT_RIVER_ITERATIONS if view.game.is_limit else _NO_LIMIT_RIVER_ITERATIONS
            self._endgames[strategy.path] = Endgames(strategy, rivers, self._turns)
        endgames = self._endgames[strategy.path]
        if endgames.solves(view.round):
            return endgames.at(view.betting, view.board)
        return None

    def _bucket(self, strategy: StrategyFile, view: View, board: tuple[Card, ...]) -> int:
        if is_dealt_as_holdem(view.game):
            from engine.ranges import holding_number

            return int(strategy.buckets_on(board)[holding_number(*view.hole_cards)])
        from bots.cfr.small_games import RankBuckets

        return RankBuckets(view.game).bucket(view.hole_cards[0], board)

    def strategy(self, game: Game) -> StrategyFile:
        """The strategy that it plays in a game, before rivers are solved."""
        if self._playing is None or self._playing[0] is not game:
            self.require_game(game)
            self._playing = game, self._file(self._path or _shipped_for(game) or "")
        return self._playing[1]

    def _file(self, path: str) -> StrategyFile:
        from bots.cfr.strategy_files import read_strategy

        if path not in self._read:
            self._read[path] = read_strategy(path)
        return self._read[path]


def _shipped_for(game: Game) -> str | None:
    for name, path in SHIPPED.items():
        if find_game(name)[1] == game:
            return path
    return None


def _is_holdem_of_two(game: Game) -> bool:
    return game.num_players == 2 and is_dealt_as_holdem(game)


def _cards(view: View) -> str:
    if not view.board:
        return view.hole_text
    return f"{view.hole_text} on {view.board_text}"


def _word(action: Action) -> str:
    word = action.kind.name.lower()
    if action.hand_total:
        word += f" to {action.hand_total}"
    return word


def _in_words(reading: Reading) -> str:
    known = ", ".join(f"{f'{pots:.2f}' if pots else 'none'} {chance:.0%}" for pots, chance in reading.known)
    return f"{format_action(reading.action)} is {reading.pots:.2f} pots, read as {known}"
