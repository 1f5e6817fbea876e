"""Documents about results of play, which commands and pages render.

- `result_documents`: contests and tournaments as documents, and the tables that pages and reports take from them
- `run_lists`: the runs in a folder as a list
- `leak_report`: the decisions in which a player loses, in sentences, tables and a document
- `gate_report`: a verdict and a JUnit report for build servers
- `run_report`: the report about runs
"""
