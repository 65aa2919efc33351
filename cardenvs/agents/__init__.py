"""Agents: who plays. An agent sees a `Turn`, never the state.

    from cardenvs.agents import make_agent

    agent = make_agent("search:simulations=200", game, options)

The specs are those of the command line; see `cardenvs.agents.specs`.
"""

from cardenvs.agents.base import Agent, BatchAgent, Turn
from cardenvs.agents.policy import PolicyAgent
from cardenvs.agents.search import SearchAgent
from cardenvs.agents.specs import make_agent, split_specs

__all__ = ["Agent", "BatchAgent", "PolicyAgent", "SearchAgent", "Turn", "make_agent", "split_specs"]
