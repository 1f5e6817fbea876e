"""One match: its rules of play, clocks, faults and events. No sockets, no files, no processes."""
