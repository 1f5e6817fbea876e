"""What the publications behind the bots claim: printed figures compared with ours, with verdicts.

    report    the values of a report, its verdicts, and its page: one renderer for all of them
    evolved   an agent of ten-handed limit hold'em, evolved; evolved_play has how it plays
    kuhn      Kuhn poker by genetic algorithms; kuhn_runs has the printed figures and the runs, kuhn_sections the tables
    learner   a player that remembers what each decision earned
    lp_mc     an equilibrium before the flop and a simulation after it
    rembrant  a rule bot of the ACPC 2011

Each study has a `bots.studies.report.Report` that `arena study NAME` prints and writes as a page.
"""
