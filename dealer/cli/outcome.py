"""The result of a run for people: tables, a sentence, where the files are."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from dealer.cli.console import Terminal
from dealer.cli.streams import EXIT_FAILED, EXIT_INTERRUPTED
from dealer.run.crosstable import crosstable_rows, crosstable_title, ranking_rows
from dealer.run.ending import Outcome
from dealer.run.results import ContestResult, GameStandings, Interval, PlayerResult, TournamentResult
from dealer.run.sentences import three_digits
from logs.estimation.mean import signed
from protocol.game_definition import short_name


def exit_code(outcome: Outcome) -> int:
    """The exit code of a command whose run ended so."""
    return {Outcome.FAILED: EXIT_FAILED, Outcome.INTERRUPTED: EXIT_INTERRUPTED}.get(outcome, 0)


def show_contest(terminal: Terminal, result: ContestResult, *, quiet: bool, verbose: bool = False) -> None:
    """Print a contest for people; `quiet` leaves the sentence only, `verbose` adds the dealer's overhead."""
    if not quiet and result.duplicates:
        _show_players(terminal, result)
    if not quiet:
        for player in result.players:
            if player.first_fault:
                terminal.sentence(f"{player.name}: first fault: {player.first_fault}.")
    terminal.sentence(result.sentence)
    if not quiet:
        if verbose:
            terminal.sentence(_dealer_line(result))
        terminal.sentence(f"Seed {result.seed}, {result.hands_per_second:,.0f} hands/s. Files are in {result.folder}")
    if result.resume is not None:
        terminal.print(f"Resume with: {result.resume}")


def _show_players(terminal: Terminal, result: ContestResult) -> None:
    interval = "± 95 %, any time" if result.interval is Interval.ANY_TIME else "± 95 %"
    unknown = "training" if result.interval is Interval.NONE else "too few"
    rows: list[list[str | Text]] = [
        [
            Text(player.name, _style(player)),
            Text("-" if player.mbb_per_game is None else signed(player.mbb_per_game, 1), _style(player)),
            unknown if player.half_width_95 is None else f"{player.half_width_95:,.1f}",
            _error(player.standard_error),
            f"{player.chips:+,.10g}",
            f"{result.hands_counted:,}",
            _faults(player),
            _time(player.median_us),
            _time(player.p99_us),
        ]
        for player in result.players
    ]
    terminal.table(["player", "mbb/g", interval, "SE", "chips", "hands", "faults", "median", "99 %"], rows)
    corrected = [
        [
            player.name,
            signed(player.corrected_mbb_per_game, 1),
            "too few" if player.corrected_half_width_95 is None else f"{player.corrected_half_width_95:,.1f}",
            _error(player.corrected_standard_error),
        ]
        for player in result.players
        if player.corrected_mbb_per_game is not None
    ]
    if corrected:
        terminal.table(["without luck", "mbb/g", interval, "SE"], corrected)


def _style(player: PlayerResult) -> str:
    """Green for a player whose win rate is above 0 beyond its interval, red for one below."""
    rate, half_width = player.mbb_per_game, player.half_width_95
    if rate is None or half_width is None or abs(rate) <= half_width:
        return ""
    return "bold green" if rate > 0 else "red"


def _error(error: float | None) -> str:
    return "-" if error is None else f"{error:,.1f}"


def _faults(player: PlayerResult) -> str:
    texts = [f"{count:,} {name}" for name, count in player.faults.items()]
    if player.restarts:
        what = "awaited again" if player.player == "tcp" else "restarted"
        texts.append(f"{what} {'once' if player.restarts == 1 else f'{player.restarts:,} times'}")
    return ", ".join(texts) or "0"


def _time(time_us: float | None) -> str:
    if time_us is None:
        return "-"
    for limit, unit, size in ((1e3, "µs", 1.0), (1e6, "ms", 1e3)):
        if time_us < limit:
            return f"{time_us / size:.3g} {unit}"
    return f"{three_digits(time_us / 1e6)} s"


def _dealer_line(result: ContestResult) -> str:
    dealer = result.dealer
    parts = []
    if dealer.us_per_action is not None:
        parts.append(f"{dealer.us_per_action:,.0f} µs per action")
    if dealer.timeouts_per_million_actions is not None:
        parts.append(f"{three_digits(dealer.timeouts_per_million_actions)} timeouts per million actions")
    return f"Dealer: {', '.join(parts) or 'no action was measured'}."


def show_tournament(terminal: Terminal, result: TournamentResult, *, quiet: bool) -> None:
    """Print a tournament for people; `quiet` leaves the sentence only."""
    if not quiet:
        for standings in result.standings:
            if not standings.total_bankroll:
                continue
            terminal.print(f"\n{short_name(standings.game)}", style="bold")
            first, *rows = crosstable_rows(standings)
            terminal.table(first, rows, title=crosstable_title(standings))
            first, *rows = ranking_rows(standings)
            terminal.table(first, rows, left=(1, 3))
            _show_entrants(
                terminal, standings, [contest for contest in result.contests if contest.game == standings.game]
            )
        for contest in result.contests:
            for player in contest.players:
                if player.first_fault:
                    names = " - ".join(other.name for other in contest.players)
                    terminal.sentence(f"{names}: {player.name}: first fault: {player.first_fault}.")
        for contest in result.contests:
            if not contest.outcome.is_complete and result.outcome is not Outcome.INTERRUPTED:
                names = " - ".join(player.name for player in contest.players)
                terminal.sentence(f"{names} ({short_name(contest.game)}) ended early: {contest.reason}")
    terminal.sentence(result.sentence)
    if not quiet:
        terminal.sentence(f"Files are in {result.folder}")
    if result.resume is not None:
        terminal.print(f"Resume with: {result.resume}")


def _show_entrants(terminal: Terminal, standings: GameStandings, contests: Sequence[ContestResult]) -> None:
    """What each bot did in all its contests, and how fast: hands per second of its own time."""
    rows = []
    for rank in standings.total_bankroll:
        played = [(contest, player) for contest in contests for player in contest.players if player.name == rank.player]
        hands = sum(contest.hands_played for contest, _ in played)
        thinking_s = sum(player.thinking_s for _, player in played)
        faults = sum(sum(player.faults.values()) for _, player in played)
        speed = three_digits(hands / thinking_s) if thinking_s else "-"
        rows.append([rank.player, f"{len(played):,}", f"{hands:,}", f"{faults:,}", speed])
    terminal.table(["bot", "contests", "hands", "faults", "hands/s of its own time"], rows)
