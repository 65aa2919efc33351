"""Ristiseiska once more, slow and obvious, from rules.md: lists of card texts, and actions as texts.

Chance is fed in: the deals, card by card, and the cards drawn from hands.
"""

from fractions import Fraction

SUITS = "cdhs"
ORDER = "A23456789TJQK"
POINTS = {rank: number for number, rank in enumerate(ORDER, 1)}


class Oracle:
    """A game. `feed` has the cards of the first deal; feed those of later deals and drawn cards before the action."""

    def __init__(self, options, feed):
        self.o, self.n, self.feed = options, options.num_players, feed
        self.dealer, self.scores, self.returns = options.dealer, [0] * self.n, [0] * self.n
        self.hands_begun, self.over = 0, False
        self.begin_hand()

    def begin_hand(self):
        self.hands_begun += 1
        self.hands = [[] for _ in range(self.n)]
        for k in range(52):
            self.hands[(self.dealer + 1 + k) % self.n].append(self.feed.pop(0))
        self.table, self.begs, self.turns, self.token, self.out = [], 0, 0, None, []
        (starter,) = [p for p in range(self.n) if "7c" in self.hands[p]]
        self.begin_turn(starter)

    # -- what fits ----------------------------------------------------------------------------------------------

    def lies(self, suit, ranks):
        return all(rank + suit in self.table for rank in ranks)

    def fits(self, card):
        rank, suit = card
        if not self.table:
            return card == "7c"
        if rank == "7":
            return True
        if rank == "8":
            return self.lies(suit, "76" if self.o.six_before_eight else "7")
        if rank == "5":
            return self.lies(suit, "68" if self.o.five_after_eight else "6")
        if rank == "A":
            return self.lies(suit, {"low": "2", "high": "K", "closer": ORDER[1:]}[self.o.ace])
        place = ORDER.index(rank)
        return self.lies(suit, ORDER[place - 1] if place > ORDER.index("7") else ORDER[place + 1])

    def fitting(self, player):
        return [card for card in self.hands[player] if self.fits(card)]

    # -- turns --------------------------------------------------------------------------------------------------

    def begin_turn(self, player):
        self.to_act, self.phase, self.beggar, self.must_play = player, "play", None, None

    def legal(self):
        """The legal actions: "7c", "beg", "stop"."""
        if self.phase == "give":
            return set(self.hands[self.to_act])
        if self.must_play:
            return {self.must_play}
        cards = set(self.fitting(self.to_act))
        if self.phase == "more":
            return cards | {"stop"}
        return cards or {"beg"}

    def act(self, action):
        if action == "beg":
            self.beg()
        elif action == "stop":
            self.end_turn(self.to_act)
        elif self.phase == "give":
            self.give(self.to_act, self.beggar, action)
        else:
            self.play(action)

    def play(self, card):
        player = self.to_act
        self.hands[player].remove(card)
        self.table.append(card)
        self.begs = 0
        if not self.hands[player]:
            self.out.append(player)
            if self.hand_is_over():
                self.end_hand()
                return
        elif self.o.extra and card[0] in "AK" and self.fitting(player):
            self.phase, self.must_play = "more", None
            return
        self.end_turn(player)

    def end_turn(self, player):
        self.turns += 1
        if self.begs == self.o.stall * self.n:
            self.end_hand()
        else:
            self.begin_turn(self.seat_with_cards(player, 1))

    def seat_with_cards(self, player, step):
        player = (player + step) % self.n
        while not self.hands[player]:
            player = (player + step) % self.n
        return player

    def beg(self):
        player = self.to_act
        self.begs += 1
        if (not self.o.beg_first_round and self.turns < self.n) or self.o.beg == "none":
            self.end_turn(player)
        elif self.o.beg == "token":
            self.token = player
            self.end_turn(player)
        else:
            giver = self.seat_with_cards(player, -1 if self.o.beg_from == "previous" else 1)
            if len(self.hands[giver]) == 1 and not self.o.give_last:
                self.end_turn(player)
            elif self.o.beg == "giver":
                self.to_act, self.phase, self.beggar = giver, "give", player
            else:
                self.give(giver, player, self.feed.pop(0))

    def give(self, giver, player, card):
        self.hands[giver].remove(card)
        self.hands[player].append(card)
        if not self.hands[giver]:
            self.out.append(giver)
            if self.hand_is_over():
                self.end_hand()
                return
        if self.o.play_begged and self.fits(card):
            self.begin_turn(player)
            self.must_play = card
        else:
            self.end_turn(player)

    # -- the end ------------------------------------------------------------------------------------------------

    def hand_is_over(self):
        return self.o.end == "first_out" or len(self.out) == self.n - 1

    def points(self, player):
        points = sum(self.o.ace_points if card[0] == "A" else POINTS[card[0]] for card in self.hands[player])
        return points + (self.o.token_points if self.token == player else 0)

    def end_hand(self):
        for p in range(self.n):
            self.scores[p] += self.points(p)
        if self.o.match_target == "none":
            self.over = True
            self.returns = self.paid_for_places() if self.o.end == "places" else self.paid_for_points()
        elif max(self.scores) >= int(self.o.match_target):
            self.over = True
            best = [p for p in range(self.n) if self.scores[p] == min(self.scores)]
            share = Fraction(self.n - len(best), len(best) * (self.n - 1))
            self.returns = [share if p in best else Fraction(-1, self.n - 1) for p in range(self.n)]
        else:
            self.dealer = (self.dealer + 1) % self.n
            self.begin_hand()

    def paid_for_points(self):
        mean = Fraction(sum(self.scores), self.n)
        return [mean - self.scores[p] for p in range(self.n)]

    def paid_for_places(self):
        steps = [Fraction(self.n - 1 - place, self.n - 1) for place in range(self.n)]
        left = steps[len(self.out) :]
        return [steps[self.out.index(p)] if p in self.out else sum(left) / len(left) for p in range(self.n)]
