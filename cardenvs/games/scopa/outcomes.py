"""What each legal play of Scopa would do: for the observation (option `outcomes`) and the rule agent."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Outcomes
from cardenvs.core.seats import wrap
from cardenvs.games.scopa.captures import VALUES, list_captures, same_rank, takes_all
from cardenvs.games.scopa.scoring import PRIMIERA_VALUES, SETTEBELLO, diamonds
from cardenvs.games.scopa.state import SUIT_SIZE
from cardenvs.kits.cards import chance_of_none, count_bits, lowest_card
from cardenvs.kits.deck import hidden_in_hands_and_deck
from cardenvs.kits.fishing.captures import new_captures, total_of

_NUM_ROWS = 16
_BOUNDS = {
    "value": (0, 10),
    "cards": (0, 11),
    "diamonds": (0, 10),
    "settebello": (0, 1),
    "primiera": (0, 50),
    "scopa": (0, 1),
    "left cards": (0, 16),
    "left total": (0, 100),
    "left diamonds": (0, 10),
    "left settebello": (0, 1),
    "danger": (0, 100),
}
_WIDTH = len(_BOUNDS)
_HIGHEST_SUM = 10


@kernel
def _write_outcomes(s, p, out, at):
    """Write a row for each legal play of player `p`, if it is to act."""
    if p != s.current_player:
        return
    found = new_captures()
    hidden = hidden_in_hands_and_deck(s, p)
    hand, n = s.hands[p], 0
    while hand:
        card = lowest_card(hand)
        hand &= hand - 1
        list_captures(s, card, found)
        for k in range(max(found.number, 1)):
            if n < _NUM_ROWS:
                taken = found.sets[k] if found.number else np.int64(0)
                _write_row(s, card, taken, hidden, out, at + n * _WIDTH)
                n += 1


@kernel
def _write_row(s, card, taken, hidden, out, at):
    out[at] = VALUES[card]
    if taken:
        won = taken | np.int64(1) << card
        out[at + 1] = min(count_bits(won), 11)
        out[at + 2] = count_bits(diamonds(won))
        out[at + 3] = won & SETTEBELLO != 0
        out[at + 4] = min(primiera_steps(won), 50)
        out[at + 5] = taken == s.table and not takes_all(s, card)
    left = left_on_table(s, card, taken)
    out[at + 6] = min(count_bits(left), 16)
    out[at + 7] = min(total_of(left, VALUES), 100)
    out[at + 8] = count_bits(diamonds(left))
    out[at + 9] = left & SETTEBELLO != 0
    out[at + 10] = round(100 * scopa_danger(s, left, hidden))


@kernel(inline=True)
def left_on_table(s, card, taken):
    """Return the cards on the table after a play."""
    return s.table ^ taken if taken else s.table | np.int64(1) << card


@kernel
def primiera_steps(cards):
    """Return by how much the cards' values in the primiera exceed those of as many kings."""
    steps = np.int64(0)
    while cards:
        steps += PRIMIERA_VALUES[lowest_card(cards) % SUIT_SIZE] - 10
        cards &= cards - 1
    return steps


@kernel
def scopa_danger(s, left, hidden):
    """Return the chance that the next player takes all cards `left` on the table."""
    total = total_of(left, VALUES)
    if total == 0 or total > _HIGHEST_SUM:
        return 0.0
    following = wrap(s.current_player + 1, s.rules.num_players)
    wanted = count_bits(hidden & same_rank(total - 1))
    return 1 - chance_of_none(wanted, count_bits(s.hands[following]), count_bits(hidden))


OUTCOMES = Outcomes.by_action(
    _NUM_ROWS, _BOUNDS,
    "value of the card, how many cards and diamonds it gets, whether the settebello, by how much their values in the "
    "primiera exceed those of kings, whether it is a scopa; number, total value, diamonds and settebello of what then "
    "lies on the table, and the chance in percent that the next player takes all of that",
    _write_outcomes,
)  # fmt: skip
