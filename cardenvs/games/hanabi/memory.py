"""What players remember of the hints: what each card can be, and which card each hint was about.

What a card can be follows from the hints that touched it and those that did not (5.2). Which card a hint was about is a
convention: the oldest card that no hint has touched, which would be discarded next, if the hint touches it, else the
newest card touched for the first time, else the newest one touched. The hint says of this card that it can be played;
a rank hint on the card to be discarded next says that it can be played or must be kept. Of the card, `called` keeps
what it then could be, whatever is played later. The rules do not need it: it follows from what everybody has seen.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.hanabi.cards import rank_of, suit_of
from cardenvs.games.hanabi.state import COLOUR_HINT, RANK_HINT, all_suits, possible, suits_hinted


@kernel(inline=True)
def forget_card(s, player, place):
    """Know nothing about a card that has just been drawn."""
    s.suits[player, place] = all_suits(s.rules)
    s.ranks[player, place] = (1 << s.rules.ranks) - 1
    s.hinted[player, place] = 0
    s.called[player, place] = 0


@kernel(inline=True)
def move_memory(s, player, place):
    """Remember of the card at `place` what was known of the next one, which moves there."""
    s.suits[player, place] = s.suits[player, place + 1]
    s.ranks[player, place] = s.ranks[player, place + 1]
    s.hinted[player, place] = s.hinted[player, place + 1]
    s.called[player, place] = s.called[player, place + 1]


@kernel(inline=True)
def touched_by_colour(s, player, colour):
    """Return the places of a hand that a hint of a colour touches, a bit each."""
    suits, touched = suits_hinted(s.rules, colour), np.int64(0)
    for k in range(s.hand_sizes[player]):
        touched |= (suits >> suit_of(s.hands[player, k]) & 1) << k
    return touched


@kernel(inline=True)
def touched_by_rank(s, player, rank):
    """Return the places of a hand that a hint of a rank touches, a bit each."""
    touched = np.int64(0)
    for k in range(s.hand_sizes[player]):
        touched |= np.int64(rank_of(s.hands[player, k]) == rank) << k
    return touched


@kernel(inline=True)
def focus_of(s, player, touched):
    """Return the place that a hint is about, and whether it is the card that would be discarded next."""
    newest, newest_new = np.int64(-1), np.int64(-1)
    oldest = np.int64(-1)
    for k in range(s.hand_sizes[player]):
        if s.hinted[player, k] == 0 and oldest < 0:
            oldest = k
        if touched >> k & 1:
            newest = k
            if s.hinted[player, k] == 0:
                newest_new = k
    if oldest >= 0 and touched >> oldest & 1:
        return oldest, True
    return (newest_new if newest_new >= 0 else newest), False


@kernel(inline=True)
def is_called_playable(s, player, place):
    """Return whether everybody takes a card to be playable, by its hints and the one that was about it."""
    fits = possible(s, player, place) & ~s.useless
    if fits & s.called[player, place]:
        fits &= s.called[player, place]
    return fits != 0 and not fits & ~s.playable


@kernel
def remember_hint(s, player, suits, rank, touched):
    """Remember a hint: of the suits in a bit set, or if that is 0 of a rank, which touches some places of a hand."""
    focus, is_oldest = focus_of(s, player, touched)
    for k in range(s.hand_sizes[player]):
        is_touched = touched >> k & 1
        if suits:
            s.suits[player, k] &= suits if is_touched else ~suits
            s.hinted[player, k] |= COLOUR_HINT * is_touched
        else:
            s.ranks[player, k] &= 1 << rank if is_touched else ~(np.int64(1) << rank)
            s.hinted[player, k] |= RANK_HINT * is_touched
    if focus >= 0:
        s.called[player, focus] = s.playable | (s.critical if is_oldest and suits == 0 else np.int64(0))
