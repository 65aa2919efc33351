"""Hearts against OpenSpiel's, action by action, with every option that OpenSpiel has.

OpenSpiel draws the direction of passing by chance and returns 26 less a player's points; here a fixed `passing` and
`reward="points_saved"` do the same. Nothing else differs.
"""

import random
from collections import Counter

import pytest

from cardenvs.core.kernel import COMPILED
from cardenvs.core.registry import get_game
from cardenvs.kits.cards import cards_of

pyspiel = pytest.importorskip("pyspiel")

GAME = get_game("hearts_v0")
THEIR_DIRECTIONS = {"none": "No Pass", "left": "Left", "across": "Across", "right": "Right"}
STRONG = "As Ks Qs Js Ah Kh Qh Jh Th Ac Kc Ad Kd"  # the hand of player 0
# Their parameter: our option, and whether it says the same
PARAMETERS = {
    "no_pts_on_first_trick": ("first_trick_points", False),
    "can_lead_any_club": ("lead_any_club", True),
    "jd_bonus": ("jd_bonus", True),
    "avoid_all_tricks_bonus": ("no_trick_bonus", True),
    "must_break_hearts": ("must_break_hearts", True),
    "qs_breaks_hearts": ("qs_breaks_hearts", True),
    "can_lead_hearts_instead_of_qs": ("lead_hearts_instead_of_qs", True),
}


class Pair:
    """One hand played in both games."""

    def __init__(self, seed, options, passing, deck):
        parameters = {name: options[ours] == same for name, (ours, same) in PARAMETERS.items()}
        self.ours = GAME.new_state(seed=seed, deck=deck, passing=passing, reward="points_saved", **options)
        self.theirs = pyspiel.load_game("hearts", parameters).new_initial_state()
        directions = [self.theirs.action_to_string(pyspiel.PlayerId.CHANCE, k) for k in range(4)]
        self.theirs.apply_action(directions.index(THEIR_DIRECTIONS[passing]))
        hands = [cards_of(hand) for hand in self.ours.record.hands[:4]]
        for k in range(13):
            for p in range(4):
                self.theirs.apply_action(hands[p][k])

    def compare(self):
        assert not self.theirs.is_chance_node()
        assert self.theirs.current_player() == self.ours.current_player
        assert self.ours.legal_actions() == self.theirs.legal_actions()

    def apply(self, card):
        self.ours.apply(card)
        self.theirs.apply_action(card)


def check_hand(seed, options, passing, deck=None):
    """Play one hand in both games, at random; with a deck, player 0 takes what it can, so that moons happen."""
    chooser = random.Random(seed)
    pair = Pair(seed, options, passing, deck)
    while not pair.ours.is_terminal:
        pair.compare()
        legal = pair.ours.legal_actions()
        if deck and pair.ours.phase == "play":
            pair.apply(legal[-1 if pair.ours.current_player == 0 else 0])
        else:
            pair.apply(chooser.choice(legal))
    assert pair.theirs.is_terminal()
    assert pair.theirs.returns() == pair.ours.returns
    return any("shoots the moon" in line for line in pair.ours.recap(0))


def check_hands(number, seed=0):
    """Compare hands of random options; return how many moons were shot."""
    chooser, moons = random.Random(seed), Counter()
    for hand in range(number):
        options = {ours: chooser.random() < 0.5 for ours, _ in PARAMETERS.values()}
        passing, deck = (chooser.choice(list(THEIR_DIRECTIONS)), None) if hand % 4 else ("none", STRONG)
        moons[check_hand(chooser.randrange(2**32), options, passing, deck)] += 1
    return moons[True]


def test_hands_are_those_of_openspiel():
    moons = check_hands(60 if COMPILED else 4)
    assert moons or not COMPILED


@pytest.mark.slow
def test_many_hands_are_those_of_openspiel():
    print(f"{check_hands(3000, seed=1)} moons")
