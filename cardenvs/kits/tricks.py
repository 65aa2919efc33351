"""Trick-taking games: following suit, what wins a trick, and the suits that players have shown not to hold.

    TRICKS = Tricks(TABLE, with_trumps)

makes the kernels from up to three of the game:

    strength(s, card, led)   larger for a better card when suit `led` was led; negative if it cannot win the trick; with
                             the full deck often `no_trumps` or `with_trumps`
    suit_of(s, card)         the suit that a card counts as: trumps may include cards of other suits
    suit_cards(s, suit)      all cards that count as a suit, as a bit set

The record has the fields of `trick_fields`. The game says what a trick is worth.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.events import Table
from cardenvs.core.game_view import Choice
from cardenvs.core.kernel import kernel
from cardenvs.core.record import Field
from cardenvs.core.seats import next_active, wrap
from cardenvs.core.view import View
from cardenvs.kits.cards import SUIT_SETS, SUITS, count_bits, suit_text
from cardenvs.kits.deck import NO_CARD
from cardenvs.kits.redeal import add_place, cards_at, deal_to_places, list_cards, new_places
from cardenvs.kits.sections import Part, cards, one_hot, one_seat, per_seat

SUIT_SIZE = 13
NOT_HELD, MUST_FOLLOW = 1, 2  # what `Tricks.explain` returns


def trick_fields(max_players: int, max_tricks: int) -> list[Field]:
    """Return the fields of hands and tricks, for `record`."""
    return [
        ("hands", "i8", (max_players,)),  # bit sets of cards                                 seen by: owner
        ("played", "i1", (max_players, max_tricks)),  # by trick, or NO_CARD                  seen by: all
        ("voids", "u1", (max_players,)),  # bit set of suits that p has shown not to hold     seen by: all
        ("leader", "i1"),  # of this trick                                                    seen by: all
        ("trick", "i1"),  # its number: 0, 1, ...                                             seen by: all
    ]


# ---------------------------------------------------------------------------------------------------------------
# The full deck


@kernel(inline=True)
def suit_of(card):
    """Return the suit of a card of the full deck, 0 to 3 for s c d h."""
    return card // SUIT_SIZE


@kernel(inline=True)
def suit_as_printed(s, card):
    """Return `suit_of`, for games in which every card counts as its own suit."""
    return suit_of(card)


@kernel(inline=True)
def height(card):
    """Return the rank of a card of the full deck with the ace on top: 0 for the 2, 12 for the ace."""
    rank = card % SUIT_SIZE
    return rank - 1 if rank else SUIT_SIZE - 1


@kernel(inline=True)
def heights(cards, suit):
    """Return the cards of a suit in a bit set, as a bit set of heights."""
    ranks = cards >> SUIT_SIZE * suit & (1 << SUIT_SIZE) - 1
    return ranks >> 1 | (ranks & 1) << SUIT_SIZE - 1


@kernel(inline=True)
def rank_in_trick(card, led, trump):
    """Return how good a card of the full deck is: trumps, then the suit that was led; others cannot win and are -1."""
    if suit_of(card) == trump:
        return SUIT_SIZE + height(card)
    return height(card) if suit_of(card) == led else -1


@kernel(inline=True)
def no_trumps(s, card, led):
    """Strength of a card in games without trumps."""
    return rank_in_trick(card, led, -1)


@kernel(inline=True)
def with_trumps(s, card, led):
    """Strength of a card where `s.trump` is the suit of trumps, or -1."""
    return rank_in_trick(card, led, s.trump)


@kernel(inline=True)
def suit_cards(s, suit):
    """Return the cards of a suit of the full deck, as a bit set."""
    return np.int64((1 << SUIT_SIZE) - 1) << SUIT_SIZE * suit


# ---------------------------------------------------------------------------------------------------------------
# Tricks


@kernel
def clear_tricks(s):
    """Forget the tricks of the deal before."""
    s.trick = 0
    for p in range(s.rules.num_players):
        s.voids[p] = 0
        for trick in range(s.played.shape[1]):
            s.played[p, trick] = NO_CARD


@kernel
def cards_played(s, player):
    """Return the cards that `player` has played in this deal, as a bit set."""
    played = np.int64(0)
    for trick in range(min(s.trick + 1, s.played.shape[1])):
        if s.played[player, trick] != NO_CARD:
            played |= np.int64(1) << s.played[player, trick]
    return played


@kernel(inline=True)
def card_in_trick(s, player):
    """Return the card of `player` in the current trick, or NO_CARD."""
    return s.played[player, s.trick] if s.trick < s.played.shape[1] else NO_CARD


class Tricks:
    """The kernels of a game's tricks.

    Attributes:
        led_suit: led_suit(s) -> the suit to follow, or -1 before the lead.
        playable: playable(s, player) -> bit set of the cards that `player` may play: of the suit led, if there is one.
        winner: winner(s) -> who has the best card of the trick so far.
        explain: explain(s, player, card) -> 0 if the card may be played, else NOT_HELD or MUST_FOLLOW.
        play: play(s, player, card, log): move a card from the hand to `played`, and note a void that it shows.
        take_turn: take_turn(s, card, log) -> winner. The player to act plays a card, and it is the turn of the next one
            who has not left. If the trick is complete, its winner, who is returned, leads to the next one; else
            NO_PLAYER is returned.
        card_of: card_of(s, player) -> the card in the trick or NO_CARD.
    """

    def __init__(
        self,
        table: Table,
        strength: Any,
        suit_of: Any = suit_as_printed,
        suit_cards: Any = suit_cards,
        card_of: Any = card_in_trick,
    ) -> None:
        """Compile the kernels.

        Args:
            table: with piles "hand" and "trick" or "played" of each player, and the kinds of event "play" and, if leads
                are told apart, "lead".
            strength, suit_of, suit_cards: see the head of this file.
            card_of: for records that keep the trick elsewhere.
        """
        self.card_of = card_of
        self.led_suit = led_suit = _inline(_led_suit(suit_of, card_of))
        self.playable = playable = _inline(_playable(led_suit, suit_cards))
        self.winner = winner = _inline(_winner(led_suit, strength, card_of))
        self.explain = _inline(_explain(playable))
        self.play = play = _inline(_play(led_suit, suit_of, table))
        self.take_turn = _inline(_take_turn(play, winner))


_inline = kernel(inline=True)


def _led_suit(suit_of: Any, card_of: Any) -> Callable[..., Any]:
    def led_suit(s):
        card = np.int64(card_of(s, np.int64(s.leader)))
        return -1 if card == NO_CARD else suit_of(s, card)

    return led_suit


def _playable(led_suit: Any, suit_cards: Any) -> Callable[..., Any]:
    def playable(s, player):
        hand, led = s.hands[player], led_suit(s)
        if led < 0:
            return hand
        following = hand & suit_cards(s, led)
        return following if following else hand

    return playable


def _winner(led_suit: Any, strength: Any, card_of: Any) -> Callable[..., Any]:
    def winner(s):
        led, winner, best = led_suit(s), np.int64(s.leader), np.int64(-1)
        for p in range(s.rules.num_players):
            card = np.int64(card_of(s, p))
            if card != NO_CARD and strength(s, card, led) > best:
                winner, best = p, strength(s, card, led)
        return winner

    return winner


def _explain(playable: Any) -> Callable[..., Any]:
    def explain(s, player, card):
        if not s.hands[player] >> card & 1:
            return NOT_HELD
        return 0 if playable(s, player) >> card & 1 else MUST_FOLLOW

    return explain


def _play(led_suit: Any, suit_of: Any, table: Table) -> Callable[..., Any]:
    plays, hand = table.kind_ids["play"], table.pile_ids["hand"]
    leads = table.kind_ids.get("lead", plays)
    target = table.pile_ids["trick" if "trick" in table.pile_ids else "played"]

    def play(s, player, card, log):
        led = led_suit(s)
        if led >= 0 and suit_of(s, card) != led:
            s.voids[player] |= 1 << led
        s.hands[player] ^= np.int64(1) << card
        s.played[player, s.trick] = card
        ev.log_move(log, leads if led < 0 else plays, player, card, hand + player, target + player, ev.EVERYBODY)

    return play


def _take_turn(play: Any, winner_of_trick: Any) -> Callable[..., Any]:
    def take_turn(s, card, log):
        player = np.int64(s.current_player)
        play(s, player, card, log)
        s.current_player = next_active(s, player)
        if s.current_player != s.leader:
            return ev.NO_PLAYER
        winner = winner_of_trick(s)
        s.trick += 1
        s.leader = s.current_player = winner
        return winner

    return take_turn


# ---------------------------------------------------------------------------------------------------------------
# Worlds


@kernel(inline=True)
def add_hands(s, places, player):
    """Add the hands of the others as places, in turn; none may get the suits that its owner has shown not to hold."""
    n = s.rules.num_players
    for seat in range(1, n):
        p = wrap(player + seat, n)
        add_place(places, count_bits(s.hands[p]), s.voids[p])


@kernel(inline=True)
def take_hands(s, places, player, deck):
    """Give the others what has been dealt to the places of `add_hands`, which come first."""
    n = s.rules.num_players
    for seat in range(1, n):
        s.hands[wrap(player + seat, n)] = cards_at(places, seat - 1, deck)


@kernel
def redeal_tricks(s, player, deck):
    """Deal the hands of the others again, so that all deals that respect their voids are equally likely.

    For games of the full deck in which all cards that a player does not see are in hands.

    Args:
        s: the record; `s.rng` is advanced.
        player: who keeps their hand.
        deck: integer array with room for the cards, which is filled with NO_CARD afterwards.
    """
    hidden = np.int64(0)
    for p in range(s.rules.num_players):
        hidden |= s.hands[p]
    number = list_cards(hidden & ~s.hands[player], deck, 0)
    places = new_places()
    places.number = 0
    add_hands(s, places, player)
    deal_to_places(s, places, SUIT_SETS, deck, 0, number)
    take_hands(s, places, player, deck)
    for k in range(number):
        deck[k] = NO_CARD


# ---------------------------------------------------------------------------------------------------------------
# What is observed and shown


def trick_sections(labels: tuple[str, ...], tricks: Tricks) -> tuple[Part, ...]:
    """Return the sections of an observation that all trick games need: hands, cards played, voids and turns."""
    led_suit = tricks.led_suit

    @kernel(inline=True)
    def led(s, p):
        return led_suit(s)

    return (
        cards("hand", labels, "own cards", "hands"),
        per_seat(one_hot("trick", labels, "one-hot card in the current trick", card_in_trick)),
        per_seat(cards("played", labels, "cards played in this deal", cards_played)),
        per_seat(cards("voids", SUITS, "1 for each suit that a player has shown not to hold", "voids")),
        one_hot("led_suit", SUITS, "one-hot suit to follow, zeros before the lead", led),
        one_seat("leader", "the leader of the trick", "leader"),
        one_seat("to_act", "the player to act", "current_player"),
    )


class TrickView(View):
    """Words of a trick game whose action ids are cards, beside the view of these: `class MyView(TrickView, CardView)`.

    Attributes:
        tricks: the game's Tricks.
        trick_pile: the pile of each player to which a card is played.
        reasons: as in `View`; {led} stands for the sign of the suit led.
        follow_prompt: what is asked after the lead; {led}, {winner} and {best} stand for the suit led, and who wins so
            far with which card.
    """

    tricks: Tricks
    shape = "ring"
    trick_pile = "played"
    remembered = frozenset({"voids"})
    reasons: Mapping[int, str] = MappingProxyType(
        {NOT_HELD: "that card is not in hand", MUST_FOLLOW: "the suit that was led, {led}, must be followed"}
    )
    follow_prompt = "Play a card; {led} was led and player_{winner} wins so far."

    def action_label(self, s: Any, action: int) -> str:
        """Return "lead 7♠" or "play 7♠"."""
        return f"{'lead' if self.tricks.led_suit(s) < 0 else 'play'} {self.token_label(action)}"

    def choice(self, s: Any, action: int) -> Choice:
        """Return the card, from the hand to the trick."""
        player = int(s.current_player)
        return Choice((int(action),), ("hand", player), (self.trick_pile, player))

    def meant_by(self, s: Any, token: int) -> int | None:
        """Return the action that plays a card."""
        return token

    def illegal_reason(self, s: Any, action: int, code: int) -> str:
        """Return why a card may not be played."""
        return super().illegal_reason(s, action, code).format(led=suit_text(int(self.tricks.led_suit(s))))

    def prompt(self, s: Any) -> str:
        """Return what is asked."""
        led = int(self.tricks.led_suit(s))
        if led < 0:
            return "Lead a card."
        winner = self.tricks.winner(s)
        best = self.token_label(int(self.tricks.card_of(s, winner)))
        return self.follow_prompt.format(led=suit_text(led), winner=winner, best=best)

    def facts(self, s: Any, player: int) -> dict[str, Any]:
        """Return the trick, its winner so far, and the voids that players have shown."""
        is_led = self.tricks.led_suit(s) >= 0
        return {
            "trick": int(s.trick) + 1,
            "trick_is_won_by": f"player_{self.tricks.winner(s)}" if is_led else None,
            "voids": voids_shown(s),
        }


def voids_shown(s: Any) -> dict[str, list[str]]:
    """Return the suits that each player has shown not to hold."""
    players = range(int(s.rules.num_players))
    return {f"player_{p}": [suit_text(k) for k in range(4) if int(s.voids[p]) >> k & 1] for p in players}
