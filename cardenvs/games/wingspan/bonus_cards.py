"""Effects on bonus cards."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.core.rng import shuffle, start_stream
from cardenvs.games.wingspan import state, table
from cardenvs.games.wingspan.cards import NUM_BONUSES
from cardenvs.games.wingspan.events import log_move
from cardenvs.games.wingspan.memory import batch_of_discard


@kernel
def drop_bonus(s, player, card, log):
    """Discard face down a bonus card that `player` does not keep."""
    s.bonus_hands[player] &= ~(1 << card)
    s.bonus_place[card] = state.IN_BONUS_DISCARDS
    s.bonus_known[card] = 1 << player
    token = state.BONUS_TOKEN + card
    log_move(log, table.DROP_BONUS, player, token, table.BONUS + player, table.BONUS_DISCARDS, 1 << player)


@kernel
def draw_bonus(s, player, kind, log):
    """Draw a bonus card for `player`, reshuffling the discards if necessary (3.5): DRAW_BONUS, or DEAL_BONUS.

    Returns it, or -1 for none.
    """
    if s.num_bonus_deck == 0:
        _reshuffle_bonuses(s, log)
        if s.num_bonus_deck == 0:
            return np.int64(ev.UNKNOWN)
    s.num_bonus_deck -= 1
    card = np.int64(s.bonus_deck[s.num_bonus_deck])
    s.bonus_deck[s.num_bonus_deck] = 0
    s.bonus_place[card] = state.IN_BONUS_HAND + player
    s.bonus_known[card] = 1 << player
    s.bonus_drawn[card] = min(np.int64(s.num_bonus_shuffles), state.LAST_BATCH)
    s.bonus_hands[player] |= 1 << card
    log_move(log, kind, player, state.BONUS_TOKEN + card, table.BONUS_DECK, table.BONUS + player, 1 << player)
    return card


@kernel
def _reshuffle_bonuses(s, log):
    ev.log_move_all(log, table.GATHER_BONUSES, ev.NO_PLAYER, table.BONUS_DISCARDS, table.BONUS_DECK)
    ev.log_shuffle(log, table.SHUFFLE_BONUSES, table.BONUS_DECK)
    for card in range(NUM_BONUSES):
        if s.bonus_place[card] == state.IN_BONUS_DISCARDS:
            s.bonus_deck[s.num_bonus_deck] = card
            s.num_bonus_deck += 1
            s.bonus_place[card] = state.IN_BONUS_DECK
            s.bonus_batch[card] = batch_of_discard(np.int64(s.bonus_known[card]), np.int64(s.num_bonus_shuffles) + 1)
            s.bonus_known[card] = 0
            s.bonus_drawn[card] = 0
    start_stream(s, state.BONUS_SHUFFLES, np.int64(s.num_bonus_shuffles))
    s.num_bonus_shuffles += 1
    shuffle(s, s.bonus_deck, 0, np.int64(s.num_bonus_deck))


@kernel
def show_bonuses(s, player, log):
    """Show the bonus cards of `player` at the end of the game."""
    for card in range(NUM_BONUSES):
        if s.bonus_hands[player] >> card & 1:
            s.bonus_known[card] = state.KNOWN_TO_ALL
            token = state.BONUS_TOKEN + card
            ev.log_reveal(log, table.SHOW_BONUS, player, token, table.BONUS + player, 1, ev.EVERYBODY)
