"""One search agent for every game: flat Monte Carlo over re-dealt worlds, with sequential halving.

Each legal action is tried in worlds that agree with what the player knows, and a policy plays out for everybody. All
remaining actions share worlds and chance events, so they are compared in pairs. Each phase spends an equal share of the
budget on the remaining actions and then drops the worse half of them (Z. Karnin, T. Koren, O. Somekh, "Almost Optimal
Exploration in Multi-Armed Bandits", ICML 2013). Only comparisons between actions count, so returns may have any scale,
and there may be any number of players.

If a policy of the game or a network plays out, its own action is never dropped, and is chosen unless the best action
beats it by more than chance explains. A small budget therefore does not make a good policy worse.

If a game's candidates are plays of several actions, the search compares these instead of single actions, and then makes
the chosen play step by step until the turn passes to another player.

With a belief, worlds are drawn by how well they explain what the others did (`cardenvs.agents.belief`).

Because it averages over worlds, it neither bluffs nor pays to hide or learn information.
"""

import copy
import math
import time
from typing import Any

import numpy as np

from cardenvs.agents.base import MOST_NOTED, Agent, Turn
from cardenvs.agents.belief import DOUBT, Belief, Weighted, models_of
from cardenvs.agents.guides import guide_fingerprint, load_guide, parameter_of
from cardenvs.agents.kinds import AgentKind
from cardenvs.agents.parameters import Reader, read_parameters
from cardenvs.agents.playouts import Decider, NetworkPlayouts, Play, Playouts, PolicyPlayouts
from cardenvs.agents.specs import agent_fingerprint
from cardenvs.core.errors import AgentError
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.state import State

_TIMED_ROUNDS = 8  # worlds tried between two looks at the clock
AHEAD = 2.0  # standard errors by which the best action must be ahead of the policy's own
_FEWEST = 10  # worlds needed for that comparison

_MOST = 1_000_000_000  # largest number of simulations, seconds or plies


def check_limits(kind: str, simulations: int | None, seconds: float | None, depth: int | None) -> None:
    """Check the limits of a search; None means no limit.

    Raises:
        AgentError: a value is out of range, or both budgets are given.
    """
    if simulations is not None and seconds is not None:
        raise AgentError(f"{kind} takes a budget in simulations or in seconds, not both")
    for what, value in (("simulations", simulations), ("seconds", seconds), ("depth", depth)):
        if value is not None and not 0 < value <= _MOST:
            raise AgentError(f"{kind} takes {what} above 0 and up to {_MOST:,}; got {value}")


class SearchAgent(Agent):
    """Flat Monte Carlo search for any game.

    Attributes:
        simulations: playouts per decision, or None if `seconds` limits it.
        seconds: time per decision, or None.
        playouts: who plays out.
        depth: most plies of a playout, or None for the whole game.
    """

    is_seeded = True  # its probabilities are those of the worlds of one seed

    def __init__(
        self,
        game: Game,
        simulations: int | None = None,
        seconds: float | None = None,
        playout: str | None = None,
        depth: int | None = None,
        network: Decider | None = None,
        belief: Belief | None = None,
    ) -> None:
        """Create a search agent for `game`.

        Args:
            game: the Game.
            simulations: playouts per decision, 200 by default; each phase tries each remaining action at least once.
                Results repeat exactly.
            seconds: time per decision instead. Results then depend on the machine and do not repeat.
            playout: "random", or one of `game.policies`; default: the game's playout policy.
            depth: plies after which a playout is cut; rewards until then count. With a network, it goes on to the
                player's next choice, and the network's value there counts for the rest. None: play to the end.
            network: an agent with a network, such as PPOAgent, that plays out instead of a policy.
            belief: draws worlds by what the others did; None: all worlds that fit what the player knows are alike.

        Raises:
            PolicyNotFoundError: the game has no such policy.
            AgentError: a value is out of range, both budgets are given, or a network and a playout policy.
        """
        check_limits("search", simulations, seconds, depth)
        if network is not None and playout is not None:
            raise AgentError("search takes a network or playout: either of them plays out")
        self.name = "search"
        self.simulations = 200 if simulations is None and seconds is None else simulations
        self.seconds, self.depth, self.belief = seconds, depth, belief
        self.playouts: Playouts
        if network is not None:
            self.playouts = NetworkPlayouts(network)
        else:
            playout = playout or game.playout_policy
            game.engine.policy(playout)
            self.playouts = PolicyPlayouts(playout)
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Prepare for a new game."""
        self._rest: Play | None = ()  # rest of the chosen play; None: follow the policy
        self._next = -1  # the decision at which the play continues, if nobody else acts before

    def act(self, turn: Turn) -> int:
        """Return the action with the best mean return, or the playout policy's action if that is not clearly worse.

        If a play of several actions has been chosen, return its next action.
        """
        if turn.goes_on and turn.decision == self._next and self._rest != ():
            play = (self.playouts.own_action(turn),) if self._rest is None else self._rest
            if play[0] in turn.legal_actions:
                return self._step(turn, play, by_policy=self._rest is None)
        if len(turn.legal_actions) == 1:
            return turn.legal_actions[0]
        plays = [one.actions for one in turn.candidates]
        if len(plays) > 1 and max(map(len, plays)) == 1:
            return self._best(turn, [(action,) for action in turn.legal_actions])[0]
        play = plays[0] if len(plays) == 1 else self._best(turn, plays)
        return self._step(turn, play, by_policy=play not in plays)

    def probabilities(self, turn: Turn) -> np.ndarray:
        """Return the probabilities of `turn.legal_actions`, float64 (n,), given the turn's seed: 1 for its choice.

        Raises:
            AgentError: plays have several actions, so its choice may depend on those of earlier turns.
        """
        if any(len(one.actions) > 1 for one in turn.candidates):
            raise AgentError(f"search has no probabilities in {turn.game.name}: it chooses plays of several actions")
        other = copy.copy(self)  # asking leaves this one as it is
        other.reset(0)
        return np.equal(turn.legal_actions, other.act(turn)).astype(np.float64)

    def _step(self, turn: Turn, play: Play, by_policy: bool) -> int:
        """Return the first action of a play, and remember its rest, or that the policy continues it."""
        self._rest, self._next = None if by_policy else play[1:], turn.decision + 1
        return play[0]

    def _best(self, turn: Turn, plays: list[Play]) -> Play:
        """Return the best of the plays, or the action of who plays out if that is better and is not among them."""
        world = turn.determinize(turn.seed)
        own: Play | None = (self.playouts.own_action(turn),) if self.playouts.is_policy else None
        if own is not None and own not in plays:
            whole = self._policy_play(world.clone(), own[0], turn.seed)
            own = whole if whole in plays else own
            plays = plays if whole in plays else [*plays, own]
        weighted = None if self.belief is None else self.belief.worlds(turn)
        race = _Race(self, world, plays, own, turn.seed, weighted)
        phases = math.ceil(math.log2(len(plays)))
        started = time.perf_counter()
        for phase in range(phases):
            if self.simulations is not None:
                race.run(max(1, self.simulations // (phases * len(race.plays))))
            elif self.seconds is not None:
                race.run_until(started + self.seconds * (phase + 1) / phases)
            race.halve()
        turn.notes["search"] = race.notes(turn)
        return race.winner()

    def _policy_play(self, world: State, action: int, seed: int) -> Play:
        """Return `action` and the playout policy's further actions until the turn passes to another player."""
        player, play = world.current_player, []
        while world.current_player == player:
            play.append(action)
            world.apply(action)
            if not world.is_terminal:
                action = self.playouts.action(world, seed)
        return tuple(play)


class _Race:
    """The remaining plays, and their returns in the worlds tried so far, which all plays share."""

    def __init__(
        self,
        agent: SearchAgent,
        world: State,
        plays: list[Play],
        own: Play | None,
        seed: int,
        weighted: Weighted | None = None,
    ) -> None:
        self._agent, self._world, self._own, self._seed, self._weighted = agent, world, own, seed, weighted
        # tuples of action ids, in their original order. The playout policy's own play, if any, is never dropped.
        self.plays = plays
        self._returns = np.zeros((0, len(plays)))  # one row per world
        self._dropped: list[tuple[Play, float]] = []  # plays with their means, latest first

    def run(self, rounds: int) -> None:
        agent, first = self._agent, len(self._returns)
        if self._weighted is None:
            returns = agent.playouts.returns(self._world, self.plays, self._seed, rounds, first, agent.depth)
        else:
            worlds = self._weighted.drawn(self._seed, rounds, first)
            returns = agent.playouts.returns_in(self._world, worlds, self.plays, self._seed, first, agent.depth)
        self._returns = np.concatenate([self._returns, returns])

    def run_until(self, deadline: float) -> None:
        self.run(_TIMED_ROUNDS)
        while time.perf_counter() < deadline:
            self.run(_TIMED_ROUNDS)

    def halve(self) -> None:
        best = set(self._best_first()[: (len(self.plays) + 1) // 2])
        kept = [k for k, play in enumerate(self.plays) if k in best or play == self._own]
        means = self._returns.mean(0)
        gone = [(self.plays[k], float(means[k])) for k in self._best_first() if k not in kept]
        self._dropped = gone + self._dropped
        self.plays, self._returns = [self.plays[k] for k in kept], self._returns[:, kept]

    def winner(self) -> Play:
        """Return the best play (the first of equals), or the policy's own if the best is not clearly better."""
        best = self._best_first()[0]
        if self._own is None or self.plays[best] == self._own:
            return self.plays[best]
        ahead = self._returns[:, best] - self._returns[:, self.plays.index(self._own)]
        if len(ahead) < _FEWEST or ahead.mean() * math.sqrt(len(ahead)) <= AHEAD * ahead.std(ddof=1):
            return self._own
        return self.plays[best]

    def notes(self, turn: Turn) -> dict[str, Any]:
        """Return the number of worlds, and the mean returns of the plays that remained longest."""
        means = self._returns.mean(0)
        left = [(self.plays[k], float(means[k])) for k in self._best_first()]
        shown = [*left, *self._dropped][:MOST_NOTED]
        labels = {one.actions: one.label for one in turn.candidates}
        return {
            "worlds": len(self._returns),
            "values": [[labels.get(play) or turn.label(play[0]), round(mean, 3)] for play, mean in shown],
        }

    def _best_first(self) -> list[int]:
        return list(map(int, np.argsort(-self._returns.sum(0), kind="stable")))


_PARAMETERS: dict[str, Reader] = {
    "simulations": int, "seconds": float, "playout": str, "depth": int, "network": str, "belief": str, "doubt": float,
}  # fmt: skip


def _make(argument: str, game: Game, options: Options) -> Agent:
    values = read_parameters("search", argument, _PARAMETERS)
    if "network" in values:
        values["network"] = load_guide("search", values["network"], game, options)
    if "doubt" in values and "belief" not in values:
        raise AgentError("search takes doubt with belief=AGENT: it is how far that agent is mistrusted")
    if "belief" in values:
        models = models_of(values["belief"])
        guide = _who_plays_out(argument, game)
        if guide != "random" and guide not in models:
            models.append(guide)
        values["belief"] = Belief.of("search", models, game, options, values.pop("doubt", DOUBT))
    return SearchAgent(game, **values)


def _who_plays_out(argument: str, game: Game) -> str:
    """Return the spec of who plays out. A belief has it among its models: the others, who are expected to play like it
    from now on, may have done so before.
    """
    network = parameter_of("network", argument)
    if network:
        return network if network.startswith("zoo:") else f"ppo:{network}"
    return parameter_of("playout", argument) or game.playout_policy


def _fingerprint(argument: str) -> str:
    """Return the fingerprints of the network and of the models of the belief, joined."""
    models = models_of(parameter_of("belief", argument))
    found = [guide_fingerprint("search", argument), *(agent_fingerprint(model) for model in models)]
    return "+".join(filter(None, found))


SEARCH = AgentKind(
    "search",
    "search",
    "flat Monte Carlo search over determinized twins, 200 playouts a decision; parameters `simulations`, `seconds`, "
    "`playout` and `depth`, as in `search:simulations=1000,playout=random`; with `network=PATH` or "
    "`network=zoo:GAME/NAME` a trained policy plays out, and with `belief=AGENT` or `belief=AGENT+AGENT` worlds are "
    "drawn [by what the others did](agents.md#beliefs), `doubt` says how far they are mistrusted",
    _make,
    _fingerprint,
    guest=False,
    isolation="none",
)
