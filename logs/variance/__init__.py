"""How much of a result was luck, and win rates with less of it: duplicate, all-in adjusted, chance-corrected, AIVAT.

- `terms`: what chance brought in a hand beyond its expectation, as numbers whose mean is 0, and the expected shares of
  pots these are made of
- `cross_fitting`: sums over deals, and weights fitted on other deals than those they correct
- `correction`: single hands chance-corrected, for stop rules that look while hands are played
- `reduction`: hands in, win rates by all estimators out
- `estimates`: these as data
"""
