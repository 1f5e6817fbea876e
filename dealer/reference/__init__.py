"""Drop-in replacement for the reference dealer of the Annual Computer Poker Competition."""
