"""The interface for programs: JSON under ``/api/v1``, described by ``/api/v1/openapi.json``.

An address is an `operations.Operation`: its path, the scope that it needs, the models of what goes in and comes out.
The routes and the description are made from the same values, so neither can differ from the other.
`join_socket` is the WebSocket of `arena join`.
"""
