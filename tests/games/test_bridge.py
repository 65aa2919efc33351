"""Tests of Contract Bridge by the numbered rules, and against endplay, OpenSpiel and a slow scorer of rubbers.

Most of the numbered scenarios are data: tests/scenarios/bridge.
"""

import itertools
import random

import pytest

from cardenvs.core.cards import written
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import IllegalActionError, OptionError
from cardenvs.core.game_view import table_texts
from cardenvs.core.registry import get_game
from cardenvs.games.bridge.scoring import duplicate_score, imps
from cardenvs.games.bridge.state import BID_0, CARD_0, DENOMINATIONS, call_label
from cardenvs.kits.cards import card_label, cards_of, parse_card

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


def test_4_1_dummy_is_faced_after_the_lead_and_4_4_played_by_declarer():
    state = call(GAME.new_state(seed=1, deck=deck(*HANDS), board=1), "3NT p p p")
    assert table_texts(state.view(1))["piles"]["hand"][2] == ["?"] * 13
    play(state, "Ac")
    dummy = sorted(map(written, cards(HANDS[2])))
    assert sorted(table_texts(state.view(1))["piles"]["hand"][2]) == dummy
    assert sorted(table_texts(state.view(-1))["piles"]["hand"][2]) == dummy
    assert state.current_player == 0
    assert GAME.view.prompt(state.record) == "Play a card from dummy's hand; player_1 wins so far with A♣."
    with pytest.raises(IllegalActionError, match="the hand that plays now"):
        state.apply(CARD_0 + parse_card("5c"))
    assert table_texts(state.view(2))["piles"]["hand"][0] == ["?"] * 13  # 9.3


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


def test_6_6_a_rubber_pays_no_more_than_10000_points():
    state = GAME.new_state(seed=3, scoring="rubber", dealer="N", max_deals=5)
    for _ in range(3):
        rubber_deal(state, "7NTx", int(state.record.dealer) & 2, 0)
    state._states["totals"][0] = [0, 9_990]
    rubber_deal(state, "1NT", 0, 6)
    assert state.returns == [0, 0, 0, 0]
    rubber_deal(state, "1NT", 0, 6)
    assert state.record.totals.tolist() == [0, 10_090]
    assert state.returns == [-10_000, 10_000, -10_000, 10_000]


def test_6_7_an_unfinished_rubber():
    state = GAME.new_state(seed=3, scoring="rubber", dealer="N", max_deals=3)
    rubber_deal(state, "4S", 0, 10)
    rubber_deal(state, "1NT", 1, 7)
    facts = rubber_deal(state, "1NT", 2, 6)
    assert state.is_terminal
    assert facts["rubber"]["totals"] == [120 + 300, 40 + 100 + 100]
    state = GAME.new_state(seed=3, scoring="rubber", dealer="N", max_deals=1, partscore_bonus=50)
    assert rubber_deal(state, "1NT", 0, 7)["rubber"]["totals"] == [90, 0]


def slow_totals(results, honours, max_deals, partscore_bonus):
    """Score a rubber on a sheet of paper: lists of entries above the line, and below it for each game."""
    above, below, games = ([], []), [([], [])], [0, 0]
    for contract, declarer, tricks, cards in results:
        side, needed = declarer % 2, int(contract[0]) + 6
        factor = 2 ** contract.count("x")
        denomination = contract.rstrip("x")[1:].translate(str.maketrans("♠♥♦♣", "SHDC"))
        vulnerable = games[side] > 0
        if honours:
            for p, hand in enumerate(cards):
                trumps = denomination.lower() if denomination != "NT" else None
                top = [r + trumps for r in "AKQJT"] if trumps else ["As", "Ah", "Ad", "Ac"]
                held = sum(card in hand for card in top)
                worth = {5: 150, 4: 100 if trumps else 150}.get(held, 0)
                above[p % 2].append(worth)
        if tricks < needed:
            for k in range(1, needed - tricks + 1):
                if factor == 1:
                    above[1 - side].append(100 if vulnerable else 50)
                elif vulnerable:
                    above[1 - side].append((200 if k == 1 else 300) * factor // 2)
                else:
                    above[1 - side].append((100 if k == 1 else 200 if k <= 3 else 300) * factor // 2)
            continue
        trick = 20 if denomination in "CD" else 30
        below[-1][side].append((trick * int(contract[0]) + 10 * (denomination == "NT")) * factor)
        overtrick = trick if factor == 1 else 50 * factor * (2 if vulnerable else 1)
        above[side].append((tricks - needed) * overtrick)
        above[side].append({1: 0, 2: 50, 4: 100}[factor])
        if needed >= 12:
            above[side].append((500 if needed == 12 else 1000) * 3 // 2 if vulnerable else 500 * (needed - 11))
        if sum(below[-1][side]) >= 100:
            games[side] += 1
            below.append(([], []))
    if 2 in games:
        winner = games.index(2)
        above[winner].append(700 if games[1 - winner] == 0 else 500)
    else:
        for side in (0, 1):
            above[side].append(300 * (games[side] > games[1 - side]))
            above[side].append(partscore_bonus * (bool(below[-1][side]) and not below[-1][1 - side]))
    return [sum(above[side]) + sum(sum(game[side]) for game in below) for side in (0, 1)]


@pytest.mark.parametrize("games", [30, pytest.param(1000, marks=pytest.mark.slow)])
def test_6_random_rubbers_are_scored_as_on_paper(games):
    """Auctions by the natural bidder with random doubles and bids, so that all kinds of contracts are played."""
    rng = random.Random(games)
    finished = 0
    for seed in range(games):
        options = {"honours": seed % 2 == 1, "max_deals": rng.randint(1, 8), "partscore_bonus": rng.choice([50, 100])}
        state = GAME.new_state(seed=seed, scoring="rubber", **options)
        hands, deal = [], 0
        while not state.is_terminal:
            if int(state.record.num_deals) > deal:
                deal += 1
                hands.append([[card_label(card) for card in cards_of(hand)] for hand in state.record.hands])
            policy = "random" if state.phase == "auction" and rng.random() < 0.08 else "heuristic"
            legal = state.legal_actions()
            can_double = state.phase == "auction" and len(legal) > 1 and legal[1] < BID_0
            action = legal[1] if can_double and rng.random() < 0.2 else state.policy_action(policy, rng.getrandbits(30))
            state.apply(action)
        facts = state.facts(0)
        results = [
            (result["contract"], "NESW".index(result["declarer"]), result["tricks"], cards)
            for result, cards in zip(facts["results"], hands, strict=True)
            if result["contract"]
        ]
        totals = slow_totals(results, **options)
        assert facts["rubber"]["totals"] == totals, (seed, results)
        assert state.returns[0] == totals[0] - totals[1]
        finished += 2 in facts["rubber"]["games"]
    assert finished > games / 10


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
    assert state.returns == [10_000, -10_000, 10_000, -10_000]


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
    assert "4♠" in contracts
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
