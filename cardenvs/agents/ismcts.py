"""Information-set Monte Carlo tree search for every game; the method is described in `cardenvs.core.tree_search`.

`search` compares only the current actions, with one playout policy for everybody afterwards. A tree search also
improves later decisions, its own and those of others, from what earlier rounds have found.

If a policy of the game plays out, its action is chosen unless the most visited one is better by more than chance
explains. A small budget therefore does not make a good policy worse.

With a network (`network=PATH`), its policy guides the search, and its values replace playouts.

With `sample=true`, actions are drawn in proportion to their visits: a mixed strategy, whose probabilities are known.

Other players learn only in worlds in which the searching player holds its true cards. They adapt to these cards, so
the search neither bluffs nor hides what it knows.
"""

import functools
import time

import numpy as np

from cardenvs.agents.base import MOST_NOTED, Agent, Turn, drawn_index
from cardenvs.agents.guides import guide_fingerprint, load_guide
from cardenvs.agents.kinds import AgentKind
from cardenvs.agents.parameters import Reader, read_parameters, truth
from cardenvs.agents.search import AHEAD, check_limits
from cardenvs.agents.tree import Evaluator, NetworkTree, RootActions, SearchTree, Tree
from cardenvs.core.errors import AgentError
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.state import State

_TIMED_ROUNDS = 8  # rounds between two looks at the clock
_MOST_EXPLORATION = 1000.0


class ISMCTSAgent(Agent):
    """Information-set Monte Carlo tree search for any game.

    Attributes:
        simulations: playouts per decision, or None if `seconds` limits it.
        seconds: time per decision, or None.
        playout: name of the playout policy.
        depth: most plies of a playout, or None for the whole game.
        exploration: weight of the term that favours actions with few visits, in standard deviations of the return.
        network: gives priors and values instead of playouts, or None.
        sample: whether it draws actions by their visits.
    """

    is_seeded = True  # its probabilities are those of one tree

    def __init__(
        self,
        game: Game,
        simulations: int | None = None,
        seconds: float | None = None,
        playout: str | None = None,
        depth: int | None = None,
        exploration: float = 1.0,
        network: Evaluator | None = None,
        sample: bool = False,
    ) -> None:
        """Create a search agent for `game`.

        Args:
            game: the Game.
            simulations: playouts per decision, 1,000 by default. Results repeat exactly.
            seconds: time per decision instead. Results then depend on the machine and do not repeat.
            playout: "random", or one of `game.policies`; default: the game's playout policy.
            depth: plies beyond the tree after which a playout is cut; rewards until then count. None: play to the end.
            exploration: at least 0; larger values make the tree broader and less deep.
            network: a trained network whose policy guides the search and whose values replace playouts.
            sample: draw actions in proportion to their visits instead of taking the best one.

        Raises:
            PolicyNotFoundError: the game has no such policy.
            AgentError: a value is out of range, both budgets are given, or a network is given with playout settings.
        """
        if network is not None and (playout is not None or depth is not None):
            raise AgentError("ismcts takes a network or playout and depth: with a network there are no playouts")
        check_limits("ismcts", simulations, seconds, depth)
        if not 0 <= exploration <= _MOST_EXPLORATION:
            raise AgentError(f"ismcts takes an exploration of 0 to {_MOST_EXPLORATION:,.0f}; got {exploration}")
        playout = playout or game.playout_policy
        game.engine.policy(playout)
        self.name = "ismcts"
        self.simulations = 1000 if simulations is None and seconds is None else simulations
        self.seconds, self.playout, self.depth, self.exploration = seconds, playout, depth, exploration
        self.network, self.sample = network, sample

    def reset(self, seed: int) -> None:
        """Do nothing: every decision grows a new tree."""

    def act(self, turn: Turn) -> int:
        """Return the most visited action, or the playout policy's action if that is not clearly worse.

        If it samples, return an action drawn by visits, whatever the policy's.

        Raises:
            FormatError: the network was not trained on this game.
        """
        if len(turn.legal_actions) == 1:
            return turn.legal_actions[0]
        found = self._searched(turn)
        if self.sample:
            return turn.legal_actions[drawn_index(found.shares(), turn.seed)]
        has_own = self.network is None and self.playout != "random"
        return _choice(turn.legal_actions, found, turn.policy_action(self.playout) if has_own else None)

    def probabilities(self, turn: Turn) -> np.ndarray:
        """Return the probabilities of `turn.legal_actions`, float64 (n,), given the tree that the turn's seed grows.

        If it samples, they are the shares of the visits; otherwise one of them is 1.

        Raises:
            FormatError: the network was not trained on this game.
        """
        if self.sample and len(turn.legal_actions) > 1:
            return self._searched(turn).shares()
        return np.equal(turn.legal_actions, self.act(turn)).astype(np.float64)

    def _searched(self, turn: Turn) -> RootActions:
        """Return what a new tree finds, and note it."""
        tree = self._tree(turn.determinize(turn.seed), turn.seed)
        if self.simulations is not None:
            tree.grow(self.simulations)
        elif self.seconds is not None:
            deadline = time.perf_counter() + self.seconds
            tree.grow(_TIMED_ROUNDS)
            while time.perf_counter() < deadline:
                tree.grow(_TIMED_ROUNDS)
        found = tree.root_actions()
        _note(turn, tree.rounds, found)
        return found

    def _tree(self, world: State, seed: int) -> Tree:
        if self.network is not None:
            return NetworkTree(world, seed, self.network, self.exploration)
        return SearchTree(world, seed, self.playout, self.depth, self.exploration)


def _choice(actions: list[int], found: RootActions, own: int | None) -> int:
    """Return the most visited action, ties broken by mean return; `own` if that is not clearly worse."""
    best = int(found.most_visited()[0])
    if own is None or own not in actions:
        return actions[best]
    mine = actions.index(own)
    margin = AHEAD * float(np.hypot(found.error[best], found.error[mine]))
    return actions[best] if found.mean[best] - found.mean[mine] > margin else own


def _note(turn: Turn, rounds: int, found: RootActions) -> None:
    """Note the number of worlds, and the most visited actions with their mean returns and visits."""
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
    "network": str,
    "sample": truth,
}


def _make(argument: str, game: Game, options: Options) -> Agent:
    values = read_parameters("ismcts", argument, _PARAMETERS)
    if "network" in values:
        values["network"] = load_guide("ismcts", values["network"], game, options)
    return ISMCTSAgent(game, **values)


ISMCTS = AgentKind(
    "ismcts",
    "ismcts",
    "information-set Monte Carlo tree search, 1,000 playouts a decision; parameters as for `search`, and "
    "`exploration`, as in `ismcts:simulations=500,exploration=0.7`; "
    "with `network=PATH` or `network=zoo:GAME/NAME` guided by a trained policy, and with `sample=true` drawing its "
    "actions by their visits; "
    "[which one to choose](agents.md#search-and-tree-search)",
    _make,
    functools.partial(guide_fingerprint, "ismcts"),
    guest=False,
    isolation="none",
)
