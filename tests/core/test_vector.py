"""`VectorEnv`, to the letter of its contract."""

import copy
import pickle
import threading

import numpy as np
import pytest

import cardenvs
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import FormatError, IllegalActionError, OptionError
from cardenvs.core.kernel import COMPILED
from cardenvs.core.rng import episode_seed
from cardenvs.envs.batch import Batch

FOLD, CALL, RAISE, HOLD = 0, 1, 2, -1
N = 6
BUFFERS = [
    "observation", "action_mask", "legal_actions", "num_legal", "current_player", "active", "reward", "terminated",
    "truncated", "episode_returns", "episode_seed",
]  # fmt: skip

# 2p Leduc lasts 2 to 8 plies, gin rummy much longer: enough steps to see ends in all games.
STEPS = 400 if COMPILED else 150
SHORT = {"oh_hell_v0": {"schedule": "random"}}  # games that are longer than that by default


def leduc(num_envs=N, **arguments):
    return cardenvs.make_vec("leduc_poker_v0", num_envs, **arguments)


def snapshot(vec):
    """Everything a call could change, as bytes."""
    arrays = [getattr(vec.batch, name) for name in BUFFERS if getattr(vec.batch, name) is not None]
    return [*[array.tobytes() for array in arrays], vec._states.tobytes(), vec._episodes.tobytes()]


def seed_of(seed, env, episode):
    with np.errstate(over="ignore"):
        return int(episode_seed(seed, env, episode))


def assert_shows(batch, i, state):
    """What row i of a batch shows of the episode that goes on is what the State shows."""
    assert batch.current_player[i] == state.current_player
    assert batch.legal_actions[i, : batch.num_legal[i]].tolist() == state.legal_actions()
    assert batch.action_mask[i].tolist() == state.action_mask().tolist()
    assert batch.observation[i].tolist() == state.observation(state.current_player).tolist()
    assert batch.active[i].tolist() == state.active


# ---------------------------------------------------------------------------------------------------------------
# The batch


def test_shapes_and_dtypes(every_game):
    vec = cardenvs.make_vec(every_game.name, N)
    options = every_game.make_options()
    p, a, longest = options.num_players, every_game.num_actions(options), every_game.max_legal(options)
    layout = every_game.layout(options)
    for batch in (vec.reset(), vec.step(vec.sample_actions())):
        found = {name: (getattr(batch, name).shape, getattr(batch, name).dtype) for name in BUFFERS}
        assert found == {
            "observation": ((N, layout.size), layout.dtype),
            "action_mask": ((N, a), np.int8),
            "legal_actions": ((N, longest), np.int32),
            "num_legal": ((N,), np.int32),
            "current_player": ((N,), np.int32),
            "active": ((N, p), np.bool_),
            "reward": ((N, p), np.float32),
            "terminated": ((N,), np.bool_),
            "truncated": ((N,), np.bool_),
            "episode_returns": ((N, p), np.float64),
            "episode_seed": ((N,), np.int64),
        }
        assert batch.final_observation is None
    assert (vec.num_envs, vec.num_players, vec.num_actions, vec.observation_size) == (N, p, a, layout.size)


def test_episodes_are_those_of_the_state_seed_by_seed_action_by_action(every_game):
    seed, played, options = 5, 0, SHORT.get(every_game.name, {})
    vec = cardenvs.make_vec(every_game.name, N, seed=seed, **options)
    batch = vec.reset()
    states = [every_game.new_state(seed=seed_of(seed, i, 0), **options) for i in range(N)]
    episodes = [0] * N
    for _ in range(STEPS):
        for i, state in enumerate(states):
            assert_shows(batch, i, state)
        actions = vec.sample_actions().copy()
        batch = vec.step(actions)
        for i, state in enumerate(states):
            state.apply(actions[i])
            assert batch.reward[i].tolist() == np.array(state.rewards, np.float32).tolist()
            assert batch.terminated[i] == state.is_terminal
            assert batch.episode_returns[i].tolist() == state.returns
            assert batch.episode_seed[i] == state.seed == seed_of(seed, i, episodes[i])
            if state.is_terminal:  # the next episode starts in the same step
                episodes[i] += 1
                played += 1
                states[i] = every_game.new_state(seed=seed_of(seed, i, episodes[i]), **options)
        assert not batch.truncated.any()
    assert played > 0


def test_after_a_reset_nothing_has_been_won_and_every_seed_is_the_first(every_game):
    vec = cardenvs.make_vec(every_game.name, N, seed=3)
    vec.reset()
    first = snapshot(vec)
    for _ in range(STEPS):
        vec.step(vec.sample_actions())
    batch = vec.reset()
    assert snapshot(vec) == first
    for array in (batch.reward, batch.episode_returns, batch.terminated, batch.truncated):
        assert not array.any()
    assert batch.episode_seed.tolist() == [seed_of(3, i, 0) for i in range(N)]


def test_reset_with_a_seed_is_another_run():
    vec = leduc(seed=3)
    first = vec.reset().episode_seed.copy()
    assert vec.reset(seed=4).episode_seed.tolist() == [seed_of(4, i, 0) for i in range(N)] != first.tolist()
    assert vec.reset().episode_seed.tolist() != first.tolist()  # keeps the present seed
    assert vec.reset(seed=3).episode_seed.tolist() == first.tolist()


def test_the_seed_of_an_episode_does_not_depend_on_the_neighbours():
    def seeds(num_envs):
        vec, found = leduc(num_envs, seed=9), {}
        vec.reset()
        for _ in range(60):
            batch = vec.step(vec.sample_actions())
            for i in np.flatnonzero(batch.terminated):
                found.setdefault(int(i), []).append(int(batch.episode_seed[i]))
        return found

    few, many = seeds(2), seeds(5)
    for i, of_env in few.items():
        assert len(of_env) > 5
        common = min(len(of_env), len(many[i]))
        assert of_env[:common] == many[i][:common] == [seed_of(9, i, k) for k in range(common)]


def test_options_reach_the_game():
    vec = leduc(num_players=4, ante=5)
    assert vec.num_players == 4
    vec.reset()
    vec.step(np.full(N, RAISE))
    batch = vec.step(np.full(N, FOLD))
    assert batch.active.shape == (N, 4)
    assert (batch.current_player == 2).all()


# ---------------------------------------------------------------------------------------------------------------
# Actions


def test_hold_leaves_an_environment_as_it_is():
    vec = leduc()
    vec.reset()
    vec.step(np.full(N, RAISE))
    states, before = vec._states.copy(), {name: getattr(vec.batch, name).copy() for name in BUFFERS}
    actions = np.array([HOLD, CALL, HOLD, RAISE, HOLD, FOLD])
    batch = vec.step(actions)
    held = actions == HOLD
    assert vec._states[held].tobytes() == states[held].tobytes()
    assert (vec._states[~held].view(np.uint8) != states[~held].view(np.uint8)).any()
    for name in ("observation", "action_mask", "legal_actions", "num_legal", "current_player", "active"):
        assert getattr(batch, name)[held].tolist() == before[name][held].tolist()
    assert not batch.reward[held].any()
    assert not (batch.terminated | batch.truncated)[held].any()
    assert batch.episode_seed[held].tolist() == before["episode_seed"][held].tolist()


def test_a_held_environment_does_not_end_again():
    vec = leduc(1)
    vec.reset()
    vec.step([RAISE])
    batch = vec.step([FOLD])
    assert batch.terminated[0]
    assert batch.episode_returns[0].tolist() == [1, -1]
    batch = vec.step([HOLD])
    assert not batch.terminated[0]
    assert not batch.reward.any()
    assert batch.episode_returns[0].tolist() == [0, 0]  # those of the episode that goes on
    assert batch.episode_seed[0] == seed_of(0, 0, 1)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (FOLD, "environment 3: leduc_poker_v0: player_0 may not fold: nothing is owed"),
        (3, "environment 3: leduc_poker_v0: there is no action 3"),
        (-2, "environment 3: leduc_poker_v0: there is no action -2"),
        (2**31, "environment 3: leduc_poker_v0"),
        (2**32 + 1, "environment 3: leduc_poker_v0"),
        (2**62, "environment 3: leduc_poker_v0"),
        (-(2**62), "environment 3: leduc_poker_v0: there is no action -4611686018427387904"),
        (FORFEIT, f"environment 3: leduc_poker_v0: {FORFEIT} is a code, not an action id"),
    ],
)
def test_an_illegal_action_names_the_environment_and_changes_nothing_anywhere(action, message):
    vec = leduc(seed=2)
    vec.reset()
    before = snapshot(vec)
    actions = np.full(N, CALL)
    actions[3] = action
    with pytest.raises(IllegalActionError) as caught:
        vec.step(actions)
    assert message in str(caught.value)
    assert snapshot(vec) == before
    actions[3] = CALL
    vec.step(actions)
    assert (vec._states["ply"] == 1).all()


@pytest.mark.parametrize(
    "actions",
    [
        np.zeros(N - 1, int), np.zeros(N + 1, int), np.zeros((N, 1), int), np.int64(1), np.zeros(0, int),
        np.ones(N, float), np.ones(N, bool), np.array(["1"] * N), [None] * N, np.ones(N, np.uint64),
    ],
    ids=["few", "many", "2d", "scalar", "none", "float", "bool", "text", "object", "uint64"],
)  # fmt: skip
def test_actions_of_a_wrong_shape_or_kind_are_refused(actions):
    vec = leduc()
    vec.reset()
    before = snapshot(vec)
    with pytest.raises(ValueError, match=f"actions must be {N} integers, shape \\({N},\\)"):
        vec.step(actions)
    assert snapshot(vec) == before


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint32])
def test_actions_of_any_integer_type_are_taken(dtype):
    vec = leduc()
    vec.reset()
    assert (vec.step(np.full(N, RAISE, dtype)).current_player == 1).all()
    assert (vec.step([CALL] * N).current_player == 0).all()


def test_actions_are_not_changed_and_may_be_any_view():
    vec = leduc()
    vec.reset()
    actions = np.full(2 * N, CALL)
    actions.setflags(write=False)
    vec.step(actions[::2])
    assert (actions == CALL).all()


def test_step_before_reset_is_refused():
    with pytest.raises(ValueError, match=r"call reset\(\) before step\(\)"):
        leduc().step(np.full(N, CALL))


def test_nothing_that_is_written_into_the_buffers_lets_an_illegal_action_through():
    vec, other = leduc(seed=2), leduc(seed=2)
    batch = vec.reset()
    other.reset()
    batch.action_mask[:] = 1
    batch.current_player[:] = 1
    with pytest.raises(IllegalActionError, match="environment 0"):
        vec.step(np.full(N, FOLD))
    assert vec.sample_actions().tolist() == other.sample_actions().tolist()
    assert vec._states.tobytes() == other._states.tobytes()
    for each in (vec, other):
        each.step(each.sample_actions())
    assert snapshot(vec) == snapshot(other)  # the next call writes all buffers anew


def test_wide_masks_are_exact_and_read_only():
    """They are changed only where the old and the new lists are."""
    vec = cardenvs.make_vec("dou_dizhu_v0", num_envs=4, seed=3, num_threads=1, resumable=True)
    other = cardenvs.make_vec("dou_dizhu_v0", num_envs=4, seed=3, num_threads=1, resumable=True)
    batch, width = vec.reset(), vec.num_actions
    for step in range(60 if COMPILED else 3):
        for i in range(4):
            expected = np.zeros(width, np.int8)
            expected[batch.legal_actions[i, : batch.num_legal[i]]] = 1
            assert (batch.action_mask[i] == expected).all()
            bits = np.unpackbits(vec._bits[i].view(np.uint8), bitorder="little")
            assert (bits[:width] == expected).all()
            assert not bits[width:].any()
        if step == 20:
            other.reset()
            batch = (vec := other).set_state(vec.get_state())
        if step == 40:
            vec.put_state(2, cardenvs.get_game("dou_dizhu_v0").new_state(seed=9))
        batch = vec.step(vec.sample_actions())
    with pytest.raises(ValueError, match="read-only"):
        batch.action_mask[:] = 1


@pytest.mark.parametrize("name", ["legal_actions", "num_legal"])
def test_what_kernels_rely_on_cannot_be_changed(name):
    vec, other = leduc(seed=2), leduc(seed=2)
    batch = vec.reset()
    other.reset()
    with pytest.raises(ValueError, match="read-only"):
        getattr(batch, name)[:] = 5000
    with pytest.raises(ValueError, match="WRITEABLE"):
        getattr(batch, name).flags.writeable = True
    setattr(batch, name, np.full((N, 3), 5000, np.int32))  # nobody reads what the caller puts there
    for _ in range(20):
        actions = vec.sample_actions()
        assert actions.tolist() == other.sample_actions().tolist()
        chosen = [each.policy_actions("random", range(N), 1, 2).tolist() for each in (vec, other)]
        assert chosen[0] == chosen[1]
        vec.step(actions)
        other.step(actions)
    assert vec._states.tobytes() == other._states.tobytes()


def test_behind_the_end_of_a_legal_list_is_a_constant():
    vec = leduc(seed=2)
    batch = vec.reset()
    for step in range(60):
        actions = vec.sample_actions().copy()
        actions[step % N] = HOLD
        vec.step(actions)
        assert (batch.legal_actions[np.arange(3) >= batch.num_legal[:, None]] == -1).all()
    assert (batch.num_legal < 3).any()


# ---------------------------------------------------------------------------------------------------------------
# Buffers


def test_buffers_are_the_same_objects_from_call_to_call():
    vec = leduc()
    batch = vec.reset()
    assert isinstance(batch, Batch)
    arrays = {name: getattr(batch, name) for name in BUFFERS}
    sampled = vec.sample_actions()
    for _ in range(10):
        assert vec.step(vec.sample_actions()) is batch
        assert np.shares_memory(vec.sample_actions(), sampled)
    assert vec.reset() is batch
    assert all(getattr(batch, name) is array for name, array in arrays.items())


def test_torch_views_the_buffers_without_a_copy():
    torch = pytest.importorskip("torch")
    vec = leduc()
    batch = vec.reset()
    views = {name: torch.from_numpy(getattr(batch, name)) for name in BUFFERS if getattr(batch, name).flags.writeable}
    for _ in range(5):
        vec.step(vec.sample_actions())
    for name, view in views.items():
        assert view.data_ptr() == getattr(batch, name).ctypes.data, name
        assert view.numpy().tobytes() == getattr(batch, name).tobytes()


def test_without_mask_or_legal_lists_the_rest_is_the_same():
    whole, bare = leduc(seed=4), leduc(seed=4, mask=False, legal_lists=False)
    whole.reset()
    batch = bare.reset()
    for _ in range(60):
        assert batch.action_mask is None
        assert batch.legal_actions is None
        for name in set(BUFFERS) - {"action_mask", "legal_actions"}:
            assert getattr(batch, name).tobytes() == getattr(whole.batch, name).tobytes()
        actions = whole.sample_actions().copy()
        assert bare.sample_actions().tolist() == actions.tolist()
        whole.step(actions)
        batch = bare.step(actions)
    with pytest.raises(IllegalActionError):
        bare.step(np.full(N, 7))


# ---------------------------------------------------------------------------------------------------------------
# Observing


def test_any_player_can_be_observed(every_game):
    vec = cardenvs.make_vec(every_game.name, N, seed=1)
    vec.reset()
    for _ in range(5):
        batch = vec.step(vec.sample_actions())
        for player in range(vec.num_players):
            seen = vec.observe(player)
            assert seen.tolist() == [vec.state(i).observation(player).tolist() for i in range(N)]
            to_act = batch.current_player == player
            assert seen[to_act].tolist() == batch.observation[to_act].tolist()


def test_observing_writes_to_a_given_array():
    vec = leduc()
    vec.reset()
    out = np.full_like(vec.batch.observation, 9)
    assert vec.observe(1, out) is out
    assert out.tolist() == vec.observe(1).tolist()
    assert not np.shares_memory(vec.observe(1), vec.batch.observation)
    for wrong in (np.zeros((N, 3), np.int8), out.astype(float), out[0]):
        with pytest.raises(ValueError, match="out must be"):
            vec.observe(1, wrong)
    for player in (-1, 2):
        with pytest.raises(ValueError, match="players are 0 to 1"):
            vec.observe(player)


# ---------------------------------------------------------------------------------------------------------------
# Sampling


def test_sampled_actions_are_legal_and_even():
    vec = leduc(2000, seed=6)
    vec.reset()
    vec.step(np.full(2000, RAISE))
    counts = np.zeros(3, int)
    for _ in range(15):
        counts += np.bincount(vec.sample_actions(), minlength=3)
    assert abs(counts / counts.sum() - 1 / 3).max() < 0.01


def test_sampled_actions_are_legal_in_every_game(every_game):
    vec = cardenvs.make_vec(every_game.name, N, seed=8)
    batch = vec.reset()
    for _ in range(STEPS):
        actions = vec.sample_actions()
        assert (batch.action_mask[np.arange(N), actions] == 1).all()
        batch = vec.step(actions)


def test_each_call_samples_anew_and_a_reset_begins_again():
    vec = leduc(50, seed=6)
    vec.reset()
    first, second = vec.sample_actions().copy(), vec.sample_actions().copy()
    assert first.tolist() != second.tolist()
    vec.reset()
    assert vec.sample_actions().tolist() == first.tolist()


# ---------------------------------------------------------------------------------------------------------------
# The cap on plies


def test_the_cap_truncates_and_shows_what_every_player_saw_last():
    vec = leduc(seed=7, max_plies=3)
    vec.reset()
    states = [vec.game.new_state(seed=seed_of(7, i, 0)) for i in range(N)]
    truncated = 0
    for step in range(30):
        actions = vec.sample_actions().copy()
        batch = vec.step(actions)
        for i, state in enumerate(states):
            state.apply(actions[i])
            assert batch.terminated[i] == state.is_terminal
            assert batch.truncated[i] == (state.ply == 3 and not state.is_terminal)
            if batch.truncated[i]:
                truncated += 1
                for player in range(2):
                    assert batch.final_observation[i, player].tolist() == state.observation(player).tolist()
                assert batch.episode_returns[i].tolist() == state.returns
                assert batch.episode_seed[i] == state.seed
            if batch.truncated[i] or batch.terminated[i]:
                states[i] = vec.game.new_state(seed=int(vec._states["seed"][i]))
            assert_shows(batch, i, states[i])
        assert (batch.final_observation is not None) == batch.truncated.any(), step
    assert truncated > 10


def test_a_cap_of_one():
    vec = leduc(max_plies=1)
    vec.reset()
    for _ in range(3):
        batch = vec.step(np.full(N, RAISE))
        assert batch.truncated.all()
        assert batch.final_observation.shape == (N, 2, vec.observation_size)
        assert (batch.current_player == 0).all()
    vec.step(np.full(N, HOLD))
    assert not batch.truncated.any()


def test_sane_play_never_reaches_the_games_own_bound(every_game):
    vec = cardenvs.make_vec(every_game.name, N, seed=8)
    assert vec.max_plies == every_game.max_length(vec.options)
    vec.reset()
    for _ in range(STEPS):
        assert not vec.step(vec.sample_actions()).truncated.any()


# ---------------------------------------------------------------------------------------------------------------
# Threads


@pytest.mark.skipif(not COMPILED, reason="uncompiled kernels run on one thread")
@pytest.mark.parametrize("threads", [2, 3, "auto"])
def test_the_number_of_threads_changes_nothing(every_game, threads):
    num_envs = 37
    vecs = [cardenvs.make_vec(every_game.name, num_envs, seed=8, num_threads=k) for k in (1, threads)]
    for vec in vecs:
        vec.reset()
    for _ in range(60):
        actions = [vec.sample_actions().copy() for vec in vecs]
        assert actions[0].tolist() == actions[1].tolist()
        for vec, chosen in zip(vecs, actions, strict=True):
            vec.step(chosen)
        assert snapshot(vecs[0]) == snapshot(vecs[1])
    last = vecs[0].num_players - 1
    assert vecs[0].observe(last).tolist() == vecs[1].observe(last).tolist()
    vecs[1].close()
    vecs[1].step(vecs[1].sample_actions())  # starts its threads again


@pytest.mark.skipif(not COMPILED, reason="uncompiled kernels run on one thread")
def test_closing_stops_the_threads():
    before = set(threading.enumerate())  # those of other tests may be about
    vec = leduc(num_threads=4)
    vec.reset()
    started = set(threading.enumerate()) - before
    assert started
    vec.close()
    vec.close()
    assert not any(thread.is_alive() for thread in started)


def test_two_batches_of_one_game_do_not_disturb_one_another():
    one, other, alone = leduc(seed=1), leduc(seed=2), leduc(seed=1)
    for vec in (one, other, alone):
        vec.reset()
    for _ in range(20):
        one.step(one.sample_actions())
        other.step(other.sample_actions())
        alone.step(alone.sample_actions())
    assert snapshot(one) == snapshot(alone)


# ---------------------------------------------------------------------------------------------------------------
# Saving, and what else there is


def test_a_saved_batch_goes_on_to_the_same_numbers():
    vec = leduc(seed=3, resumable=True)
    vec.reset()
    for _ in range(15):
        vec.step(vec.sample_actions())
    saved = vec.get_state()
    other = leduc(seed=99, num_threads=2)
    other.set_state(saved)
    assert snapshot(other) == snapshot(vec)
    for _ in range(15):
        for each in (vec, other):
            each.step(each.sample_actions())
        assert snapshot(other) == snapshot(vec)
    vec.set_state(saved)
    assert snapshot(other) != snapshot(vec)


@pytest.mark.parametrize(
    "other", [{"num_envs": 3}, {"ante": 2}, {"max_plies": 4}, {"mask": False}], ids=lambda other: next(iter(other))
)
def test_a_saved_batch_of_another_kind_is_refused(other):
    vec, target = leduc(seed=3, resumable=True), leduc(**other)
    vec.reset()
    target.reset()
    before = snapshot(target)
    with pytest.raises(FormatError, match=f"{'options' if 'ante' in other else next(iter(other))}"):
        target.set_state(vec.get_state())
    assert snapshot(target) == before


def test_a_policy_chooses_for_some_environments():
    vec = leduc(20, seed=3)
    batch = vec.reset()
    rows = np.array([3, 17, 4])
    chosen = vec.policy_actions("random", rows, seed=1, step=0)
    assert (batch.action_mask[rows, chosen] == 1).all()
    assert vec.policy_actions("random", rows[::-1], seed=1, step=0).tolist() == chosen[::-1].tolist()
    steps = [vec.policy_actions("random", rows, seed=1, step=k).tolist() for k in range(20)]
    assert len({tuple(step) for step in steps}) > 3


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"num_envs": 0}, ValueError, "num_envs takes an integer of at least 1; got 0"),
        ({"num_envs": 2.0}, ValueError, "num_envs"),
        ({"num_envs": True}, ValueError, "num_envs"),
        ({"num_threads": 0}, ValueError, "num_threads"),
        ({"num_threads": "many"}, ValueError, "num_threads"),
        ({"max_plies": 0}, ValueError, "max_plies"),
        ({"seed": -1}, ValueError, "a seed is an integer"),
        ({"seed": 1.5}, ValueError, "a seed is an integer"),
        ({"antes": 1}, OptionError, "leduc_poker_v0: unknown option 'antes'; did you mean 'ante'"),
        ({"ante": 0}, OptionError, "option ante takes an integer"),
    ],
)
def test_arguments_that_cannot_be_used_are_refused(arguments, error, message):
    with pytest.raises(error) as caught:
        leduc(**{"num_envs": 2, **arguments})
    assert message in str(caught.value)


def test_one_environment():
    vec = leduc(1, num_threads="auto")
    batch = vec.reset()
    assert batch.observation.shape[0] == 1
    assert vec.step(vec.sample_actions()).reward.shape == (1, 2)


def test_buffers_start_at_multiples_of_64_bytes():
    vec = cardenvs.make_vec("leduc_poker_v0", num_envs=7, seed=1)
    vec.reset()
    for each in (vec, copy.copy(vec), pickle.loads(pickle.dumps(vec))):
        for name, array in vars(each.batch).items():
            if isinstance(array, np.ndarray):
                assert array.ctypes.data % 64 == 0, name
                assert array.flags.c_contiguous, name


def test_a_state_can_follow_a_running_episode():
    """Also in the step in which an episode ends, where the batch's seed is that of the one that ended."""
    vec = leduc(8, resumable=True)
    vec.reset(4)
    for _ in range(40):
        for env in range(8):
            seed, actions = vec.running_episode(env)
            state = cardenvs.get_game("leduc_poker_v0").new_state(seed=seed)
            for action in actions:
                state.apply(action)
            assert (state.observation(state.current_player) == vec.batch.observation[env]).all()
        vec.step(vec.sample_actions())
    with pytest.raises(ValueError, match="env"):
        vec.running_episode(8)
    plain = leduc(2)
    plain.reset(0)
    with pytest.raises(ValueError, match="created with resumable=True"):
        plain.running_episode(0)


def test_saved_states_fit_environments_with_the_same_numbers():
    saved = cardenvs.make_vec("leduc_poker_v0", 2, seed=1, resumable=True)
    saved.reset()
    other = cardenvs.make_vec("leduc_poker_v0", 2, seed=1, resumable=True, first_env=7)
    with pytest.raises(FormatError, match="have first_env 0; these have 7"):
        other.set_state(saved.get_state())


def test_saved_states_have_the_final_observations():
    vec = cardenvs.make_vec("leduc_poker_v0", 2, seed=1, resumable=True, max_plies=1)
    vec.reset()
    vec.step(np.array([1, 1]))
    assert vec.batch.final_observation is not None
    again = cardenvs.make_vec("leduc_poker_v0", 2, seed=1, resumable=True, max_plies=1)
    state = vec.get_state()
    again.set_state(state)
    assert np.array_equal(again.batch.final_observation, vec.batch.final_observation)
    state["arrays"]["final_observation"] = np.zeros(3)
    with pytest.raises(FormatError, match="final_observation should be"):
        again.set_state(state)


def test_only_states_of_the_same_game_and_options_are_put_in():
    vec = cardenvs.make_vec("uno_v0", 2, num_players=2)
    vec.reset()
    for state in (
        cardenvs.get_game("uno_v0").new_state(num_players=10),
        cardenvs.get_game("leduc_poker_v0").new_state(),
    ):
        with pytest.raises(ValueError, match="put_state takes a State of uno_v0"):
            vec.put_state(0, state)
    with pytest.raises(ValueError, match="put_state takes"):
        vec.put_state(0, None)


def test_histories_have_room_for_the_longest_game_and_no_more():
    vec = cardenvs.make_vec("leduc_poker_v0", 64, resumable=True, skip_forced=True, max_plies=2**31 - 1)
    batch = vec.reset()
    vec.step(batch.legal_actions[:, 0])
    assert vec.get_state()["arrays"]["actions"].shape[1] <= 8
