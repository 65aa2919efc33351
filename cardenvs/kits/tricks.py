"""Trick-taking games: following suit, what wins a trick, and the suits that players have shown not to hold.

    TRICKS = Tricks(TABLE, Ranking.plain(PACK, trump=trump_of_record))

makes the kernels from the ranking of the cards, and from `duties`, if players must do more than
follow suit: trump, or beat the best card. The record has the fields of `trick_fields`. The game says what a trick is
worth.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.cards import SUIT_SIGNS
from cardenvs.core.events import UNKNOWN, PileLayout, Table
from cardenvs.core.game_view import Choice, PileView
from cardenvs.core.kernel import kernel
from cardenvs.core.record import Field
from cardenvs.core.seats import next_active, wrap
from cardenvs.core.view import View
from cardenvs.kits.cards import Pack, count_bits, lowest_card
from cardenvs.kits.deck import NO_CARD
from cardenvs.kits.redeal import add_place, cards_at, deal_to_places, list_cards, new_places
from cardenvs.kits.sections import Part, cards, one_hot, one_seat, per_seat

SUIT_SIZE = 13
_SUIT_ORDER = "shdc"  # in which people see the suits of a hand, as in newspapers; others come first
ACE_HIGH = "23456789TJQKA"  # ranks of the full deck from low to high
NOT_HELD, MUST_FOLLOW, MUST_TRUMP, MUST_BEAT = 1, 2, 3, 4  # what `Tricks.explain` returns
# Duties of players, for `Tricks`: whoever cannot follow must trump; whoever follows, or must trump, must beat the best
# card of the trick, if they can.
TRUMPING, BEATING, OVERTRUMPING = 1, 2, 4


def trick_fields(max_players: int, max_tricks: int) -> list[Field]:
    """Return the fields of hands and tricks, for `record`."""
    return [
        ("hands", "i8", (max_players,)),  # bit sets of cards                                 seen by: owner
        ("played", "i1", (max_players, max_tricks)),  # by trick, or NO_CARD                  seen by: all
        ("cards_played", "i8", (max_players,)),  # the same as bit sets                       seen by: all
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
def height(card):
    """Return the rank of a card of the full deck with the ace on top: 0 for the 2, 12 for the ace."""
    rank = card % SUIT_SIZE
    return rank - 1 if rank else SUIT_SIZE - 1


@kernel(inline=True)
def heights(cards, suit):
    """Return the cards of a suit in a bit set, as a bit set of heights."""
    ranks = cards >> SUIT_SIZE * suit & (1 << SUIT_SIZE) - 1
    return ranks >> 1 | (ranks & 1) << SUIT_SIZE - 1


# ---------------------------------------------------------------------------------------------------------------
# What beats what


class Ranking:
    """How cards rank in tricks: the kernels that `Tricks` needs.

    Attributes:
        pack: the cards.
        suits: labels of the suits, by number: "s", or the name of one that has no sign.
        suit_texts: the same for people.
        suit_of: suit_of(s, card), the suit that a card counts as.
        suit_cards: suit_cards(s, suit), all cards that count as a suit, as a bit set.
        trump: trump(s), the suit of trumps, or -1.
        height: height(s, card), the place of a card in its suit, from 0, the lowest.
        strength: strength(s, card, led), larger for a better card when suit `led` was led; negative if it cannot win.
    """

    def __init__(self, pack: Pack, suits: tuple[str, ...], suit_of: Any, suit_cards: Any, height: Any, trump: Any):
        """Take kernels from the game, which `plain` and `tables` make."""
        self.pack, self.suits = pack, suits
        self.suit_texts = tuple(SUIT_SIGNS.get(suit, suit) for suit in suits)
        self.suit_of, self.suit_cards, self.height, self.trump = suit_of, suit_cards, height, trump
        above = pack.size

        @kernel(inline=True)
        def strength(s, card, led):
            suit = suit_of(s, card)
            if suit == trump(s):
                return above + height(s, card)
            return height(s, card) if suit == led else np.int64(-1)

        self.strength = strength

    @classmethod
    def plain(cls, pack: Pack, ranks: str = "", trump: Any = None) -> "Ranking":
        """Return the ranking of a game in which every card counts as its own suit.

        Args:
            pack: the cards.
            ranks: their ranks from low to high, unless the pack has them in this order.
            trump: trump(s), as above; None for games without trumps.
        """
        order = [(ranks or pack.ranks).index(rank) for rank in pack.ranks]
        height_table = np.array(order, np.int8)[pack.rank_index]
        suit_of_card, suit_sets = pack.suit_of, pack.suit_sets

        @kernel(inline=True)
        def suit_of(s, card):
            return suit_of_card(card)

        @kernel(inline=True)
        def suit_cards(s, suit):
            return suit_sets[np.uint64(suit)]

        @kernel(inline=True)
        def height(s, card):
            return np.int64(height_table[np.uint64(card)])

        return cls(pack, tuple(pack.suits), suit_of, suit_cards, height, no_trump if trump is None else trump)

    @classmethod
    def tables(
        cls, pack: Pack, suits: tuple[str, ...], suit: np.ndarray, height: np.ndarray, trump: np.ndarray, row: Any
    ) -> "Ranking":
        """Return the ranking of a game in which suits and heights depend on what is played, such as the trump suit.

        Args:
            pack: the cards.
            suits: labels of the suits.
            suit: int (rows, cards), the suit that each card counts as.
            height: int (rows, cards), its place in that suit, from 0, the lowest.
            trump: int (rows,), the suit of trumps, or -1.
            row: row(s), which row of the tables holds now.
        """
        sets = [[sum(1 << card for card in np.flatnonzero(of == k).tolist()) for k in range(len(suits))] for of in suit]
        suit_table, set_table = np.array(suit, np.int8), np.array(sets, np.int64)
        height_table, trump_table = np.array(height, np.int8), np.array(trump, np.int8)

        @kernel(inline=True)
        def suit_of(s, card):
            return np.int64(suit_table[np.uint64(row(s)), np.uint64(card)])

        @kernel(inline=True)
        def suit_cards(s, suit):
            return set_table[np.uint64(row(s)), np.uint64(suit)]

        @kernel(inline=True)
        def height_of(s, card):
            return np.int64(height_table[np.uint64(row(s)), np.uint64(card)])

        @kernel(inline=True)
        def trump_of(s):
            return np.int64(trump_table[np.uint64(row(s))])

        return cls(pack, suits, suit_of, suit_cards, height_of, trump_of)


@kernel(inline=True)
def no_trump(s):
    """Trump suit of a game without trumps."""
    return -1


@kernel(inline=True)
def trump_of_record(s):
    """Trump suit of a game that keeps it in the field `trump`."""
    return np.int64(s.trump)


# ---------------------------------------------------------------------------------------------------------------
# Tricks


@kernel
def clear_tricks(s):
    """Forget the tricks of the deal before."""
    s.trick = 0
    for p in range(s.rules.num_players):
        s.voids[p] = s.cards_played[p] = 0
        for trick in range(s.played.shape[1]):
            s.played[p, trick] = NO_CARD


@kernel(inline=True)
def card_in_trick(s, player):
    """Return the card of `player` in the current trick, or NO_CARD."""
    # Indices are unsigned, so that Numba skips the check for negative ones.
    return s.played[np.uint64(player), np.uint64(s.trick)] if s.trick < s.played.shape[1] else NO_CARD


@kernel(inline=True)
def no_duty(s):
    """Duties of a game in which it is enough to follow suit."""
    return 0


class Tricks:
    """The kernels of a game's tricks.

    Attributes:
        led_suit: led_suit(s) -> the suit to follow, or -1 before the lead.
        is_led: is_led(s) -> whether a card has been led.
        playable: playable(s, player) -> bit set of the cards that `player` may play.
        winner: winner(s) -> who has the best card of the trick so far.
        explain: explain(s, player, card) -> 0 if the card may be played, else NOT_HELD, MUST_FOLLOW and so on.
        play: play(s, player, card, log): move a card from the hand to `played`, and note the voids that it shows.
        take_turn: take_turn(s, card, log) -> winner. The player to act plays a card, and it is the turn of the next
            one. If the trick is complete, its winner, who is returned, leads to the next one; else NO_PLAYER is
            returned.
        gather: gather(s, winner, log): log that the trick goes to the pile of `winner`, for tables with piles "trick"
            and "tricks" of each player and the kind of event "take".
        card_of: card_of(s, player) -> the card in the trick or NO_CARD.
        ranking: the Ranking.
    """

    def __init__(
        self,
        table: Table,
        ranking: Ranking,
        duties: Any = None,
        card_of: Any = card_in_trick,
        notes_lacks: bool = False,
        next_player: Any = next_active,
        called: Any = None,
    ) -> None:
        """Compile the kernels.

        Args:
            table: with piles "hand" and "trick" or "played" of each player, and the kinds of event "play" and, if leads
                are told apart, "lead".
            ranking: of the cards.
            duties: duties(s) -> sum of TRUMPING, BEATING and OVERTRUMPING; None if it is enough to follow suit.
            card_of: for records that keep the trick elsewhere.
            notes_lacks: whether the record has the field `lacks`, for each player a bit set of the cards that they have
                shown not to hold: those that they would have had to play before the card that they played.
            next_player: next_player(s, player) -> who plays after `player`; by default the next one who has not left.
            called: called(s) -> the suit that all must follow in this trick, the leader too, or -1; None if the leader
                always chooses it.
        """
        self.ranking, self.card_of = ranking, card_of
        self.is_led = _inline(_is_led(card_of))
        self.led_suit = led_suit = _inline(_led_suit(ranking, card_of))
        if called is not None:
            self.led_suit = led_suit = _inline(_suit_to_follow(led_suit, called))
        self.winner = winner = _inline(_winner(led_suit, ranking, card_of))
        better = _inline(_better(led_suit, winner, ranking, card_of))
        following = _following(led_suit, ranking)
        if duties is not None:
            following = _dutiful(_inline(following), led_suit, better, ranking, duties)
        self.playable = _inline(following)
        self.explain = _inline(_explain(self.playable, led_suit, ranking))
        lacked = _inline(_lacked(better, ranking, no_duty if duties is None else duties))
        self.play = play = _inline(_play(led_suit, ranking, duties, table, lacked if notes_lacks else None))
        self.take_turn = _inline(_take_turn(play, winner, next_player))
        if "take" in table.kind_ids:
            self.gather = _inline(_gather(table))


_inline = kernel(inline=True)


def _led_suit(ranking: Ranking, card_of: Any) -> Callable[..., Any]:
    suit_of = ranking.suit_of

    def led_suit(s):
        card = np.int64(card_of(s, np.int64(s.leader)))
        return -1 if card == NO_CARD else suit_of(s, card)

    return led_suit


def _is_led(card_of: Any) -> Callable[..., Any]:
    def is_led(s):
        return card_of(s, np.int64(s.leader)) != NO_CARD

    return is_led


def _suit_to_follow(led_suit: Any, called: Any) -> Callable[..., Any]:
    def suit_to_follow(s):
        suit = np.int64(called(s))
        return suit if suit >= 0 else led_suit(s)

    return suit_to_follow


def _winner(led_suit: Any, ranking: Ranking, card_of: Any) -> Callable[..., Any]:
    strength = ranking.strength

    def winner(s):
        led, winner, best = led_suit(s), np.int64(s.leader), np.int64(-1)
        for p in range(s.rules.num_players):
            card = np.int64(card_of(s, p))
            if card != NO_CARD and strength(s, card, led) > best:
                winner, best = p, strength(s, card, led)
        return winner

    return winner


def _following(led_suit: Any, ranking: Ranking) -> Callable[..., Any]:
    suit_cards = ranking.suit_cards

    def playable(s, player):
        hand, led = s.hands[np.uint64(player)], led_suit(s)
        if led < 0:
            return hand
        following = hand & suit_cards(s, led)
        return following if following else hand

    return playable


def _better(led_suit: Any, winner: Any, ranking: Ranking, card_of: Any) -> Callable[..., Any]:
    strength = ranking.strength

    def better(s, cards):
        """Return those of some cards that beat the best card of the trick."""
        led, found = led_suit(s), np.int64(0)
        best = strength(s, np.int64(card_of(s, winner(s))), led)
        while cards:
            card = lowest_card(cards)
            cards &= cards - 1
            if strength(s, card, led) > best:
                found |= np.int64(1) << card
        return found

    return better


def _dutiful(following: Any, led_suit: Any, better: Any, ranking: Ranking, duties: Any) -> Callable[..., Any]:
    suit_cards, trump_of = ranking.suit_cards, ranking.trump

    def playable(s, player):
        cards, led, trump, duty = following(s, player), led_suit(s), trump_of(s), duties(s)
        if led < 0:
            return cards
        must_beat = duty & BEATING
        if not cards & suit_cards(s, led):
            if trump < 0 or not duty & TRUMPING or not cards & suit_cards(s, trump):
                return cards
            cards &= suit_cards(s, trump)
            must_beat = duty & OVERTRUMPING
        beating = better(s, cards) if must_beat else np.int64(0)  # none if a trump lies on the suit that was led
        return beating if beating else cards

    return playable


def _lacked(better: Any, ranking: Ranking, duties: Any) -> Callable[..., Any]:
    suit_cards, trump_of = ranking.suit_cards, ranking.trump

    def lacked(s, card, suit, led):
        """Return the cards that a player does not hold who plays `card`, of `suit`, now, as the duties prove."""
        trump, duty, missing = trump_of(s), duties(s), np.int64(0)
        if led < 0:
            return missing
        if suit != led:
            missing |= suit_cards(s, led)
            if trump >= 0 and duty & TRUMPING and suit != trump:
                return missing | suit_cards(s, trump)
        must_beat = duty & (BEATING if suit == led else OVERTRUMPING if duty & TRUMPING and suit == trump else 0)
        if must_beat and not better(s, np.int64(1) << card):
            missing |= better(s, suit_cards(s, suit))
        return missing

    return lacked


def _explain(playable: Any, led_suit: Any, ranking: Ranking) -> Callable[..., Any]:
    suit_of = ranking.suit_of

    def explain(s, player, card):
        if not s.hands[player] >> card & 1:
            return NOT_HELD
        allowed = playable(s, player)
        if allowed >> card & 1:
            return 0
        suit, needed = suit_of(s, card), suit_of(s, lowest_card(allowed))
        if suit == needed:
            return MUST_BEAT
        return MUST_FOLLOW if needed == led_suit(s) else MUST_TRUMP

    return explain


def _play(led_suit: Any, ranking: Ranking, duties: Any, table: Table, lacked: Any) -> Callable[..., Any]:
    suit_of, trump_of = ranking.suit_of, ranking.trump
    must_trump = no_duty if duties is None else duties
    plays, hand = table.kind_ids["play"], table.pile_ids["hand"]
    leads = table.kind_ids.get("lead", plays)
    target = table.pile_ids["trick" if "trick" in table.pile_ids else "played"]

    note_lacks = _inline(_no_lacks if lacked is None else _note_lacks(lacked))

    def play(s, player, card, log):
        led, suit, seat = led_suit(s), suit_of(s, card), np.uint64(player)
        note_lacks(s, player, card, suit, led)
        if led >= 0 and suit != led:
            s.voids[seat] |= 1 << led
            if must_trump(s) & TRUMPING and trump_of(s) >= 0 and suit != trump_of(s):
                s.voids[seat] |= 1 << trump_of(s)
        s.hands[seat] ^= np.int64(1) << card
        s.cards_played[seat] |= np.int64(1) << card
        s.played[seat, np.uint64(s.trick)] = card
        kind = leads if player == s.leader else plays
        ev.log_move(log, kind, player, card, hand + player, target + player, ev.EVERYBODY)

    return play


def _no_lacks(s, player, card, suit, led):
    pass


def _note_lacks(lacked: Any) -> Callable[..., Any]:
    def note_lacks(s, player, card, suit, led):
        s.lacks[np.uint64(player)] |= lacked(s, card, suit, led)

    return note_lacks


def _take_turn(play: Any, winner_of_trick: Any, next_player: Any) -> Callable[..., Any]:
    def take_turn(s, card, log):
        player = np.int64(s.current_player)
        play(s, player, card, log)
        s.current_player = next_player(s, player)
        if s.current_player != s.leader:
            return ev.NO_PLAYER
        winner = winner_of_trick(s)
        s.trick += 1
        s.leader = s.current_player = winner
        return winner

    return take_turn


def _gather(table: Table) -> Callable[..., Any]:
    takes, trick, tricks = table.kind_ids["take"], table.pile_ids["trick"], table.pile_ids["tricks"]

    def gather(s, winner, log):
        for p in range(s.rules.num_players):
            ev.log_move_all(log, takes, p, trick + p, tricks + winner)

    return gather


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
def redeal_tricks(s, player, suit_sets, deck):
    """Deal the hands of the others again, so that all deals that respect their voids are equally likely.

    For games in which all cards that a player does not see are in hands.

    Args:
        s: the record; `s.rng` is advanced.
        player: who keeps their hand.
        suit_sets: int64 (4,), the cards of each suit as bit sets.
        deck: integer array with room for the cards, which is filled with NO_CARD afterwards.
    """
    hidden = np.int64(0)
    for p in range(s.rules.num_players):
        hidden |= s.hands[p]
    number = list_cards(hidden & ~s.hands[player], deck, 0)
    places = new_places()
    places.number = 0
    add_hands(s, places, player)
    deal_to_places(s, places, suit_sets, deck, 0, number)
    take_hands(s, places, player, deck)
    for k in range(number):
        deck[k] = NO_CARD


# ---------------------------------------------------------------------------------------------------------------
# What is observed and shown


def trick_sections(tricks: Tricks) -> tuple[Part, ...]:
    """Return the sections of an observation that all trick games need: hands, cards played, voids and turns."""
    pack, suits, led_suit = tricks.ranking.pack, tricks.ranking.suits, tricks.led_suit

    @kernel(inline=True)
    def led(s, p):
        return led_suit(s)

    return (
        cards("hand", pack.labels, "own cards", "hands"),
        per_seat(one_hot("trick", pack.labels, "one-hot card in the current trick", card_in_trick)),
        per_seat(cards("played", pack.labels, "cards played in this deal", "cards_played")),
        per_seat(cards("voids", suits, "1 for each suit that a player has shown not to hold", "voids")),
        one_hot("led_suit", suits, "one-hot suit to follow, zeros before the lead", led),
        one_seat("leader", "the leader of the trick", "leader"),
        one_seat("to_act", "the player to act", "current_player"),
    )


class TrickView(View):
    """Words of a trick game whose action ids are cards, beside the view of these: `class MyView(TrickView, PackView)`.

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
        {
            NOT_HELD: "that card is not in hand",
            MUST_FOLLOW: "the suit that was led, {led}, must be followed",
            MUST_TRUMP: "who cannot follow must trump",
            MUST_BEAT: "a card that beats the best one of the trick must be played",
        }
    )
    follow_prompt = "Play a card; {led} was led and player_{winner} wins so far."

    def action_label(self, s: Any, action: int) -> str:
        """Return "lead 7♠" or "play 7♠"."""
        return f"{'play' if self.tricks.is_led(s) else 'lead'} {self.token_label(action)}"

    def choice(self, s: Any, action: int) -> Choice:
        """Return the card, from the hand to the trick."""
        player = int(s.current_player)
        return Choice((int(action),), ("hand", player), (self.trick_pile, player))

    def meant_by(self, s: Any, token: int) -> int | None:
        """Return the action that plays a card."""
        return token

    def illegal_reason(self, s: Any, action: int, code: int) -> str:
        """Return why a card may not be played."""
        return super().illegal_reason(s, action, code).format(led=self.suit_text(int(self.tricks.led_suit(s))))

    def prompt(self, s: Any) -> str:
        """Return what is asked."""
        if not self.tricks.is_led(s):
            return "Lead a card."
        led, winner = int(self.tricks.led_suit(s)), self.tricks.winner(s)
        best = self.token_label(int(self.tricks.card_of(s, winner)))
        return self.follow_prompt.format(led=self.suit_text(led), winner=winner, best=best)

    def facts(self, s: Any, player: int) -> dict[str, Any]:
        """Return the trick, its winner so far, and the voids that players have shown; at the end the last trick."""
        is_led = self.tricks.is_led(s)
        return {
            "trick": max(1, int(s.trick)) if s.terminal and not is_led else int(s.trick) + 1,
            "trick_is_won_by": f"player_{self.tricks.winner(s)}" if is_led else None,
            "voids": self.voids_shown(s),
        }

    def suit_text(self, suit: int) -> str:
        """Return the sign of a suit."""
        return self.tricks.ranking.suit_texts[suit]

    def voids_shown(self, s: Any) -> dict[str, list[str]]:
        """Return the suits that each player has shown not to hold."""
        suits, players = self.tricks.ranking.suit_texts, range(int(s.rules.num_players))
        return {f"player_{p}": [text for k, text in enumerate(suits) if int(s.voids[p]) >> k & 1] for p in players}

    def sort_hand(self, s: Any, pile: PileView) -> None:
        """Show a hand by suit, high cards first, overlapping, and hidden cards last; one that is all hidden stays."""
        seen = [card for card in pile.tokens if card != UNKNOWN]
        hidden = [UNKNOWN] * (len(pile.tokens) - len(seen))
        if hidden and not seen:
            return
        ranking = self.tricks.ranking
        order = sorted(range(len(ranking.suits)), key=lambda suit: _SUIT_ORDER.find(ranking.suits[suit]))
        suits = [[card for card in seen if ranking.suit_of(s, card) == suit] for suit in order]
        for cards_of_suit in suits:
            cards_of_suit.sort(key=lambda card: int(ranking.height(s, card)), reverse=True)
        groups = [*suits, hidden]
        pile.tokens = [card for group in groups for card in group]
        pile.groups = [len(group) for group in groups if group]
        pile.layout = PileLayout.FAN
