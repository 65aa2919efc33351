"""Trick games that are played deal after deal: dealing, tricks as piles, and what is seen of them.

    DEALS = Deals(TABLE, PACK)

declares what is on the table of such a game and makes the kernels; `Tricks` and the game itself come on top. The record
has the fields of `deal_fields`. The dealer goes round, and the player after the dealer begins.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.events import CounterUse, Op, Table
from cardenvs.core.game_view import Scene
from cardenvs.core.kernel import kernel
from cardenvs.core.record import Field
from cardenvs.core.seats import wrap
from cardenvs.core.text import count
from cardenvs.kits import sections
from cardenvs.kits.cards import Pack, count_bits
from cardenvs.kits.deck import (
    NO_CARD,
    begin_world,
    deal_hands,
    deck_fields,
    hidden_in_hands_and_deck,
    shuffle_deck,
    stock_of,
)
from cardenvs.kits.redeal import add_place, deal_to_places, list_cards, new_places
from cardenvs.kits.sections import cards, number, one_seat, per_seat
from cardenvs.kits.tricks import TrickView, add_hands, card_in_trick, clear_tricks, take_hands, trick_fields


def deal_fields(pack: Pack, max_players: int, max_tricks: int) -> list[Field]:
    """Return the fields of deck, tricks and deals, for `record`; all but hands and deck is seen by all."""
    return [
        *deck_fields(pack.size),
        *trick_fields(max_players, max_tricks),
        ("won", "i8", (max_players,)),  # bit sets of the cards in tricks that p has won
        ("last_won", "i8", (max_players,)),  # the same at the end of the deal before
        ("dealer", "i1"),
        ("num_deals", "i2"),  # begun
        ("hand_size", "i1"),  # cards of each player in this deal
    ]


class Deals:
    """The table of a trick game, and the kernels of its deals.

    Attributes:
        begin: begin(s, size, given, log): shuffle, `given` on top, and deal `size` cards to each player.
        end: end(s, log): gather all cards, and let the next player deal.
    """

    def __init__(self, table: Table, pack: Pack, known: Any = None) -> None:
        """Declare piles, counters and kinds of event, and compile the kernels.

        Args:
            table: of the game.
            pack: the cards.
            known: known(s, player), the cards of a hand that all see, as a bit set, in games in which hands are shown.
        """
        table.pile("deck", layout="stack", tokens=stock_of, seen="nobody")
        table.pile("hand", per_player=True, layout="hand", cards="hands", seen="owner", known=known)
        table.pile("trick", per_player=True, layout="trick", tokens=card_in_trick)
        table.pile("tricks", per_player=True, layout="won", cards="won")
        table.counter("dealer", use="player", value="dealer")
        table.counter("deal_number", value="num_deals")
        table.event("clear_table", Op.CLEAR, "All cards are gathered.", is_detail=True)
        table.event("new_deal", Op.SET, "Deal {value}.", opens=ev.Part.HAND)
        table.event("dealer", Op.SET, "{player} deals.")
        table.event("shuffle", Op.CREATE, "The deck of {value} cards is shuffled.", is_detail=True)
        table.event("deal", Op.MOVE, "{player} is dealt {token}.")
        table.event("lead", Op.MOVE, "{player} leads {token}.")
        table.event("play", Op.MOVE, "{player} plays {token}.")
        table.event("take", Op.MOVE_ALL, "{player}'s card goes to {target}.", is_detail=True)
        self.begin = kernel(_begin(table, pack.size))
        self.end = kernel(_end(table), inline=True)


def _begin(table: Table, num_cards: int) -> Callable[..., Any]:
    deck, hand = table.pile_ids["deck"], table.pile_ids["hand"]
    number, dealer = table.counter_ids["deal_number"], table.counter_ids["dealer"]
    new_deal, deals, shuffles, dealt = (table.kind_ids[name] for name in ("new_deal", "dealer", "shuffle", "deal"))

    def begin(s, size, given, log):
        shuffle_deck(s, num_cards, s.num_deals, given)
        s.num_deals += 1
        s.hand_size = size
        ev.log_set(log, new_deal, ev.NO_PLAYER, number, s.num_deals)
        ev.log_set(log, deals, s.dealer, dealer, s.dealer)
        ev.log_create(log, shuffles, deck, num_cards)
        deal_hands(s, size, dealt, deck, hand, log)
        clear_tricks(s)
        s.leader = s.current_player = wrap(s.dealer + 1, s.rules.num_players)

    return begin


def _end(table: Table) -> Callable[..., Any]:
    clears = table.kind_ids["clear_table"]

    def end(s, log):
        for p in range(s.rules.num_players):
            s.last_won[p], s.won[p] = s.won[p], 0
        s.dealer = wrap(s.dealer + 1, s.rules.num_players)
        ev.log_clear(log, clears)

    return end


@kernel(inline=True)
def take_trick(s, winner):
    """Add the cards of the trick that is over to those that `winner` has won; `Tricks.gather` has the events."""
    for p in range(s.rules.num_players):
        s.won[np.uint64(winner)] |= np.int64(1) << s.played[p, np.uint64(s.trick - 1)]


@kernel
def redeal_with_stock(s, player, suit_sets, seed):
    """Deal the hands of the others and the stock again, so that all deals that respect voids are equally likely.

    It is a whole `determinize` of games in which a player sees all other cards; `suit_sets` are those of the pack.
    """
    begin_world(s, seed)
    hidden = hidden_in_hands_and_deck(s, player)
    first = s.deck.shape[0] - count_bits(hidden)
    list_cards(hidden, s.deck, first)
    places = new_places()
    places.number = 0
    add_hands(s, places, player)
    add_place(places, s.deck.shape[0] - s.num_dealt, 0)  # last, so that the stock lies where it belongs
    deal_to_places(s, places, suit_sets, s.deck, first, s.deck.shape[0])
    take_hands(s, places, player, s.deck)
    for k in range(first, s.num_dealt):
        s.deck[k] = NO_CARD


# ---------------------------------------------------------------------------------------------------------------
# What is observed and shown


def deal_sections(pack: Pack, max_tricks: int, max_deals: int) -> tuple[sections.Part, ...]:
    """Return the sections of deals, beside `trick_sections`."""
    return (
        per_seat(cards("won", pack.labels, "cards in tricks won in this deal", "won")),
        per_seat(cards("last_won", pack.labels, "cards in tricks won in the deal before", "last_won")),
        one_seat("dealer", "the dealer", "dealer"),
        number("deal_number", "deals begun", "num_deals", high=max_deals),
        number("cards_each", "cards of each player in this deal", "hand_size", high=max_tricks),
    )


class DealView(TrickView):
    """Words of deals and tricks, before those of cards: `class MyView(DealView, PackView)`."""

    def arrange(self, s: Any, viewer: int, scene: Scene) -> None:
        """Show hands by suit, the number of cards beside that of the deal, and no score that equals the return."""
        super().arrange(s, viewer, scene)
        scene.counters["deal_number"].label = f"{count(int(s.hand_size), 'card')} each, deal"
        score = scene.counters.get("score")
        if score is not None and score.value == s.returns[: len(score.value)].tolist():
            score.use = CounterUse.NONE  # returns are shown, too
        for p in range(len(scene.notes)):
            self.sort_hand(s, scene.piles["hand", p])

    def facts(self, s: Any, player: int) -> dict[str, Any]:
        """Return the number of the deal, the dealer, and how many cards each player was dealt."""
        found = {"deal": int(s.num_deals), "dealer": f"player_{s.dealer}", "cards_each": int(s.hand_size)}
        return found | super().facts(s, player)
