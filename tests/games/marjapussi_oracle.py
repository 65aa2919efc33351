"""Marjapussi once more, slow and obvious, from rules.md: lists of card texts instead of bit sets."""

HIGH_TO_LOW = "ATKQJ9876"
ORIGINAL = {"A": 11, "T": 10, "K": 4, "Q": 3, "J": 2}
SIMPLE = {"A": 10, "T": 10, "K": 5, "Q": 5, "J": 5}
SUITS = "cdhs"


class Oracle:
    """A game that is given the hands of each deal and plays along.

    Actions are texts: a card, "own c", "whole", "half c" and "name c". `seen[p]` lists what player p has seen of this
    hand since the deal: actions, answers and p's own choices.
    """

    def __init__(self, options):
        self.options = options
        self.scores, self.winner, self.over, self.number = [0, 0], None, False, 0
        self.dealer = options["dealer"]
        self.in_bag = [False, False]

    def begin_hand(self, hands):
        self.hands = [list(hand) for hand in hands]
        self.had = [list(hand) for hand in hands]
        self.number += 1
        self.seen = [[] for _ in range(4)]
        self.trump, self.trick, self.tricks = None, [], []  # of tricks: winner and cards
        self.declared, self.marriage_points, self.calls, self.asked = {}, [0, 0], 0, False
        self.leader = self.to_act = (self.dealer + 1) % 4
        self._look()

    # What is allowed

    def open(self):
        played = [card for _, cards in self.tricks for card in cards] + [card for _, card in self.trick]
        return [s for s in SUITS if s not in self.declared and "K" + s not in played and "Q" + s not in played]

    def marriages(self, player):
        return [s for s in self.open() if "K" + s in self.hands[player] and "Q" + s in self.hands[player]]

    def legal(self):
        if self.asked:
            return ["name " + s for s in self.marriages(self.to_act)]
        return self.cards() + self.possible_calls()

    def possible_calls(self):
        o, me = self.options, self.to_act
        if self.trick or self.in_bag[me % 2] or self.calls >= o["calls_per_lead"]:
            return []
        if not self.tricks and not o["declare_first_lead"]:
            return []
        own, partner = self.marriages(me), (me + 2) % 4
        if o["ask"] == "open":
            return ["own " + s for s in self.open() if s in own or s in self.marriages(partner)]
        found = ["own " + s for s in own]
        if o["ask"] == "none" or (own and o["ask_only_without_own"]) or not self.open():
            return found
        found.append("whole")
        if o["ask"] == "whole_and_half":
            found += ["half " + s for s in self.open() if ("K" + s in self.hands[me]) != ("Q" + s in self.hands[me])]
        return found

    def cards(self):
        o, hand = self.options, self.hands[self.to_act]
        if not self.trick:
            if self.tricks or o["first_lead"] == "any":
                return list(hand)
            aces = [card for card in hand if card[0] == "A"]
            spades = [card for card in hand if card[1] == "s"]
            return aces or (o["first_lead"] == "ace_or_spade" and spades) or list(hand)
        led = self.trick[0][1][1]
        follow = [card for card in hand if card[1] == led]
        trumps_played = [card for _, card in self.trick if card[1] == self.trump]
        if follow:
            if o["beat"] in ("suit", "full") and (led == self.trump or not trumps_played):
                best = min((card for _, card in self.trick if card[1] == led), key=order)
                return [card for card in follow if order(card) < order(best)] or follow
            return follow
        trumps = [card for card in hand if card[1] == self.trump]
        if not o["must_trump"] or not trumps:
            return list(hand)
        if o["beat"] in ("trump", "full") and trumps_played:
            best = min(trumps_played, key=order)
            return [card for card in trumps if order(card) < order(best)] or trumps
        return trumps

    # What is done

    def do(self, action):
        me, word, suit = self.to_act, action[:4], action[-1]
        self._tell(("does", me, action))
        if action == "whole":
            self.calls += 1
            self._ask_whole((me + 2) % 4)
        elif word == "half":
            self.calls += 1
            partner = self.hands[(me + 2) % 4]
            if "K" + suit in partner or "Q" + suit in partner:
                self._tell(("yes",))
                self._declare(me % 2, suit)
            else:
                self._tell(("no",))
        elif word == "own ":
            self.calls += 1
            self._tell(("holder", suit in self.marriages(me)))
            self._declare(me % 2, suit)
        elif word == "name":
            self.asked, self.to_act = False, self.leader
            self._declare(me % 2, suit)
        else:
            self._play(action)
        if not self.over and any(self.hands):
            self._look()

    def _ask_whole(self, partner):
        found = self.marriages(partner)
        if len(found) > 1:
            self.asked, self.to_act = True, partner
            self._tell(("chooses",))
        elif found:
            self._tell(("yes", found[0]))
            self._declare(partner % 2, found[0])
        else:
            self._tell(("no",))

    def _declare(self, side, suit):
        first = not self.declared
        self.declared[suit] = side
        if first or self.options["trump_change"]:
            self.trump = suit
        if self.options["scoring"] == "marks":
            self._score(side, 2 if first else 1)
        else:
            self.marriage_points[side] += self.options["marriage_points"][0 if first else 1]

    def _play(self, card):
        self.hands[self.to_act].remove(card)
        self.trick.append((self.to_act, card))
        self.to_act = (self.to_act + 1) % 4
        if len(self.trick) < 4:
            return
        trumps = [pair for pair in self.trick if pair[1][1] == self.trump]
        suit = [pair for pair in self.trick if pair[1][1] == self.trick[0][1][1]]
        self.leader = self.to_act = min(trumps or suit, key=lambda pair: order(pair[1]))[0]
        self.tricks.append((self.leader, [card for _, card in self.trick]))
        self.trick, self.calls = [], 0
        if not any(self.hands):
            self._end_hand()

    # Score

    def points(self, side):
        values = ORIGINAL if self.options["values"] == "original" else SIMPLE
        return sum(values.get(card[0], 0) for p, cards in self.tricks if p % 2 == side for card in cards)

    def mates(self, side):
        return sum(card[0] in "AT" for p, cards in self.tricks if p % 2 == side for card in cards)

    def _end_hand(self):
        last = self.tricks[-1][0] % 2
        counts = [self.points(0), self.points(1)]
        if self.options["scoring"] == "marks":
            self._score(last, 1)
            if self.options["majority"] == "mates":
                counts = [(self.mates(side), counts[side]) for side in (0, 1)]
            if counts[0] != counts[1]:
                self._score(0 if counts[0] > counts[1] else 1, 1)
        else:
            totals = [counts[side] + self.marriage_points[side] for side in (0, 1)]
            totals[last] += self.options["last_trick"]
            if totals[0] != totals[1]:
                self._score(0 if totals[0] > totals[1] else 1, 2 if min(totals) < 20 else 1)
        takers = {p % 2 for p, _ in self.tricks}
        self.in_bag = [self.options["bag"] and side not in takers for side in (0, 1)]
        self.dealer = (self.dealer + 1) % 4
        self.over = self.over or self.options["match_target"] is None or self.number == 60

    def _score(self, side, item):
        if self.over or self.in_bag[side]:
            return
        target, score = self.options["match_target"], self.scores[side] + item
        if target is not None and self.options["exact"] and score > target:
            after = {"ignore": self.scores[side], "back": 2 * target - score, "zero": 0}
            score = after[self.options["overshoot"]]
        self.scores[side] = score
        if target is not None and score >= target:
            self.over, self.winner = True, side

    def returns(self):
        if self.options["match_target"] is None:
            difference = self.scores[0] - self.scores[1]
            return [difference, -difference] * 2
        return [0] * 4 if self.winner is None else [1 if p % 2 == self.winner else -1 for p in range(4)]

    # Who sees what

    def _tell(self, what):
        for seen in self.seen:
            seen.append(what)

    def _look(self):
        self.seen[self.to_act].append(("may", sorted(self.legal())))


def order(card):
    return HIGH_TO_LOW.index(card[0])
