"""What OpenSpiel's observers show of a state: observations, and information states."""

from typing import Any

import numpy as np
import pyspiel

from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.openspiel.tensors import EventTensor


class ObservationObserver:
    """Shows what a player sees now: the observation of cardenvs, and the table as text."""

    def __init__(self, game: Game, options: Options) -> None:
        """Create an observer of states of a game."""
        self.tensor = np.zeros(game.layout(options).size, np.float32)  # float32 (layout.size,)
        self.dict = {"observation": self.tensor}  # the same by name: {"observation": ...}

    def set_from(self, state: Any, player: int) -> None:
        """Write the observation of `player` in a SpielState; zeros before the deal."""
        self.tensor[:] = 0 if state.world is None else state.world.observation(player)

    def string_from(self, state: Any, player: int) -> str:
        """Return the table as `player` sees it; empty before the deal."""
        return "" if state.world is None else state.world.render(player)


class InformationStateObserver:
    """Shows all that a player has seen and done, with perfect recall."""

    def __init__(self, game: Game, options: Options, events: EventTensor | None) -> None:
        """Create an observer of states of a game; `events` None if it has no information-state tensor."""
        self._game, self._events = game, events
        self.tensor: np.ndarray | None = None  # float32, flat, or None where the game has no such tensor
        self.dict: dict[str, np.ndarray] = {}  # its parts: "player" (one-hot) and "events" (see EventTensor)
        if events is not None:
            num_players = options.num_players
            self.tensor = np.zeros(num_players + int(np.prod(events.shape)), np.float32)
            self.dict["player"] = self.tensor[:num_players]
            self.dict["events"] = self.tensor[num_players:].reshape(events.shape)

    def set_from(self, state: Any, player: int) -> None:
        """Write all that `player` has seen of a SpielState; no events before the deal.

        Raises:
            pyspiel.SpielError: the game has no information-state tensor, or the state was resampled for another player.
        """
        if self._events is None or self.tensor is None:
            raise pyspiel.SpielError(
                f"{self._game.name} has no information-state tensor with these options: the number of events in a game "
                "has no bound small enough. Use observation_tensor(), which shows the present, or "
                "information_state_string(), which identifies the information state"
            )
        self.tensor[:] = 0
        self.dict["player"][player] = 1
        self._events.write(state.seen_rows(player), self.dict["events"])

    def string_from(self, state: Any, player: int) -> str:
        """Return the player, and a hash of all that it has seen and done."""
        return state.information_state(player)
