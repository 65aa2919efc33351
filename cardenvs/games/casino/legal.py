"""Legal actions of Casino. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.casino import state
from cardenvs.games.casino.composing import can_target, is_complete, list_targets, takeable
from cardenvs.games.casino.plays import list_card_builds, list_card_captures, new_builds
from cardenvs.games.casino.state import (
    COMPOSE_BUILD,
    COMPOSE_CAPTURE,
    DONE,
    FIRST_BUILD,
    FIRST_CAPTURE,
    MAX_BUILDS,
    NUM_ITEMS,
    NUM_TARGETS,
    NUMBERS,
    SLOTS,
    TAKE_0,
    TARGET_0,
    TRAIL,
)
from cardenvs.kits.cards import NUM_CARDS, lowest_card
from cardenvs.kits.fishing.captures import new_captures
from cardenvs.kits.fishing.state import ROUND_SIZE
from cardenvs.kits.listing import list_bits


@kernel
def legal_actions(s, out):
    """For each card in hand: trail, its captures and builds; or how to go on with what is being put together."""
    if s.composing == state.CHOOSE_TARGET:
        n = list_targets(s, out)
        for k in range(n):
            out[k] += TARGET_0
        return n
    if s.composing == state.TAKE:
        return _list_taking(s, out)
    n = _list_plays(s, out, not may_not_trail(s))
    return n if n else _list_plays(s, out, True)  # (10.1)


@kernel
def may_not_trail(s):
    """Whether the player to act owns a build (6.1)."""
    if s.rules.owner_may_trail:
        return False
    owned = 0
    for k in range(MAX_BUILDS):
        owned += 1 if s.builds[k] and s.build_owners[k] == s.current_player else 0
    return owned > 0


@kernel
def _list_plays(s, out, may_trail):
    captures, builds = new_captures(), new_builds()
    hand, n = s.hands[s.current_player], 0
    while hand:
        card = lowest_card(hand)
        hand &= hand - 1
        first = card * SLOTS
        list_card_captures(s, card, captures)
        list_card_builds(s, card, builds)
        if may_trail and (captures.number == 0 or s.rules.may_trail_capturing_card):
            out[n] = first + TRAIL
            n += 1
        for k in range(captures.number):
            out[n] = first + FIRST_CAPTURE + k
            n += 1
        if captures.overflows:
            out[n] = first + COMPOSE_CAPTURE
            n += 1
        for k in range(builds.number):
            out[n] = first + FIRST_BUILD + k
            n += 1
        if builds.overflows:
            out[n] = first + COMPOSE_BUILD
            n += 1
    return n


@kernel
def _list_taking(s, out):
    n = list_bits(takeable(s), TAKE_0, out, 0)
    if is_complete(s):
        out[n] = DONE
        n += 1
    return n


@kernel
def num_captures(s, card):
    """Return the number of captures of a card that have slots."""
    found = new_captures()
    list_card_captures(s, card, found)
    return found.number


@kernel
def num_builds(s, card):
    """Return the number of builds of a card that have slots."""
    found = new_builds()
    list_card_builds(s, card, found)
    return found.number


@kernel
def capture(s, card, slot):
    """Return what a slot captures, as a bit set of loose cards and builds."""
    found = new_captures()
    list_card_captures(s, card, found)
    return found.sets[slot - FIRST_CAPTURE]


@kernel
def build(s, card, slot):
    """Return the target of a slot that builds, and the loose cards that are built in."""
    found = new_builds()
    list_card_builds(s, card, found)
    return found.targets[slot - FIRST_BUILD], found.cards[slot - FIRST_BUILD]


@kernel
def explain_illegal(s, action):
    """0 if `action` is legal, else one of the codes of state.py."""
    phase = state.PLAY if action < TAKE_0 else state.TAKE if action < TARGET_0 else state.CHOOSE_TARGET
    if phase != s.composing:
        return state.WRONG_PHASE
    if phase == state.CHOOSE_TARGET:
        return 0 if can_target(s, action - TARGET_0) else state.NOT_POSSIBLE
    if action == DONE:
        return 0 if is_complete(s) else state.NOT_COMPLETE
    if phase == state.TAKE:
        return 0 if takeable(s) >> action - TAKE_0 & 1 else state.NOT_POSSIBLE
    card, slot = action // SLOTS, action % SLOTS
    if not s.hands[s.current_player] >> card & 1:
        return state.NOT_HELD
    captures, builds = new_captures(), new_builds()
    list_card_captures(s, card, captures)
    list_card_builds(s, card, builds)
    if slot == TRAIL:
        if captures.number and not s.rules.may_trail_capturing_card:
            return state.MUST_CAPTURE
        return state.OWNS_A_BUILD if may_not_trail(s) and _has_other_play(s) else 0
    if slot == COMPOSE_CAPTURE:
        return 0 if captures.overflows else state.ALL_LISTED
    if slot == COMPOSE_BUILD:
        return 0 if builds.overflows else state.ALL_LISTED
    if slot < COMPOSE_CAPTURE:
        return 0 if slot - FIRST_CAPTURE < captures.number else state.NO_SUCH_CAPTURE
    return 0 if slot - FIRST_BUILD < builds.number else state.NO_SUCH_BUILD


@kernel
def _has_other_play(s):
    """Whether the player to act can capture or build."""
    hand = s.hands[s.current_player]
    while hand:
        card = lowest_card(hand)
        hand &= hand - 1
        if num_captures(s, card) or num_builds(s, card):
            return True
    return False


num_actions = TARGET_0 + NUM_TARGETS  # 63 for each card, then taking items, done, and targets
max_legal = max(ROUND_SIZE * SLOTS, NUM_ITEMS + 1, NUM_TARGETS)  # outcomes of a hand, items and done, or targets


def action_features(options):
    """Return the card that is played, its number, whether it is trailed, captures or builds, and what is taken."""
    cards = np.zeros((num_actions, NUM_CARDS + 4), np.int8)
    taken = np.zeros((len(cards), NUM_ITEMS), np.int8)
    for card in range(NUM_CARDS):
        of_card = cards[card * SLOTS : (card + 1) * SLOTS]
        of_card[:, card] = 1
        of_card[:, NUM_CARDS] = NUMBERS[card]
        of_card[TRAIL, NUM_CARDS + 1] = 1
        of_card[FIRST_CAPTURE : COMPOSE_CAPTURE + 1, NUM_CARDS + 2] = 1
        of_card[FIRST_BUILD:, NUM_CARDS + 3] = 1
    taken[TAKE_0 : TAKE_0 + NUM_ITEMS] = np.eye(NUM_ITEMS)
    return np.hstack([cards, taken])
