"""What the work claims about Kuhn poker, and what became of each claim.

printed   what the work prints                                      runs     the experiments behind it, in a folder
report    all of it together                                        against_models · against_rivals   its sections
"""
