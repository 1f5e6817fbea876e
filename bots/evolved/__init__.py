"""The evolved agent: ten-handed limit hold'em, charts before the flop and a chromosome of 5,040 genes after it.

Re-made from a final degree project of the Universidad Carlos III de Madrid (2012), "000" in `docs/gap-fillings.md`,
which also lists what the text leaves open and how it is filled here.
"""
