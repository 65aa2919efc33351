"""What the opponent may hold in gin rummy, given that they play to win: worlds for search."""

from cardenvs.core.kernel import kernel
from cardenvs.core.rng import random_below
from cardenvs.games.gin_rummy import melds
from cardenvs.games.gin_rummy.rules import determinize
from cardenvs.kits.cards import NUM_CARDS, count_bits, lowest_card

# In self-play of the rule agent, the opponent has 45 points of deadwood after one turn, 30 after three, 16 after six
# and 7 after ten; here 43, 27, 16 and 7; in hands dealt uniformly 55, 55, 52 and 43.
_EXCHANGES_PER_TURN = 2
_WAITS_BELOW = 16  # with this many cards in the stock players no longer knock as soon as they can


@kernel
def sample_belief(s, player, seed):
    """Re-deal what `player` cannot know, like `determinize`, and let the opponent improve the hand as in real play.

    For each turn that the opponent has had, they exchange their highest loose card for one from the stock a few times:
    more often than in real play, to make up for better choices. Exchanges after which they would have knocked early in
    the hand are left out, because they have not.
    """
    determinize(s, player, seed)
    opponent = 1 - player
    known, first = s.known[opponent], NUM_CARDS - s.num_stock
    if s.num_stock == 0:
        return
    would_knock = min(s.knock_limit, s.num_stock - _WAITS_BELOW)
    for _ in range(_EXCHANGES_PER_TURN * count_bits(s.discarded[opponent])):
        place = first + random_below(s.rng, s.num_stock)
        eleven = s.hands[opponent] | 1 << s.deck[place]
        loose = eleven & ~melds.best_melded(eleven) & ~known
        if loose == 0:
            continue
        discard = _highest(loose, s.rng)
        if melds.min_deadwood(eleven ^ discard) > would_knock:
            s.hands[opponent] = eleven ^ discard
            s.deck[place] = lowest_card(discard)


@kernel
def _highest(cards, rng):
    """Return one of the cards with the most points among `cards`, at random, as a bit set."""
    highest = cards & ~melds.cards_up_to(melds.highest_points(cards) - 1)
    for _ in range(random_below(rng, count_bits(highest))):
        highest &= highest - 1
    return highest & -highest
