"""Casino once more, slow and obvious, from rules.md: card texts in lists, all subsets of the table tried."""

from functools import cache
from itertools import chain, combinations

from cardenvs.kits.cards import CARD_LABELS

RANKS = "A23456789TJQK"


def number(card):
    return RANKS.index(card[0]) + 1


def text(cards):
    return " ".join(sorted(cards, key=CARD_LABELS.index))


def subsets(cards):
    return chain.from_iterable(combinations(cards, size) for size in range(len(cards) + 1))


def numbers(card, royal):
    return (1, 14) if royal and card[0] == "A" else (number(card),)


@cache
def splits(cards, value, royal):
    """The number of sets of some way to split cards into sets with this value, or None."""
    if not cards:
        return 0
    if sum(map(number, cards)) % value and value != 14:  # a single ace may be 14
        return None
    first, rest = cards[0], cards[1:]
    for others in subsets(rest):
        is_set = number(first) + sum(map(number, others)) == value or (not others and value in numbers(first, royal))
        if is_set and (sets := splits(tuple(c for c in rest if c not in others), value, royal)) is not None:
            return sets + 1
    return None


class Build:
    """A pile on the table."""

    def __init__(self, cards, value, sets, owner):
        self.cards, self.value, self.sets, self.owner = cards, value, sets, owner

    def label(self):
        return f"({text(self.cards)})"


class PlainCasino:
    """One hand of Casino. A legal action is its label; `plays` maps each to a function that makes it."""

    def __init__(self, hands, table, stock, options, first):
        self.hands, self.table, self.stock, self.o, self.player = hands, table, stock, options, first
        self.builds = [None] * 7
        sides = 2 if options.teams else len(hands)
        self.won, self.sweeps, self.last = [[] for _ in range(sides)], [0] * sides, None
        self.is_over = False

    # -- what is possible -------------------------------------------------------------------------------------------

    def is_numeral(self, card):
        return self.o.royal or card[0] not in "JQK"

    def counts(self, card, value):
        """Whether a card captures a build of this value."""
        return self.is_numeral(card) and value in numbers(card, self.o.royal)

    def splits(self, cards, value):
        return splits(tuple(cards), value, self.o.royal)

    def plays(self):
        found = {}
        for card in self.hands[self.player]:
            found |= self.captures(card) | self.builds_of(card)
        return found | self.trails(bool(found))

    def trails(self, can_do_more):
        owns = any(b and b.owner == self.player for b in self.builds)
        if owns and not self.o.owner_may_trail and can_do_more:
            return {}
        return {
            f"lay {card}": lambda card=card: self.table.append(card)
            for card in self.hands[self.player]
            if self.o.may_trail_capturing_card or not self.captures(card)
        }

    def captures(self, card):
        found = {}
        if not self.is_numeral(card):
            like = [other for other in self.table if other[0] == card[0]]
            if self.o.court_capture != "all":
                found = {(other,): () for other in like}
            if like and (self.o.court_capture == "all" or (self.o.court_capture == "one_or_three" and len(like) == 3)):
                found[tuple(like)] = ()
            piles = {(cards, ()) for cards in found}
        else:
            value = 14 if self.o.royal and card[0] == "A" else number(card)
            loose = [other for other in self.table if self.is_numeral(other)]
            places = [k for k, b in enumerate(self.builds) if b and b.value == value]
            piles = {
                (cards, taken)
                for cards in subsets(loose)
                if self.splits(list(cards), value) is not None
                for taken in subsets(places)
                if cards or taken
            }
        return {
            " ".join(filter(None, [f"{card} takes", text(cards), *(self.builds[k].label() for k in taken)])): (
                lambda card=card, cards=cards, taken=taken: self.capture(card, cards, taken)
            )
            for cards, taken in piles
        }

    def builds_of(self, card):
        found = {}
        loose = [other for other in self.table if self.is_numeral(other)]
        for value in range(2, 15 if self.o.royal else 11):
            if not self.may_build(card, value):
                continue
            for place in (None, *(k for k in range(7) if self.builds[k])):
                onto = "" if place is None else f" on {self.builds[place].label()}"
                for cards in subsets(loose):
                    helped = f" with {text(cards)}" if cards else ""
                    sets = self.sets_with(card, cards, value, place)
                    if sets is not None:
                        found[f"{card} builds {value}{onto}{helped}"] = (
                            lambda c=card, cs=cards, v=value, p=place, n=sets: self.build([c, *cs], cs, v, p, n)
                        )
                    if self.o.table_only_builds and self.takes_sets(place, value):
                        sets = self.splits(list(cards), value)
                        if cards and sets is not None and (place is not None or len(cards) > 1):
                            before = 0 if place is None else self.builds[place].sets
                            found[f"lay {card} and build {value}{onto}{helped}"] = (
                                lambda c=card, cs=cards, v=value, p=place, n=sets + before: (
                                    self.build(cs, cs, v, p, n),
                                    self.table.append(c),
                                )
                            )
        return found

    def may_build(self, card, value):
        if any(self.counts(other, value) for other in self.hands[self.player] if other != card):
            return True
        partner = (self.player + 2) % 4
        return self.o.build_for_partner and any(b and b.owner == partner and b.value == value for b in self.builds)

    def takes_sets(self, place, value):
        """Whether sets with this value can be put there."""
        if place is not None:
            return self.builds[place].value == value
        return None in self.builds and self.is_new_value(value)

    def is_new_value(self, value):
        return self.o.same_value_builds or not any(b and b.value == value for b in self.builds)

    def sets_with(self, card, cards, value, place):
        """The number of sets of the build that a card makes with loose cards, or None if it makes none."""
        if not self.is_numeral(card):
            return None
        if self.takes_sets(place, value):
            sets = self.splits([card, *cards], value)
            if sets is None or (place is None and not cards):
                return None
            return sets + (0 if place is None else self.builds[place].sets)
        if place is None:
            return None
        b = self.builds[place]
        is_own = b.owner == self.player and not self.o.raise_own_build
        if b.sets > 1 or b.value >= value or is_own or not self.is_new_value(value):
            return None
        for helping in subsets(cards) if self.o.raise_with_table_cards else [()]:
            if b.value + number(card) + sum(map(number, helping)) == value:
                sets = self.splits([other for other in cards if other not in helping], value)
                if sets is not None:
                    return sets + 1
        return None

    # -- what happens -----------------------------------------------------------------------------------------------

    def capture(self, card, cards, taken):
        side = self.player % len(self.won)
        self.won[side] += [card, *cards]
        self.table = [other for other in self.table if other not in cards]
        for k in taken:
            self.won[side] += self.builds[k].cards
            self.builds[k] = None
        self.last = side
        self.sweeps[side] += not self.table and not any(self.builds)

    def build(self, added, cards, value, place, sets):
        self.table = [other for other in self.table if other not in cards]
        if place is None:
            place = self.builds.index(None)
            self.builds[place] = Build([], value, sets, self.player)
        b = self.builds[place]
        b.cards, b.value, b.sets, b.owner = [*b.cards, *added], value, sets, self.player

    def play(self, label, card):
        move = self.plays()[label]
        self.hands[self.player].remove(card)
        move()
        self.player = (self.player + 1) % len(self.hands)
        if not self.hands[self.player]:
            if self.stock:
                for hand in self.hands:
                    hand += self.stock[:4]
                    del self.stock[:4]
            else:
                self.is_over = True
                if self.last is not None:
                    self.won[self.last] += self.table + [card for b in self.builds if b for card in b.cards]

    def points(self):
        points = []
        for side, cards in enumerate(self.won):
            spades = [card for card in cards if card[1] == "s"]
            total = sum(card[0] == "A" for card in cards) + ("2s" in cards) + 2 * ("Td" in cards)
            total += self.sweeps[side] if self.o.sweeps else 0
            total += 3 if all(len(cards) > len(other) for k, other in enumerate(self.won) if k != side) else 0
            if self.o.spade_casino:
                total += len(spades) + ("Js" in cards)
            elif all(
                len(spades) > sum(card[1] == "s" for card in other) for k, other in enumerate(self.won) if k != side
            ):
                total += 1
            points.append(total)
        return points
