"""Kuhn poker and three larger games of the same three cards, and strategies for them as rows of genes.

games      the four games as trees, where each gene decides, the six players of the thesis, the equilibria
bot        the six players at the table
fitness    the settings of an evolution, and fitness by hands played or exact
kernel     the hands, compiled                                  runs   runs in a folder; exact values

Source: Paula López Pozuelo, "Genetic Algorithms in the Search for Optimal Kuhn Poker Strategies", MSc dissertation,
University College London, 2015.
"""
