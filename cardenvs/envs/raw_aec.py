"""`RawEnv`: a game as a PettingZoo AEC environment that raises IllegalActionError for illegal actions."""

import copy
import math
from typing import Any, Self

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, Space
from gymnasium.utils.seeding import np_random
from pettingzoo import AECEnv

from cardenvs.core.checks import check_fields, sealed, short, split_saved
from cardenvs.core.codes import FORFEIT, MASK_DTYPE, TERMINAL_PLAYER
from cardenvs.core.errors import FormatError, IllegalActionError
from cardenvs.core.game import Game
from cardenvs.core.registry import get_game
from cardenvs.core.rng import SEED_MASK
from cardenvs.core.state import State
from cardenvs.envs import arguments
from cardenvs.envs.threads import OneThread, one_at_a_time

_MAGIC = b"cardenvs-aec-1\n"
_SAVED_FIELDS = ("agents", "agent_selection", "rewards", "terminations", "truncations")  # public ones; see get_state


class RawEnv(OneThread, AECEnv[str, dict[str, np.ndarray] | np.ndarray, int]):
    """One game as an AEC environment that raises IllegalActionError for illegal actions.

    An agent's observation is {"observation": what it may know, "action_mask": int8 (num_actions,)}. The mask is all
    zeros unless the agent is to act. `infos[agent]` has a copy of that mask as "action_mask". If the agent has left the
    game while others play on, it also has its finishing "place" (num_players is last). Later calls do not change arrays
    and lists already returned.

    A player who leaves the game early (`State.active` becomes False) is terminated at once and takes its None step
    before the next player acts.

    Attributes:
        game: the Game.
        options: its validated options.
        max_plies: episodes are truncated after this many plies.
        state_space: Box space of `state()`.
    """

    def __init__(
        self,
        game: str | Game,
        render_mode: str | None = None,
        max_plies: int | None = None,
        *,
        observation: str = "dict",
        observation_dtype: str | None = None,
        observation_key: str = "observation",
        mask_key: str = "action_mask",
        legal_actions: bool = False,
        **options: Any,
    ) -> None:
        """Set up the spaces. Call `reset` to deal.

        Args:
            game: name of a game, or a Game.
            render_mode: "human" prints the table after each reset and step and in `render`; "ansi" makes `render`
                return it as text.
            max_plies: truncate episodes after this many plies; by default the game's own bound, which no game exceeds.
            observation: "dict" returns observation and mask in a dict. "box" returns the array alone, for wrappers and
                trainers that take flat arrays only; the mask is then in `infos` only.
            observation_dtype: dtype to convert observations to, such as "float32"; by default the game's own.
            observation_key, mask_key: keys in the dict of "dict"; the mask has the same key in `infos`.
            legal_actions: whether `infos` also has "legal_actions", the ids as a list. Its length varies, which many
                trainers do not accept.
            options: game options.

        Raises:
            GameNotFoundError: no game has this name.
            OptionError: unknown option or invalid value.
        """
        super().__init__()
        self.game = get_game(game) if isinstance(game, str) else game
        self.options = self.game.make_options(**options)
        self.options.check_environment()
        self.render_mode = arguments.checked_render_mode(self.game, render_mode)
        self.max_plies = arguments.checked_max_plies(self.game, self.options, max_plies)
        self.metadata = {
            "name": self.game.name,
            "render_modes": list(arguments.RENDER_MODES),
            "is_parallelizable": False,
            "render_fps": 1,
        }
        self.possible_agents = [f"player_{p}" for p in range(self.options.num_players)]
        self._player_of = {agent: p for p, agent in enumerate(self.possible_agents)}
        self._num_actions = self.game.num_actions(self.options)
        self._layout = self.game.layout(self.options)
        self._observation_size = self._layout.size
        self._as_box = arguments.checked_choice(self.game, "observation", observation, ("dict", "box")) == "box"
        self._observation_key, self._mask_key = arguments.checked_keys(self.game, observation_key, mask_key)
        self._shown_dtype = arguments.checked_dtype(self.game, observation_dtype, self._layout.dtype)
        self._shows_lists = bool(legal_actions)
        self.observation_spaces: dict[str, Space[Any]] = {
            a: self._new_observation_space() for a in self.possible_agents
        }
        self.action_spaces: dict[str, Space[Any]] = {a: Discrete(self._num_actions) for a in self.possible_agents}
        low, high = (np.tile(bound, len(self.possible_agents)) for bound in (self._layout.low, self._layout.high))
        self.state_space = Box(low, high, dtype=self._layout.dtype)
        self._stream_seed: int | None = None  # of np_random, which is created on first use
        self._stream: np.random.Generator | None = None

    def _new_observation_space(self) -> Space[Any]:
        low, high = (bound.astype(self._shown_dtype) for bound in (self._layout.low, self._layout.high))
        box = Box(low, high, dtype=self._shown_dtype)
        if self._as_box:
            return box
        return Dict({self._observation_key: box, self._mask_key: Box(0, 1, (self._num_actions,), MASK_DTYPE)})

    # -- PettingZoo's interface ---------------------------------------------------------------------------------

    def observation_space(self, agent: str) -> Space[Any]:
        """Return the observation space of `agent`, always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Space[Any]:
        """Return the action space of `agent`, always the same object."""
        return self.action_spaces[agent]

    @one_at_a_time
    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new game, the same one as `game.new_state(seed=seed)`.

        Args:
            seed: seed of the deal, which also reseeds `np_random`. None draws the deal's seed from `np_random`.
            options: {"deck": text or tokens} deals these cards first, as in `game.new_state`. Other keys are ignored.

        Raises:
            DeckError: the explicit deck has an unknown card or too many copies; nothing has changed.
            ValueError: invalid seed; nothing has changed.
        """
        deck = (options or {}).get("deck")
        if deck is not None:
            deck = self.game.parse_deck(deck, self.options).tolist()
        deal_seed = int(self.np_random.integers(SEED_MASK + 1)) if seed is None else seed
        state = self.game.state_type(self.game, self.options, seed=deal_seed, deck=deck)
        if seed is not None:
            self._stream_seed, self._stream = state.seed, None
        self._begin(state)
        if self.render_mode == "human":
            RawEnv.render(self)

    def observe(self, agent: str) -> dict[str, np.ndarray] | np.ndarray:
        """Return what `agent` may know now and its action mask, in new arrays; with "box", the first alone."""
        observation = np.empty(self._observation_size, self._layout.dtype)
        self._state.write_observation(self._player_of[agent], observation)
        if self._shown_dtype != observation.dtype:
            observation = observation.astype(self._shown_dtype)
        if self._as_box:
            return observation
        if agent != self._to_act or self.terminations.get(agent, True) or self.truncations.get(agent, True):
            mask = np.zeros(self._num_actions, MASK_DTYPE)
        else:
            mask = self._mask.copy()
        return {self._observation_key: observation, self._mask_key: mask}

    @one_at_a_time
    def step(self, action: int | None) -> None:
        """Apply an action of `agent_selection`.

        Args:
            action: a legal action as an int, NumPy integer or 0-d integer array; None if the agent is terminated or
                truncated.

        Raises:
            IllegalActionError: the action is illegal. The message gives the reason and the legal actions; nothing has
                changed.
            ValueError: an action other than None for a terminated or truncated agent.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        chosen: Any = action[()] if isinstance(action, np.ndarray) and action.ndim == 0 else action
        self._state.check_legal(chosen)
        if chosen >= self._num_actions:  # an amount without an action of its own, which `State.apply` takes as a code
            raise IllegalActionError(f"{self.game.name}: actions are 0 to {self._num_actions - 1}; got {chosen}")
        self._play(int(chosen))

    @one_at_a_time
    def forfeit(self) -> None:
        """Remove `agent_selection` from the game, for example because its policy failed.

        For the code that runs a match, not for policies. A player who leaves out of turn forfeits on its next turn.

        Raises:
            IllegalActionError: the game is over or was truncated; nothing has changed.
            ValueError: `agent_selection` has already left the game and must take its None step first.
        """
        agent = self.agent_selection
        if not self._state.is_terminal and (not self.agents or self.truncations[agent]):
            raise IllegalActionError(f"{self.game.name}: the episode is over, so nobody can forfeit; call reset()")
        if self.terminations.get(agent) and not self._state.is_terminal:
            raise ValueError(f"{agent} is out: step(None) comes first")
        self._state.apply(FORFEIT + self._state.current_player)
        self._cumulative_rewards[agent] = 0.0
        self._settle()
        if self.render_mode == "human":
            RawEnv.render(self)

    def state(self) -> np.ndarray:
        """Return the observations of all players, concatenated in the order of `possible_agents`.

        The result shows every player's hand. It is meant for centralised critics, not for agents.
        """
        rows = np.empty((len(self.possible_agents), self._observation_size), self._layout.dtype)
        for player in range(len(rows)):
            self._state.write_observation(player, rows[player])
        return rows.reshape(-1)

    def render(self) -> str | np.ndarray | None:
        """Show the table from `agent_selection`'s point of view. Other hands stay hidden, even after the game.

        Render mode "ansi" returns the text, "human" prints it, in colour if standard output is a terminal, and
        "rgb_array" returns a picture, uint8 (height, 640, 3).
        """
        if self.render_mode is None:
            gymnasium.logger.warn(f"{self.game.name}: render() shows nothing; make the environment with a render_mode")
            return None
        return arguments.shown(self._state, self._player_of[self.agent_selection], self.render_mode)

    def close(self) -> None:
        """Do nothing: the environment holds no resources."""

    # -- beyond PettingZoo --------------------------------------------------------------------------------------

    @property
    def game_state(self) -> State:
        """The state of the game, including hidden information. Clone it before you apply actions to it.

        Raises:
            ResetNeeded: there was no `reset` yet.
        """
        if not hasattr(self, "_state"):
            raise gymnasium.error.ResetNeeded(f"{self.game.name}: call reset() before game_state")
        return self._state

    @property
    def np_random(self) -> np.random.Generator:
        """The environment's random generator, from which `reset()` without a seed draws."""
        if self._stream is None:
            self._stream, _ = np_random(self._stream_seed)
        return self._stream

    def clone(self) -> Self:
        """Return an independent copy. Faster than a deepcopy, because it shares the space objects."""
        shared = (self.game, self.options, self._layout, self.observation_spaces, self.action_spaces, self.state_space)
        return copy.deepcopy(self, {id(value): value for value in shared})

    @one_at_a_time
    def get_state(self) -> bytes:
        """Return the position as bytes for `set_state`, without the state of `np_random`."""
        fields = {name: getattr(self, name) for name in _SAVED_FIELDS}
        fields["cumulative"] = self._cumulative_rewards
        fields["next_selection"] = self._skip_agent_selection
        fields["places"] = self._places
        return sealed(_MAGIC, fields, self._state.to_bytes())

    @one_at_a_time
    def set_state(self, data: bytes) -> None:
        """Restore a position from `get_state`.

        Data from `State.to_bytes` is accepted as well; then every agent's cumulative reward is its reward from the last
        action.

        Raises:
            FormatError: the data is damaged or edited, or belongs to another game, version or options; nothing has
                changed.
        """
        with_fields = isinstance(data, bytes) and data.startswith(_MAGIC)
        fields, saved = split_saved(data, _MAGIC, "position") if with_fields else (None, data)
        state = self.game.from_bytes(saved)
        if state.options != self.options:
            raise FormatError(
                f"the saved position has options {state.options} of {self.game.name}; this environment has "
                f"{self.options}"
            )
        if fields is not None:
            self._check_fields(fields, state)
        self._begin(state)
        if fields is not None:
            self._restore_fields(fields)

    # -- play ---------------------------------------------------------------------------------------------------

    def _begin(self, state: State) -> None:
        """Reset PettingZoo's attributes for an episode that starts at `state`."""
        self._state = state
        self._watch_state()
        self.agents = self.possible_agents[:]
        self.agent_selection = self.agents[0]
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: self._idle_info() for agent in self.agents}
        self._skip_agent_selection = None
        self._places: dict[str, float] = {}
        self._to_act: str | None = None
        self._settle()

    def _watch_state(self) -> None:
        """Set up views of the record fields that every step reads."""
        n = len(self.possible_agents)
        states = self._state._states
        self._current_player, self._ply = states["current_player"], states["ply"]
        self._rewards_now, self._active_now = states["rewards"][0, :n], states["active"][0, :n]

    def _play(self, action: int) -> None:
        """Apply an action known to be legal."""
        self._state.apply_unchecked(action)
        self._cumulative_rewards[self.agent_selection] = 0.0
        self._settle()
        if self.render_mode == "human":
            RawEnv.render(self)

    def _settle(self) -> None:
        """Update rewards, terminations, truncations and the agent to act after a deal or an action."""
        rewards = self._rewards_now.tolist()
        self.rewards = dict.fromkeys(self.agents, 0.0)
        if any(rewards):
            self._give(rewards)
        player = self._current_player.item()
        if player == TERMINAL_PLAYER:
            self._end(self.terminations)
        elif self._ply.item() >= self.max_plies:
            self._end(self.truncations)
        else:
            self._give_turn(self.possible_agents[player])
            if 0 in self._active_now.tolist():
                self._eliminate()

    def _give(self, rewards: list[float]) -> None:
        """Add each player's reward."""
        for agent in self.agents:
            reward = rewards[self._player_of[agent]]
            self.rewards[agent] = reward
            self._cumulative_rewards[agent] += reward

    def _give_turn(self, agent: str) -> None:
        """Make `agent` the one to act, and write the mask and its info."""
        infos, before = self.infos, self._to_act
        if before is not None and before != agent:
            infos[before] = self._idle_info()
        self._to_act = self.agent_selection = agent
        self._mask = mask = np.empty(self._num_actions, MASK_DTYPE)
        self._state.write_mask(mask)
        infos[agent] = self._info(mask.copy(), self._state.legal_actions() if self._shows_lists else [])

    def _idle_info(self) -> dict[str, Any]:
        return self._info(np.zeros(self._num_actions, MASK_DTYPE), [])

    def _info(self, mask: np.ndarray, legal: list[int]) -> dict[str, Any]:
        return {self._mask_key: mask, "legal_actions": legal} if self._shows_lists else {self._mask_key: mask}

    def _end(self, flags: dict[str, bool]) -> None:
        """Set `flags`, the terminations or the truncations, for all remaining agents."""
        if self._to_act is not None:
            self.infos[self._to_act] = self._idle_info()
            self._to_act = None
        for agent in self.agents:
            flags[agent] = True
        self._deads_step_first()

    def _eliminate(self) -> None:
        """Terminate the agents that left the game in the last action. They take their None steps before the others."""
        out = [agent for agent in self.agents if not self._active_now[self._player_of[agent]]]
        if not out:
            return
        behind_all = len(self.agents) - len(out) + 1
        for agent in out:
            self.terminations[agent] = True
            place: float = self.game.view.place(self._state.record, self._player_of[agent]) or behind_all
            self._places[agent] = self.infos[agent]["place"] = place
        self._deads_step_first()

    # -- copies -------------------------------------------------------------------------------------------------

    def __copy__(self) -> Self:
        return self.clone()

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the views of the record; `__setstate__` restores them."""
        return {name: value for name, value in super().__getstate__().items() if name not in _VIEWS}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        """Restore what `__getstate__` returned."""
        self.__dict__.update(kept)
        if "_state" in kept:
            self._watch_state()

    def _check_fields(self, fields: dict[str, Any], state: State) -> None:
        """Raise FormatError unless the saved attributes fit an environment at `state`."""
        check_fields(fields, _FIELD_TYPES, "the saved position")
        agents, selected = fields["agents"], fields["agent_selection"]
        for name, kind in _BY_AGENT.items():
            names, most = list(fields[name]), self.possible_agents if name == "places" else agents
            if not all(type(value) in kind and math.isfinite(value) for value in fields[name].values()) or (
                not set(names) <= set(most) if name == "places" else names != most
            ):
                raise FormatError(f"the saved position is damaged: its {name} are {short(fields[name])}")
        dead = [agent for agent in agents if fields["terminations"][agent] or fields["truncations"][agent]]
        active = [agent for agent in self.possible_agents if state.record.active[self._player_of[agent]]]
        is_over = state.is_terminal or not agents or all(fields["truncations"].values())
        if [agent for agent in agents if agent not in dead] != ([] if is_over else active):
            raise FormatError(f"the saved position is damaged: {short(dead)} are out among {short(agents)}")
        to_act = None if state.is_terminal else self.possible_agents[state.current_player]
        fits = agents == [agent for agent in self.possible_agents if agent in agents]
        if not fits or (agents and selected not in (*dead, to_act)) or selected not in self.possible_agents:
            raise FormatError(f"the saved position is damaged: {short(selected)} is to act among {short(agents)}")
        if fields["next_selection"] not in (None, *self.possible_agents):
            raise FormatError(f"the saved position is damaged: {short(fields['next_selection'])} is not an agent")

    def _restore_fields(self, fields: dict[str, Any]) -> None:
        for name in _SAVED_FIELDS:
            setattr(self, name, fields[name])
        self._cumulative_rewards = fields["cumulative"]
        self._skip_agent_selection = fields["next_selection"]
        self._places = fields["places"]
        self.infos = {agent: self.infos[agent] for agent in self.agents}
        for agent in self.agents:
            if agent in self._places:
                self.infos[agent]["place"] = self._places[agent]


_NUMBER, _FLAG = (int, float), (bool,)
_BY_AGENT: dict[str, tuple[type, ...]] = {
    "rewards": _NUMBER, "terminations": _FLAG, "truncations": _FLAG, "cumulative": _NUMBER, "places": _NUMBER
}  # fmt: skip
_FIELD_TYPES: dict[str, Any] = dict.fromkeys(_BY_AGENT, dict) | {
    "agents": list, "agent_selection": str, "next_selection": str | None
}  # fmt: skip
_VIEWS = ("_current_player", "_ply", "_rewards_now", "_active_now")
