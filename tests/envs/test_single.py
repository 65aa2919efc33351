"""The Gymnasium face: one learning seat against given opponents."""

import copy
import math
import pickle
import random
import warnings
from collections import Counter

import gymnasium
import numpy as np
import pytest
from games import ELIMINATION, GAMES
from gymnasium.spaces import Box, Dict
from gymnasium.utils.env_checker import check_env
from toys import prize

from cardenvs.agents import Agent, Turn, kinds
from cardenvs.agents.zoo import weights_file, zoo_names
from cardenvs.core.errors import AgentError, ArenaError, DeckError, GameNotFoundError, IllegalActionError, OptionError
from cardenvs.core.registry import get_game, register_game
from cardenvs.core.state import State
from cardenvs.envs.single import SeatEnv
from cardenvs.training.cfr import Solver, Tree

every_game = pytest.mark.parametrize("name", GAMES)

register_game(prize.GAME.name, "toys.prize:GAME")


def episode(env, choose, seed=None):
    """One episode: the rewards of its steps, and the last info."""
    _, info = env.reset(seed=seed)
    rewards, over = [], False
    while not over:
        _, reward, terminated, truncated, info = env.step(choose(np.flatnonzero(info["action_mask"]).tolist()))
        rewards.append(reward)
        over = terminated or truncated
    return rewards, info


def first(turn):
    return turn.legal_actions[0]


def last(turn):
    return turn.legal_actions[-1]


# -- checkers ---------------------------------------------------------------------------------------------------


@every_game
@pytest.mark.parametrize("dict_observation", [False, True])
def test_gymnasium_check_env(name, dict_observation):
    # The checkers sample without a mask, hence illegal_reward.
    env = SeatEnv(name, seat="random", dict_observation=dict_observation, illegal_reward=-1.0, render_mode="ansi")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_env(env)
    # SeatEnv is not in Gymnasium's registry: there is no spec to make it again from.
    assert all("due to the environment not having a spec" in str(w.message) for w in caught)


@every_game
@pytest.mark.parametrize("dict_observation", [False, True])
def test_stable_baselines_check_env(name, dict_observation):
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        checker.check_env(SeatEnv(name, dict_observation=dict_observation, illegal_reward=-1.0))


# -- what the seat gets -----------------------------------------------------------------------------------------


@every_game
@pytest.mark.parametrize("seat", [0, 1, "random", "rotate"])
def test_the_rewards_of_an_episode_are_the_seats_return(name, seat):
    rng = random.Random(name)
    env = SeatEnv(name, seat)
    seats = Counter()
    for seed in range(60):
        rewards, info = episode(env, rng.choice, seed if seed == 0 else None)
        assert sum(rewards) == info["returns"][info["player"]]
        assert info["returns"] == env.game_state.returns
        assert env.game_state.is_terminal
        seats[info["player"]] += 1
    assert set(seats) == ({seat} if isinstance(seat, int) else {0, 1})
    if seat == "rotate":
        assert seats[0] == seats[1] == 30


def test_the_reward_that_comes_after_the_last_action_reaches_the_seat():
    # Seat 0 bets (its last action); player_1, with the better card, calls, and the deal is over.
    env = SeatEnv("kuhn_poker_v0", 0, last)
    env.reset(options={"deck": "J K"})
    _, reward, terminated, truncated, info = env.step(1)
    assert (reward, terminated, truncated) == (-2.0, True, False)
    assert info["returns"] == [-2.0, 2.0]


def test_observations_and_masks_are_the_seats_own():
    env = SeatEnv("leduc_poker_v0", "rotate", num_players=3)
    rng = random.Random(0)
    observation, info = env.reset(seed=3)
    for _ in range(200):
        state, player = env.game_state, info["player"]
        assert observation.tolist() == state.observation(player).tolist()
        assert observation in env.observation_space
        if state.current_player == player:
            assert np.flatnonzero(info["action_mask"]).tolist() == state.legal_actions()
            assert np.flatnonzero(env.action_masks()).tolist() == state.legal_actions()
        assert info["action_mask"].tolist() == env.action_masks().tolist()
        assert env.action_masks().dtype == np.bool_
        assert info["action_mask"].dtype == np.int8
        observation, _, terminated, truncated, info = env.step(rng.choice(np.flatnonzero(info["action_mask"]).tolist()))
        if terminated or truncated:
            assert not info["action_mask"].any()
            assert not env.action_masks().any()
            observation, info = env.reset()


def test_dict_observations_hold_the_mask():
    flat, both = SeatEnv("leduc_poker_v0"), SeatEnv("leduc_poker_v0", dict_observation=True)
    assert isinstance(flat.observation_space, Box)
    assert isinstance(both.observation_space, Dict)
    alone, info = flat.reset(seed=1)
    observation, _ = both.reset(seed=1)
    assert observation in both.observation_space
    assert observation["observation"].tolist() == alone.tolist()
    assert observation["action_mask"].tolist() == info["action_mask"].tolist()


def test_games_without_a_turn_of_the_seat_are_listed_by_reset():
    chooser = random.Random(0)
    env = SeatEnv(prize.GAME.name, 1, lambda turn: chooser.randrange(2))  # player_0 ends half of the games at once
    skipped = []
    for _ in range(50):
        _, info = env.reset()
        skipped += info["skipped_returns"]
        assert env.game_state.current_player == info["player"] == 1
    assert len(skipped) > 10
    assert set(skipped) == {-1.0}


def test_a_seat_that_never_gets_a_turn_is_reported():
    env = SeatEnv(prize.GAME.name, 1, lambda turn: 1)
    with pytest.raises(RuntimeError, match="prize_v0: 1000 deals in a row ended before player_1's turn"):
        env.reset()


def test_who_is_eliminated_gets_what_comes_later():
    env = SeatEnv(ELIMINATION, 0, [last, last, first], num_players=4)
    env.reset(seed=0)
    _, before, *_ = env.step(1)  # call; players 1 and 2 raise, player 3 folds
    _, reward, terminated, _, info = env.step(0)  # out, while players 1 and 2 play on
    assert terminated
    assert env.game_state.is_terminal
    assert not env.game_state.active[0]
    assert before + reward == info["returns"][0] == -1.0


# -- opponents --------------------------------------------------------------------------------------------------


class Recorder(Agent):
    """Plays the first legal action and notes what it is asked."""

    name = "recorder"

    def __init__(self):
        self.asked, self.seeds = [], []

    def reset(self, seed):
        self.seeds.append(seed)

    def act(self, turn):
        self.asked.append(turn.player)
        return turn.legal_actions[0]


def test_opponents_sit_from_the_seats_left_on():
    for seat in range(3):
        agents = [Recorder(), Recorder()]
        env = SeatEnv("leduc_poker_v0", seat, agents, num_players=3)
        for _ in range(5):
            episode(env, lambda legal: legal[-1])
        assert set(agents[0].asked) == {(seat + 1) % 3}
        assert set(agents[1].asked) == {(seat + 2) % 3}
        assert len(agents[0].seeds) == len(set(agents[0].seeds)) == 5
        assert not set(agents[0].seeds) & set(agents[1].seeds)


def test_opponents_may_be_names_agents_or_functions():
    for opponents in ("random", "search:simulations=4", Recorder(), first, ["random"], (first,)):
        rewards, _ = episode(SeatEnv("kuhn_poker_v0", opponents=opponents), lambda legal: legal[0], seed=1)
        assert rewards


LEDUC_ZOO = next(name for name in zoo_names() if name.startswith("leduc_poker_v0/"))
OWN_KINDS = {  # a game and a spec for each kind of agent that is no guest
    "always": ("texas_holdem_v0", "always:pot"),
    "ismcts": ("leduc_poker_v0", "ismcts:simulations=4"),
    "openspiel_bot": ("leduc_poker_v0", "openspiel_bot:uniform"),
    "pimc": ("bridge_v0", "pimc:worlds=2,tried=2"),
    "plain_equity": ("texas_holdem_v0", "plain_equity:samples=10"),
    "ppo": ("leduc_poker_v0", f"ppo:{weights_file(LEDUC_ZOO)}"),
    "rlcard": ("leduc_poker_v0", "rlcard:leduc-holdem-cfr"),
    "search": ("leduc_poker_v0", "search:simulations=4,playout=random"),
    "tabular": ("leduc_poker_v0", "tabular:{table}"),
    "zoo": ("leduc_poker_v0", f"zoo:{LEDUC_ZOO},sample=true"),
}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A file for the agent `tabular`, with mixed choices."""
    solver = Solver(Tree(get_game("leduc_poker_v0")))
    solver.run(5)
    path = tmp_path_factory.mktemp("table") / "leduc.policy"
    solver.saved().save(path)
    return path


def test_every_kind_of_cardenvs_itself_is_among_those_that_repeat():
    own = {name for name in kinds.kind_names(own=True) if not kinds.find_kind(name).guest}
    assert own == set(OWN_KINDS)


@pytest.mark.parametrize("kind", OWN_KINDS)
def test_agents_of_cardenvs_repeat_in_environments_with_equal_seeds(kind, table):
    game, spec = OWN_KINDS[kind]
    if kind == "pimc":
        pytest.importorskip("endplay")
    if kind == "openspiel_bot":
        pytest.importorskip("pyspiel")
    if kind == "rlcard":
        pytest.importorskip("rlcard")
    if kind in ("ppo", "zoo"):
        pytest.importorskip("torch")
    games = []
    for _ in range(2):
        env = SeatEnv(game, opponents=spec.format(table=table))
        games.append([])
        for seed in range(1 if kind == "pimc" else 20):
            episode(env, lambda legal: legal[-1], seed=seed)
            games[-1].append(env.game_state.actions)
    assert games[0] == games[1]


def test_opponents_given_as_objects_are_guests_and_repeat_with_the_key():
    def drawn():
        agent = Recorder()
        env = SeatEnv("kuhn_poker_v0", opponents=agent, **({"guests_key": key} if key else {}))
        for seed in range(3):
            episode(env, lambda legal: legal[0], seed=seed)
        return agent.seeds

    key = None
    assert drawn() != drawn()
    key = "0" * 32
    assert drawn() == drawn()


def test_an_opponent_sees_a_turn_and_no_more():
    seen = []

    def look(turn):
        seen.append(turn)
        assert turn.player == 1
        return turn.legal_actions[0]

    episode(SeatEnv("kuhn_poker_v0", 0, look), lambda legal: legal[0], seed=1)
    assert [type(turn) for turn in seen] == [Turn]


@pytest.mark.parametrize("wrong", ["nobody", dict, 3, []])
def test_what_cannot_play_is_refused(wrong):
    with pytest.raises(AgentError):
        SeatEnv("kuhn_poker_v0", opponents=wrong)


def test_an_end_that_the_game_rules_out_is_refused_and_named(monkeypatch):
    env = SeatEnv("leduc_poker_v0")
    _, info = env.reset(seed=1)
    monkeypatch.setattr(State, "returns", property(lambda self: [500.0, -500.0]))
    message = r"leduc_poker_v0: returns \[500.0, -500.0\] are outside their declared bounds -13 to 13"
    with pytest.raises(ArenaError, match=message):  # noqa: PT012
        for _ in range(100):
            _, _, _, _, info = env.step(int(np.argmax(info["action_mask"])))
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)


def test_the_number_of_opponents_must_fit():
    with pytest.raises(AgentError, match="leduc_poker_v0 with 3 players needs 2 opponents; got 1"):
        SeatEnv("leduc_poker_v0", opponents=["random"], num_players=3)


@pytest.mark.parametrize("wrong", [7, -1, None, "fold", True])
def test_an_illegal_choice_of_an_opponent_is_its_error(wrong):
    env = SeatEnv("kuhn_poker_v0", 1, lambda turn: wrong)
    with pytest.raises(AgentError, match=r"the opponent at player_0.*choice is not legal"):
        env.reset(seed=0)


# -- seeds, copies, arguments -----------------------------------------------------------------------------------


@every_game
def test_a_seed_decides_all_that_follows(name):
    def trace(seed):
        env = SeatEnv(name, "random", max_plies=30)
        rng = random.Random(1)
        runs = [episode(env, rng.choice, seed if k == 0 else None) for k in range(8)]
        return [(rewards, info["player"], env.game_state.seed) for rewards, info in runs]

    assert trace(5) == trace(5)
    assert trace(5) != trace(6)
    env = SeatEnv(name, 0)
    env.reset(seed=9)
    assert env.game_state.seed == 9
    assert env.game_state.observation(0).tolist() == get_game(name).new_state(seed=9).observation(0).tolist()


def test_rotation_begins_anew_with_a_seed():
    env = SeatEnv("kuhn_poker_v0", "rotate")
    assert [env.reset(seed=s)[1]["player"] for s in (3, None, None, 3, None)] == [0, 1, 0, 0, 1]


def test_an_explicit_deck_is_dealt_or_refused():
    env = SeatEnv("kuhn_poker_v0", 1)
    env.reset(options={"deck": "K Q", "unknown": 1})
    assert "Q" in env.game_state.render(1)
    before = env.game_state.record_bytes(), env.np_random.bit_generator.state
    with pytest.raises(DeckError):
        env.reset(seed=3, options={"deck": "K K"})
    assert before == (env.game_state.record_bytes(), env.np_random.bit_generator.state)


@every_game
def test_copies_play_on_alike_and_apart(name):
    env = SeatEnv(name, "random")
    env.reset(seed=2)
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        results = []
        for each in (twin, copy.deepcopy(env)):
            rng = random.Random(4)
            results.append([each.step(rng.choice(each.game_state.legal_actions()))[1:4], *_runs(each, rng)])
        assert results[0] == results[1]
    assert env.game_state.seed == 2


def _runs(env, rng):
    return [episode(env, rng.choice)[0] for _ in range(5)]


def test_illegal_actions_are_refused_and_change_nothing():
    env = SeatEnv("leduc_poker_v0")
    env.reset(seed=0)
    before = env.game_state.record_bytes()
    for wrong in (0, 3, -1, None, True, 1.0, np.array([1])):
        with pytest.raises(IllegalActionError) as refused:
            env.step(wrong)
        assert "illegal_reward=NUMBER" in refused.value.__notes__[0]
    assert env.game_state.record_bytes() == before
    env.step(np.array(1))


def test_illegal_reward_ends_the_episode_instead():
    env = SeatEnv("leduc_poker_v0", illegal_reward=-7.5)
    env.reset(seed=0)
    _, reward, terminated, truncated, info = env.step(0)
    assert (reward, terminated, truncated) == (-7.5, True, False)
    assert not info["action_mask"].any()
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(1)


def test_the_ply_cap_truncates():
    env = SeatEnv("leduc_poker_v0", 0, last, max_plies=2)
    env.reset(seed=0)
    _, reward, terminated, truncated, info = env.step(1)
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert info["returns"] == [0.0, 0.0]


def test_calls_out_of_order_are_refused():
    env = SeatEnv("kuhn_poker_v0", render_mode="ansi")
    for call in (lambda: env.step(0), env.render, env.action_masks):
        with pytest.raises(gymnasium.error.ResetNeeded, match="call reset"):
            call()


def test_render_shows_what_the_seat_sees(capsys):
    env = SeatEnv("kuhn_poker_v0", 1, render_mode="ansi")
    env.reset(seed=1)
    assert "seen by player_1" in env.render()
    assert env.render().endswith(env.game_state.render(1))
    env = SeatEnv("kuhn_poker_v0", 1, render_mode="human")
    env.reset(seed=1)
    assert "seen by player_1" in capsys.readouterr().out
    env.step(0)
    assert env.render() is None
    assert capsys.readouterr().out.count("seen by player_1") == 2
    with pytest.warns(UserWarning, match="render_mode"):
        assert SeatEnv("kuhn_poker_v0").render() is None


@pytest.mark.parametrize(
    "wrong",
    [{"seat": 2}, {"seat": -1}, {"seat": "first"}, {"seat": True}, {"seat": 0.0}, {"colour": 1}, {"max_plies": 0},
     {"render_mode": "video"}],
    ids=str,
)  # fmt: skip
def test_arguments_are_checked(wrong):
    with pytest.raises(OptionError, match=f"kuhn_poker_v0: .*{next(iter(wrong))}"):
        SeatEnv("kuhn_poker_v0", **wrong)


def test_an_unknown_game_is_refused():
    with pytest.raises(GameNotFoundError):
        SeatEnv("no_such_game_v0")


# -- forfeits ---------------------------------------------------------------------------------------------------


def test_who_forfeits_loses_and_the_others_play_on():
    env = SeatEnv(ELIMINATION, seat=1, opponents=first, num_players=3)
    with pytest.raises(gymnasium.error.ResetNeeded, match="before forfeit"):
        env.forfeit()
    env.reset(seed=1)
    ply = env.game_state.ply
    _, reward, terminated, truncated, info = env.forfeit()
    assert (terminated, truncated) == (True, False)
    assert reward == info["returns"][1] < 0
    assert env.game_state.ply > ply + 1
    assert not env.action_masks().any()
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.forfeit()


# -- opponents that fail ----------------------------------------------------------------------------------------


class Fails(Agent):
    """Plays what is wanted for some turns, then something illegal, or raises."""

    name = "fails"

    def __init__(self, after, how):
        self.after, self.how = after, how

    def act(self, turn):
        if turn.decision < self.after:
            return turn.legal_actions[0]
        if self.how == "raises":
            raise RuntimeError("boom")
        return 99


def play_calls(env):
    for _ in range(4):
        env.step(1)


@pytest.mark.parametrize("how", ["raises", "plays 99"])
@pytest.mark.parametrize("after", [0, 1])
def test_nobody_plays_for_an_opponent_who_failed(how, after):
    env = SeatEnv("leduc_poker_v0", opponents=Fails(after, how), seat=0)
    error = RuntimeError if how == "raises" else AgentError
    env.reset(seed=1)
    with pytest.raises(error):
        play_calls(env)
    ply = env.game_state.ply
    assert not env.action_masks().any()
    for method in (lambda: env.step(1), env.forfeit):
        with pytest.raises(gymnasium.error.ResetNeeded):
            method()
    assert env.game_state.ply == ply


@pytest.mark.parametrize("reward", ["x", math.nan, math.inf, True, [1]])
def test_a_reward_of_illegal_actions_is_a_number(reward):
    with pytest.raises(OptionError, match="illegal_reward takes None or a number"):
        SeatEnv("leduc_poker_v0", illegal_reward=reward)


def test_a_wrong_seed_changes_nothing():
    env = SeatEnv("leduc_poker_v0")
    with pytest.raises(gymnasium.error.ResetNeeded, match="before game_state"):
        _ = env.game_state
    env.reset(seed=1)
    before = env.np_random.bit_generator.state
    with pytest.raises(ValueError, match="a seed is an integer"):
        env.reset(seed=2**63)
    assert env.np_random.bit_generator.state == before
    env.step(1)
