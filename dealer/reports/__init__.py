"""Results of play in words and as documents, which every medium shows; `dealer.run` knows nothing of them.

- `summary`: the results of contests and tournaments, made from what their matches counted
- `result_sentences`: who is ahead, how sure that is, why play ended; what a stop rule is likely to need
- `result_documents`: contests and tournaments as documents, and the tables that pages and reports take from them
- `run_lists`: the runs in a folder as a list
- `leak_report`: the decisions in which a player loses, in sentences, tables and a document
- `gate_report`: a verdict and a JUnit report for build servers
- `run_report`: the report about runs
"""
