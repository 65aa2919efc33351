"""Agents that play a compiled policy of the game."""

from cardenvs.agents.base import Agent, Turn
from cardenvs.core.game import Game


class PolicyAgent(Agent):
    """Plays "random" or one of `game.policies`.

    Attributes:
        policy: name of the policy.
    """

    def __init__(self, game: Game, policy: str) -> None:
        """Create an agent for `game`.

        Raises:
            PolicyNotFoundError: the game has no such policy; the message lists those it has.
        """
        game.engine.policy(policy)
        self.name = self.policy = policy

    def act(self, turn: Turn) -> int:
        """Return the policy's action."""
        return turn.policy_action(self.policy)
