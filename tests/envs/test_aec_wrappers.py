"""`Env` against `RawEnv` in PettingZoo's stock wrappers: the same calls, the same everything."""

import random
import warnings

import numpy as np
import pytest
from games import ELIMINATION
from pettingzoo.utils.env_logger import EnvLogger
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper

from cardenvs.core.errors import DeckError
from cardenvs.envs.aec import Env
from cardenvs.envs.raw_aec import RawEnv

CONFIGURATIONS = {
    "kuhn": ("kuhn_poker_v0", {}),
    "leduc": ("leduc_poker_v0", {"render_mode": "ansi"}),
    "leduc3": ("leduc_poker_v0", {"num_players": 3}),
    "printed": ("leduc_poker_v0", {"render_mode": "human"}),
    "capped": ("leduc_poker_v0", {"num_players": 3, "max_plies": 3}),
    "elimination": (ELIMINATION.name, {"num_players": 4}),
}
PUBLIC = [
    "agents", "agent_selection", "rewards", "terminations", "truncations", "infos", "_cumulative_rewards",
    "num_agents", "max_num_agents", "possible_agents",
]  # fmt: skip
ODD_ACTIONS = [
    -1, 3, 2**70, -(2**70), None, True, False, 1.0, "1", np.int32(0), np.uint64(1), np.int8(2), np.float32(1),
    np.array(1), np.array([1]), np.bool_(True), [0], float("nan"),
]  # fmt: skip


def stock(name, **options):
    env = RawEnv(name, **options)
    env = TerminateIllegalWrapper(env, illegal_reward=-1)
    return OrderEnforcingWrapper(AssertOutOfBoundsWrapper(env))


class Driven:
    """One of the two environments, and all that can be seen of it."""

    def __init__(self, env, capsys):
        self.env, self.capsys = env, capsys
        self.iterator = None

    def outcome(self, call):
        """What a call gives: its value or its error, and the warnings and prints on the way."""
        EnvLogger.flush()
        self.capsys.readouterr()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                result = "value", call(self)
            except Exception as error:
                # The only difference: a missing public attribute is missing from RawEnv in the stock wrappers.
                result = type(error), str(error).replace("'RawEnv' object", "'Env' object")
        return result, [str(w.message) for w in caught], list(EnvLogger.mqueue), self.capsys.readouterr().out

    def public(self):
        return {name: self.outcome(lambda d, n=name: getattr(d.env, n)) for name in PUBLIC}

    def start_iterator(self, most):
        self.iterator = iter(self.env.agent_iter(most))

    def next_agent(self):
        return None if self.iterator is None else next(self.iterator)


def random_call(rng, driven):
    """A call to make on both, chosen from what one of them shows: a name for messages, and a function of Driven."""
    env = driven.env
    kind = rng.choices(
        ["legal", "any", "odd", "none", "last", "blind", "observe", "state", "render", "iterate", "next", "attribute",
         "reset", "text", "space", "close"],
        [90, 3, 4, 2, 15, 2, 5, 2, 2, 8, 16, 3, 3, 1, 1, 1],
    )[0]  # fmt: skip
    if kind == "legal" and hasattr(env, "agents") and env.agents:
        if env.terminations[env.agent_selection] or env.truncations[env.agent_selection]:
            return "step(None)", lambda d: d.env.step(None)
        action = rng.choice(np.flatnonzero(env.infos[env.agent_selection]["action_mask"]).tolist())
        return f"step({action})", lambda d: d.env.step(action)
    if kind in ("legal", "any", "odd"):
        action = rng.choice(ODD_ACTIONS) if kind == "odd" else rng.randrange(3)
        return f"step({action!r})", lambda d: d.env.step(action)
    if kind == "none":
        return "step(None)", lambda d: d.env.step(None)
    if kind == "observe":
        agent = rng.choice([*env.possible_agents, "nobody", None])
        return f"observe({agent!r})", lambda d: d.env.observe(agent)
    if kind == "attribute":
        name = rng.choice(["missing", "_private", "__strange__", "metadata", "render_mode", "state_space", "np_random"])
        return f"getattr {name}", lambda d: shown(getattr(d.env, name))
    if kind == "reset":
        seed, options = rng.choice([None, rng.randrange(9), rng.randrange(9)]), rng.choice([None, {"x": 1}])
        if (
            hasattr(env, "agents") and rng.random() < 0.5
        ):  # a first reset that fails is the one difference, tested below
            seed, options = rng.choice([(-1, None), (3, {"deck": "?"})])
        return f"reset({seed}, {options})", lambda d: d.env.reset(seed=seed, options=options)
    if kind == "iterate":
        most = rng.choice([1, 3, 2**63])
        return "agent_iter", lambda d: d.start_iterator(most)
    if kind == "space":
        agent = rng.choice([*env.possible_agents, "nobody"])
        return "spaces", lambda d: (d.env.observation_space(agent), d.env.action_space(agent))
    calls = {
        "last": lambda d: d.env.last(), "blind": lambda d: d.env.last(observe=False), "state": lambda d: d.env.state(),
        "render": lambda d: d.env.render(), "next": lambda d: d.next_agent(), "text": lambda d: str(d.env),
        "close": lambda d: d.env.close(),
    }  # fmt: skip
    return kind, calls[kind]


def shown(value):
    return value.bit_generator.state if isinstance(value, np.random.Generator) else value


def same(a, b):
    """Equal in type, dtype and value, all the way down."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_the_fused_environment_behaves_as_the_stock_wrappers_do(configuration, capsys):
    name, options = CONFIGURATIONS[configuration]
    seen = set()
    for seed in range(120):
        rng = random.Random(f"{configuration} {seed}")
        fused, wrapped = Driven(Env(name, **options), capsys), Driven(stock(name, **options), capsys)
        for driven in (fused, wrapped):
            driven.env.unwrapped._stream_seed = seed  # so that reset() without a seed deals the same on both sides
        if rng.random() < 0.8:
            fused.env.reset(seed=seed)
            wrapped.env.reset(seed=seed)
        calls = []
        for _ in range(rng.choice([10, 60])):
            text, call = random_call(rng, wrapped)
            calls.append(text)
            got, expected = fused.outcome(call), wrapped.outcome(call)
            assert same(got, expected), f"{calls}\n fused: {got}\n stock: {expected}"
            got_public, expected_public = fused.public(), wrapped.public()
            assert same(got_public, expected_public), f"{calls}\n fused: {got_public}\n stock: {expected_public}"
            seen.add((expected[0][0] if expected[0][0] != "value" else "value", bool(expected[2])))
    # The sequences did reach values, warnings and each kind of error.
    assert {
        ("value", False),
        ("value", True),
        (AssertionError, False),
        (AttributeError, False),
        (ValueError, False),
    } <= seen


def test_a_first_reset_that_fails_is_no_reset():
    env = Env("leduc_poker_v0")
    with pytest.raises(DeckError, match="'Zz' is not one of"):
        env.reset(options={"deck": "Zz"})
    with pytest.raises(AttributeError, match="agents cannot be accessed before reset"):
        env.agents  # noqa: B018
    with pytest.raises(AssertionError, match="reset\\(\\) needs to be called before step"):
        env.step(0)


def test_an_illegal_action_ends_the_game_as_in_the_stock_wrapper():
    EnvLogger.flush()
    env = Env("leduc_poker_v0")
    env.reset(seed=1)
    env.step(0)  # fold, with nothing owed
    assert env.agents == ["player_0", "player_1"]
    assert env.rewards == {"player_0": -1.0, "player_1": 0.0}
    assert all(env.terminations.values())
    assert all(env.truncations.values())
    assert not env.observe("player_0")["action_mask"].any()
    for agent in env.agent_iter():
        _, reward, terminated, truncated, _ = env.last()
        assert reward == (-1.0 if agent == "player_0" else 0.0)
        assert terminated
        assert truncated
        env.step(None)
    assert env.agents == []
    assert "Illegal move made" in EnvLogger.mqueue[0]
