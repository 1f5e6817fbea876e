"""What the source works claim, and what became of each claim: printed figures beside ours, with intervals and verdicts.

    kuhn      Kuhn poker by genetic algorithms
    evolved   an agent of ten-handed limit hold'em, evolved
    learner   a player that remembers what each decision earned

Each has a report, a `bots.findings.Report`, that `arena study NAME` prints and writes as a page.
"""
