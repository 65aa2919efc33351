"""`SeatEnv`: a Gymnasium environment in which one learner plays against given opponents.

    env = SeatEnv("GAME_v0", seat="rotate", opponents="random")
    observation, info = env.reset(seed=7)
    action = env.action_space.sample(info["action_mask"])
    observation, reward, terminated, truncated, info = env.step(action)

The opponents move inside `reset` and `step`. sb3-contrib's MaskablePPO calls `action_masks()`.
"""

import copy
from collections.abc import Callable, Sequence
from typing import Any, Self

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete

from cardenvs.agents import Agent, Turn, make_agent
from cardenvs.agents.adapt import adapted
from cardenvs.agents.seating import Seat
from cardenvs.agents.seeds import guest_seed, new_key
from cardenvs.agents.specs import is_guest
from cardenvs.core.checks import checked_seed
from cardenvs.core.codes import FORFEIT, MASK_DTYPE, TERMINAL_PLAYER
from cardenvs.core.errors import AgentError, AgentFailureError, ArenaError, IllegalActionError
from cardenvs.core.game import Game
from cardenvs.core.registry import get_game
from cardenvs.core.results import ResultCheck
from cardenvs.core.rng import SEED_MASK, derived_seed
from cardenvs.core.state import State
from cardenvs.envs.arguments import (
    MOST_SKIPPED,
    RENDER_MODES,
    checked_max_plies,
    checked_render_mode,
    checked_reward,
    checked_seat,
    opponent_of_each,
    shown,
)
from cardenvs.envs.threads import OneThread, one_at_a_time

Opponent = str | Agent | Callable[[Turn], int]


_NO_MASKS = (
    "An algorithm that masks actions finds the mask in info['action_mask'] and action_masks(). For one that does not, "
    "SeatEnv(..., illegal_reward=NUMBER) ends the episode with that reward."
)


class SeatEnv(OneThread, gymnasium.Env):
    """One seat of a game as a Gymnasium environment.

    An episode is one game from the seat's point of view. The reward of a step is everything the seat gets from its
    action until its next turn or the end of the game (other players may play on after it is out); rewards before its
    first turn are added to its first step. A game that ends before the seat has acted is not an episode: `reset` deals
    again and lists the seat's returns of such games in `info["skipped_returns"]`. Include them when you compare mean
    returns.

    `info` contains "action_mask" (int8), "player" (the seat in this game) and, at the end of an episode, "returns" (of
    all players).

    Attributes:
        game: the Game.
        options: its validated options.
        max_plies: episodes are truncated after this many plies of all players together.
        guests_key: see the constructor.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 1}  # noqa: RUF012  Gymnasium's own form

    _state: State  # from the first reset on
    _seat: int
    _reward: float

    def __init__(
        self,
        game: str | Game,
        seat: int | str = 0,
        opponents: Opponent | Sequence[Opponent] | None = None,
        *,
        render_mode: str | None = None,
        max_plies: int | None = None,
        dict_observation: bool = False,
        illegal_reward: float | None = None,
        guests_key: str | None = None,
        legal_actions: bool = False,
        **options: Any,
    ) -> None:
        """Set up spaces and opponents. Call `reset` to deal.

        Args:
            game: name of a game, or a Game.
            seat: the learner's player number. "random" draws it for each deal; "rotate" takes 0, 1, ... in turn.
            opponents: agent spec as on the command line ("random", "search:simulations=50", ...), an Agent, a function
                from Turn to action, a class or a factory (`cardenvs.agents.adapt`); or a list with one of these for
                each other player, starting to the learner's left. By default the game's `default_opponent`. An Agent
                that plays for several players must not store anything between turns. Your own agents and functions run
                in this process; their turns show a twin, which has no reference to the game.
            render_mode: "human" prints the table after each reset and step and in `render`; "ansi" makes `render`
                return it as text.
            max_plies: truncate episodes after this many plies; by default the game's own bound, which no game exceeds.
            dict_observation: return observations as {"observation", "action_mask"} instead of the array alone.
            illegal_reward: None raises IllegalActionError for an illegal action. A number ends the episode with that
                reward instead, for algorithms without action masks.
            guests_key: key for the seeds of opponents that are guests (agents and functions given as objects, and specs
                with code from outside cardenvs), 32 hex digits, so that these seeds reveal nothing about the deal;
                drawn by default. Pass another environment's key to repeat their play.
            legal_actions: whether `info` also has "legal_actions", the ids as a list of varying length.
            options: game options.

        Raises:
            GameNotFoundError: no game has this name.
            OptionError: unknown option or invalid value.
            AgentError: an opponent cannot be used, or their number is wrong.
        """
        self.game = get_game(game) if isinstance(game, str) else game
        self.options = self.game.make_options(**options)
        self.options.check_environment()
        self.render_mode = checked_render_mode(self.game, render_mode)
        self.max_plies = checked_max_plies(self.game, self.options, max_plies)
        self.illegal_reward = checked_reward(self.game, illegal_reward)
        self.guests_key = guests_key or new_key()
        self._num_players = self.options.num_players
        self._seating = checked_seat(self.game, seat, self._num_players)
        each = opponent_of_each(opponents, self.game, self._num_players)
        seated = [_as_agent(opponent, self.game, self.options) for opponent in each]
        self._opponents = [agent for agent, _ in seated]
        self._guests = [guest for _, guest in seated]
        self._dict_observation = dict_observation
        self._shows_lists = bool(legal_actions)
        layout, num_actions = self.game.layout(self.options), self.game.num_actions(self.options)
        observation = Box(layout.low, layout.high, dtype=layout.dtype)
        mask = Box(0, 1, (num_actions,), MASK_DTYPE)
        self.observation_space = (
            Dict({"observation": observation, "action_mask": mask}) if dict_observation else observation
        )
        self.action_space = Discrete(num_actions)
        self._num_actions = num_actions
        self._deals = 0  # since the last seeded reset, for "rotate"
        self._over = True

    @one_at_a_time
    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray | dict[str, np.ndarray], dict[str, Any]]:
        """Deal a game and let the opponents play until it is the seat's turn.

        Args:
            seed: seed of the deal, as in `game.new_state(seed=seed)`, and of everything after it. None continues with
                the environment's random generator.
            options: {"deck": text or tokens} deals these cards first, as in `game.new_state`. Other keys are ignored.

        Returns:
            the observation and `info`.

        Raises:
            DeckError: the explicit deck has an unknown card or too many copies; nothing has changed.
            ValueError: invalid seed; nothing has changed.
            AgentError: an opponent failed or chose an illegal action. Other errors of opponents given as objects pass
                unchanged. No episode is running then.
            ArenaError: the result violates the game's own bounds, or something that should be conserved changed.
            RuntimeError: 1000 deals in a row ended before the seat's turn.
        """
        deck = (options or {}).get("deck")
        if deck is not None:
            deck = self.game.parse_deck(deck, self.options).tolist()
        seed = None if seed is None else checked_seed(seed)
        super().reset(seed=seed)
        if seed is not None:
            self._deals = 0
        skipped: list[float] = []
        while len(skipped) < MOST_SKIPPED:
            self._deal(seed, deck)
            self._play_opponents()
            if not self._over:
                self._show()
                return self._observation(), {**self._info(), "skipped_returns": skipped}
            skipped.append(self._state.returns[self._seat])
            seed = deck = None
        raise RuntimeError(f"{self.game.name}: {MOST_SKIPPED} deals in a row ended before player_{self._seat}'s turn")

    @one_at_a_time
    def step(self, action: int) -> tuple[np.ndarray | dict[str, np.ndarray], float, bool, bool, dict[str, Any]]:
        """Apply the seat's action, then let the opponents play until it is the seat's turn or the game is over.

        Args:
            action: a legal action as an int, NumPy integer or 0-d integer array.

        Returns:
            the observation, reward, `terminated`, `truncated` and `info`.

        Raises:
            IllegalActionError: the action is illegal and `illegal_reward` is None. The message gives the reason and the
                legal actions; nothing has changed.
            ResetNeeded: the episode is over.
            AgentError: an opponent failed or chose an illegal action. Other errors of opponents given as objects pass
                unchanged. The episode is over then.
            ArenaError: the result violates the game's own bounds, or something that should be conserved changed.
        """
        if self._over:
            raise gymnasium.error.ResetNeeded(f"{self.game.name}: call reset() before step(); no episode is running")
        chosen: Any = action[()] if isinstance(action, np.ndarray) and action.ndim == 0 else action
        try:
            self._state.check_legal(chosen)
        except IllegalActionError as error:
            if self.illegal_reward is None:
                error.add_note(_NO_MASKS)
                raise
            return self._lose(self.illegal_reward)
        return self._advance(int(chosen))

    @one_at_a_time
    def forfeit(self) -> tuple[np.ndarray | dict[str, np.ndarray], float, bool, bool, dict[str, Any]]:
        """Take the seat out of the game, as when its policy has failed; the others play on to the end. Returns what
        `step` does.

        Raises:
            ResetNeeded, AgentError, ArenaError: as `step`.
        """
        if self._over:
            raise gymnasium.error.ResetNeeded(f"{self.game.name}: call reset() before forfeit(); no episode is running")
        return self._advance(FORFEIT + self._seat)

    def _advance(self, action: int) -> tuple[np.ndarray | dict[str, np.ndarray], float, bool, bool, dict[str, Any]]:
        self._apply(action)
        self._play_opponents()
        reward, self._reward = self._reward, 0.0
        terminated = self._state.is_terminal
        self._show()
        return self._observation(), reward, terminated, self._over and not terminated, self._info()

    def action_masks(self) -> np.ndarray:
        """Return the action mask of the seat, (num_actions,) bool; all False once the episode is over.

        Raises:
            ResetNeeded: there was no `reset` yet.
        """
        self._require_reset("action_masks")
        return self._mask().astype(np.bool_)

    def render(self) -> str | np.ndarray | None:
        """Show the table from the seat's point of view. Other hands stay hidden, even after the game.

        Render mode "ansi" returns the text, "human" prints it, in colour if standard output is a terminal, and
        "rgb_array" returns a picture, uint8 (height, 640, 3).
        """
        if self.render_mode is None:
            gymnasium.logger.warn(f"{self.game.name}: render() shows nothing; make the environment with a render_mode")
            return None
        self._require_reset("render")
        return shown(self._state, self._seat, self.render_mode)

    def close(self) -> None:
        """Close the opponents, which ends their processes."""
        for agent in self._opponents:
            if hasattr(agent, "close"):
                agent.close()

    @property
    def game_state(self) -> State:
        """The state of the game, including hidden information. Clone it before you apply actions to it.

        Raises:
            ResetNeeded: there was no `reset` yet.
        """
        self._require_reset("game_state")
        return self._state

    def __copy__(self) -> Self:
        return copy.deepcopy(self)

    # -- helpers ------------------------------------------------------------------------------------------------

    def _deal(self, seed: int | None, deck: list[int] | None) -> None:
        """Deal a game and assign the seats."""
        n = self._num_players
        if isinstance(self._seating, int):
            self._seat = self._seating
        else:
            self._seat = int(self.np_random.integers(n)) if self._seating == "random" else self._deals % n
        self._deals += 1
        if seed is None:
            seed = int(self.np_random.integers(SEED_MASK + 1))
        self._state = self.game.state_type(self.game, self.options, seed=seed, deck=deck)
        self._check = ResultCheck(self._state)
        self._reward = 0.0
        self._seats: dict[int, Seat] = {}  # of the other players
        for k, (agent, guest) in enumerate(zip(self._opponents, self._guests, strict=True)):
            player = (self._seat + 1 + k) % n
            if guest:
                agent_seed = guest_seed(self.guests_key, seed, self._deals, player)
            else:
                agent_seed = derived_seed(seed, "opponent", player)
            self._seats[player] = Seat(agent, player, agent_seed, guest)
        for seat in self._seats.values():
            seat.begin(self._state)

    def _play_opponents(self) -> None:
        """Let the opponents act until it is the seat's turn, the game is over or `max_plies` is reached.

        Whoever fails ends the episode: the seat could otherwise act in their place.
        """
        self._over, state = True, self._state
        while True:
            player = state.current_player
            if player == TERMINAL_PLAYER:
                for seat in self._seats.values():
                    seat.end(state)
                if (fault := self._check.fault(state)) is not None:
                    raise ArenaError(fault)
            if player == TERMINAL_PLAYER or state.ply >= self.max_plies:
                return
            if player == self._seat:
                self._over = False
                return
            seat = self._seats[player]
            try:
                decision = seat.decide(state)
            except AgentFailureError as error:
                raise AgentError(f"the opponent at player_{player}, {seat.agent.name}, failed: {error}") from error
            self._apply(decision.action)

    def _apply(self, action: int) -> None:
        self._state.apply_unchecked(action)
        self._reward += self._state.rewards[self._seat]
        for seat in self._seats.values():
            seat.observe(self._state)

    def _lose(self, penalty: float) -> tuple[np.ndarray | dict[str, np.ndarray], float, bool, bool, dict[str, Any]]:
        """End the episode because the seat chose an illegal action."""
        self._over = True
        return self._observation(), self._reward + penalty, True, False, self._info()

    def _require_reset(self, method: str) -> None:
        if not hasattr(self, "_state"):
            raise gymnasium.error.ResetNeeded(f"{self.game.name}: call reset() before {method}()")

    def _mask(self) -> np.ndarray:
        """Return the action mask of the seat, (num_actions,) int8; all zeros once the episode is over."""
        return np.zeros(self._num_actions, MASK_DTYPE) if self._over else self._state.action_mask(self._seat)

    def _observation(self) -> np.ndarray | dict[str, np.ndarray]:
        observation = self._state.observation(self._seat)
        return {"observation": observation, "action_mask": self._mask()} if self._dict_observation else observation

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {"action_mask": self._mask(), "player": self._seat}
        if self._shows_lists:
            info["legal_actions"] = [] if self._over else self._state.legal_actions()
        if self._over:
            info["returns"] = self._state.returns
        return info

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()


def make_seat(game: str, **arguments: Any) -> SeatEnv:
    """Make a `SeatEnv` for `gymnasium.make`: an illegal action ends the episode with the game's lowest return.

    Args:
        game: name of a game.
        arguments: arguments of SeatEnv. Pass illegal_reward=None to raise IllegalActionError instead.
    """
    env = SeatEnv(game, **arguments)
    if "illegal_reward" not in arguments:
        env.illegal_reward = env.game.returns(env.options).low
    return env


def _as_agent(opponent: Any, game: Game, options: Any) -> tuple[Agent, bool]:
    """Return the agent that an opponent is or names, and whether it is a guest."""
    if isinstance(opponent, str):
        return make_agent(opponent, game, options), is_guest(opponent)
    return adapted(opponent, game, options), True
