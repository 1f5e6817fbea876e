"""Kuhn poker, three larger games of the same three cards, and the evolution of strategies for them.

games      the four games, the genes of a strategy, the six players of the thesis, the equilibria
bot        the six players as bots
fitness    settings of an evolution, sampled and exact fitness
kernel     compiled hands
runs       runs in a folder, and exact values of strategies

Source: Paula López Pozuelo, "Genetic Algorithms in the Search for Optimal Kuhn Poker Strategies", MSc dissertation,
University College London, 2015.
"""
