"""Tests of Spades: paragraphs that the scenario file leaves out, an oracle, OpenSpiel, worlds and the rule agent."""

import collections
import itertools
import random

import numpy as np
import pytest
from scipy.special import chdtrc
from spades_oracle import Oracle

from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import IllegalActionError, OptionError
from cardenvs.core.game_view import table_texts
from cardenvs.core.kernel import COMPILED
from cardenvs.core.record import takes_records
from cardenvs.core.registry import get_game
from cardenvs.games.spades import belief, rules, worlds
from cardenvs.games.spades.state import BID_0, BLIND_NIL, LOOK, MAX_HANDS, PACK, SPADES
from cardenvs.kits.cards import count_bits

GAME = get_game("spades_v0")
SCORE_SIDE, END_HAND = takes_records(rules.score_side), takes_records(rules.end_hand)
NO_LOG = np.zeros((0, 8), np.int32)
BLIND = {"blind_nil": True, "blind_deficit": 0}
SUITS = " ".join(rank + suit for suit in "cdhs" for rank in "AKQJT98765432")  # a suit for each player


def played(deck, *labels, **options):
    """The state after some actions on an explicit deck."""
    state = GAME.new_state(seed=1, deck=deck, **options)
    for label in labels:
        state.apply(state.action_from_label(label))
    return state


def hands_of(state):
    """The cards of each player, also of those who have not looked at them, as texts."""
    record = state.record
    hands = [PACK.cards_of(hand) or record.deck[13 * p : 13 * p + 13].tolist() for p, hand in enumerate(record.hands)]
    return [[PACK.labels[card] for card in hand] for hand in hands]


def play_hand(state, last=None):
    """Play random actions until the hand is over; `last(state)` is called before the last card."""
    number, chooser = int(state.record.num_deals), random.Random(int(state.record.num_deals))
    while not state.is_terminal and state.record.num_deals == number:
        if last is not None and sum(int(hand).bit_count() for hand in state.record.hands) == 1:
            last(state)
        state.apply(chooser.choice(state.legal_actions()))


def with_scores(scores, **options):
    """The state at the beginning of the second hand of a match, in which sides have these points.

    In the first hand everybody bid 5, and nobody had a trick before the last one.
    """
    state = GAME.new_state(seed=1, **options)
    lost = 50 if len(scores) == 4 else 100

    def change(state):
        state._states["scores"][0, : len(scores)] = [score + lost for score in scores]
        state._states["bids"][0], state._states["tricks_won"][0] = 5, 0

    play_hand(state, change)
    return state


# ---------------------------------------------------------------------------------------------------------------
# Paragraphs


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_players": 3}, "num_players"),
        ({"max_team_bid": 3, "min_team_bid": 4}, "at least min_team_bid"),
        ({"max_team_bid": 1, "nil": False}, "2 without nil"),
        ({"blind_nil": True, "nil": False, "target": 500}, "needs nil=True"),
        ({"blind_nil": True}, "blind_deficit=0"),
        ({"blind_nil_pass": 2}, "needs blind_nil=True and partners=True"),
        ({"blind_nil_pass": 2, "partners": False, **BLIND}, "needs blind_nil=True and partners=True"),
        ({"lose_at": -200}, "needs a target"),
    ],
)
def test_options_that_do_not_fit(options, message):
    with pytest.raises(OptionError, match=message):
        GAME.make_options(**options)


def test_2_1_the_deal_passes_to_the_left():
    assert GAME.new_state(seed=1).current_player == 0
    state, first = GAME.new_state(seed=1, dealer=1, target=500), []
    for _ in range(4):
        first.append(state.current_player)
        play_hand(state)
    assert first == [2, 3, 0, 1]


def test_2_2_all_cards_are_dealt_anew_in_each_hand():
    state = GAME.new_state(seed=1, target=500)
    first = hands_of(state)
    play_hand(state)
    second = hands_of(state)
    assert first != second
    for hands in (first, second):
        assert [len(hand) for hand in hands] == [13] * 4
        assert set().union(*hands) == set(PACK.labels)


def test_3_1_everybody_bids_once():
    state = played(None, "bid 3", "bid 4", "bid 5", "bid 2")
    assert (state.phase, state.current_player) == ("play", 0)
    assert state.facts(0)["bids"] == [3, 4, 5, 2]


def labels(state):
    return [state.action_label(action) for action in state.legal_actions()]


def test_3_2_without_nil_everybody_bids_at_least_one():
    state = GAME.new_state(seed=1, nil=False)
    assert labels(state) == [f"bid {bid}" for bid in range(1, 13)]  # a trick is left for the partner
    assert "at least 1" in state.explain_illegal(BID_0)
    assert "bids more than 13" in state.explain_illegal(BID_0 + 13)


def test_3_3_limits_of_what_a_side_bids():
    state = played(None, "bid 1", "bid nil", min_team_bid=4, max_team_bid=6)
    assert labels(state) == ["bid 3", "bid 4", "bid 5"]
    assert "less than 4" in state.explain_illegal(BID_0 + 2)
    assert "bid at most 5" in state.explain_illegal(BID_0 + 6)
    alone = GAME.new_state(seed=1, min_team_bid=2, max_team_bid=6, partners=False)
    assert labels(alone) == ["bid 2", "bid 3", "bid 4", "bid 5", "bid 6"]


def test_3_3_a_first_bid_leaves_one_for_the_partner():
    assert labels(played(None, "bid 12", "bid 1", nil=False)) == ["bid 1"]
    assert labels(played(None, "bid 13", "bid 1")) == ["bid nil"]


def test_3_4_no_blind_nil_where_nil_would_break_the_limits():
    state = played(None, "look", "bid 2", "look", "bid 4", min_team_bid=3, **BLIND)
    assert labels(state) == ["look"]
    assert "less than 3" in state.explain_illegal(BLIND_NIL)


@pytest.mark.parametrize(("behind", "phase"), [(100, "blind"), (99, "bidding")])
def test_3_4_scenario_19_blind_nil_is_offered_at_100_points_behind(behind, phase):
    state = with_scores([310 - behind, 310], target=500, blind_nil=True, dealer=2)
    assert state.record.scores[:2].tolist() == [310 - behind, 310]
    assert (state.phase, state.current_player) == (phase, 0)
    state.apply(state.legal_actions()[-1])
    if phase == "blind":
        state.apply(BID_0 + 2)
    assert (state.phase, state.current_player) == ("bidding", 1)  # this side leads


def test_3_4_cutthroat_compares_with_the_best_of_the_others():
    state = with_scores([20, 120, 21, 60], target=500, blind_nil=True, partners=False, dealer=3)
    waiting = [p for p in range(4) if state.record.deck[13 * p] >= 0]
    assert waiting == [0]


def test_3_4_nobody_sees_cards_before_the_decision():
    state = GAME.new_state(seed=1, deck=SUITS, target=None, **BLIND)
    layout = GAME.layout(state.options)
    for p in range(4):
        assert not layout.split(state.observation(p))["hand"].any()
        assert table_texts(state.view(p))["piles"]["hand"] == [[], [], [], []]
        assert not any(sign in f"{state.view(p)}{state.recap(p)}{state.facts(p)['voids']}" for sign in "♣♦♥♠")
        assert len(state.facts(p)["not_seen_yet"]) == 52
    assert labels(state) == ["bid blind nil", "look"]
    state.apply(LOOK)
    assert layout.split(state.observation(0))["hand"].sum() == 13
    assert "player_0 looks at the cards." in state.recap(1)
    assert labels(state)[:2] == ["bid nil", "bid 1"]
    with pytest.raises(IllegalActionError, match="make a bid"):
        state.apply(LOOK)


def test_3_4_what_is_undecided_is_the_same_in_all_worlds():
    """A player who has not looked gets the same from worlds in which the own cards differ, too."""
    state = GAME.new_state(seed=1, target=None, **BLIND)
    state.apply(LOOK)
    state.apply(BID_0 + 3)
    own = set()
    for seed in range(20):
        twin = state.determinize(1, seed)
        own.add(tuple(hands_of(twin)[1]))
        assert twin.observation(1).tolist() == state.observation(1).tolist()
        assert twin.view(1) == state.view(1)
        assert twin.recap(1) == state.recap(1)
        assert twin.legal_actions() == state.legal_actions()
        assert twin.policy_action("heuristic", 0) == state.policy_action("heuristic", 0)
    assert len(own) == 20


def test_3_5_the_side_whose_blind_bidder_bid_first_begins():
    state = played(SUITS, "look", "bid 3", "bid blind nil", "bid blind nil", "look", "bid 4", blind_nil_pass=1, **BLIND)
    order = []
    while state.phase == "exchange":
        order.append(state.current_player)
        state.apply(state.legal_actions()[0])
    assert order == [1, 3, 2, 0]


def test_4_3_spades_may_always_be_led():
    state = played(None, *["bid 3"] * 4, break_spades="off")
    assert len(state.legal_actions()) == 13
    assert all(action < BID_0 for action in state.legal_actions())


# Player 0 has all clubs but the two; player 3 ruffs and then leads.
RUFF = [
    "2d 3c 4c 5c 6c 7c 8c 9c Tc Jc Qc Kc Ac",
    "2c 2h 3h 4h 5h 6h 7h 8h 9h Th Jh Qh Kh",
    "2s 3s 4s 5s 6s 7s 8s 9s Ts Js Qs Ks 3d",
    "As 4d 5d 6d 7d 8d 9d Td Jd Qd Kd Ad Ah",
]


@pytest.mark.parametrize(("break_spades", "number"), [("standard", 12), ("never", 1), ("off", 12)])
def test_4_3_breaking(break_spades, number):
    deck = " ".join(RUFF)
    state = played(deck, *["bid 3"] * 4, "lead 3c", "play 2c", "play 2s", "play Ah", break_spades=break_spades)
    assert state.current_player == 2
    assert len(state.legal_actions()) == number
    if break_spades == "never":
        assert "while the hand has other cards" in state.explain_illegal(PACK.parse("3s"))


def test_4_4_a_hand_of_spades_plays_a_spade_to_the_first_trick():
    state = played(SUITS, *["bid 3"] * 4, "lead 2c", "play 2d", "play 2h", first_lead="low_club")
    assert len(state.legal_actions()) == 13
    state.apply(state.action_from_label("play 5s"))
    assert state.current_player == 3
    assert state.facts(0)["voids"]["player_3"] == ["♣", "♦", "♥"]


# ---------------------------------------------------------------------------------------------------------------
# Points (5)


def scored(bids, won, bags=0, blind=(), **options):
    """Points and bags of side 0, whose two players have made these bids and won these tricks."""
    options = {"target": 500} | ({"blind_nil": True} if blind else {}) | options
    records = GAME.new_state(seed=1, **options).records
    record = records[0]
    record["bids"][0], record["bids"][2] = bids
    record["tricks_won"][0], record["tricks_won"][2] = won
    record["bags"][0] = bags
    for p in blind:
        record["blind"][p] = 1
    SCORE_SIDE(records[0], 0, NO_LOG)
    return int(record["scores"][0]), int(record["bags"][0])


COUNT = {"failed_nil": "count"}


@pytest.mark.parametrize(
    ("number", "bids", "won", "arguments", "expected"),
    [
        (4, (4, 5), (5, 5), {}, (91, 1)),
        (5, (13, 0), (4, 1), COUNT, (-230, 0)),
        (5, (13, 0), (4, 1), {}, (-229, 1)),
        (6, (3, 3), (4, 5), {"bags": 9}, (-37, 2)),
        (7, (0, 4), (0, 5), {}, (141, 1)),
        (8, (0, 4), (1, 4), {}, (-59, 1)),
        (8, (0, 4), (1, 4), COUNT, (-59, 1)),
        (9, (0, 4), (2, 3), COUNT, (-59, 1)),
        (9, (0, 4), (2, 3), {}, (-138, 2)),
        (10, (0, 6), (2, 5), COUNT, (-39, 1)),
        (10, (0, 6), (2, 5), {}, (-158, 2)),
        (11, (0, 0), (0, 0), {}, (200, 0)),
        (11, (0, 0), (1, 2), {}, (-197, 3)),
        (12, (5, 4), (4, 4), {"bags": 3}, (-90, 3)),
        (12, (3, 3), (6, 7), {"bags": 9}, (-33, 6)),
        (12, (2, 2), (7, 6), {"bags": 8}, (-51, 7)),
        (13, (0, 5), (0, 5), {"blind": [0]}, (250, 0)),
        (13, (0, 5), (1, 5), {"blind": [0]}, (-149, 1)),
        (13, (0, 5), (1, 4), {"blind": [0]}, (-249, 1)),
        (13, (0, 5), (1, 4), {"blind": [0], **COUNT}, (-150, 0)),
    ],
)
def test_5_points_of_the_scenarios(number, bids, won, arguments, expected):
    assert scored(bids, won, **arguments) == expected


def test_5_values_of_options():
    assert scored((0, 4), (0, 6), nil_points=50, bag_points=0) == (90, 2)
    assert scored((2, 2), (4, 5), bag_limit=2, bag_penalty=30) == (40 + 5 - 60, 1)
    assert scored((2, 2), (4, 5), bag_points=10) == (90, 5)
    assert scored((0, 0), (0, 1), blind=[2], blind_nil_points=150) == (100 - 150 + 1, 1)


def test_3_scenario_a_hand_with_nine_bags_has_no_penalty():
    assert scored((3, 9), (0, 13), bags=8) == (121, 9)


def hand(text):
    """Cards from suits such as "Q84s 64c"."""
    return " ".join(rank + suit[-1] for suit in text.split() for rank in suit[:-1])


DEAL_15 = ["Q842s QJh AQJ54d 64c", "K76s 543h K873d 983c", "AJT953s 9h 92d KJT7c", "AKT8762h T6d AQ52c"]
DEAL_17 = ["QT65s J94h A62d A64c", "KJ7s A72h KT4d J753c", "843s KQT85h Q87d 92c", "A92s 63h J953d KQT8c"]


@pytest.mark.parametrize(
    ("deal", "which", "break_spades", "tricks", "points"),
    [
        (DEAL_15, -1, "never", [4, 3, 3, 3], [61, 60]),
        (DEAL_15, -1, "standard", [4, 1, 7, 1], [65, -60]),
        (DEAL_15, 0, "never", [3, 2, 6, 2], [63, -60]),
        (DEAL_15, 0, "standard", [3, 2, 6, 2], [63, -60]),
        (DEAL_17, 0, "never", [4, 3, 3, 3], [61, 60]),
        (DEAL_17, 0, "standard", [4, 3, 3, 3], [61, 60]),
        (DEAL_17, -1, "never", [3, 5, 3, 2], [60, 61]),
        (DEAL_17, -1, "standard", [2, 4, 4, 3], [60, 61]),
    ],
    ids=lambda value: "15" if value is DEAL_15 else "17" if value is DEAL_17 else str(value),
)
def test_scenarios_15_to_17(deal, which, break_spades, tricks, points):
    state = played(" ".join(map(hand, deal)), *["bid 3"] * 4, break_spades=break_spades)
    while not state.is_terminal:
        state.apply(state.legal_actions()[which])
    assert state.facts(0)["tricks_won"] == tricks
    assert state.record.scores[:2].tolist() == points
    assert state.returns == [points[0] - points[1], points[1] - points[0]] * 2


# ---------------------------------------------------------------------------------------------------------------
# Result (6)


def test_6_1_cutthroat_pays_the_difference_from_the_mean():
    state = played(SUITS, "bid nil", "bid nil", "bid nil", "bid 13", partners=False)
    while not state.is_terminal:
        state.apply(state.legal_actions()[0])
    assert state.record.scores.tolist() == [100, 100, 100, 130]
    assert state.returns == [-10, -10, -10, 30]


@pytest.mark.parametrize(
    ("scores", "bids", "won", "over"),
    [
        ([471, 480], [3, 3, 3, 2], [4, 4, 3, 3], None),  # 61 and 52: both have 532
        ([471, 480], [3, 3, 3, 2], [4, 4, 4, 3], 0),
        ([439, 100], [3, 3, 3, 3], [3, 3, 3, 3], None),
        ([440, 100], [3, 3, 3, 3], [3, 3, 3, 3], 0),
        ([-141, 100], [3, 3, 3, 3], [2, 3, 3, 4], 1),
        ([-139, 100], [3, 3, 3, 3], [2, 3, 3, 4], None),
    ],
)
def test_6_2_scenario_18_the_end_of_a_match(scores, bids, won, over):
    state = GAME.new_state(seed=1, target=500, lose_at=-200)
    records = state.records
    record = records[0]
    record["scores"][:2], record["bids"], record["tricks_won"], record["hands"] = scores, bids, won, 0
    END_HAND(records[0], NO_LOG)
    assert bool(record["terminal"]) == (over is not None)
    if over is not None:
        assert record["rewards"].tolist() == [1 if p % 2 == over else -1 for p in range(4)]


def test_6_3_cutthroat_pays_the_winner_of_a_match():
    state = GAME.new_state(seed=1, target=50, partners=False, bag_points=10)
    chooser = random.Random(1)
    while not state.is_terminal:
        state.apply(chooser.choice(state.legal_actions()))
    assert sorted(state.returns) == [-1 / 3, -1 / 3, -1 / 3, 1]
    assert state.returns.index(1) == int(np.argmax(state.record.scores))


@pytest.mark.parametrize(("scores", "returns"), [([9, 8], [1, -1, 1, -1]), ([8, 8], [0, 0, 0, 0])])
def test_6_4_a_match_ends_after_fifty_hands(scores, returns):
    records = GAME.new_state(seed=1, target=500).records
    record = records[0]
    record["num_deals"], record["scores"][:2], record["bids"], record["hands"] = MAX_HANDS, scores, 1, 0
    END_HAND(records[0], NO_LOG)
    assert record["terminal"]
    assert record["rewards"].tolist() == returns


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [-560, 560, -560, 560]),
        ({"partners": False}, [-360, 120, 120, 120]),
        ({"target": 500}, [-1, 1, -1, 1]),
        ({"target": 500, "partners": False}, [-1 / 3, 1 / 9, 1 / 9, 1 / 9]),
    ],
)
def test_6_5_who_leaves_pays(options, expected):
    state = played(None, "bid 3", "bid 2", "bid 1", "bid 4", **options)
    state.apply(FORFEIT)
    assert state.is_terminal
    assert state.returns == pytest.approx(expected)
    assert GAME.returns(state.options).low == min(expected)


def side_points(side):
    """All bids and tricks of a side with `side` players, as options allow, with its tricks."""
    for bids in itertools.product(range(14), repeat=side):
        for won in itertools.product(range(14), repeat=side):
            if sum(bids) <= 13 and sum(won) <= 13:
                yield bids, won


def test_6_5_no_hand_costs_more():
    """The best and the worst hand of two sides, over all bids and tricks."""
    best, worst = collections.defaultdict(lambda: -999), collections.defaultdict(lambda: 999)
    oracle = Oracle()
    for bids, won in side_points(2):
        oracle.bids, oracle.blind, oracle.won = {0: bids[0], 2: bids[1]}, set(), [won[0], 0, won[1], 0]
        points, bags = oracle.score([0, 2])
        points -= 100 * (bags // 10)
        best[sum(won)], worst[sum(won)] = max(best[sum(won)], points), min(worst[sum(won)], points)
    least = min(worst[tricks] - best[13 - tricks] for tricks in range(14))
    assert GAME.returns(GAME.make_options()).low <= least < -400


# ---------------------------------------------------------------------------------------------------------------
# Against the oracle


def random_options(chooser):
    """Options that fit together."""
    partners, is_match, blind = chooser.random() < 0.7, chooser.random() < 0.5, chooser.random() < 0.5
    nil = blind or chooser.random() < 0.7
    return {
        "partners": partners, "nil": nil, "blind_nil": blind, "dealer": chooser.randrange(4),
        "blind_deficit": chooser.choice([0, 50]) if is_match else 0,
        "blind_nil_pass": chooser.randint(0, 3) if blind and partners else 0,
        "failed_nil": chooser.choice(["bags", "count"]), "max_team_bid": chooser.choice([None, 8, 13, 20]),
        "min_team_bid": chooser.choice([0, 0, 4, 8]), "break_spades": chooser.choice(["standard", "off", "never"]),
        "first_lead": chooser.choice(["any", "low_club"]), "bag_limit": chooser.randint(1, 12),
        "bag_penalty": chooser.randint(0, 100), "bag_points": chooser.randint(0, 10),
        "nil_points": chooser.randint(0, 150), "blind_nil_points": chooser.randint(0, 300),
        "target": 150 if is_match else None, "lose_at": chooser.choice([None, -300]) if is_match else None,
    }  # fmt: skip


def as_text(action):
    """An action as the oracle names it."""
    if action >= BID_0:
        return {BLIND_NIL: "blind nil", LOOK: "look"}.get(action, action - BID_0)
    return PACK.labels[action]


def check_against_the_oracle(seed):
    """Play a random game beside the oracle; returns the number of hands."""
    chooser = random.Random(seed)
    options = random_options(chooser)
    state, oracle = GAME.new_state(seed=seed, **options), Oracle(**options)
    while not state.is_terminal:
        oracle.begin_hand(hands_of(state))
        over = False
        while not over:
            assert state.current_player == oracle.to_act, seed
            legal = state.legal_actions()
            ours = {as_text(action): action for action in legal}
            assert sorted(map(str, ours)) == sorted(map(str, oracle.legal())), seed
            if chooser.random() < 0.1:
                check_refusals(state, legal)
            low = [action for action in legal if BID_0 <= action <= BID_0 + 4]  # sensible bids, so that matches end
            action = chooser.choice(low or legal)
            over = oracle.act(as_text(action))
            state.apply(action)
        assert state.record.scores[: len(oracle.sides)].tolist() == oracle.scores, seed
        assert state.record.bags[: len(oracle.sides)].tolist() == oracle.bags, seed
        assert state.is_terminal == (oracle.returns is not None), seed
    assert state.returns == pytest.approx(oracle.returns), seed
    return oracle.hands_begun


def check_refusals(state, legal):
    """Everything else is refused with a reason."""
    for action in range(GAME.num_actions(state.options)):
        assert bool(state.explain_illegal(action)) == (action not in legal)


@pytest.mark.parametrize("block", range(4))
def test_games_agree_with_the_oracle(block):
    size = 25 if COMPILED else 2
    hands = sum(check_against_the_oracle(seed) for seed in range(size * block, size * (block + 1)))
    assert hands > size or not COMPILED


@pytest.mark.slow
def test_five_thousand_games_agree_with_the_oracle():
    print(sum(check_against_the_oracle(seed) for seed in range(1000, 6000)), "hands")


# ---------------------------------------------------------------------------------------------------------------
# Against OpenSpiel


def openspiel_pair(pyspiel, seed):
    """The same hand in both; OpenSpiel never breaks spades, and counts the tricks of failed nils."""
    state = GAME.new_state(seed=seed, break_spades="never", failed_nil="count")
    other = pyspiel.load_game("spades")
    assert other.num_distinct_actions() == GAME.num_actions(state.options)
    theirs = other.new_initial_state()
    hands = [PACK.cards_of(cards) for cards in state.record.hands]
    while theirs.is_chance_node():
        owner = len(theirs.history()) % 4
        theirs.apply_action(hands[owner].pop())
    return state, theirs


def check_against_openspiel(pyspiel, seed):
    """Play one random hand in both, and compare the points of each side."""
    state, theirs = openspiel_pair(pyspiel, seed)
    chooser = random.Random(seed)
    while not state.is_terminal:
        assert theirs.current_player() == state.current_player, seed
        legal = state.legal_actions()
        assert legal == theirs.legal_actions(), seed
        bids = [action for action in legal if BID_0 <= action <= BID_0 + 4]
        action = chooser.choice(bids if bids and chooser.random() < 0.7 else legal)
        state.apply(action)
        theirs.apply_action(action)
    assert theirs.is_terminal()
    assert state.record.scores[:2].tolist() == theirs.returns()[:2], seed


@pytest.mark.parametrize("games", [150, pytest.param(5000, marks=pytest.mark.slow)])
def test_openspiel_has_the_same_hands(games):
    pyspiel = pytest.importorskip("pyspiel")
    for seed in range(games if COMPILED else 5):
        check_against_openspiel(pyspiel, seed)


def test_a_pair_of_rule_agents_beats_openspiels_uniform_bot():
    pyspiel = pytest.importorskip("pyspiel")
    total, hands = 0.0, 60 if COMPILED else 2
    for seed in range(hands):
        state, theirs = openspiel_pair(pyspiel, seed)
        bots = {p: pyspiel.make_uniform_random_bot(p, seed) for p in (1, 3)}
        while not state.is_terminal:
            bot = bots.get(state.current_player)
            action = bot.step(theirs) if bot else state.policy_action("heuristic", seed)
            state.apply(action)
            theirs.apply_action(action)
        total += theirs.returns()[0] - theirs.returns()[1]
    assert total / hands > (100 if COMPILED else -1000)


# ---------------------------------------------------------------------------------------------------------------
# Worlds (7)


def test_7_2_exchanged_cards_are_known_to_partners_and_drawn_again_for_others():
    """Player 0 gave two cards and got two; players 1 and 3 know only that two were given each way."""
    state = played(None, "bid blind nil", *["look", "bid 3"] * 3, blind_nil_pass=2, **BLIND)
    while state.phase == "exchange":
        state.apply(state.legal_actions()[-1])
    record = state.record
    for seed in range(50):
        for p in (0, 2):
            twin = state.determinize(p, seed).record
            partner = p ^ 2
            assert twin.given.tolist() == record.given.tolist()
            assert int(twin.hands[partner]) & int(record.given[p]) == int(record.hands[partner]) & int(record.given[p])
    drawn = collections.defaultdict(collections.Counter)
    draws = 4000 if COMPILED else 200
    for seed in range(draws):
        twin = state.determinize(1, seed).record
        given, returned = int(twin.given[0]), int(twin.given[2])
        assert (given.bit_count(), returned.bit_count()) == (2, 2)
        assert returned & ~int(twin.hands[0]) == 0
        assert given & ~(int(twin.hands[2]) | returned) == 0
        for name, cards in (("given", given), ("returned", returned)):
            drawn[name].update(PACK.cards_of(cards))
    for counts in drawn.values():  # each of the 39 hidden cards is as likely
        expected = 2 * draws / 39
        assert len(counts) == 39
        assert chdtrc(38, sum((number - expected) ** 2 / expected for number in counts.values())) > 1e-4


def played_until(left, seed, **options):
    """A state in the play with `left` cards in each hand, before a lead, and the actions that led to it."""
    state, chooser, actions = GAME.new_state(seed=seed, **options), random.Random(seed), []
    while state.phase != "play" or count_bits(state.record.hands[state.record.leader]) > left:
        actions.append(chooser.choice(state.legal_actions()))
        state.apply(actions[-1])
    return state, actions


def worlds_that_fit(state, actions, viewer, **options):
    """All ways to deal the hidden cards from which every action was legal, as tuples of the other hands."""
    record = state.record
    others = [p for p in range(4) if p != viewer]
    hidden = PACK.cards_of(sum(int(record.hands[p]) for p in others))
    sizes = [int(record.hands[p]).bit_count() for p in others]
    found = []
    for first in itertools.combinations(hidden, sizes[0]):
        rest = [card for card in hidden if card not in first]
        for second in itertools.combinations(rest, sizes[1]):
            hands = (first, second, tuple(card for card in rest if card not in second))
            dealt = [PACK.cards_of(hand) for hand in record.hands]
            for p, cards in zip(others, hands, strict=True):
                dealt[p] = list(cards)
            for p in range(4):
                dealt[p] += [int(card) for card in record.played[p] if card >= 0]
            if is_possible(dealt, actions, **options):
                found.append(hands)
    return found


def is_possible(dealt, actions, **options):
    """Whether the oracle allows all these actions after a deal."""
    oracle = Oracle(**options)
    oracle.begin_hand([[PACK.labels[card] for card in hand] for hand in dealt])
    for action in actions:
        if as_text(action) not in oracle.legal():
            return False
        oracle.act(as_text(action))
    return True


@pytest.mark.parametrize(
    "options",
    [{}, {"first_lead": "low_club"}, {"break_spades": "never", "partners": False}, {"break_spades": "off"}],
    ids=str,
)
def test_7_3_worlds_are_those_that_fit_and_equally_likely(options):
    least = 1.0
    for seed in range(4 if COMPILED else 1):
        state, actions = played_until(2, seed, **options)
        viewer = seed % 4
        fitting = worlds_that_fit(state, actions, viewer, **options)
        counts = collections.Counter()
        draws = 40 * len(fitting) if COMPILED else 20
        for number in range(draws):
            hands = state.determinize(viewer, number).record.hands
            counts[tuple(tuple(PACK.cards_of(hands[p])) for p in range(4) if p != viewer)] += 1
        assert counts.keys() <= set(fitting)
        if COMPILED and len(fitting) > 1:
            statistic = sum((counts[world] - 40) ** 2 / 40 for world in fitting)
            least = min(least, chdtrc(len(fitting) - 1, statistic))
    assert least > 1e-5


def test_7_3_a_spade_that_may_not_be_led_shows_the_rest_of_the_hand():
    state = played(SUITS, *["bid 3"] * 4, "lead 2s", dealer=2)
    for seed in range(20):
        assert not int(state.determinize(0, seed).record.hands[3]) & ~SPADES


def test_7_3_the_lowest_club():
    state = GAME.new_state(seed=5, first_lead="low_club")
    for _ in range(5):
        state.apply(state.legal_actions()[0])
    lacked = int(takes_records(worlds.lacked_cards)(state.records[0], 0))
    card = int(state.record.played[0, 0])
    assert PACK.cards_of(lacked) == list(range(card))


# ---------------------------------------------------------------------------------------------------------------
# The rule agent


def margin(other, deals, **options):
    """The mean return of a pair of rule agents against a pair that plays another policy, over both seats."""
    total = 0.0
    for number in range(deals):
        for side in range(2):
            state = GAME.new_state(seed=number, **options)
            while not state.is_terminal:
                policy = "heuristic" if state.current_player % 2 == side else other
                state.apply(state.policy_action(policy, number))
            total += state.returns[side]
    return total / (2 * deals)


@pytest.mark.skipif(not COMPILED, reason="hundreds of hands")
def test_the_rule_agent_beats_random_play():
    assert margin("random", 200) > 120


@pytest.mark.skipif(not COMPILED, reason="hundreds of hands")
def test_contracts_and_nils_of_the_rule_agent():
    """Against its like, most contracts are made and most nils hold."""
    contracts, nils = collections.Counter(), collections.Counter()
    for seed in range(300):
        state = GAME.new_state(seed=seed)
        while not state.is_terminal:
            state.apply(state.policy_action("heuristic", seed))
        facts = state.facts(0)
        for p in (0, 1):
            bid = facts["bids"][p] + facts["bids"][p + 2]
            won = sum(facts["tricks_won"][q] for q in (p, p + 2) if facts["bids"][q])
            contracts[won >= bid] += 1
        for bid, won in zip(facts["bids"], facts["tricks_won"], strict=True):
            if bid == 0:
                nils[won == 0] += 1
    assert contracts[True] > 4 * contracts[False]
    assert nils[True] > nils[False] > 0


def chosen(deck, *actions, **options):
    """The label of what the rule agent does after some actions."""
    state = played(deck, *actions, **options)
    return state.action_label(state.policy_action("heuristic", seed=0))


def test_the_rule_agent_bids_what_a_hand_should_win():
    assert chosen("As Ks Qs 3s Ac Kc 4c 2c Ad 5d 4d 3h 2h") in ("bid 5", "bid 6")
    assert chosen("4s 3s 9c 8c 4c 2c Jd 5d 4d 2d 8h 3h 2h") == "bid nil"
    assert chosen("As 3s 9c 8c 4c 2c Jd 5d 4d 2d 8h 3h 2h") in ("bid 1", "bid 2")


def test_the_rule_agent_covers_its_partners_nil_and_attacks_that_of_the_others():
    # Player 2 has bid nil. Player 0 leads the ace of hearts, under which all of the partner's hearts are safe.
    deck = [
        "Ah 4h 9c 8c 7c Jd 9d 8d 7d Ts 9s 8s 7s",
        "Kh Qh Ac Kc Qc Ad Kd Qd As Ks Qs Js 6s",
        "Jh Th 2h 3c 2c 4c 5c 2d 3d 4d 2s 3s 4s",
    ]
    bids = "bid 2", "bid 5", "bid nil", "bid 3"
    assert chosen(" ".join(deck), *bids) == "lead A♥"
    # Player 1 follows low, so that player 2 must win with the jack.
    assert chosen(" ".join(deck), *bids, "lead 4h").startswith("play ")


@pytest.mark.parametrize(("target", "expected"), [(None, "play A♣"), (500, "play 2♣")])
def test_the_rule_agent_avoids_bags_in_a_match(target, expected):
    """Both sides have made their contracts: in a match a trick more is a tenth of a penalty."""
    deck = "Kc 3d 4d 5d 6d 7d 8d 9d 2h 3h 4h 5h 6h  Ac 2c 2d Td Jd Qd Kd Ad 7h 8h 9h Th Jh"
    state = played(deck, *["bid 1"] * 4, "lead Kc", target=target)
    records = state._states
    records["tricks_won"][0] = 1
    assert state.action_label(state.policy_action("heuristic", seed=0)) == expected


# ---------------------------------------------------------------------------------------------------------------
# Worlds of search


def test_likely_worlds_fit_what_was_bid():
    """Player 1 bids 6 and player 2 nil; player 3 knows no more than before."""
    state = played(None, "bid 3", "bid 6", "bid nil")

    def mean_spades(sample, player):
        found = []
        for seed in range(300 if COMPILED else 20):
            records = state.records.copy()
            sample(records[0], 3, seed)
            hands = records["hands"][0]
            assert int(hands[3]) == int(state.record.hands[3])
            assert [int(hand).bit_count() for hand in hands] == [13] * 4
            found.append((int(hands[player]) & SPADES).bit_count())
        return sum(found) / len(found)

    likely, uniform = takes_records(belief.sample_belief), takes_records(worlds.determinize)
    assert mean_spades(likely, 1) > mean_spades(uniform, 1) + 0.5
    assert mean_spades(likely, 2) < mean_spades(uniform, 2) - 0.5


def test_likely_worlds_do_not_depend_on_the_true_deal():
    state = played(None, "bid blind nil", "look", "bid 4", **BLIND)
    for player in (1, 2):  # player 2 has not looked yet
        twin = state.determinize(player, 3)
        for seed in range(10):
            first, second = state.records.copy(), twin.records.copy()
            for records in (first, second):
                takes_records(belief.sample_belief)(records[0], player, seed)
            assert first["hands"].tolist() == second["hands"].tolist()
            assert first["deck"].tolist() == second["deck"].tolist()


@pytest.mark.parametrize("nil_points", [0, 10, 100])
def test_the_heuristic_bids_no_nil_with_the_ace_of_spades(nil_points):
    for seed in range(150):
        state = GAME.new_state(seed=seed, nil_points=nil_points)
        has_ace = int(state.record.hands[state.current_player]) >> GAME.view.parse_token("As") & 1
        if has_ace:
            assert state.action_label(state.policy_action("heuristic", 0)) != "bid nil"


def test_prompts_offer_legal_bids_only():
    state = GAME.new_state(seed=0, blind_nil=True, blind_deficit=0, min_team_bid=1)
    while [state.action_label(action) for action in state.legal_actions()] != ["look"]:
        state.apply(state.legal_actions()[0])
    assert (
        state.view(state.current_player)["prompt"]
        == "You have not seen your cards, and may not bid blind nil. Look at them."
    )
    state = GAME.new_state(seed=0)
    for label in ("bid 13", "bid 1"):
        state.apply(state.action_from_label(label))
    assert [state.action_label(action) for action in state.legal_actions()] == ["bid nil"]
    assert state.view(state.current_player)["prompt"] == "How many tricks will you win? Bid nil."
