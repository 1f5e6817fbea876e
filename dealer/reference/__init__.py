"""`acpc-dealer`, the drop-in for the reference dealer of the Annual Computer Poker Competition."""
