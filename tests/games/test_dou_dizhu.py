"""Tests of Dou Dizhu: paragraphs that the scenario files leave out, an oracle, RLCard, OpenSpiel, worlds, the agent."""

import collections
import math
import random

import numpy as np
import pytest
from dou_dizhu_oracle import ORDER, Oracle
from scipy.special import chdtrc

from cardenvs.agents import Turn, make_agent
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import DeckError, OptionError
from cardenvs.core.events import SPECTATOR
from cardenvs.core.game_view import table_texts
from cardenvs.core.kernel import COMPILED
from cardenvs.core.registry import get_game
from cardenvs.games.dou_dizhu import plays
from cardenvs.games.dou_dizhu.cards import ALL_CARDS, RANKS, listed
from cardenvs.games.dou_dizhu.plays import BID_0, KINDS, NUM_IDS, NUM_USUAL, PASS, PLAYS, allowed_needs
from cardenvs.games.dou_dizhu.view import play_text
from cardenvs.tools.foreign.rlcard_models import MODELS

GAME = get_game("dou_dizhu_v0")
USUAL = allowed_needs(GAME.make_options())
ROCKET_KICKER = allowed_needs(GAME.make_options(rocket_kicker=True))
LEGAL = np.zeros(GAME.max_legal(GAME.make_options(rocket_kicker=True)), np.int32)


def set_of(ranks):
    """A list of ranks as a set of cards."""
    return sum(1 << 4 * rank for rank in ranks)


def parse_set(text):
    """A set of cards from a text such as "3334B"."""
    return set_of(RANKS.index(rank) for rank in text)


def compact(cards):
    """A set of cards as RLCard writes it."""
    return "".join(RANKS[rank] for rank in listed(cards))


ROCKET_ID = PASS - 1
ID_OF = {compact(cards): action for action, cards in enumerate(PLAYS[:PASS])}


def leads(hand, allowed=USUAL):
    """The plays in a hand, as RLCard writes them."""
    n = plays.list_leads(parse_set(hand), allowed, LEGAL)
    return [compact(PLAYS[action]) for action in LEGAL[:n]]


def answers(hand, to_beat, allowed=USUAL):
    """The plays in a hand that beat another one, without pass."""
    n = plays.list_answers(parse_set(hand), ID_OF[to_beat], allowed, LEGAL)
    assert PASS in LEGAL[:n]
    return [compact(PLAYS[action]) for action in LEGAL[:n] if action != PASS]


def played(deck, *labels, **options):
    """The state after some actions on an explicit deck."""
    state = GAME.new_state(seed=1, deck=deck, **options)
    for label in labels:
        state.apply(state.action_from_label(label))
    return state


def label(text):
    """The label of a play that RLCard writes so."""
    return text if text.startswith(("pass", "bid")) else play_text(ID_OF[text])


def labels(state):
    return [state.action_label(action) for action in state.legal_actions()]


# ---------------------------------------------------------------------------------------------------------------
# The table of plays

COUNTS = {
    "solo": 15, "pair": 13, "trio": 13, "trio with a solo": 182, "trio with a pair": 156, "solo chain": 36,
    "pair chain": 52, "trio chain": 45, "trio chain with solos": 21_822, "trio chain with pairs": 2_939,
    "four with two solos": 1_326, "four with two pairs": 858, "bomb": 13, "rocket": 1,
}  # fmt: skip


def test_the_number_of_plays_of_each_kind():
    found = collections.Counter(KINDS[plays.pattern_for(action).kind] for action in range(PASS))
    assert found == COUNTS
    assert (PASS, BID_0 + 3, NUM_USUAL) == (27_471, 27_474, 27_475)
    solos = collections.Counter(plays.pattern_for(action).width for action in range(512, 22_334))
    assert solos == {2: 968, 3: 3_282, 4: 7_184, 5: 10_388}
    pairs = collections.Counter(plays.pattern_for(action).width for action in range(22_334, 25_273))
    assert pairs == {2: 605, 3: 1_200, 4: 1_134}


def test_no_set_of_cards_has_two_readings():
    assert len(ID_OF) == PASS


def test_4_4_options_add_plays():
    added = collections.Counter(plays.pattern_for(action).needs for action in range(NUM_USUAL, NUM_IDS))
    assert added == {plays.AMBIGUOUS: 766, plays.ROCKET_KICKER: 1462, plays.AMBIGUOUS | plays.ROCKET_KICKER: 14,
                     plays.ROCKET_KICKER | plays.FOUR_WITH_TWO: 13}  # fmt: skip
    texts = [compact(PLAYS[action]) for action in range(NUM_USUAL, NUM_IDS)
             if plays.pattern_for(action).needs == plays.AMBIGUOUS]  # fmt: skip
    assert len(set(texts) | set(ID_OF)) - PASS == len(set(texts)) - sum(text in ID_OF for text in set(texts))
    readings = collections.Counter([*texts, *(text for text in ID_OF if text in set(texts))])
    assert sum(number > 1 for number in readings.values()) == 383


def test_ids_are_those_of_rlcard():
    utils = pytest.importorskip("rlcard.games.doudizhu.utils")
    assert [compact(PLAYS[action]) for action in range(PASS)] == utils.ID_2_ACTION[:PASS]
    assert utils.ID_2_ACTION[PASS] == "pass"


def test_beating_compares_plays_as_the_lists_do():
    chooser = random.Random(1)
    for _ in range(300 if COMPILED else 20):
        hand = set_of(chooser.sample(listed(ALL_CARDS), 20))
        to_beat = chooser.randrange(PASS)
        n = plays.list_leads(hand, USUAL, LEGAL)
        every = LEGAL[:n].copy()
        n = plays.list_answers(hand, to_beat, USUAL, LEGAL)
        assert [a for a in LEGAL[:n] if a != PASS] == [a for a in every if plays.beats(int(a), to_beat)]


# ---------------------------------------------------------------------------------------------------------------
# Scenarios of the rules' source that are about a hand


@pytest.mark.parametrize(
    ("number", "hand", "to_beat", "expected"),
    [
        (1, "3344556789TJQKA2B", "34567", "45678 56789 6789T 789TJ 89TJQ 9TJQK TJQKA"),
        (2, "45678999TTTJJ2222R", "88", "99 TT JJ 22 2222"),
        (3, "3334445556", "666777", ""),
        (6, "444455566BR", "3333", "4444 BR"),
        (7, "TJQKA2BR", "9TJQK", "TJQKA BR"),
        (8, "JJQQKKAA22", "334455", "JJQQKK QQKKAA"),
        (10, "44445566", "77", "4444"),
        (11, "AAA222333", "888999", ""),
        (12, "AAA2223", "QQQ4", "3AAA AAA2 3222 A222"),
        (12, "5557", "4448", "5557"),
        (12, "55578", "44433", ""),
        (13, "444433", "5555", ""),
    ],
)
def test_scenarios_of_answers(number, hand, to_beat, expected):
    found = answers(hand, compact(parse_set(to_beat)))
    assert sorted(found) == sorted(compact(parse_set(play)) for play in expected.split())


@pytest.mark.parametrize(
    ("number", "hand", "size", "among", "not_among"),
    [
        (4, "333444BR", 18, "333444 333B BR", "333444BR"),
        (5, "3333BR", 9, "3 B R 33 BR 333 3333 333B 333R", "3333BR"),
        (9, "33344455", 19, "334455 33344 33444 44455 333444 33344455", ""),
        (13, "33334444", 15, "333344 334444", "33334444"),
    ],
)
def test_scenarios_of_leads(number, hand, size, among, not_among):
    found = leads(hand)
    assert len(found) == size
    assert {compact(parse_set(play)) for play in among.split()} <= set(found) - set(not_among.split())
    assert not set(not_among.split()) & set(found)


def test_scenarios_4_and_5_with_rocket_kicker():
    assert len(leads("333444BR", ROCKET_KICKER)) == 19
    assert "333444BR" in leads("333444BR", ROCKET_KICKER)
    assert "3333BR" in leads("3333BR", ROCKET_KICKER)


def test_scenario_14_a_longer_chain():
    assert KINDS[plays.pattern_for(ID_OF["333444555666"]).kind] == "trio chain"
    assert plays.pattern_for(ID_OF["333444555777"]).kind == plays.TRIO_CHAIN_SOLOS
    assert plays.pattern_for(ID_OF["QQQKKKAAA222"]).kind == plays.TRIO_CHAIN_SOLOS
    assert answers("444555666777", "333444555666") == ["444555666777"]
    assert answers("444555666777", "333444555777") == []


def test_scenario_15_fours_with_kickers():
    for better, worse in (("55667777", "33445555"), ("444456", "333356")):
        assert plays.beats(ID_OF[better], ID_OF[worse])
        assert plays.beats(ID_OF["3333"], ID_OF[better])
        assert not plays.beats(ID_OF[better], ID_OF["3333"])


# ---------------------------------------------------------------------------------------------------------------
# Paragraphs


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_players": 4}, "3"),
        ({"bidding": "none", "rebid": False}, "no auction; leave rebid at its default"),
        ({"bidding": "none", "all_pass": "zero"}, "leave all_pass at its default"),
    ],
)
def test_options_that_do_not_fit(options, message):
    with pytest.raises(OptionError, match=message):
        GAME.make_options(**options)


def test_1_2_the_cards():
    assert len(listed(ALL_CARDS)) == 54
    assert collections.Counter(listed(ALL_CARDS)) == dict.fromkeys(range(13), 4) | {13: 1, 14: 1}
    assert (GAME.view.parse_token("10"), GAME.view.parse_token("t"), GAME.view.parse_token("r")) == (7, 7, 14)
    with pytest.raises(DeckError, match="'Ts' is not a card"):
        GAME.new_state(seed=1, deck="Ts")


HANDS = "33344455566677788  899TTTTJJJJQQQQKK  67899KKAAAA2222BR  345"


def dealt(hands):
    """Hands as a deck text."""
    return " ".join("".join(hands.split()))


def test_2_2_the_deal():
    state = GAME.new_state(seed=1)
    assert state.record.hand_sizes.tolist() == [17, 17, 17]
    assert len(listed(state.record.extra)) == 3
    assert sorted(listed(sum(int(hand) for hand in state.record.hands) + int(state.record.extra))) == listed(ALL_CARDS)


def test_2_3_the_marked_card():
    found = collections.Counter()
    for seed in range(300):
        state = GAME.new_state(seed=seed, deck=dealt(HANDS))
        holder, rank = int(state.record.face_holder), int(state.record.face_up)
        assert state.current_player == holder
        assert rank in listed(state.record.hands[holder])
        text = GAME.view.token_label(rank)
        assert f"player_{holder} was dealt the card that was turned up, {text}." in state.recap(SPECTATOR)
        assert table_texts(state.view(SPECTATOR))["piles"]["hand"][holder].count("?") == 16
        found[holder, rank] += 1
    assert {holder for holder, _ in found} == {0, 1, 2}
    assert 10 < found[0, 0] + found[0, 1] + found[0, 2] < 100  # 9 of 51 cards


def test_2_3_other_first_bidders():
    assert {GAME.new_state(seed=seed, first_bidder="random").current_player for seed in range(40)} == {0, 1, 2}
    state = GAME.new_state(seed=1, first_bidder="player_0")
    assert state.current_player == 0
    assert state.record.face_up == -1


def test_3_1_without_an_auction():
    state = played(dealt(HANDS), bidding="none")
    assert (state.current_player, state.phase, state.record.hand_sizes.tolist()) == (0, "play", [20, 17, 17])
    assert state.facts(1)["left_over"] == "3 4 5"
    assert state.facts(1)["known_hands"] == ["3 4 5", "", ""]


FIRST = {"first_bidder": "player_0"}


def test_3_3_one_turn_each():
    state = played(dealt(HANDS), "pass", "bid 1", rebid=False, **FIRST)
    assert (state.current_player, labels(state)) == (2, ["pass", "bid 2", "bid 3"])
    state.apply(PASS)
    assert (state.phase, state.record.landlord) == ("play", 1)
    state = played(dealt(HANDS), "bid 1", "pass", "bid 2", rebid=False, **FIRST)
    assert (state.phase, state.record.landlord, state.record.bid) == ("play", 2, 2)
    assert played(dealt(HANDS), "bid 1", "pass", "bid 2", **FIRST).current_player == 0


def test_3_6_all_pass():
    state = played(dealt(HANDS), "pass", "pass", "pass", **FIRST)
    assert state.record.num_deals == 2
    assert [compact(hand) for hand in state.record.hands] != HANDS.split()[:3]
    assert state.current_player == 0
    for _ in range(27):
        state.apply(PASS)
    assert state.is_terminal
    assert state.returns == [0, 0, 0]
    state = played(dealt(HANDS), "pass", "pass", "pass", all_pass="zero", **FIRST)
    assert state.is_terminal
    assert state.returns == [0, 0, 0]


def test_4_labels_may_write_the_ten_as_t():
    state = played(dealt(HANDS), "bid 3", bidding="points", **FIRST)
    assert state.action_label(state.action_from_label("3 3 3 3 + 4 5")) == "3 3 3 3 + 4 5"
    state = played(dealt(HANDS), "pass", "bid 3", **FIRST)
    assert state.action_from_label("t t t t") == state.action_from_label("10 10 10 10") == ID_OF["TTTT"]


SPRING = ("pass", "pass", "bid 3", "345678", "99", "KK", "AAAA", "BR", "2222")


def play_all(deck, words, **options):
    """Play words of the auction, then plays of one player, whom the others let lead again."""
    state = GAME.new_state(seed=1, deck=dealt(deck), **options)
    for word in words:
        while PASS in state.legal_actions() and state.phase == "play" and state.record.to_beat >= 0:
            state.apply(PASS)
        state.apply(state.action_from_label(label(word)))
    return state


@pytest.mark.parametrize(
    ("options", "stake"),
    [
        ({}, 48),
        ({"bomb_doubles": False}, 6),
        ({"spring_doubles": False}, 24),
        ({"bomb_doubles": False, "spring_doubles": False}, 3),
    ],
)
def test_6_the_stake(options, stake):
    state = play_all(HANDS, SPRING, **FIRST, **options)
    assert state.returns == [-stake, -stake, 2 * stake]
    assert state.facts(0)["stake"] == stake


@pytest.mark.parametrize(("returns", "expected"), [("win_loss", [-1, -1, 1]), ("rlcard", [0, 0, 1])])
def test_6_3_other_returns(returns, expected):
    assert play_all(HANDS, SPRING, **FIRST, returns=returns).returns == expected


def test_6_2_no_spring_once_a_peasant_has_played():
    words = ("pass", "pass", "bid 3", "99", "pass", "TT", "KK", "345678", "AAAA", "BR", "2222")
    state = played(dealt(HANDS), *map(label, words[:6]), **FIRST)
    assert state.current_player == 2
    for word in words[6:]:
        while PASS in state.legal_actions() and state.current_player != 2:
            state.apply(PASS)
        state.apply(state.action_from_label(label(word)))
    assert state.returns == [-24, -24, 48]


@pytest.mark.parametrize(
    ("options", "labels", "leaver", "expected"),
    [
        ({}, [], 0, [-(3 << 14), 3 << 13, 3 << 13]),
        ({}, ["bid 1", "pass", "pass"], 0, [-(1 << 14), 1 << 13, 1 << 13]),
        ({}, ["bid 1", "pass", "pass", "3"], 1, [1 << 12, -(1 << 13), 1 << 12]),
        ({"bomb_doubles": False}, ["bid 2", "pass", "pass"], 0, [-8, 4, 4]),
        ({"returns": "win_loss"}, ["bid 2", "pass", "pass", "3"], 1, [1, -1, -1]),
        ({"returns": "win_loss"}, ["bid 2", "pass", "pass"], 0, [-1, 1, 1]),
        ({"returns": "rlcard"}, ["bid 2", "pass", "pass", "3"], 1, [1, 0, 0]),
    ],
)
def test_7_1_leaving(options, labels, leaver, expected):
    state = played(dealt(HANDS), *labels, **FIRST, **options)
    state.apply(FORFEIT + leaver)
    assert state.returns == expected


def test_8_1_who_has_played_what_is_public():
    state = played(dealt(HANDS), "bid 3", label("88"), "pass", label("99"), **FIRST)
    piles = table_texts(state.view(SPECTATOR))["piles"]
    assert piles["on_table"] == [["8", "8"], [], ["9", "9"]]
    seen = GAME.layout(state.options).split(state.observation(1))
    assert seen["played"].reshape(3, 54).sum(1).tolist() == [0, 2, 2]
    assert seen["known"].reshape(3, 54).sum(1).tolist() == [0, 0, 3]
    assert seen["kind"].argmax() == plays.PAIR


# ---------------------------------------------------------------------------------------------------------------
# The longest list of legal actions


def test_the_longest_list_of_all_hands_fits():
    """A search through all hands of 20 cards, which takes minutes, has found no longer list."""
    n = plays.list_leads(parse_set("3456789TJJJQQQKKKAAA"), 7, LEGAL)
    assert n == GAME.max_legal(GAME.make_options()) == 521


def test_no_random_hand_has_a_longer_list():
    chooser = random.Random(1)
    for _ in range(20_000 if COMPILED else 20):
        hand = set_of(chooser.sample(rich_deck(chooser), 20))
        assert plays.list_leads(hand, 7, LEGAL) <= 521


# ---------------------------------------------------------------------------------------------------------------
# Against the oracle


def texts_of(cards):
    return [RANKS[rank] for rank in listed(cards)]


def random_options(chooser):
    options = {
        "bidding": chooser.choice(["points", "points", "none"]),
        "returns": chooser.choice(["points", "points", "win_loss", "rlcard"]),
        **{name: chooser.random() < 0.5 for name in ("bomb_doubles", "spring_doubles", "four_with_two")},
        **{name: chooser.random() < 0.3 for name in ("rocket_kicker", "ambiguous_kickers")},
    }
    if options["bidding"] == "none":
        return options
    return options | {
        "rebid": chooser.random() < 0.5,
        "first_bidder": chooser.choice(["face_up", "random", "player_0"]),
        "all_pass": chooser.choice(["redeal", "zero"]),
    }


def rich_deck(chooser):
    """A deck in which cards of a rank often lie together, so that long plays and bombs come up."""
    ranks = [rank for rank in range(13) for _ in range(4)]
    groups = [ranks[k : k + 4] for k in range(0, 52, 4)] + [[13, 14]]
    chooser.shuffle(groups)
    cards = [card for group in groups for card in group]
    for _ in range(chooser.choice([0, 4, 12])):
        i, j = chooser.randrange(54), chooser.randrange(54)
        cards[i], cards[j] = cards[j], cards[i]
    return cards


def check_against_the_oracle(seed):
    """Play a random game beside the oracle; returns the kinds of plays met."""
    chooser, met = random.Random(seed), collections.Counter()
    deck = rich_deck(chooser) if chooser.random() < 0.6 else None
    state = GAME.new_state(seed=seed, deck=deck, **random_options(chooser))
    oracle = Oracle(state.options.as_dict())
    begin(oracle, state)
    passes_often = chooser.random() < 0.3
    while not state.is_terminal:
        assert not oracle.over
        compare(state, oracle)
        legal = {state.action_label(action): action for action in state.legal_actions()}
        assert legal.keys() == oracle.legal()
        text = chooser.choice(list(legal))
        if passes_often and "pass" in legal and chooser.random() < 0.7:
            text = "pass"
        if legal[text] < PASS:
            met[KINDS[plays.pattern_for(legal[text]).kind]] += 1
        state.apply(legal[text])
        if oracle.act(text):
            begin(oracle, state)
    assert oracle.over
    assert state.returns == oracle.returns
    return met


def begin(oracle, state):
    s = state.record
    hands = [int(hand) for hand in s.hands]
    if s.landlord >= 0:
        hands[s.landlord] -= int(s.extra)
    oracle.begin_deal([texts_of(hand) for hand in hands], texts_of(s.extra), state.current_player)


def compare(state, oracle):
    s = state.record
    assert state.current_player == oracle.to_act
    assert [texts_of(hand) for hand in s.hands] == oracle.hands
    assert s.hand_sizes.tolist() == [len(hand) for hand in oracle.hands]
    assert (int(s.landlord) if s.landlord >= 0 else None) == oracle.landlord
    assert (s.bid, s.doublings, s.num_deals) == (oracle.bid, oracle.doublings, oracle.deals)
    assert s.num_plays.tolist() == oracle.plays
    last = oracle.last_play()
    assert (texts_of(PLAYS[s.to_beat]) if s.to_beat >= 0 else None) == (last and sorted(last[3], key=ORDER.index))


@pytest.mark.parametrize("block", range(4))
def test_games_agree_with_the_oracle(block):
    met = collections.Counter()
    for seed in range(50 * block, 50 * block + (50 if COMPILED else 1)):
        met += check_against_the_oracle(seed)
    assert len(met) > 9 or not COMPILED


@pytest.mark.slow
def test_three_thousand_games_agree_with_the_oracle():
    met = collections.Counter()
    for seed in range(1000, 4000):
        met += check_against_the_oracle(seed)
    assert met.keys() == set(KINDS)


# ---------------------------------------------------------------------------------------------------------------
# Against RLCard and OpenSpiel

RLCARD = {"bidding": "none", "returns": "rlcard"}


class FixedDeal:
    """RLCard's random numbers, which put the cards into a given order."""

    def __init__(self, ranks):
        self.ranks = ranks

    def shuffle(self, deck):
        of_rank = collections.defaultdict(list)
        for card in deck:
            of_rank[card.suit[0] if card.rank == "" else card.rank].append(card)
        deck[:] = [of_rank[rank].pop() for rank in self.ranks]


def dealt_ranks(state):
    """The ranks dealt, hand by hand, then those left over, from a state before the first play."""
    hands = [int(hand) for hand in state.record.hands]
    if state.record.landlord >= 0:
        hands[state.record.landlord] -= int(state.record.extra)
    return [rank for cards in (*hands, int(state.record.extra)) for rank in texts_of(cards)]


def begin_in_rlcard(state):
    """RLCard's game with the same deal."""
    module = pytest.importorskip("rlcard.games.doudizhu.game")
    game = module.DoudizhuGame()
    game.np_random = FixedDeal(dealt_ranks(state))
    game.init_game()
    return game


def check_against_rlcard(seed):
    """Play one random game in both; returns its length."""
    chooser = random.Random(seed)
    deck = rich_deck(chooser) if seed % 3 == 0 else None
    state = GAME.new_state(seed=seed, deck=deck, **RLCARD)
    theirs = begin_in_rlcard(state)
    while not state.is_terminal:
        assert not theirs.is_over()
        assert theirs.get_player_id() == state.current_player
        legal = {compact(PLAYS[action]) or "pass": action for action in state.legal_actions()}
        assert sorted(legal) == sorted(set(theirs.state["actions"]))
        text = chooser.choice(sorted(legal))
        state.apply(legal[text])
        theirs.step(text)
    assert theirs.is_over()
    assert state.returns == list(theirs.judger.judge_payoffs(0, theirs.winner_id))
    return state.ply


@pytest.mark.parametrize("games", [20, pytest.param(500, marks=pytest.mark.slow)])
def test_rlcard_has_the_same_games(games):
    pytest.importorskip("rlcard")
    for seed in range(games if COMPILED else 1):
        check_against_rlcard(seed)


OPENSPIEL = {"four_with_two": False, "ambiguous_kickers": True, "all_pass": "zero"}
_THEIR_JOKERS = {"(BWJ)": "B", "(CJ)": "R"}


def their_text(text):
    """A play of OpenSpiel as RLCard writes it."""
    text = text.replace("-", "")  # between main part and kickers
    for theirs, ours in _THEIR_JOKERS.items():
        text = text.replace(theirs, ours)
    return compact(parse_set(text))


def chains_from_a_four(legal, hand):
    """The chains that OpenSpiel 2.0.2 does not list: those from a rank that the hand holds four times.

    It also lists bombs against the rocket.
    """
    kinds = plays.SOLO_CHAIN, plays.PAIR_CHAIN, plays.TRIO_CHAIN
    return [text for text, action in legal if plays.pattern_for(action).kind in kinds and hand.count(text[0]) == 4]


def check_against_openspiel(pyspiel, seed):
    """Play one random game in both, with the same deal; returns whether cards were played."""
    chooser = random.Random(seed)
    deck = rich_deck(chooser) if seed % 2 else None
    state = GAME.new_state(seed=seed, deck=deck, **OPENSPIEL)
    theirs = pyspiel.load_game("dou_dizhu").new_initial_state()
    ranks = dealt_ranks(state)
    order = [ranks[17 * (k % 3) + k // 3] for k in range(51)]  # they deal in turn
    holder, marked = int(state.record.face_holder), RANKS[int(state.record.face_up)]
    theirs.apply_action(next(k for k in range(holder, 51, 3) if order[k] == marked))
    for rank in order:
        texts = {action: theirs.action_to_string(action).split()[-1] for action in theirs.legal_actions()}
        theirs.apply_action(next(a for a, text in texts.items() if _THEIR_JOKERS.get(text, text[-1]) == rank))
    while not state.is_terminal:
        assert theirs.current_player() == state.current_player, seed
        if state.phase == "auction":
            offset = {PASS: 0} | {BID_0 + bid: bid for bid in range(1, 4)}
            ours = {action: offset[action] for action in state.legal_actions()}
            assert sorted(ours.values()) == theirs.legal_actions()
            action = chooser.choice(list(ours))
            state.apply(action)
            theirs.apply_action(ours[action])
            continue
        legal = [(compact(PLAYS[action]) or "pass", action) for action in state.legal_actions()]
        other = [(theirs.action_to_string(action), action) for action in theirs.legal_actions()]
        other = [("pass" if text == "Pass" else their_text(text), action) for text, action in other]
        hand = texts_of(state.record.hands[state.current_player])
        expected = collections.Counter(text for text, _ in legal)
        expected -= collections.Counter(chains_from_a_four(legal, hand))
        if state.record.to_beat == ROCKET_ID:
            expected += collections.Counter(rank * 4 for rank in RANKS if hand.count(rank) == 4)
        count = collections.Counter(text for text, _ in other)
        assert count == expected, seed
        text = chooser.choice([text for text, number in count.items() if number == 1 and text in dict(legal)])
        state.apply(dict(legal)[text])
        theirs.apply_action(dict(other)[text])
    assert theirs.is_terminal()
    assert state.returns == theirs.returns(), seed
    return state.phase == "play"


@pytest.mark.parametrize("games", [60, pytest.param(2000, marks=pytest.mark.slow)])
def test_openspiel_has_the_same_games(games):
    pyspiel = pytest.importorskip("pyspiel")
    found = [check_against_openspiel(pyspiel, seed) for seed in range(games if COMPILED else 2)]
    assert any(found)


# ---------------------------------------------------------------------------------------------------------------
# Worlds


def worlds_of(state, player, number):
    """The hands of the others in some worlds, in which all cards are somewhere."""
    for seed in range(number):
        s = state.determinize(player, seed).record
        left = s.extra if s.phase == 0 else 0
        assert s.hands.sum() + s.played.sum() + left == ALL_CARDS
        assert [len(listed(hand)) for hand in s.hands] == s.hand_sizes.tolist()
        assert s.hands[player] == state.record.hands[player]
        yield s


def test_8_2_the_marked_card_stays_with_its_holder():
    state = GAME.new_state(seed=3)
    holder, rank = int(state.record.face_holder), int(state.record.face_up)
    player, draws = (holder + 1) % 3, 4000 if COMPILED else 40
    number = [listed(s.hands[holder]).count(rank) for s in worlds_of(state, player, draws)]
    assert min(number) >= 1
    unseen = 3 - listed(state.record.hands[player]).count(rank)
    expected = 1 + unseen * 16 / 36  # one is fixed; 16 places of 36 for each of the others
    assert not COMPILED or abs(np.mean(number) - expected) < 0.05


def splits(state, player):
    """All hands of the next player with the number of deals in which they are as they are, rank by rank."""
    s = state.record
    a, b = (player + 1) % 3, (player + 2) % 3
    extra = [listed(s.extra) if p == s.landlord else [] for p in (a, b)]
    dealt = collections.Counter(listed(s.hands[a] + s.played[a] + s.hands[b] + s.played[b]))
    dealt.subtract(extra[0] + extra[1])
    ways = {(): 1}  # ranks dealt to a, and in how many ways
    for rank in range(15):
        grown = collections.Counter()
        for hand, number in ways.items():
            for k in range(dealt[rank] + 1):
                has_a, has_b = k + extra[0].count(rank), dealt[rank] - k + extra[1].count(rank)
                if has_a >= listed(s.played[a]).count(rank) and has_b >= listed(s.played[b]).count(rank):
                    weight = math.comb(dealt[rank], k)
                    if rank == s.face_up:
                        weight *= {a: k, b: dealt[rank] - k}.get(int(s.face_holder), 1)
                    grown[(*hand, *[rank] * k)] += number * weight
        ways = {hand: number for hand, number in grown.items() if len(hand) <= 17 and number}
    return {set_of([*hand, *extra[0]]) - int(s.played[a]): number for hand, number in ways.items() if len(hand) == 17}


@pytest.mark.parametrize("seed", [1, 3, 6, 8, 9])
def test_8_3_splits_are_as_likely_as_there_are_deals(seed):
    state, chooser = GAME.new_state(seed=seed, first_bidder="face_up"), random.Random(seed)
    while state.phase == "auction" or state.record.hand_sizes.sum() > 16:
        plays_first = [action for action in state.legal_actions() if action != PASS]
        state.apply(plays_first[-1] if state.phase == "auction" else chooser.choice(state.legal_actions()))
        if state.is_terminal:
            pytest.skip("over too early")
    for player in range(3):
        expected, draws = splits(state, player), 3000 if COMPILED else 20
        total = sum(expected.values())
        found = collections.Counter(int(s.hands[(player + 1) % 3]) for s in worlds_of(state, player, draws))
        assert found.keys() <= expected.keys()
        common = [hand for hand, number in expected.items() if number * draws / total >= 8]
        rest = draws - sum(found[hand] for hand in common)
        rest_expected = draws - sum(expected[hand] * draws / total for hand in common)
        cells = [(found[hand], expected[hand] * draws / total) for hand in common]
        cells += [(rest, rest_expected)] if rest_expected > 5 else []
        if len(cells) > 1 and COMPILED:
            assert chdtrc(len(cells) - 1, sum((o - e) ** 2 / e for o, e in cells)) > 1e-4


# ---------------------------------------------------------------------------------------------------------------
# The rule agent


def duel_with_rlcard(deals, spec="heuristic"):
    """Let an agent of ours play deals against RLCard's rule model, each once as landlord and once as both peasants.

    Returns:
        for each deal, the mean of our two results: 1 for a win, -1 for a loss.
    """
    pytest.importorskip("rlcard")
    options = {"bidding": "none", "returns": "win_loss"}
    ours, theirs = (make_agent(name, GAME, GAME.make_options(**options)) for name in (spec, "rlcard:doudizhu-rule-v1"))
    results = []
    for seed in range(deals):
        total = 0.0
        for is_landlord in (True, False):
            state = GAME.new_state(seed=seed, **options)
            while not state.is_terminal:
                is_ours = (state.current_player == 0) == is_landlord
                state.apply((ours if is_ours else theirs).act(Turn(state, seed, state.ply)))
            total += state.returns[0] if is_landlord else state.returns[1]
        results.append(total / 2)
    return np.array(results)


@pytest.mark.parametrize("games", [12, pytest.param(300, marks=pytest.mark.slow)])
def test_rlcards_rule_model_sees_and_does_what_it_does_there(games):
    module = pytest.importorskip("rlcard.models.doudizhu_rule_models")
    rule, model = module.DouDizhuRuleAgentV1(), MODELS["doudizhu-rule-v1"]
    agent = make_agent("rlcard:doudizhu-rule-v1", GAME, GAME.make_options(**RLCARD))
    for seed in range(games if COMPILED else 1):
        chooser = random.Random(seed)
        state = GAME.new_state(seed=seed, deck=rich_deck(chooser) if seed % 2 else None, **RLCARD)
        theirs = begin_in_rlcard(state)
        while not state.is_terminal:
            turn, real = Turn(state, seed, state.ply), theirs.state
            seen = model.state(turn)["raw_obs"]
            assert all(seen[name] == real[name] for name in ("current_hand", "landlord", "self"))
            assert sorted(seen["actions"]) == sorted(set(real["actions"]))
            if seen["trace"]:
                assert seen["trace"] == real["trace"][-len(seen["trace"]) :]
                in_order = [[text for text in o["actions"] if text not in ("pass", "BR")] for o in (seen, real)]
                assert in_order[0] == in_order[1], "of equally low plays it takes the first"
            np.random.seed(turn.seed % 2**32)  # as the agent does; where it draws, the order matters, too
            action = agent.act(turn)
            assert action == model.action(turn, rule.step({"raw_obs": real | {"actions": seen["actions"]}}))
            if chooser.random() < 0.3:
                action = chooser.choice(state.legal_actions())
            state.apply(action)
            theirs.step(compact(PLAYS[action]) or "pass")


@pytest.mark.slow
def test_the_rule_agent_beats_that_of_rlcard():
    results = duel_with_rlcard(1000)
    assert results.mean() > 1.96 * results.std() / len(results) ** 0.5


@pytest.mark.skipif(not COMPILED, reason="hundreds of deals")
@pytest.mark.parametrize("options", [{}, RLCARD | {"returns": "win_loss"}, {"ambiguous_kickers": True}])
def test_the_rule_agent_beats_random_play(options):
    total = 0.0
    for seed in range(200):
        state = GAME.new_state(seed=seed, **options)
        seat = seed % 3
        while not state.is_terminal:
            state.apply(state.policy_action("heuristic" if state.current_player == seat else "random", seed))
        total += state.returns[seat]
    assert total > 0


def test_a_refused_four_with_both_jokers_names_what_forbids_it():
    state = GAME.new_state(seed=1, bidding="none", four_with_two=False, rocket_kicker=True)
    play = next(k for k, play in enumerate(PLAYS) if play_text(k) == "3 3 3 3 + B R")
    assert "(rules.md 4.1)" in state.explain_illegal(play)
