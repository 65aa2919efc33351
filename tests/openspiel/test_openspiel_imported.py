"""OpenSpiel's games in cardenvs: they conform, hide what is hidden, and play in every interface."""

import pickle

import numpy as np
import pyspiel
import pytest

import cardenvs
from cardenvs.arena import Match, run_match
from cardenvs.core.errors import GameNotFoundError
from cardenvs.openspiel.imported import history_of
from cardenvs.testing import check_game

GAMES = ["tic_tac_toe", "kuhn_poker", "leduc_poker(players=3)", "liars_dice", "phantom_ttt"]


def game_of(text):
    return cardenvs.get_game(f"openspiel:{text}")


@pytest.mark.slow
@pytest.mark.parametrize("text", GAMES)
def test_it_conforms(text):
    check_game(game_of(text), examples=2, subprocesses=False)


@pytest.mark.parametrize("text", GAMES)
def test_play_is_openspiels(text):
    game = game_of(text)
    for seed in range(20):
        state = game.new_state(seed=seed)
        while not state.is_terminal:
            theirs = pyspiel.load_game(text).new_initial_state()
            for move in history_of(state.record):
                theirs.apply_action(move)
            player = theirs.current_player()
            assert state.current_player == player
            assert state.legal_actions() == theirs.legal_actions()
            assert state.observation(player).tolist() == pytest.approx(theirs.observation_tensor(player))
            assert state.action_label(theirs.legal_actions()[0]).startswith(
                theirs.action_to_string(theirs.legal_actions()[0])
            )
            state.apply(state.policy_action("random", seed))
        theirs = pyspiel.load_game(text).new_initial_state()
        for move in history_of(state.record):
            theirs.apply_action(move)
        assert state.returns == theirs.returns()


def test_chance_follows_its_probabilities():
    game = game_of("kuhn_poker")
    deals = [tuple(history_of(game.new_state(seed=seed).record)) for seed in range(1200)]
    counts = [deals.count(deal) for deal in sorted(set(deals))]
    assert len(counts) == 6
    assert max(counts) < 260
    assert min(counts) > 140


@pytest.mark.parametrize("text", ["kuhn_poker", "leduc_poker", "gin_rummy", "phantom_ttt"])
def test_a_twin_keeps_what_the_player_knows_and_re_deals_the_rest(text):
    game = game_of(text)
    state = game.new_state(seed=5)
    for ply in range(6):
        if not state.is_terminal:
            state.apply(state.policy_action("random", ply))
    others = set()
    for seed in range(8):
        for player in range(2):
            twin = state.determinize(player, seed)
            assert twin.render(player) == state.render(player)
            assert np.array_equal(twin.observation(player), state.observation(player))
            assert twin.facts(player) == state.facts(player)
            others.add(tuple(history_of(twin.record)))
    assert len(others) > 1 or state.is_terminal


def test_twins_of_a_deal_are_as_likely_as_its_deals():
    """In gin rummy, which OpenSpiel cannot re-deal, every unseen card is about as likely to be in the other hand."""
    state = game_of("gin_rummy").new_state(seed=1)
    true = history_of(state.record)
    own, other = set(true[:10]), true[10:20]
    kept = 0
    for seed in range(40):
        twin = history_of(state.determinize(0, seed).record)
        assert set(twin[:10]) == own
        kept += len(set(other) & set(twin[10:20]))
    assert kept / 400 == pytest.approx(10 / 41, abs=0.09)


def test_a_match_search_and_batches_play_it():
    summary = run_match(Match.of("openspiel:tic_tac_toe", ["search:simulations=20", "random"], deals=12, seed=1))
    assert summary.ranking[0].name == "search:simulations=20"
    envs = cardenvs.make_vec("openspiel:kuhn_poker", num_envs=3, seed=1, num_threads=2)
    batch = envs.reset()
    for _ in range(20):
        batch = envs.step(envs.sample_actions())
    assert batch.observation.shape == (3, 7)


def test_it_is_pickled_by_name():
    game = game_of("leduc_poker(players=3)")
    assert pickle.loads(pickle.dumps(game)) is game
    state = game.new_state(seed=1)
    copy = pickle.loads(pickle.dumps(state))
    assert copy.options == state.options
    assert copy.legal_actions() == state.legal_actions()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("no_such_game", "OpenSpiel cannot load this game"),
        ("leduc_poker(players=99)", "OpenSpiel cannot load this game"),
        ("goofspiel", "act at the same time; try turn_based"),
        ("efg_game(filename=/etc/hostname)", "cannot"),
        ("cribbage", "no tensor"),
    ],
)
def test_what_cannot_be_played_is_said(text, problem):
    with pytest.raises(GameNotFoundError, match=problem):
        game_of(text)


@pytest.mark.parametrize(
    "text",
    [
        "efg_game(filename=/etc/passwd)",
        "misere(game=efg_game( filename =/etc/passwd))",
        "bargaining(instances_file=x)",
        "misere(game=" * 6 + "tic_tac_toe" + ")" * 6,
        "x" * 401,
    ],
)
def test_names_that_open_a_file_or_take_long_are_refused_before_they_are_read(text, monkeypatch):
    monkeypatch.setattr(pyspiel, "load_game", lambda text: pytest.fail("it has been read"))
    with pytest.raises(GameNotFoundError, match=r"it reads a file|a name has at most"):
        game_of(text)
