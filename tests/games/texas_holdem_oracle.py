"""A slow second implementation of one cash hand of hold'em: fixed limit, pot limit and no-limit, written from rules.md.

Nothing is kept up to date: all figures are worked out anew from the list of actions, street by street.
"""

from collections import Counter
from itertools import combinations

STREETS = (0, 3, 4, 5)  # cards on the board


class Hand:
    """One hand. `hands` and `board` are cards as numbers 0..51, suits in blocks of 13, the ace first."""

    def __init__(self, options, stacks, button, hands, board):
        self.o, self.n, self.first_stacks, self.button = options, len(stacks), stacks, button
        self.hands, self.board = hands, board
        self.actions = [[]]  # (player, "fold" | "call" | "raise", total), by street
        self.small = button if self.n == 2 else (button + 1) % self.n
        self.big = (self.small + 1) % self.n
        self.posted = [min(options["ante"], stack) for stack in stacks]  # dead money
        self._go_on()

    # -- figures ------------------------------------------------------------------------------------------------

    def stack(self, p):
        return self.first_stacks[p] - self.put_in(p)

    def put_in(self, p):
        return self.posted[p] + sum(self.bet(p, street) for street in range(len(self.actions)))

    def bet(self, p, street=None):
        street = len(self.actions) - 1 if street is None else street
        own = [total for player, _, total in self.actions[street] if player == p and total is not None]
        return own[-1] if own else self.blind(p) if street == 0 else 0

    def blind(self, p):
        blind = self.o["blinds"][0] if p == self.small else self.o["blinds"][1] if p == self.big else 0
        return min(blind, self.first_stacks[p] - self.posted[p])

    def left(self):
        folded = {p for street in self.actions for p, kind, _ in street if kind == "fold"}
        return [p for p in range(self.n) if p not in folded]

    def pot(self):
        return sum(self.put_in(p) for p in range(self.n))

    def to_match(self):
        raised = [total for _, kind, total in self.actions[-1] if kind == "raise"]
        return raised[-1] if raised else self.o["blinds"][1] if len(self.actions) == 1 else 0

    def owed(self, p):
        target, others = self.to_match(), [q for q in self.left() if q != p]
        if all(self.stack(q) == 0 for q in others):
            target = max(self.bet(q) for q in others)
        return max(0, min(self.stack(p), target - self.bet(p)))

    def size(self):
        small = self.o["small_bet"] or self.o["blinds"][1]
        return small if len(self.actions) <= 2 else self.o["big_bet"] or 2 * small

    # -- what may be raised -------------------------------------------------------------------------------------

    def raises(self):
        """The smallest and the largest raise of the player to act, or None."""
        p = self.player
        others = [q for q in self.left() if q != p]
        if self.stack(p) <= self.owed(p) or all(
            self.bet(q) + self.stack(q) <= self.to_match() or self.stack(q) == 0 for q in others
        ):
            return None
        everything = self.bet(p) + self.stack(p)
        if self.o["betting"] == "limit":
            goal, capped, closed = self._limit()
            if capped or (p in closed and (self.o["reopen_rule"] == "single" or 2 * self.owed(p) < self.size())):
                return None
            return min(goal, everything), min(goal, everything)
        full, acted, since_full = self._no_limit()
        is_closed = p in since_full if self.o["reopen_rule"] == "single" else p in acted and self.owed(p) < full
        if is_closed:
            return None
        low = min(self.to_match() + full, everything)
        if self.o["betting"] == "pot_limit":
            return low, min(everything, max(low, self.to_match() + self.pot() + self.owed(p)))
        return low, everything

    def _limit(self):
        """The total of the next full bet, whether the cap is reached, who has acted since the last that counted."""
        size, o = self.size(), self.o
        bets = 1 if len(self.actions) == 1 and o["blind_counts"] else 0
        now = o["blinds"][1] if len(self.actions) == 1 else 0
        goal, acted, stays = now + size, set(), False
        here = len({p for street in self.actions[:-1] for p, kind, _ in street if kind == "fold"})
        playing = self.n - here
        for p, kind, total in self.actions[-1]:
            if kind == "fold":
                playing -= 1
            if kind == "raise":
                added = total - now
                if total == goal or o["short_raise"] == "additive" or added >= size / 2:
                    bets += 1
                    acted = set()
                    goal = goal + size if o["short_raise"] == "levels" else total + size
                    if o["max_bets"] and bets >= o["max_bets"] and playing > 2:
                        stays = True
                now = total
            acted.add(p)
        capped = bool(o["max_bets"]) and bets >= o["max_bets"]
        if not o["heads_up_cap"] and playing == 2 and not stays:
            capped = False
        return goal, capped, acted

    def _no_limit(self):
        now = self.o["blinds"][1] if len(self.actions) == 1 else 0
        full, acted, since_full = self.o["blinds"][1], set(), set()
        for p, kind, total in self.actions[-1]:
            if kind == "raise":
                if total - now >= full:
                    full, since_full = total - now, set()
                now = total
            acted.add(p)
            since_full.add(p)
        return full, acted, since_full

    # -- the course ---------------------------------------------------------------------------------------------

    def act(self, kind, total=None):
        p = self.player
        if kind == "call":
            total = self.bet(p) + self.owed(p)
        self.actions[-1].append((p, kind, total))
        self._go_on()

    def _go_on(self):
        """Find the player to act, or end the hand."""
        while True:
            if len(self.left()) == 1:
                self.player = None
                return
            self.player = self._next()
            if self.player is not None:
                return
            if len(self.actions) == len(STREETS):
                return
            self.actions.append([])

    def _next(self):
        street = self.actions[-1]
        if street:
            start = street[-1][0]
        elif len(self.actions) == 1:
            start = self.big
        else:
            acted = [p for earlier in self.actions for p, _, _ in earlier]
            start = acted[-1] if self.o["street_order"] == "after_last" and acted else self.button
        able = [p for p in self.left() if self.stack(p)]
        if len(able) == 1 and not self.owed(able[0]):
            return None
        since = street
        for k, (_, kind, _) in enumerate(street):
            if kind == "raise":
                since = street[k:]
        done = {p for p, _, _ in since}
        for k in range(1, self.n + 1):
            p = (start + k) % self.n
            if p in able and p not in done:
                return p
        return None

    # -- the end ------------------------------------------------------------------------------------------------

    def returns(self):
        """What each player has won, less what it has lost."""
        paid, left = [self.put_in(p) for p in range(self.n)], self.left()
        won = [-chips for chips in paid]
        top = max(left, key=lambda p: paid[p])
        second = max(paid[p] for p in range(self.n) if p != top)
        if paid[top] > second:
            won[top] += paid[top] - second
            paid[top] = second
        ranks = {p: rank([*self.hands[p], *self.board]) for p in left} if len(left) > 1 else dict.fromkeys(left, 0)
        low, cuts = 0, sorted({paid[p] for p in left})
        for cut in cuts:
            high = cut if cut != cuts[-1] else max(paid)
            chips = sum(min(chips, high) - min(chips, low) for chips in paid)
            eligible = [p for p in left if paid[p] >= cut]
            best = max(ranks[p] for p in eligible)
            order = [(self.button + 1 + k) % self.n for k in range(self.n)]
            winners = [p for p in order if p in eligible and ranks[p] == best]
            for k, p in enumerate(winners):
                won[p] += chips // len(winners) + (k < chips % len(winners))
            low = high
        return won


def rank(cards):
    """The rank of the best five cards, as a tuple."""
    return max(_rank_of_five(five) for five in combinations(cards, 5))


def _rank_of_five(cards):
    ranks = sorted(((card % 13 + 12) % 13 for card in cards), reverse=True)
    counts = sorted(Counter(ranks).items(), key=lambda item: (-item[1], -item[0]))
    shape, order = tuple(count for _, count in counts), tuple(r for r, _ in counts)
    if order == (12, 3, 2, 1, 0):
        order = (3, 2, 1, 0, -1)
    is_straight = len(order) == 5 and order[0] - order[4] == 4
    is_flush = len({card // 13 for card in cards}) == 1
    kinds = {(4, 1): 7, (3, 2): 6, (3, 1, 1): 3, (2, 2, 1): 2, (2, 1, 1, 1): 1}
    kind = 8 if is_straight and is_flush else 5 if is_flush else 4 if is_straight else kinds.get(shape, 0)
    return kind, order
