"""Evolved player for limit hold'em at tables of ten, with charts before the flop and 5,040 genes after it.

chromosome       the charts, the genes and their decisions, files of chromosomes
kernel           compiled hands of a training
training         sets of deals, settings and evaluation; trainers evolve together, then a player against them
training_hands   hands of a training as curves and as PokerStars histories
runs             evolutions in a folder, with checks of the best individual
report           documents about runs, with their charts
bot              the player `evolved`

Source: J. Conrado Pérez-Fajardo, "Diseño y evaluación de una heurística de juego de póker", final degree project,
Universidad Carlos III de Madrid, 2012; `research/tables/evolved.md` lists the points that its text leaves open.
"""
