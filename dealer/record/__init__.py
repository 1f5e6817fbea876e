"""What a match leaves on disk while it is played, and how an interrupted one goes on from there."""
