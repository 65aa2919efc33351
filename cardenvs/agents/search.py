"""One search agent for every game: flat Monte Carlo over re-dealt worlds, with sequential halving.

Each legal action is tried in worlds that fit what the player knows and played out by a policy for everybody. All
actions still in the race share their worlds and their chance, so they compare in pairs. Halving drops the worse
half of the actions after each phase and spends a phase's equal share of the budget on those left (Z. Karnin,
T. Koren, O. Somekh, "Almost Optimal Exploration in Multi-Armed Bandits", ICML 2013). Only the order of the means
counts, so returns may have any scale, and any number of players may sit at the table.

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
            playout: "random", or one of `game.policies`; by default "heuristic" where the game has it.
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
        if playout is None:
            playout = "heuristic" if "heuristic" in game.policies else "random"
        game.engine.policy(playout)
        self.name = "search"
        self.simulations = 200 if simulations is None and seconds is None else simulations
        self.seconds, self.playout, self.depth = seconds, playout, depth

    def act(self, turn: Turn) -> int:
        """The action with the best mean return; of equal ones the lowest id."""
        actions = np.array(turn.legal_actions)
        if len(actions) == 1:
            return int(actions[0])
        race = _Race(self, turn.determinize(turn.seed), actions, turn.seed)
        phases = math.ceil(math.log2(len(actions)))
        started = time.perf_counter()
        for phase in range(phases):
            if self.simulations is not None:
                race.run(max(1, self.simulations // (phases * len(race.actions))))
            elif self.seconds is not None:
                race.run_until(started + self.seconds * (phase + 1) / phases)
            race.halve()
        return int(race.actions[0])


class _Race:
    """The actions left, ascending, and the sum of their returns over the worlds tried so far, the same for all."""

    def __init__(self, agent: SearchAgent, world: State, actions: np.ndarray, seed: int) -> None:
        self._agent, self._world, self._seed = agent, world, seed
        self.actions, self._totals = actions, np.zeros(len(actions))
        self._rounds = 0

    def run(self, rounds: int) -> None:
        self._totals += self._world.simulate(
            self.actions,
            self._seed,
            rounds,
            first_round=self._rounds,
            policy=self._agent.playout,
            max_plies=self._agent.depth,
        )
        self._rounds += rounds

    def run_until(self, deadline: float) -> None:
        self.run(_TIMED_ROUNDS)
        while time.perf_counter() < deadline:
            self.run(_TIMED_ROUNDS)

    def halve(self) -> None:
        best = np.argsort(-self._totals, kind="stable")[: (len(self.actions) + 1) // 2]
        best.sort()
        self.actions, self._totals = self.actions[best], self._totals[best]
