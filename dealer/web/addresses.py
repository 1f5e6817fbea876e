"""The addresses of runs, contests, matches and hands; they stay."""

from __future__ import annotations

from urllib.parse import quote


def _path(text: str) -> str:
    return quote(text, safe="/")


def run_path(run: str) -> str:
    """The address of a run."""
    return f"/runs/{quote(run, safe='')}"


def match_path(run: str, match: str) -> str:
    """The address of a match."""
    return f"{run_path(run)}/matches/{_path(match)}"


def contest_path(run: str, contest: str) -> str:
    """The address of a contest."""
    return f"{run_path(run)}/contest/{_path(contest)}"


def hand_path(run: str, match: str, number: int) -> str:
    """The address of a hand."""
    return f"{match_path(run, match)}/hands/{number}"
