"""Tests of Ristiseiska: paragraphs not in the scenario file, an oracle, worlds and the rule agent."""

import collections
import itertools
import random

import numpy as np
import pytest
from ristiseiska_oracle import Oracle

from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import OptionError
from cardenvs.core.events import KIND, NO_LOG, SPECTATOR, TOKEN
from cardenvs.core.game_view import table_texts
from cardenvs.core.kernel import COMPILED
from cardenvs.core.registry import get_game
from cardenvs.games.ristiseiska import table
from cardenvs.games.ristiseiska.actions import BEG, STOP
from cardenvs.games.ristiseiska.rules import hand_points
from cardenvs.games.ristiseiska.state import NO_PLAYER, PACK, fitting

GAME = get_game("ristiseiska_v0")
LABELS = PACK.labels
BIT_OF = {label: 1 << card for card, label in enumerate(LABELS)}

# Hands of the numbered scenarios of the rules' source: cards by suit, clubs, diamonds, hearts, spades.
DEAL_A = ("578Kc 289TJd 56Qh A467TQs", "A269TJc A367Kd 239Th 23s", "34Qc 45Qd A478JKh 589JKs")
DEAL_B = ("4679c 9d A2Kh 3459Qs", "8Kc 347Jd 49Jh A7TKs", "23TJc 56Qd 56TQh 68s", "A5Qc A28TKd 378h 2Js")


def spread(hand):
    """Cards written by suit, "578Kc 2d", as labels."""
    return [rank + part[-1] for part in hand.split() for rank in part[:-1]]


def deck_of(hands, dealer):
    """The cards in dealing order that give these hands."""
    hands, n = [spread(hand) for hand in hands], len(hands)
    return " ".join(hands[(dealer + 1 + k) % n][k // n] for k in range(52))


def dealt(hands, **options):
    """The state after the deal of a scenario; with three players the first 18 cards are those of player 0."""
    dealer = 2 if len(hands) == 3 else 0
    return GAME.new_state(seed=1, deck=deck_of(hands, dealer), num_players=len(hands), dealer=dealer, **options)


def bits(cards):
    return sum(1 << PACK.parse(card) for card in cards)


def hand_of(s, player):
    """The cards of a hand, ascending."""
    return [LABELS[card] for card in PACK.cards_of(s.hands[player])]


def hands_of(state):
    return [hand_of(state.record, p) for p in range(state.num_players)]


def position(hands, laid="", turns=9, **options):
    """A position of a hand in which nothing is known: hands by player, the cards on the table. Player 0 is to act."""
    hands = [spread(hand) for hand in hands]
    state = GAME.new_state(seed=1, num_players=len(hands), **options)
    s = state._states
    s["laid"], s["num_turns"], s["current_player"] = bits(spread(laid)), min(turns, len(hands)), 0
    s["known"], s["num_begs"] = 0, 0
    for p, hand in enumerate(hands):
        s["hands"][0, p], s["hand_sizes"][0, p] = bits(hand), len(hand)
        if not hand:
            s["place"][0, p] = s["num_out"][0]
            s["num_out"] += 1
    state._wide = None
    return state


LEGAL = np.zeros(100, np.int32)


def act(state, *labels):
    """Apply actions without events, which a position that was not dealt has none of."""
    for label in labels:
        assert label in legal_in(state), f"{label} is illegal"
        action = {"beg": BEG, "stop": STOP}.get(label)
        GAME.engine.apply(state._states, 0, PACK.parse(label) if action is None else action, NO_LOG, LEGAL)
        state._wide = None  # the copy for Python
    return state


def legal_in(state):
    n = GAME.engine.legal(state._states, 0, LEGAL)
    return [as_oracle_says(action) for action in LEGAL[:n]]


def as_oracle_says(action):
    """An action id as the oracle writes it."""
    return LABELS[action] if action < BEG else {BEG: "beg", STOP: "stop"}[action]


def first_card(state):
    """Play and give as in the scenarios: the first card in the order c d h s, low to high; never stop."""
    cards = [action for action in state.legal_actions() if action < BEG]
    return min(cards, key=lambda card: (card % 4, card)) if cards else state.legal_actions()[0]


def gift_that_fits(state):
    """A card that fits, if the giver has one; hands then stall more often."""
    cards = state.legal_actions()
    return next((card for card in cards if int(fitting(state.record)) >> card & 1), cards[0])


def played_out(hands, **options):
    """Play a scenario to the end, and return the state and its cards as the rules' source writes them."""
    state, found = dealt(hands, **options), []
    while not state.is_terminal:
        if state.phase == "give":
            action = first_card(state)
            found.append(f"{state.current_player}*{LABELS[action]}")
        else:
            action = first_card(state)
            found.append(("+" if state.phase == "more" and action < BEG else "") + as_oracle_says(action))
        state.apply(action)
    return state, " ".join(found)


def scores_of(state):
    return state.record.scores[: state.num_players].tolist()


# ---------------------------------------------------------------------------------------------------------------
# Numbered scenarios of the rules' source that play a hand to its end

A_TO_THE_END = (
    "7c 6c 7h 5c 7d 4c 8c 9c 3c 6h 2c 8h 5h Ac 4h 7s Tc beg 1*Jc 6s 6d Jc 8d 3h Qc Kc 2h 5d 9d 9h 4d Td 3d Ah 2d Ad "
    "5s Jd Th Qd 4s Kd Jh Qh 3s Kh beg 2*8s 2s"
)
B_TO_THE_END = (
    "7c 7d 6d 8d 6c 8c 5d 5c 4c 4d 3c 7h 9c 3d 2c Ac 9d 7s Tc 2d beg 3*Qc beg 0*Qc Jc Ad beg 3*Td Qc 6h 8h Td Kc 5h "
    "beg 2*Qd beg 3*Qd Jd 6s beg 2*Th Qd 4h 8s Kd 5s 9h beg 1*Jh 3h 2h beg 0*Ah beg 1*Ah Th 4s beg 0*Kh Ah beg 2*Jh 3s "
    "beg 0*9s beg 1*Kh Jh beg 3*2s 9s Qh beg 2s As Kh"
)


def test_scenario_2_a_whole_hand_of_three():
    state, played = played_out(DEAL_A)
    assert played == A_TO_THE_END
    assert (scores_of(state), hands_of(state)[1]) == ([44, 0, 33], [])
    assert [sorted(hand, key=PACK.parse) for hand in hands_of(state)][::2] == [
        ["As", "8s", "Ts", "Qs"],
        ["9s", "Js", "Ks"],
    ]


def test_scenario_3_extra_cards():
    state, played = played_out(DEAL_A, extra=True)
    start = A_TO_THE_END[: A_TO_THE_END.index("Ac") + 2]
    assert played.startswith(start + " +Tc 4h 7s Jc Qc Kc +6s 6d 5d 8d 3h 4d 9d 3d 5s 2d Ad +2h Ah +8s ")
    assert "beg" not in played
    assert (scores_of(state), int(state.record.num_plays)) == ([36, 0, 37], 46)


@pytest.mark.parametrize(
    ("options", "scores"),
    [({"beg": "none"}, [26, 0, 24]), ({"beg": "token"}, [51, 0, 24]), ({"ace": "closer"}, [26, 0, 51])],
)
def test_scenarios_4_and_5(options, scores):
    state, played = played_out(DEAL_A, **options)
    assert scores_of(state) == scores
    if "ace" in options:
        assert played.count("beg") == 1


def test_scenarios_6_and_7_a_whole_hand_of_four():
    state, played = played_out(DEAL_B)
    assert played == B_TO_THE_END
    assert scores_of(state) == [12, 23, 0, 11]


def test_scenario_8_begging_in_a_circle():
    state, played = played_out(DEAL_B, end="places")
    assert played.split()[-2:] == ["beg", "1*Ts"]
    s = state.record
    assert (int(s.num_plays), int(s.num_begs), s.place[:4].tolist()) == (48, 16, [-1, -1, 0, -1])
    assert state.returns == pytest.approx([1 / 3, 1 / 3, 1, 1 / 3])


# ---------------------------------------------------------------------------------------------------------------
# Against the oracle


def dealt_and_drawn(rows):
    """The cards that were dealt or drawn, in order."""
    return [LABELS[row[TOKEN]] for row in rows.tolist() if row[KIND] in (table.DEALT, table.DRAWS)]


def random_options(chooser):
    n = chooser.choice([3, 3, 4, 5])
    return {
        "num_players": n, "dealer": chooser.randrange(n), "six_before_eight": chooser.random() < 0.6,
        "five_after_eight": chooser.random() < 0.4, "ace": chooser.choice(["low", "high", "closer"]),
        "beg": chooser.choice(["giver", "giver", "random", "none", "token"]),
        "beg_from": chooser.choice(["previous", "next"]), "beg_first_round": chooser.random() < 0.6,
        "give_last": chooser.random() < 0.5, "play_begged": chooser.random() < 0.5, "extra": chooser.random() < 0.5,
        "end": chooser.choice(["first_out", "places"]), "ace_points": chooser.choice([1, 14]),
        "token_points": chooser.choice([25, 10]), "stall": chooser.choice([1, 2, 4]),
        "match_target": chooser.choice(["none"] * 18 + ["100", "200"]),
    }  # fmt: skip


def check_against_the_oracle(seed):
    """Play a random game beside the oracle; returns what was met."""
    chooser = random.Random(seed)
    state = GAME.new_state(seed=seed, **random_options(chooser))
    rows = state.event_log()
    feed = dealt_and_drawn(rows)
    oracle = Oracle(state.options, feed)
    hurts = chooser.random() < 0.6  # give cards that fit, so that hands stall
    while not state.is_terminal:
        assert not feed
        assert not oracle.over
        compare(state, oracle)
        legal = state.legal_actions()
        assert {as_oracle_says(action) for action in legal} == oracle.legal()
        action = gift_that_fits(state) if hurts and state.phase == "give" else chooser.choice(legal)
        hands = int(state.record.num_hands)
        state.apply(action)
        if action == BEG and state.options.beg == "random" or state.record.num_hands > hands:
            before, rows = len(rows), state.event_log()
            feed += dealt_and_drawn(rows[before:])
        oracle.act(as_oracle_says(action))
    assert oracle.over
    assert state.returns == pytest.approx([float(amount) for amount in oracle.returns])
    assert scores_of(state) == oracle.scores
    return collections.Counter(GAME.table.kinds[row[KIND]].name for row in state.event_log().tolist())


def compare(state, oracle):
    s = state.record
    assert (state.current_player, state.phase) == (oracle.to_act, oracle.phase)
    assert s.hands[: oracle.n].tolist() == [sum(map(BIT_OF.get, hand)) for hand in oracle.hands]
    assert s.laid == sum(map(BIT_OF.get, oracle.table))
    assert [LABELS[card] for card in s.plays[: s.num_plays]] == oracle.table
    assert s.hand_sizes[: oracle.n].tolist() == [len(hand) for hand in oracle.hands]
    assert (int(s.num_begs), int(s.num_turns)) == (oracle.begs, min(oracle.turns, oracle.n))
    assert int(s.token) == (NO_PLAYER if oracle.token is None else oracle.token)
    assert [p for _, p in sorted((s.place[p], p) for p in range(oracle.n) if s.place[p] >= 0)] == oracle.out
    assert (int(s.dealer), int(s.num_hands), scores_of(state)) == (oracle.dealer, oracle.hands_begun, oracle.scores)
    assert int(s.beggar) == (oracle.beggar if state.phase == "give" else NO_PLAYER)


@pytest.mark.parametrize("block", range(4))
def test_games_agree_with_the_oracle(block):
    met = collections.Counter()
    for seed in range(60 * block, 60 * block + (60 if COMPILED else 2)):
        met += check_against_the_oracle(seed)
    if COMPILED:
        assert {"give", "draw", "keep", "pass", "take_token", "stop", "go_out", "win"} <= met.keys()


@pytest.mark.slow
def test_five_thousand_games_agree_with_the_oracle():
    for seed in range(1000, 6000):
        check_against_the_oracle(seed)
