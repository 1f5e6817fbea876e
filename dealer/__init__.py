"""Runs matches: listeners, seats, clocks, faults, bots started as processes, results, the command line."""
