"""Whole games of Pinnacola against a second implementation, move by move and card by card; and the agents."""

import random
from collections import Counter

import pytest
from pinnacola import GAME, begin, counts, full_deck, meld_key, move_of, moves_of, position

from cardenvs.core.events import OMNISCIENT
from cardenvs.games.pinnacola import actions
from cardenvs.games.pinnacola.state import FACE_LABELS, PHASES
from cardenvs.games.pinnacola.view import meld_faces

OPTIONS = (
    {},
    {"num_players": 4, "hand_size": 15, "attach": "any", "close_needs": "pinnacola", "pozzo": "whole"},
    {"pinelle": True, "wilds_per_meld": 2, "close_discard": "optional", "close_fit": False, "stock_end": "pozzo"},
    {"pozzo": "top_only", "close_needs": "both", "joker_replace": "own_side", "ace_to_ace": False,
     "pinnacola_length": 6, "close_first_round": False},
    {"num_players": 4, "wilds_per_meld": 2, "attach": "any", "pinnacolone_ends": True, "close_needs": "poker",
     "in_mano": False, "close_bonus": 50, "close_discard": "optional"},
    {"pinelle": True, "jokers": False, "joker_melds": False, "joker_replace": "none", "close_fit": False},
)  # fmt: skip
BOOLEANS = ("jokers", "pinelle", "joker_melds", "ace_to_ace", "close_fit", "close_first_round", "pinnacolone_ends",
            "in_mano")  # fmt: skip
CHOICES = {
    "num_players": (2, 4), "hand_size": (13, 15), "wilds_per_meld": (0, 1, 1, 2), "pinnacola_length": (6, 7),
    "pozzo": ("from_any", "from_any", "top_only", "whole"), "joker_replace": ("any", "own_side", "none"),
    "attach": ("own_side", "any"), "close_needs": ("none", "pinnacola", "poker", "both"),
    "close_discard": ("required", "optional"), "stock_end": ("end", "pozzo"), "close_bonus": (0, 100, 300),
}  # fmt: skip


def compare(state, hand):
    """Compare a state with the oracle's hand."""
    s = state.record
    for p in range(state.num_players):
        assert counts(int(s.held[p]), int(s.twice[p]), s.jokers[p]) == +hand.hands[p]
        assert s.hand_sizes[p] == sum(hand.hands[p].values())
    assert [FACE_LABELS[int(face)] for face in s.row[: int(s.num_row)]] == hand.row
    melds = [(int(s.meld_side[m]), [FACE_LABELS[face] for face in meld_faces(s, m)]) for m in range(int(s.num_melds))]
    for (side, cards), meld in zip(melds, hand.melds, strict=True):
        assert side == meld[0]
        assert (cards if meld[1] == "run" else sorted(cards)) == list(meld_key(meld)[4])
    if not state.is_terminal:
        assert (state.current_player, PHASES[int(s.phase)]) == (hand.player, hand.phase)


def play_and_compare(seed, options, lists=1.0, style="random"):
    """Play a hand by random choices, compare the two at every step, and their lists at a share of the steps."""
    chooser = random.Random(seed)
    deck = full_deck(chooser, GAME.make_options(**options))
    state, hand = begin(deck, **options)
    kinds = Counter()
    while not state.is_terminal:
        compare(state, hand)
        legal = state.legal_actions()
        if chooser.random() < lists:
            named = [move_of(hand, action) for action in legal]
            assert len(set(named)) == len(named)
            # Cards of a set lie in any order, so that a move names them sorted.
            assert set(named) == moves_of(hand)
        action = chosen(state, legal, chooser, style)
        op = int(actions.parts(action)[0])
        kinds[op] += 1
        hand.do(move_of(hand, action))
        state.apply(action)
    compare(state, hand)
    assert hand.over
    assert state.record.scores.tolist() == hand.scores()
    mine, theirs = hand.scores()
    assert state.returns == [mine - theirs, theirs - mine] * (state.num_players // 2)
    assert state.table(OMNISCIENT).tokens().total() == len(deck)
    kinds["closed"] += hand.closer is not None
    return kinds


def chosen(state, legal, chooser, style):
    """A move: any; or, as melding makes positions interesting, rather one that melds or takes."""
    if style == "random" or chooser.random() < 0.2:
        return chooser.choice(legal)
    lays = [action for action in legal if action >= actions.RUN_0 or actions.TAKE_0 <= action < actions.DISCARD_0]
    return chooser.choice(lays or legal)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_games_are_those_of_the_oracle(options):
    kinds = Counter()
    for seed in range(4):
        kinds += play_and_compare(seed, options, 0.5, ("random", "melding")[seed % 2])
    assert {actions.OP_DRAW, actions.OP_TAKE, actions.OP_DISCARD, actions.OP_RUN, actions.OP_SET} <= set(kinds)


def random_options(chooser):
    """Options of which each has one of its values."""
    options = {name: chooser.random() < 0.5 for name in BOOLEANS}
    return options | {name: chooser.choice(values) for name, values in CHOICES.items()}


def test_games_with_random_options_are_those_of_the_oracle():
    for seed in range(12):
        play_and_compare(seed, random_options(random.Random(seed)), 0.3, ("random", "melding")[seed % 2])


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_five_thousand_games_are_those_of_the_oracle(part):
    kinds = Counter()
    for seed in range(500):
        chooser = random.Random(1000 * part + seed)
        options = {} if seed % 5 == 0 else random_options(chooser)
        kinds += play_and_compare(1000 * part + seed, options, 0.1, ("random", "melding")[seed % 2])
    assert kinds["closed"]
    assert all(kinds[op] for op in range(actions.OP_DOUBLE + 1))


# -- agents -------------------------------------------------------------------------------------------------------


def played(seed, names, **options):
    """A finished hand of policies, by seat."""
    state = GAME.new_state(seed=seed, **options)
    while not state.is_terminal:
        name = names[state.current_player % len(names)]
        state.apply_unchecked(state.policy_action(name, 1000 * seed + len(state.actions)))
    return state


@pytest.mark.parametrize("options", [{}, {"num_players": 4, "pinelle": True}, {"close_needs": "pinnacola"}], ids=str)
def test_the_heuristic_beats_random_play_and_closes(options):
    margins, closed = [], 0
    for seed in range(10):
        first = played(seed, ("heuristic", "random"), **options)
        second = played(seed, ("random", "heuristic"), **options)
        margins += [first.returns[0], second.returns[1]]
        closed += any("closes" in line for line in first.recap(0) if line.startswith(("player_0", "player_2")))
    assert sum(margins) / len(margins) > 80
    assert closed >= (1 if options.get("close_needs") else 5)


def test_the_heuristic_keeps_a_long_run_without_wild_cards():
    state = position("5h 7h X 2c Qd Kc 9s 9d", melds=["6s 7s 8s 9s Ts Js"])
    action = state.policy_action("heuristic", 0)
    assert "6♠ 7♠ 8♠" not in state.action_label(action)  # a joker there would keep the run from counting double


def test_candidates_are_whole_turns():
    state = position("7h 8h 9h Ks Kd Kc 4s 2d 3c", row="Td")
    found = GAME.view.candidates(state, 0)
    labels = [candidate.label for candidate in found]
    assert len(set(labels)) == len(labels)
    assert "meld 7♥ 8♥ 9♥, meld K♠ K♣ K♦, discard 4♠" in labels
    assert "discard 2♦" in labels
    for candidate in found:
        copy = state.clone()
        for action in candidate.actions:
            copy.apply(action)
        assert copy.current_player == 1


def test_a_candidate_ends_where_the_player_draws():
    state = position("9d 9s Kd 3c 8h Th", row="4c 9h Ks 2d", phase="draw")
    found = {candidate.label for candidate in GAME.view.candidates(state, 0)}
    assert "draw" in found
    assert all(label == "draw" or label.startswith("take 9♥ and 2 more, meld ") for label in found)
    assert len(found) == 2
