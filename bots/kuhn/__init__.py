"""Kuhn poker and three larger games of the same three cards, and strategies for them as rows of genes.

games     the four games as trees, and where each gene decides          models    the six players of the work
values    exact values, best answers and payoffs of any two strategies
evolution/ how strategies evolve                                        claims/   what became of the work's claims

Source: C. López Pozuelo, "A genetic algorithm for Kuhn poker", University College London, 2015.
"""
