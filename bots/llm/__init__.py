"""The player `llm`, which asks a language model for every decision.

- `prompts`: a state in words, from the rules of the game to the legal actions.
- `answers`: actions from the texts of a model.
- `endpoint`: requests to an OpenAI-compatible endpoint, repeated within a time limit.
- `bot`: the player.

Exchanges with the model are kept in a file of `logs.acpc_log.exchanges`.
"""
