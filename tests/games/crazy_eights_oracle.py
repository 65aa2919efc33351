"""Crazy Eights once more, slow and obvious, from rules.md: lists of card texts, and actions as texts.

Chance is fed in: the cards that leave the stock, in order. The oracle checks that a card fed to it can be in the stock.
"""

from collections import Counter
from fractions import Fraction

RANKS, SUITS = "23456789TJQKA", "cdhs"


class Oracle:
    """A game. Feed the cards that leave the stock to `feed` before each call that needs them."""

    def __init__(self, options, feed, dealer):
        self.o, self.n, self.feed, self.dealer = options, options.num_players, feed, dealer
        self.packs = options.decks or (2 if self.n > 5 else 1)
        self.hand_size = options.hand_size or (7 if self.n == 2 else 5)
        self.max_plays = options.max_plays or (100 if options.openspiel else 500)
        self.block = options.block_passes or (self.n + 1 if options.openspiel else self.n)
        self.own_penalty = options.openspiel or options.scoring == "own_penalty"
        self.scores, self.hands_begun, self.over = [0] * self.n, 0, False
        self.returns = [0] * self.n
        self.begin_hand()

    # -- the stock ----------------------------------------------------------------------------------------------

    def take(self):
        """The next card of the stock."""
        card = self.feed.pop(0)
        assert self.stock[card] > 0, f"{card} is not in the stock"
        self.stock[card] -= 1
        return card

    def make_stock(self):
        """Make the stock again if it is empty."""
        if not self.stock.total() and self.o.reshuffle:
            self.stock += Counter(self.discards[:-1])
            self.discards = self.discards[-1:]

    # -- the hand -----------------------------------------------------------------------------------------------

    def begin_hand(self):
        self.hands_begun += 1
        self.stock = Counter({rank + suit: self.packs for rank in RANKS for suit in SUITS})
        self.hands = [[] for _ in range(self.n)]
        for k in range(self.n * self.hand_size):
            self.hands[(self.dealer + 1 + k) % self.n].append(self.take())
        top = self.take()
        while top[0] == "8" and self.o.start_eight == "redraw":
            self.stock[top] += 1
            top = self.take()
        self.discards, self.suit = [top], top[1] if top[0] != "8" else None
        self.sign, self.owed, self.passes, self.plays, self.naming = 1, 0, 0, 0, False
        self.effect(self.dealer, top[0] if self.o.start_special else None)

    def after(self, player):
        return (player + self.sign) % self.n

    def turn(self, player):
        self.to_act, self.drawn = player, 0

    def effect(self, player, rank):
        if rank == self.o.skip:
            self.turn(self.after(self.after(player)))
            return
        if rank == self.o.reverse:
            self.sign = -self.sign
        if rank == self.o.draw_two and self.stock.total():
            self.owed += 2
        self.turn(self.after(player))

    # -- what is legal ------------------------------------------------------------------------------------------

    def fits(self, card):
        return card[0] == "8" or self.suit in (None, card[1]) or card[0] == self.discards[-1][0]

    def legal(self):
        """The legal actions: "7c", "draw", "pass", "name c"."""
        if self.naming:
            return {f"name {suit}" for suit in SUITS}
        hand = self.hands[self.to_act]
        if self.owed:
            return {"draw"} | {card for card in hand if self.o.stack and card[0] == self.o.draw_two}
        found = {card for card in hand if self.fits(card)}
        if not self.stock.total() or self.drawn == self.o.draw_limit:
            found.add("pass")
        elif self.o.draw_when_able or not found:
            found.add("draw")
        return found

    # -- actions ------------------------------------------------------------------------------------------------

    def act(self, action):
        player, before, self.passes = self.to_act, self.passes, 0
        if action == "draw" and self.owed:
            while self.owed and self.stock.total():
                self.draw(player)
                self.owed -= 1
            if self.o.openspiel and not self.owed and not self.stock.total():
                self.passes = 1
            self.owed = 0
            self.turn(self.after(player))
        elif action == "draw":
            self.draw(player)
            self.drawn += 1
        elif action == "pass":
            self.passes = 0 if self.stock.total() else before + 1
            if self.passes == self.block:
                self.end_hand()
            else:
                self.turn(self.after(player))
        elif self.naming:
            self.suit, self.naming = action[-1], False
            self.turn(self.after(player))
        else:
            self.play(player, action)

    def draw(self, player):
        self.hands[player].append(self.take())
        self.make_stock()

    def play(self, player, card):
        self.hands[player].remove(card)
        self.discards.append(card)
        self.suit = card[1]
        self.plays += 1
        if not self.hands[player] or self.plays == self.max_plays:
            self.end_hand()
            return
        self.make_stock()
        if card[0] == "8":
            self.naming = True
        else:
            self.effect(player, card[0])

    # -- the end ------------------------------------------------------------------------------------------------

    def points(self, card):
        rank, suit = card
        if rank == "8":
            return 50
        if self.o.openspiel or self.o.card_points == "openspiel":
            return 10 if rank in "JQKA" else 4 * RANKS.index(rank) + SUITS.index(suit) + 2
        return 1 if rank == "A" else 10 if rank in "TJQK" else int(rank)

    def gains(self, left):
        """What each player gains or loses."""
        if self.own_penalty:
            return [-points for points in left]
        low = min(left)
        pot = sum(points - low for points in left)
        return [Fraction(pot, left.count(low)) if points == low else low - points for points in left]

    def end_hand(self):
        left = [sum(map(self.points, hand)) for hand in self.hands]
        gains = self.gains(left)
        for p in range(self.n):
            self.scores[p] += left[p] if self.own_penalty else max(0, int(gains[p]))
        if self.o.target is None:
            self.over, self.returns = True, [float(gain) for gain in gains]
            return
        best = min(self.scores) if self.own_penalty else max(self.scores)
        if max(self.scores) >= self.o.target and self.scores.count(best) == 1:
            self.over = True
            self.returns = [1 if score == best else -1 / (self.n - 1) for score in self.scores]
        elif self.hands_begun == 100:
            self.over = True
        else:
            self.dealer = (self.dealer + 1) % self.n
            self.begin_hand()
