"""The games as TextArena environments, in which every player is a model.

    import textarena
    import cardenvs.llm.trainers.textarena

    env = textarena.make(f"cardenvs/{game}")
    env.reset(num_players=2, seed=7)
    done = False
    while not done:
        player, observation = env.get_observation()
        done, _ = env.step(agents[player](observation))
    rewards, game_info = env.close()

Importing this module registers each game as "cardenvs/" and its name, and without wrappers under that and "-raw".
"""

import random
from typing import Any

from cardenvs.core.codes import TERMINAL_PLAYER
from cardenvs.core.errors import require
from cardenvs.core.game import Game
from cardenvs.core.registry import get_game, list_games
from cardenvs.llm.prompt import PromptSettings
from cardenvs.llm.text_player import TextPlayer
from cardenvs.llm.trainers import as_text

require("textarena", "textarena")

import textarena  # noqa: E402


class CardEnv(textarena.Env):
    """A game as a textarena.Env.

    A step is one reply of the player to act, who is asked again after an unusable one. The observation of a player is
    one prompt, which is complete; those that the player has seen before are not needed. Decisions with a single
    candidate, and the rest of a play of several actions, are played without asking.

    The rewards are the game's returns, not only 1 and -1. In `game_info` of a player, "turn_count" counts replies,
    "invalid_move" tells whether the player ever ran out of attempts, "reason" says how the game ended for it, and
    "outcomes" counts the outcomes of replies as TextSeatEnv does.

    Attributes:
        state: the textarena.State. It holds nothing of the game: see `game_state`.
        game_state: the State of the game, including hidden information.
    """

    def __init__(
        self,
        game: str | Game,
        *,
        prompt: PromptSettings | None = None,
        retries: int | None = None,
        on_failure: str | None = None,
        **options: Any,
    ) -> None:
        """Check the settings, which are those of TextSeatEnv. Call `reset` to deal; it takes `num_players`.

        Raises:
            GameNotFoundError: no game has this name.
            OptionError: unknown option or invalid value.
            AgentError: the prompt's settings do not fit the game.
        """
        self.game = get_game(game) if isinstance(game, str) else game
        self.game.make_options(**options)
        self._options = options
        self._settings = (prompt, retries, on_failure)
        TextPlayer(self.game, *self._settings)  # fails now if ever

    def reset(self, num_players: int, seed: int | None = None) -> None:
        """Deal a game and play until a player has something to choose. Without a seed, one is drawn.

        Raises:
            OptionError: the game does not take that many players.
            ValueError: invalid seed.
        """
        if seed is None:
            seed = random.SystemRandom().getrandbits(63)
        self.game_state = self.game.new_state(seed=seed, **{**self._options, "num_players": num_players})
        self._players = [TextPlayer(self.game, *self._settings) for _ in range(num_players)]
        self.state = textarena.State(num_players)
        self.state.standard_resets(role_mapping={player: f"player_{player}" for player in range(num_players)})
        self._play_on()

    def get_observation(self) -> tuple[int, list[tuple[int, str, Any]]]:
        """Return the player to act and its prompt as the only message; no message once the game is over."""
        player = self.state.current_player_id
        messages = self._players[player].messages
        observed = [(textarena.GAME_ID, as_text(messages), textarena.ObservationType.PROMPT)] if messages else []
        return player, observed

    def step(self, action: str) -> tuple[bool, dict[str, Any]]:
        """Read the reply of the player to act and play on to the next choice.

        Returns:
            whether the game is over, and {"player", "outcome", "reason"} of the reply.

        Raises:
            RuntimeError: no game is running.
            TypeError: `action` is not a str.
        """
        if not hasattr(self, "state") or self.state.done:
            raise RuntimeError(f"{self.game.name}: call reset() before step(); no game is running")
        current = self.state.current_player_id
        player = self._players[current]
        chosen = player.answer(self.game_state, action)
        self.state.turn += 1
        self.state.game_info[current]["turn_count"] += 1
        if chosen is not None:
            self.game_state.apply(chosen)
            self._play_on()
        return self.state.done, {"player": current, "outcome": player.outcome, "reason": player.reason}

    def close(self) -> tuple[dict[int, float] | None, dict[int, dict[str, Any]]]:
        """Return the rewards by player, or None if the game is not over, and what happened to each player."""
        return self.state.close()

    def _play_on(self) -> None:
        """Play what needs no question; then ask the player to act, or end the game."""
        state = self.game_state
        while (current := state.current_player) != TERMINAL_PLAYER:
            action = self._players[current].ask(state)
            if action is None:
                self.state.current_player_id = current
                return
            state.apply(action)
        self.state.done = True
        self.state.rewards = dict(enumerate(state.returns))
        for number, player in enumerate(self._players):
            self.state.game_info[number].update(
                invalid_move=player.outcomes["forfeit"] + player.outcomes["forced"] > 0,
                reason=f"forfeit: {player.reason}" if player.outcomes["forfeit"] else "the game is over",
                outcomes=dict(player.outcomes),
            )


class LatestPrompt(textarena.ObservationWrapper):
    """The latest prompt as a text, which is what TextArena's agents take; "" once the game is over."""

    def observation(self, player_id: int, observation: list[tuple[int, str, Any]]) -> str:
        """Return the text of the only message."""
        return observation[-1][1] if observation else ""


for _name in list_games():
    for _id, _wrappers in ((f"cardenvs/{_name}", [LatestPrompt]), (f"cardenvs/{_name}-raw", None)):
        textarena.register(_id, f"{__name__}:CardEnv", default_wrappers=_wrappers, game=_name)
