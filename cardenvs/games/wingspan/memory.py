"""What players remember of hidden bird cards: batches of the deck and pieces, explained in state.py (rules.md 14)."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.games.wingspan import state
from cardenvs.games.wingspan.cards import NUM_BIRDS
from cardenvs.kits.cards import lowest_card


@kernel(inline=True)
def current_batch(s):
    """Return the batch of the bird deck: the number of reshuffles, at most LAST_BATCH."""
    return min(np.int64(s.num_shuffles), state.LAST_BATCH)


@kernel(inline=True)
def batch_known_to(batch, player):
    """Return the batch to which `player` knows a card to belong, from an entry of s.batch or s.bonus_batch, or 0.

    The bits above the batch are 1 + the player who discarded the card face down and alone knows its batch, or 0.
    """
    secret_of = batch >> state.BATCH_BITS
    return batch & state.LAST_BATCH if secret_of in (0, 1 + player) else 0


@kernel
def batch_of_discard(known, number):
    """Return the entry of s.batch for a discarded card, from who knows its face and the number of the reshuffle."""
    secret_of = 0 if known == state.KNOWN_TO_ALL else 1 + lowest_card(known)
    return min(number, state.LAST_BATCH) | secret_of << state.BATCH_BITS


@kernel
def no_longer_hidden(s, player, bird):
    """Forget the traces of a card that leaves a hand or is shown: if it had been drawn unseen, remove its piece.

    The piece is of the card's batch. A card without a known batch came from the first batch, unless that contradicts
    the tucks: then it was discarded face down in the setup and came from the second.
    """
    if s.taken[bird] == 0:
        batch = batch_known_to(np.int64(s.batch[bird]), ev.NO_PLAYER)
        for k in range(state.NUM_BATCHES):
            if _remove_piece(s, player | (batch + k) % state.NUM_BATCHES << state.PIECE_OWNER_BITS):
                break
    s.taken[bird] = 0
    s.batch[bird] = 0


@kernel
def _remove_piece(s, kind):
    """Remove the latest piece of a kind, that is after most tucks; returns whether a piece could be removed.

    Which piece the card was is hidden. Removing the latest rules out no world: an earlier piece can be wherever a later
    one can.
    """
    best, at = np.int64(-1), np.int64(-1)
    for k in range(s.num_pieces):
        piece = np.int64(s.pieces[k])
        if piece & (1 << state.PIECE_KIND_BITS) - 1 == kind and piece > best:
            best, at = piece, k
    if at < 0 or (s.num_shuffles > 0 and not _others_fill_tucks(s, kind & (1 << state.PIECE_OWNER_BITS) - 1, at)):
        return False
    s.num_pieces -= 1
    s.pieces[at] = s.pieces[s.num_pieces]
    s.pieces[s.num_pieces] = 0
    return True


@kernel
def _others_fill_tucks(s, player, at):
    """Return whether the hidden cards of `player` other than piece `at` suffice for the tucks: n before tuck n."""
    cards = np.int64(0)
    for tuck in range(s.num_tucks[player]):
        for k in range(s.num_pieces):
            piece = np.int64(s.pieces[k])
            is_own = piece & (1 << state.PIECE_OWNER_BITS) - 1 == player
            cards += k != at and is_own and piece >> state.PIECE_KIND_BITS == tuck
        for bird in range(NUM_BIRDS):
            is_own = s.place[bird] in (state.IN_HAND + player, state.IN_TUCKED + player)
            cards += is_own and s.taken[bird] == 1 + tuck
        if cards <= tuck:
            return False
    return True
