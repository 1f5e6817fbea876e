"""Runs matches: listeners, seats, clocks, faults, bots started as processes, results, the command line."""

import logging

logging.getLogger(__name__).addHandler(logging.NullHandler())
