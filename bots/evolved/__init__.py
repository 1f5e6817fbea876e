"""The evolved agent: ten-handed limit hold'em, charts before the flop and a chromosome of 5,040 genes after it.

Re-made from a final degree project of the Universidad Carlos III de Madrid (2012); `docs/gap-fillings.md` lists what
its text leaves open and how it is filled here.

charts        what to do before the flop
chromosome    the genes, and the decision that a gene makes
deals         sets of deals for training
kernel        the hands played with them, compiled
training      the settings of an evolution: trainers by co-evolution, then a player
runs          evolutions in a folder
files         a chromosome as a file; the shipped champion is one
finished      the runs of a folder, read back
watching      a player watched at its table of ten
report        an evolution beside what was printed, on unseen deals, against other bots
bot           a chromosome at the table
"""
