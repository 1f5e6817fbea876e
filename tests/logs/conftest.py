"""Multiprocessing settings for the tests of logs."""

from __future__ import annotations

import multiprocessing
import os

import pytest

from logs.tracker import many_files


@pytest.fixture(autouse=True)
def _forked_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork processes from a server that has imported the modules, faster than spawning them."""
    if hasattr(os, "fork"):
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([many_files.__name__])
        monkeypatch.setattr("multiprocessing.get_context", lambda _: context)
