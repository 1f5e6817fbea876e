"""Player that learns the mean reward of each decision in classes of similar states.

memory     constants, cells of states, rewards, the best decision, files
bot        the player `learner`, and its journal of a match
training   blocks of hands, each followed by a test without learning
kernel     compiled hands of the simple players and of learners
tuning     genetic search for the constants

Source: V. S. Fazio, "Algoritmos para um jogador inteligente de Poker", Universidade Federal de Santa Catarina, 2008,
section 3.4.5. Formulas 7 and 8 and the table of decisions are pictures that the available text lacks, and it prints no
results of the player.
"""
