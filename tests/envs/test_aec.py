"""The PettingZoo face: PettingZoo's own tests, the list in conventions.md section 2, and what goes beyond it."""

import copy
import importlib
import pickle
import random
import re
import subprocess
import sys
import warnings
from collections import Counter

import gymnasium
import numpy as np
import pettingzoo
import pytest
from games import ELIMINATION, GAMES
from pettingzoo.test import api_test, performance_benchmark, render_test, seed_test
from pettingzoo.test.state_test import test_state as check_state
from pettingzoo.test.state_test import test_state_space as check_state_space

import cardenvs
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import DeckError, FormatError, GameNotFoundError, IllegalActionError, OptionError
from cardenvs.core.registry import game_targets, get_game
from cardenvs.envs import register_with_pettingzoo
from cardenvs.envs.aec import Env, environment_functions, make
from cardenvs.envs.raw_aec import RawEnv

CLASSES = [RawEnv, Env]
every_game = pytest.mark.parametrize("name", GAMES)
every_class = pytest.mark.parametrize("kind", CLASSES)


def fresh(kind, name, seed=0, **options):
    env = kind(name, **options)
    env.reset(seed=seed)
    return env


def choose(env, rng):
    """None for an agent that is out, else a legal action."""
    _, _, terminated, truncated, info = env.last(observe=False)
    return None if terminated or truncated else rng.choice(np.flatnonzero(info["action_mask"]).tolist())


def play(env, rng, most=10**6):
    """Random legal play; gives the env before each step."""
    for _ in env.agent_iter(most):
        yield env
        env.step(choose(env, rng))


def shown(env):
    """All that the environment shows of a position."""
    parts = (
        env.agents, env.agent_selection, env.rewards, env.terminations, env.truncations, env._cumulative_rewards,
        env.infos, [env.observe(agent) for agent in env.possible_agents], env.state(), env.game_state.record_bytes(),
    )  # fmt: skip
    return repr([plain(part) for part in parts])


def plain(value):
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.tolist()
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    return [plain(entry) for entry in value] if isinstance(value, list) else value


# -- PettingZoo's own tests -------------------------------------------------------------------------------------


@every_game
@every_class
def test_api(name, kind):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(kind(name), num_cycles=200)
    # Said of every environment with Dict observations that is not on a list of PettingZoo's own.
    assert {str(w.message) for w in caught} == {
        "Observation is not a NumPy array",
        "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
    }


@every_game
@every_class
def test_seeds(name, kind):
    seed_test(lambda: kind(name), num_cycles=100)


@every_game
def test_state_and_its_space(name):
    env = make(name)
    check_state_space(env)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_state(env, num_cycles=50)


@every_game
@every_class
def test_render_modes(name, kind, capsys):
    render_test(lambda render_mode: kind(name, render_mode=render_mode))


@every_game
def test_performance_benchmark_runs(name, monkeypatch, capsys):
    clock = iter(range(1000))
    monkeypatch.setattr(performance_benchmark.__globals__["time"], "time", lambda: next(clock))
    performance_benchmark(make(name))
    assert "turns per second" in capsys.readouterr().out


# -- the class --------------------------------------------------------------------------------------------------


@every_game
@every_class
def test_names_metadata_and_spaces(name, kind):
    env = kind(name, render_mode="ansi")
    game = get_game(name)
    assert str(env) == name == env.metadata["name"]
    assert env.metadata["render_modes"] == ["human", "ansi", "rgb_array"]
    assert env.metadata["is_parallelizable"] is False
    assert env.render_mode == "ansi"
    assert env.possible_agents == [f"player_{p}" for p in range(env.max_num_agents)]
    layout = game.layout(env.options)
    for agent in env.possible_agents:
        space = env.observation_space(agent)
        assert space is env.observation_space(agent)
        assert env.action_space(agent) is env.action_space(agent)
        assert env.action_space(agent).n == game.num_actions(env.options)
        assert space["observation"].dtype == layout.dtype
        assert (space["observation"].low == layout.low).all()
        assert (space["observation"].high == layout.high).all()
        assert space["action_mask"].dtype == np.int8
        assert space == env.observation_space(env.possible_agents[0])
    assert not isinstance(env.unwrapped, pettingzoo.utils.BaseWrapper)


@every_game
@every_class
def test_masks_infos_and_flags_throughout(name, kind):
    rng = random.Random(name)
    counted = Counter()
    for seed in range(30):
        env = fresh(kind, name, seed)
        for _ in play(env, rng):
            keys = set(env.agents)
            for books in (env.rewards, env.terminations, env.truncations, env.infos, env._cumulative_rewards):
                assert set(books) == keys
            for agent in env.agents:
                assert type(env.terminations[agent]) is bool
                assert type(env.truncations[agent]) is bool
                mask = env.observe(agent)["action_mask"]
                info = env.infos[agent]
                to_act = agent == env.agent_selection and not env.terminations[agent]
                expected = env.game_state.legal_actions() if to_act else []
                assert np.flatnonzero(mask).tolist() == expected
                assert "legal_actions" not in info
                assert mask.dtype == info["action_mask"].dtype == np.int8
                assert mask.tolist() == info["action_mask"].tolist()
                assert env.observe(agent) in env.observation_space(agent)
                counted["acting" if to_act else "waiting"] += 1
        assert env.agents == []
        assert all(not env.observe(agent)["action_mask"].any() for agent in env.possible_agents)
    assert min(counted["acting"], counted["waiting"]) > 30


@every_game
@every_class
def test_rewards_add_up_to_the_returns(name, kind):
    rng = random.Random(name)
    for seed in range(30):
        env = fresh(kind, name, seed)
        by_last, by_rewards = Counter(), Counter()
        for agent in env.agent_iter():
            by_last[agent] += env.last(observe=False)[1]
            env.step(choose(env, rng))
            by_rewards.update(env.rewards)
        expected = env.game_state.returns
        assert [by_last[agent] for agent in env.possible_agents] == expected
        assert [by_rewards[agent] for agent in env.possible_agents] == expected


@every_game
@every_class
def test_a_seed_deals_what_the_game_deals(name, kind):
    game = get_game(name)
    decks = set()
    for seed in (0, 1, 2**63 - 1, np.int64(5)):
        env = kind(name)
        assert env.reset(seed=seed) is None
        assert env.game_state.record_bytes() == game.new_state(seed=int(seed)).record_bytes()
        decks.add(env.game_state.record_bytes())
    assert len(decks) == 4


@every_game
@every_class
def test_resets_without_a_seed_continue_the_environments_own_stream(name, kind):
    def deals(env):
        for _ in range(5):
            env.reset()
            yield env.game_state.seed

    before = random.getstate(), np.random.get_state()[1].tolist()
    first, second, third = fresh(kind, name, 7), fresh(kind, name, 7), fresh(kind, name, 8)
    drawn = list(deals(first))
    assert drawn == list(deals(second))
    assert len({*drawn, *deals(third)}) == 10
    assert len({*deals(kind(name)), *deals(kind(name))}) == 10  # never seeded: from the system's entropy
    assert before == (random.getstate(), np.random.get_state()[1].tolist())


@every_class
def test_reset_deals_an_explicit_deck_and_ignores_other_keys(kind):
    env = kind("kuhn_poker_v0")
    env.reset(seed=1, options={"deck": "K J", "unknown": 3})
    assert "K" in env.game_state.render(0)
    assert env.game_state.deck.tolist() == get_game("kuhn_poker_v0").parse_deck("K J", env.options).tolist()
    env.reset(seed=1, options={"deck": [2, 0]})
    before = shown(env), env.np_random.bit_generator.state
    for deck in ("K K", "X", [7]):
        with pytest.raises(DeckError):
            env.reset(options={"deck": deck})
        with pytest.raises(DeckError):
            env.reset(seed=3, options={"deck": deck})
    with pytest.raises(ValueError, match="a seed is an integer from 0"):
        env.reset(seed=-1)
    assert before == (shown(env), env.np_random.bit_generator.state)


@every_game
def test_options_are_checked_by_name(name):
    for wrong in (
        {"colour": 3},
        {"num_players": 99},
        {"max_plies": 0},
        {"max_plies": True},
        {"render_mode": "video"},
    ):
        with pytest.raises(OptionError, match=rf"{name}: .*{next(iter(wrong))}"):
            make(name, **wrong)
    with pytest.raises(GameNotFoundError, match=r"a game is given by its name, such as '.*'; got None"):
        get_game(None)
    with pytest.raises(GameNotFoundError, match="no game named"):
        make("no_such_game_v0")


@every_game
def test_raw_env_refuses_an_illegal_action_and_changes_nothing(name):
    rng = random.Random(name)
    refused = 0
    for seed in range(20):
        env = fresh(RawEnv, name, seed)
        for _ in play(env, rng):
            _, _, terminated, _, info = env.last()
            if terminated:
                with pytest.raises(ValueError, match="the only valid action is None"):
                    env.step(0)
                continue
            wrong = [a for a in range(env.action_space("player_0").n) if not info["action_mask"][a]]
            before = shown(env)
            for action in [*wrong, -1, env.action_space("player_0").n, None, True, 0.5, "0", np.array([0])]:
                with pytest.raises(IllegalActionError):
                    env.step(action)
                refused += 1
            assert shown(env) == before
    assert refused > 100


def test_a_refusal_names_the_rule():
    env = fresh(RawEnv, "leduc_poker_v0")
    with pytest.raises(IllegalActionError, match=r"leduc_poker_v0: player_0 may not fold.*rules.md.*legal: "):
        env.step(0)


@every_class
def test_actions_may_be_any_integer_scalar(kind):
    env = kind("leduc_poker_v0")
    reached = set()
    for action in (1, np.int8(1), np.int32(1), np.int64(1), np.array(1)):
        env.reset(seed=3)
        env.step(action)
        assert [type(a) for a in env.game_state.actions] == [int]
        reached.add(shown(env))
    assert len(reached) == 1


@every_class
def test_the_ply_cap_truncates(kind):
    env = fresh(kind, "leduc_poker_v0", max_plies=2)
    assert not any(env.truncations.values())
    env.step(1)
    env.step(1)
    assert env.truncations == {"player_0": True, "player_1": True}
    assert env.terminations == {"player_0": False, "player_1": False}
    assert not env.game_state.is_terminal
    assert not env.last()[0]["action_mask"].any()
    env.step(None)
    env.step(None)
    assert env.agents == []


@every_game
def test_by_default_nothing_is_truncated(name):
    rng = random.Random(name)
    for seed in range(50):
        env = fresh(Env, name, seed)
        for _ in play(env, rng):
            assert not any(env.truncations.values())


@every_class
def test_who_is_eliminated_takes_one_none_step_and_learns_its_place(kind):
    env = fresh(kind, ELIMINATION.name, num_players=4)
    places, order = {}, []
    for agent, action in [("player_0", 2), ("player_1", 0)]:
        assert env.agent_selection == agent
        env.step(action)
    assert env.agent_selection == "player_1"
    assert env.terminations == {"player_0": False, "player_1": True, "player_2": False, "player_3": False}
    assert env.infos["player_1"]["place"] == 4
    assert env.observe("player_2")["action_mask"].any()  # it is the next to act, after player_1's None
    env.step(None)
    assert env.agents == ["player_0", "player_2", "player_3"]
    assert env.agent_selection == "player_2"
    assert list(env.rewards) == list(env.infos) == env.agents
    env.step(0)
    for agent in env.agent_iter():
        _, _, terminated, truncated, info = env.last()
        order.append((agent, terminated))
        if "place" in info:
            places[agent] = info["place"]
        env.step(None if terminated or truncated else 0)
    assert order == [("player_2", True), ("player_3", False), ("player_0", True), ("player_3", True)]
    assert places == {"player_2": 3}
    assert env.agents == []


def test_no_agent_can_step_with_a_code():
    raw = fresh(RawEnv, "kuhn_poker_v0")
    with pytest.raises(IllegalActionError, match="is a code, not an action id"):
        raw.step(FORFEIT + 1)
    with pytest.raises(AssertionError, match="action is not in action space"):
        fresh(Env, "kuhn_poker_v0").step(FORFEIT + 1)


@every_class
def test_the_referee_takes_a_player_out(kind):
    env = fresh(kind, "leduc_poker_v0", num_players=3)
    assert env.agent_selection == "player_0"
    env.forfeit()
    assert env.agent_selection == "player_0"
    assert env.terminations["player_0"]
    with pytest.raises(ValueError, match=r"player_0 is out: step\(None\) comes first"):
        env.forfeit()
    env.step(None)
    assert env.agent_selection == "player_1"
    env.forfeit()
    assert env.game_state.is_terminal
    with pytest.raises(IllegalActionError, match="after the game is over"):
        env.forfeit()


@every_game
@every_class
def test_state_is_the_observations_of_all(name, kind):
    env = fresh(kind, name)
    for _ in play(env, random.Random(0)):
        rows = [env.observe(agent)["observation"] for agent in env.possible_agents]
        assert np.array_equal(env.state(), np.concatenate(rows))
        assert env.state().dtype == rows[0].dtype
        assert env.state() in env.state_space


@every_game
@every_class
def test_arrays_and_lists_belong_to_the_caller(name, kind):
    rng = random.Random(0)
    env, untouched = fresh(kind, name), fresh(kind, name)
    kept = []
    while env.agents:
        observation, *_, info = env.last()
        kept.append((copy.deepcopy(env.last()), env.last()))
        action = choose(untouched, rng)
        for array in (observation["observation"], observation["action_mask"], info["action_mask"], env.state()):
            array[:] = 1
        env.step(action)
        untouched.step(action)
        assert untouched.game_state.record_bytes() == env.game_state.record_bytes()
    for before, after in kept:
        assert plain(before[0]) == plain(after[0])


# -- rendering --------------------------------------------------------------------------------------------------


@every_game
@every_class
def test_ansi_shows_what_the_selected_agent_sees_to_the_end(name, kind):
    env = fresh(kind, name, render_mode="ansi")
    rng = random.Random(1)
    for _ in play(env, rng):
        text = env.render()
        player = int(env.agent_selection.removeprefix("player_"))
        assert text.endswith(env.game_state.render(player))
        assert f"seen by {env.agent_selection}" in text.splitlines()[0]
        assert "\x1b" not in text  # no colours where output is not a terminal
    assert "over, returns" in env.render()


def test_a_folded_hand_stays_hidden_at_the_end():
    env = Env("leduc_poker_v0", render_mode="ansi")
    env.reset(seed=0, options={"deck": "K Q"})
    env.step(2)
    env.step(0)  # player_1 folds; player_0, who is then selected, never sees its queen
    assert env.agent_selection == "player_0"
    assert "K" in env.render()
    assert "Q" not in env.render()


@every_class
def test_human_prints_as_it_goes(kind, capsys):
    env = kind("kuhn_poker_v0", render_mode="human")
    env.reset(seed=0)
    assert "player_0 to act" in capsys.readouterr().out
    env.step(0)
    assert "player_1 to act" in capsys.readouterr().out
    assert env.render() is None
    assert "player_1 to act" in capsys.readouterr().out
    env.close()


def test_render_without_a_mode_warns():
    with pytest.warns(UserWarning, match="render_mode"):
        assert fresh(RawEnv, "kuhn_poker_v0").render() is None


# -- copies -----------------------------------------------------------------------------------------------------

COPIES = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
    "clone": lambda env: env.clone(),
    "get_state": lambda env: restored(env),
}


def restored(env):
    twin = type(env)(env.game, max_plies=env.max_plies, **env.options.as_dict())
    twin.set_state(env.get_state())
    return twin


@pytest.mark.parametrize("way", COPIES)
@every_class
@pytest.mark.parametrize(
    ("name", "options"),
    [*[(name, {}) for name in GAMES], (ELIMINATION.name, {"num_players": 4}), ("leduc_poker_v0", {"max_plies": 3})],
    ids=str,
)
def test_copies_keep_the_position_and_are_independent(way, kind, name, options):
    rng = random.Random(1)
    moved = 0
    for seed in range(6):
        env = fresh(kind, name, seed, **options)
        while env.agents:
            twin = COPIES[way](env)
            before = shown(env)
            assert shown(twin) == before
            trace_seed = rng.random()
            traces = [[shown(e) for e in play(each, random.Random(trace_seed))] for each in (COPIES[way](env), twin)]
            assert traces[0] == traces[1]
            assert shown(env) == before
            moved += shown(twin) != before
            action = choose(env, rng)
            if kind is Env and action is not None and rng.random() < 0.1:
                illegal = [
                    a
                    for a in range(env.action_space(env.agent_selection).n)
                    if not env.infos[env.agent_selection]["action_mask"][a]
                ]
                action = illegal[0] if illegal else action
            env.step(action)
    assert moved > 20


@pytest.mark.parametrize("way", ["deepcopy", "pickle", "clone"])
@every_class
def test_copies_keep_the_stream_of_deals(way, kind):
    for touch in (False, True):
        env = fresh(kind, "kuhn_poker_v0", 3)
        if touch:
            env.reset()
        twin = COPIES[way](env)
        seeds = []
        for each in (env, twin):
            each.reset()
            seeds.append(each.game_state.seed)
        assert seeds[0] == seeds[1]


@every_class
def test_an_environment_can_be_copied_before_reset(kind):
    for way in ("deepcopy", "pickle", "clone"):
        twin = COPIES[way](kind("kuhn_poker_v0"))
        twin.reset(seed=1)
        assert twin.agents == ["player_0", "player_1"]


def test_a_clone_shares_its_spaces_and_a_deepcopy_does_not():
    env = fresh(Env, "kuhn_poker_v0")
    assert env.clone().action_space("player_0") is env.action_space("player_0")
    assert copy.deepcopy(env).action_space("player_0") is not env.action_space("player_0")


@every_class
def test_set_state_goes_to_the_position_of_a_state(kind):
    state = get_game("leduc_poker_v0").new_state(seed=4)
    for action in (2, 1):
        state.apply(action)
    env = kind("leduc_poker_v0")
    env.set_state(state.to_bytes())
    assert env.game_state.record_bytes() == state.record_bytes()
    assert env.agent_selection == f"player_{state.current_player}"
    assert np.flatnonzero(env.infos[env.agent_selection]["action_mask"]).tolist() == state.legal_actions()
    for _ in play(env, random.Random(0)):
        pass
    assert env.game_state.is_terminal


@every_class
def test_set_state_refuses_what_does_not_belong(kind):
    env = fresh(kind, "leduc_poker_v0")
    before = shown(env)
    data = env.get_state()
    other_options = fresh(kind, "leduc_poker_v0", num_players=3)
    other_game = fresh(kind, "kuhn_poker_v0")
    for wrong, message in [
        (b"", "not a saved cardenvs state"),
        (b"junk", "not a saved cardenvs state"),
        (data[:-1], "damaged"),
        (data[:60], "damaged"),
        (data.replace(b'"player_0"', b'"player_1"', 1), "damaged"),
        (other_options.get_state(), "num_players=3.*this environment has.*num_players=2"),
        (other_options.game_state.to_bytes(), "num_players=3"),
        (other_game.get_state(), "'kuhn_poker_v0', not of leduc_poker_v0"),
    ]:
        with pytest.raises(FormatError, match=message):
            env.set_state(wrong)
    assert shown(env) == before
    env.step(1)
    env.set_state(data)
    assert shown(env) == before


def test_the_state_keeps_events_and_replay():
    env = fresh(Env, "leduc_poker_v0", 5)
    for action in (1, 2, 1, 1, 1):
        env.step(action)
    assert [e.kind for e in env.game_state.events()][-2:] == ["win", "win"] or env.game_state.events()[-1].kind == "win"
    assert env.game_state.actions == [1, 2, 1, 1, 1]


# -- finding environments ---------------------------------------------------------------------------------------


@every_game
def test_each_game_has_its_module(name):
    assert re.fullmatch(r"[a-zA-Z_]+_v[0-9]+", name)  # what PettingZoo takes for the module of an environment
    module = importlib.import_module(f"cardenvs.{name}")
    env, raw = module.env(render_mode="ansi", max_plies=50), module.raw_env(max_plies=50)
    assert type(env) is Env
    assert type(raw) is RawEnv
    assert (env.game.name, env.render_mode, env.max_plies, raw.max_plies) == (name, "ansi", 50, 50)
    assert not hasattr(module, "parallel_env")
    for function in (module.env, module.raw_env):
        assert pickle.loads(pickle.dumps(function)) is function
        assert name in function.__doc__


def test_options_reach_the_game():
    env = make("leduc_poker_v0", num_players=3, ante=2)
    assert env.possible_agents == ["player_0", "player_1", "player_2"]
    assert env.options.ante == 2
    assert make("leduc_poker").game.name == "leduc_poker_v0"


def test_every_game_is_in_pettingzoos_registry():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        register_with_pettingzoo()
        register_with_pettingzoo()  # again: nothing to do, nothing to warn of
    for name, target in game_targets().items():
        package = re.split("[.:]", target)[0]
        env_id = f"{package}/{re.sub('_v(?=[0-9]+$)', '-v', name)}"
        assert env_id in pettingzoo.aec_registry
        if name in GAMES:
            env = pettingzoo.make("aec", env_id, render_mode="ansi")
            assert type(env) is Env
            assert str(env) == name
    assert "games/elimination-v0" in pettingzoo.aec_registry
    assert pettingzoo.make("aec", "cardenvs/leduc_poker_v0", num_players=4).max_num_agents == 4
    assert pettingzoo.make("aec", "cardenvs/leduc_poker").game.name == "leduc_poker_v0"


def test_without_a_registry_nothing_is_registered(monkeypatch):
    monkeypatch.delattr(pettingzoo, "register")
    register_with_pettingzoo()


def test_a_package_elsewhere_makes_its_module_the_same_way():
    env, raw_env = environment_functions(ELIMINATION.name, __name__)
    assert env(num_players=5).max_num_agents == raw_env(num_players=5).max_num_agents == 5
    assert env.__module__ == __name__


def test_importing_the_package_imports_no_face_and_no_compiler():
    heavy = {"numba", "torch", "stable_baselines3"} | {f"cardenvs.envs.{f}" for f in ("aec", "vector", "single", "sb3")}
    code = f"import cardenvs.envs, sys; print(sorted({heavy} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize("name", ["hanabi_v0", "leduc_poker_v0", "rummikub_v0"])
def test_rewards_that_players_were_told_add_up_to_their_returns_after_a_forfeit(name):
    for seed, plies in ((1, 9), (2, 15), (3, 20)):
        env, told = RawEnv(name), Counter()
        env.reset(seed=seed)
        for k, agent in enumerate(env.agent_iter()):
            _, reward, terminated, truncated, info = env.last()
            told[agent] += reward
            if terminated or truncated:
                env.step(None)
            elif k == plies:
                env.forfeit()
            else:
                env.step(int(np.flatnonzero(info["action_mask"])[k % info["action_mask"].sum()]))
        returns = dict(zip(env.possible_agents, env.game_state.returns, strict=True))
        assert {agent: told[agent] for agent in returns} == pytest.approx(returns)


def test_nobody_forfeits_after_the_end_of_an_episode():
    env = RawEnv("leduc_poker_v0", max_plies=1)
    env.reset(seed=1)
    env.step(1)
    before = env.game_state.ply
    while True:
        with pytest.raises(IllegalActionError, match="the episode is over, so nobody can forfeit"):
            env.forfeit()
        if not env.agents:
            break
        env.step(None)
    assert env.game_state.ply == before


def test_the_state_of_the_game_needs_a_reset():
    with pytest.raises(gymnasium.error.ResetNeeded, match="before game_state"):
        _ = RawEnv("leduc_poker_v0").game_state


def test_amounts_without_an_action_are_refused():
    env = RawEnv("texas_holdem_v0")
    env.reset(seed=1)
    code = next(code for code in env.game.amounts.codes if not env.game_state.explain_illegal(code))
    with pytest.raises(IllegalActionError, match="actions are 0 to"):
        env.step(code)
    batch = cardenvs.make_vec("texas_holdem_v0", 2)
    batch.reset(1)
    with pytest.raises(IllegalActionError, match="no environment has changed"):
        batch.step(np.array([code, 1]))


@pytest.mark.parametrize("arguments", [{"mask_key": "place"}, {"mask_key": "legal_actions", "legal_actions": True}])
def test_a_mask_takes_no_other_info_away(arguments):
    with pytest.raises(OptionError, match="option mask_key takes another text than legal_actions and place"):
        RawEnv("leduc_poker_v0", **arguments)


@pytest.mark.parametrize("dtype", ["object", "U8", str, "complex64", "m8"])
def test_observations_are_numbers(dtype):
    with pytest.raises(OptionError, match="option observation_dtype takes"):
        RawEnv("leduc_poker_v0", observation_dtype=dtype)
