"""Information-set Monte Carlo tree search for every game; the method is described in `cardenvs.core.tree_search`.

`search` compares the actions of the moment, with the same policy for everybody from then on. A tree search also learns
how to go on: its own later decisions, and those of the others, follow what earlier rounds have found.

If a policy of the game plays out, its own action is chosen unless the most visited one is better by more than chance
explains. A small budget therefore does not make a good policy worse.

Others learn only in worlds in which the searching player holds their true cards. They adapt to these cards, so the
search neither bluffs nor hides what it knows.
"""

import time

import numpy as np

from cardenvs.agents.base import Agent, Turn
from cardenvs.agents.kinds import AgentKind
from cardenvs.agents.parameters import Reader, read_parameters
from cardenvs.agents.search import AHEAD, MOST_NOTED, check_limits
from cardenvs.agents.tree import RootActions, SearchTree
from cardenvs.core.errors import AgentError
from cardenvs.core.game import Game
from cardenvs.core.options import Options

_TIMED_ROUNDS = 8  # between two looks at the clock
_MOST_EXPLORATION = 1000.0


class ISMCTSAgent(Agent):
    """Information-set Monte Carlo tree search for any game.

    Attributes:
        simulations: playouts a decision, or None where `seconds` limits it.
        seconds: time a decision, or None.
        playout: name of the policy that plays out.
        depth: plies of a playout, or None for the whole game.
        exploration: weight of the term that favours actions with few visits, in standard deviations of the return.
    """

    def __init__(
        self,
        game: Game,
        simulations: int | None = None,
        seconds: float | None = None,
        playout: str | None = None,
        depth: int | None = None,
        exploration: float = 1.0,
    ) -> None:
        """Create a search agent for `game`.

        Args:
            game: the Game.
            simulations: playouts a decision, 1,000 by default. Results repeat exactly.
            seconds: time for each decision instead. Results then depend on the machine and do not repeat.
            playout: "random", or one of `game.policies`; by default the one that the game names.
            depth: plies of a playout beyond the tree after which it is cut, counting the rewards until then; None: play
                to the end.
            exploration: at least 0; with a larger one the tree is broader and less deep.

        Raises:
            PolicyNotFoundError: the game has no such policy.
            AgentError: a value is out of range, or both budgets are given.
        """
        check_limits("ismcts", simulations, seconds, depth)
        if not 0 <= exploration <= _MOST_EXPLORATION:
            raise AgentError(f"ismcts takes an exploration of 0 to {_MOST_EXPLORATION:,.0f}; got {exploration}")
        playout = playout or game.playout_policy
        game.engine.policy(playout)
        self.name = "ismcts"
        self.simulations = 1000 if simulations is None and seconds is None else simulations
        self.seconds, self.playout, self.depth, self.exploration = seconds, playout, depth, exploration

    def reset(self, seed: int) -> None:
        """Nothing to do: every decision grows a tree of its own."""

    def act(self, turn: Turn) -> int:
        """Return the action with most visits, or the playout policy's own if that is not clearly worse."""
        if len(turn.legal_actions) == 1:
            return turn.legal_actions[0]
        world = turn.determinize(turn.seed)
        tree = SearchTree(world, turn.seed, self.playout, self.depth, self.exploration)
        if self.simulations is not None:
            tree.grow(self.simulations)
        elif self.seconds is not None:
            deadline = time.perf_counter() + self.seconds
            tree.grow(_TIMED_ROUNDS)
            while time.perf_counter() < deadline:
                tree.grow(_TIMED_ROUNDS)
        found = tree.root_actions()
        _note(turn, tree.rounds, found)
        own = None if self.playout == "random" else turn.policy_action(self.playout)
        return _choice(turn.legal_actions, found, own)


def _choice(actions: list[int], found: RootActions, own: int | None) -> int:
    """Return the action with most visits, of these the one with the highest mean; `own` if it is not clearly worse."""
    best = int(found.most_visited()[0])
    if own is None or own not in actions:
        return actions[best]
    mine = actions.index(own)
    margin = AHEAD * float(np.hypot(found.error[best], found.error[mine]))
    return actions[best] if found.mean[best] - found.mean[mine] > margin else own


def _note(turn: Turn, rounds: int, found: RootActions) -> None:
    """Note the worlds tried, and the most visited actions with their mean returns and visits."""
    shown = [k for k in found.most_visited()[:MOST_NOTED].tolist() if found.visits[k]]
    turn.notes["search"] = {
        "worlds": rounds,
        "values": [[turn.label(turn.legal_actions[k]), round(float(found.mean[k]), 3)] for k in shown],
        "visits": [int(found.visits[k]) for k in shown],
    }


_PARAMETERS: dict[str, Reader] = {
    "simulations": int,
    "seconds": float,
    "playout": str,
    "depth": int,
    "exploration": float,
}


def _make(argument: str, game: Game, options: Options) -> Agent:
    return ISMCTSAgent(game, **read_parameters("ismcts", argument, _PARAMETERS))


ISMCTS = AgentKind(
    "ismcts",
    "ismcts",
    "information-set Monte Carlo tree search, 1,000 playouts a decision; parameters as for `search`, and "
    "`exploration`, as in `ismcts:simulations=500,exploration=0.7`; "
    "[which one to choose](agents.md#search-and-tree-search)",
    _make,
    guest=False,
    isolation="none",
)
