"""Tests of Crazy Eights: paragraphs not in the scenario file, an oracle, OpenSpiel, worlds and the rule agent."""

import collections
import itertools
import random

import numpy as np
import pytest
from crazy_eights_oracle import SUITS, Oracle

from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import DeckError, OptionError
from cardenvs.core.events import KIND, NO_LOG, SOURCE, SPECTATOR, TOKEN, Op
from cardenvs.core.game_view import table_texts
from cardenvs.core.kernel import COMPILED
from cardenvs.core.registry import get_game
from cardenvs.games.crazy_eights import table
from cardenvs.games.crazy_eights.actions import DRAW, NAME_0, PASS
from cardenvs.games.crazy_eights.knowledge import DEALT_MARK, PUT_BACK_MARK
from cardenvs.games.crazy_eights.rules import hand_points
from cardenvs.games.crazy_eights.state import ANY_SUIT, CARD_POINTS, MAX_CARDS, PACK, SPECIAL_RANKS
from cardenvs.kits.shedding import stock_of

GAME = get_game("crazy_eights_v0")
LABELS = PACK.labels


def hand_of(s, player):
    """The cards of a hand, ascending."""
    return [LABELS[card] for card in sorted(PACK.cards_of(s.hands[player]) + PACK.cards_of(s.doubles[player]))]


def hands_of(state):
    return [hand_of(state.record, p) for p in range(state.num_players)]


def bits(cards):
    return sum(1 << card for card in cards)


def position(hands, top="7c", stock="", pile="", suit=None, **options):
    """A position of a hand: cards by player, the top card, the stock from the top, the other discards.

    Player 0 is to act. Cards that are not named are out of play; none is there twice.
    """
    hands = [[PACK.parse(card) for card in hand.split()] for hand in hands]
    state = GAME.new_state(seed=1, **{"num_players": len(hands)} | options)
    s = state._states
    for p, hand in enumerate(hands):
        s["hands"][0, p], s["doubles"][0, p], s["hand_sizes"][0, p] = bits(hand), 0, len(hand)
    drawn, discards = [PACK.parse(card) for card in stock.split()], [PACK.parse(card) for card in (*pile.split(), top)]
    s["deck"][0], s["pile"][0], s["num_stock"], s["num_pile"] = -1, -1, len(drawn), len(discards)
    s["deck"][0, MAX_CARDS - len(drawn) :], s["pile"][0, : len(discards)] = drawn, discards
    s["discards"], s["double_discards"], s["top"] = bits(discards), 0, discards[-1]
    s["suit"], s["direction"], s["owed"] = discards[-1] % 4 if suit is None else SUITS.index(suit), 1, 0
    s["num_drawn"], s["num_passes"], s["phase"], s["current_player"], s["is_plain"] = 0, 0, 0, 0, 1
    state._wide = None
    return state


LEGAL = np.zeros(100, np.int32)


def act(state, *labels):
    """Apply actions without events, which a position that was not dealt has none of."""
    for label in labels:
        action = {as_oracle_says(action): action for action in range(GAME.num_actions(state.options))}[label]
        n = GAME.engine.legal(state._states, 0, LEGAL)
        assert action in LEGAL[:n], f"{label} is illegal"
        GAME.engine.apply(state._states, 0, action, NO_LOG, LEGAL)
        state._wide = None  # the copy for Python
    return state


def legal_in(state):
    n = GAME.engine.legal(state._states, 0, LEGAL)
    return [as_oracle_says(action) for action in LEGAL[:n]]


def as_oracle_says(action):
    """An action id as the oracle writes it."""
    if action < DRAW:
        return LABELS[action]
    return {DRAW: "draw", PASS: "pass"}.get(action) or f"name {SUITS[action - NAME_0]}"


# ---------------------------------------------------------------------------------------------------------------
# Paragraphs


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_players": 1}, "2 to 7"),
        ({"num_players": 8}, "2 to 7"),
        ({"dealer": 4}, "dealer=4 is not one of the 4 players, 0 to 3"),
        ({"skip": "Q", "draw_two": "Q"}, "must be different ranks"),
        ({"skip": "8"}, "none, 2, 3"),
        ({"openspiel": True, "scoring": "own_penalty"}, "rules of its own; leave scoring at its default"),
        ({"openspiel": True, "target": 100}, "leave target at its default"),
    ],
)
def test_options_that_do_not_fit(options, message):
    with pytest.raises(OptionError, match=message):
        GAME.make_options(**options)


@pytest.mark.parametrize("text", ["10h", "Th", "10♥", "t♥"])
def test_1_2_cards_are_read_as_they_are_written(text):
    assert PACK.labels[PACK.parse(text)] == "Th"


def test_1_2_there_is_no_joker():
    with pytest.raises(DeckError, match="not a card"):
        GAME.new_state(seed=1, deck="JK")


@pytest.mark.parametrize(("players", "options", "size"), [(5, {}, 52), (6, {}, 104), (2, {"decks": 2}, 104)])
def test_2_1_packs(players, options, size):
    state = GAME.new_state(seed=1, num_players=players, **options)
    s = state.record
    assert s.num_stock + s.num_pile + s.hand_sizes[:players].sum() == size
    assert f"A deck of {size} cards is shuffled." in state.recap(SPECTATOR)


@pytest.mark.parametrize(("players", "size"), [(2, 7), (3, 5), (7, 5)])
def test_2_2_the_deal(players, size):
    state = GAME.new_state(seed=1, num_players=players)
    assert state.record.hand_sizes[:players].tolist() == [size] * players


def test_2_2_cards_are_dealt_singly_after_the_dealer():
    state = GAME.new_state(seed=1, num_players=3, hand_size=2, dealer=1, deck="2c 2d 2h 3c 3d 3h")
    assert hands_of(state) == [["2d", "3d"], ["2h", "3h"], ["2c", "3c"]]


def test_2_2_the_first_dealer():
    assert GAME.new_state(seed=1).record.dealer == 0
    assert {int(GAME.new_state(seed=seed, dealer=None).record.dealer) for seed in range(40)} == {0, 1, 2, 3}


def test_2_3_another_card_is_turned_up_until_it_is_no_eight():
    for seed in range(20):
        s = GAME.new_state(seed=seed, num_players=2, hand_size=1, deck="2c 2d 8s").record
        assert LABELS[s.top][0] != "8"
        assert (s.num_stock, s.num_pile) == (49, 1)
        assert PACK.parse("8s") in stock_of(s)


def test_3_1_the_rank_of_an_eight_matches_only_eights():
    assert legal_in(position(["8d 7h 9c", "2c"], top="8c", suit="h", stock="2d")) == ["7h", "8d", "draw"]


def test_3_2_the_suit_of_the_eight_may_be_named():
    state = act(position(["8d 9d", "2d"], top="8c", stock="2h"), "8d", "name d")
    assert legal_in(state) == ["2d", "draw"]


def test_3_3_an_older_card_may_be_played_after_drawing():
    assert "9c" in legal_in(act(position(["9c 2d", "2c 3c"], stock="3h 3d"), "draw"))


def test_3_3_without_a_limit_the_stock_is_drawn():
    state = position(["9d", "2c 3c"], stock="2d 3d 4d 5d 6d Td Jd", draw_limit=None, reshuffle=False)
    for _ in range(7):
        assert legal_in(state) == ["draw"]
        act(state, "draw")
    assert legal_in(state) == ["pass"]


def test_3_3_drawing_ends_when_a_card_fits():
    state = position(["9d", "2c 3c"], stock="2d 5c 4d", draw_when_able=False)
    assert legal_in(act(state, "draw")) == ["draw"]
    assert legal_in(act(state, "draw")) == ["5c"]


def test_3_4_passing_beside_a_card_that_fits():
    state = position(["9c 2d", "2c 3c"])
    assert legal_in(state) == ["9c", "pass"]
    assert act(state, "pass").current_player == 1


def test_3_5_equal_cards_are_one_action():
    state = GAME.new_state(seed=1, num_players=2, hand_size=2, decks=2, dealer=0, deck="9h 2c 9h 3c 9d")
    assert (state.legal_actions(), hand_of(state.record, 1)) == ([PACK.parse("9h"), DRAW], ["9h", "9h"])
    state.apply(PACK.parse("9h"))
    assert hand_of(state.record, 1) == ["9h"]


SPECIAL = {"skip": "Q", "reverse": "A", "draw_two": "2"}


def test_4_1_and_4_2_with_two_players():
    assert act(position(["Qc 3c", "4c 5c"], **SPECIAL), "Qc").current_player == 0
    assert act(position(["Ac 3c", "4c 5c"], **SPECIAL), "Ac").current_player == 1


def test_4_3_without_stacking():
    state = act(position(["2c 3c", "2d 8c 5c"], stock="3h 4h 5h", stack=False, **SPECIAL), "2c")
    assert legal_in(state) == ["draw"]
    assert hands_of(act(state, "draw"))[1] == ["2d", "3h", "4h", "5c", "8c"]
    assert state.current_player == 0


def test_4_3_a_player_who_could_add_a_card_may_draw():
    state = act(position(["2c 3c", "2d 8c"], stock="3h 4h", draw_when_able=False, **SPECIAL), "2c")
    assert legal_in(state) == ["2d", "draw"]


def test_4_4_scenario_13_the_rest_of_a_debt_is_forgotten():
    state = position(["2c 3c", "2d 5d", "9d 9h"], stock="3h 4h", reshuffle=False, **SPECIAL)
    act(state, "2c", "2d", "draw")
    assert hands_of(state)[2] == ["3h", "4h", "9d", "9h"]
    assert (state.current_player, int(state.record.owed), legal_in(state)) == (0, 0, ["pass"])


def test_4_4_an_empty_stock_makes_no_debt():
    state = act(position(["2c 3c", "2d 5c"], reshuffle=False, **SPECIAL), "2c")
    assert (int(state.record.owed), legal_in(state)) == (0, ["2d", "5c", "pass"])


def test_5_2_a_blocked_hand():
    state = act(position(["2d 5d", "7h Kd", "2h 5h", "Ts Js As"]), "pass", "pass", "pass")
    assert not state.record.terminal
    act(state, "pass")
    assert state.record.terminal
    assert state.record.returns[:4].tolist() == [12, -10, 12, -14]


def test_5_2_a_card_that_is_played_starts_the_count_again():
    state = act(position(["Th 5d", "7h Kc Kd 2c"], reshuffle=False), "pass", "2c", "pass")
    assert (int(state.record.num_passes), bool(state.record.terminal)) == (1, False)


def test_5_3_a_hand_ends_after_some_cards():
    state = position(["2c 5d", "3c Kd"], stock="9d", max_plays=2)
    state._states["num_plays"] = 0
    act(state, "2c", "3c")
    assert state.record.returns[:2].tolist() == [5, -5]


def test_5_4_the_discards_become_the_stock():
    state = act(position(["2d 5d", "3c Kd"], stock="9d", pile="Th Jh"), "draw")
    assert sorted(LABELS[card] for card in stock_of(state.record)) == ["Jh", "Th"]
    assert (LABELS[state.record.top], state.record.num_pile) == ("7c", 1)


def test_5_4_a_card_played_on_the_only_discard_brings_it_back():
    state = act(position(["2c 5d", "3c Kd"]), "2c")
    assert [LABELS[card] for card in stock_of(state.record)] == ["7c"]
    state = act(position(["2c 5d", "3c Kd"], reshuffle=False), "2c")
    assert state.record.num_stock == 0


def test_6_1_and_8_2_scenario_10_points():
    hand = "8s Kd Ac 7h"
    assert hand_points(position([hand, "2c"]).record, 0) == 68
    assert hand_points(position([hand, "2c"], card_points="openspiel").record, 0) == 94
    assert hand_points(position([hand, "2c"], openspiel=True).record, 0) == 94
    assert [int(CARD_POINTS[1, PACK.parse(card)]) for card in ("2c", "2s", "3c", "Th")] == [2, 5, 6, 36]


def test_6_1_hands_are_shown():
    state = GAME.new_state(seed=2, num_players=2, hand_size=1, dealer=0, deck="3c 9h 5c")
    state.apply(state.legal_actions()[0])
    assert table_texts(state.view(SPECTATOR))["piles"]["hand"] == [["9♥"], []]


@pytest.mark.parametrize("players", [3, 6])
def test_6_1_hands_that_are_shown_are_known_to_all(players):
    state = GAME.new_state(seed=2, num_players=players)
    while not state.is_terminal:
        state.apply(state.policy_action("heuristic", state.ply))
    for player in range(players):
        assert sum(state.facts(player)["not_seen_yet"].values()) == state.facts(player)["stock"]


def test_6_2_scenario_11_the_winner_takes():
    hands = ["2c", "8s Kd 8d 3s", "2d Tc", "5d"]
    assert act(position(hands), "2c").record.returns[:4].tolist() == [130, -113, -12, -5]
    assert act(position(hands, scoring="own_penalty"), "2c").record.returns[:4].tolist() == [0, -113, -12, -5]


def test_6_3_scenario_12_players_who_are_level_share():
    hands = ["7d", "Kd Td", "7h", "Jd Kh Th As"]
    state = act(position(hands, block_passes=1, top="3c", stock=""), "pass")
    assert state.record.returns[:4].tolist() == [18.5, -13, 18.5, -24]
    assert state.record.scores[:4].tolist() == [18, 0, 18, 0]


def test_7_1_the_deal_passes_on():
    state, dealers, chooser = GAME.new_state(seed=1, hand_size=1, target=1000, max_plays=3), [], random.Random(1)
    for _ in range(200):
        if not dealers or dealers[-1] != int(state.record.dealer):
            dealers.append(int(state.record.dealer))
        state.apply(chooser.choice(state.legal_actions()))
    assert len(dealers) > 4
    assert all(after == (before + 1) % 4 for before, after in itertools.pairwise(dealers))


@pytest.mark.parametrize(("score", "is_over"), [(85, True), (59, False)])
def test_7_3_scenario_16_a_match(score, is_over):
    state = position(["2c", "Kd Td Jd Qd"], target=100)
    state._states["scores"][0, :2] = score, 90
    act(state, "2c")
    assert state.record.scores[:2].tolist() == [score + 40, 90]
    assert bool(state.record.terminal) == is_over
    assert state.record.returns[:2].tolist() == ([1, -1] if is_over else [0, 0])


def test_7_3_another_hand_if_several_are_level():
    state = position(["2c", "Kd Td Jd Qd"], target=100)
    state._states["scores"][0, :2] = 80, 120
    act(state, "2c")
    assert (state.record.terminal, state.record.num_hands) == (0, 2)


def test_7_3_the_smallest_loss_wins():
    state = position(["2c", "Kd Td Jd Qd", "2d"], target=50, scoring="own_penalty")
    state._states["scores"][0, :3] = 30, 20, 10
    act(state, "2c")
    assert state.record.scores[:3].tolist() == [30, 60, 12]
    assert state.record.returns[:3].tolist() == [-0.5, -0.5, 1]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [508 / 3, -508, 508 / 3, 508 / 3]),
        ({"scoring": "own_penalty"}, [0, -508, 0, 0]),
        ({"num_players": 2, "decks": 2}, [1016, -1016]),
        ({"target": 100}, [1 / 9, -1 / 3, 1 / 9, 1 / 9]),
    ],
)
def test_7_4_leaving(options, expected):
    state = GAME.new_state(seed=1, **options)
    while state.current_player != 1:
        state.apply(state.legal_actions()[-1])
    state.apply(FORFEIT + 1)
    assert state.returns == pytest.approx(expected)


def test_8_3_a_debt_paid_with_the_last_card_is_a_pass():
    for stock, passes in (("3h 4h", 1), ("3h", 0)):
        state = position(["2c 3c", "5d 6d", "9d 9h"], stock=stock, reshuffle=False, openspiel=True, **SPECIAL)
        assert act(state, "2c", "draw").record.num_passes == passes


# ---------------------------------------------------------------------------------------------------------------
# Against the oracle


def left_stock(state, rows):
    """The cards that left the stock, in order."""
    kinds = GAME.table.kinds
    moves = [row for row in rows.tolist() if kinds[row[KIND]].op == Op.MOVE]
    return [LABELS[row[TOKEN]] for row in moves if row[SOURCE] == table.STOCK]


def random_options(chooser):
    n = chooser.choice([2, 2, 3, 3, 4, 4, 5, 6, 7])
    special = dict(zip(("skip", "reverse", "draw_two"), chooser.sample(SPECIAL_RANKS[1:], 3), strict=True))
    special = {name: rank for name, rank in special.items() if chooser.random() < 0.7}
    options = {
        "num_players": n, "draw_limit": chooser.choice([1, 3, 5, None]), "start_special": chooser.random() < 0.7,
        "reshuffle": chooser.random() < 0.7, "max_plays": chooser.choice([None, 5, 30, 200]),
        "dealer": chooser.choice([None, n - 1]),
    }  # fmt: skip
    if chooser.random() < 0.25:
        return options | special | {"openspiel": True}
    return options | special | {
        "decks": chooser.choice([None, None, 2]), "hand_size": chooser.choice([None, None, 1, 8]),
        "draw_when_able": chooser.random() < 0.5, "stack": chooser.random() < 0.7,
        "start_eight": chooser.choice(["redraw", "wild"]), "block_passes": chooser.choice([None, 1, 5]),
        "scoring": chooser.choice(["winner_takes", "own_penalty"]), "target": chooser.choice([None, None, 50, 100]),
        "card_points": chooser.choice(["standard", "openspiel"]),
    }  # fmt: skip


def check_against_the_oracle(seed):
    """Play a random game beside the oracle; returns what was met."""
    chooser, met = random.Random(seed), collections.Counter()
    state = GAME.new_state(seed=seed, **random_options(chooser))
    rows = state.event_log()
    feed, lazy = left_stock(state, rows), chooser.random() < 0.6
    oracle = Oracle(state.options, feed, int(state.record.dealer))
    while not state.is_terminal:
        assert not feed
        assert not oracle.over
        compare(state, oracle)
        legal = state.legal_actions()
        assert {as_oracle_says(action) for action in legal} == oracle.legal()
        action = chooser.choice(legal)
        if lazy and action == DRAW:  # or else games take long
            action = legal[0]
        before = len(rows)
        state.apply(action)
        rows = state.event_log()
        feed += left_stock(state, rows[before:])
        oracle.act(as_oracle_says(action))
    assert oracle.over
    assert state.returns == pytest.approx(oracle.returns)
    assert state.record.scores[: state.num_players].tolist() == oracle.scores
    met.update(GAME.table.kinds[row[KIND]].name for row in rows.tolist())
    return met


def compare(state, oracle):
    s = state.record
    assert state.current_player == oracle.to_act
    assert [sorted(hand) for hand in hands_of(state)] == [sorted(hand) for hand in oracle.hands]
    assert [LABELS[card] for card in s.pile[: s.num_pile]] == oracle.discards
    assert sorted(LABELS[card] for card in stock_of(s)) == sorted(oracle.stock.elements())
    assert (int(s.direction), int(s.owed), int(s.num_drawn)) == (oracle.sign, oracle.owed, oracle.drawn)
    assert (int(s.num_passes), int(s.num_plays), int(s.dealer)) == (oracle.passes, oracle.plays, oracle.dealer)
    assert state.phase == ("name" if oracle.naming else "play")
    assert (None if s.suit == ANY_SUIT else SUITS[s.suit]) == oracle.suit
    assert s.hand_sizes[: oracle.n].tolist() == [len(hand) for hand in oracle.hands]


@pytest.mark.parametrize("block", range(4))
def test_games_agree_with_the_oracle(block):
    met = collections.Counter()
    for seed in range(60 * block, 60 * block + (60 if COMPILED else 2)):
        met += check_against_the_oracle(seed)
    if COMPILED:
        assert {"go_back", "skip", "direction", "owe", "recycle", "block", "long", "go_out", "name"} <= met.keys()


@pytest.mark.slow
def test_five_thousand_games_agree_with_the_oracle():
    for seed in range(1000, 6000):
        check_against_the_oracle(seed)


# ---------------------------------------------------------------------------------------------------------------
# Against OpenSpiel


def check_against_openspiel(pyspiel, seed):
    """Play one random game in both, with the same chance; returns whether OpenSpiel's text agrees on the end."""
    chooser = random.Random(seed)
    n, limit, most = chooser.randint(2, 7), chooser.choice([1, 3, 5]), chooser.choice([20, 100])
    reshuffle, special = chooser.random() < 0.5, chooser.random() < 0.5
    ranks = {"skip": "Q", "reverse": "A", "draw_two": "2"} if special else {}
    state = GAME.new_state(seed=seed, openspiel=True, num_players=n, draw_limit=limit, max_plays=most,
                           reshuffle=reshuffle, dealer=None, **ranks)  # fmt: skip
    rules = {"players": n, "max_draw_cards": limit, "max_turns": most, "reshuffle": reshuffle}
    theirs = pyspiel.load_game("crazy_eights", rules | {"use_special_cards": special}).new_initial_state()
    theirs.apply_action(52 + int(state.record.dealer))
    rows = state.event_log()
    feed(theirs, left_stock(state, rows))
    while not state.is_terminal:
        legal = state.legal_actions()
        assert (theirs.current_player(), theirs.legal_actions()) == (state.current_player, legal), seed
        action = chooser.choice(legal)
        before = len(rows)
        state.apply(action)
        theirs.apply_action(action)
        rows = state.event_log()
        feed(theirs, left_stock(state, rows[before:]))
    assert theirs.is_terminal(), seed
    assert state.returns == theirs.returns(), seed
    return state.ply


def feed(theirs, cards):
    for card in cards:
        assert theirs.is_chance_node()
        theirs.apply_action(LABELS.index(card))


@pytest.mark.parametrize("games", [150, pytest.param(5000, marks=pytest.mark.slow)])
def test_openspiel_has_the_same_games(games):
    pyspiel = pytest.importorskip("pyspiel")
    for seed in range(games if COMPILED else 5):
        check_against_openspiel(pyspiel, seed)


# ---------------------------------------------------------------------------------------------------------------
# Worlds


def played(deck, *labels, **options):
    """The state after some actions on an explicit deck."""
    state = GAME.new_state(seed=1, deck=deck, dealer=0, **options)
    for label in labels:
        state.apply(state.action_from_label(label))
    return state


def worlds_of(state, player, number=100):
    """The hands in some worlds, in each of which all cards are somewhere."""
    found, every = [], sorted(GAME.deck(state.options).tolist())
    for seed in range(number if COMPILED else 10):
        s = state.determinize(player, seed).record
        hands = [hand_of(s, p) for p in range(state.num_players)]
        cards = [PACK.parse(card) for hand in hands for card in hand]
        assert sorted([*cards, *s.pile[: s.num_pile].tolist(), *stock_of(s).tolist()]) == every
        assert hands[player] == hand_of(state.record, player)
        found.append(hands)
    return found


def shares(worlds, player):
    """In which share of worlds a player has each card."""
    count = collections.Counter(card for hands in worlds for card in hands[player])
    return {card: number / len(worlds) for card, number in count.items()}


def after_the_stock_was_made_again(seed, **options):
    """A state of random play in which the stock has been made again, and somebody has drawn from it."""
    state, chooser = GAME.new_state(seed=seed, **options), random.Random(seed)
    while not state.is_terminal and not was_made_again(state):
        state.apply(chooser.choice(state.legal_actions()))
    for _ in range(6):
        if not state.is_terminal:
            state.apply(chooser.choice(state.legal_actions()))
    return state


def test_9_1_worlds_are_equally_likely():
    state, draws = played("2c 3c 4d 5h 9s", num_players=2, hand_size=2), 6000
    found = shares(worlds_of(state, 0, draws), 1)
    if COMPILED:
        assert len(found) == 49
        assert all(abs(share - 2 / 49) < 0.013 for share in found.values())


@pytest.mark.parametrize("options", [{}, {"num_players": 2}, {"draw_when_able": False, "draw_limit": None}])
def test_9_1_cards_that_stayed_in_hands_are_no_recycled_ones(options):
    """Each player's cards of a new stock are as many as were drawn from it and not played since."""
    checked = 0
    for seed in range(12 if COMPILED else 2):
        state = after_the_stock_was_made_again(seed, **options)
        if state.is_terminal:
            continue
        player, s = state.current_player, state.record
        new = drawn_from_the_stock(state, player)
        for hands in worlds_of(state, player, 20):
            for p, hand in enumerate(hands):
                recycled = sum(int(s.recycled) >> PACK.parse(card) & 1 for card in hand)
                assert p == player or recycled == new[p]
        checked += 1
    assert checked


def test_9_1_of_two_packs_a_recycled_card_and_an_equal_one_in_hand_are_told_apart():
    checked = 0
    for seed in range(6):
        state, chooser = GAME.new_state(seed=seed, num_players=6, hand_size=8), random.Random(seed)
        while not state.is_terminal and not was_made_again(state):
            player = state.current_player
            state.apply(chooser.choice(state.legal_actions()))
        if not state.is_terminal:
            stock = sorted(PACK.texts[card] for card in state.record.deck[MAX_CARDS - state.facts(0)["stock"] :])
            others = [p for p in range(6) if p != player]  # who has just acted may have drawn from it
            assert all(sorted(state.facts(p)["recycled"]) == stock for p in others)
            checked += 1
    assert checked


def was_made_again(state):
    return state.record.stock_marks > DEALT_MARK | PUT_BACK_MARK


def drawn_from_the_stock(state, player):
    """How many cards of the present stock each player holds, as `player` sees it; None for the player."""
    new = GAME.layout(state.options).split(state.observation(player))["new_cards"].tolist()
    seen = [new[(p - player - 1) % state.num_players] if p != player else None for p in range(state.num_players)]
    really = [(int(hand) & int(state.record.recycled)).bit_count() for hand in state.record.hands]
    assert all(number in (None, really[p]) for p, number in enumerate(seen))
    return seen


@pytest.mark.skipif(not COMPILED, reason="long hands")
@pytest.mark.parametrize("options", [{}, {"draw_when_able": False, "target": 1000}, {"num_players": 6}])
def test_9_1_the_stock_may_be_made_again_very_often(options):
    """There are fewer marks than that; all that a player sees must be the same in worlds."""
    chooser, checked = random.Random(2), 0
    for seed in range(60):
        state = GAME.new_state(seed=seed, max_plays=1000, **options)
        while not state.is_terminal and checked < 20:
            state.apply(chooser.choice(state.legal_actions()))
            if state.record.num_shuffles > 10 and state.ply % 20 == 0 and not state.is_terminal:
                if state.num_players < 6 and was_made_again(state):
                    drawn_from_the_stock(state, 0)
                twin = state.determinize(0, state.ply)
                assert twin.observation(0).tolist() == state.observation(0).tolist()
                worlds_of(state, 0, 1)
                checked += 1
    assert checked


def test_9_1_with_two_packs_either_of_two_equal_cards_may_have_been_played():
    for seed in range(4 if COMPILED else 1):
        state = after_the_stock_was_made_again(seed, num_players=6, hand_size=8, draw_limit=10)
        worlds_of(state, 0, 10)


def test_9_1_an_eight_that_was_put_back_was_dealt_to_nobody():
    state = GAME.new_state(seed=1, num_players=2, dealer=0, deck="2c 3c 4d 5h 6h 7h 9h Th Jd Qd Kd 2d 3d 4h 8s")
    assert all("8s" not in hands[1] for hands in worlds_of(state, 0))
    for _ in range(5):
        state.apply(DRAW)
    assert any("8s" in hands[1] for hands in worlds_of(state, 0, 200)) or not COMPILED
    assert state.observation(0).tolist() == state.determinize(0, 5).observation(0).tolist()


def test_9_2_drawing_proves_that_nothing_fits():
    options = {"num_players": 2, "hand_size": 3, "draw_when_able": False}
    state = played("2d 3d  4d 5d  6h 7d  9c  Th Jh", "draw", "draw", **options)
    for hands in worlds_of(state, 0):
        fitting = [card for card in hands[1] if card[0] in "89" or card[1] == "c"]
        assert len(fitting) <= 1  # the card drawn last
    cannot = GAME.layout(state.options).split(state.observation(0))["cannot_be_1"]
    assert (cannot[PACK.parse("2c")], cannot[PACK.parse("8h")], cannot[PACK.parse("2d")]) == (4, 4, 0)


def test_9_2_drawing_proves_nothing_if_it_is_free():
    state = played("2c 3d  4d 5d  6h 7d  9c  Th Jh", "draw", "draw", num_players=2, hand_size=3)
    assert shares(worlds_of(state, 0, 400), 1).keys() >= {"2c", "8h"} or not COMPILED


# ---------------------------------------------------------------------------------------------------------------
# The rule agent


def advantage(deals, **options):
    """The mean return of a rule agent less that of the others, who play at random."""
    total = 0.0
    for seed in range(deals):
        state = GAME.new_state(seed=seed, **options)
        seat = seed % state.num_players
        while not state.is_terminal:
            state.apply(state.policy_action("heuristic" if state.current_player == seat else "random", seed))
        total += state.returns[seat] - (sum(state.returns) - state.returns[seat]) / (state.num_players - 1)
    return total / deals


@pytest.mark.skipif(not COMPILED, reason="hundreds of hands")
@pytest.mark.parametrize("options", [{}, {"num_players": 2}, {"num_players": 7}, {"openspiel": True, **SPECIAL}])
def test_the_rule_agent_beats_random_play(options):
    assert advantage(100, **options) > 50


def chosen(hands, **more):
    """What the rule agent does in a position."""
    state, legal = position(hands, **more), np.zeros(100, np.int32)
    n = GAME.engine.legal(state._states, 0, legal)
    return as_oracle_says(int(GAME.policies["heuristic"](state.record, legal, n, np.zeros(4, np.uint64))))


OTHERS = "2d 3d 4d 5d"


@pytest.mark.parametrize(
    ("hands", "more", "expected"),
    [
        (["8c 2c 9d", OTHERS], {"stock": "3h"}, "2c"),  # eights are kept
        (["8c 9d", OTHERS], {"stock": "3h"}, "8c"),  # until nothing else fits
        (["9d 2h", OTHERS], {"stock": "3h"}, "draw"),
        (["9d 2h", OTHERS], {}, "pass"),
        (["2c 9c 9d 9h", OTHERS], {"stock": "3h"}, "9c"),  # which leaves cards that fit
        (["2c Kc", "2d 3d"], {"stock": "3h"}, "Kc"),  # high points when somebody is nearly out
        (["Qc Kc", "2d 3d", OTHERS], {"stock": "3h", "skip": "Q"}, "Qc"),
    ],
)
def test_what_the_rule_agent_does(hands, more, expected):
    assert chosen(hands, **more) == expected


def test_the_rule_agent_names_its_longest_suit():
    state = act(position(["8c 2h 3h Ks", OTHERS], stock="3c"), "8c")
    n = GAME.engine.legal(state._states, 0, LEGAL)
    assert as_oracle_says(int(GAME.policies["heuristic"](state.record, LEGAL, n, np.zeros(4, np.uint64)))) == "name h"


@pytest.mark.parametrize("draw_when_able", [True, False])
def test_prompts_offer_to_draw_where_that_is_legal(draw_when_able):
    seen = set()
    for seed in range(10):
        state = GAME.new_state(seed=seed, draw_when_able=draw_when_able)
        for ply in range(30):
            if state.is_terminal:
                break
            if state.view(state.current_player)["prompt"].startswith("Play a card on") and not state.view(
                state.current_player
            )["prompt"].endswith("or pass."):
                draws = "draw" in [state.action_label(action) for action in state.legal_actions()]
                assert state.view(state.current_player)["prompt"].endswith(", or draw.") == draws
                seen.add(draws)
            state.apply(state.policy_action("random", ply))
    assert seen == ({True} if draw_when_able else {True, False})
