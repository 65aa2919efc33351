"""`VectorEnv(skip_forced=True)`, beside a State that is played on by hand."""

import copy
import pickle

import numpy as np
import pytest

import cardenvs
from cardenvs.core.errors import IllegalActionError

GAMES = ["katko_v0", pytest.param("crazy_eights_v0", marks=pytest.mark.rotating)]
NUM_ENVS = 6


def vec_of(game, **arguments):
    return cardenvs.make_vec(game, num_envs=NUM_ENVS, seed=3, skip_forced=True, **arguments)


def play_on(state, action, most):
    """Apply an action and what follows without a choice. Returns the sum of the rewards and the actions."""
    total, played = np.zeros(state.num_players), []
    while True:
        state.apply(action)
        played.append(action)
        total += state.rewards
        if state.is_terminal or state.ply >= most or len(state.legal_actions()) > 1:
            return total, played
        (action,) = state.legal_actions()


@pytest.mark.parametrize("most", [None, 17])
@pytest.mark.parametrize("name", GAMES)
def test_a_step_plays_on_while_there_is_no_choice(name, most):
    game, vec = cardenvs.get_game(name), vec_of(name, resumable=True, max_plies=most)
    batch, rng = vec.reset(), np.random.default_rng(1)
    states = [game.new_state(seed=vec.running_episode(env)[0]) for env in range(NUM_ENVS)]
    lines = [[] for _ in states]
    skipped = ended = 0
    for _ in range(400):
        actions = np.array(vec.sample_actions(), np.int64)
        held = rng.random(NUM_ENVS) < 0.2
        actions[held] = -1
        before = batch.observation.copy()
        batch = vec.step(actions)
        for env, state in enumerate(states):
            if held[env]:
                assert (batch.observation[env] == before[env]).all()
                assert not batch.reward[env].any()
                assert not batch.terminated[env]
                continue
            reward, played = play_on(state, int(actions[env]), vec.max_plies)
            skipped += len(played) - 1
            lines[env] += played
            assert batch.reward[env] == pytest.approx(reward)
            assert batch.episode_returns[env] == pytest.approx(state.returns)
            assert batch.terminated[env] == state.is_terminal
            assert batch.truncated[env] == (not state.is_terminal and state.ply >= vec.max_plies)
            if batch.truncated[env]:
                for player in range(vec.num_players):
                    assert (batch.final_observation[env, player] == state.observation(player)).all()
            if batch.terminated[env] or batch.truncated[env]:
                states[env] = state = game.new_state(seed=vec.running_episode(env)[0])
                lines[env], ended = [], ended + 1
            else:
                assert batch.num_legal[env] > 1
            assert (vec.running_episode(env)[1]) == lines[env]
            assert batch.current_player[env] == state.current_player
            assert (batch.observation[env] == state.observation(state.current_player)).all()
            assert batch.legal_actions[env, : batch.num_legal[env]].tolist() == state.legal_actions()
    assert skipped
    assert ended


def test_a_saved_batch_goes_on_alike():
    vec, other = (vec_of("katko_v0", resumable=True) for _ in range(2))
    vec.reset()
    for _ in range(7):
        vec.step(vec.sample_actions())
    other.set_state(vec.get_state())
    others = [other, copy.copy(vec), pickle.loads(pickle.dumps(vec))]
    for step in range(40):
        batch = vec.step(vec.sample_actions())
        for each in others:
            twin = each.step(each.sample_actions())
            assert (twin.observation == batch.observation).all()
            assert (twin.reward == batch.reward).all()
            assert each.running_episode(2) == vec.running_episode(2)
            if step % 13 == 0:
                each.set_state(each.get_state())


def test_threads_and_histories_change_nothing():
    vecs = [vec_of("katko_v0"), vec_of("katko_v0", num_threads=3), vec_of("katko_v0", resumable=True)]
    batches = [vec.reset() for vec in vecs]
    for _ in range(60):
        batches = [vec.step(vec.sample_actions()) for vec in vecs]
        assert (batches[1].observation == batches[0].observation).all()
        assert (batches[2].observation == batches[0].observation).all()


def test_an_illegal_action_changes_nothing():
    vec = vec_of("katko_v0")
    batch = vec.reset()
    before = batch.observation.copy()
    with pytest.raises(IllegalActionError, match="environment 0"):
        vec.step(np.full(NUM_ENVS, vec.num_actions - 1))
    assert (batch.observation == before).all()
