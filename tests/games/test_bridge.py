"""Tests of Contract Bridge: scores, auctions and play by the numbered rules, OpenSpiel, and the natural bidder."""

import itertools
import random

import numpy as np
import pytest

from cardenvs.core.cards import RANKS, parse_card
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import IllegalActionError, OptionError
from cardenvs.core.game_view import table_texts
from cardenvs.core.registry import get_game
from cardenvs.games.bridge.scoring import duplicate_score, imps
from cardenvs.games.bridge.state import BID_0, CARD_0, DENOMINATIONS, call_label
from cardenvs.testing import check_game

GAME = get_game("bridge_v0")
CALLS = {call_label(call): call for call in range(CARD_0)} | {"p": 0, "X": 1, "XX": 2}


def bid(text):
    return CALLS[text] - BID_0


def cards(text):
    """Cards of a hand given as in PBN, spades first: "AKQ.AKQ.AKQ.5432"."""
    return [rank + suit for ranks, suit in zip(text.split("."), "shdc", strict=True) for rank in ranks]


def deck(*hands):
    return " ".join(card for hand in hands for card in cards(hand))


def call(state, text):
    for word in text.split():
        state.apply(CALLS[word])
    return state


def play(state, text):
    for card in text.split():
        state.apply(state.action_from_label(f"play {card}"))
    return state


def new(auction="", **options):
    return call(GAME.new_state(seed=1, **{"dealer": "N", "vulnerable": "none"} | options), auction)


@pytest.mark.parametrize(
    ("contract", "doubled", "vulnerable", "tricks", "score"),
    [
        ("3NT", 0, 0, 9, 400), ("3NT", 0, 1, 9, 600),  # scenario 1
        ("4S", 0, 0, 10, 420), ("4S", 0, 1, 11, 650),  # 2
        ("5C", 0, 0, 11, 400), ("5D", 0, 1, 12, 620),  # 3
        ("2S", 0, 0, 8, 110), ("1NT", 0, 1, 7, 90), ("1NT", 0, 0, 8, 120), ("3C", 0, 0, 9, 110),  # 4
        ("2H", 1, 0, 8, 470), ("2D", 1, 0, 8, 180), ("2H", 1, 1, 9, 870),  # 5
        ("1C", 2, 0, 7, 230), ("1NT", 2, 1, 8, 1160),  # 6
        ("6S", 0, 0, 12, 980), ("6NT", 0, 1, 12, 1440), ("7C", 0, 0, 13, 1440), ("7NT", 0, 1, 13, 2220),  # 7
        ("7NT", 2, 1, 13, 2980), ("6H", 2, 1, 12, 2070), ("6C", 1, 0, 13, 1190),
        ("4H", 0, 0, 9, -50), ("4H", 0, 1, 9, -100), ("4H", 0, 1, 8, -200),  # 8
        ("4H", 1, 0, 9, -100), ("4H", 1, 0, 8, -300), ("4H", 1, 0, 7, -500), ("4H", 1, 0, 6, -800),  # 9
        ("4H", 1, 1, 9, -200), ("4H", 1, 1, 7, -800),
        ("4H", 2, 0, 6, -1600), ("4H", 2, 1, 6, -2200),  # 10
        ("1NT", 2, 1, 13, 3160), ("7NT", 2, 1, 0, -7600),  # the extremes
    ],
)  # fmt: skip
def test_5_duplicate_scores(contract, doubled, vulnerable, tricks, score):
    assert duplicate_score(bid(contract), doubled, vulnerable, tricks) == score


def test_5_all_duplicate_scores_are_those_of_endplay():
    endplay = pytest.importorskip("endplay.types")
    penalties = (endplay.Penalty.passed, endplay.Penalty.doubled, endplay.Penalty.redoubled)
    denominations = [endplay.Denom.find(name) for name in DENOMINATIONS]
    for number, doubled, is_vulnerable, tricks in itertools.product(range(35), range(3), (0, 1), range(14)):
        contract = endplay.Contract(
            level=number // 5 + 1, denom=denominations[number % 5], declarer=endplay.Player.north,
            penalty=penalties[doubled], result=tricks - 6 - (number // 5 + 1),
        )  # fmt: skip
        expected = contract.score(endplay.Vul.both if is_vulnerable else endplay.Vul.none)
        assert duplicate_score(number, doubled, is_vulnerable, tricks) == expected, (contract, is_vulnerable)


def test_5_5_imps():
    scale = {0: 0, 10: 0, 20: 1, 40: 1, 50: 2, 120: 3, 130: 4, 420: 9, 430: 10, 600: 12, 890: 13, 1490: 16, 1500: 17,
             2490: 20, 2500: 21, 3990: 23, 4000: 24, 15200: 24}  # fmt: skip
    for points, expected in scale.items():
        assert imps(points) == expected
        assert imps(-points) == -expected


def test_5_5_imps_are_the_difference_to_the_datum():
    state = new("1C p p p", result="imps", datum=-110)
    while not state.is_terminal:
        state.apply(state.legal_actions()[0])
    points = state.facts(0)["results"][0]["points_NS"]
    assert state.returns[0] == imps(points + 110) == -state.returns[1]


def test_2_1_boards_have_their_dealer_and_vulnerability():
    dealers = "NESW" * 4
    shift = ["none", "NS", "EW", "both"]
    sides = [shift[(k + k // 4) % 4] for k in range(16)]
    assert sides[4:8] == ["NS", "EW", "both", "none"]
    names = {"none": "nobody", "NS": "North and South", "EW": "East and West", "both": "everybody"}
    for board in range(1, 17):
        state = GAME.new_state(seed=5, board=board)
        assert state.current_player == "NESW".index(dealers[board - 1])
        assert state.facts(0)["vulnerable"] == names[sides[board - 1]]
    assert {GAME.new_state(seed=seed).facts(0)["board"] for seed in range(200)} == set(range(1, 17))


def test_3_4_four_passes():
    state = new("p p p p")  # scenario 14
    assert state.is_terminal
    assert state.returns == [0, 0, 0, 0]
    state = new("p p p 1C p p p")
    assert state.facts(0)["contract"] == {
        "bid": "1C", "doubled": 0, "declarer": "player_3", "dummy": "player_1", "tricks_needed": 7
    }  # fmt: skip


@pytest.mark.parametrize(
    ("dealer", "auction", "contract", "declarer"),
    [
        ("N", "1H p 1S p 2S p 4H p p p", "4H", 0),  # scenario 11
        ("W", "1S p 2S X 3S p p p", "3S", 3),  # 12
        ("E", "1C 1D p 2D p p p", "2D", 2),
    ],
)
def test_3_5_declarer_named_the_denomination_first(dealer, auction, contract, declarer):
    state = new(auction, dealer=dealer)
    facts = state.facts(0)["contract"]
    assert (facts["bid"], facts["doubled"], facts["declarer"]) == (contract, 0, f"player_{declarer}")
    assert state.current_player == (declarer + 1) % 4


def test_3_2_and_3_3_who_may_double():
    state = new("1H p p")  # scenario 13
    assert CALLS["X"] in state.legal_actions()
    state = new("1H X p p")
    assert CALLS["XX"] in state.legal_actions()
    state = call(state, "p")  # the auction is over: three passes after the double
    state = new("1H X p 1S")
    assert CALLS["XX"] not in state.legal_actions()
    with pytest.raises(IllegalActionError, match="redoubled"):
        state.apply(CALLS["XX"])
    with pytest.raises(IllegalActionError, match="higher than 1S"):
        state.apply(CALLS["1H"])
    state = new("1H p")
    with pytest.raises(IllegalActionError, match="opponent"):
        state.apply(CALLS["X"])


def test_3_5_the_longest_auction_fits():
    state = new("p p p")
    for number in range(35):
        call(state, f"{call_label(BID_0 + number)} p p X p p XX")
        if number < 34:
            call(state, "p p")
    call(state, "p p p")
    assert state.ply == 319
    assert state.facts(0)["contract"]["doubled"] == 2


HANDS = ("AKQ.AKQ.AKQ.5432", "765.765.654.AKQJ", "432.432.32.T9876", "JT98.JT98.JT987.")


def test_4_a_deal_played_out():
    state = call(GAME.new_state(seed=1, deck=deck(*HANDS), board=1), "3NT p p p")  # scenario 17
    for index, card in enumerate(["Ac", "Kc", "Qc", "Jc"]):
        play(state, card)
        while state.current_player != 1 and index < 4 and state.facts(0)["cards_played"] % 4:
            state.apply(state.legal_actions()[0])
    assert state.facts(1)["tricks_won"] == {"us": 4, "them": 0}
    while not state.is_terminal:
        state.apply(state.legal_actions()[-1])
    assert state.returns == [400, -400, 400, -400]


def test_4_1_dummy_is_faced_after_the_lead_and_4_4_played_by_declarer():
    state = call(GAME.new_state(seed=1, deck=deck(*HANDS), board=1), "3NT p p p")
    assert table_texts(state.view(1))["piles"]["hand"][2] == ["?"] * 13
    play(state, "Ac")
    assert sorted(table_texts(state.view(1))["piles"]["hand"][2]) == sorted(cards(HANDS[2]))
    assert sorted(table_texts(state.view(-1))["piles"]["hand"][2]) == sorted(cards(HANDS[2]))
    assert state.current_player == 0
    assert GAME.view.prompt(state.record) == "Play a card from dummy's hand; player_1 wins so far with Ac."
    with pytest.raises(IllegalActionError, match="the hand that plays now"):
        state.apply(CARD_0 + parse_card("5c"))
    assert table_texts(state.view(2))["piles"]["hand"][0] == ["?"] * 13  # 9.3


def test_4_2_follow_suit():  # scenario 15
    hands = ("5432.A2.A2.AKQJT", "AK.3456.KQJ.2347", "QJT.KQJT.3456.56", "9876.987.T987.98")
    state = call(GAME.new_state(seed=1, deck=deck(*hands), board=1), "p p p 1H p p p")
    play(state, "5s")  # North leads: West is declarer
    assert {state.action_label(action) for action in state.legal_actions()} == {"play As", "play Ks"}
    with pytest.raises(IllegalActionError, match="must be followed"):
        state.apply(CARD_0 + parse_card("3h"))


@pytest.mark.parametrize(("contract", "winner"), [("1H", 3), ("1NT", 0)])
def test_4_3_the_highest_trump_wins(contract, winner):  # scenario 16
    hands = ("A.AK54.A432.A432", "KQJ.2.KQJT.KQJT9", "T9876.QJT9.98.87", "5432.3678.765.65")
    state = call(GAME.new_state(seed=1, deck=deck(*hands), board=1), f"p p p {contract} p p p")
    play(state, "As Js 6s 2s")
    play(state, "Ad Td 8d 5d 2d Kd 9d 6d")
    assert state.current_player == 3 or winner == 0 or state.current_player == 1
    state = call(GAME.new_state(seed=1, deck=deck(*hands), board=1), f"p p p {contract} p p p")
    play(state, "Ad Td 8d 5d Ah 2h 9h 3h Kh")
    assert state.current_player == 3  # declarer plays dummy's card
    play(state, "Ks")
    assert state.current_player == 2


# ---------------------------------------------------------------------------------------------------------------
# Rubber. Hands in which North and South, or East and West, take a certain number of tricks at no-trump or in spades


def rubber_deal(state, contract, declarer, tricks):
    """Play a deal of a rubber in which the side of `declarer` takes `tricks`, whatever the cards are.

    The record is changed before the last card: the tricks won so far become those wanted, less the last one.
    """
    while state.current_player != declarer:
        call(state, "p")
    call(state, f"{contract.rstrip('x')} X p p p" if contract.endswith("x") else f"{contract} p p p")
    deal = int(state.record.num_deals)
    for _ in range(51):
        state.apply(state.legal_actions()[0])
    side, record = declarer % 2, state.record
    trial = state.clone()
    trial.apply(trial.legal_actions()[0])
    last = trial.facts(0)["results"][deal - 1]["tricks"] - int(record.tricks_won[side])
    state._states["tricks_won"][0, side] = tricks - last
    state.apply(state.legal_actions()[0])
    return state.facts(0)


def test_6_2_below_and_above_the_line():  # scenario 18
    state = GAME.new_state(seed=3, scoring="rubber", dealer="N")
    rubber = rubber_deal(state, "2S", 0, 9)["rubber"]
    assert (rubber["below_the_line"], rubber["totals"]) == ([60, 0], [90, 0])
    rubber = rubber_deal(state, "1NT", 1, 7)["rubber"]
    assert rubber["below_the_line"] == [60, 40]
    facts = rubber_deal(state, "2H", 2, 8)
    assert facts["rubber"]["games"] == [1, 0]
    assert facts["rubber"]["below_the_line"] == [0, 0]
    assert facts["rubber"]["totals"] == [150, 40]
    assert facts["vulnerable"] == "North and South"


def test_6_4_the_rubber_bonus():  # scenario 19
    state = GAME.new_state(seed=3, scoring="rubber", dealer="N")
    rubber_deal(state, "4S", 0, 10)
    facts = rubber_deal(state, "4S", 2, 11)
    assert state.is_terminal
    assert facts["rubber"]["totals"] == [120 + 120 + 30 + 700, 0]
    assert state.returns == [970, -970, 970, -970]
    state = GAME.new_state(seed=3, scoring="rubber", dealer="N")
    rubber_deal(state, "4S", 0, 10)
    rubber_deal(state, "4S", 1, 10)
    assert rubber_deal(state, "3NT", 2, 9)["rubber"]["totals"] == [120 + 100 + 500, 120]


def test_6_2_a_doubled_part_score_is_a_game():  # scenario 20
    state = GAME.new_state(seed=3, scoring="rubber", dealer="N")
    rubber_deal(state, "1C", 0, 7)
    rubber = rubber_deal(state, "2Dx", 2, 8)["rubber"]
    assert rubber["games"] == [1, 0]
    assert rubber["totals"] == [20 + 80 + 50, 0]


def test_6_7_an_unfinished_rubber():
    state = GAME.new_state(seed=3, scoring="rubber", dealer="N", max_deals=3)
    rubber_deal(state, "4S", 0, 10)
    rubber_deal(state, "1NT", 1, 7)
    facts = rubber_deal(state, "1NT", 2, 6)
    assert state.is_terminal
    assert facts["rubber"]["totals"] == [120 + 300, 40 + 100 + 100]
    state = GAME.new_state(seed=3, scoring="rubber", dealer="N", max_deals=1, partscore_bonus=50)
    assert rubber_deal(state, "1NT", 0, 7)["rubber"]["totals"] == [90, 0]


def test_6_5_honours():
    hands = ("AKQJ.AKQ.AKQ.543", "765.765.654.AKQJ", "432.432.32.T9876", "T98.JT98.JT987.2")
    for contract, worth in (("1S", 100), ("1C", 100), ("1NT", 0)):
        state = GAME.new_state(seed=3, scoring="rubber", dealer="N", honours=True, deck=deck(*hands))
        totals = rubber_deal(state, contract, 0, 7)["rubber"]["totals"]
        made = {"1S": 30, "1C": 20, "1NT": 40}[contract]
        holder = 1 if contract == "1C" else 0
        assert totals == [made + worth * (holder == 0), worth * (holder == 1)]
    aces = ("A432.A432.A432.A", "KQJ.KQJ.KQJ.KQJT", "T98.T98.T98.9876", "765.765.765.5432")
    state = GAME.new_state(seed=3, scoring="rubber", dealer="N", honours=True, deck=deck(*aces))
    assert rubber_deal(state, "1NT", 0, 7)["rubber"]["totals"] == [190, 0]


def test_8_forfeits():
    state = new("1C")
    state.apply(FORFEIT + 1)
    assert state.returns == [7600, -7600, 7600, -7600]
    state = new("1C", result="imps")
    state.apply(FORFEIT + 1)
    assert state.returns == [24, -24, 24, -24]
    state = GAME.new_state(seed=3, scoring="rubber", dealer="N")
    rubber_deal(state, "1NT", 0, 7)
    state.apply(FORFEIT + 1)
    assert state.returns == [7640, -7640, 7640, -7640]


def test_7_1_a_given_auction():
    calls = tuple(CALLS[text] for text in ["p", "1NT", "p", "3NT", "p", "p", "p"])
    state = GAME.new_state(seed=4, phase="play", auction=calls, board=1)
    assert state.phase == "play"
    assert state.facts(0)["contract"]["bid"] == "3NT"
    assert state.facts(0)["contract"]["declarer"] == "player_1"
    assert state.current_player == 2


def test_7_1_an_auction_by_the_natural_bidder():
    contracts = [GAME.new_state(seed=seed, phase="play").facts(0)["contract"]["bid"] for seed in range(200)]
    assert "3NT" in contracts
    assert "4S" in contracts
    assert "1NT" in contracts  # also for four passes


def test_options_are_checked():
    with pytest.raises(OptionError, match="rubber needs phase='full'"):
        GAME.make_options(scoring="rubber", phase="play")
    with pytest.raises(OptionError, match="auction needs phase"):
        GAME.make_options(auction=(3, 0, 0, 0))
    with pytest.raises(OptionError, match="call 2 of the auction, 1C, is not legal"):
        GAME.make_options(auction=(4, 3, 0, 0, 0), phase="play")
    with pytest.raises(OptionError, match="ends with three passes"):
        GAME.make_options(auction=(4, 0, 0), phase="play")
    with pytest.raises(OptionError, match="over before call 6"):
        GAME.make_options(auction=(0, 4, 0, 0, 0, 5), phase="play")


# ---------------------------------------------------------------------------------------------------------------
# Other implementations, the natural bidder, and the suite's own checks


def openspiel_card(card):
    """The number of a card in OpenSpiel: four times the rank from the 2, plus the suit from clubs."""
    suit, rank = divmod(card, 13)
    return 4 * ((rank + 12) % 13) + (3, 0, 1, 2)[suit]


def openspiel_action(action):
    return 52 + action if action < CARD_0 else openspiel_card(action - CARD_0)


def random_action(rng, state, legal):
    """Random, with passes often enough that contracts differ."""
    return 0 if state.phase == "auction" and rng.random() < 0.5 else rng.choice(legal)


@pytest.mark.parametrize("games", [200, pytest.param(10_000, marks=pytest.mark.slow)])
def test_openspiel_has_the_same_games(games):
    pyspiel = pytest.importorskip("pyspiel")
    rng = random.Random(games)
    sides = {(False, False): "none", (True, False): "NS", (False, True): "EW", (True, True): "both"}
    others = {
        key: pyspiel.load_game(
            f"bridge(use_double_dummy_result=false,dealer_vul={key[0]},non_dealer_vul={key[1]})".lower()
        )
        for key in sides
    }
    for seed in range(games):
        key = rng.choice(list(sides))
        state = GAME.new_state(seed=seed, dealer="N", vulnerable=sides[key])
        other = others[key].new_initial_state()
        hands = [[card for card in range(52) if int(state.record.hands[p]) >> card & 1] for p in range(4)]
        for k in range(52):
            other.apply_action(openspiel_card(hands[k % 4][k // 4]))
        while not state.is_terminal:
            legal = state.legal_actions()
            assert sorted(map(openspiel_action, legal)) == other.legal_actions(), seed
            action = random_action(rng, state, legal)
            state.apply(action)
            other.apply_action(openspiel_action(action))
        assert other.is_terminal()
        assert state.returns == other.returns(), seed


def test_the_natural_bidder_finds_games():
    """Of balanced hands with 26 points or more together, most are bid to game, and none of few points is."""
    reached, missed, mad = 0, 0, 0
    for seed in range(400):
        state = GAME.new_state(seed=seed, phase="play")
        side = int(state.record.declarer) % 2
        points = sum(high_cards(state, p) for p in (side, side + 2))
        contract = int(state.record.contract)
        is_game = contract // 5 + 1 >= (3 if contract % 5 == 4 else 4 if contract % 5 >= 2 else 5)
        reached += is_game and points >= 26
        missed += not is_game and points >= 27
        mad += contract // 5 >= 5 and points < 28
    assert reached > 3 * missed
    assert mad <= 4


def high_cards(state, player):
    hand = int(state.record.hands[player])
    return sum({"A": 4, "K": 3, "Q": 2, "J": 1}.get(RANKS[card % 13], 0) for card in range(52) if hand >> card & 1)


def test_conventions():
    opener, responder = "AQ5.K92.AJ84.Q73", "K842.A653.92.J54"
    state = GAME.new_state(seed=1, deck=deck(opener, "J3.QJ7.KQ7.T9862", responder, "T976.T84.T653.AK"), board=1)
    made = []
    while state.phase == "auction":
        made.append(call_label(state.policy_action("heuristic", 0)))
        state.apply(state.policy_action("heuristic", 0))
    assert made[:5] == ["1NT", "pass", "2C", "pass", "2D"]
    meanings = [entry["meaning"] for entry in state.facts(0)["auction"]]
    assert meanings[0] == "balanced, 15 to 17 points"
    assert meanings[2] == "Stayman: asks for a major of four cards"
    responder = "K8432.53.932.J54"
    state = GAME.new_state(seed=1, deck=deck(opener, "J6.QJ76.KQ7.T982", responder, "T97.AT84.T65.AK6"), board=1)
    made = []
    while state.phase == "auction":
        made.append(call_label(state.policy_action("heuristic", 0)))
        state.apply(state.policy_action("heuristic", 0))
    assert made == ["1NT", "pass", "2H", "pass", "2S", "pass", "pass", "pass"]
    assert state.facts(0)["contract"]["declarer"] == "player_0"


def test_the_heuristic_beats_random_cards():
    """The same contracts, once defended and once declared by the rule player."""
    margin = []
    for seed in range(60):
        tricks = []
        for side in (0, 1):
            state = GAME.new_state(seed=seed, phase="play")
            declaring = int(state.record.declarer) % 2
            while not state.is_terminal:
                policy = "heuristic" if (state.current_player % 2 == declaring) == (side == 0) else "random"
                state.apply(state.policy_action(policy, 1000 * seed + state.ply))
            tricks.append(state.facts(0)["results"][0]["tricks"])
        margin.append(tricks[0] - tricks[1])
    assert np.mean(margin) > 1.5


def test_every_promise_of_the_suite():
    report = check_game("bridge_v0", examples=2)
    assert report.twins > 0
    assert {place for _, place in report.hidden} == {"hand"}
    assert {phase for phase, _ in report.hidden} == {"auction", "play"}
