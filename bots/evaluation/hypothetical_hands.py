"""AIVAT: correct finished hands for the luck of players whose policy is known.

Source: Burch et al. 2018, "AIVAT: A new variance reduction technique for agent evaluation in imperfect information
games". `HypotheticalHands` replaces a hand by its mean over all holdings of the known players, weighted by the
probability that their policies play the hand. It asks the policies about every holding at every decision, so it is for
fast policies or few hands. `ActionTerms` corrects for the actions that known players drew, with the cards that were
held, and asks once per decision.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import comb, prod
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from bots.errors import PolicyError
from bots.evaluation.policies import Policy, certain_policy_at, policy_at, policy_by_holding_at, view_at
from bots.sdk.view import View
from engine import Action, ActionKind, BettingState, Card, Deal, Game, Position, betting_start, side_pots, uncalled
from engine.hand import decisions
from engine.ranges import holding_number
from logs.record import HandRecord
from logs.variance.terms import PotRow, Shares, Terms, chance_terms, term_values
from protocol import format_action


def chips_of(betting: BettingState, action: Action) -> int:
    """Return the chips that an action of the player in turn puts in."""
    if action.kind == ActionKind.FOLD:
        return 0
    if action.kind == ActionKind.CALL:
        return betting.to_call
    if betting.game.is_limit:
        hand_total = betting.legal_actions().raise_min
    else:
        hand_total = action.hand_total
    return hand_total - betting.spent[betting.acting_position]


def is_played(option: Action, action: Action, game: Game) -> bool:
    """Return whether an option of a policy is the action of a hand; raises of limit games have no sizes."""
    return option == action or (option.kind == action.kind and game.is_limit)


def no_chance(record: HandRecord, position: Position, action: Action) -> PolicyError:
    """Return the error for an action to which the policy of its player gives no probability."""
    return PolicyError(
        f"{record.name_at(position)} plays {format_action(action)} in hand {record.hand_number} of "
        f"{record.match_name}, to which its policy gives no chance: these hands were played by another policy, or a "
        "fault was played for it"
    )


MAX_HOLDINGS: Final = 1326
_Floats = NDArray[np.float64]


def number_of_holdings(game: Game, known: int) -> int:
    """Return the number of combinations of holdings of `known` players, given the cards of the others."""
    held = game.num_hole_cards
    others = game.num_players - known
    return prod(comb(len(game.deck) - held * (others + player), held) for player in range(known))


class HypotheticalHands:
    """Means of hands over the holdings of the known players.

    Args:
        game: its stacks may differ from those of the hands.
        policies: policies of the known players by name.
    """

    def __init__(self, game: Game, policies: Mapping[str, Policy]) -> None:
        self.names = tuple(policies)
        self._game = game
        self._policies = dict(policies)
        self._shares = Shares(game)

    def columns(self, record: HandRecord, stream: int) -> _Floats:
        """Return two terms of mean 0 for each position, in chips, shape (players, 2).

        The first, added to the chips won and the pot terms of chance, gives the AIVAT estimate. The second, added to
        the chips won, gives their mean over all holdings.

        Raises:
            PolicyError: a policy has no probabilities in a state, or probability 0 for a player's action.
        """
        raw = np.array(record.values)
        chance = term_values(self._shares, [record.deal], [chance_terms(record.betting)], [stream])[0]
        if not any(name in self._policies for name in record.names):
            return np.zeros((len(raw), 2))
        base, terms = _Walk(self._game, self._shares, self._policies, record, stream).result()
        pot_terms = chance[:, : self._game.num_rounds].sum(axis=1)
        return np.column_stack([base + terms - raw - pot_terms, base - raw])


class _Walk:
    def __init__(
        self, game: Game, shares: Shares, policies: Mapping[str, Policy], record: HandRecord, stream: int
    ) -> None:
        self._game = game
        self._shares = shares
        self._record = record
        self._stream = stream
        self._policies = [policies.get(name) for name in record.names]
        known = [position for position, policy in enumerate(self._policies) if policy is not None]
        holes = record.deal.hole_cards
        seen: set[Card] = set()
        for position, hole in enumerate(holes):
            if position not in known:
                seen.update(hole)
        self._is_all_known = len(known) == game.num_players
        self._deals = [Deal(tuple(cards), record.deal.board) for cards in _holdings(game, list(holes), known, seen)]
        self._weights = np.ones(len(self._deals))
        self._cache: dict[PotRow, _Floats] = {}

    def result(self) -> tuple[_Floats, _Floats]:
        """Return the mean of the chips won and the sum of the terms, by position."""
        record = self._record
        game = self._game
        everybody = (1 << game.num_players) - 1
        terms = np.zeros(game.num_players)
        if not self._is_all_known:
            # The deal: before it, all players have equal shares. If all are known, the mean over holdings is that
            # already.
            chips = sum(game.blinds) or game.big_blind
            terms += chips * (1 / game.num_players - self._mean(self._pot_shares(PotRow(everybody, 0))))
        betting = betting_start(record.game)
        for round_, actions in enumerate(record.betting.rounds):
            if round_:
                terms += self._board(betting, *game.board_cards_by_round[round_ - 1 : round_ + 1])
            for position, action in actions:
                policy = self._policies[position]
                if policy is not None:
                    terms += self._decision(policy, betting, action)
                betting = betting.after(action)
        return self._won(), terms

    def _won(self) -> _Floats:
        betting = self._record.betting
        if not betting.is_showdown:
            return np.array(self._record.values)
        won = -np.array(betting.spent, np.float64)
        known = self._game.board_cards_by_round[-1]
        won += self._expected_pots(_pots(betting), known)
        position, returned = uncalled(betting.spent)
        if not betting.folded >> position & 1:
            won[position] += returned
        return won

    def _board(self, betting: BettingState, before: int, after: int) -> _Floats:
        pots = _pots(betting)
        expected = self._expected_pots(pots, before)
        came = set(self._record.deal.board[before:after])
        # Holdings with one of the new cards are impossible from here on.
        for index, deal in enumerate(self._deals):
            if self._weights[index] and any(came & set(hole) for hole in deal.hole_cards):
                self._weights[index] = 0.0
        if before == after:
            return np.zeros(self._game.num_players)
        return expected - self._expected_pots(pots, after)

    def _expected_pots(self, pots: Sequence[tuple[int, int]], known: int) -> _Floats:
        """Return the chips of all pots that each position is expected to win, with `known` board cards."""
        expected = np.zeros(self._game.num_players)
        for members, amount in pots:
            expected += amount * self._mean(self._pot_shares(PotRow(members, known)))
        return expected

    def _decision(self, policy: Policy, betting: BettingState, action: Action) -> _Floats:
        """Return the term of a known player's action, and multiply the weights by its probability."""
        position = betting.acting_position
        pot = float(betting.pot)
        members = (1 << self._game.num_players) - 1 & ~betting.folded
        known = self._game.board_cards_by_round[betting.round]
        # By holding: the chance to fold, to do what was done, and what follows from staying in.
        folds, plays, pots, puts = np.zeros((4, len(self._deals)))
        for indices, chances in self._action_chances(policy, betting):
            for option, chance in chances.items():
                if option.kind == ActionKind.FOLD:
                    folds[indices] += chance
                else:
                    chips = chips_of(betting, option)
                    pots[indices] += chance * (pot + chips)
                    puts[indices] += chance * chips
                if is_played(option, action, betting.game):
                    plays[indices] += chance
        stays = self._pot_shares(PotRow(members, known))
        leaves = self._pot_shares(PotRow(members & ~(1 << position), known))
        own = np.zeros(self._game.num_players)
        own[position] = 1.0
        # The pot goes to those who are left, by their shares. What the player puts in is its own cost.
        after_fold = leaves * (pot * folds)[:, np.newaxis]
        after_staying = stays * pots[:, np.newaxis]
        expected = self._mean(after_fold + after_staying - np.outer(puts, own))
        self._weights = self._weights * plays
        if not self._weights.any():
            raise no_chance(self._record, position, action)
        if action.kind == ActionKind.FOLD:
            return expected - pot * self._mean(leaves)
        chips = chips_of(betting, action)
        return expected - (pot + chips) * self._mean(stays) + chips * own

    def _action_chances(
        self, policy: Policy, betting: BettingState
    ) -> Iterator[tuple[NDArray[np.int64], Mapping[Action, float | _Floats]]]:
        """Return the indices of the possible holdings, and the policy's probabilities of each action with them."""
        possible = np.flatnonzero(self._weights)
        position = betting.acting_position
        board = self._record.deal.board[: self._game.board_cards_by_round[betting.round]]
        view = View(betting, position, self._record.hand_number, ((),) * self._game.num_players, board)
        if (whole := policy_by_holding_at(policy, view)) is not None:
            numbers = np.array(
                [holding_number(*self._deals[index].hole_cards[position]) for index in possible.tolist()]
            )
            chances: dict[Action, float | _Floats] = {}
            for action, chance in whole.items():
                chances[action] = chance[numbers] if isinstance(chance, np.ndarray) else chance
            yield possible, chances
            return
        for index in possible:
            seen = view_at(betting, self._deals[index], self._record.hand_number)
            name = self._record.names[position]
            yield np.array([index]), certain_policy_at(policy, seen, name, ": no average over hands")

    def _pot_shares(self, row: PotRow) -> _Floats:
        """Return the shares of a pot with every holding, shape (holdings, players), 0 for impossible ones."""
        # Weights only fall to 0. Holdings that are possible later are among those of the first call, so its shares
        # serve.
        shares = self._cache.get(row)
        if shares is None:
            shares = self._cache[row] = np.zeros((len(self._deals), self._game.num_players))
            possible = np.flatnonzero(self._weights)
            deals = [self._deals[index] for index in possible]
            shares[possible] = self._shares.of(
                deals, np.arange(len(possible)), [row] * len(possible), [self._stream] * len(possible)
            )
        return shares

    def _mean(self, values: _Floats) -> _Floats:
        mean: _Floats = self._weights @ values / self._weights.sum()
        return mean


def _pots(betting: BettingState) -> list[tuple[int, int]]:
    """Return the mask of the players and the chips of each pot."""
    pots = []
    for pot in side_pots(betting.spent, betting.folded):
        members = sum([1 << at for at in pot.players])
        pots.append((members, pot.amount))
    return pots


def _holdings(
    game: Game, holes: list[tuple[Card, ...]], known: Sequence[int], taken: set[Card]
) -> list[list[tuple[Card, ...]]]:
    if not known:
        return [holes]
    combined = []
    free = [card for card in game.deck if card not in taken]
    for cards in combinations(free, game.num_hole_cards):
        changed = [*holes]
        changed[known[0]] = cards
        combined += _holdings(game, changed, known[1:], taken | {*cards})
    return combined


class ValuedHands(Protocol):
    """Estimates of whole hands by the values of a strategy (`bots.cfr.value_terms`).

    Attributes:
        names: groups of known players that have an estimate.
    """

    @property
    def names(self) -> Sequence[tuple[str, ...]]: ...

    def columns(self, record: HandRecord) -> _Floats:
        """Return the estimate of each group less the chips won, by position, shape (players, groups)."""
        ...


_EVENTS: Final = 4
"""Number of event terms in each round."""
_FOLD = ActionKind.FOLD
_RAISE = ActionKind.RAISE


class ActionTerms:
    """Terms of the actions of players with known policies, as `logs.variance.reduction.HandCorrections`.

    At a decision, the expectation of a function over the policy's probabilities, less its value after the action taken,
    has mean 0. A player's columns are

    - the value term: the expected share of the pot with all hole cards known, times the pot, less the chips put in;
    - four event terms per round: "does not fold" and "raises", each with and without the share less that of equals,
      times the pot in no-limit games. Estimators with weights learn from them the value of a bet beyond the pot.

    A decision without probabilities has no terms.

    Attributes:
        columns: columns of each player.
        ranges: columns of the means over holdings, by the names of the known players.
        estimates: column of the estimate by values less the chips won, by the names of the known players.
        doubts: by player, the reason to doubt that the policy is that of all its hands.
    """

    def __init__(
        self,
        game: Game,
        policies: Mapping[str, Policy],
        doubts: Mapping[str, str] | None = None,
        *,
        imagined: Sequence[HypotheticalHands] = (),
        valued: ValuedHands | None = None,
    ) -> None:
        self.doubts = dict(doubts or {})
        width = 1 + _EVENTS * game.num_rounds
        self._policies = dict(policies)
        self.columns = {name: range(at * width, (at + 1) * width) for at, name in enumerate(self._policies)}
        first = width * len(self._policies)
        self._imagined = tuple(imagined)
        self.ranges = {
            hands.names: range(first + 2 * at, first + 2 * at + 2) for at, hands in enumerate(self._imagined)
        }
        first += 2 * len(self._imagined)
        self._valued = valued
        self.estimates: dict[tuple[str, ...], int] = {}
        if valued is not None:
            self.estimates = {names: first + at for at, names in enumerate(valued.names)}
        self._width = first + len(self.estimates)

    def terms(self, record: HandRecord, stream: int) -> Terms:
        """Return the terms of a hand.

        Raises:
            PolicyError: a policy has probability 0 for a player's action, so it is not that of the player.
        """
        game = record.game
        terms = Terms(game.num_players, self._width)
        known = [name if name in self._policies else None for name in record.names]
        for betting, action in decisions(record.betting):
            name = known[betting.acting_position]
            if name is not None:
                chances = self._chances(record, name, betting, betting.acting_position, action)
                if chances is not None:
                    _add(terms, self.columns[name].start, betting, chances, action)
        for hands in self._imagined:
            terms.constants[:, self.ranges[hands.names]] = hands.columns(record, stream)
        if self._valued is not None:
            terms.constants[:, list(self.estimates.values())] = self._valued.columns(record)
        return terms

    def _chances(
        self, record: HandRecord, name: str, betting: BettingState, position: Position, action: Action
    ) -> Mapping[Action, float] | None:
        try:
            chances = policy_at(self._policies[name], view_at(betting, record.deal, record.hand_number))
        except PolicyError as error:
            raise PolicyError(f"{name}: {error}") from error
        if chances is not None and not chances.get(action) and not _is_certain(chances, action):
            raise no_chance(record, position, action)
        return chances


def _is_certain(chances: Mapping[Action, float], action: Action) -> bool:
    """Return whether a policy has a possible action of this kind that states no size."""
    return any(chance and option.kind == action.kind and not action.hand_total for option, chance in chances.items())


def _add(terms: Terms, first: int, betting: BettingState, chances: Mapping[Action, float], action: Action) -> None:
    game = betting.game
    position = betting.acting_position
    known = game.board_cards_by_round[betting.round]
    members = (1 << game.num_players) - 1 & ~betting.folded
    pot = float(betting.pot)
    # By kind, the probability less what came, and what these put in on average.
    differences = [0.0, 0.0, 0.0]
    added = put_in = 0.0
    for option, chance in [*chances.items(), (action, -1.0)]:
        chips = float(chips_of(betting, option))
        differences[option.kind] += chance
        if option.kind != _FOLD:
            added += chance * (pot + chips)
            put_in += chance * chips
    stays = PotRow(members, known)
    leaves = PotRow(members & ~(1 << position), known)
    if differences[_FOLD]:
        terms.add(leaves, first, differences[_FOLD] * pot)
    if added:
        terms.add(stays, first, added)
    terms.constants[position, first] -= put_in
    scale = float(game.big_blind) if game.is_limit else pot
    equals = 1 / members.bit_count()
    column = first + 1 + _EVENTS * betting.round
    # To fold is not to stay in: the sum of the other two would leave rounding where no player may fold.
    for difference in (-differences[_FOLD], differences[_RAISE]):
        if difference:
            weight = difference * scale
            terms.add(stays, column, weight)
            terms.constants[:, column] -= weight * equals
            terms.constants[:, column + 1] += weight
        column += 2
