"""Kasino once more, slow and obvious, from rules.md: sets of card texts, all partitions tried."""

from itertools import combinations

RANKS = "A23456789TJQK"


def table_value(card):
    return RANKS.index(card[0]) + 1


def hand_value(card):
    return {"2s": 15, "Td": 16}.get(card, 14 if card[0] == "A" else table_value(card))


def captures(card, table):
    """Every set of cards that can be split into groups with the hand value."""
    total, table = hand_value(card), sorted(table)
    groups = [
        frozenset(cards)
        for size in range(1, len(table) + 1)
        for cards in combinations(table, size)
        if sum(map(table_value, cards)) == total
    ]
    found, todo = set(groups), list(groups)
    while todo:
        union = todo.pop()
        for group in groups:
            larger = union | group
            if not union & group and larger not in found:
                found.add(larger)
                todo.append(larger)
    return found


def maximal(found):
    return {one for one in found if not any(one < other for other in found)}


def worth(cards):
    return sum(card[0] == "A" for card in cards) + ("2s" in cards) + 2 * ("Td" in cards)


class Oracle:
    """Scores of one hand with the default options but for `sweeps`."""

    def __init__(self, sides, sweeps):
        self.sweeps_rule = sweeps
        self.won = [set() for _ in range(sides)]
        self.sweeps, self.scores = [0] * sides, [0] * sides
        self.last = None

    def capture(self, side, card, taken, table_is_empty, stock):
        self.won[side] |= {card, *taken}
        self.last = side
        self.scores[side] += worth({card, *taken})
        frozen = max(self.scores) >= 10
        if table_is_empty and stock and not frozen and self.sweeps_rule != "off":
            self.sweeps[side] += 1
            self.scores[side] += 1
            if self.sweeps_rule == "cancel_min" and all(self.sweeps):
                self.scores = [score - 1 for score in self.scores]
                self.sweeps = [number - 1 for number in self.sweeps]

    def finish(self, table):
        if self.last is not None:
            self.won[self.last] |= table
            self.scores[self.last] += worth(table)
        if self.sweeps_rule == "void_if_both" and all(self.sweeps):
            self.scores = [score - number for score, number in zip(self.scores, self.sweeps, strict=True)]
        for counts, points in (
            ([len(cards) for cards in self.won], 1),
            ([sum(card[1] == "s" for card in cards) for cards in self.won], 2),
        ):
            if counts.count(max(counts)) == 1 and max(counts):
                self.scores[counts.index(max(counts))] += points
        return self.scores
