"""Checks of all interfaces: whole buffers in twin worlds, copies against originals, and rejection of codes.

Buffers are compared whole, including entries beyond the documented end.
"""

import contextlib
import copy
import dataclasses
import importlib.util
import pickle
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from cardenvs.core.codes import FORFEIT, NO_ACTION, TERMINAL_PLAYER
from cardenvs.core.errors import CardenvsError, IllegalActionError, OptionError
from cardenvs.core.state import State
from cardenvs.testing.case import Case, ConformanceError, fail, results_checked_by

_MOST_MOVES = 6  # moves of a game after which buffers are compared
_MOST_STEPS = 120  # steps that a copy is played alongside its original
_SECRET = {"episode_seed"}  # entries of a batch that may depend on hidden information
_HAS_SB3 = importlib.util.find_spec("stable_baselines3") is not None

_Play = Callable[[Any, int], bool]  # plays one step of an interface; returns whether there is another
_Show = Callable[[Any], Any]  # everything that an interface shows

WAYS: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),
}


def check_doors(case: Case) -> None:
    """Run all checks of this module."""
    check_whole_buffers(case)
    check_copies_play_on(case)
    check_codes_are_refused(case)


def frozen(value: Any) -> Any:
    """Return a value in a form for `==`, with arrays as dtype, shape and bytes."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return frozen({field.name: getattr(value, field.name) for field in dataclasses.fields(value)})
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.tobytes()
    if isinstance(value, dict):
        return [(key, frozen(entry)) for key, entry in value.items()]
    if isinstance(value, list | tuple):
        return [frozen(entry) for entry in value]
    return repr(value)


# -- twin worlds --------------------------------------------------------------------------------------------------


def check_whole_buffers(case: Case) -> None:
    """Check that a player gets the same buffers after another player's action in the true world and in a twin."""
    for before, action, player in _moves_to(case):
        known: dict[str, dict[str, Any]] = {}  # what the true world shows, by interface
        for k in range(2):
            twin = before.determinize(player, seed=(case.play_seed + 7 * before.ply + k) % 2**62)
            if not _is_the_same_to(player, before, twin, action):
                continue
            for name, show in _SHOWN.items():
                if name not in known:
                    known[name] = show(case, before, action, player)
                for part, found in show(case, twin, action, player).items():
                    wanted = known[name][part]
                    if frozen(wanted) != frozen(found):
                        fail(
                            case, before, f"{name}: {part} shows player {player} what is hidden:\n{wanted!r}\n{found!r}"
                        )


def _moves_to(case: Case) -> Iterator[tuple[State, int, int]]:
    """Return (state, action taken, next player to act) for some moves of the game after which the player changes."""
    moves: list[tuple[State, int, int]] = []
    before: State | None = None
    for state in case.positions():
        if before is not None and state.current_player not in (before.current_player, TERMINAL_PLAYER):
            moves.append((before, state.actions[-1], state.current_player))
        before = state.clone() if not state.is_terminal else None
    chosen = random.Random(case.play_seed).sample(moves, min(_MOST_MOVES, len(moves)))
    return iter(chosen)


def _is_the_same_to(player: int, before: State, twin: State, action: int) -> bool:
    """Return whether `player` sees the same events when `action` is taken in a state and in its twin."""
    if action not in twin.legal_actions():
        return False
    after, twin_after = before.clone(), twin.clone()
    after.apply(action)
    twin_after.apply(action)
    same = np.array_equal(after.event_rows(player), twin_after.event_rows(player))
    return same and twin_after.current_player == player


def _state_shows(case: Case, before: State, action: int, player: int) -> dict[str, Any]:
    state = before.clone()
    state.apply(action)
    return {
        "observation": state.observation(player),
        "action mask": state.action_mask(player),
        "legal actions": state.legal_actions(),
        "view": state.view(player),
        "facts": state.facts(player),
        "candidates": [one.actions for one in state.candidates()],
    }


def _aec_shows(case: Case, before: State, action: int, player: int) -> dict[str, Any]:
    from cardenvs.envs.raw_aec import RawEnv

    env, agent = RawEnv(case.game, "ansi", **case.options.as_dict()), f"player_{player}"
    env._begin(before.clone())
    while env.terminations[env.agent_selection]:
        env.step(None)
    env.step(action)
    return {
        "observe": env.observe(agent),
        "infos": env.infos,
        "rewards": env.rewards,
        "ends": [env.terminations, env.truncations],
        "cumulative rewards": env._cumulative_rewards,
        "agents": [env.agents, env.agent_selection],
        "render": env.render() if env.agent_selection == agent else None,
    }


def _batch_shows(case: Case, before: State, action: int, player: int) -> dict[str, Any]:
    from cardenvs.envs.vector import VectorEnv

    vec = VectorEnv(case.game, 1, 0, 1, **case.options.as_dict())
    vec.reset()
    vec.put_state(0, before)
    batch = vec.step(np.array([action]))
    shown = {f.name: getattr(batch, f.name) for f in dataclasses.fields(batch) if f.name not in _SECRET}
    shown["observe"] = vec.observe(player)
    shown["policy_actions"] = vec.policy_actions("random", np.array([0]), 1, 1)  # check_no_leak tries the others
    return shown


def _seat_shows(case: Case, before: State, action: int, player: int) -> dict[str, Any]:
    from cardenvs.agents import Agent
    from cardenvs.agents.seating import Seat
    from cardenvs.envs.single import SeatEnv

    class Scripted(Agent):
        name = "scripted"

        def act(self, turn: Any) -> int:
            return action

    env = SeatEnv(case.game, seat=player, dict_observation=True, **case.options.as_dict())
    env._state, env._seat, env._over, env._reward = before.clone(), player, False, 0.0
    seat = Seat(Scripted(), before.current_player, 0, guest=False)  # a twin of `player` has no turns of other players
    env._seats = {before.current_player: seat}
    env._play_opponents()
    return {"observation": env._observation(), "info": env._info(), "masks": env.action_masks(), "reward": env._reward}


class _SeenError(Exception):
    """Raised by an opponent to end a step."""


def _seat_vec_shows(case: Case, before: State, action: int, player: int) -> dict[str, Any]:
    from cardenvs.envs.sb3 import SeatVecEnv

    shown: dict[str, Any] = {}
    armed = False

    def opponent(observation: Any, mask: Any, legal: Any, num_legal: Any) -> Any:
        if not armed:
            return legal[:, 0]
        shown.update(observation=observation, mask=mask, legal=legal, num_legal=num_legal)
        raise _SeenError

    try:
        env = SeatVecEnv(case.game, 1, before.current_player, opponent, **case.options.as_dict())
    except OptionError:  # amounts are actions
        return {}
    env.reset()
    env.vec.put_state(0, before)
    env.seats[0] = before.current_player
    armed = True
    with contextlib.suppress(_SeenError):
        env.step(np.array([action]))
    return shown


_SHOWN: dict[str, Callable[[Case, State, int, int], dict[str, Any]]] = {
    "State": _state_shows,
    "RawEnv": _aec_shows,
    "VectorEnv": _batch_shows,
    "SeatEnv": _seat_shows,
} | ({"SeatVecEnv": _seat_vec_shows} if _HAS_SB3 else {})


# -- copies -------------------------------------------------------------------------------------------------------


def check_copies_play_on(case: Case) -> None:
    """Check that a copy of each interface, made during a game, shows the same as the original until the end."""
    for name, begin in _BEGIN.items():
        try:
            original, step, show = begin(case)
        except OptionError:  # amounts are actions
            continue
        chooser = random.Random(case.play_seed)
        for _ in range(3):
            step(original, chooser.randrange(1 << 30))
        copies = {way: duplicate(original) for way, duplicate in WAYS.items()}
        for _ in range(_MOST_STEPS):
            draw, wanted = chooser.randrange(1 << 30), frozen(show(original))
            for way, one in copies.items():
                if frozen(show(one)) != wanted:
                    raise ConformanceError(f"{case}: a {way} of {name} does not show the same as the original")
            going_on = [step(one, draw) for one in (original, *copies.values())]
            if not all(going_on):
                break


def _begin_state(case: Case) -> tuple[Any, _Play, _Show]:
    def step(state: State, draw: int) -> bool:
        if not state.is_terminal:
            legal = state.legal_actions()
            state.apply(legal[draw % len(legal)])
        return not state.is_terminal

    def show(state: State) -> Any:
        seen = [state.observation(player) for player in range(state.num_players)]
        return [state.record_bytes(), state.actions, state.legal_actions(), state.rewards, seen]

    return case.start(), step, show


def _begin_aec(case: Case) -> tuple[Any, _Play, _Show]:
    from cardenvs.envs.aec import Env

    def step(env: Env, draw: int) -> bool:
        if env.agents:
            agent = env.agent_selection
            legal = np.flatnonzero(env.infos[agent]["action_mask"])
            env.step(None if env.terminations[agent] or env.truncations[agent] else legal[draw % len(legal)])
        return bool(env.agents)

    def show(env: Env) -> Any:
        seen = [env.observe(agent) for agent in env.agents]
        return [env.agents, env.agent_selection, env.rewards, env.terminations, env.infos, seen]

    env = Env(case.game, **case.options.as_dict())
    env.reset(seed=case.seed)
    return env, step, show


def _begin_batch(case: Case) -> tuple[Any, _Play, _Show]:
    from cardenvs.envs.vector import VectorEnv

    def step(vec: VectorEnv, draw: int) -> bool:
        vec.step(vec.sample_actions())
        return True

    def show(vec: VectorEnv) -> Any:
        legal, num_legal = vec.batch.legal_actions, vec.batch.num_legal
        assert legal is not None
        behind = np.arange(legal.shape[1]) >= num_legal[:, None]
        if (legal[behind] != NO_ACTION).any():
            raise ConformanceError(f"{case}: a legal list of a batch continues beyond its end: {legal}")
        return [vec.batch, [vec.observe(player) for player in range(vec.num_players)]]

    vec = VectorEnv(case.game, 3, case.seed, 1, resumable=True, **case.options.as_dict())
    vec.reset()
    return vec, step, show


def _begin_seat(case: Case) -> tuple[Any, _Play, _Show]:
    from cardenvs.envs.single import SeatEnv

    def step(env: SeatEnv, draw: int) -> bool:
        legal = np.flatnonzero(env._info()["action_mask"])
        with results_checked_by(env):
            _, _, terminated, truncated, _ = env.step(legal[draw % len(legal)])
            if terminated or truncated:
                env.reset()
        return True

    env = SeatEnv(case.game, "random", **case.options.as_dict())
    with results_checked_by(env):
        env.reset(seed=case.seed)
    return env, step, lambda env: [env._observation(), env._info(), env.game_state.record_bytes()]


def _begin_seat_vec(case: Case) -> tuple[Any, _Play, _Show]:
    from cardenvs.envs.sb3 import SeatVecEnv

    def step(env: SeatVecEnv, draw: int) -> bool:
        masks = env.action_masks()
        env.step(np.array([np.flatnonzero(mask)[draw % int(mask.sum())] for mask in masks]))
        return True

    env = SeatVecEnv(case.game, 2, "random", seed=case.seed, num_threads=1, **case.options.as_dict())
    env.reset()
    return env, step, lambda env: [env.vec.batch, env.action_masks(), env.seats]


_BEGIN: dict[str, Callable[[Case], tuple[Any, _Play, _Show]]] = {
    "State": _begin_state,
    "Env": _begin_aec,
    "VectorEnv": _begin_batch,
    "SeatEnv": _begin_seat,
} | ({"SeatVecEnv": _begin_seat_vec} if _HAS_SB3 else {})


# -- codes --------------------------------------------------------------------------------------------------------


def check_codes_are_refused(case: Case) -> None:
    """Check that interfaces for agents and learners reject the codes of all players, and change nothing."""
    for name, begin in _BEGIN.items():
        if name == "State":  # `apply` accepts codes; `check_legal` is tested below
            continue
        try:
            env, _, show = begin(case)
        except OptionError:
            continue
        before = frozen(show(env))
        for player in range(case.options.num_players):
            code = FORFEIT + player
            try:
                env.step(np.full(env.num_envs, code) if hasattr(env, "num_envs") else code)
            except (CardenvsError, AssertionError):
                if frozen(show(env)) == before:
                    continue
            raise ConformanceError(f"{case}: {name} accepts the code {code}, or changes when it rejects it")
    state = case.start()
    for player in range(case.options.num_players):
        try:
            state.check_legal(FORFEIT + player)
        except IllegalActionError:
            continue
        raise ConformanceError(f"{case}: State.check_legal accepts a code")
