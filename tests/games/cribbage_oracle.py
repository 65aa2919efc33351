"""Cribbage once more, slow and obvious, from rules.md: lists of card texts, and all subsets for the show."""

from itertools import combinations, pairwise

RANKS = "A23456789TJQK"


def value(card):
    return min(RANKS.index(card[0]) + 1, 10)


def rank(card):
    return RANKS.index(card[0])


def is_run(cards):
    ranks = sorted(map(rank, cards))
    return len(ranks) >= 3 and all(b - a == 1 for a, b in pairwise(ranks))


def show(hand, starter, is_crib=False, crib_flush="five"):
    """The points of a hand or the crib (4)."""
    cards = [*hand, starter]
    subsets = [set_ for k in range(2, 6) for set_ in combinations(cards, k)]
    points = 2 * sum(sum(map(value, set_)) == 15 for set_ in subsets)
    points += 2 * sum(len(set_) == 2 and set_[0][0] == set_[1][0] for set_ in subsets)
    runs = [len(set_) for set_ in subsets if is_run(set_)]
    points += sum(length for length in runs if length == max(runs))
    if len({card[1] for card in hand}) == 1:
        if starter[1] == hand[0][1]:
            points += 5
        elif not is_crib or crib_flush == "four":
            points += 4
    return points + ("J" + starter[1] in hand)


def play(cards):
    """The points of the last card of a count (3.5)."""
    total = sum(map(value, cards))
    points = 2 if total in (15, 31) else 0
    points += max(
        (k * (k - 1) for k in (2, 3, 4) if len(cards) >= k and len({card[0] for card in cards[-k:]}) == 1), default=0
    )
    return points + max((k for k in range(3, len(cards) + 1) if is_run(cards[-k:])), default=0)


class Oracle:
    """A game that is given the cards of each deal, and plays along."""

    def __init__(
        self, num_players, target, crib_flush, show_order, heels, explicit_go, deals, skunk, muggins, first_dealer
    ):
        self.n, self.target, self.crib_flush, self.by_seat = num_players, target, crib_flush, show_order == "seats"
        self.heels, self.explicit, self.one, self.skunk, self.muggins = (
            heels,
            explicit_go,
            deals == "one",
            skunk,
            muggins,
        )
        self.sides = 3 if num_players == 3 else 2
        self.dealer, self.scores, self.winner = first_dealer, [0] * self.sides, None
        self.returns = None

    def begin_deal(self, hands, crib, starter):
        """Take the cards of a deal: what is dealt to the crib, and what will be the starter."""
        self.hands, self.crib, self.next = [list(hand) for hand in hands], list(crib), starter
        self.kept, self.starter, self.phase, self.to_act = None, None, "lay_away", 0
        self.count, self.gone, self.last, self.deal_over = [], set(), None, False

    def legal(self):
        if self.phase == "show":
            return list(range(30))
        hand = self.hands[self.to_act]
        if self.phase == "lay_away":
            return list(hand)
        return self.fits(self.to_act) or ["go"]

    def fits(self, player):
        return [card for card in self.hands[player] if sum(map(value, self.count)) + value(card) <= 31]

    def act(self, action):
        """Apply an action; returns whether the deal is over."""
        if self.phase == "lay_away":
            self.lay_away(action)
        elif self.phase == "show":
            self.say(action)
        elif action == "go":
            self.gone.add(self.to_act)
            self.find_next()
        else:
            self.play(action)
        return self.deal_over or self.winner is not None

    def lay_away(self, card):
        self.hands[self.to_act].remove(card)
        self.crib.append(card)
        if len(self.hands[self.to_act]) > 4:
            return
        self.to_act += 1
        if self.to_act == self.n:
            self.kept = [list(hand) for hand in self.hands]
            self.starter, self.phase = self.next, "play"
            if self.starter[0] == "J":
                self.peg(self.dealer, self.heels)
            self.to_act = (self.dealer + 1) % self.n

    def play(self, card):
        self.hands[self.to_act].remove(card)
        self.count.append(card)
        self.last = self.to_act
        if not any(self.hands) and sum(map(value, self.count)) == 31:
            self.phase = "show"
        self.peg(self.to_act, play(self.count))
        if self.winner is None:
            if sum(map(value, self.count)) == 31:
                self.new_count()
            else:
                self.find_next()

    def find_next(self):
        for k in range(1, self.n + 1):
            q = (self.to_act + k) % self.n
            if self.hands[q] and q not in self.gone and (self.explicit or self.fits(q)):
                self.to_act = q
                return
        if not any(self.hands):
            self.phase = "show"
        self.peg(self.last, 1)
        if self.winner is None:
            self.new_count()

    def new_count(self):
        self.count, self.gone = [], set()
        if not any(self.hands):
            self.begin_show()
            return
        self.to_act = next(q % self.n for q in range(self.last + 1, self.last + 1 + self.n) if self.hands[q % self.n])

    def begin_show(self):
        self.phase = "show"
        first = 0 if self.by_seat else self.dealer + 1
        order = [(first + k) % self.n for k in range(self.n)]
        self.to_show = [(p, show(self.kept[p], self.starter)) for p in order]
        self.to_show.append((self.dealer, show(self.crib, self.starter, True, self.crib_flush)))
        while self.to_show and not self.muggins and self.winner is None:
            self.peg(*self.to_show.pop(0))
        self.after_show()

    def after_show(self):
        if self.winner is not None:
            return
        if self.to_show:
            self.to_act = self.to_show[0][0]
            return
        self.deal_over = True
        reached = [side for side in range(self.sides) if self.scores[side] >= self.target]
        if self.one:
            self.returns = [self.ahead(p % self.sides) for p in range(self.n)]
        elif reached:
            self.win(reached[0])
        self.dealer = (self.dealer + 1) % self.n

    def say(self, number):
        player, points = self.to_show.pop(0)
        self.peg(player, min(number, points))
        if self.winner is None:
            self.peg((player + 1) % self.n, abs(points - number))
        self.after_show()

    def peg(self, player, points):
        side = player % self.sides
        self.scores[side] += points
        if not self.one and self.scores[side] >= self.target and not (self.by_seat and self.phase == "show"):
            self.win(side)

    def win(self, side):
        self.winner = side
        lost = [0 if k == side else self.games_lost(k) / (self.sides - 1) for k in range(self.sides)]
        self.returns = [sum(lost) if p % self.sides == side else -lost[p % self.sides] for p in range(self.n)]

    def ahead(self, side):
        """Own points less the mean of the others' (5.3)."""
        return self.scores[side] - (sum(self.scores) - self.scores[side]) / (self.sides - 1)

    def games_lost(self, side):
        limits = {121: (91, 61), 61: (31,)}[self.target]
        return 1 + sum(self.scores[side] < limit for limit in limits) if self.skunk else 1
