"""Agents by name, as on a command line.

A spec is the name of a policy of the game (`random`, `heuristic`), or the name of a kind and its argument: `search`,
`search:simulations=1000,playout=random`, `ppo:PATH`, `python:MODULE:NAME`. docs/arena.md has a table of all kinds.

Kinds are entry points (cardenvs.agents.kinds), and other packages may add more. Agents with code from outside cardenvs
are *guests*: nothing that they receive may reveal the deal. By default they run in separate processes.

A name in a list of agents ends at a comma that no `name=value` follows.
"""

from typing import Any

from cardenvs.agents.base import Agent
from cardenvs.agents.kinds import find_kind, kind_forms
from cardenvs.agents.parameters import PARAMETER
from cardenvs.agents.policy import PolicyAgent
from cardenvs.core.errors import AgentError
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.text import did_you_mean


def split_specs(text: str) -> list[str]:
    """Return the specs in a list separated by commas. A part that reads `name=value` belongs to the spec before it.

    Raises:
        AgentError: the list is empty, or has two commas in a row.
    """
    specs: list[str] = []
    for part in text.split(","):
        if specs and PARAMETER.match(part):
            specs[-1] += f",{part.strip()}"
        else:
            specs.append(part.strip())
    if not all(specs):
        raise AgentError(f"a list of agents is separated by single commas, as in random,search; got {text!r}")
    return specs


def is_guest(spec: str) -> bool:
    """Return whether a spec's agent has code from outside cardenvs."""
    kind = find_kind(spec.partition(":")[0])
    return kind is not None and kind.guest


def make_agent(spec: str, game: Game, options: Options) -> Agent:
    """Return the agent of a spec (see the top of this module) for a game. Its `name` is the spec. Close an agent that
    has a process after use.

    Raises:
        AgentError: there is no such kind, a parameter is wrong, or the result is not an agent.
        PolicyNotFoundError: the game has no such playout policy.
        MissingExtraError: an optional dependency is not installed.
    """
    kind = find_kind(spec.partition(":")[0])
    if kind is not None and kind.isolation == "process":
        from cardenvs.agents.guarded.process import ProcessAgent

        process = ProcessAgent.of_spec(spec, game, options)
        process.start()
        return process
    return load_agent(spec, game, options)


def load_agent(spec: str, game: Game, options: Options) -> Agent:
    """Return the agent of a spec, always loaded into this process, where its code can reach everything.

    Raises:
        AgentError, PolicyNotFoundError, MissingExtraError: as for `make_agent`.
    """
    name, _, argument = spec.partition(":")
    if name in game.engine.policy_names():
        if argument:
            raise AgentError(f"{name!r} takes no parameters; got {spec!r}")
        agent: Agent = PolicyAgent(game, name)
    else:
        kind = find_kind(name)
        if kind is None:
            raise AgentError(_unknown(name, game))
        agent = kind.make(argument, game, options)
    agent.name = spec
    return agent


def agent_fingerprint(spec: str) -> str:
    """Return a hash of the file or the model that a spec refers to, or "" if it refers to none.

    Raises:
        AgentError: the file cannot be read.
    """
    name, _, argument = spec.partition(":")
    kind = find_kind(name)
    return "" if kind is None else kind.fingerprint(argument)


def agent_conditions(spec: str, game: Game, options: Options) -> dict[str, Any]:
    """Return what may affect an agent's results besides its spec, as JSON values without secrets; {} for most agents.

    Raises:
        AgentError, MissingExtraError: the agent cannot be made.
    """
    name, _, argument = spec.partition(":")
    kind = find_kind(name)
    return {} if kind is None else kind.conditions(argument, game, options)


def _unknown(kind: str, game: Game) -> str:
    policies, forms = game.engine.policy_names(), kind_forms(game)
    hint = did_you_mean(kind, [*policies, *forms])
    return f"no agent {kind!r} for {game.name}; {hint}agents are: {', '.join([*policies, *forms.values()])}"
