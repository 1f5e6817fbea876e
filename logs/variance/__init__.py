"""Win rates with less variance: duplicate, all-in adjusted, chance-corrected, AIVAT.

- `terms`: terms of mean 0 that measure the luck of the cards in a hand, and the expected shares of pots in them
- `cross_fitting`: sums over deals, and estimates whose weights are fitted on other deals
- `correction`: chance-corrected values of single hands, for stop rules during a match
- `reduction`: all estimators over a stream of hands
- `estimates`: their results as a model and as a document
"""
