"""An agent at its place in a game: the turns that it gets."""

from cardenvs.agents.base import Agent, Turn
from cardenvs.core.state import State

_OURS = {"cardenvs.agents.policy", "cardenvs.agents.search", "cardenvs.agents.ppo", "cardenvs.agents.terminal"}
_PASS_ON = {"cardenvs.agents.guarded.process", "cardenvs.llm.agent"}  # what a player knows, to somebody elsewhere


class Seat:
    """An agent that plays a player in one game.

    Attributes:
        agent: who plays.
        player: int.
        seed: the agent's own for this game.
    """

    def __init__(self, agent: Agent, player: int, seed: int) -> None:
        """Seat an agent; nothing is asked of it."""
        self.agent, self.player, self.seed = agent, player, seed
        self._trusted = is_ours(agent) or type(agent).__module__ in _PASS_ON
        self._decisions, self._last_ply = 0, -2

    def turn(self, state: State) -> Turn:
        """The turn of the player, who is to act in `state`.

        Only an agent of cardenvs gets one that refers to `state`; others get one of a twin.
        """
        turn = Turn(state, self.seed, self._decisions, goes_on=state.ply == self._last_ply + 1)
        if self._trusted:
            return turn
        return Turn(turn.determinize(turn.seed), self.seed, turn.decision, turn.goes_on)

    def decided(self, state: State) -> None:
        """The player has decided in `state`; what it chose is about to be applied."""
        self._decisions += 1
        self._last_ply = state.ply


def is_ours(agent: object) -> bool:
    """Whether an agent is one that cardenvs brings along, and nobody else decides."""
    return type(agent).__module__ in _OURS
