"""Tests of Oh Hell: paragraphs that the scenario files leave out, an oracle, OpenSpiel, worlds and the rule agent."""

import collections
import random

import pytest
from oh_hell_oracle import USUAL, Oracle, sizes
from scipy.special import chdtrc

from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import OptionError
from cardenvs.core.events import SPECTATOR
from cardenvs.core.game_view import table_texts
from cardenvs.core.kernel import COMPILED
from cardenvs.core.registry import get_game
from cardenvs.games.oh_hell import belief
from cardenvs.games.oh_hell.rules import (
    BID_0,
    PACK,
    SCHEDULES,
    SCORINGS,
    SUIT_SETS,
    count_deals,
    determinize,
    points_of,
)

GAME = get_game("oh_hell_v0")


def played(deck=None, *labels, **options):
    """The state after some actions on an explicit deck."""
    state = GAME.new_state(seed=1, deck=deck, **options)
    for label in labels:
        state.apply(state.action_from_label(label))
    return state


def play_deal(state):
    """Play random actions until the deal is over."""
    number = int(state.record.num_deals)
    chooser = random.Random(number)
    while not state.is_terminal and state.record.num_deals == number:
        state.apply(chooser.choice(state.legal_actions()))


def hands_of(state):
    return [[PACK.labels[card] for card in PACK.cards_of(hand)] for hand in state.record.hands[: state.num_players]]


def sizes_of(**options):
    """The number of cards in each deal of a game."""
    state, found = GAME.new_state(seed=3, **options), []
    while not state.is_terminal:
        found.append(state.facts(0)["cards_each"])
        play_deal(state)
    return found


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_players": 7, "max_cards": 8}, "7 players with 8 cards need more than 52 cards"),
        ({"num_players": 2}, "3 to 7"),
        ({"num_players": 8}, "3 to 7"),
    ],
)
def test_options_that_do_not_fit(options, message):
    with pytest.raises(OptionError, match=message):
        GAME.make_options(**options)


def test_2_1_the_deal_passes_on_and_the_first_dealer_may_be_drawn():
    state = GAME.new_state(seed=1, max_cards=2)
    assert state.record.dealer == 0
    dealers = []
    while not state.is_terminal:
        dealers.append(int(state.record.dealer))
        assert state.current_player == (dealers[-1] + 1) % 4
        play_deal(state)
    assert dealers == [0, 1, 2]
    drawn = {int(GAME.new_state(seed=seed, first_dealer="random").record.dealer) for seed in range(40)}
    assert drawn == {0, 1, 2, 3}


def test_2_1_all_cards_are_shuffled_before_each_deal():
    state = GAME.new_state(seed=1, max_cards=2)
    first = hands_of(state)
    play_deal(state)
    assert len(set(map(str, [first, hands_of(state)]))) == 2
    assert sum(len(hand) for hand in hands_of(state)) == 4


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("down_up", [3, 2, 1, 2, 3]),
        ("up_down", [1, 2, 3, 2, 1]),
        ("down", [3, 2, 1]),
        ("up", [1, 2, 3]),
        ("fixed", [3]),
    ],
)
def test_2_2_schedules(schedule, expected):
    assert sizes_of(schedule=schedule, max_cards=3) == expected


def test_2_2_a_random_size():
    sizes = {GAME.new_state(seed=seed, schedule="random", max_cards=3).facts(0)["cards_each"] for seed in range(40)}
    assert sizes == {1, 2, 3}


def test_2_2_usual_numbers_of_cards():
    found = {n: GAME.new_state(seed=1, num_players=n).facts(0)["cards_each"] for n in range(3, 8)}
    assert found == USUAL
    assert [count_deals(SCHEDULES.index(name), 10) for name in ("down_up", "up_down", "down")] == [19, 19, 10]


def test_2_3_trumps_rotate():
    state, trumps = GAME.new_state(seed=1, max_cards=6, schedule="up", trump="rotate"), []
    while not state.is_terminal:
        trumps.append(state.facts(0)["trump"])
        assert state.facts(0)["turned_up"] is None
        play_deal(state)
    assert trumps == ["♣", "♦", "♥", "♠", None, "♣"]
    assert "There are no trumps." in state.recap(SPECTATOR)


def test_2_3_no_trumps():
    state = played("As 2s 2d 3s  5d", trump="none", schedule="fixed", max_cards=1, hook=False)
    assert state.facts(0)["trump"] is None
    assert table_texts(state.view(0))["piles"]["turned_up"] == []


def test_3_1_nobody_bids_more_tricks_than_there_are():
    state = GAME.new_state(seed=1, num_players=3, schedule="up", max_cards=3)
    assert [state.action_label(action) for action in state.legal_actions()] == ["bid 0", "bid 1"]
    assert "at most the number of cards" in state.explain_illegal(BID_0 + 2)
    assert state.explain_illegal(BID_0 + 1) == ""


def test_3_2_without_the_hook_all_bids_are_open():
    state = played(None, "bid 1", "bid 0", num_players=3, schedule="fixed", max_cards=2, hook=False)
    assert [state.action_label(action) for action in state.legal_actions()] == ["bid 0", "bid 1", "bid 2"]


HIDDEN = {"num_players": 3, "schedule": "fixed", "max_cards": 2, "order_of_bids": "simultaneous"}


def test_3_3_hidden_bids_are_shown_together():
    state = played(None, "bid 2", "bid 0", **HIDDEN)
    assert len(state.legal_actions()) == 3  # the hook does not apply
    assert state.facts(1)["bids"] == [None, 2, "hidden"]
    assert state.facts(0)["bids"] == [None, "hidden", "hidden"]
    assert "player_2 makes a hidden bid." in state.recap(1)
    layout = GAME.layout(state.options)
    seen = layout.split(state.observation(1))
    assert (seen["bid"].reshape(3, 18).argmax(1).tolist(), seen["bid"].sum()) == ([2, 0, 0], 1)
    assert seen["has_bid"].tolist() == [1, 1, 0]
    state.apply(BID_0 + 1)
    assert state.facts(0)["bids"] == [1, 2, 0]
    assert layout.split(state.observation(1))["bid"].reshape(3, 18).argmax(1).tolist() == [2, 0, 1]
    assert "player_2 has bid 0." in state.recap(1)


def test_8_2_hidden_bids_are_any_number_of_tricks_in_worlds():
    state = played(None, "bid 2", "bid 0", **HIDDEN)
    worlds = [state.determinize(1, seed).record.bids[:3].tolist() for seed in range(300)]
    assert {bids[1] for bids in worlds} == {2}
    assert collections.Counter(bids[2] for bids in worlds).keys() == {0, 1, 2}
    assert min(collections.Counter(bids[2] for bids in worlds).values()) > 60
    assert {bids[0] for bids in worlds} == {-1}


@pytest.mark.parametrize(
    ("scoring", "bid", "won", "points"),
    [("squares", 3, 3, 19), ("squares", 3, 1, -4), ("squares", 0, 0, 10), ("exact_plus", 2, 5, 15),
     ("exact_plus", 2, 2, 16), ("exact_only", 2, 2, 16), ("exact_only", 2, 5, 0), ("penalty", 2, 5, -9),
     ("penalty", 2, 2, 16)],
)  # fmt: skip
def test_5_1_points(scoring, bid, won, points):
    assert points_of(SCORINGS.index(scoring), 3, bid, won) == points


def test_6_2_each_deal_is_paid():
    state = GAME.new_state(seed=1, max_cards=2)
    play_deal(state)
    assert state.returns == state.facts(0)["scores"] == state.rewards
    assert sum(state.returns) > 0


ONE_CARD = {"num_players": 3, "max_cards": 1, "schedule": "fixed"}
LEVEL = "2h As 2s 4d", "bid 0", "bid 0", "bid 0", "lead A♠", "play 2♠", "play 2♥"  # 10, 1 and 10 points


def test_6_2_places_and_winners_who_are_level():
    assert played(*LEVEL, **ONE_CARD).returns == [10, 1, 10]
    assert played(*LEVEL, **ONE_CARD, returns="rank").returns == [0.5, -1, 0.5]
    assert played(*LEVEL, **ONE_CARD, returns="winner").returns == [0.25, -0.5, 0.25]


@pytest.mark.parametrize(
    ("returns", "expected"), [("points", [-10, 30, 30, 30]), ("rank", [-1, 1 / 3, 1 / 3, 1 / 3]),
                              ("winner", [-1 / 3, 1 / 9, 1 / 9, 1 / 9])]
)  # fmt: skip
def test_7_1_who_leaves_gets_the_least_of_all_deals(returns, expected):
    state = played(None, "bid 0", "bid 0", "bid 0", max_cards=2, scoring="penalty", points_per_trick=2, returns=returns)
    state.apply(FORFEIT + 0)
    assert state.is_terminal
    assert state.returns == pytest.approx(expected)


def test_7_1_who_leaves_is_last_whatever_the_points():
    state = GAME.new_state(seed=2, max_cards=2, schedule="down", returns="rank", num_players=3)
    state._states["scores"][0, :3] = 0, 100, 50
    state.apply(FORFEIT + 1)
    assert state.returns == [0, -1, 1]


# ---------------------------------------------------------------------------------------------------------------
# Against the oracle


def check_against_the_oracle(seed):
    """Play a random game beside the oracle; returns the number of deals."""
    chooser = random.Random(seed)
    shared = {
        "num_players": chooser.randint(3, 7), "hook": chooser.random() < 0.5, "scoring": chooser.choice(SCORINGS),
        "trump": chooser.choice(["turn_up", "none", "rotate"]), "points_per_trick": chooser.randint(1, 3),
        "order_of_bids": chooser.choice(["in_turn", "simultaneous"]),
    }  # fmt: skip
    schedule, most = chooser.choice(SCHEDULES[:5]), chooser.randint(1, 4)
    if chooser.random() < 0.1:
        schedule, most = "fixed", 52 // shared["num_players"]
    dealer = chooser.choice(["player_0", "random"])
    state = GAME.new_state(seed=seed, schedule=schedule, max_cards=most, first_dealer=dealer, **shared)
    oracle, deals = Oracle(**shared), 0
    for size in sizes(schedule, most):
        deals += 1
        turned_up = state.record.turned_up
        oracle.begin_deal(state.record.dealer, hands_of(state), PACK.labels[turned_up] if turned_up >= 0 else None)
        assert oracle.size == size
        over = False
        while not over:
            assert state.current_player == oracle.to_act
            ours = [action - BID_0 if action >= BID_0 else PACK.labels[action] for action in state.legal_actions()]
            assert sorted(ours) == sorted(oracle.legal())
            action = chooser.choice(ours)
            over = oracle.act(action)
            state.apply(PACK.parse(action) if isinstance(action, str) else BID_0 + action)
        assert state.facts(0)["scores"] == oracle.points == state.returns
    assert state.is_terminal
    return deals


@pytest.mark.parametrize("block", range(4))
def test_games_agree_with_the_oracle(block):
    for seed in range(50 * block, 50 * block + (50 if COMPILED else 3)):
        check_against_the_oracle(seed)


@pytest.mark.slow
def test_ten_thousand_games_agree_with_the_oracle():
    assert sum(check_against_the_oracle(seed) for seed in range(1000, 11_000)) > 30_000


# ---------------------------------------------------------------------------------------------------------------
# Against OpenSpiel


def check_against_openspiel(pyspiel, seed, num_players, scoring, points_per_trick):
    """Play one random game in both, with the same chance: its size, the dealer, and all cards."""
    most = 51 // num_players
    state = GAME.new_state(seed=seed, num_players=num_players, max_cards=most, schedule="random",
                           first_dealer="random", scoring=scoring, points_per_trick=points_per_trick)  # fmt: skip
    other = pyspiel.load_game(
        "oh_hell",
        {"players": num_players, "off_bid_penalty": scoring == "penalty", "points_per_trick": points_per_trick},
    )
    assert other.num_distinct_actions() == GAME.num_actions(state.options)
    assert other.max_chance_nodes_in_history() >= 1
    theirs = other.new_initial_state()
    hands = [PACK.cards_of(hand) for hand in state.record.hands[:num_players]]
    theirs.apply_action(theirs.legal_actions()[len(hands[0]) - 1])
    theirs.apply_action(int(state.record.dealer))
    for k in range(len(hands[0]) * num_players):
        theirs.apply_action(hands[k % num_players][k // num_players])
    theirs.apply_action(int(state.record.turned_up))
    chooser = random.Random(seed)
    while not state.is_terminal:
        assert theirs.current_player() == state.current_player, seed
        legal = state.legal_actions()
        assert legal == theirs.legal_actions(), seed
        action = chooser.choice(legal)
        state.apply(action)
        theirs.apply_action(action)
    assert theirs.is_terminal()
    assert state.returns == theirs.returns(), seed


@pytest.mark.parametrize("games", [100, pytest.param(3000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("num_players", range(3, 8))
def test_openspiel_has_the_same_games(num_players, games):
    pyspiel = pytest.importorskip("pyspiel")
    for seed in range(games if COMPILED else 3):
        scoring = "penalty" if seed % 2 else "exact_plus"
        check_against_openspiel(pyspiel, seed, num_players, scoring, points_per_trick=1 + seed % 3)


# ---------------------------------------------------------------------------------------------------------------
# Worlds


def test_8_1_worlds_respect_voids_and_are_equally_likely():
    """Three players, three cards each: player 0 led a heart, which player 1 did not follow."""
    state = played("Kh Qh Jh  2s 3s 4s  2h 3d 4d  5c", "bid 0", "bid 0", "bid 0", num_players=3, max_cards=3,
                   schedule="fixed", hook=False)  # fmt: skip
    assert state.current_player == 1
    for label in ("lead 2♠", "play 3♦", "play J♥"):  # players 2 and 0 have no spades
        state.apply(state.action_from_label(label))
    draws, counts = (8_000 if COMPILED else 200), collections.Counter()
    spades = int(PACK.suit_sets[PACK.suits.index("s")])
    for seed in range(draws):
        world = state.determinize(1, seed).record
        assert not int(world.hands[0]) & spades
        assert not int(world.hands[2]) & spades
        assert [int(hand).bit_count() for hand in world.hands[:3]] == [2, 2, 2]
        counts[world.hands[0], world.hands[2]] += 1
    # Player 1 does not see 36 cards that are no spades: pairs for player 0 are equally likely, cards alone are, too.
    alone = collections.Counter(card for (hand, _), number in counts.items() for card in PACK.cards_of(hand) * number)
    expected = 2 * draws / len(alone)
    assert len(alone) == 36
    assert chdtrc(len(alone) - 1, sum((number - expected) ** 2 / expected for number in alone.values())) > 1e-4


# ---------------------------------------------------------------------------------------------------------------
# The rule agent, and the worlds of search


def returns_against(other, deals, **options):
    """The mean return of a rule agent less that of the others, who play another policy, over all seats."""
    total = 0.0
    for number in range(deals):
        state = GAME.new_state(seed=number, **options)
        seat = number % state.num_players
        while not state.is_terminal:
            state.apply(state.policy_action("heuristic" if state.current_player == seat else other, number))
        others = [points for p, points in enumerate(state.returns) if p != seat]
        total += state.returns[seat] - sum(others) / len(others)
    return total / deals


@pytest.mark.skipif(not COMPILED, reason="hundreds of deals")
@pytest.mark.parametrize("options", [{}, {"num_players": 3, "scoring": "penalty"}, {"trump": "none", "hook": False}])
def test_the_rule_agent_beats_random_play(options):
    assert returns_against("random", 400, schedule="random", **options) > 1.5


@pytest.mark.skipif(not COMPILED, reason="hundreds of deals")
def test_the_rule_agent_makes_half_of_its_bids():
    made = tries = 0
    for seed in range(100):
        state = GAME.new_state(seed=seed, schedule="random")
        while not state.is_terminal:
            state.apply(state.policy_action("heuristic", seed))
        facts = state.facts(0)
        made += sum(bid == won for bid, won in zip(facts["bids"], facts["tricks_won"], strict=True))
        tries += 4
    assert made > tries / 2


def test_likely_worlds_fit_what_the_player_knows_and_what_was_bid():
    """Player 1 bids all tricks, so likely worlds give good cards to player 1; player 2 knows no more than before."""
    state = played("2c 3c 4c  As Ks Qs  2h 3h 4h  Js", "bid 3", num_players=3, max_cards=3, schedule="fixed")
    trumps = int(SUIT_SETS[PACK.suits.index("s")])

    def mean_trumps(sample):
        found = []
        for seed in range(300 if COMPILED else 20):
            records = state.records.copy()
            sample(records[0], 2, seed)
            assert int(records["hands"][0, 2]) == int(state.record.hands[2])
            assert [int(hand).bit_count() for hand in records["hands"][0, :3]] == [3, 3, 3]
            found.append((int(records["hands"][0, 1]) & trumps).bit_count())
        return sum(found) / len(found)

    assert mean_trumps(belief.sample_belief) > mean_trumps(determinize) + 0.5


def test_likely_worlds_do_not_depend_on_the_true_deal_or_on_hidden_bids():
    state = played(None, "bid 2", "bid 0", **HIDDEN)
    twin = state.determinize(1, 3)
    for seed in range(20):
        first, second = state.records.copy(), twin.records.copy()
        belief.sample_belief(first[0], 1, seed)
        belief.sample_belief(second[0], 1, seed)
        assert first["hands"].tolist() == second["hands"].tolist()
        assert first["bids"].tolist() == second["bids"].tolist()
