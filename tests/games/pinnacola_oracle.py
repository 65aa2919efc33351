"""Pinnacola once more, slow and obvious, from rules.md: cards are texts, and every move is tried on a copy.

A meld is a tuple (side, kind, key, low, cards): of a run, the suit, its lowest step and its cards in order; of a set,
the rank, 0 and its cards. A move is a tuple, see `moves`.
"""

import itertools
from collections import Counter
from copy import copy

SUITS, STEPS = "scdh", "A23456789TJQKA"
VALUES = {**dict.fromkeys("2345", 5), **dict.fromkeys("6789TJQK", 10), "A": 15}
WILDS = ("JK", "2s", "2c")


def cards_of_game(rules):
    """All cards (1.2, 1.4)."""
    cards = [rank + suit for rank in STEPS[:13] for suit in SUITS for _ in range(2)]
    if rules.pinelle:
        cards = [card for card in cards if card not in ("2d", "2h")]
    return cards + ["JK"] * (4 if rules.jokers else 0)


def is_wild_card(rules, card):
    return card == "JK" or (rules.pinelle and card in ("2s", "2c"))


def natural_at(key, step):
    """The natural card at a step of a run, "" beyond its ends."""
    return STEPS[step] + key if 0 <= step < 14 else ""


def wilds_in(rules, meld):
    """The places of the wild cards of a meld."""
    _, kind, key, low, cards = meld
    if kind == "run":
        return [k for k, card in enumerate(cards) if card != natural_at(key, low + k)]
    return [k for k, card in enumerate(cards) if card[0] != key or card == "JK"]


def is_meld(rules, meld):
    """Whether this may lie on the table (3)."""
    _, kind, key, low, cards = meld
    if kind == "jokers":
        return rules.joker_melds and len(cards) in (3, 4)
    wilds = wilds_in(rules, meld)
    if any(not is_wild_card(rules, cards[k]) for k in wilds) or len(wilds) > rules.wilds_per_meld:
        return False
    naturals = [card for k, card in enumerate(cards) if k not in wilds]
    if len(cards) < 3 or len(naturals) < 2:
        return False
    if kind == "run":
        return low >= 0 and low + len(cards) <= (14 if rules.ace_to_ace or len(cards) < 14 else 13)
    return len(cards) <= 4 and len(set(naturals)) == len(naturals) and not (rules.pinelle and key == "2")


def value(rules, card):
    return 25 if is_wild_card(rules, card) else VALUES[card[0]]


def points(rules, meld):
    """The points of a meld (6.2)."""
    _, kind, _, _, cards = meld
    total = sum(value(rules, card) for card in cards)
    if kind == "jokers":
        return 75 if len(cards) == 3 else 600
    if wilds_in(rules, meld):
        return total
    if kind == "set":
        return 2 * total if len(cards) == 4 else total
    return 600 if len(cards) >= 13 else 2 * total if len(cards) >= rules.pinnacola_length else total


class Hand:
    """A hand that is being played. Hands are Counters."""

    def __init__(self, rules, deck, dealer=None):
        self.rules, self.n = rules, rules.num_players
        deck = list(deck)
        self.hands = [Counter(deck[k * rules.hand_size : (k + 1) * rules.hand_size]) for k in range(self.n)]
        self.row, self.stock = [deck[self.n * rules.hand_size]], deck[self.n * rules.hand_size + 1 :]
        self.melds, self.turns, self.closer, self.over = [], 0, None, False
        self.player = 0 if dealer is None else (dealer + 1) % self.n
        self.phase, self.must, self.banned = "draw", None, None

    def copy(self):
        other = copy(self)
        other.hands = [Counter(hand) for hand in self.hands]
        other.row, other.stock, other.melds = list(self.row), list(self.stock), list(self.melds)
        return other

    @property
    def side(self):
        return self.player % 2

    @property
    def hand(self):
        return self.hands[self.player]

    def left(self):
        return sum(self.hand.values())

    # -- what may be done ---------------------------------------------------------------------------------------

    def legal(self):
        """All legal moves."""
        return {move for move in self.moves() if self.is_legal(move)}

    def moves(self):
        """Moves worth trying."""
        if self.phase == "draw":
            yield ("draw",)
            yield ("stop",)
            yield from (("take", place) for place in range(len(self.row)))
            return
        cards = [card for card, number in self.hand.items() if number]
        if self.phase == "meld":
            yield from (("discard", card) for card in cards)
        yield from (("new", meld) for meld in self.new_melds())
        for m, meld in enumerate(self.melds):
            _, kind, _, _, held = meld
            for card in cards:
                places = (-1, len(held)) if kind == "run" else (len(held),)
                yield from (("add", m, place, card) for place in places)
                yield from (("swap", m, place, card) for place, old in enumerate(held) if old == "JK")

    def new_melds(self):
        """Melds that could be laid at once (4.3), if the hand has the cards."""
        held = [card for card, number in self.hand.items() if number]
        wild = [card for card in WILDS if card in held and is_wild_card(self.rules, card)]
        for suit in SUITS:
            at = [natural_at(suit, step) if self.hand[natural_at(suit, step)] else None for step in range(14)]
            for low, length in itertools.product(range(12), range(3, 15)):
                if low + length <= 14 and all(at[low : low + length]):
                    yield (self.side, "run", suit, low, tuple(at[low : low + length]))
            for low, gap, joker in itertools.product(range(12), range(3), wild):
                three = [*at[low : low + 3]]
                three[gap] = joker
                if all(three):
                    yield (self.side, "run", suit, low, tuple(three))
            for low, one, two in itertools.product(range(11), wild, wild):
                if at[low] and at[low + 3]:
                    yield (self.side, "run", suit, low, (at[low], one, two, at[low + 3]))
        for rank in STEPS[:13]:
            of_rank = [rank + suit for suit in SUITS if self.hand[rank + suit]]
            for number in (2, 3, 4):
                for cards in itertools.combinations(of_rank, number):
                    yield (self.side, "set", rank, 0, cards)
                    yield from ((self.side, "set", rank, 0, (*cards, joker)) for joker in wild if number < 4)
        yield from ((self.side, "jokers", "", 0, ("JK",) * number) for number in (3, 4))

    def is_legal(self, move):
        """Whether a move keeps the rules."""
        kind = move[0]
        if kind == "draw":
            return bool(self.stock)
        if kind == "stop":
            return not self.stock
        if kind == "take":
            return self.may_take(move[1])
        if kind == "discard":
            return self.phase == "meld" and (self.left() > 1 or self.may_close_with(move[1]))
        if not self.is_possible(move):
            return False
        after = self.copy()
        after.do(move)
        if kind == "swap":
            return after.can_use()
        left = sum(after.hands[self.player].values())
        if left == 0:
            return after.has_what_it_needs(self.player) and self.rules.close_discard == "optional"
        last = next(card for card, number in after.hand.items() if number)
        return left > 1 or after.may_close_with(last)

    def may_take(self, place):
        if self.rules.pozzo != "from_any" and place != len(self.row) - 1:
            return False
        after = self.copy()
        after.do(("take", place))
        return after.can_use()

    def can_use(self):
        return any(self.is_legal(move) for move in self.moves())

    def is_possible(self, move):
        """Whether the cards are there, the result is a meld, and a card that must be used is (4.2 to 4.5)."""
        used = Counter(move[1][4]) if move[0] == "new" else Counter([move[3]])
        if any(self.hand[card] < number for card, number in used.items()):
            return False
        if self.must and (move[0] == "swap" or not used[self.must]):
            return False
        if move[0] == "new":
            _, kind, _, _, cards = move[1]
            if kind == "run" and len(cards) == 4 and len(wilds_in(self.rules, move[1])) not in (0, 2):
                return False
            return is_meld(self.rules, move[1])
        side = self.melds[move[1]][0]
        if side != self.side:
            allowed = self.rules.joker_replace if move[0] == "swap" else self.rules.attach
            if allowed != "any" or self.must:
                return False
        if move[1] == self.banned:
            return False
        if move[0] == "swap":
            return self.rules.joker_replace != "none" and self.stands_for(self.melds[move[1]], move[2], move[3])
        return self.is_addition(self.melds[move[1]], move[2], move[3])

    def is_addition(self, meld, place, card):
        _, kind, _, _, cards = meld
        if kind == "jokers":
            return card == "JK" and len(cards) == 3
        new = self.added(meld, place, card)
        return is_meld(self.rules, new)

    def added(self, meld, place, card):
        side, kind, key, low, cards = meld
        return (side, kind, key, low - 1, (card, *cards)) if place < 0 else (side, kind, key, low, (*cards, card))

    def stands_for(self, meld, place, card):
        _, kind, key, low, cards = meld
        if kind == "run":
            return card == natural_at(key, low + place)
        return kind == "set" and card[0] == key and card not in cards

    # -- closing ------------------------------------------------------------------------------------------------

    def has_what_it_needs(self, player):
        """Whether the side may close now (5.2, 5.4)."""
        if not self.rules.close_first_round and self.turns < self.n:
            return False
        own = [meld for meld in self.melds if meld[0] == player % 2]
        clean = [meld for meld in own if meld[1] == "run" and not wilds_in(self.rules, meld)]
        pinnacola = any(len(meld[4]) >= self.rules.pinnacola_length for meld in clean)
        poker = any(meld[1] == "set" and len(meld[4]) == 4 for meld in own)
        return {"none": True, "pinnacola": pinnacola, "poker": poker, "both": pinnacola and poker}[
            self.rules.close_needs
        ]

    def may_close_with(self, card):
        if not self.has_what_it_needs(self.player):
            return False
        return self.rules.close_fit or not any(
            (meld[0] == self.side or self.rules.attach == "any") and self.is_addition(meld, place, card)
            for meld in self.melds
            for place in ((-1, len(meld[4])) if meld[1] == "run" else (0,))
        )

    # -- doing it -----------------------------------------------------------------------------------------------

    def do(self, move):
        """Make a move."""
        kind = move[0]
        if kind == "draw":
            self.hand[self.stock.pop(0)] += 1
            self.phase = "meld"
        elif kind == "stop":
            self.over = True
        elif kind == "take":
            self.must, self.phase = self.row[move[1]], "use"
            first = 0 if self.rules.pozzo == "whole" else move[1]
            self.hand.update(self.row[first:])
            del self.row[first:]
        elif kind == "discard":
            self.hand[move[1]] -= 1
            self.row.append(move[1])
            self.end_turn()
        else:
            self.lay(move)

    def lay(self, move):
        self.must, self.banned, self.phase = None, None, "meld"
        if move[0] == "new":
            self.hand.subtract(move[1][4])
            self.melds.append(move[1])
        else:
            _, m, place, card = move
            self.hand[card] -= 1
            side, kind, key, low, cards = self.melds[m]
            if move[0] == "add":
                self.melds[m] = self.added(self.melds[m], place, card)
            else:
                self.melds[m] = (side, kind, key, low, (*cards[:place], card, *cards[place + 1 :]))
                self.hand["JK"] += 1
                self.must, self.banned, self.phase = "JK", m, "use"
        if not self.left():
            self.closer, self.over = self.player, True

    def end_turn(self):
        if not self.left():
            self.closer, self.over = self.player, True
            return
        self.turns += 1
        pinnacolone = any(
            meld[1] == "run" and len(meld[4]) >= 13 and not wilds_in(self.rules, meld) for meld in self.melds
        )
        no_stock = not self.stock and self.rules.stock_end == "end"
        if no_stock or (self.rules.pinnacolone_ends and pinnacolone):
            self.over = True
        else:
            self.player, self.phase = (self.player + 1) % self.n, "draw"

    def scores(self):
        """The scores of both sides (6.3, 6.4)."""
        found = []
        for side in range(2):
            score = sum(points(self.rules, meld) for meld in self.melds if meld[0] == side)
            for p in range(side, self.n, 2):
                score -= sum(value(self.rules, card) * number for card, number in self.hands[p].items())
            if self.closer is not None and self.closer % 2 == side:
                if self.rules.in_mano and self.turns < self.n:
                    score = 2 * (score + 2 * self.rules.close_bonus)
                else:
                    score += self.rules.close_bonus
            found.append(score)
        return found
