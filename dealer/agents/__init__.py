"""Seats for agents that speak the Model Context Protocol, as `arena mcp` serves them.

`seat_data` describes a seat as JSON and as text. `agent_seats` has the calls of an agent. `local_seats` answers them
with matches of this machine, and `server_seats` with matches of a server. `agent_tools` makes tools of the calls, and
`agent_serving` serves them over standard streams or HTTP.
"""
