"""What an agent is, and what it gets to see: a `Turn`."""

import functools
from typing import Any, Protocol, runtime_checkable

import numpy as np

from cardenvs.core.errors import StaleTurnError
from cardenvs.core.rng import derived_seed
from cardenvs.core.state import State


class Turn:
    """One decision, as the player to act may know it. All but the plain attributes is worked out when asked for.

    A turn is over once the game has moved on: what was not asked for until then raises StaleTurnError.

    Attributes:
        game, options: what is played.
        player: int, whose turn it is.
        num_players: int.
        ply: int, actions applied before this decision.
        seed: int, 0..2**63-1, of this decision: draw all randomness from it, and results repeat.
        notes: dict, empty at first: what an agent wants kept of this decision, as JSON values (a prompt, tokens,
            latency). Whoever records decisions reads it after `act`; it has no influence on play.
    """

    def __init__(self, state: State, seed: int) -> None:
        """A turn of the player to act in `state`.

        Args:
            state: not terminal; kept, never shown.
            seed: the agent's own seed for this game; the decision's is derived from it.
        """
        self.__state = state
        self.game, self.options = state.game, state.options
        self.player, self.num_players = state.current_player, state.num_players
        self.ply = state.ply
        self.seed = derived_seed(seed, self.ply)
        self.notes: dict[str, Any] = {}

    def __repr__(self) -> str:
        """Whose turn, of what."""
        return f"<Turn of player_{self.player} in {self.game.name}, ply {self.ply}>"

    def __now(self) -> State:
        if self.__state.ply != self.ply:
            raise StaleTurnError(f"{self!r} is over, the game has moved on; ask a turn before answering it")
        return self.__state

    @functools.cached_property
    def observation(self) -> np.ndarray:
        """What the player sees, (layout.size,) of the game's dtype."""
        return self.__now().observation(self.player)

    @functools.cached_property
    def action_mask(self) -> np.ndarray:
        """int8 (num_actions,): 1 for each legal action."""
        return self.__now().action_mask()

    @functools.cached_property
    def legal_actions(self) -> list[int]:
        """Legal ids, ascending, at least one."""
        return self.__now().legal_actions()

    @functools.cached_property
    def view(self) -> dict[str, Any]:
        """What the player sees, as JSON values: table, prompt, actions with labels."""
        return self.__now().view(self.player)

    @functools.cached_property
    def facts(self) -> dict[str, Any]:
        """What a careful player would have worked out, as JSON values."""
        return self.__now().facts(self.player)

    @functools.cached_property
    def recap(self) -> list[str]:
        """All that the player has seen happen, a sentence each."""
        return self.__now().recap(self.player)

    @functools.cached_property
    def prompt(self) -> str:
        """What the player is asked."""
        return self.view["prompt"]

    @functools.cached_property
    def information_state_key(self) -> str:
        """A hash of all that the player has seen and done."""
        return self.__now().information_state_key(self.player)

    def label(self, action: int) -> str:
        """The text of an action.

        Raises:
            IllegalActionError: `action` is no id of this game.
        """
        return self.__now().action_label(action)

    def action_from_label(self, text: str) -> int:
        """The legal action of that label; case and blanks around it do not count.

        Raises:
            IllegalActionError: no legal action reads so.
        """
        return self.__now().action_from_label(text)

    def render(self, colour: bool = False) -> str:
        """The table as text; with ANSI colours if asked."""
        return self.__now().render(self.player, colour)

    def determinize(self, seed: int) -> State:
        """A world that fits all the player knows, the rest dealt from `seed`: a state to play with freely."""
        return self.__now().determinize(self.player, seed)

    def policy_action(self, policy: str) -> int:
        """What a policy of the game ("random", or one of `game.policies`) chooses here, with this turn's seed.

        Raises:
            PolicyNotFoundError: the game has no such policy.
        """
        return self.__now().policy_action(policy, self.seed)


@runtime_checkable
class Agent(Protocol):
    """Who plays. Results repeat, whatever the process or the order of games, if randomness comes from `turn.seed`.

    An agent plays one game at a time, from `reset` to its end; a BatchAgent plays many at once.

    Attributes:
        name: for people.
    """

    name: str

    def reset(self, seed: int) -> None:
        """A game begins. `seed` is the agent's own for it: it follows from the deal and from the agent's name."""
        return  # nothing to forget, unless a subclass keeps something

    def act(self, turn: Turn) -> int:
        """Choose one of `turn.legal_actions`."""
        raise NotImplementedError


@runtime_checkable
class BatchAgent(Agent, Protocol):
    """An agent that is asked about many games at once.

    One of its kind serves all games that a process plays side by side, so it must keep nothing of a game from turn
    to turn, and `reset` is not called. Which turns come together must not matter.
    """

    def act_batch(self, turns: list[Turn]) -> list[int]:
        """Choose a legal action for each turn."""
        raise NotImplementedError
