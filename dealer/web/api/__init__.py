"""Interface for programs: JSON under ``/api/v1``, described by ``/api/v1/openapi.json``.

`operations` has one function per address and `models` the types of requests and responses. FastAPI makes the routes and
the description from both. `join_socket` is the WebSocket of `arena join`.
"""
