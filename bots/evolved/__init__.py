"""The evolved agent: ten-handed limit hold'em, charts before the flop and a chromosome of 5,040 genes after it.

chromosome   the charts, the genes, the decision of a gene, files; the shipped champion is one
kernel       the hands of a training, compiled
training     sets of deals, and the settings of an evolution: trainers by co-evolution, then a player
runs         evolutions in a folder, checked along the way
bot          a chromosome at the table

Source: J. Conrado Pérez-Fajardo, "Diseño y evaluación de una heurística de juego de póker", final degree project,
Universidad Carlos III de Madrid, 2012; `docs/gap-fillings.md` lists what its text leaves open and how it is filled.
"""
