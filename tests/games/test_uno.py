"""Tests of Uno: paragraphs that the scenario files leave out, an oracle, RLCard, worlds and the rule agent."""

import collections
import random

import numpy as np
import pytest
from uno_oracle import Oracle

from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import DeckError, OptionError
from cardenvs.core.events import KIND, NO_LOG, SOURCE, SPECTATOR, TOKEN, Op
from cardenvs.core.game_view import table_texts
from cardenvs.core.kernel import COMPILED
from cardenvs.core.registry import get_game
from cardenvs.games.uno import actions, table
from cardenvs.games.uno.cards import CODES, COLOUR_CODES, COPIES, DECK_POINTS, NUM_KINDS, POINTS, WILD
from cardenvs.games.uno.state import PHASES

GAME = get_game("uno_v0")
PARSE = GAME.view.parse_token


def listed(counts):
    return sorted(CODES[kind] for kind, number in enumerate(counts) for _ in range(int(number)))


def hands_of(state):
    return [listed(hand) for hand in state.record.hands[: state.num_players]]


def position(hands, top="r-7", stock="", pile="", **options):
    """A position of a round: hands by player, the top card, the draw pile from the top, the other discards.

    Player 0 is to act. Cards that are not named are out of play.
    """
    hands = [hand.split() for hand in hands]
    state = GAME.new_state(seed=1, **{"num_players": len(hands)} | options)
    s = state._states
    for p, hand in enumerate(hands):
        kinds = [PARSE(card) for card in hand]
        s["hands"][0, p] = np.bincount(kinds, minlength=NUM_KINDS)
        s["held"][0, p], s["hand_sizes"][0, p] = sum(1 << kind for kind in set(kinds)), len(kinds)
    drawn, discards = [PARSE(card) for card in stock.split()], [PARSE(card) for card in (*pile.split(), top)]
    s["deck"][0], s["pile"][0], s["num_stock"], s["num_pile"] = -1, -1, len(drawn), len(discards)
    s["deck"][0, 108 - len(drawn) :], s["pile"][0, : len(discards)] = drawn, discards
    s["discarded"][0] = np.bincount(discards, minlength=NUM_KINDS)
    s["colour"], s["symbol"], s["direction"] = discards[-1] // 13, discards[-1] % 13, 1
    s["phase"], s["current_player"], s["author"], s["is_plain"] = PHASES.index("play"), 0, -1, 1
    state._wide = None
    return state


LEGAL = np.zeros(100, np.int32)


def act(state, *labels):
    """Apply actions without events, which a position that was not dealt has none of."""
    for label in labels:
        action = next(
            a for a in range(GAME.num_actions(state.options)) if GAME.view.action_label(state.record, a) == label
        )
        n = GAME.engine.legal(state._states, 0, LEGAL)
        assert action in LEGAL[:n], f"{label} is illegal"
        GAME.engine.apply(state._states, 0, action, NO_LOG, LEGAL)
        state._wide = None  # the copy for Python
    return state


def legal_in(state):
    n = GAME.engine.legal(state._states, 0, LEGAL)
    return [GAME.view.action_label(state.record, action) for action in LEGAL[:n]]


def top_of(state):
    s = state.record
    return CODES[s.pile[s.num_pile - 1]]


# ---------------------------------------------------------------------------------------------------------------
# Paragraphs


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_players": 1}, "2 to 10"),
        ({"num_players": 11}, "2 to 10"),
        ({"rlcard": True, "wild4": "strict"}, "rules of its own; leave wild4 at its default"),
        ({"rlcard": True, "target": 100}, "leave target at its default"),
    ],
)
def test_options_that_do_not_fit(options, message):
    with pytest.raises(OptionError, match=message):
        GAME.make_options(**options)


def test_1_2_the_cards():
    assert (COPIES.sum(), (COPIES * POINTS).sum(), DECK_POINTS) == (108, 1240, 1240)
    count = dict(zip(CODES, COPIES.tolist(), strict=True))
    assert (count["r-0"], count["g-9"], count["b-skip"], count["wild"], count["wild_draw_4"]) == (1, 2, 2, 4, 4)
    points = dict(zip(CODES, POINTS.tolist(), strict=True))
    assert (points["r-0"], points["g-9"], points["b-reverse"], points["wild_draw_4"]) == (0, 9, 20, 50)


@pytest.mark.parametrize("text", ["b-draw_2", "B-Draw_2", "blue Draw Two", " blue draw two "])
def test_cards_are_read_as_they_are_written(text):
    assert CODES[PARSE(text)] == "b-draw_2"


def test_a_text_that_names_no_card():
    with pytest.raises(DeckError, match="'r-10' is not a card; cards are written as in"):
        GAME.new_state(seed=1, deck="r-10")


def test_2_1_the_deal():
    state = GAME.new_state(seed=3)
    assert state.record.dealer == 3
    assert [len(hand) for hand in hands_of(state)][1:3] == [7, 7]
    assert GAME.new_state(seed=3, hand_size=2).record.hand_sizes[1] == 2


def test_2_1_the_deal_passes_on():
    state, dealers = GAME.new_state(seed=1, hand_size=1, target=5000, max_turns=20), set()
    chooser = random.Random(1)
    for _ in range(300):
        dealers.add(int(state.record.dealer))
        state.apply(chooser.choice(state.legal_actions()))
    assert dealers == {0, 1, 2, 3}


def test_2_2_a_wild_draw_four_goes_back():
    for seed in range(5):
        state = GAME.new_state(seed=seed, num_players=2, hand_size=1, deck="g-1 g-2 wild_draw_4")
        assert top_of(state) != "wild_draw_4"
        assert (state.record.num_stock, state.record.num_pile) == (105 - int(state.record.hand_sizes[:2].sum() - 2), 1)
        assert "Wild Draw Four goes back into the draw pile." in state.recap(SPECTATOR)


def test_3_1_what_is_open():
    state = GAME.new_state(seed=1)
    piles = table_texts(state.view(SPECTATOR))["piles"]
    assert piles["hand"] == [["?"] * 7] * 4
    assert set(piles["draw_pile"]) == {"?"}
    assert "?" not in piles["discards"]
    assert "?" not in table_texts(state.view(2))["piles"]["hand"][2]


def test_4_2_drawing_does_not_show_whether_the_card_fits():
    for card in ("b-1", "r-1"):
        state = GAME.new_state(seed=1, num_players=2, hand_size=2, deck=f"g-5 y-2 b-8 b-9 r-7 {card}")
        state.apply(actions.DRAW)
        assert state.current_player == 0
        state.apply(actions.PASS)
        assert state.current_player == 1
        assert state.recap(1)[-2:] == ["player_0 draws a card.", "player_0 keeps a card."]


def test_4_5_the_colour_in_force_may_be_named():
    state = GAME.new_state(seed=1, num_players=2, hand_size=2, deck="wild y-2 r-8 b-9 r-7")
    state.apply(state.action_from_label("play Wild, name red"))
    assert "player_0 names red." in state.recap(1)
    assert state.action_label(state.legal_actions()[0]) == "play red 8"


def test_4_7_scenario_10_the_discards_become_the_draw_pile():
    state = act(position(["g-5", "g-6 g-8"], stock="y-9", pile="b-3 r-4"), "draw", "keep")
    assert (hands_of(state)[0], state.record.num_stock) == (["g-5", "y-9"], 0)
    act(state, "draw", "keep")
    drawn = set(hands_of(state)[1]) - {"g-6", "g-8"}
    assert drawn | {CODES[kind] for kind in state.record.deck[107:]} == {"b-3", "r-4"}
    assert (top_of(state), state.record.num_pile) == ("r-7", 1)


def test_4_7_scenario_11_nothing_is_left_to_draw():
    state = act(position(["g-5 g-4", "g-6 g-8"], pile="b-3"), "draw", "keep")
    assert hands_of(state)[0] == ["b-3", "g-4", "g-5"]
    act(state, "draw")
    assert (state.current_player, hands_of(state)[1]) == (0, ["g-6", "g-8"])


def test_5_2_scenario_8_cards_drawn_for_the_last_card_count():
    hands = ["r-draw_2", "r-1 b-9 wild", "b-1 g-skip wild_draw_4"]
    state = act(position(hands, stock="b-1 wild y-9", returns="points"), "play red Draw Two")
    assert state.record.terminal
    assert state.record.scores[:3].tolist() == [182, 0, 0]
    assert state.record.returns[:3].tolist() == [182, -91, -91]


def test_5_2_a_last_wild_draw_four_is_not_challenged():
    state = act(position(["wild_draw_4", "r-1"], stock="b-1 b-2 b-3 b-4 b-5"), "play Wild Draw Four, name red")
    assert (state.record.terminal, state.record.hand_sizes[1]) == (1, 5)


def test_5_3_a_long_round_is_drawn():
    state = GAME.new_state(seed=2, max_turns=1)
    while not state.is_terminal:
        state.apply(actions.DRAW if actions.DRAW in state.legal_actions() else state.legal_actions()[-1])
    assert state.returns == [0, 0, 0, 0]
    assert "After 1 turn the round is drawn." in state.recap(SPECTATOR)


def test_6_1_hands_are_shown():
    state = GAME.new_state(seed=2, num_players=2, hand_size=1, deck="r-1 g-9 r-7")
    state.apply(state.legal_actions()[0])
    assert table_texts(state.view(SPECTATOR))["piles"]["hand"] == [[], ["green 9"]]


def test_6_1_hands_that_are_shown_are_known_to_all():
    state = GAME.new_state(seed=2)
    while not state.is_terminal:
        state.apply(state.policy_action("heuristic", state.ply))
    for player in range(state.num_players):
        facts = state.facts(player)
        assert [len(hand) for hand in facts["known_hands"]] == facts["hand_sizes"]
        assert sum(facts["not_seen_yet"].values()) == facts["draw_pile"]


def test_6_2_points_against():
    state = act(position(["r-1", "b-9 wild"], scoring="against", returns="points"), "play red 1")
    assert state.record.scores[:2].tolist() == [0, 59]
    assert state.record.returns[:2].tolist() == [59, -59]


@pytest.mark.parametrize(("score", "is_over"), [(480, True), (440, False)])
def test_6_3_scenario_14_a_match(score, is_over):
    state = position(["r-1", "g-5 y-draw_2 b-draw_2"], target=500)
    state._states["scores"][0, :2] = score, 450
    act(state, "play red 1")
    assert state.record.scores[:2].tolist() == [score + 45, 450]
    assert bool(state.record.terminal) == is_over
    assert state.record.returns[:2].tolist() == ([1, -1] if is_over else [0, 0])
    assert state.record.num_hands == (1 if is_over else 2)


def test_6_3_players_who_are_level_share():
    state = position(["r-1", "r-2", "wild"], target=50, scoring="against")
    act(state, "play red 1")
    assert state.record.scores[:3].tolist() == [0, 2, 50]
    assert state.record.returns[:3].tolist() == [1, -0.5, -0.5]
    state = position(["r-1", "r-0", "wild"], target=50, scoring="against")
    act(state, "play red 1")
    assert state.record.returns[:3].tolist() == [0.25, 0.25, -0.5]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [1 / 9, -1 / 3, 1 / 9, 1 / 9]),
        ({"returns": "points"}, [1240 / 9, -1240 / 3, 1240 / 9, 1240 / 9]),
        ({"returns": "points", "scoring": "against", "target": 100}, [1339 / 3, -1339, 1339 / 3, 1339 / 3]),
    ],
)
def test_6_5_leaving(options, expected):
    state = GAME.new_state(seed=1, **options)
    while state.current_player != 1:
        state.apply(state.legal_actions()[-1])
    state.apply(FORFEIT + 1)
    assert state.returns == pytest.approx(expected)


def test_7_1_the_sum_is_drawn_when_a_stack_ends_the_round():
    state = position(["r-draw_2 b-1", "b-draw_2", "b-9"], stock="y-1 y-2 y-3 y-4 y-5", stacking="same")
    act(state, "play red Draw Two", "play blue Draw Two")
    assert (state.record.terminal, state.record.hand_sizes[:3].tolist()) == (1, [1, 0, 5])


def test_7_1_wild_draw_four_is_strict_except_on_a_stack():
    state = position(["r-draw_2 b-1 wild_draw_4", "b-1 wild_draw_4 b-2", "b-9"], stacking="any", stock="y-1 y-2")
    assert legal_in(state) == ["play red Draw Two", "draw"]
    act(state, "play red Draw Two", "play Wild Draw Four, name blue")
    assert legal_in(state) == ["draw 6"]


def test_7_2_drawing_until_a_card_fits():
    state = act(position(["g-5", "b-8"], stock="b-1 y-2 r-3 r-4", draw="until_playable"), "draw")
    assert (hands_of(state)[0], CODES[state.record.drawn]) == (["b-1", "g-5", "y-2"], "r-3")
    assert legal_in(state) == ["play red 3", "keep"]


def test_7_3_a_player_who_can_play_must():
    state = position(["r-5 g-5", "b-8 b-9"], stock="y-1 g-1", forced_play=True)
    assert legal_in(state) == ["play red 5"]
    act(state, "play red 5", "draw", "keep")
    assert legal_in(state) == ["play green 5"]


def test_7_4_a_seven_swaps_hands():
    state = position(["r-7 g-5 g-6", "b-8", "y-1 y-2"], top="r-1", seven_zero=True)
    act(state, "play red 7")
    assert legal_in(state) == ["swap with player_1", "swap with player_2"]
    act(state, "swap with player_2")
    assert hands_of(state) == [["y-1", "y-2"], ["b-8"], ["g-5", "g-6"]]
    assert state.current_player == 1


def test_7_4_a_zero_hands_all_on():
    hands = ["r-0 g-5 g-6", "b-8", "y-1 y-2"]
    assert hands_of(act(position(hands, seven_zero=True), "play red 0")) == [["y-1", "y-2"], ["g-5", "g-6"], ["b-8"]]
    state = position(hands, seven_zero=True)
    state._states["direction"] = -1
    assert hands_of(act(state, "play red 0")) == [["b-8"], ["y-1", "y-2"], ["g-5", "g-6"]]


def test_7_4_players_remember_what_they_gave_away():
    deck = "r-7 g-5 b-8 b-9 y-1 y-2 r-1"
    state = GAME.new_state(seed=1, num_players=3, hand_size=2, seven_zero=True, deck=deck)
    state.apply(state.action_from_label("play red 7"))
    state.apply(state.action_from_label("swap with player_2"))
    assert state.facts(0)["known_hands"] == [["yellow 1", "yellow 2"], [], ["green 5"]]
    assert state.facts(2)["known_hands"] == [["yellow 1", "yellow 2"], [], ["green 5"]]
    assert state.facts(1)["known_hands"] == [[], ["blue 8", "blue 9"], []]
    for seed in range(20):
        assert hands_of(state.determinize(0, seed))[2] == ["g-5"]


def test_7_5_an_identical_card_is_played_out_of_turn():
    state = position(["r-5 g-5", "b-8", "r-5 y-2", "y-1"], jump_in=True)
    act(state, "play red 5")
    assert (state.current_player, legal_in(state)) == (1, ["pass"])
    act(state, "pass")
    assert legal_in(state) == ["play red 5", "pass"]
    act(state, "play red 5")  # the last copy: nobody else is asked
    assert (state.current_player, state.phase) == (3, "play")


def test_7_5_only_the_last_card_takes_effect():
    state = position(["r-draw_2 g-5", "b-8 b-9", "r-draw_2 y-2", "y-1"], jump_in=True, stock="y-3 y-4 y-5 y-6")
    act(state, "play red Draw Two", "pass", "play red Draw Two")
    assert state.record.hand_sizes[:4].tolist() == [1, 2, 1, 3]
    assert state.current_player == 0


def test_7_6_saying_uno_and_being_caught():
    hands, more = ["r-5 g-5", "b-8 b-9", "y-1 y-2"], {"uno_call": "action", "stock": "b-1 b-2 b-3"}
    state = act(position(hands, **more), "play red 5")
    assert legal_in(state) == ["say nothing", "say Uno"]
    assert act(state, "say Uno").current_player == 1
    assert state.phase == "play"
    state = act(position(hands, **more), "play red 5", "say nothing", "pass")
    assert (state.current_player, legal_in(state)) == (2, ["pass", "catch"])
    act(state, "catch")
    assert hands_of(state)[0] == ["b-1", "b-2", "g-5"]
    assert (state.current_player, state.phase) == (1, "play")


def test_8_5_rlcard_shuffles_the_top_card_too():
    state = act(position(["g-5 g-4", "g-6 g-8"], pile="b-3 b-4", rlcard=True), "draw")
    assert (state.record.num_stock + state.record.num_pile, state.record.hand_sizes[0]) in {(2, 3), (3, 2)}
    assert "r-7" in [CODES[kind] for kind in state.record.deck[106:]] or state.record.num_pile == 1


# ---------------------------------------------------------------------------------------------------------------
# Against the oracle


def left_draw_pile(state, rows):
    """The cards that left the draw pile, in order."""
    kinds = GAME.table.kinds
    return [CODES[row[TOKEN]] for row in rows.tolist() if kinds[row[KIND]].op == Op.MOVE and row[SOURCE] == table.STOCK]


def as_oracle_says(action):
    """An action id as the oracle writes it."""
    if action < actions.DRAW:
        kind = int(actions.kind_played(action))
        return f"{CODES[kind]} {COLOUR_CODES[action // 15]}" if kind >= WILD else CODES[kind]
    if action >= actions.SWAP_0:
        return f"swap {action - actions.SWAP_0}"
    if actions.NAME_0 <= action < actions.SAY_UNO:
        return f"name {COLOUR_CODES[action - actions.NAME_0]}"
    return {60: "draw", 61: "pass", 62: "accept", 63: "challenge", 68: "uno", 69: "catch"}[action]


def random_options(chooser):
    if chooser.random() < 0.2:
        return {"rlcard": True, "num_players": chooser.choice([2, 2, 3, 5]), "max_turns": chooser.choice([40, 1000])}
    options = {
        "num_players": chooser.choice([2, 2, 3, 3, 4, 5, 7, 10]), "hand_size": chooser.choice([1, 3, 7, 7, 10]),
        "wild4": chooser.choice(["challenge", "strict"]), "stacking": chooser.choice(["none", "none", "same", "any"]),
        "draw": chooser.choice(["one", "one", "until_playable"]), "scoring": chooser.choice(["winner", "against"]),
        "returns": chooser.choice(["win", "points"]), "uno_call": chooser.choice(["auto", "action"]),
        "max_turns": chooser.choice([30, 200, 1000]), "target": chooser.choice([None, None, 50, 200]),
    }  # fmt: skip
    return options | {name: chooser.random() < 0.3 for name in ("forced_play", "seven_zero", "jump_in")}


def check_against_the_oracle(seed):
    """Play a random game beside the oracle; returns the phases met."""
    chooser, met = random.Random(seed), collections.Counter()
    state = GAME.new_state(seed=seed, **random_options(chooser))
    rows = state.event_log()
    feed, colours = left_draw_pile(state, rows), [COLOUR_CODES[int(state.record.colour)]]
    oracle, lazy = Oracle(state.options, feed, colours), chooser.random() < 0.5
    while not state.is_terminal:
        assert not feed
        assert not oracle.over
        compare(state, oracle)
        legal = state.legal_actions()
        assert {as_oracle_says(action) for action in legal} == oracle.legal()
        met[state.phase] += 1
        action = chooser.choice(legal)
        if lazy and action == actions.DRAW and len(legal) > 1:  # or else games take long
            action = legal[0]
        before = len(rows)
        state.apply(action)
        rows = state.event_log()
        feed += left_draw_pile(state, rows[before:])
        colours[:] = [COLOUR_CODES[int(state.record.colour)]]
        oracle.act(as_oracle_says(action))
    assert oracle.over
    assert state.returns == pytest.approx(oracle.returns)
    assert state.record.scores[: state.num_players].tolist() == oracle.scores
    return met


def compare(state, oracle):
    s = state.record
    assert state.current_player == oracle.to_act
    assert hands_of(state) == [sorted(hand) for hand in oracle.hands]
    assert [CODES[kind] for kind in s.pile[: s.num_pile]] == oracle.discards
    assert sorted(CODES[kind] for kind in s.deck[108 - s.num_stock :]) == sorted(oracle.pile.elements())
    assert int(s.direction) == oracle.sign
    assert state.phase == oracle.question
    if state.phase != "name":
        assert COLOUR_CODES[s.colour] == oracle.colour


@pytest.mark.parametrize("block", range(4))
def test_games_agree_with_the_oracle(block):
    met = collections.Counter()
    for seed in range(40 * block, 40 * block + (40 if COMPILED else 2)):
        met += check_against_the_oracle(seed)
    if COMPILED:
        assert met.keys() == set(PHASES)


@pytest.mark.slow
def test_three_thousand_games_agree_with_the_oracle():
    for seed in range(1000, 4000):
        check_against_the_oracle(seed)


# ---------------------------------------------------------------------------------------------------------------
# Against RLCard


class FedDeck(list):
    """RLCard's draw pile, from which cards are taken in a given order."""

    def __init__(self, cards, feed):
        super().__init__(cards)
        self.feed = feed

    def pop(self):
        card = self.feed.pop(0)
        return super().pop(next(k for k, one in enumerate(self) if in_our_words(one) == card))


class FedChance:
    """RLCard's random numbers: decks are not shuffled, and colours are given."""

    def __init__(self):
        self.colour = None

    def choice(self, colours):
        assert self.colour in colours
        return self.colour

    def shuffle(self, deck):
        pass


def in_our_words(card):
    """The code of one of RLCard's cards, as far as it lies in a hand or a pile."""
    return card.trait if card.type == "wild" else f"{card.color}-{card.trait}"


@pytest.fixture
def rlcard_game(monkeypatch):
    """A function that makes RLCard's game with a given chance."""
    module = pytest.importorskip("rlcard.games.uno.game")
    usual = module.Dealer

    def make(num_players, feed, chance):
        def fed_dealer(np_random):
            dealer = usual(np_random)
            dealer.deck = FedDeck(dealer.deck, feed)
            return dealer

        monkeypatch.setattr(module, "Dealer", fed_dealer)
        game = module.UnoGame(num_players=num_players)
        game.np_random = chance
        return game

    return make


def check_against_rlcard(make, seed, num_players):
    """Play one random game in both, with the same chance."""
    state = GAME.new_state(seed=seed, rlcard=True, num_players=num_players)
    rows, chooser, chance = state.event_log(), random.Random(seed), FedChance()
    feed, chance.colour = left_draw_pile(state, rows), COLOUR_CODES[int(state.record.colour)]
    theirs = make(num_players, feed, chance)
    theirs.init_game()
    while not state.is_terminal:
        assert not theirs.is_over()
        compare_with_rlcard(state, theirs)
        texts = {text_for_rlcard(action): action for action in state.legal_actions()}
        assert texts.keys() == set(theirs.get_legal_actions())
        text = chooser.choice(sorted(texts))
        before = len(rows)
        state.apply(texts[text])
        rows = state.event_log()
        feed += left_draw_pile(state, rows[before:])
        chance.colour = COLOUR_CODES[int(state.record.colour)]
        theirs.step(text)
        assert not feed
    assert theirs.is_over()
    if num_players == 2:
        assert state.returns == list(theirs.get_payoffs())
    return state.ply


def text_for_rlcard(action):
    symbols = ("skip", "reverse", "draw_2", "wild", "wild_draw_4")
    if action == actions.DRAW:
        return "draw"
    return f"{COLOUR_CODES[action // 15]}-{(*range(10), *symbols)[action % 15]}"


def compare_with_rlcard(state, theirs):
    s, table = state.record, theirs.round
    assert state.current_player == table.current_player
    assert hands_of(state) == [sorted(map(in_our_words, player.hand)) for player in theirs.players]
    assert COLOUR_CODES[s.colour] == table.target.color
    assert (int(s.symbol) if s.symbol < 10 else -1) == (
        int(table.target.trait) if table.target.type == "number" else -1
    )
    assert [CODES[kind] for kind in s.pile[: s.num_pile]] == [in_our_words(card) for card in table.played_cards]
    assert s.num_stock == len(theirs.dealer.deck)
    assert s.direction == table.direction


@pytest.mark.parametrize("games", [100, pytest.param(3000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("num_players", [2, 3, 5])
def test_rlcard_has_the_same_games(rlcard_game, num_players, games):
    for seed in range(games if COMPILED else 3):
        check_against_rlcard(rlcard_game, seed, num_players)


def test_ids_are_those_of_rlcard():
    utils = pytest.importorskip("rlcard.games.uno.utils")
    assert [text_for_rlcard(action) for action in range(61)] == utils.ACTION_LIST
    assert GAME.num_actions(GAME.make_options(rlcard=True)) == 61


# ---------------------------------------------------------------------------------------------------------------
# The rule agent


def duel_with_rlcard(deals):
    """Returns of the rule agent against RLCard's, one number for each deal, played in both seatings."""
    module, results = pytest.importorskip("rlcard.models.uno_rule_models"), []
    np.random.seed(0)  # which RLCard's agent uses
    rule = module.UNORuleAgentV1()
    for seed in range(deals):
        total = 0.0
        for ours in range(2):
            state = GAME.new_state(seed=seed, num_players=2, rlcard=True)
            while not state.is_terminal:
                if state.current_player == ours:
                    state.apply(state.policy_action("heuristic", 0))
                    continue
                texts = {text_for_rlcard(action): action for action in state.legal_actions()}
                kinds = [PARSE(card) for card in hands_of(state)[1 - ours]]
                hand = [CODES[kind] if kind < WILD else f"r-{CODES[kind]}" for kind in kinds]
                state.apply(texts[rule.step({"raw_legal_actions": list(texts), "raw_obs": {"hand": hand}})])
            total += state.returns[ours]
        results.append(total / 2)
    return np.array(results)


@pytest.mark.slow
def test_the_rule_agent_beats_that_of_rlcard():
    results = duel_with_rlcard(3000)
    assert results.mean() > 1.96 * results.std() / len(results) ** 0.5


# ---------------------------------------------------------------------------------------------------------------
# Worlds


def played(deck, *labels, **options):
    """The state after some actions on an explicit deck."""
    state = GAME.new_state(seed=1, deck=deck, **options)
    for label in labels:
        state.apply(state.action_from_label(label))
    return state


def worlds_of(state, player, number=100):
    """The hands in some worlds, in each of which all 108 cards are somewhere."""
    found = []
    for seed in range(number if COMPILED else 10):
        s = state.determinize(player, seed).record
        cards = s.hands.sum(axis=0) + s.discarded + np.bincount(s.deck[108 - s.num_stock :], minlength=NUM_KINDS)
        assert (cards == COPIES).all()
        found.append([listed(hand) for hand in s.hands[: state.num_players]])
    return found


CHALLENGED = "play Wild Draw Four, name green", "challenge"
THREE = {"num_players": 3, "hand_size": 3}


def test_9_1_a_challenger_knows_the_hand():
    state = played("r-5 g-5 wild_draw_4 g-1 g-2 b-3 b-1 b-2 y-3 r-7", *CHALLENGED, **THREE)
    assert all({"r-5", "g-5"} <= set(hands[0]) for hands in worlds_of(state, 1))
    assert not all({"r-5", "g-5"} <= set(hands[0]) for hands in worlds_of(state, 2))


def test_9_2_an_innocent_hand_has_no_card_of_the_colour():
    state = played("y-5 g-5 wild_draw_4 g-1 g-2 b-3 b-1 b-2 y-3 r-7", *CHALLENGED, **THREE)
    assert all(card[:2] != "r-" for hands in worlds_of(state, 2) for card in hands[0])


def test_9_2_the_strict_rule_proves_that_a_colour_is_missing():
    deck = "y-5 g-5 wild_draw_4 g-1 g-2 b-3 b-1 b-2 y-3 r-7"
    state = played(deck, CHALLENGED[0], wild4="strict", **THREE)
    assert all(card[:2] != "r-" for hands in worlds_of(state, 2) for card in hands[0])
    assert GAME.layout(state.options).split(state.observation(2))["cannot_be_1"].tolist() == [2, 0, 0, 0]


def test_9_2_a_forced_draw_proves_that_nothing_fits():
    state = played("g-5 y-2 b-8 b-9 r-7", "draw", "keep", num_players=2, hand_size=2, forced_play=True)
    for hands in worlds_of(state, 1):
        fitting = [card for card in hands[0] if card[0] == "r" or card.endswith("-7") or card.startswith("wild")]
        assert len(fitting) <= 1  # the card drawn


def test_9_3_a_guilty_hand_has_a_card_of_the_colour():
    state = played("r-5 g-5 wild_draw_4 g-1 g-2 b-3 b-1 b-2 y-3 r-7", *CHALLENGED, **THREE)
    assert all(any(card[:2] == "r-" for card in hands[0]) for hands in worlds_of(state, 2))


def test_9_4_a_card_that_has_stayed_in_a_hand_is_no_recycled_one():
    state, chooser = GAME.new_state(seed=4, num_players=2, hand_size=10), random.Random(4)
    while not state.record.num_shuffles:
        state.apply(chooser.choice(state.legal_actions()))
    player = 1 - state.current_player
    hand = hands_of(state)[1 - player]
    assert all(hands[1 - player] == hand for hands in worlds_of(state, player))


def test_9_5_worlds_are_equally_likely_at_first():
    state, draws = played("r-1 g-1 r-7", num_players=2, hand_size=1), 4000 if COMPILED else 100
    count = collections.Counter(hands[1][0] for hands in worlds_of(state, 0, draws))
    assert abs(count["wild"] / draws - 4 / 106) < 0.015 or not COMPILED


def test_the_prompt_says_whether_the_card_drawn_may_be_played():
    seen = set()
    for seed in range(12):
        state = GAME.new_state(seed=seed)
        while not state.is_terminal and state.ply < 80:
            prompt = state.view(state.current_player)["prompt"]
            if "have drawn" in prompt:
                may_play = len(state.legal_actions()) > 1
                assert ("or keep it?" in prompt) == may_play
                assert ("may not be played" in prompt) != may_play
                seen.add(may_play)
            state.apply(state.policy_action("random", 1000 * seed + state.ply))
    assert seen == {True, False}


@pytest.mark.parametrize("options", [{"forced_play": True}, {}])
def test_prompts_offer_to_draw_where_that_is_legal(options):
    seen = set()
    for seed in range(10):
        state = GAME.new_state(seed=seed, **options)
        for ply in range(30):
            if state.is_terminal:
                break
            if state.view(state.current_player)["prompt"].startswith("Play a card on"):
                draws = "draw" in [state.action_label(action) for action in state.legal_actions()]
                assert state.view(state.current_player)["prompt"].endswith(", or draw.") == draws
                seen.add(draws)
            state.apply(state.policy_action("random", ply))
    assert seen == ({True, False} if options else {True})
