"""One search agent for every game: flat Monte Carlo over re-dealt worlds, with sequential halving.

Each legal action is tried in worlds that fit what the player knows and played out by a policy for everybody. All
actions still in the race share their worlds and their chance, so they compare in pairs. Halving drops the worse
half of the actions after each phase and spends a phase's equal share of the budget on those left (Z. Karnin,
T. Koren, O. Somekh, "Almost Optimal Exploration in Multi-Armed Bandits", ICML 2013). Only how the returns of
two actions compare counts, so they may have any scale, and any number of players may sit at the table.

Where a policy of the game plays out, what that policy would do itself stays in the race to the end, and is done unless
the best action is ahead of it by more than chance explains: so a small budget does not make a good policy worse.

What it cannot do follows from averaging over worlds: it neither bluffs nor pays to hide or to learn something.
"""

import math
import time

import numpy as np

from cardenvs.agents.base import Agent, Turn
from cardenvs.core.errors import AgentError
from cardenvs.core.game import Game
from cardenvs.core.state import State

_TIMED_ROUNDS = 8  # worlds tried between two looks at the clock
_AHEAD = 2.0  # standard errors by which the best action must be ahead of the policy's own,
_FEWEST = 10  # in at least so many worlds


class SearchAgent(Agent):
    """Flat Monte Carlo search for any game.

    Attributes:
        simulations: playouts a decision, or None where `seconds` limits it.
        seconds: time a decision, or None.
        playout: name of the policy that plays out.
        depth: plies of a playout, or None for the whole game.
    """

    def __init__(
        self,
        game: Game,
        simulations: int | None = None,
        seconds: float | None = None,
        playout: str | None = None,
        depth: int | None = None,
    ) -> None:
        """A search agent for `game`.

        Args:
            game: the Game.
            simulations: playouts a decision, 200 by default; each phase tries each action left at least once, however
                many there are. Results repeat exactly.
            seconds: think so long instead. Results then depend on the machine and do not repeat.
            playout: "random", or one of `game.policies`; by default the one that the game names.
            depth: cut playouts after so many plies, counting the rewards until then; by default play to the end.

        Raises:
            PolicyNotFoundError: the game has no such policy.
            AgentError: a budget below one, or both budgets.
        """
        if simulations is not None and seconds is not None:
            raise AgentError("search takes a budget in simulations or in seconds, not both")
        for what, value in (("simulations", simulations), ("seconds", seconds), ("depth", depth)):
            if value is not None and not value > 0:
                raise AgentError(f"search takes {what} above 0; got {value}")
        playout = playout or game.playout
        game.engine.policy(playout)
        self.name = "search"
        self.simulations = 200 if simulations is None and seconds is None else simulations
        self.seconds, self.playout, self.depth = seconds, playout, depth

    def act(self, turn: Turn) -> int:
        """The action with the best mean return, or the playout policy's own if that is not clearly worse."""
        actions = np.array(turn.legal_actions)
        if len(actions) == 1:
            return int(actions[0])
        own = None if self.playout == "random" else turn.policy_action(self.playout)
        race = _Race(self, turn.determinize(turn.seed), actions, own, turn.seed)
        phases = math.ceil(math.log2(len(actions)))
        started = time.perf_counter()
        for phase in range(phases):
            if self.simulations is not None:
                race.run(max(1, self.simulations // (phases * len(race.actions))))
            elif self.seconds is not None:
                race.run_until(started + self.seconds * (phase + 1) / phases)
            race.halve()
        return race.winner()


class _Race:
    """The actions left, ascending, and their returns in the worlds tried so far, the same worlds for all.

    Attributes:
        actions: int64 ids. `own`, what the playout policy would do, is never dropped.
    """

    def __init__(self, agent: SearchAgent, world: State, actions: np.ndarray, own: int | None, seed: int) -> None:
        self._agent, self._world, self._own, self._seed = agent, world, own, seed
        self.actions = actions
        self._returns = np.zeros((0, len(actions)))  # a row a world

    def run(self, rounds: int) -> None:
        returns = self._world.simulate(
            self.actions,
            self._seed,
            rounds,
            first_round=len(self._returns),
            policy=self._agent.playout,
            max_plies=self._agent.depth,
        )
        self._returns = np.concatenate([self._returns, returns])

    def run_until(self, deadline: float) -> None:
        self.run(_TIMED_ROUNDS)
        while time.perf_counter() < deadline:
            self.run(_TIMED_ROUNDS)

    def halve(self) -> None:
        kept = self._best_first()[: (len(self.actions) + 1) // 2]
        kept = np.union1d(kept, np.flatnonzero(self.actions == self._own))
        self.actions, self._returns = self.actions[kept], self._returns[:, kept]

    def winner(self) -> int:
        """The best action; the policy's own if the best is not clearly better. Of equal ones the lowest id."""
        best = self._best_first()[0]
        if self._own is None or self.actions[best] == self._own:
            return int(self.actions[best])
        ahead = self._returns[:, best] - self._returns[:, self.actions == self._own][:, 0]
        if len(ahead) < _FEWEST or ahead.mean() * math.sqrt(len(ahead)) <= _AHEAD * ahead.std(ddof=1):
            return self._own
        return int(self.actions[best])

    def _best_first(self) -> np.ndarray:
        return np.argsort(-self._returns.sum(0), kind="stable")
