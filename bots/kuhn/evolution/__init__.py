"""The evolution of strategies for Kuhn poker and the three larger games, on the toolkit of `bots.evolution`.

ends         what each pays, and how likely genes make it     kernel     the hands, compiled
evaluators   how fit strategies are, sampled or exact         settings   what a run is made of, and its mistakes
results      what a run found                                 runs       runs in a folder
files        strategies as text files
"""
