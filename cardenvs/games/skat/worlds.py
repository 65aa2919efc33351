"""What a player of Skat cannot know: worlds that fit everything shown (rules.md 9)."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.seats import wrap
from cardenvs.games.skat import state
from cardenvs.games.skat.state import NUM_PLAYERS
from cardenvs.kits.cards import count_bits
from cardenvs.kits.deck import begin_world
from cardenvs.kits.redeal import deal_to_three, new_three_hands

_OTHERS = NUM_PLAYERS - 1
is_open = kernel(state.is_open, inline=True)


@kernel(inline=True)
def knows_skat(s, player):
    """Return whether `player` knows the skat: the soloist who took it, and all once play is over (9.1)."""
    return s.skat_is_shown or (s.took_skat and player == s.soloist)


@kernel
def determinize(s, player, seed):
    """Deal the hidden hands and the skat again; all deals that fit what `player` knows are equally likely (9.2)."""
    begin_world(s, seed)
    places, hidden = new_three_hands(), np.int64(0)
    for k in range(_OTHERS):
        p = wrap(player + 1 + k, NUM_PLAYERS)
        is_hidden = not is_open(s, p)
        places.room[k] = count_bits(s.hands[p]) if is_hidden else 0
        places.barred[k] = s.lacks[p]
        hidden |= s.hands[p] if is_hidden else 0
        s.last_hands[p] = 0
    places.room[_OTHERS] = places.barred[_OTHERS] = 0
    if not knows_skat(s, player):
        places.room[_OTHERS] = count_bits(s.skat)
        hidden |= s.skat
    deal_to_three(s, places, hidden)
    for k in range(_OTHERS):
        p = wrap(player + 1 + k, NUM_PLAYERS)
        if not is_open(s, p):
            s.hands[p] = places.cards[k]
    if not knows_skat(s, player):
        s.skat = places.cards[_OTHERS]
