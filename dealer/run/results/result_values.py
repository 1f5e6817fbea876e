"""Values of results, from which ``result.json`` and its documentation are generated.

`SCHEMA_VERSION` increases when a field changes its meaning or is removed, not when one is added.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    TypeAdapter,
    ValidatorFunctionWrapHandler,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

from dealer.errors import Cause
from dealer.match import causes
from dealer.match.causes import Failure
from dealer.match.ending_sentences import UNKNOWN_CAUSE, failure_sentence
from dealer.run.choices import Format, Interval, Score, Seating
from dealer.run.ending import Outcome, policy_doubt
from engine.text import clean
from logs.estimation import Estimate, LargestLoss, Rate, Verdict, opponent_of
from logs.variance.estimates import GameEstimates, Text

SCHEMA_VERSION: Final = 4
_MAX_LINE_BYTES = 200
"""Length to which a player's line is cut. Sentences quote less of it."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class EstimateData(_Frozen):
    """An estimate in JSON, in thousandths of a big blind per hand."""

    mean: float = Field(description="mean winnings per hand")
    half_width_95: float | None = Field(
        description="half the 95 % interval of mean; null with too few deals, and in training"
    )
    standard_error: float | None = Field(
        None, description="standard error of mean; null for fewer than two deals, in training, and in files without it"
    )
    guaranteed_half_width: float | None = Field(
        None, description="half the 95 % interval of mean for any distribution of winnings; null as half_width_95"
    )


class _AsEstimateData:
    """Read and write an `Estimate` as `EstimateData`."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        data_schema = handler.generate_schema(EstimateData)
        return core_schema.no_info_wrap_validator_function(
            cls._read,
            data_schema,
            serialization=core_schema.plain_serializer_function_ser_schema(cls._write, return_schema=data_schema),
        )

    @staticmethod
    def _read(value: Any, handler: ValidatorFunctionWrapHandler) -> Estimate:
        if isinstance(value, Estimate):
            return value
        data = handler(value)
        return Estimate(data.mean, data.half_width_95, data.standard_error, data.guaranteed_half_width)

    @staticmethod
    def _write(estimate: Estimate) -> EstimateData:
        return EstimateData(
            mean=estimate.mean,
            half_width_95=estimate.half_width,
            standard_error=estimate.error,
            guaranteed_half_width=estimate.guaranteed_half_width,
        )


JsonEstimate: TypeAlias = Annotated[Estimate, _AsEstimateData]


class Winnings(_Frozen):
    """Winnings of a player, estimated with and without the luck of the cards."""

    raw: JsonEstimate = Field(description="chips as won")
    corrected: JsonEstimate | None = Field(
        default=None, description="without the luck of the cards; null if not computed"
    )
    aivat: JsonEstimate | None = Field(
        default=None,
        description="without the luck of the cards and of the choices of known players; null if not computed",
    )


class PlayerWinnings(Winnings):
    """Winnings of a player of a contest, also with the intervals of a claim about the winner."""

    best: JsonEstimate = Field(
        description="raw, as the best of all players; with three or more players its interval is wider than that of raw"
    )
    corrected_best: JsonEstimate | None = Field(default=None, description="corrected, as the best of all players")


def winnings_columns(won: Winnings | None) -> dict[str, float | None]:
    """Winnings as columns of a flat table, with the same names in CSV and data frames."""
    columns = _estimate_columns("", None if won is None else won.raw)
    columns |= _estimate_columns("corrected_", None if won is None else won.corrected)
    columns |= _estimate_columns("aivat_", None if won is None else won.aivat)
    return columns


def _estimate_columns(prefix: str, estimate: Estimate | None) -> dict[str, float | None]:
    figures: tuple[float | None, ...] = (None, None, None, None)
    if estimate is not None:
        figures = estimate.mean, estimate.half_width, estimate.error, estimate.guaranteed_half_width
    names = ("mbb_per_game", "half_width_95", "standard_error", "guaranteed_half_width")
    return {f"{prefix}{name}": figure for name, figure in zip(names, figures, strict=True)}


def _frame(rows: list[dict[str, Any]]) -> Any:
    """Convert rows to a pandas data frame.

    Raises:
        ImportError: pandas is not installed.
    """
    # Imported by name, because pandas is optional.
    try:
        pandas = importlib.import_module("pandas")
    except ModuleNotFoundError:
        raise ImportError("to_frame() needs pandas, which is not installed: pip install pandas") from None
    return pandas.DataFrame(rows)


def _html_table(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Format a table for a notebook. The first column names the row."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in heads)
    body = ""
    for name, *cells in rows:
        data = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        body += f"<tr><th>{escape(name)}</th>{data}</tr>"
    caption = f"<caption>{escape(title)}</caption>" if title else ""
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _figures(estimate: Estimate | None) -> str:
    if estimate is None:
        return ""
    if estimate.half_width is None:
        return f"{estimate.mean:+,.1f}"
    return f"{estimate.mean:+,.1f} ± {estimate.half_width:,.1f}"


class ModelUse(_Frozen):
    """Exchanges of a player with a language model, over all its matches and also those of hands that were replayed."""

    exchanges: int = Field(description="requests with an answer, and those that failed for good")
    decisions: int = Field(description="decisions for which the model was asked")
    asked_again: int = Field(description="decisions whose first answer was illegal or unreadable")
    fell_back: int = Field(description="decisions in which the player checked or folded instead of an answer")
    repeats: int = Field(description="requests repeated after a rate limit or a failure")
    tokens_in: int | None = Field(description="tokens of the requests; null if the endpoint states none")
    tokens_out: int | None = Field(description="tokens of the answers; null if the endpoint states none")
    cost: float | None = Field(description="in the currency of the endpoint; null if it states none")
    median_s: float = Field(description="median time of an exchange, in seconds")
    p99_s: float = Field(description="99th percentile of these times, in seconds")


class PlayerResult(_Frozen):
    """One player of a contest, over all its seats."""

    name: str = Field(description="in logs and tables")
    player: str = Field(description="as given: a built-in bot, a command or tcp")
    chips: float = Field(description="net chips over the hands counted")
    won: PlayerWinnings | None = Field(
        description="winnings per hand, against the opponent or the whole table; null before a deal is complete"
    )
    standard_deviation: float | None = Field(description="of one duplicate's score, in mbb/g; null for fewer than two")
    faults: dict[str, int] = Field(description="counts of this player's faults, by kind")
    first_fault: Text | None = Field(description="description of the first fault, with the line")
    restarts: int = Field(description="restarts of its process, or, for tcp, repeated waits for its client")
    actions: int = Field(description="number of answers")
    thinking_s: float = Field(description="total time of its answers")
    median_us: float | None = Field(description="median time of an answer, in microseconds")
    p99_us: float | None = Field(description="99th percentile of the answer times, in microseconds")
    exit_code: int | None = Field(
        description="exit code of the process that failed, negative for a signal; null if none did"
    )
    model: ModelUse | None = Field(None, description="exchanges with a language model; null without any")

    @property
    def policy_doubt(self) -> str:
        """Reason for which a known policy may not be that of all actions; empty if there is none."""
        if not self.faults:
            return ""
        return policy_doubt(self.name, sum(self.faults.values()))


class MatchSummary(_Frozen):
    """One match of a contest: one seating over one slice of the hands."""

    name: str = Field(description="of its files: NAME.log, NAME.tlog, ...")
    seats: list[str] = Field(description="names by seat")
    first_hand: int = Field(description="number of the first hand, from 0")
    hands: int = Field(description="hands finished")
    chips: list[float] = Field(description="by seat, over all finished hands")


class TrainingReport(_Frozen):
    """The memory of a learning player after all hands."""

    player: str = Field(description="its name")
    hands: int = Field(description="hands of the contest from which it learnt")
    memory: Text = Field(description="the file of its memory")
    own_file: Text | None = Field(description="the file that the player continues to write; null without one")
    problem: Text | None = Field(description="reason that own_file was not updated; null if it was")


class DealerReport(_Frozen):
    """The dealer's own overhead."""

    actions: int = Field(description="questions asked after an answer")
    us_per_action: float | None = Field(
        description="mean time from reading an answer to having sent the next question; null in process"
    )
    timeouts_per_million_actions: float | None = Field(description="timeouts of all players; null without actions")
    pauses: int = Field(
        0,
        description="pauses of more than 10 ms in which the dealer read no answers; they never count as time of "
        "a player",
    )
    paused_s: float = Field(0.0, description="their duration, over all matches")
    turned_away: int = Field(0, description="connections to players' ports without a version line or from others")


class FailureReport(_Frozen):
    """Failure of a match. Only `line` and `last_lines` hold text of players, which may reveal cards."""

    cause: str = Field(description="kind of the cause, such as NoAnswer, NotStarted or CannotPlay")
    names: list[Text] = Field(description="players of the match, by seat; empty for a cause without a player")
    seat: int | None = Field(description="seat of the player that failed, from 0; null if none did")
    hand_number: int = Field(description="number of the hand being played")
    facts: dict[str, Any] = Field(description="further facts about the cause; times in microseconds")
    line: Text = Field(description="line of the player that caused it, as Latin-1; empty without one")
    exit_code: int | None = Field(
        description="exit code of the player's process, negative for a signal; null if it had not exited by itself"
    )
    last_lines: list[Text] | None = Field(
        description="the last lines on the standard error of the player's process; null without a process"
    )
    cure: Text = Field(description="sentence with the remedy; empty if none is known")

    @classmethod
    def of(cls, failure: Failure) -> FailureReport:
        """Create the report of a failure."""
        cause = failure.cause
        line = b""
        seat = None
        own_fields: set[str] = set()
        if isinstance(cause, causes.PlayerCause):
            line = cause.line
            seat = cause.seat
            own_fields = {"seat", "line"}
        facts = _adapter(type(cause).__name__).dump_python(cause, mode="json", exclude=own_fields)
        for name, fact in facts.items():
            if isinstance(fact, str):
                facts[name] = clean(fact)
        return cls(
            cause=type(cause).__name__,
            names=list(failure.names),
            seat=seat,
            hand_number=failure.hand_number,
            facts=facts,
            line=line[:_MAX_LINE_BYTES].decode("latin-1"),
            exit_code=failure.exit_code,
            last_lines=None if failure.last_lines is None else list(failure.last_lines),
            cure=failure.cure,
        )

    @model_validator(mode="after")
    def _has_known_cause(self) -> FailureReport:
        self.failure()
        return self

    def failure(self) -> Failure:
        """Return the failure of the report.

        Raises:
            ValueError: the cause is unknown, or its facts are invalid.
        """
        facts = dict(self.facts)
        if self.seat is not None:
            facts |= {"seat": self.seat, "line": self.line.encode("latin-1")}
        return Failure(
            _adapter(self.cause).validate_python(facts),
            tuple(self.names),
            self.hand_number,
            self.exit_code,
            None if self.last_lines is None else tuple(self.last_lines),
            self.cure,
        )

    def sentence(self, *, shows_output: bool) -> str:
        """Compose the sentence of the failure.

        Args:
            shows_output: whether to quote lines and output of players.
        """
        return failure_sentence(self.failure(), shows_output=shows_output)


def public_sentence(report: FailureReport | None) -> str:
    """Compose the sentence of a failure without quotes of players. Results of older versions have no report."""
    return UNKNOWN_CAUSE if report is None else report.sentence(shows_output=False)


@cache
def _adapter(name: str) -> TypeAdapter[Cause]:
    """Return the converter for the facts of a kind of cause."""
    kind = vars(causes).get(name)
    if not isinstance(kind, type) or not issubclass(kind, causes.PlayerCause | causes.MatchCause):
        raise ValueError(f"there is no cause {name}")
    return TypeAdapter(kind)


class ContestResult(_Frozen):
    """Some players, one game, the same cards in every seating: the result of ``arena play``."""

    schema_version: int = Field(
        default=SCHEMA_VERSION, description="increases when a field changes its meaning or is removed"
    )
    kind: Literal["contest"] = Field(default="contest", description="kind of the result")
    game: str = Field(description="full name of the game")
    seed: int | str = Field(description="of the cards; of secret cards the fingerprint of their key")
    seating: Seating = Field(description="the seats as given, their rotations, or their permutations")
    seatings: int = Field(description="number of seatings of each deal")
    deals_asked: int = Field(description="requested deals, each to be played once in every seating")
    duplicates: int = Field(description="deals played in every seating: the units of the statistics")
    hands_counted: int = Field(description="duplicates times seatings")
    hands_played: int = Field(description="hands finished, counted or not")
    outcome: Outcome = Field(
        description="finished (all deals played), stopped (by the stop rule), failed (fault or error), or interrupted"
    )
    reason: Text = Field(description="sentence about the end; it quotes output of players, which may reveal cards")
    cause: FailureReport | None = Field(
        None, description="cause of the failure; null for another outcome, and in files of older versions"
    )
    stop: str = Field(description="the stop rule, as given")
    score: Score = Field(Score.RAW, description="the scores that the stop rule used")
    known: list[str] = Field(
        [], description="players whose strategy AIVAT knows, whether it was computed or not; empty with --score raw"
    )
    valuation_s: float | None = Field(
        None, description="rough processor time of AIVAT for hands_counted, in seconds; null if it is unknown"
    )
    verdict: Verdict | None = Field(description="of a sequential test, about the first player")
    interval: Interval = Field(
        description="half_width_95 holds for a number of deals set beforehand (fixed), the same for any distribution "
        "of winnings (guaranteed, in files of older versions), or at every moment (any time); none in training"
    )
    largest_loss: LargestLoss | None = Field(
        None,
        description="most that a player can lose in a hand, in mbb, and whether that is a whole stack; null in files "
        "of older versions",
    )
    seconds: float = Field(description="wall time of the last run, without earlier interrupted ones")
    hands_per_second: float = Field(description="of the last run")
    folder: Text | None = Field(description="folder of the files; null without files")
    resume: Text | None = Field(description="the command that resumes the run; null if nothing is left to play")
    players: list[PlayerResult] = Field(description="in the order given")
    matches: list[MatchSummary] = Field(description="by seating and slice")
    training: list[TrainingReport] = Field(
        default=[], description="memories of learning players; empty without one, and until all hands are played"
    )
    dealer: DealerReport = Field(description="the dealer's own overhead")
    sentence: Text = Field(description="sentence about the result")
    estimates: GameEstimates | None = Field(
        default=None,
        description="win rates by several estimators, for a play with corrected scores or after arena luck RUN --save",
    )

    def rate(self, player: str | None = None) -> Rate | None:
        """Return a player's rate against its opponent or the table; None without a complete deal.

        Args:
            player: name of the player; the first player by default.

        Raises:
            KeyError: there is no such player.
        """
        row = self._player(player)
        return None if row.won is None else self._rate(row, row.won.raw)

    def corrected_rate(self, player: str | None = None) -> Rate | None:
        """Return a player's rate without the luck of the cards; None if it was not computed.

        Args:
            player: name of the player; the first player by default.

        Raises:
            KeyError: there is no such player.
        """
        row = self._player(player)
        if row.won is None or row.won.corrected is None:
            return None
        return self._rate(row, row.won.corrected)

    def aivat_rate(self, player: str | None = None) -> Rate | None:
        """Return a player's rate by AIVAT; None if it was not computed.

        Args:
            player: name of the player; the first player by default.

        Raises:
            KeyError: there is no such player.
        """
        row = self._player(player)
        if row.won is None or row.won.aivat is None:
            return None
        return self._rate(row, row.won.aivat)

    def judged_rate(self, player: str | None = None) -> Rate | None:
        """Return a player's rate by the scores of the stop rule; by its chips if those were not computed.

        Raises:
            KeyError: there is no such player.
        """
        match self.score:
            case Score.CORRECTED:
                rate = self.corrected_rate(player)
            case Score.AIVAT:
                rate = self.aivat_rate(player)
            case _:
                rate = None
        return rate or self.rate(player)

    def _player(self, name: str | None) -> PlayerResult:
        if name is None:
            return self.players[0]
        return {player.name: player for player in self.players}[name]

    def _rate(self, player: PlayerResult, estimate: Estimate) -> Rate:
        return Rate.from_estimate(estimate, player.name, self.opponent_of(player.name))

    @property
    def contests(self) -> list[ContestResult]:
        """This contest, for code that also handles tournaments."""
        return [self]

    def to_frame(self) -> Any:
        """Convert the players to a pandas data frame, with the fields of `PlayerResult` and winnings as columns.

        Raises:
            ImportError: pandas is not installed.
        """
        rows = [
            player.model_dump(exclude={"won"}) | winnings_columns(player.won) | {"faults": sum(player.faults.values())}
            for player in self.players
        ]
        return _frame(rows)

    def _repr_html_(self) -> str:
        """Format the result for a notebook."""
        rows = [
            {
                "player": player.name,
                "mbb/g ± 95 %": _figures(self.rate(player.name)),
                "AIVAT": _figures(self.aivat_rate(player.name)),
                "without luck": _figures(self.corrected_rate(player.name)),
                "chips": f"{player.chips:+,.10g}",
                "faults": f"{sum(player.faults.values()):,}",
            }
            for player in self.players
        ]
        heads = [head for head in rows[0] if any(row[head] for row in rows)]
        table = ""
        if self.duplicates:
            table = _html_table("", heads, [[row[head] for head in heads] for row in rows])
        return f"<p>{escape(self.sentence)}</p>{table}"

    def opponent_of(self, player: str) -> str:
        """Return the opponent named in a player's rate: its only one, or the table."""
        return opponent_of(player, [row.name for row in self.players])


class CrosstableCell(_Frozen):
    """The winnings of one bot in the contests that include another."""

    player: str = Field(description="the bot of the row")
    opponent: str = Field(description="the bot of the column")
    won: Winnings = Field(
        description="winnings of player per hand; corrected is null unless all contests of the game have it"
    )
    hands: int = Field(description="hands of these contests that count")

    @property
    def rate(self) -> Rate:
        """Rate of the player, without the luck of the cards if it was computed."""
        return _decisive_rate(self.won, self.player, self.opponent)


def _decisive_rate(won: Winnings, player: str, opponent: str) -> Rate:
    return Rate.from_estimate(won.raw if won.corrected is None else won.corrected, player, opponent)


class Rank(_Frozen):
    """One player's place in a ranking."""

    place: int = Field(description="from 1; players whose bankrolls are equal share one")
    player: str = Field(description="its name")
    confidence: float | None = Field(
        description="share of bootstrap samples in which this player has this place; null with too few deals, or with "
        "one contest"
    )


class GameStandings(_Frozen):
    """The rankings in one game."""

    game: str = Field(description="full name of the game")
    won: dict[str, Winnings] = Field(
        description="by name: mean winnings per hand over a player's contests, with equal weights; corrected is null "
        "unless all contests have it"
    )
    crosstable: list[CrosstableCell] = Field(description="a cell for every ordered pair of bots")
    total_bankroll: list[Rank] = Field(description="ranking by mean winnings")
    instant_runoff: list[Rank] = Field(description="ranking by repeated removal of the last player")
    unfinished: list[str] = Field(
        default=[], description="bots without a finished contest; those without a complete deal have no place"
    )

    @property
    def bots(self) -> list[str]:
        """All bots by place, followed by those without a place."""
        ranked = [rank.player for rank in self.total_bankroll]
        return [*ranked, *(name for name in self.unfinished if name not in ranked)]

    @property
    def mean_rates(self) -> dict[str, Rate]:
        """Rates against the field by name, without the luck of the cards if it was computed."""
        return {name: _decisive_rate(won, name, "the field") for name, won in self.won.items()}

    @property
    def is_corrected(self) -> bool:
        """All rates are without the luck of the cards."""
        return bool(self.won) and all(won.corrected is not None for won in self.won.values())


class TournamentResult(_Frozen):
    """Several contests: the result of ``arena tournament``."""

    schema_version: int = Field(
        default=SCHEMA_VERSION, description="increases when a field changes its meaning or is removed"
    )
    kind: Literal["tournament"] = Field(default="tournament", description="kind of the result")
    format: Format = Field(description="who meets whom")
    outcome: Outcome = Field(description="as of a contest")
    reason: Text = Field(description="sentence about the end")
    players: list[str] = Field(description="names, in the order given")
    contests: list[ContestResult] = Field(description="those played so far")
    standings: list[GameStandings] = Field(description="one per game")
    seconds: float = Field(description="wall time of the last run, without earlier interrupted ones")
    folder: Text | None = Field(description="folder of the files; null without files")
    resume: Text | None = Field(description="the command that resumes the run; null if nothing is left to play")
    sentence: Text = Field(description="sentence about the result")

    def to_frame(self) -> Any:
        """Convert the crosstables to a pandas data frame, with a row per game and ordered pair of bots.

        Raises:
            ImportError: pandas is not installed.
        """
        rows = [
            {"game": standings.game, **cell.model_dump(exclude={"won"}), **winnings_columns(cell.won)}
            for standings in self.standings
            for cell in standings.crosstable
        ]
        return _frame(rows)

    def _repr_html_(self) -> str:
        """Format the crosstable of each game for a notebook."""
        tables = []
        for standings in self.standings:
            rates = {(cell.player, cell.opponent): cell.rate for cell in standings.crosstable}
            means = standings.mean_rates
            rows = []
            for name in standings.bots:
                cells = [_figures(rates.get((name, opponent))) for opponent in standings.bots]
                rows.append((name, *cells, _figures(means.get(name))))
            without_luck = ", without luck" if standings.is_corrected else ""
            title = f"{standings.game}: mbb/g of row against column{without_luck}, ± 95 %"
            tables.append(_html_table(title, ("", *standings.bots, "mean"), rows))
        return f"<p>{escape(self.sentence)}</p>{''.join(tables)}"


AnyResult: TypeAlias = ContestResult | TournamentResult
