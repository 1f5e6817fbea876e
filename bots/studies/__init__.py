"""Claims of five publications about poker programs, judged by our own measurements.

claims      a claim, the rule of verdicts, judged claims
measured    measured figures and their files
study       the claims and tables of a publication, judged by stored figures, and measured again
measure_*   the measurements of each publication, with the modules that they need

``NAME.toml`` has the claims of a publication: printed figures, their places, and how ours are measured. Our figures are
in ``NAME.csv``.
"""
