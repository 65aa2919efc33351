"""Whole deals of Canasta against a second implementation, card by card; and the agents."""

import random
from collections import Counter

import numpy as np
import pytest
from canasta import GAME, oracle_rules, oracle_turn, step_of
from canasta_oracle import MELDS, Deal, legal_steps

from cardenvs.games.canasta import actions
from cardenvs.games.canasta.state import FACE_LABELS, PHASES

DECK = [face for face in range(53) for _ in range(4 if face == 52 else 2)]
OPTIONS = (
    {"num_players": 2},
    {"num_players": 3},
    {"num_players": 4},
    {"num_players": 2, "hand_size": 8, "draw_count": 1, "canastas_to_go_out": 1, "wild_only_melds": True},
    {"num_players": 4, "ask_partner": True, "draw_count": 2},
)


def sorted_labels(counts):
    return sorted(FACE_LABELS[face] for face in range(53) for _ in range(int(counts[face])))


def compare_tables(state, deal):
    """Compare all cards of a state with the oracle's."""
    s = state.record
    assert PHASES[int(s.phase)] in (deal.phase, "answer") or state.is_terminal
    for p in range(state.num_players):
        assert sorted_labels(s.hands[p]) == sorted(deal.hands[p])
        if not state.is_terminal:
            assert sorted_labels(s.known[p]) == sorted(deal.known[p])
        assert s.red_threes[p].tolist() == [deal.reds[p].count("3d"), deal.reds[p].count("3h")]
    assert [FACE_LABELS[int(face)] for face in s.pile[: int(s.num_pile)]] == deal.pile
    assert int(s.num_stock) == len(deal.stock)
    assert bool(s.pile_frozen) == deal.frozen
    for side in range(deal.sides):
        cards = [card for meld in deal.melds[side].values() for card in meld]
        assert sorted_labels(s.melded[side]) == sorted(cards)
        for m, name in enumerate(MELDS):
            size = int(s.naturals[side, m] + s.jokers[side, m] + s.twos[side, m])
            assert size == len(deal.melds[side].get(name, []))


def follow(state, deal, action):
    """Make the action in the oracle."""
    step = step_of(state, action) if state.phase != "answer" else ("answer",)
    if step[0] == "discard":
        deal.discard(FACE_LABELS[action - actions.DISCARD_0])
    elif step[0] in ("done", "end"):
        deal.end()
    elif step[0] in ("draw", "take", "lay"):
        getattr(deal, step[0])(*step[1:])


def play_and_compare(seed, options, steps_every):
    """Play a deal by random choices among the heuristic's and any legal actions, and compare the two at every step."""
    chooser = random.Random(seed)
    deck = DECK.copy()
    chooser.shuffle(deck)
    state = GAME.new_state(seed=seed, deck=deck, **options)
    deal = Deal(oracle_rules(state), [FACE_LABELS[face] for face in deck])
    style = chooser.choice(("random", "heuristic", "melder"))
    kinds = Counter()
    while not state.is_terminal:
        compare_tables(state, deal)
        legal = state.legal_actions()
        small = state.record.hand_sizes[state.current_player] <= 8  # trying whole turns takes long for large hands
        if state.phase != "answer" and small and chooser.random() < steps_every:
            assert {step_of(state, action) for action in legal} == legal_steps(oracle_turn(state))
        action = (
            chooser.choice(legal) if style == "random" or chooser.random() < 0.1 else (state.policy_action(style, seed))
        )
        kinds[actions_kind(action)] += 1
        follow(state, deal, action)
        state.apply(action)
    compare_tables(state, deal)
    assert state.record.scores.tolist()[: deal.sides] == deal.scores
    assert state.returns == pytest.approx(deal.returns())
    return kinds


def actions_kind(action):
    if action >= actions.DISCARD_0:
        return "lay" if action >= actions.LAY_0 else "discard"
    return "take" if actions.TAKE_WITH_PAIR <= action <= actions.TAKE_BY_ADDING else action


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_deals_are_those_of_the_oracle(options):
    kinds = Counter()
    for seed in range(6):
        kinds += play_and_compare(seed, options, 0.2)
    assert kinds["take"]
    assert kinds["lay"]


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_ten_thousand_deals_are_those_of_the_oracle(options):
    for seed in range(2000):
        play_and_compare(1000 + seed, options, 0.02)


def mean_result(policies, players, deals):
    """The mean result of the first policy's side against the second's on duplicate deals, and its 95% interval."""
    results = []
    for seed in range(deals):
        total = 0.0
        for seat in range(2):
            state = GAME.new_state(seed=seed, num_players=players)
            while not state.is_terminal:
                policy = policies[(state.current_player + seat) % 2]
                state.apply_unchecked(state.policy_action(policy, seed))
            total += state.returns[seat] / 2
        results.append(total)
    return np.mean(results), 1.96 * np.std(results) / np.sqrt(deals)


@pytest.mark.parametrize("players", [2, 4])
def test_the_heuristic_beats_random_and_the_crude_melder(players):
    for other in ("random", "melder"):
        mean, interval = mean_result(("heuristic", other), players, 150)
        assert mean > interval
