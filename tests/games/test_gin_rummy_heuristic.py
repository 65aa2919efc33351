"""The policies of gin rummy: how strong they are, that they know only what they may, and some of what they do."""

import numpy as np
import pytest

from cardenvs.core.kernel import COMPILED
from cardenvs.core.state import State
from cardenvs.games.gin_rummy import GAME, melds
from cardenvs.games.gin_rummy.actions import KNOCK_0
from cardenvs.games.gin_rummy.heuristic import _ABOVE_LIMIT, _KNOCK_NEXT, burden_of
from cardenvs.kits.cards import parse_card

A = "4h 5h 6h 9s 9d 9c Ks Kh Kd 2c"
B = "7h 8h 3h 2s 3s 4s Qd Qh Jc Td"


def margin(one, other, num_deals, **options):
    """Points a deal of policy `one` against `other`, every deal played from both sides, and its standard error."""
    points = np.zeros(num_deals)
    for deal in range(num_deals):
        for side in (0, 1):
            state = GAME.new_state(seed=deal, **options)
            while not state.is_terminal:
                policy = one if state.current_player == side else other
                state.apply_unchecked(state.policy_action(policy, seed=state.ply))
            points[deal] += state.returns[side] / 2
    return points.mean(), points.std() / num_deals**0.5


def choice(deck, *plays, policy="heuristic", **options):
    """The label of what a policy chooses after some plays."""
    state = GAME.new_state(seed=4, deck=deck, **options)
    for label in plays:
        state.apply(state.action_from_label(label))
    return state.action_label(state.policy_action(policy, seed=0))


@pytest.mark.skipif(not COMPILED, reason="a thousand deals")
@pytest.mark.parametrize(
    ("one", "other", "num_deals", "at_least"),
    [("heuristic", "random", 200, 50), ("greedy", "random", 200, 40), ("heuristic", "greedy", 1500, 6)],
)
def test_one_policy_beats_the_other(one, other, num_deals, at_least):
    mean, error = margin(one, other, num_deals)
    assert mean - 2 * error > at_least


@pytest.mark.skipif(not COMPILED, reason="hundreds of deals")
@pytest.mark.parametrize(
    "options",
    [
        {"oklahoma": True},
        {"knock_max": 5},
        {"gin_bonus": 20, "undercut_bonus": 10},
        {"layoff": "manual", "big_gin": True},
    ],
)
def test_the_heuristic_is_the_stronger_one_under_other_rules(options):
    mean, error = margin("heuristic", "greedy", 400, **options)
    assert mean - 2 * error > 0


@pytest.mark.parametrize("policy", ["heuristic", "greedy"])
@pytest.mark.parametrize(
    "options", [{}, {"layoff": "manual", "wall_knock": True, "knock_max": 60}, {"match_target": 30}]
)
def test_a_policy_knows_what_its_player_may_know(policy, options):
    """In every twin it plays the same."""
    for seed in range(15 if COMPILED else 1):
        state = GAME.new_state(seed=seed, **options)
        while not state.is_terminal and state.ply < 200:
            action = state.policy_action(policy, seed=1)
            for twin_seed in range(2):
                assert state.determinize(state.current_player, twin_seed).policy_action(policy, seed=2) == action
            state.apply(action)  # legal, or this raises


def test_lay_offs_by_hand_are_as_good_as_the_automatic_ones():
    num_layoffs = 0
    for seed in range(200 if COMPILED else 4):
        auto, manual = (GAME.new_state(seed=seed, layoff=layoff) for layoff in ("auto_optimal", "manual"))
        while not manual.is_terminal:
            action = manual.policy_action("greedy", seed=0)
            if manual.phase == "layoff":
                num_layoffs += 1
            else:
                auto.apply(action)
            manual.apply(action)
        assert manual.returns == auto.returns
    assert num_layoffs > 50 or not COMPILED


def test_the_heuristic_takes_a_card_that_makes_a_meld():
    hand, other = "4h 5h 9s 9d Ks 2c 7d Jc 3s Tc", "7h 8h 3h 2s 5s 4s Qd Qh Jh Td"
    assert choice(f"{hand} {other} 6h") == "take 6♥"
    assert choice(f"{hand} {other} Qs") == "pass"


def test_the_heuristic_has_gin():
    assert choice(f"{A} {B} Kc", "take K♣") == "gin discarding 2♣"
    eleven = (f"{A.replace('2c', 'Kc')} {B.replace('7h', '2h')} Ac 7h", "pass", "pass", "draw stock")
    assert choice(*eleven).startswith("gin")
    assert choice(*eleven, big_gin=True) == "big gin"


def changed(state, **fields):
    """The same position with some fields of the record set."""
    states = np.frombuffer(state.record_bytes(), GAME.state_dtype).copy()
    for name, value in fields.items():
        states[name] = value
    return State._from_record(GAME, state.options, states)


def test_the_heuristic_knocks_early_and_waits_later():
    state = GAME.new_state(seed=4, deck=f"4h 5h 6h 9s 9d 9c Ks Kh 8d 2c {B} Kd")
    state.apply(state.action_from_label("take K♦"))
    knock = KNOCK_0 + parse_card("8d")
    assert changed(state, num_stock=31).policy_action("heuristic", seed=0) == knock
    assert changed(state, num_stock=10).policy_action("heuristic", seed=0) != knock
    assert changed(state, num_stock=10).policy_action("greedy", seed=0) == knock


def test_the_heuristic_does_not_feed_the_opponent():
    """Qs is the highest of three useless cards, but not when the opponent is known to hold two queens."""
    state = GAME.new_state(seed=4, deck="4h 5h 6h 9s 9d 9c As Qs 8d 2c Kc Qd Qh 2d 3s 4s 5c 8h Td 7s Ah 6d")
    for label in ("pass", "pass", "draw stock"):
        state.apply(state.action_from_label(label))
    queens = 1 << parse_card("Qd") | 1 << parse_card("Qh")
    assert state.policy_action("heuristic", seed=0) == parse_card("Qs")
    assert changed(state, known=[[0, queens]]).policy_action("heuristic", seed=0) != parse_card("Qs")


@pytest.mark.parametrize("limit", [0, 4, 10])
def test_the_burden_of_a_hand_counts_every_card_that_may_be_drawn(limit):
    rng = np.random.default_rng(limit)
    for _ in range(300 if COMPILED else 10):
        cards = rng.permutation(52)
        hand, unseen = (np.int64(sum(1 << int(card) for card in part)) for part in (cards[:10], cards[10:40]))
        deadwood = melds.min_deadwood(hand)
        left = np.array([melds.min_deadwood_after_discard(hand | 1 << int(card)) for card in cards[10:40]])
        expected = (1.5 * (deadwood - left).sum() + _KNOCK_NEXT * (left <= limit).sum()) / 30
        assert burden_of(hand, unseen, limit, 1.5) == deadwood + _ABOVE_LIMIT * max(0, deadwood - limit) - expected
