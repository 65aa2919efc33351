"""What each legal play of Casino would do: for the observation (option `outcomes`) and the rule agent."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Outcomes
from cardenvs.core.record import packed
from cardenvs.core.scratch import stack_record
from cardenvs.core.seats import wrap
from cardenvs.games.casino import state
from cardenvs.games.casino.legal import legal_actions, max_legal
from cardenvs.games.casino.plays import (
    cards_that_count,
    list_card_builds,
    list_card_captures,
    new_builds,
    place_of,
    top_value,
    value_of,
)
from cardenvs.games.casino.rules import worth
from cardenvs.games.casino.state import (
    BUILD_0,
    COMPOSE_BUILD,
    COMPOSE_CAPTURE,
    COURTS,
    FIRST_BUILD,
    FIRST_CAPTURE,
    MAX_BUILDS,
    NEW,
    NUM_RANKS,
    NUMBERS,
    SLOTS,
    TABLE_ONLY,
    TRAIL,
)
from cardenvs.kits.cards import chance_of_none, count_bits
from cardenvs.kits.deck import hidden_in_hands_and_deck
from cardenvs.kits.fishing.captures import new_captures, total_of
from cardenvs.kits.fishing.rules import side_of
from cardenvs.kits.fishing.state import ALL_CARDS, SPADES
from cardenvs.kits.listing import legal_list

# What a play does: the cards that it gets, the loose cards and whether builds are then left, and the cards and value of
# the build that it makes.
_EFFECT = packed([("got", "i8"), ("left", "i8"), ("builds_left", "i8"), ("built", "i8"), ("value", "i8")])
new_effect = stack_record(_EFFECT)

_NUM_ROWS = 24
_MOST_POINTS = 24
_BOUNDS = {
    "number": (0, NUM_RANKS),
    "laid": (0, 1),
    "points": (0, _MOST_POINTS),
    "cards": (0, 52),
    "spades": (0, 13),
    "sweep": (0, 1),
    "build value": (0, state.HIGH_ACE),
    "build points": (0, _MOST_POINTS),
    "build cards": (0, 52),
    "build spades": (0, 13),
    "build keys": (0, 4),
    "build danger": (0, 100),
    "left points": (0, _MOST_POINTS),
    "left cards": (0, 52),
    "left spades": (0, 13),
    "danger": (0, 100),
}
_WIDTH = len(_BOUNDS)
_new_list = legal_list(max_legal)


@kernel
def find_effect(s, card, slot, captures, builds, effect):
    """Fill `effect` with what a play does; `captures` and `builds` are those of the card."""
    own = np.int64(1) << card
    effect.got = effect.built = effect.value = effect.builds_left = 0
    taken = np.int64(0)
    if slot == TRAIL:
        effect.left = s.table | own
    elif slot < COMPOSE_CAPTURE:
        taken = captures.sets[slot - FIRST_CAPTURE]
        effect.left, effect.got = s.table & ~taken, taken & ALL_CARDS | own
    else:
        _find_build(s, own, builds.targets[slot - FIRST_BUILD], builds.cards[slot - FIRST_BUILD], effect)
    for k in range(MAX_BUILDS):
        if taken >> BUILD_0 + k & 1:
            effect.got |= s.builds[k]
        elif s.builds[k]:
            effect.builds_left = 1


@kernel(inline=True)
def _find_build(s, own, target, cards, effect):
    effect.left, effect.built, effect.value = s.table & ~cards, cards | own, value_of(target)
    if target >= TABLE_ONLY:
        effect.left, effect.built = effect.left | own, cards
    if place_of(target) != NEW:
        effect.built |= s.builds[place_of(target)]
    effect.builds_left = 1


@kernel
def sweep_danger(s, left, hidden):
    """Return the chance that an opponent holds a card that takes all of some loose cards at once, as one set."""
    total, is_one = total_of(left, NUMBERS), left & (left - 1) == 0
    if left == 0 or not (is_one or (total <= top_value(s) and (s.rules.royal or not left & COURTS))):
        return 0.0
    return chance_held(s, cards_that_count(total), hidden)


@kernel
def chance_held(s, cards, hidden):
    """Return the chance that an opponent of the player to act holds one of some cards."""
    player, held = s.current_player, 0
    for k in range(1, s.rules.num_players):
        p = wrap(player + k, s.rules.num_players)
        if side_of(s, p) != side_of(s, np.int64(player)):
            held += count_bits(s.hands[p])
    return 1 - chance_of_none(count_bits(hidden & cards), held, count_bits(hidden))


# ---------------------------------------------------------------------------------------------------------------
# The observation


@kernel
def _write_outcomes(s, p, out, at):
    """Write a row for each legal play of player `p`, if it is to act; none while something is put together."""
    if p != s.current_player or s.composing != state.PLAY:
        return
    legal, captures, builds, effect = _new_list(), new_captures(), new_builds(), new_effect()
    hidden, listed_of = hidden_in_hands_and_deck(s, p), np.int64(-1)
    for k in range(min(legal_actions(s, legal.actions), _NUM_ROWS)):
        card, slot = np.int64(legal.actions[k] // SLOTS), np.int64(legal.actions[k] % SLOTS)
        if card != listed_of:
            list_card_captures(s, card, captures)
            list_card_builds(s, card, builds)
            listed_of = card
        out[at + k * _WIDTH] = NUMBERS[card]
        if slot not in (COMPOSE_CAPTURE, COMPOSE_BUILD):
            find_effect(s, card, slot, captures, builds, effect)
            _write_row(s, card, effect, slot == TRAIL, hidden, out, at + k * _WIDTH)


@kernel
def _write_row(s, card, effect, is_laid, hidden, out, at):
    out[at + 1] = is_laid
    if effect.got:
        out[at + 2] = worth(s, effect.got)
        out[at + 3] = count_bits(effect.got)
        out[at + 4] = count_bits(effect.got & SPADES)
        out[at + 5] = effect.left == 0 and not effect.builds_left and s.rules.sweeps
    if effect.built:
        keys = cards_that_count(effect.value)
        out[at + 6] = effect.value
        out[at + 7] = worth(s, effect.built)
        out[at + 8] = count_bits(effect.built)
        out[at + 9] = count_bits(effect.built & SPADES)
        out[at + 10] = count_bits(s.hands[s.current_player] & ~(np.int64(1) << card) & keys)
        out[at + 11] = round(100 * chance_held(s, keys, hidden))
    out[at + 12] = worth(s, effect.left)
    out[at + 13] = count_bits(effect.left)
    out[at + 14] = count_bits(effect.left & SPADES)
    if s.rules.sweeps and not effect.builds_left:
        out[at + 15] = round(100 * sweep_danger(s, effect.left, hidden))


OUTCOMES = Outcomes.by_action(
    _NUM_ROWS, _BOUNDS,
    "number of the card in hand, whether it is laid, points, cards and spades it gets, whether it sweeps; value, "
    "points, cards and spades of the build it makes, how many cards in hand take that, and the chance in percent that "
    "an opponent has one; points, cards and spades of the loose cards left, and the chance in percent that an opponent "
    "can sweep them; zeros while something is put together",
    _write_outcomes,
)  # fmt: skip
