"""What the work claims about Kuhn poker, and what became of each claim.

experiments   the runs behind its tables and figures          gathering   those runs in a folder
printed       what the work prints                            figures     figures over seeds, and how they are told
charts        fitness by generation                           report      all of it together
against_models · studies · against_rivals                     its sections
"""
