"""The policies of agents, asked in every information state of a tree."""

from collections.abc import Callable

import numpy as np

from cardenvs.agents.base import Agent, Turn
from cardenvs.agents.policy import PolicyAgent
from cardenvs.core.errors import AgentError
from cardenvs.core.rng import derived_seed
from cardenvs.core.state import State
from cardenvs.training.cfr.tree import Tree


def agent_policy(
    tree: Tree, agent: Agent, *, draws: int = 1000, seed: int = 0, on_progress: Callable[[int], None] | None = None
) -> tuple[np.ndarray, bool]:
    """Return an agent's policy, float64 (num_pairs,), and whether it is exact.

    Agents that state their policy (see `states_policy`) are asked, and "random" is uniform. Any other agent acts
    `draws` times in each information state, each time with a new seed and without memory of earlier turns.

    Args:
        tree: tree of the game that the agent plays.
        agent: plays every seat.
        draws: how often the agent acts in an information state, if it does not state its policy.
        seed: seed of these draws.
        on_progress: called with the number of information states done.

    Raises:
        AgentError: the agent chose an illegal action, or stated an invalid policy.
    """
    if isinstance(agent, PolicyAgent) and agent.policy == "random":
        return tree.uniform(), True
    stated = states_policy(agent)
    parts = []
    for number in range(tree.num_infosets):
        state = tree.state(number)
        parts.append(_stated(agent, state) if stated else _drawn(agent, state, draws, derived_seed(seed, number)))
        if on_progress is not None:
            on_progress(number + 1)
    return tree.normalised(np.concatenate(parts)), stated


def states_policy(agent: Agent) -> bool:
    """Return whether an agent has a method `probabilities(turn)` that says how it plays with any seed."""
    return hasattr(agent, "probabilities") and not getattr(agent, "is_seeded", False)


def _stated(agent: Agent, state: State) -> np.ndarray:
    turn = Turn(state, 0, _decisions_before(state))
    found = np.asarray(agent.probabilities(turn), np.float64)  # type: ignore[attr-defined]
    if found.shape != (len(turn.legal_actions),) or not (found >= 0).all() or not np.isclose(found.sum(), 1, atol=1e-4):
        raise AgentError(f"{agent.name} states an invalid policy, in decision {turn!r}")
    return found


def _drawn(agent: Agent, state: State, draws: int, seed: int) -> np.ndarray:
    legal, decision = state.legal_actions(), _decisions_before(state)
    counts = dict.fromkeys(legal, 0)
    for draw in range(draws):
        agent.reset(derived_seed(seed, draw))
        turn = Turn(state.clone(), derived_seed(seed, draw), decision)
        action = int(agent.act(turn))
        if action not in counts:
            raise AgentError(f"{agent.name} chose an illegal action, in {turn!r}")
        counts[action] += 1
    return np.array([*counts.values()], np.float64) / draws


def _decisions_before(state: State) -> int:
    """Return how many decisions the player to act has made before."""
    again = state.game.new_state(seed=0, deck=state.deck.tolist() or None, **state.options.as_dict())
    player, count = state.current_player, 0
    for action in state.actions:
        count += again.current_player == player
        again.apply(action)
    return count
