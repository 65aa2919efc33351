"""What a player of Cribbage cannot know, and worlds that fit what it knows (rules.md 6)."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.rng import shuffle
from cardenvs.games.cribbage.rules import fitting
from cardenvs.games.cribbage.state import FITTING, PACK, PLAY, crib_of, seen_in_crib
from cardenvs.kits.cards import NUM_CARDS, count_bits, lowest_card
from cardenvs.kits.deck import NO_CARD, begin_world
from cardenvs.kits.redeal import draw_cards, list_cards

_ALL_CARDS = PACK.all_cards
_NOBODY = -1


@kernel
def hidden_cards(s, player):
    """Return the cards of which `player` does not know where they are, as a bit set."""
    seen = s.hands[player] | seen_in_crib(s, player)
    if s.starter != NO_CARD:
        seen |= np.int64(1) << s.starter
    for p in range(s.rules.num_players):
        seen |= s.played[p]
    return _ALL_CARDS & ~seen


@kernel
def determinize(s, player, seed):
    """Re-deal what `player` does not see: hands, what others have laid away, and the deck; all worlds are as likely."""
    begin_world(s, seed)
    hidden = _redeal_hands(s, player, hidden_cards(s, player))
    crib = crib_of(s) & ~s.laid[player] if s.crib_is_shown else hidden
    for p in range(s.rules.num_players):
        if p != player:
            s.laid[p] = draw_cards(s, crib, count_bits(s.laid[p]))
            crib ^= s.laid[p]
            hidden &= ~s.laid[p]
    if s.crib_card != NO_CARD:
        card = draw_cards(s, crib, 1)
        s.crib_card = lowest_card(card)
        hidden &= ~card
    list_cards(hidden, s.deck, s.num_dealt)
    shuffle(s, s.deck, s.num_dealt, NUM_CARDS)


@kernel
def _redeal_hands(s, player, hidden):
    """Deal the hands of the others from the hidden cards, and return those that are left.

    A player who has shown to hold only cards above a floor (6.2) gets such cards. Floors are nested, so the hand with
    the highest is dealt first: what it takes, all others might have had, and they have as many ways whatever it takes.
    """
    # A player who is to play, and would have been skipped otherwise, can play (6.3). Draw until that is so.
    must_play = _NOBODY
    if s.phase == PLAY and not s.rules.explicit_go and not s.terminal and s.current_player != player:
        must_play = np.int64(s.current_player)
    while True:
        left, done = hidden, np.int64(1) << player
        for _ in range(s.rules.num_players - 1):
            p = _highest_floor(s, done)
            done |= np.int64(1) << p
            s.hands[p] = draw_cards(s, left & ~FITTING[s.floors[p]], count_bits(s.hands[p]))
            left ^= s.hands[p]
        if must_play == _NOBODY or fitting(s, must_play):
            return left


@kernel(inline=True)
def _highest_floor(s, done):
    """Return the player with the highest floor among those not in the bit set `done`."""
    best = _NOBODY
    for p in range(s.rules.num_players):
        if not done >> p & 1 and (best == _NOBODY or s.floors[p] > s.floors[best]):
            best = p
    return best
