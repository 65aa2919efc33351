"""What players know of hidden cards (9): kept up to date move by move.

A player who begs or passes shows that no card in hand fits. A card that fits does so until it is played. So of the
hand at that time, no card is ever one of those that fitted then; only a card that has come since may be.

*Notes* keep what has happened, in order, for worlds: who had no card that fits, who had one, and who gave a card to
whom. The older half is forgotten if there are too many, which random play does not reach (9.5).
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.ristiseiska.state import MAX_NOTES, NO_CARD, NO_PLAYER, fitting

LACKS, HAS, GIFT = 0, 1, 2  # kinds of notes


@kernel
def forget(s):
    """Begin a hand, in which nothing is known."""
    s.num_notes = 0
    for p in range(s.rules.num_players):
        s.given[p] = s.lacked[p] = 0
        s.has_new[p] = 0
        for q in range(s.rules.num_players):
            s.known[p, q] = 0
    for k in range(MAX_NOTES):
        _write(s, k, 0, 0, NO_PLAYER, NO_PLAYER, NO_CARD)


@kernel(inline=True)
def _write(s, k, kind, num_plays, player, giver, card):
    s.note_kind[k], s.note_plays[k] = kind, num_plays
    s.note_player[k], s.note_giver[k], s.note_card[k] = player, giver, card
    s.note_size[k] = 0 if giver == NO_PLAYER else s.hand_sizes[giver]


@kernel
def _add_note(s, kind, player, giver, card):
    if s.num_notes == MAX_NOTES:
        _forget_half(s)
    _write(s, s.num_notes, kind, s.num_plays, player, giver, card)
    s.num_notes += 1


@kernel
def _forget_half(s):
    half = MAX_NOTES // 2
    for k in range(half):
        s.note_kind[k], s.note_plays[k] = s.note_kind[half + k], s.note_plays[half + k]
        s.note_player[k], s.note_giver[k] = s.note_player[half + k], s.note_giver[half + k]
        s.note_size[k], s.note_card[k] = s.note_size[half + k], s.note_card[half + k]
        _write(s, half + k, 0, 0, NO_PLAYER, NO_PLAYER, NO_CARD)
    s.num_notes = half


@kernel
def note_lacks(s, player):
    """Note that no card of `player` fits (9.2)."""
    s.lacked[player] = fitting(s)
    s.has_new[player] = 0
    k = s.num_notes - 1
    while k >= 0 and s.note_kind[k] != GIFT:
        if s.note_player[k] == player and s.note_kind[k] == LACKS:
            s.note_plays[k] = s.num_plays  # says all that the older note said
            _move_to_end(s, k)
            return
        k -= 1
    _add_note(s, LACKS, player, NO_PLAYER, NO_CARD)


@kernel
def _move_to_end(s, k):
    """Move a note that is no gift to the end, so that the numbers of plays ascend."""
    kind, num_plays, player = s.note_kind[k], s.note_plays[k], s.note_player[k]
    for later in range(k, s.num_notes - 1):
        s.note_kind[later], s.note_plays[later] = s.note_kind[later + 1], s.note_plays[later + 1]
        s.note_player[later] = s.note_player[later + 1]
    last = s.num_notes - 1
    s.note_kind[last], s.note_plays[last], s.note_player[last] = kind, num_plays, player


@kernel(inline=True)
def note_has(s, player):
    """Note that `player` holds a card that fits, being asked whether to play another one (4.7)."""
    _add_note(s, HAS, player, NO_PLAYER, NO_CARD)


@kernel
def note_gift(s, giver, player, card):
    """Note that `player` gets a card; call this before it has left the giver's hand."""
    _add_note(s, GIFT, player, giver, card)
    s.has_new[player] = 1
    learn_of_gift(s, giver, player, card)


@kernel
def learn_of_gift(s, giver, player, card):
    """Change what players know of each other's cards when a card goes from the giver to `player` (9.3)."""
    bit = np.int64(1) << card
    for p in range(s.rules.num_players):
        if p == giver:
            s.known[p, player] |= bit
            s.given[p] |= bit
        elif p == player:
            s.known[p, giver] &= ~bit
            s.given[p] &= ~bit
        else:
            s.known[p, giver] = 0


@kernel
def note_play(s, player, card):
    """Note that all see a card; call this before it lies on the table."""
    bit = np.int64(1) << card
    if s.lacked[player] & bit:  # so it is the one that has come since
        s.has_new[player] = 0
    for p in range(s.rules.num_players):
        s.given[p] &= ~bit
        for q in range(s.rules.num_players):
            s.known[p, q] &= ~bit
        s.lacked[p] &= ~bit
    s.plays[s.num_plays], s.play_of[s.num_plays] = card, player
    s.num_plays += 1
