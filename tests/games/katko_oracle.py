"""Katko once more, slow and obvious, from rules.md: lists of card texts instead of bit sets."""

from collections import Counter

ORDER = "23456789TJQKA"


class Oracle:
    """A match without exchanges' hidden cards: it is given the hands of each deal, and plays along."""

    def __init__(self, num_players, target, two_rule, poker_point, next_dealer, leader):
        self.n, self.target, self.two_rule, self.poker_point = num_players, target, two_rule, poker_point
        self.next_dealer, self.leader_rule = next_dealer, leader
        self.scores = [0] * num_players
        self.dealer = num_players - 1
        self.last_winner = None
        self.winner = None

    def begin_deal(self, hands):
        self.hands = [list(hand) for hand in hands]
        self.had = [list(hand) for hand in hands]
        if self.leader_rule == "winner" and self.last_winner is not None:
            self.to_act = self.last_winner
        else:
            self.to_act = (self.dealer + 1) % self.n
        self.trick = []

    def legal(self):
        hand = self.hands[self.to_act]
        if self.trick:
            same = [card for card in hand if card[1] == self.trick[0][1][1]]
            return same or hand
        return hand

    def play(self, card):
        """Play a card; returns whether the deal is over."""
        self.hands[self.to_act].remove(card)
        self.trick.append((self.to_act, card))
        if len(self.trick) < self.n:
            self.to_act = (self.to_act + 1) % self.n
            return False
        suit = self.trick[0][1][1]
        winner, best = max(
            ((p, card) for p, card in self.trick if card[1] == suit), key=lambda pair: ORDER.index(pair[1][0])
        )
        self.to_act, self.trick = winner, []
        if any(self.hands):
            return False
        self.scores[winner] += 2 if self.two_rule and best[0] == "2" else 1
        if self.poker_point and self.scores[winner] < self.target:
            ranked = sorted((poker_rank(hand), p) for p, hand in enumerate(self.had))
            if ranked[-1][0] != ranked[-2][0]:
                self.scores[ranked[-1][1]] += 1
        reached = [p for p in range(self.n) if self.scores[p] >= self.target]
        self.winner = reached[0] if reached else None
        self.last_winner = winner
        self.dealer = winner if self.next_dealer == "winner" else (self.dealer + 1) % self.n
        return True


def poker_rank(hand):
    """What orders poker hands of five cards."""
    ranks = sorted((ORDER.index(card[0]) for card in hand), reverse=True)
    counts = Counter(ranks)
    groups = sorted(((count, rank) for rank, count in counts.items()), reverse=True)
    shape = [count for count, _ in groups]
    flush = len({card[1] for card in hand}) == 1
    if ranks == [12, 3, 2, 1, 0]:
        ranks, groups = [3, 2, 1, 0, -1], [(1, 3)]
        straight = True
    else:
        straight = shape == [1] * 5 and ranks[0] - ranks[4] == 4
    if straight and flush:
        category = 8
    elif shape[0] == 4:
        category = 7
    elif shape == [3, 2]:
        category = 6
    elif flush:
        category = 5
    elif straight:
        category = 4
    elif shape[0] == 3:
        category = 3
    elif shape == [2, 2, 1]:
        category = 2
    else:
        category = 1 if shape[0] == 2 else 0
    return category, [rank for _, rank in groups] if not straight else [ranks[0]]
