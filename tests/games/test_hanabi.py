"""Tests of Hanabi: paragraphs that the scenario files leave out, an oracle, OpenSpiel, worlds and the rule agent."""

import collections
import itertools
import random

import numpy as np
import pytest
from hanabi_oracle import Oracle, whole_deck
from scipy.special import chdtrc

from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import OptionError
from cardenvs.core.events import OMNISCIENT, SPECTATOR
from cardenvs.core.game_view import table_texts
from cardenvs.core.kernel import COMPILED
from cardenvs.core.registry import get_game
from cardenvs.games.hanabi import state as st
from cardenvs.games.hanabi.cards import LABELS

GAME = get_game("hanabi_v0")
FULL = "R1 Y1 G2 W5 B3  R2 R1 Y3 G1 W1  B1 G1 W2"
TINY = {"colors": 2, "ranks": 2, "hand_size": 2, "max_information_tokens": 2, "max_life_tokens": 2}


def played(deck, *labels, **options):
    """The state after some actions on an explicit deck. "hint red" is a hint to the next player."""
    state = GAME.new_state(seed=1, deck=deck, **options)
    for label in labels:
        act(state, label)
    return state


def act(state, label):
    if label.startswith("hint ") and "player" not in label:
        label = f"hint player_{(state.current_player + 1) % state.num_players} {label[5:]}"
    state.apply(state.action_from_label(label))


def hands_of(state):
    return [[LABELS[card] for card in st.hand_of(state.record, p)] for p in range(state.num_players)]


def random_options(chooser):
    """Options of a game, often unusual ones."""
    while True:
        given = {
            "num_players": chooser.randint(2, 5),
            "preset": chooser.choice(["full", "full", "small", "very_small"]),
        }
        if chooser.random() < 0.5:
            given |= {
                "colors": chooser.randint(1, 5), "ranks": chooser.randint(1, 5), "hand_size": chooser.randint(1, 5),
                "max_information_tokens": chooser.randint(1, 8), "max_life_tokens": chooser.randint(1, 3),
            }  # fmt: skip
        given |= {
            "bomb_score": chooser.choice(["zero", "count"]), "empty_hints": chooser.random() < 0.3,
            "discard_at_max": chooser.random() < 0.3, "start_player": chooser.choice(["0", "random"]),
            "rainbow": chooser.choice(["off", "suit", "wild"]),
        }  # fmt: skip
        try:
            GAME.make_options(**given)
        except OptionError:
            continue
        return given


# ---------------------------------------------------------------------------------------------------------------
# The oracle


def check_against_oracle(seed):
    """Play a random game, in which cards that can be played often are, beside the oracle."""
    chooser = random.Random(seed)
    given = random_options(chooser)
    options = GAME.make_options(**given)
    deck = whole_deck(options.colors, options.ranks, options.rainbow)
    chooser.shuffle(deck)
    state = GAME.new_state(seed=seed, deck=" ".join(deck), **given)
    theirs = Oracle(deck, options, state.current_player)
    careful = chooser.random()
    while not state.is_terminal:
        assert not theirs.over
        assert state.current_player == theirs.player
        labels = {state.action_label(action): action for action in state.legal_actions()}
        assert sorted(labels) == sorted(theirs.legal())
        label = chooser.choice(theirs.legal())
        if label.startswith("play") and chooser.random() < careful:
            held = theirs.hands[theirs.player][int(label[5:]) - 1]["card"]
            if int(held[1]) != 1 + sum(card[0] == held[0] for card in theirs.fireworks):
                continue
        state.apply(labels[label])
        theirs.act(label)
        s = state.record
        assert hands_of(state) == [[held["card"] for held in hand] for hand in theirs.hands]
        assert (s.information, s.lives, st.score_of(s)) == (theirs.tokens, theirs.lives, theirs.score())
        assert (s.turns_left, st.in_stock(s)) == (theirs.turns_left or 0, len(theirs.stock))
        assert set(state.rewards) == {theirs.rewards}
        piles = table_texts(state.view(SPECTATOR))["piles"]
        assert sorted(piles["discards"]) == sorted(theirs.discards)
        assert sorted(piles["fireworks"]) == sorted(theirs.fireworks)
        for p in range(state.num_players):
            for k, can_be in enumerate(theirs.can_be(p)):
                fits = int(st.possible(s, p, k))
                assert {label for card, label in enumerate(LABELS) if fits >> 2 * card & 1} == can_be
    assert theirs.over
    assert set(state.returns) == {theirs.returns}
    return state.returns[0]


@pytest.mark.parametrize("block", range(4))
def test_games_agree_with_the_oracle(block):
    number = 60 if COMPILED else 3
    scores = [check_against_oracle(seed) for seed in range(block * number, (block + 1) * number)]
    assert len(set(scores)) > 1


@pytest.mark.slow
def test_five_thousand_games_agree_with_the_oracle():
    for seed in range(1000, 6000):
        check_against_oracle(seed)


# ---------------------------------------------------------------------------------------------------------------
# OpenSpiel


def openspiel_card(card, options):
    return int("RYGWB".index(card[0])) * options.ranks + int(card[1]) - 1


def check_against_openspiel(pyspiel, seed):
    """Play the same random game in OpenSpiel; observations are equal bit for bit. Returns the number of decisions."""
    chooser = random.Random(seed)
    minimal, n = chooser.random() < 0.3, chooser.randint(2, 5)
    sizes = [{}, {"preset": "small"}, {"preset": "very_small"}, {"colors": 3, "ranks": 4}][chooser.randrange(4)]
    if sizes.get("preset") == "very_small":
        n = min(n, 4)
    given = sizes | {"num_players": n, "encoding": "canonical_minimal" if minimal else "canonical"}
    options = GAME.make_options(**given)
    deck = whole_deck(options.colors, options.ranks, "off")
    chooser.shuffle(deck)
    state = GAME.new_state(seed=seed, deck=" ".join(deck), **given)
    theirs = pyspiel.load_game("hanabi", {
        "players": n, "colors": options.colors, "ranks": options.ranks, "hand_size": options.hand_size,
        "max_information_tokens": options.max_information_tokens, "max_life_tokens": options.max_life_tokens,
        "observation_type": "minimal" if minimal else "card_knowledge",
    })  # fmt: skip
    assert theirs.num_distinct_actions() == GAME.num_actions(options)
    assert theirs.observation_tensor_shape() == [GAME.layout(options).size]
    theirs, stock, decisions, careful = theirs.new_initial_state(), iter(deck), 0, chooser.random()
    while True:
        while theirs.is_chance_node():
            theirs.apply_action(openspiel_card(next(stock), options))
        assert theirs.is_terminal() == state.is_terminal
        for p in range(n):
            assert (np.array(theirs.observation_tensor(p), np.int8) == state.observation(p)).all()
        assert list(theirs.rewards()) == list(state.rewards)
        if state.is_terminal:
            break
        assert theirs.current_player() == state.current_player
        assert theirs.legal_actions() == state.legal_actions()
        action = chooser.choice(state.legal_actions())
        place = action - options.hand_size
        if 0 <= place < options.hand_size and chooser.random() < careful:
            s = state.record
            if not int(s.playable) >> 2 * int(s.hands[state.current_player, place]) & 1:
                continue
        theirs.apply_action(action)
        state.apply(action)
        decisions += 1
    assert list(theirs.returns()) == list(state.returns)
    return decisions


def test_openspiel_has_the_same_games_and_observations():
    pyspiel = pytest.importorskip("pyspiel")
    assert sum(check_against_openspiel(pyspiel, seed) for seed in range(60 if COMPILED else 2)) > 50


@pytest.mark.slow
def test_openspiel_has_the_same_two_thousand_games():
    pyspiel = pytest.importorskip("pyspiel")
    for seed in range(100, 2100):
        check_against_openspiel(pyspiel, seed)


# ---------------------------------------------------------------------------------------------------------------
# Paragraphs and scenarios


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_players": 5, "preset": "very_small", "hand_size": 4}, "5 hands of 4 cards need 20 cards, but .* has 10"),
        ({"num_players": 6}, "2 to 5"),
        ({"rainbow": "wild", "encoding": "canonical"}, "knows no rainbow"),
    ],
)  # fmt: skip
def test_scenario_16_options_that_do_not_fit(options, message):
    with pytest.raises(OptionError, match=message):
        GAME.make_options(**options)


@pytest.mark.parametrize(
    ("options", "cards", "best"),
    [
        ({}, 50, 25), ({"preset": "small"}, 20, 10), ({"preset": "very_small"}, 10, 5),
        ({"colors": 3, "ranks": 4}, 24, 12), ({"rainbow": "suit"}, 60, 30), ({"ranks": 1, "hand_size": 2}, 15, 5),
    ],
)  # fmt: skip
def test_1_2_scenario_3_presets_and_decks(options, cards, best):
    made = GAME.make_options(**options)
    assert len(GAME.deck(made)) == st.num_cards(made) == cards
    assert GAME.returns(made).high == best


def test_1_2_a_preset_leaves_options_that_are_given():
    made = GAME.make_options(preset="small", max_life_tokens=3, num_players=4)
    assert (made.colors, made.hand_size, made.max_information_tokens, made.max_life_tokens) == (2, 2, 3, 3)
    assert [GAME.make_options(num_players=n).hand_size for n in (2, 3, 4, 5)] == [5, 5, 4, 4]


def test_2_2_hands_are_dealt_one_after_the_other_and_anybody_may_begin():
    assert hands_of(played(FULL)) == [["R1", "Y1", "G2", "W5", "B3"], ["R2", "R1", "Y3", "G1", "W1"]]
    begins = collections.Counter(
        GAME.new_state(seed=seed, num_players=3, start_player="random").current_player for seed in range(300)
    )
    assert min(begins[p] for p in range(3)) > 70


def test_scenario_2_cards_move_down_and_new_ones_come_last():
    state = played(FULL, "hint red", "play 2", "play 1", "discard 5")
    assert hands_of(state) == [["Y1", "G2", "W5", "B3", "G1"], ["R2", "Y3", "G1", "W1", "W2"]]


def test_scenario_5_rewards():
    state, rewards = played("R1 Y2 Y1 R2 R1 R1 Y1 Y1", **TINY), []
    for label in ("play 1", "hint yellow", "play 1", "play 2", "play 1"):
        act(state, label)
        assert len(set(state.rewards)) == 1
        rewards.append(state.rewards[0])
    assert rewards == [1, 0, 0, 1, -2]


def test_3_1_empty_hints_touch_nothing():
    state = played(FULL, "hint blue", empty_hints=True)
    assert state.record.last_touched[0] == 0
    assert list(state.record.suits[1, :5]) == [0b01111] * 5


def test_3_2_a_discard_at_the_maximum_brings_no_token():
    state = played(FULL, "discard 1", discard_at_max=True)
    assert state.record.information == 8


def test_4_1_without_a_deck_each_player_has_one_turn():
    deck = " ".join(whole_deck(1, 5, "off"))
    state = played(deck, preset="very_small", hand_size=5)
    assert state.record.turns_left == 2
    act(state, "play 1")
    act(state, "play 1")
    assert state.is_terminal


def test_4_4_who_leaves_ends_the_game_with_nothing():
    state = played(FULL, "hint red", "play 2")
    state.apply(FORFEIT + 0)
    assert state.is_terminal
    assert list(state.returns) == [0, 0]


def test_5_1_hands_are_seen_by_all_but_their_owners():
    state = played(FULL)
    shown = [table_texts(state.view(viewer))["piles"]["hand"] for viewer in (0, 1, SPECTATOR)]
    assert [["?" in text for text in (hands[0][0], hands[1][0])] for hands in shown] == [
        [True, False], [False, True], [True, True],
    ]  # fmt: skip


def test_scenario_13_knowledge_moves_with_the_cards():
    state = played(FULL, "hint red")
    assert state.facts(1)["hands_known_as"][1] == ["R", "R", "YGWB", "YGWB", "YGWB"]
    act(state, "play 2")
    assert state.facts(1)["hands_known_as"][1] == ["R", "YGWB", "YGWB", "YGWB", "?"]
    (hand,) = (pile for pile in state.view(0)["piles"] if pile["id"] == "hand.1")
    assert hand["captions"] == ["R", "YGWB", "YGWB", "YGWB", "?"]
    assert state.view(1)["sheet"]["rows"] == [hand["captions"]]


@pytest.mark.parametrize("encoding", ["own", "canonical", "canonical_minimal"])
def test_scenario_14_own_cards_do_not_change_what_a_player_sees(encoding):
    first, second = (
        played(FULL.replace("R1 Y1", cards, 1), "hint red", encoding=encoding) for cards in ("R1 Y1", "Y1 R1")
    )
    assert (first.observation(0) == second.observation(0)).all()
    assert (first.observation(1) != second.observation(1)).any()


@pytest.mark.parametrize(
    ("players", "action", "label"),
    [
        (2, 12, "hint player_1 green"), (2, 19, "hint player_1 5"), (3, 19, "hint player_2 blue"),
        (3, 29, "hint player_2 5"),
        (4, 19, "hint player_3 yellow"), (4, 23, "hint player_1 1"),
    ],
)  # fmt: skip
def test_scenario_15_ids(players, action, label):
    assert GAME.new_state(seed=1, num_players=players).action_label(action) == label


def test_6_numbers_of_actions():
    sizes = [GAME.num_actions(GAME.make_options(num_players=n)) for n in (2, 3, 4, 5)]
    sizes += [GAME.num_actions(GAME.make_options(preset=preset)) for preset in ("small", "very_small")]
    assert sizes == [20, 30, 38, 48, 11, 10]


@pytest.mark.parametrize(("rainbow", "colours", "known"), [("wild", "red", "RM"), ("suit", "red", "R")])
def test_7_1_the_rainbow(rainbow, colours, known):
    state = played("R1 Y1 G2 W5 B3  M2 R1 Y3 G1 W1", f"hint {colours}", rainbow=rainbow)
    assert state.record.last_touched[0] == (0b00011 if rainbow == "wild" else 0b00010)
    assert state.facts(0)["hands_known_as"][1][1] == known
    labels = [state.action_label(action) for action in range(GAME.num_actions(state.options))]
    assert any("rainbow" in label for label in labels) == (rainbow == "suit")


# ---------------------------------------------------------------------------------------------------------------
# Worlds


def tiny_position():
    """A position late in a small game: player 0 knows something about each card."""
    return played(
        "R1 Y2 Y1 R2 R1 Y1 R1 Y1", "hint red", "hint 1", "play 1", "play 1",
        colors=2, ranks=2, hand_size=2, max_information_tokens=2, max_life_tokens=2,
    )  # fmt: skip


def test_5_4_worlds_are_uniform_over_the_hands_that_fit():
    state = tiny_position()
    s = state.record
    hidden = [*(int(card) for card in st.hand_of(s, 0)), *(int(card) for card in st.stock_of(s))]
    fits = collections.Counter(
        order
        for order in itertools.permutations(hidden)
        if all(int(st.possible(s, 0, k)) >> 2 * card & 1 for k, card in enumerate(order[:2]))
    )
    assert len(fits) > 1
    number = 4000 if COMPILED else 100
    found = collections.Counter()
    for seed in range(number):
        world = state.determinize(0, seed).record
        found[tuple(int(card) for card in (*st.hand_of(world, 0), *st.stock_of(world)))] += 1
    assert set(found) <= set(fits)
    total = sum(fits.values())
    statistic = sum((found[o] - number * w / total) ** 2 / (number * w / total) for o, w in fits.items())
    assert chdtrc(len(fits) - 1, statistic) > 1e-4


def test_worlds_do_not_depend_on_the_true_hand():
    first, second = (played(FULL.replace("R1 Y1", cards, 1), "hint red") for cards in ("R1 Y1", "Y1 R1"))
    for seed in range(5):
        assert first.determinize(0, seed).table(OMNISCIENT) == second.determinize(0, seed).table(OMNISCIENT)


# ---------------------------------------------------------------------------------------------------------------
# The rule agent


def mean_score(deals, **options):
    """The mean score of the rule agent with itself."""
    total = 0
    for seed in range(deals):
        state = GAME.new_state(seed=seed, **options)
        while not state.is_terminal:
            state.apply(state.policy_action("heuristic", seed))
        total += state.returns[0]
    return total / deals


@pytest.mark.skipif(not COMPILED, reason="slow without the compiler")
@pytest.mark.parametrize(("players", "least"), [(2, 21.5), (3, 21), (4, 20), (5, 18)])
def test_the_rule_agent_scores(players, least):
    assert mean_score(60, num_players=players) > least


def test_a_hint_is_about_the_newest_new_card_or_the_one_to_be_discarded():
    state = played(FULL, "hint red")
    assert [int(called) != 0 for called in state.record.called[1]] == [True, False, False, False, False]
    state = played(FULL, "hint 1")
    assert [int(called) != 0 for called in state.record.called[1]] == [False, False, False, False, True]
