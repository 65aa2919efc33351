"""Scopa once more, slow and obvious, from rules.md: sets of card texts, all subsets tried."""

from itertools import combinations

RANKS = "A234567JQK"
DECK = [rank + suit for suit in "scdh" for rank in RANKS]
PRIMIERA = dict(zip(RANKS, (16, 12, 13, 14, 15, 18, 21, 10, 10, 10), strict=True))


def value(card):
    return RANKS.index(card[0]) + 1


def captures(card, table, *, takes_all=False):
    """The sets of cards that a card may take: all of 3.1, else all of 3.2."""
    if takes_all and card[0] == "A" and table:
        return [set(table)]
    same = [{other} for other in table if other[0] == card[0]]
    if same:
        return same
    return [
        set(cards)
        for size in range(2, len(table) + 1)
        for cards in combinations(sorted(table), size)
        if sum(map(value, cards)) == value(card)
    ]


def primiera(cards, needs_all=True):
    best = [max((PRIMIERA[card[0]] for card in cards if card[1] == suit), default=0) for suit in "scdh"]
    return 0 if needs_all and 0 in best else sum(best)


def hand_points(won, scope, *, needs_all=True, rebello=False, napola=False):
    """The points of all sides for the cards that they have won."""
    points = list(scope)

    def to_the_only_best(numbers):
        best = max(numbers)
        if best > 0 and numbers.count(best) == 1:
            points[numbers.index(best)] += 1

    to_the_only_best([len(cards) for cards in won])
    to_the_only_best([sum(card[1] == "d" for card in cards) for cards in won])
    to_the_only_best([primiera(cards, needs_all) for cards in won])
    for side, cards in enumerate(won):
        points[side] += "7d" in cards
        points[side] += rebello and "Kd" in cards
        run = 0
        while run < 10 and RANKS[run] + "d" in cards:
            run += 1
        points[side] += run if napola and run >= 3 else 0
    return points
