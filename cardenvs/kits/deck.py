"""Decks: shuffling, dealing and drawing, for records with `deck` and `num_dealt`.

deck[num_dealt:] is the stock, next card first. What has been dealt is NO_CARD in `deck`, so that nothing that looks at
a record learns the order in which cards came.
"""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.core.rng import DEAL, DETERMINIZE, shuffle_rest, start_stream

NO_CARD = -1


def deck_fields(num_cards):
    """Return the fields of a deck of cards 0 to num_cards - 1, for `record`."""
    return [
        ("deck", "i1", (num_cards,)),  # in dealing order; deck[num_dealt:] is the stock      seen by: nobody
        ("num_dealt", "i1"),  #                                                               seen by: all
    ]


@kernel(inline=True)
def put_in_order(deck, num_cards):
    """Fill deck[:num_cards] with the cards 0, 1, 2, ..."""
    for card in range(num_cards):
        deck[card] = card


@kernel(inline=True)
def shuffle_deck(s, num_cards, number, given):
    """Put all cards back, shuffle them, and begin to deal.

    Args:
        s: the record.
        num_cards: size of the deck.
        number: how many times it has been shuffled before in this episode; each has random numbers of its own.
        given: cards to be dealt first, usually none.
    """
    put_in_order(s.deck, num_cards)
    start_stream(s, DEAL, number)
    shuffle_rest(s, s.deck, num_cards, given)
    s.num_dealt = 0


@kernel(inline=True)
def next_card(s):
    """Take the next card of the stock."""
    card = np.int64(s.deck[s.num_dealt])
    s.deck[s.num_dealt] = NO_CARD
    s.num_dealt += 1
    return card


@kernel(inline=True)
def draw_card(s, player, kind, stock, hand, log):
    """Give the next card to the hand of `player`, a bit set in `s.hands`, and log it; nobody else sees its face.

    Args:
        s: the record.
        player: who draws.
        kind: of the event, a MOVE.
        stock: the pile.
        hand: pile of player 0.
        log: for events.
    """
    card = next_card(s)
    s.hands[player] |= np.int64(1) << card
    ev.log_move(log, kind, player, card, stock, hand + player, 1 << player)


@kernel
def deal_hands(s, size, kind, stock, hand, log):
    """Deal `size` cards to each player in turn who has not left; the other arguments are those of `draw_card`."""
    for p in range(s.rules.num_players):
        if s.active[p]:
            for _ in range(size):
                draw_card(s, p, kind, stock, hand, log)


def stock_of(s):
    """Return the cards of the stock: what a table shows of it (see `Table.pile`)."""
    return s.deck[int(s.num_dealt) :]


@kernel
def hidden_in_hands_and_deck(s, player):
    """Return the cards in the other players' hands and in the stock, as a bit set."""
    hidden = np.int64(0)
    for p in range(s.rules.num_players):
        if p != player:
            hidden |= s.hands[p]
    for k in range(s.num_dealt, s.deck.shape[0]):
        hidden |= np.int64(1) << s.deck[k]
    return hidden


@kernel(inline=True)
def begin_world(s, seed):
    """Begin a re-deal of what a player cannot know: give the world its own seed and random numbers."""
    s.seed = seed
    start_stream(s, DETERMINIZE, 0)
