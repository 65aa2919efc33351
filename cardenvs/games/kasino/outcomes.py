"""What each legal play of Kasino would do: for the observation (option `outcomes`) and the rule agent."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Outcomes
from cardenvs.core.seats import wrap
from cardenvs.games.kasino.legal import legal_actions, max_legal, offered
from cardenvs.games.kasino.rules import is_frozen, worth
from cardenvs.games.kasino.state import (
    COMPOSE,
    FIRST_CAPTURE,
    HAND_VALUES,
    SLOTS,
    SWEEPS_OFF,
    TABLE_VALUES,
    TRAIL,
)
from cardenvs.kits.cards import NUM_CARDS, chance_of_none, count_bits, lowest_card
from cardenvs.kits.deck import NO_CARD, hidden_in_hands_and_deck
from cardenvs.kits.fishing.captures import new_captures, total_of
from cardenvs.kits.fishing.rules import num_sides, side_of
from cardenvs.kits.fishing.state import SPADES
from cardenvs.kits.listing import legal_list

_NUM_ROWS = 24
_BOUNDS = {
    "hand value": (0, 16),
    "laid": (0, 1),
    "points": (0, 7),
    "cards": (0, 16),
    "spades": (0, 13),
    "sweep": (0, 1),
    "left points": (0, 7),
    "left cards": (0, 20),
    "left spades": (0, 13),
    "left total": (0, 100),
    "danger": (0, 100),
}
_WIDTH = len(_BOUNDS)
_HIGHEST_VALUE = 16
_new_list = legal_list(max_legal)


@kernel
def _write_outcomes(s, p, out, at):
    """Write a row for each legal play of player `p`, if it is to act; none while cards are taken one by one."""
    if p != s.current_player or s.playing != NO_CARD:
        return
    legal, found, listed_of = _new_list(), new_captures(), NO_CARD
    hidden = hidden_in_hands_and_deck(s, p)
    for k in range(min(legal_actions(s, legal.actions), _NUM_ROWS)):
        card, slot = np.int64(legal.actions[k] // SLOTS), legal.actions[k] % SLOTS
        if card != listed_of:
            offered(s, card, found)
            listed_of = card
        taken = np.int64(0) if slot in (TRAIL, COMPOSE) else found.sets[slot - FIRST_CAPTURE]
        _write_row(s, card, slot, taken, hidden, out, at + k * _WIDTH)


@kernel
def _write_row(s, card, slot, taken, hidden, out, at):
    out[at] = HAND_VALUES[card]
    if slot == COMPOSE:
        return
    own = np.int64(1) << card
    left = s.table | own if slot == TRAIL else s.table ^ taken
    out[at + 1] = slot == TRAIL
    if taken:
        out[at + 2] = worth(taken | own)
        out[at + 3] = min(count_bits(taken | own), 16)
        out[at + 4] = count_bits((taken | own) & SPADES)
        out[at + 5] = left == 0 and sweeps_score(s)
    out[at + 6] = worth(left)
    out[at + 7] = min(count_bits(left), 20)
    out[at + 8] = count_bits(left & SPADES)
    out[at + 9] = min(total_of(left, TABLE_VALUES), 100)
    out[at + 10] = round(100 * sweep_danger(s, left, hidden))


@kernel
def sweeps_score(s):
    """Return whether a sweep of the player to act would score now."""
    is_off = s.rules.sweeps == SWEEPS_OFF or is_frozen(s, side_of(s, np.int64(s.current_player)))
    return not is_off and (s.num_dealt < NUM_CARDS or s.rules.sweep_last_deal)


@kernel
def sweep_danger(s, left, hidden):
    """Return the chance that the next player's hand has a card that takes all of `left` at once, as one group."""
    total = total_of(left, TABLE_VALUES)
    if total == 0 or total > _HIGHEST_VALUE or num_sides(s) < 2:
        return 0.0
    following = wrap(s.current_player + 1, s.rules.num_players)
    unseen, wanted = count_bits(hidden), 0
    while hidden:
        wanted += 1 if HAND_VALUES[lowest_card(hidden)] == total else 0
        hidden &= hidden - 1
    return 1 - chance_of_none(wanted, count_bits(s.hands[following]), unseen)


OUTCOMES = Outcomes.by_action(
    _NUM_ROWS, _BOUNDS,
    "value of the card in hand, whether it is laid, points, cards and spades it gets, whether it sweeps for a point; "
    "points, cards, spades and total value of what then lies on the table, and the chance in percent that the next "
    "player can sweep that; zeros while cards are taken one by one",
    _write_outcomes,
)  # fmt: skip
