"""A seat at a table by the Model Context Protocol: what `cardenvs mcp` serves.

A session plays the games of matches (cardenvs.arena), one after another, in a thread of its own. `seat` is the agent
that the arena asks, and hands its turns to the client; `session` starts matches and answers the client; `server` makes
tools of that, with the official Python SDK. All that a client gets is made of its player's turns and events.
"""
