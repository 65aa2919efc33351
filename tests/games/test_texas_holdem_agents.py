"""The policies of Texas hold'em: how strong they are, that they know only what they may, and some of what they do."""

import numpy as np
import pytest
from holdem import play, table

from cardenvs.agents import make_agent
from cardenvs.arena import Match, run_match
from cardenvs.core.kernel import COMPILED
from cardenvs.core.rng import seed_xoshiro
from cardenvs.games.texas_holdem import GAME, charts, make_charts, strategy
from cardenvs.games.texas_holdem.equity import equity, with_picks, with_width
from cardenvs.games.texas_holdem.strategy import depth
from cardenvs.kits.cards import NUM_CARDS, parse_cards

POLICIES = ("push_fold", "tight_aggressive", "equity")
compiled = pytest.mark.skipif(not COMPILED, reason="calls a kernel with a record, or plays thousands of hands")


def margin(one, other, num_deals, **options):
    """Big blinds per 100 hands of `one` in each seat against `other` in the rest, and the half 95% interval."""
    chips = np.zeros(num_deals)
    for deal in range(num_deals):
        for seat in range(options["num_players"]):
            state = GAME.new_state(seed=deal, format="cash", **options)
            while not state.is_terminal:
                policy = one if state.current_player == seat else other
                state.apply_unchecked(state.policy_action(policy, seed=state.ply + 100 * seat))
            chips[deal] += state.returns[seat] / options["num_players"]
    blinds = 100 * chips / 20
    return blinds.mean(), 1.96 * blinds.std() / num_deals**0.5


@compiled
@pytest.mark.parametrize(
    ("one", "other", "num_players", "num_deals"),
    [
        ("push_fold", "random", 2, 1500),
        ("tight_aggressive", "random", 2, 1500),
        ("equity", "random", 2, 1500),
        ("tight_aggressive", "push_fold", 2, 8000),
        ("equity", "tight_aggressive", 2, 6000),
        ("tight_aggressive", "random", 6, 500),
        ("tight_aggressive", "push_fold", 6, 3000),
        ("equity", "tight_aggressive", 6, 4000),
    ],
)
def test_each_policy_beats_the_random_one_and_the_one_before(one, other, num_players, num_deals):
    mean, half = margin(one, other, num_deals, num_players=num_players)
    assert mean - half > 0, f"{one} against {other}: {mean:.1f} ± {half:.1f} bb/100"


@compiled
def test_short_stacks_are_played_better_than_at_random():
    for policy in POLICIES:
        mean, half = margin(policy, "random", 1500, num_players=2, starting_stack=160)
        assert mean - half > 0


@compiled
def test_a_tournament_is_won_more_often_than_at_random():
    summary = run_match(Match.of("texas_holdem_v0", ["tight_aggressive", *["random"] * 5], deals=60, seed=1))
    assert summary.ranking[0].name == "tight_aggressive"
    assert summary.ranking[0].mean.low > 0


# ---------------------------------------------------------------------------------------------------------------
# What they may know, and may do

TABLES = [
    {"format": "cash", "num_players": 2, "num_hands": 2},
    {"format": "cash", "num_players": 10, "betting": "fcpa", "num_hands": 2},
    {"format": "cash", "num_players": 3, "betting": "full", "starting_stack": 400, "num_hands": 3, "burn_cards": True},
    {"format": "cash", "stacks": (37, 5000, 240, 90, 1000, 411), "ante": 5, "num_hands": 4},
    {"num_players": 4, "starting_stack": 300, "hands_per_level": 3, "ante": 3, "reopen_rule": "single"},
    {"num_players": 6, "max_hands": 12, "betting": "fcpa", "button_rule": "moving", "reveal_all_in": False},
    {"num_players": 3, "betting": "full", "starting_stack": 150, "hands_per_level": 2},
    {"format": "cash", "num_players": 2, "blinds": (1, 3), "stacks": (7, 4), "num_hands": 4},
]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("options", TABLES)
def test_a_policy_knows_what_its_player_may_know(policy, options):
    """In every twin it plays the same, and legally; it never folds where checking is free."""
    for seed in range(12 if COMPILED else 1):
        state = GAME.new_state(seed=seed, **options)
        while not state.is_terminal and state.ply < (400 if COMPILED else 12):
            action = state.policy_action(policy, seed=state.ply)
            for twin_seed in range(2):
                twin = state.determinize(state.current_player, twin_seed)
                assert twin.policy_action(policy, seed=state.ply) == action
            # One player at random, so that hands go on and strange bets are met.
            if state.current_player == seed % state.num_players and COMPILED:
                action = state.policy_action("random", seed=state.ply)
            state.apply(action)  # legal, or this raises


def test_policies_can_be_named_as_agents_and_as_playouts_of_search():
    for policy in (*POLICIES, "search:simulations=20,playout=tight_aggressive"):
        agent = make_agent(policy, GAME, GAME.make_options())
        assert agent.name == policy


# ---------------------------------------------------------------------------------------------------------------
# Charts


def kind(name):
    return [charts.hand_name(hand) for hand in range(charts.NUM_HANDS)].index(name)


def test_the_pairs_of_cards_are_those_of_the_169_kinds():
    kinds = [make_charts.combinations(hand) for hand in range(charts.NUM_HANDS)]
    pairs = {frozenset(pair) for combinations in kinds for pair in combinations}
    assert len(pairs) == sum(map(len, kinds)) == charts.NUM_PAIRS == NUM_CARDS * 51 // 2
    assert all(charts.hand_of(*pair) == hand for hand in range(charts.NUM_HANDS) for pair in kinds[hand])
    assert charts.hand_name(charts.hand_of(*parse_cards("Kc As"))) == "AKo"
    assert charts.hand_name(charts.hand_of(*parse_cards("2d 7d"))) == "72s"
    assert (make_charts.pairs_left().sum(1) == 50 * 49 / 2).all()


@pytest.mark.parametrize(
    ("hand", "percent"), [("AA", 85.2), ("KK", 82.4), ("AKs", 67.0), ("AKo", 65.3), ("22", 50.3), ("72o", 34.6)]
)
def test_equities_against_any_hand_are_the_known_ones(hand, percent):
    assert 100 * charts.equity_against_best(kind(hand), charts.ALL_HANDS) == pytest.approx(percent, abs=0.4)


def test_the_order_begins_with_aces_and_ends_with_a_bad_hand():
    assert charts.standing(kind("AA")) == 6 * 1000 // 1326
    places = [charts.standing(kind(name)) for name in ("KK", "JJ", "AKs", "AQo", "KQo", "T9s", "J5o", "32o")]
    assert places == sorted(places)
    assert places[-1] == 1000


def test_all_in_ranges_narrow_with_depth_and_with_players_behind():
    widths = np.array([[charts.jam_width(behind, deep) for deep in (1, 3, 5, 10, 20)] for behind in range(1, 10)])
    assert (np.diff(widths, axis=1) <= 0).all()
    assert (np.diff(widths[:, 2:], axis=0) <= 0).all()
    assert widths[0, 3] == pytest.approx(580, abs=25)  # the known equilibrium of two players ten big blinds deep
    assert charts.jams(kind("AA"), 9, 1000)
    assert not charts.jams(kind("72o"), 1, 10)


@compiled
def test_the_charts_can_be_made_again():
    equities, left = make_charts.equities(samples=300, seed=2), make_charts.pairs_left()
    order = make_charts.best_first(equities, left)
    made = np.stack([make_charts.against(equities, left, make_charts.best(order, width)) for width in (20, 100)], 1)
    kept = [[charts.equity_against_best(hand, width) for width in (200, 1000)] for hand in range(charts.NUM_HANDS)]
    assert np.abs(made - kept).max() < 0.025
    jams = make_charts.jams(equities, left, behind=2, depth=8) > 0.5
    assert np.mean(jams == [charts.jams(hand, 2, 8) for hand in range(charts.NUM_HANDS)]) > 0.93


# ---------------------------------------------------------------------------------------------------------------
# Equity


def equity_of(hand, board, street, width=1000, picks=1, others=1, samples=4000):
    """The equity of a hand of seat 0, which is at the table with `others` and a board seen so far."""
    state = table([2000] * (others + 1), hands={0: hand}, board=board)
    while state.phase != street:
        state.act("check_call")
    rng, widths, all_picks = np.zeros(4, np.uint64), 0, 0
    seed_xoshiro(rng, np.uint64(1))
    for seat in range(1, others + 1):
        widths, all_picks = with_width(widths, seat, width), with_picks(all_picks, seat, picks)
    return equity(state.record, 0, (2 << others) - 2, widths, all_picks, 0, samples, rng)


@compiled
def test_equity_is_that_of_the_hand():
    board = "Ts Js Qs 2d 2c"
    assert equity_of("As Ks", board, "river") == 1.0
    assert equity_of("3c 4d", "Ts Js Qs Ks As", "river") == 0.5
    assert equity_of("3c 4d", "Ts Js Qs Ks As", "river", others=3) == 0.25
    assert equity_of("Ac Ad", board, "preflop") == pytest.approx(0.852, abs=0.02)
    assert equity_of("Ac Ad", board, "preflop", others=2) == pytest.approx(0.734, abs=0.02)
    assert equity_of("Ac Kd", board, "preflop", width=100) == pytest.approx(
        charts.equity_against_best(kind("AKo"), 100), abs=0.03
    )


@compiled
def test_equity_falls_as_ranges_become_stronger():
    board = "Ks 8d 3c 6h 2c"
    for street in ("flop", "turn", "river"):
        by_picks = [equity_of("Kd Jh", board, street, picks=picks) for picks in (1, 2, 4)]
        by_width = [equity_of("Kd Jh", board, street, width=width) for width in (1000, 300, 60)]
        assert by_picks == sorted(by_picks, reverse=True)
        assert by_picks[0] - by_picks[2] > 0.1
        assert by_width == sorted(by_width, reverse=True)


# ---------------------------------------------------------------------------------------------------------------
# What they do


def choice(policy, script="", **options):
    """The label of what a policy chooses after a script."""
    state = play(table(**options), script)
    return state.action_label(state.policy_action(policy, seed=0))


@pytest.mark.parametrize("policy", ["tight_aggressive", "equity"])
def test_hands_are_opened_by_position(policy):
    for hand, seat_opens in (("As Ad", 3), ("Ks Ts", 4), ("Ks 7s", 0)):
        state = table(hands={seat_opens: hand})
        while state.current_player != seat_opens:
            state.act("fold")
        assert state.action_label(state.policy_action(policy, seed=0)).startswith("raise to")
    assert choice(policy, hands={3: "Ks 7s"}) == "fold"
    assert choice(policy, hands={3: "7s 2d"}) == "fold"


@pytest.mark.parametrize("policy", POLICIES)
def test_a_raise_is_met_with_the_best_hands_and_folded_to_with_bad_ones(policy):
    assert "raise to" in choice(policy, "3:60 4:fold 5:fold 0:fold 1:fold", hands={2: "As Ad"})
    assert choice(policy, "3:60 4:fold 5:fold 0:fold 1:fold", hands={2: "9s 2d"}) == "fold"


@pytest.mark.parametrize("policy", POLICIES)
def test_the_short_stack_is_all_in_or_out(policy):
    """Seven big blinds at the button."""
    assert choice(policy, "3:fold 4:fold 5:fold", stacks=140, hands={0: "As 8d"}).endswith("all in")
    assert choice(policy, "3:fold 4:fold 5:fold", stacks=140, hands={0: "9s 4d"}) == "fold"


def test_antes_make_stacks_shallower():
    deep = table(stacks=200)
    shallow = table(stacks=200, ante=10)
    if COMPILED:
        assert depth(deep.record, 3) == 10
        assert depth(shallow.record, 3) == pytest.approx(10 * 30 / 90)
    fold, jam = (
        play(table(stacks=200, ante=ante, hands={4: "Qs 8s"}), "3:fold").policy_action("push_fold", seed=0)
        for ante in (0, 10)
    )
    assert (fold, jam) == (0, 9)


@pytest.mark.parametrize("policy", ["tight_aggressive", "equity"])
def test_a_full_house_is_bet_and_nothing_is_given_up(policy):
    script = "0:40 1:call 1:check 0:check"
    strong = {"stacks": [2000, 2000], "hands": {0: "Ks Kd", 1: "Jc Jd"}, "board": "Kc 7d 7h Js 3d"}
    assert choice(policy, script, **strong).startswith("bet")
    weak = {"stacks": [2000, 2000], "hands": {0: "Ks Qd", 1: "4c 2d"}, "board": "Kc 7d 7h Js 3d"}
    assert choice(policy, "0:40 1:call 1:check 0:60", **weak) == "fold"


def test_pot_odds_call_a_small_bet_and_fold_to_a_large_one():
    """Queen high and a draw to a straight on the turn."""
    hand = {"stacks": [4000, 4000], "hands": {1: "Qs Jd"}, "board": "Tc 9d 2h 3s 4d"}
    script = "0:100 1:call 1:check 0:check 1:check "
    assert choice("tight_aggressive", script + "0:20", **hand) == "call 20"
    assert choice("tight_aggressive", script + "0:3000", **hand) == "fold"


def test_raises_are_the_closest_that_the_betting_offers():
    hands = {3: "As Ad"}
    assert choice("tight_aggressive", hands=hands) == "raise to 45, 1/2 pot"
    assert choice("tight_aggressive", hands=hands, betting="full") == "raise to 50"
    assert choice("tight_aggressive", hands=hands, betting="fcpa") == "raise to 70, pot"
    assert strategy._COMMITTED * 120 < 50  # so little would be left that it is all-in
    assert choice("tight_aggressive", hands=hands, stacks={3: 120}, betting="full") == "raise to 120, all in"


def test_a_short_stack_counts_only_the_chips_it_can_win():
    """The big blind has 100 left; of the 1090 chips in the pot it can win 210."""
    options = {"stacks": {2: 120}, "hands": {2: "9s 4d"}}
    assert choice("tight_aggressive", "3:60 4:1000 5:fold 0:fold 1:fold", **options) == "fold"
    assert choice("push_fold", "3:60 4:1000 5:fold 0:fold 1:fold", **options) == "fold"


def test_nobody_raises_beyond_what_the_others_can_call():
    """The button has the nuts and 4000 chips, and two players 200 each."""
    options = {"stacks": [4000, 240, 240], "hands": {0: "As Ks"}, "board": "Qs Js Ts 2d 2c", "betting": "full"}
    label = choice("equity", "0:40 1:call 2:call 1:check 2:check", **options)
    assert label.startswith("bet")
    assert int(label.split()[1]) <= 200
