"""Tests of Skat: an oracle, OpenSpiel, worlds, the score, and what the scenario files leave out."""

import collections
import itertools
import random

import numpy as np
import pytest
from scipy.special import chdtrc
from skat_oracle import GAMES, LEVELS, Oracle, suit
from skat_oracle import VALUES as ORACLE_VALUES

from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import OptionError
from cardenvs.core.events import NO_LOG, SPECTATOR
from cardenvs.core.game_view import table_texts
from cardenvs.core.kernel import COMPILED
from cardenvs.core.options import fill_rules
from cardenvs.core.record import takes_records
from cardenvs.core.registry import get_game
from cardenvs.games.skat import belief, cards
from cardenvs.games.skat.scoring import score_game, score_ramsch
from cardenvs.games.skat.state import (
    ANNOUNCE_0,
    BID_VALUES,
    GRAND,
    HAND,
    NAME_0,
    NUM_CARDS,
    PACK,
    PASS,
    STATE,
    TAKE,
    VALUE_0,
    YES,
)

GAME = get_game("skat_v0")
OPTIONS = {
    "bidding": ["value", "value", "value", "openspiel"], "jump_bids": [True, False],
    "all_pass": ["thrown_in", "ramsch"], "ramsch_skat": ["last_trick", "loser", "out"],
    "ramsch_tie": ["both", "last_trick"], "scoring": ["plain", "seeger_fabian"], "deals": [1, 1, 2, 3],
}  # fmt: skip


def hand_of(text):
    """The cards of a text such as "TKQc A9d"."""
    return [rank + group[-1] for group in text.split() for rank in group[:-1]]


def played(hands, *actions, **options):
    """The state after some actions on hands of all players and the skat, as in "TKQc A9d"."""
    deck = " ".join(card for hand in hands for card in hand_of(hand))
    state = GAME.new_state(seed=1, deck=deck, **options)
    for text in actions:
        state.apply(action_of(text))
    return state


def action_of(text):
    """The id of an action in the words of the oracle: a number, a card or a word."""
    if isinstance(text, int):
        return VALUE_0 + BID_VALUES.index(text)
    if text in PACK.labels:
        return PACK.labels.index(text)
    if text in GAMES:
        return NAME_0 + GAMES.index(text)
    if text in LEVELS:
        return ANNOUNCE_0 + LEVELS.index(text)
    return {"pass": PASS, "yes": YES, "take the skat": TAKE, "play hand": HAND}[text]


def text_of(action):
    """An action in the words of the oracle."""
    if action < NUM_CARDS:
        return PACK.labels[action]
    if VALUE_0 <= action < TAKE:
        return BID_VALUES[action - VALUE_0]
    if NAME_0 <= action < ANNOUNCE_0:
        return GAMES[action - NAME_0]
    if action >= ANNOUNCE_0:
        return LEVELS[action - ANNOUNCE_0]
    return {PASS: "pass", YES: "yes", TAKE: "take the skat", HAND: "play hand"}[action]


def legal(state):
    return [text_of(action) for action in state.legal_actions()]


def labels(bits):
    return [PACK.labels[card] for card in PACK.cards_of(bits)]


def random_options(chooser):
    chosen = {name: chooser.choice(values) for name, values in OPTIONS.items()}
    if chosen["bidding"] == "openspiel":
        chosen |= {"jump_bids": True, "all_pass": "thrown_in", "scoring": "plain"}
    return chosen


def random_action(state, chooser):
    """A random action with short auctions, in which many values would be passed over otherwise."""
    actions = state.legal_actions()
    if PASS in actions and chooser.random() < 0.5:
        return PASS
    if len(actions) > 1 and VALUE_0 <= actions[1] < TAKE and chooser.random() < 0.8:
        return chooser.choice(actions[1:6])
    return chooser.choice(actions)


# ---------------------------------------------------------------------------------------------------------------
# The oracle


def check_against_oracle(seed):
    """Play a random game on both; returns what was played in its last deal."""
    chooser = random.Random(seed)
    options = random_options(chooser)
    state, oracle = GAME.new_state(seed=seed, **options), Oracle(**options)
    begin_deal(state, oracle)
    while not state.is_terminal:
        player, actions = oracle.legal()
        assert state.current_player == player
        assert sorted(legal(state), key=str) == sorted(actions, key=str)
        is_legal = set(state.legal_actions())
        for action in chooser.sample(range(109), 5):
            assert (state.explain_illegal(action) == "") == (action in is_legal)
        action = random_action(state, chooser)
        is_over = oracle.act(text_of(action))
        state.apply(action)
        if is_over:
            assert state.returns == pytest.approx([float(value) for value in oracle.returns])
            oracle.done += 1
            assert state.is_terminal == (oracle.done == options["deals"])
            if not state.is_terminal:
                begin_deal(state, oracle)
    return oracle.game, oracle.hand_game, oracle.level, oracle.soloist


def begin_deal(state, oracle):
    oracle.begin_deal([labels(bits) for bits in state.record.hands], labels(state.record.skat))


def test_values_are_those_that_games_can_have():
    assert list(BID_VALUES) == ORACLE_VALUES


@pytest.mark.parametrize("seed", range(4))
def test_oracle_agrees(seed):
    number = 40 if COMPILED else 5
    for k in range(number):
        check_against_oracle(number * seed + k)


@pytest.mark.rotating
def test_oracle_agrees_on_games_of_all_kinds():
    seen = collections.Counter(check_against_oracle(seed) for seed in range(1000, 1600 if COMPILED else 1030))
    if COMPILED:
        games = {game for game, *_ in seen}
        assert games >= set(GAMES)
        assert any(soloist is None and game for game, *_, soloist in seen)
        assert {level for *_, level, _ in seen} >= set(LEVELS)


@pytest.mark.slow
def test_oracle_agrees_on_many_games():
    for seed in range(2000, 12_000):
        check_against_oracle(seed)


# ---------------------------------------------------------------------------------------------------------------
# OpenSpiel, whose games have the ids 33 to 38


def their_deal(pyspiel, chooser):
    """A deal of OpenSpiel, and the same one here."""
    theirs = pyspiel.load_game("skat").new_initial_state()
    while theirs.is_chance_node():
        theirs.apply_action(chooser.choice(theirs.legal_actions()))
    return theirs


def deck_of(theirs):
    """The hands and the skat of a deal of OpenSpiel, which deals 3 each, 2 to the skat, 4 each, 3 each."""
    order = theirs.history()[:NUM_CARDS]
    hands = [[*order[3 * p :][:3], *order[11 + 4 * p :][:4], *order[23 + 3 * p :][:3]] for p in range(3)]
    return [card for hand in hands for card in hand] + order[9:11]


def their_action(action):
    """The id of an action there: games follow upon pass."""
    return action - NAME_0 + PASS + 1 if action >= NAME_0 else action


def check_against_openspiel(seed):
    """Play a random deal on both; returns the game."""
    pyspiel, chooser = pytest.importorskip("pyspiel"), random.Random(seed)
    theirs = their_deal(pyspiel, chooser)
    deck = " ".join(PACK.labels[card] for card in deck_of(theirs))
    ours = GAME.new_state(seed=1, deck=deck, bidding="openspiel")
    game = None
    while not theirs.is_terminal():
        assert not ours.is_terminal
        assert theirs.current_player() == ours.current_player
        is_naming = PASS in ours.legal_actions()
        to_theirs = {action: their_action(action) for action in ours.legal_actions()}
        assert sorted(to_theirs.values()) == theirs.legal_actions()
        action = chooser.choice(list(to_theirs))
        if is_naming and action != PASS:
            game = text_of(action)
        ours.apply(action)
        theirs.apply_action(to_theirs[action])
    assert ours.is_terminal
    assert ours.returns == pytest.approx(theirs.returns(), abs=1e-9)
    return game


def test_deals_agree_with_openspiel():
    found = collections.Counter(check_against_openspiel(seed) for seed in range(150 if COMPILED else 20))
    if COMPILED:
        assert set(found) >= set(GAMES)


@pytest.mark.slow
def test_many_deals_agree_with_openspiel():
    for seed in range(1000, 6000):
        check_against_openspiel(seed)


# ---------------------------------------------------------------------------------------------------------------
# The value and the score

SPADES_WITHOUT_ONE = "Js Jh ATKQ7s ATh Ad", "78d"


def score(game, dealt, points, tricks, bid=18, took_skat=True, announced="nothing", **options):
    """The scores after a game of player 0, who has been dealt ten cards and the skat, with points and tricks in all."""
    states = np.zeros(1, STATE)
    fill_rules(states["rules"], GAME.make_options(**options))
    s = states[0]
    assert [len(hand_of(text)) for text in dealt] == [10, 2]
    hand, skat = (sum(1 << PACK.labels.index(card) for card in hand_of(text)) for text in dealt)
    s["played"], s["hands"][0], s["skat"] = -1, hand, skat
    s["soloist"], s["game"], s["took_skat"], s["announced"] = 0, GAMES.index(game), took_skat, LEVELS.index(announced)
    s["bids"][0] = BID_VALUES.index(bid) + 1
    s["tricks_won"][0], s["points"][0] = tricks, points - cards.points_in(skat)
    SCORE_GAME(s, NO_LOG)
    total = s["scores"].sum()
    assert s["rewards"] == pytest.approx(s["scores"] * 1.5 - total / 2)
    return s["scores"].tolist()


SCORE_GAME = takes_records(score_game)


@pytest.mark.parametrize(
    ("game", "dealt", "expected"),
    [
        ("diamonds", ("Jc Js AT7d ATh ATs 7c", "98c"), 27),  # with 2
        ("spades", SPADES_WITHOUT_ONE, 22),
        ("diamonds", ("TKQ987d As Kh Kc Ks", "Ah Ac"), 54),  # without 5
        ("clubs", ("ATKQ9d ATKQ9h", "87s"), 144),  # without 11
        ("grand", ("AT7d AT7h AT7s Ac", "89s"), 120),  # without 4
        ("grand", ("Jc Js Jh Jd TKQ98d As", "7d 7s"), 120),  # with 4
        ("clubs", ("Jc Js Jh Jd ATKQ98c", "7c As"), 144),  # with 11
        ("clubs", ("Jc Js Jh Jd ATKQ98c", "As Ad"), 132),  # with 10
    ],
)
def test_3_tops(game, dealt, expected):
    assert score(game, dealt, 61, 6)[0] == expected
    assert score(game, dealt, 61, 6, took_skat=False)[0] > expected


def test_4_the_highest_values():
    four = "Jc Js Jh Jd ATKQ98c", "7c As"
    assert score("grand", four, 120, 10, 264, False, "ouvert")[0] == 264
    assert score("clubs", four, 120, 10, 216, False, "ouvert")[0] == 216
    assert score("hearts", ("Jc Jh ATKQ7h AT7s", "78c"), 95, 8, 18, False, "schneider")[0] == 50


@pytest.mark.parametrize(
    ("points", "tricks", "expected"),
    [(61, 6, 22), (60, 6, -44), (90, 8, 33), (89, 8, 22), (120, 10, 44), (31, 4, -44), (30, 3, -66), (10, 0, -88)],
)
def test_5_schneider_and_schwarz_count_for_both(points, tricks, expected):
    assert score("spades", SPADES_WITHOUT_ONE, points, tricks, 22) == [expected, 0, 0]


def test_6_and_7_who_has_overbid():
    assert score("spades", SPADES_WITHOUT_ONE, 75, 7, 33)[0] == -66
    assert score("spades", SPADES_WITHOUT_ONE, 92, 8, 33)[0] == 33
    assert score("hearts", ("Jh Jd ATKQ7h AT7s", "Jc 8s"), 100, 8, 48)[0] == -100
    assert score("hearts", ("Jh Jd ATKQ7h AT7s", "Jc 8s"), 100, 8, 30)[0] == 30


def test_8_what_was_announced_must_be_made():
    hand = "Jc Jh ATKQ7h AT7s", "78c"
    assert score("hearts", hand, 88, 8, 18, False, "schneider")[0] == -100
    assert score("hearts", hand, 119, 9, 18, False, "schwarz")[0] == -2 * 10 * (1 + 1 + 1 + 4)
    assert score("hearts", hand, 120, 10, 18, False, "schwarz")[0] == 10 * (1 + 1 + 1 + 4)


@pytest.mark.parametrize(
    ("took_skat", "announced", "tricks", "expected"),
    [(True, "nothing", 0, 23), (True, "nothing", 1, -46), (True, "ouvert", 0, 46), (False, "nothing", 1, -70),
     (False, "nothing", 0, 35), (False, "ouvert", 0, 59)],
)  # fmt: skip
def test_9_null(took_skat, announced, tricks, expected):
    assert score("null", ("789TJd 789Th 7s", "78c"), 11 * tricks, tricks, 18, took_skat, announced)[0] == expected


def test_14_seeger_fabian():
    clubs = "Jc Js A789c ATd ATs", "7d 7s"
    assert score("clubs", clubs, 95, 8, scoring="seeger_fabian") == [48 + 50, 0, 0]
    assert score("spades", SPADES_WITHOUT_ONE, 60, 6, scoring="seeger_fabian") == [-94, 40, 40]


# ---------------------------------------------------------------------------------------------------------------
# Whole deals

DEAL = ["Jc Js ATKc ATh As 78d", "Jh 89c KQs KQh ATKd", "Jd 7Qc T9s 89h 9Qd 8s", "7h 7s"]
SKAT_TAKEN = ("pass", "pass", 18, "take the skat", "7d", "8d")


def play_out(state, choose):
    """Play to the end; `choose` is max or min, by the strength of legal cards, trumps above all."""
    while not state.is_terminal:
        s = state.record

        def strength(card, s=s):
            is_trump = cards.RANKING.suit_of(s, card) == cards.TRUMPS
            return is_trump, int(cards.RANKING.height(s, card)), card

        state.apply(choose(state.legal_actions(), key=strength))
    return state


@pytest.mark.parametrize(("game", "points", "value"), [("clubs", 113, 48), ("grand", 113, 96), ("hearts", 117, 40)])
def test_12_the_strongest_cards(game, points, value):
    state = play_out(played(DEAL, *SKAT_TAKEN, game), max)
    s = state.record
    assert s.points[0] + cards.points_in(s.skat) == points
    assert state.returns == [value, -value / 2, -value / 2]
    theirs = play_out(played(DEAL, game, "7d", "8d", bidding="openspiel"), max)
    assert theirs.returns == pytest.approx([(points - 60) / 120, (60 - points) / 240, (60 - points) / 240])


def test_13_ramsch_with_the_weakest_cards():
    state = play_out(played(DEAL, "pass", "pass", "pass", all_pass="ramsch"), min)
    assert state.returns == [-206, 103, 103]
    assert state.record.points.tolist()[:2] == [103, 17]
    assert "player_0 has 103 card points." in state.recap(SPECTATOR)
    assert "7♥ was in the skat." in state.recap(SPECTATOR)


# ---------------------------------------------------------------------------------------------------------------
# Worlds


def positions(seed, number, most_hidden=7):
    """Yield some late positions as (state, oracle, viewer, cards that the viewer does not see)."""
    chooser = random.Random(seed)
    while number:
        options = random_options(chooser) | {"deals": 1}
        state, oracle = GAME.new_state(seed=chooser.getrandbits(30), **options), Oracle(**options)
        begin_deal(state, oracle)
        viewer, plies = chooser.randrange(3), chooser.randrange(18, 30)
        while not state.is_terminal and len(oracle.tricks) * 3 + len(oracle.trick) < plies:
            action = random_action(state, chooser)
            oracle.act(text_of(action))
            state.apply(action)
        hidden = [card for place in hidden_places(oracle, viewer).values() for card in place]
        if not state.is_terminal and oracle.stage == "play" and 0 < len(hidden) <= most_hidden:
            number -= 1
            yield state, oracle, viewer


def hidden_places(oracle, viewer):
    """Hands that the viewer does not see, and the skat if it is hidden from them (9.1)."""
    is_ouvert = oracle.level == "ouvert"
    places = {p: oracle.hands[p] for p in range(3) if p != viewer and not (is_ouvert and p == oracle.soloist)}
    if viewer != oracle.soloist or oracle.hand_game:
        places["skat"] = oracle.skat
    return places


def plays_of(oracle):
    """All plays of the deal: (player, card, suit led), in order."""
    leader, found = oracle.f, []
    for winner, trick in [*oracle.tricks, (None, oracle.trick)]:
        for k, card in enumerate(trick):
            found.append(((leader + k) % 3, card, suit(oracle.game, trick[0])))
        leader = winner
    return found


def worlds_of(oracle, viewer):
    """All ways to deal what the viewer does not see in which every play was legal."""
    places = hidden_places(oracle, viewer)
    plays = plays_of(oracle)
    hidden = sorted(card for place in places.values() for card in place)
    worlds = []
    for order in splits(hidden, [len(place) for place in places.values()]):
        world = dict(zip(places, order, strict=True))
        held = {p: set(world.get(p, ())) for p in range(3)}
        for player, card, led in reversed(plays):
            if suit(oracle.game, card) != led and any(suit(oracle.game, other) == led for other in held[player]):
                break
            held[player].add(card)
        else:
            worlds.append(order)
    return worlds


def splits(cards_left, sizes):
    """All ways to split cards into sets of some sizes."""
    if not sizes:
        yield ()
        return
    for chosen in itertools.combinations(cards_left, sizes[0]):
        rest = [card for card in cards_left if card not in chosen]
        for others in splits(rest, sizes[1:]):
            yield (frozenset(chosen), *others)


def uniformity(state, oracle, worlds, viewer, seed, each):
    """The p-value of twins being equally likely among all worlds that fit."""
    counts = collections.Counter()
    for k in range(each * len(worlds)):
        s = state.determinize(viewer, seed + k).record
        counts[tuple(
            frozenset(labels(s.skat if place == "skat" else s.hands[place])) for place in hidden_places(oracle, viewer)
        )] += 1  # fmt: skip
    assert set(counts) <= set(worlds)
    if len(worlds) == 1:
        return 1.0
    return float(chdtrc(len(worlds) - 1, sum((counts[world] - each) ** 2 / each for world in worlds)))


def check_worlds(seed, number, most=60, each=30 if COMPILED else 2):
    values, with_skat = [], 0
    for k, (state, oracle, viewer) in enumerate(positions(seed, number)):
        worlds = worlds_of(oracle, viewer)
        assert worlds
        with_skat += "skat" in hidden_places(oracle, viewer)
        if len(worlds) <= most:
            values.append(uniformity(state, oracle, worlds, viewer, 1000 * k, each))
    assert with_skat > number / 5
    assert len(values) > number / 3
    assert min(values) > 1e-5 / len(values)


def test_worlds_are_equally_likely_among_all_that_fit():
    check_worlds(1, 30 if COMPILED else 8)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_worlds_of_many_positions(seed):
    check_worlds(10 + seed, 300)


# ---------------------------------------------------------------------------------------------------------------
# What is seen


def test_9_1_who_sees_the_skat():
    state = played(DEAL, "pass", "pass", 18)
    assert [skat_seen(state, viewer) for viewer in range(3)] == [["?", "?"]] * 3
    state.apply(action_of("take the skat"))
    assert "player_0 takes 7♥ from the skat." in state.recap(0)
    assert "player_0 takes a card from the skat." in state.recap(1)
    for text in ("7d", "8d"):
        state.apply(action_of(text))
    assert [skat_seen(state, viewer) for viewer in (0, 1, SPECTATOR)] == [["7♦", "8♦"], ["?", "?"], ["?", "?"]]
    assert state.facts(0)["skat"] == ["7♦", "8♦"]
    assert state.facts(1)["skat"] is None


def test_9_1_by_hand_nobody_sees_the_skat_before_the_end():
    state = played(DEAL, "pass", "pass", 18, "play hand", "clubs", "nothing")
    assert skat_seen(state, 0) == ["?", "?"]
    play_out(state, max)
    assert [skat_seen(state, viewer) for viewer in (0, 1, SPECTATOR)] == [["7♥", "7♠"]] * 3


def test_9_1_after_a_deal_that_is_thrown_in_nobody_sees_the_skat():
    assert skat_seen(played(DEAL, "pass", "pass", "pass"), 0) == ["?", "?"]


def test_4_4_the_hand_is_open_from_the_announcement_on():
    state = played(DEAL, "pass", "pass", 18, "play hand", "clubs")
    assert table_texts(state.view(1))["piles"]["hand"][0] == ["?"] * 10
    state.apply(action_of("ouvert"))
    assert "?" not in table_texts(state.view(1))["piles"]["hand"][0]
    assert state.determinize(1, 5).record.hands[0] == state.record.hands[0]
    assert state.facts(1)["game"] == "clubs hand ouvert"


def skat_seen(state, viewer):
    return table_texts(state.view(viewer))["piles"]["skat"]


# ---------------------------------------------------------------------------------------------------------------
# Leaving, deals and options


@pytest.mark.parametrize(
    ("actions", "player", "price"),
    [
        ((), 1, 540),
        ((18, "pass", "pass"), 1, 540),
        ((18, "pass", "pass", "take the skat", "7h", "7s", "grand"), 0, 24 * (4 + 1 + 2) / 2),
        (("pass", "pass", 18, "take the skat", "7d", "8d", "clubs"), 0, 2 * 12 * (11 + 1 + 2)),
        (("pass", "pass", 18, "play hand", "null", "ouvert", "Jc"), 1, 59 / 2),
        ((264, "pass", "pass", "take the skat", "7h", "7s", "hearts", "Ac"), 1, 540),
    ],
)
def test_8_1_leaving(actions, player, price):
    state = played(DEAL, *actions)
    while state.current_player != player:
        state.apply(state.legal_actions()[0])
    state.apply(FORFEIT + player)
    assert state.is_terminal
    assert state.returns[player] == -price
    assert sum(state.returns) == 0


def test_8_1_leaving_ramsch_and_matches():
    ramsch = played(DEAL, "pass", "pass", "pass", all_pass="ramsch")
    ramsch.apply(FORFEIT + 0)
    assert ramsch.returns == [-240, 120, 120]
    match = GAME.new_state(seed=1, deals=3, scoring="seeger_fabian")
    match.apply(FORFEIT + 1)
    assert match.returns == [945, -1890, 945]


def test_2_3_the_deal_moves_on_and_returns_add_up():
    state, dealers, total = GAME.new_state(seed=4, deals=5), [], [0.0, 0.0, 0.0]
    chooser = random.Random(4)
    while not state.is_terminal:
        if len(dealers) < state.record.num_deals:
            dealers.append(int(state.record.dealer))
        state.apply(random_action(state, chooser))
        total = [a + b for a, b in zip(total, state.rewards, strict=True)]
    assert dealers == [2, 0, 1, 2, 0]
    assert state.returns == total


@pytest.mark.parametrize(
    "options",
    [{"jump_bids": False}, {"all_pass": "ramsch"}, {"scoring": "seeger_fabian"}],
)
def test_10_options_that_do_not_fit(options):
    with pytest.raises(OptionError, match="with bidding=openspiel"):
        GAME.make_options(bidding="openspiel", **options)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [-60, -60, 0]),
        ({"ramsch_tie": "last_trick"}, [0, -60, 0]),
        ({"ramsch_skat": "out"}, [-60, 0, 0]),
    ],
)
def test_7_3_ramsch_with_equal_points(options, expected):
    states = np.zeros(1, STATE)
    fill_rules(states["rules"], GAME.make_options(all_pass="ramsch", **options))
    s = states[0]
    s["soloist"], s["game"], s["skat"] = -1, GRAND, 1 << PACK.labels.index("Td")
    s["tricks_won"] = 6, 3, 1
    s["points"][0], s["points"][1] = 60, 50
    SCORE_RAMSCH(s, 1, NO_LOG)
    assert s["scores"].tolist() == expected


SCORE_RAMSCH = takes_records(score_ramsch)


@pytest.mark.parametrize(
    ("options", "without", "expected"),
    [({}, False, -80), ({"ramsch_skat": "loser"}, True, -2 * 80), ({"ramsch_skat": "out"}, True, -2 * 70)],
)
def test_7_1_and_7_2_ramsch(options, without, expected):
    states = np.zeros(1, STATE)
    fill_rules(states["rules"], GAME.make_options(all_pass="ramsch", **options))
    s = states[0]
    s["soloist"], s["game"], s["skat"] = -1, GRAND, 1 << PACK.labels.index("Td")
    s["tricks_won"] = 8, 1 + without, 1 - without
    s["points"][0], s["points"][1] = 70, 40
    SCORE_RAMSCH(s, 0, NO_LOG)
    assert s["scores"].tolist() == [expected, 0, 0]


def test_7_1_all_tricks():
    states = np.zeros(1, STATE)
    fill_rules(states["rules"], GAME.make_options(all_pass="ramsch"))
    s = states[0]
    s["soloist"], s["tricks_won"][2], s["points"][2] = -1, 10, 110
    SCORE_RAMSCH(s, 2, NO_LOG)
    assert s["scores"].tolist() == [0, 0, 120]
    assert s["rewards"].tolist() == [-60, -60, 120]


# ---------------------------------------------------------------------------------------------------------------
# The rule agent


def chosen(state):
    return text_of(state.policy_action("heuristic", 0))


STRONG = ["Jc Js ATK9c As ATh 7d", "Jh Jd Qc KQ9s 789h 8d", "87c T87s KQh 9TAd", "Kd Qd"]
WEAK_FIRST = [STRONG[2], STRONG[1], STRONG[0], STRONG[3]]


def test_rule_agent_bids_what_a_hand_is_worth():
    assert chosen(played(STRONG)) == "pass"
    assert chosen(played(STRONG, 18)) == "yes"
    assert chosen(played(STRONG, 77)) == "pass"  # clubs with 2 are worth 36, grand 72
    assert chosen(played(WEAK_FIRST, "pass")) == 18


def test_rule_agent_names_its_long_suit_and_lays_losers_away():
    state = played(STRONG, "pass", "pass", 18)
    while state.phase != "play":
        state.apply(state.policy_action("heuristic", 0))
    assert state.facts(0)["game"] in ("clubs", "grand", "grand hand")
    assert not state.record.took_skat or not {"Ac", "Jc", "Js", "As", "Ah"} & set(labels(state.record.skat))


def test_rule_agent_puts_points_on_tricks_of_a_partner_only():
    hands = ["Jc Js KQ98c 9s AKh 7d", "AK7s Jh ATKQ8d 7h", "TQ8s 9Qh 7ATc 9d Jd", "8h Th"]
    clubs = ("pass", "pass", 18, "take the skat", "8h", "Th", "clubs")
    assert chosen(played(hands, *clubs, "9s", "As")) == "Ts"
    assert chosen(played(hands, *clubs, "Jc", "Jh")) == "7c"
    assert chosen(played(hands, *clubs, "Ah", "7h")) == "9h"


def test_rule_agent_beats_random_play():
    total = 0.0
    for seed in range(60 if COMPILED else 4):
        for seat in range(3):
            state, chooser = GAME.new_state(seed=seed), random.Random(seed)
            while not state.is_terminal:
                is_ours = state.current_player == seat
                state.apply(state.policy_action("heuristic", 0) if is_ours else chooser.choice(state.legal_actions()))
            total += state.returns[seat]
    assert total > 0


def test_likelier_worlds_give_jacks_to_who_bids_and_are_the_same_for_twins():
    state = played([STRONG[2], STRONG[1], STRONG[0], STRONG[3]], "pass", 36, "pass")
    twin, likely, plain = state.determinize(1, 3), 0, 0
    for seed in range(60):
        first, second = state.records.copy(), twin.records.copy()
        with np.errstate(over="ignore"):  # of random numbers, without the compiler
            belief.sample_belief(first[0], 1, seed)
            belief.sample_belief(second[0], 1, seed)
        assert first["hands"].tolist() == second["hands"].tolist()
        likely += count_jacks(first["hands"][0, 2])
        plain += count_jacks(state.determinize(1, seed).record.hands[2])
    assert likely > plain


def count_jacks(hand):
    return (int(hand) & int(cards.JACKS)).bit_count()
