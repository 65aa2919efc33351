"""Tests of Cribbage: counting, paragraphs that the scenario files leave out, an oracle, OpenSpiel, worlds, agent."""

import collections
import itertools
import random

import numpy as np
import pytest
from cribbage_oracle import RANKS, Oracle
from cribbage_oracle import play as oracle_play
from cribbage_oracle import show as oracle_show
from scipy.special import chdtrc

from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import OptionError
from cardenvs.core.events import SPECTATOR
from cardenvs.core.game_view import table_texts
from cardenvs.core.kernel import COMPILED, kernel
from cardenvs.core.record import packed
from cardenvs.core.registry import get_game
from cardenvs.games.cribbage import discards
from cardenvs.games.cribbage.counting import play_points, rank_points, show_points
from cardenvs.games.cribbage.rules import most_points
from cardenvs.games.cribbage.state import COUNT_0, FITTING, GO, LAID_EACH, MAX_PLAYED, PACK, VALUES, crib_of

GAME = get_game("cribbage_v0")


def cards(text):
    return [PACK.parse(card) for card in text.split()]


def bits(found):
    return np.int64(sum(1 << card for card in found))


def labels(set_):
    return [PACK.labels[card] for card in PACK.cards_of(set_)]


def played(deck=None, *texts, **options):
    """The state after some actions on an explicit deck: hands, the card dealt to the crib if any, the starter."""
    state = GAME.new_state(seed=1, deck=deck, **options)
    for text in texts:
        state.apply(state.action_from_label(text))
    return state


def with_scores(state, *scores):
    state._states["scores"][0, : len(scores)] = scores
    return state


# ---------------------------------------------------------------------------------------------------------------
# Counting


@pytest.mark.parametrize(
    ("hand", "starter", "in_hand", "in_crib"),
    [
        ("5c 5d 5h Js", "5s", 29, 29), ("5c 5d 5h Ks", "5s", 28, 28), ("5c 5d 5h Js", "Ts", 21, 21),
        ("4c 5d 6h 6s", "5c", 24, 24), ("3c 3d 3h 3s", "9c", 24, 24), ("7c 7d 8h 8s", "9c", 24, 24),
        ("2c 4c 6c 8c", "Tc", 5, 5), ("2c 4c 6c 8c", "Td", 4, 0),
        ("Ac 2c 3c Jc", "4c", 14, 14), ("Ac 2d 3h 3s", "3c", 15, 15), ("Tc Jd Qh Ks", "5c", 12, 12),
        ("Jc 2d 3h 9s", "8c", 3, 3), ("Jc 2d 3h 9s", "8d", 2, 2), ("Qc Kd Ah 2s", "3c", 7, 7),
        ("2c 4d 6h 8s", "Qc", 0, 0),
    ],
)  # fmt: skip
def test_4_hands_of_the_source(hand, starter, in_hand, in_crib):
    found = [show_points(bits(cards(hand)), PACK.parse(starter), is_crib, 0) for is_crib in (False, True)]
    assert found == [in_hand, in_crib]
    assert oracle_show(hand.split(), starter) == in_hand


def test_4_4_a_crib_flush_of_four():
    hand = bits(cards("2c 4c 6c 8c"))
    assert show_points(hand, PACK.parse("Td"), True, 1) == 4
    assert show_points(hand, PACK.parse("Tc"), True, 1) == 5


def test_4_every_set_of_ranks_agrees_with_the_oracle():
    """Fifteens, pairs and runs do not depend on suits: all 6,175 sets of five ranks, no more than four of each."""
    number = 0
    for ranks in itertools.combinations_with_replacement(range(13), 5):
        if ranks[0] != ranks[4]:
            hand = [rank + 13 * ranks[:k].count(rank) for k, rank in enumerate(ranks)]
            texts = [RANKS[rank] + str(k) for k, rank in enumerate(ranks)]  # neither flush nor nobs
            assert rank_points(bits(hand)) == oracle_show(texts[:4], texts[4]), texts
            number += 1
    assert number == 6175


def test_4_hands_with_suits_agree_with_the_oracle():
    chooser = random.Random(0)
    for _ in range(3000 if COMPILED else 300):
        suits = chooser.sample("cdhs", chooser.choice([1, 2, 4]))
        five = chooser.sample([rank + suit for rank in RANKS for suit in suits], 5)
        for is_crib, flush in itertools.product((False, True), ("five", "four")):
            points = show_points(bits(map(PACK.parse, five[:4])), PACK.parse(five[4]), is_crib, int(flush == "four"))
            assert points == oracle_show(five[:4], five[4], is_crib, flush), five


@kernel
def _distribution(found):
    """Count the points of all hands of four with each starter."""
    one = np.int64(1)
    for a in range(52):
        for b in range(a):
            for c in range(b):
                for d in range(c):
                    hand = one << a | one << b | one << c | one << d
                    for starter in range(52):
                        if not hand >> starter & 1:
                            found[show_points(hand, starter, False, 0)] += 1


@pytest.mark.skipif(not COMPILED, reason="millions of hands")
def test_4_6_all_hands():
    found = np.zeros(30, np.int64)
    _distribution(found)
    assert found.sum() == 12_994_800
    assert found @ np.arange(30) / found.sum() == pytest.approx(4.769152, abs=1e-6)
    assert found[0] == 1_009_008
    assert found[29] == 4
    assert [k for k in range(30) if found[k] == 0] == [19, 25, 26, 27]


_SEQUENCE = packed([("sequence", "i1", (MAX_PLAYED,)), ("count_start", "i1"), ("total", "i1")])


def points_of_last(texts):
    record = np.zeros(1, _SEQUENCE)
    found = cards(texts)
    record["sequence"][0, : len(found)] = found
    return play_points(record[0], len(found), sum(int(VALUES[card]) for card in found))


@pytest.mark.parametrize(
    ("texts", "points"),
    [("7c 8d", 2), ("7c 8d 9h", 3), ("5c 5d 5h", 8), ("4c 4d 4h 4s", 12), ("Kc Jd", 0), ("3c 2d 4h 5s", 4),
     ("4c 5d 6h 4s", 3), ("3c 4d 3h 5s", 5), ("6c 4d 5h 6d", 3), ("8c 7d 7h 6s", 0), ("2c 2d 3h 4s 3c", 0),
     ("Ac 3d 2h 4s 5c 7d 6s", 7)],
)  # fmt: skip
def test_3_5_points_of_the_play(texts, points):
    assert points_of_last(texts) == points == oracle_play(texts.split())


def test_3_5_random_counts_agree_with_the_oracle():
    chooser, seen = random.Random(1), collections.Counter()
    for _ in range(5000 if COMPILED else 300):
        left, count = chooser.sample(PACK.labels[: chooser.choice([13, 52])], 10), []
        while left and sum(min(RANKS.index(card[0]) + 1, 10) for card in [*count, left[-1]]) <= 31:
            count.append(left.pop())
        points = points_of_last(" ".join(count))
        assert points == oracle_play(count), count
        seen[points] += 1
    assert len(seen) >= 6


# ---------------------------------------------------------------------------------------------------------------
# Paragraphs


def test_options_that_do_not_fit():
    with pytest.raises(OptionError, match="first_dealer=2 is not one of 2 players"):
        GAME.make_options(first_dealer=2)
    with pytest.raises(OptionError):
        GAME.make_options(target=100)


def play_out(state, deals=1):
    """Play random actions until `deals` more deals have begun, or the game is over."""
    number, chooser = int(state.record.num_deals), random.Random(5)
    while not state.is_terminal and state.record.num_deals < number + deals:
        state.apply(chooser.choice(state.legal_actions()))
    return state


@pytest.mark.parametrize(("players", "each", "in_crib"), [(2, 6, 0), (3, 5, 1), (4, 5, 0)])
def test_2_1_cards_are_dealt_and_the_deal_goes_round(players, each, in_crib):
    state = GAME.new_state(seed=1, num_players=players, first_dealer=1)
    assert [int(hand).bit_count() for hand in state.record.hands[:players]] == [each] * players
    assert int(crib_of(state.record)).bit_count() == in_crib
    dealers = []
    for _ in range(4):
        dealers.append(int(state.record.dealer))
        play_out(state)
    assert dealers == [(1 + k) % players for k in range(4)]


def test_2_2_players_lay_away_one_after_the_other():
    state = GAME.new_state(seed=1, num_players=3)
    for p in range(3):
        assert (state.current_player, state.phase, len(state.legal_actions())) == (p, "lay_away", 5)
        assert "cards are laid away first" in state.explain_illegal(GO)
        state.apply(state.legal_actions()[0])
    assert state.phase == "play"
    assert int(crib_of(state.record)).bit_count() == 4


HEELS = "5c 9d 2h Ks 2c Td  4c 5d 6h 7s Qc 8h  Jc"
AWAY = "lay away 2c", "lay away Td", "lay away Qc", "lay away 8h"


@pytest.mark.parametrize("heels", [0, 1, 2])
def test_2_4_heels(heels):
    assert played(HEELS, *AWAY, heels=heels).facts(0)["scores"] == [heels, 0]


def test_3_1_a_card_may_not_take_the_count_past_31():
    state = played(
        "Kc Qc Jc Tc 2c 3c  Kd Qd Jd Td 2d 3d  9s", *(f"lay away {card}" for card in ("2c", "3c", "2d", "3d"))
    )
    for text in ("play Kd", "play Kc", "play Qd"):
        state.apply(state.action_from_label(text))
    assert state.legal_actions() == [GO]
    assert "past 31" in state.explain_illegal(PACK.parse("Qc"))
    assert "not in hand" in state.explain_illegal(PACK.parse("Ac"))


def test_3_2_a_player_who_can_play_must():
    state = played(HEELS, *AWAY)
    assert "must" in state.explain_illegal(GO)


def test_3_3_players_may_be_left_out_without_asking():
    deck = "Kc Qc Jc Tc 2c 3c  Kd Qd Jd Td 2d 3d  9s"
    away = [f"lay away {card}" for card in ("2c", "3c", "2d", "3d")]
    state = played(deck, *away, "play Kd", "play Kc", "play Qd", explicit_go=False)
    assert state.current_player == 0  # after player 1's last card
    assert state.facts(0)["scores"] == [2, 1]
    assert state.facts(0)["count"] == 0
    assert "player_0 says go." in state.recap(1)
    assert state.facts(0)["holds_only_cards_above"] == [1, 1]


def test_4_7_muggins():
    state = played(HEELS, *AWAY, muggins=True, deals="one")
    while state.phase == "play":
        state.apply(state.legal_actions()[-1])
    before = state.facts(0)["scores"]
    assert state.current_player == 1  # 4 5 6 7 with J: 4 for the run, 15 three times
    assert "count your cards" in state.explain_illegal(GO)
    hand = oracle_show(["4c", "5d", "6h", "7s"], "Jc")
    state.apply(COUNT_0 + hand - 3)
    assert state.facts(0)["scores"] == [before[0] + 3, before[1] + hand - 3]
    own = oracle_show(["5c", "9d", "2h", "Ks"], "Jc")
    state.apply(COUNT_0 + own + 2)
    assert state.facts(0)["scores"] == [before[0] + 3 + own, before[1] + hand - 3 + 2]
    assert sorted(table_texts(state.view(1))["piles"]["crib"]) == sorted(["2♣", "10♦", "Q♣", "8♥"])
    crib = oracle_show(["2c", "Td", "Qc", "8h"], "Jc", True)
    state.apply(COUNT_0 + crib)
    assert state.is_terminal
    assert state.returns[0] == state.facts(0)["scores"][0] - state.facts(0)["scores"][1]


def test_4_7_the_next_player_may_win_by_muggins():
    state = with_scores(played(HEELS, *AWAY, muggins=True), 80, 80)
    while state.phase == "play":
        state.apply(state.legal_actions()[-1])
    state._states["scores"][0, :2] = 119, 20
    state.apply(COUNT_0)
    assert state.returns == [1, -1]


SCENARIO_9 = "5c 9d Jh Ks 2c Td  4c 5d 6h 7s Qc 8h  Jc"
PLAYS_9 = [f"play {card}" for card in ("7s", "Jh", "5d", "9d", "4c", "5c", "6h", "Ks")]


@pytest.mark.parametrize(
    ("show_order", "scores", "returns"), [("eldest_first", [118, 126], [-1, 1]), ("seats", [129, 126], [1, -1])]
)
def test_5_1_scenario_10_who_counts_first_wins(show_order, scores, returns):
    state = with_scores(GAME.new_state(seed=1, deck=SCENARIO_9, show_order=show_order), 113, 113)
    for text in (*AWAY, *PLAYS_9):
        assert not state.is_terminal
        state.apply(state.action_from_label(text))
    assert state.is_terminal
    assert state.facts(0)["scores"] == scores
    assert state.returns == returns
    assert table_texts(state.view(1))["piles"]["crib"].count("?") == (2 if show_order == "eldest_first" else 0)


def test_5_1_heels_may_win():
    state = with_scores(GAME.new_state(seed=1, deck=HEELS), 119, 120)
    for text in AWAY:
        state.apply(state.action_from_label(text))
    assert state.is_terminal
    assert state.returns == [1, -1]
    assert state.facts(0)["scores"] == [121, 120]


@pytest.mark.parametrize(
    ("target", "players", "scores", "returns"),
    [(121, 2, (119, 91), [1, -1]), (121, 2, (119, 90), [2, -2]), (121, 2, (119, 61), [2, -2]),
     (121, 2, (119, 60), [3, -3]), (61, 2, (59, 31), [1, -1]), (61, 2, (59, 30), [2, -2]), (61, 2, (59, 0), [2, -2]),
     (121, 3, (119, 60, 100), [2, -1.5, -0.5]), (121, 4, (119, 80), [2, -2, 2, -2])],
)  # fmt: skip
def test_5_2_skunks(target, players, scores, returns):
    decks = {2: HEELS, 3: "5c 9d 2h Ks 2c  4c 5d 6h 7s Qc  5h 5s Tc 3d Ad  Kh  Jc",
             4: "5c 9d 2h Ks 2c  4c 5d 6h 7s Qc  5h 5s Tc 3d Ad  6c 6d 8h 9s Ah  Jc"}  # fmt: skip
    state = with_scores(
        GAME.new_state(seed=1, deck=decks[players], num_players=players, target=target, skunk=True), *scores
    )
    for _ in range(players * int(LAID_EACH[players])):
        state.apply(state.legal_actions()[-1])
    assert state.is_terminal
    assert state.returns == returns


def test_5_3_a_single_deal_is_not_ended_by_the_target():
    state = with_scores(GAME.new_state(seed=1, deals="one"), 130, 10)
    play_out(state)
    assert state.is_terminal
    assert state.record.num_deals == 1
    assert state.returns[0] == state.facts(0)["scores"][0] - state.facts(0)["scores"][1]


def test_6_1_who_sees_what_is_laid_away():
    state = played(HEELS, "lay away 2c", "lay away Td")
    piles = [table_texts(state.view(viewer))["piles"]["crib"] for viewer in (0, 1, SPECTATOR)]
    assert piles == [["2♣", "10♦"], ["?", "?"], ["?", "?"]]


@pytest.mark.parametrize(
    ("options", "expected"),
    [({}, [-1, 1]), ({"skunk": True}, [-3, 3]), ({"skunk": True, "target": 61}, [-2, 2]),
     ({"num_players": 3}, [-0.5, 0.25, 0.25]), ({"num_players": 4}, [-1, 1, -1, 1])],
)  # fmt: skip
def test_7_1_forfeits(options, expected):
    state = GAME.new_state(seed=1, **options)
    state.apply(FORFEIT)
    assert state.returns == expected


def test_7_1_a_single_deal_costs_the_most_there_is():
    state = GAME.new_state(seed=1, deals="one")
    state.apply(FORFEIT)
    most = most_points(state.options)
    assert state.returns == [-most, most]


# ---------------------------------------------------------------------------------------------------------------
# Against the oracle


def begin_deal(oracle, state):
    """Give the oracle the cards of the deal that has just begun."""
    s, n = state.record, state.num_players
    crib = [PACK.labels[s.crib_card]] if s.crib_card >= 0 else []
    oracle.begin_deal([labels(hand) for hand in s.hands[:n]], crib, PACK.labels[s.deck[s.num_dealt]])


def check_against_the_oracle(seed):
    """Play a random game beside the oracle; returns the number of decisions."""
    chooser = random.Random(seed)
    players = chooser.choice([2, 2, 3, 4])
    options = {
        "num_players": players, "target": chooser.choice([61, 121]), "crib_flush": chooser.choice(["five", "four"]),
        "show_order": chooser.choice(["eldest_first", "seats"]), "heels": chooser.choice([0, 1, 2, 2]),
        "explicit_go": chooser.random() < 0.5, "deals": chooser.choice(["game", "game", "one"]),
        "skunk": chooser.random() < 0.5, "muggins": chooser.random() < 0.3, "first_dealer": chooser.randrange(players),
    }  # fmt: skip
    state, oracle, over = GAME.new_state(seed=seed, **options), Oracle(**options), True
    while not state.is_terminal:
        if over:
            begin_deal(oracle, state)
        assert state.current_player == oracle.to_act
        assert state.phase == oracle.phase
        ours = [name_of(action) for action in state.legal_actions()]
        assert sorted(ours, key=str) == sorted(oracle.legal(), key=str)
        k = chooser.randrange(len(ours))
        state.apply(state.legal_actions()[k])
        over = oracle.act(ours[k])
        facts = state.facts(0)
        assert facts["scores"] == oracle.scores
        if not over:
            texts = [PACK.labels[PACK.parse(card)] for card in facts["cards_of_count"]]
            assert texts == oracle.count
            assert [labels(hand) for hand in state.record.hands[:players]] == [
                sorted(hand, key=PACK.parse) for hand in oracle.hands
            ]
    assert over
    assert state.returns == pytest.approx(oracle.returns)
    return state.ply


def name_of(action):
    return "go" if action == GO else PACK.labels[action] if action < GO else action - COUNT_0


@pytest.mark.parametrize("block", range(4))
def test_games_agree_with_the_oracle(block):
    for seed in range(50 * block, 50 * block + (50 if COMPILED else 2)):
        check_against_the_oracle(seed)


@pytest.mark.slow
def test_thousands_of_games_agree_with_the_oracle():
    assert sum(check_against_the_oracle(seed) for seed in range(1000, 6000)) > 400_000


# ---------------------------------------------------------------------------------------------------------------
# Against OpenSpiel

_PASS = 2756


def check_against_openspiel(pyspiel, seed, players):
    """Play a random game in both, with the same cards. Passes of theirs that are no go of ours are filtered out."""
    options = {"num_players": players, "crib_flush": "four", "show_order": "seats"}
    state = GAME.new_state(seed=seed, **options)
    theirs = pyspiel.load_game("cribbage", {"players": players}).new_initial_state()
    chooser, decisions, deal = random.Random(seed), 0, 0
    while not state.is_terminal:
        s = state.record
        if s.num_deals > deal:
            deal = int(s.num_deals)
            dealt = [card for hand in s.hands[:players] for card in PACK.cards_of(hand)]
            for card in [*dealt, *([int(s.crib_card)] if s.crib_card >= 0 else [])]:
                theirs.apply_action(card)
            starter = int(s.deck[s.num_dealt])
        legal, player = state.legal_actions(), state.current_player
        assert theirs.current_player() == player, seed
        if state.phase == "lay_away" and players == 2:
            both = chooser.sample(legal, 2)
            pair = sorted(both, key=lambda card: (card % 13, card))
            action = next(52 + 52 * a + b for a, b in (pair, pair[::-1]) if 52 + 52 * a + b in theirs.legal_actions())
            theirs.apply_action(action)
            for card in both:
                state.apply(card)
        else:
            assert sorted(theirs.legal_actions()) == ([_PASS] if legal == [GO] else legal), seed
            card = chooser.choice(legal)
            theirs.apply_action(_PASS if card == GO else card)
            state.apply(card)
        if theirs.is_chance_node() and state.record.starter == starter and state.record.num_deals == deal:
            theirs.apply_action(starter)
        decisions += 1
        while not theirs.is_terminal() and theirs.legal_actions() == [_PASS] and not asked(state, theirs, deal):
            theirs.apply_action(_PASS)
        assert scores_of(theirs)[:players] == [state.facts(p)["scores"][state.facts(p)["side"]] for p in range(players)]
    assert theirs.is_terminal()
    assert [score > 0 for score in theirs.returns()] == [value > 0 for value in state.returns]
    return decisions


def asked(state, theirs, deal):
    """Whether a pass of theirs is a go of ours."""
    is_play = not state.is_terminal and state.phase == "play" and state.record.num_deals == deal
    return is_play and state.current_player == theirs.current_player() and state.legal_actions() == [GO]


def scores_of(theirs):
    line = next(line for line in str(theirs).splitlines() if line.startswith("Scores:"))
    return [int(text) for text in line.split()[1:]]


@pytest.mark.parametrize("games", [20, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_openspiel_has_the_same_games(players, games):
    pyspiel = pytest.importorskip("pyspiel")
    for seed in range(games if COMPILED else 1):
        assert check_against_openspiel(pyspiel, seed, players) > 50


# ---------------------------------------------------------------------------------------------------------------
# Worlds


def is_uniform(counts, expected):
    """Whether counts by key agree with expected numbers."""
    assert counts.keys() <= expected.keys()
    square = sum((counts[key] - number) ** 2 / number for key, number in expected.items())
    return chdtrc(len(expected) - 1, square) > 1e-4


def worlds_of(state, player, draws):
    """Hands and cards laid away in worlds, as lists of bit sets."""
    for seed in range(draws):
        world = state.determinize(player, seed).record
        yield [int(hand) for hand in world.hands], [int(laid) for laid in world.laid]


GO_DECK = "Kd Qd 9h 8h 2c 3c  Kc Qc 2d Ad 5h 6h  7c"
GO_AWAY = [f"lay away {card}" for card in ("2c", "3c", "5h", "6h")]


def test_6_2_a_go_is_evidence_and_worlds_are_equally_likely():
    """At 30, player 0 has no ace; so each hand without aces is as likely, and what is laid away may be aces."""
    state = played(GO_DECK, *GO_AWAY, "play Kc", "play Kd", "play Qc", "go")
    draws, in_hand, away = (6000 if COMPILED else 100), collections.Counter(), collections.Counter()
    for hands, laid in worlds_of(state, 1, draws):
        assert hands[1] == int(state.record.hands[1])
        assert laid[1] == int(state.record.laid[1])
        in_hand.update(PACK.cards_of(hands[0]))
        away.update(PACK.cards_of(laid[0]))
    seen = {*cards("Kc Qc 2d Ad 5h 6h 7c Kd")}
    hidden = [card for card in range(52) if card not in seen]
    above = [card for card in hidden if card % 13]
    assert len(above) == 41
    assert not any(card % 13 == 0 for card in in_hand)
    assert is_uniform(in_hand, dict.fromkeys(above, 3 * draws / 41)) or not COMPILED
    expected = {card: 2 * draws / 41 * (1 if card % 13 == 0 else 1 - 3 / 41) for card in hidden}
    assert is_uniform(away, expected) or not COMPILED


@pytest.mark.parametrize("explicit_go", [True, False])
def test_6_3_who_is_not_left_out_can_play(explicit_go):
    """At 29 it is player 1's turn, who has two cards left; without goes, one of them is an ace or a two."""
    deck = "Kd 9c 9h 8h 2c 3c  Kc Qc 2d Ad 5h 6h  7c"
    state = played(deck, *GO_AWAY, "play Kc", "play Kd", explicit_go=explicit_go)
    state.apply(state.action_from_label("play Qc"))
    if explicit_go:
        state.apply(GO)
    assert state.current_player == 1
    draws = 6000 if COMPILED else 100
    low = int(FITTING[1])
    found = collections.Counter((hands[1] & low).bit_count() for hands, _ in worlds_of(state, 0, draws))
    # Player 0 holds 9c 9h 8h and has laid 2c 3c away; four aces are among 43 cards that are not seen.
    ways = {k: [1, 4, 6][k] * [39 * 38 / 2, 39, 1][k] for k in range(3) if explicit_go or k}
    assert is_uniform(found, {k: draws * number / sum(ways.values()) for k, number in ways.items()}) or not COMPILED


def two_floors():
    """A position of three players in which player 0 has seen two others say go at different counts, and their cards."""
    for seed in range(2000):
        state, chooser = GAME.new_state(seed=seed, num_players=3, deals="one"), random.Random(seed)
        while not state.is_terminal:
            s = state.record
            if s.floors[1] != s.floors[2] and min(s.floors[1:3]) > 0 and min(map(int, s.hands[1:3])) > 0:
                return state
            state.apply(chooser.choice(state.legal_actions()))
    raise AssertionError("no such position")


@pytest.mark.skipif(not COMPILED, reason="thousands of worlds")
def test_6_2_worlds_of_two_goes_are_those_that_fit():
    """Compared with shuffles of all hidden cards, of which those are kept that fit."""
    state = two_floors()
    s, chooser, draws = state.record, random.Random(1), 8000
    sizes = [int(s.hands[p]).bit_count() for p in (1, 2)]
    hidden = [PACK.parse(text) for text in state.facts(0)["not_seen_yet"]]
    floors = [int(s.floors[p]) for p in (1, 2)]

    def shape(hands):
        return tuple(tuple(sorted(min(card % 13 + 1, 10) for card in hand)) for hand in hands)

    def value_sum(hands):
        return tuple(sum(values) // 4 for values in shape(hands))

    expected = collections.Counter()
    while sum(expected.values()) < 4 * draws:
        dealt = chooser.sample(hidden, sum(sizes))
        hands = dealt[: sizes[0]], dealt[sizes[0] :]
        if all(min(values) > floor for values, floor in zip(shape(hands), floors, strict=True)):
            expected[value_sum(hands)] += 1
    found = collections.Counter()
    for hands, _ in worlds_of(state, 0, draws):
        both = PACK.cards_of(hands[1]), PACK.cards_of(hands[2])
        assert all(min(values) > floor for values, floor in zip(shape(both), floors, strict=True))
        found[value_sum(both)] += 1
    # Two samples of different sizes
    square = sum((found[key] * 2 - expected[key] / 2) ** 2 / (found[key] + expected[key]) for key in found | expected)
    assert chdtrc(len(found | expected) - 1, square) > 1e-4


def test_6_1_before_the_play_all_deals_are_equally_likely():
    state = played(GO_DECK, "lay away 2c", "lay away 3c")
    draws, in_hand = (4000 if COMPILED else 50), collections.Counter()
    for hands, laid in worlds_of(state, 1, draws):
        assert [hands[0].bit_count(), laid[0].bit_count()] == [4, 2]
        in_hand.update(PACK.cards_of(hands[0]))
    hidden = [card for card in range(52) if not int(state.record.hands[1]) >> card & 1]
    assert is_uniform(in_hand, dict.fromkeys(hidden, 4 * draws / 46)) or not COMPILED


# ---------------------------------------------------------------------------------------------------------------
# The rule agent


@kernel
def _brute_force(hand, laid, unseen, size, crib_flush, means):
    """Write the means of a hand and of a crib over all starters, and all cards that fill the crib up."""
    one, total, hands, cribs = np.int64(1), 0, 0, 0
    for starter in unseen:
        hands += show_points(hand, starter, False, crib_flush)
    n = unseen.shape[0]
    for starter in range(n):
        for a in range(n):
            for b in range(a):
                if a == starter or b == starter:
                    continue
                two = laid | one << unseen[a] | one << unseen[b]
                if size == 2:
                    cribs += show_points(two, unseen[starter], True, crib_flush)
                    total += 1
                    continue
                for c in range(b):
                    if c != starter:
                        cribs += show_points(two | one << unseen[c], unseen[starter], True, crib_flush)
                        total += 1
    means[0] = hands / n
    means[1] = cribs / total


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("crib_flush", ["five", "four"])
@pytest.mark.skipif(not COMPILED, reason="millions of cribs")
def test_discards_are_exact(players, crib_flush):
    noted = np.zeros(1, discards.UNSEEN)[0]
    number = int(LAID_EACH[players])
    for seed in range(3):
        chooser = random.Random(seed)
        suits = chooser.sample("cdhs", 2)
        pack = [PACK.parse(rank + suit) for rank in RANKS for suit in suits]
        own = sorted(chooser.sample(pack, 4 + number))
        state = GAME.new_state(seed=seed, num_players=players, crib_flush=crib_flush,
                               deck=" ".join(PACK.labels[card] for card in own))  # fmt: skip
        s = state.records[0]
        unseen = [card for card in range(52) if card not in own]
        discards.note_unseen(noted, bits(unseen))
        discards.note_shares(noted, discards.RESTS[5 - number])
        for laid in list(itertools.combinations(own, number))[:: 2 * number]:
            kept, means = bits(card for card in own if card not in laid), np.zeros(2)
            _brute_force(kept, bits(laid), np.array(unseen), 4 - number, int(crib_flush == "four"), means)
            found = discards.mean_of_laying(s, noted, 0, bits(laid))
            assert found == pytest.approx(means[0] + means[1])  # player 0 deals
            dealer = s["dealer"] = 1
            found = discards.mean_of_laying(s, noted, 0, bits(laid))
            assert found == pytest.approx(means[0] - means[1] / (1 if players != 3 else 2))
            s["dealer"] = 1 - dealer


def points_ahead(other, games, **options):
    """The mean points by which the rule agent is ahead at the end of a game for two."""
    total = 0
    for seed in range(games):
        state, seat = GAME.new_state(seed=seed, **options), seed % 2
        while not state.is_terminal:
            state.apply(state.policy_action("heuristic" if state.current_player == seat else other, seed))
        scores = state.facts(0)["scores"]
        total += scores[seat] - scores[1 - seat]
    return total / games


@pytest.mark.skipif(not COMPILED, reason="whole games")
@pytest.mark.parametrize("options", [{}, {"explicit_go": False, "crib_flush": "four"}])
def test_the_rule_agent_is_fifteen_holes_above_random_play(options):
    assert points_ahead("random", 60, **options) > 15


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_rule_agent_counts_right_and_plays_to_the_end(players):
    state = GAME.new_state(seed=3, num_players=players, muggins=True, deals="one" if not COMPILED else "game")
    while not state.is_terminal:
        action = state.policy_action("heuristic", state.ply)
        if state.phase == "show":
            before = state.facts(0)["scores"]
        state.apply(action)
        if action >= COUNT_0:
            changed = [a != b for a, b in zip(before, state.facts(0)["scores"], strict=True)]
            assert sum(changed) <= 1  # nobody else gets anything


@pytest.mark.parametrize(
    ("deck", "away", "card"),
    [
        # With 5 and 10-cards, a 5 is not led.
        (
            "2c 3d 5h 5s Jd Qc  5d Ks 9h 4s 2h 3h  8c",
            ("lay away Qc", "lay away Jd", "lay away 2h", "lay away 3h"),
            "5d",
        ),
    ],
)
def test_the_rule_agent_does_not_lead_a_five(deck, away, card):
    state = played(deck, *away)
    assert state.current_player == 1
    assert state.policy_action("heuristic", 0) != PACK.parse(card)


def test_the_rule_agent_keeps_the_best_hand():
    state = played("5c 5d 5h Js 9s 2c")
    first = state.policy_action("heuristic", 0)
    state.apply(first)
    assert {first, state.policy_action("heuristic", 0)} == {PACK.parse("9s"), PACK.parse("2c")}
