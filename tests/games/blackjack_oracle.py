"""Blackjack once more, slow and obvious, from rules.md: lists of card texts, and one round at a time."""

RANKS = "A23456789TJQK"


def value(card):
    return 1 if card == "A" else 10 if card in "TJQK" else int(card)


def total(cards):
    """The best total of a hand, and whether an ace counts 11 (1.3)."""
    hard = sum(map(value, cards))
    soft = "A" in cards and hard + 10 <= 21
    return hard + 10 * soft, soft


class Hand:
    def __init__(self, cards, from_split=False):
        self.cards, self.from_split = cards, from_split
        self.stake, self.done = 1, False

    @property
    def total(self):
        return total(self.cards)[0]

    @property
    def is_blackjack(self):
        return len(self.cards) == 2 and self.total == 21 and not self.from_split


class Oracle:
    """A game that is given the cards in the order in which they come, and plays along.

    `options` is an Options; `cards` yields card texts.
    """

    def __init__(self, options, cards):
        self.o, self.cards = options, iter(cards)
        self.returns = [0.0] * options.num_players
        self.round = 0
        self.over = False
        self.begin()

    def begin(self):
        self.round += 1
        self.bets, self.insured, self.surrendered = {}, {}, set()
        self.hands, self.dealer, self.looked, self.ended, self.asked = [], [], False, False, False
        if not self.o.bet_units:
            self.bets = dict.fromkeys(range(self.o.num_players), 1)
            self.deal()

    def deal(self):
        n = self.o.num_players
        self.hands = [[Hand([next(self.cards), next(self.cards)])] for _ in range(n)]
        self.dealer = [next(self.cards), next(self.cards)]
        if not (self.o.insurance and self.dealer[0] == "A"):
            self.look()

    @property
    def dealer_has_blackjack(self):
        return self.o.naturals == "casino" and total(self.dealer[:2])[0] == 21

    def look(self):
        self.looked = True
        if self.o.peek and self.dealer_has_blackjack:
            self.ended = True

    # -- who decides ----------------------------------------------------------------------------------------------

    def question(self):
        """(player, hand number, legal actions), as texts."""
        n = self.o.num_players
        if len(self.bets) < n:
            return len(self.bets), 0, [f"bet {bet}" for bet in self.o.bet_units]
        if not self.looked:
            return len(self.insured), 0, ["insure", "no insurance"]
        found = self.next_hand()
        if found is None:
            assert not self.asked
            return 0, 0, ["stick"]
        p, h = found
        return p, h, self.choices(p, self.hands[p][h])

    def next_hand(self):
        if self.ended:
            return None
        for p in range(self.o.num_players):
            for h, hand in enumerate(self.hands[p]):
                if self.decides(p, hand):
                    return p, h
        return None

    def decides(self, p, hand):
        if hand.done or p in self.surrendered or hand.total > 21:
            return False
        if self.is_lone_ace(hand):
            return self.may_split(p, hand)
        if self.o.naturals == "casino" and hand.is_blackjack:
            return False
        return hand.total < 21 or self.o.hit_21

    def is_lone_ace(self, hand):
        return hand.from_split == "A" and self.o.split_aces_one_card

    def choices(self, p, hand):
        found = ["stick"]
        if not self.is_lone_ace(hand):
            found.append("hit")
            if self.may_double(hand):
                found.append("double")
        if self.may_split(p, hand):
            found.append("split")
        if self.o.surrender == "late" and len(hand.cards) == 2 and not hand.from_split:
            found.append("surrender")
        return found

    def may_double(self, hand):
        if len(hand.cards) != 2 or (hand.from_split and not self.o.double_after_split):
            return False
        allowed = {"any_two": range(22), "9_11": (9, 10, 11), "10_11": (10, 11), "none": ()}[self.o.double]
        return hand.total in allowed

    def may_split(self, p, hand):
        if len(hand.cards) != 2 or len(self.hands[p]) >= self.o.max_hands:
            return False
        a, b = hand.cards
        if not (a == b if self.o.split_by == "rank" else value(a) == value(b)):
            return False
        return self.o.resplit_aces or hand.from_split != "A"

    # -- what they do ---------------------------------------------------------------------------------------------

    def act(self, action):
        p, h, _ = self.question()
        waits = self.looked and self.next_hand() is None
        self.asked = True
        if action.startswith("bet"):
            self.bets[p] = int(action.split()[1])
            if len(self.bets) == self.o.num_players:
                self.deal()
        elif "insur" in action:
            self.insured[p] = action == "insure"
            if len(self.insured) == self.o.num_players:
                self.look()
        elif not waits:
            self.play(p, h, action)
        if len(self.bets) == self.o.num_players and self.looked and self.next_hand() is None and self.asked:
            self.finish()

    def play(self, p, h, action):
        hand = self.hands[p][h]
        if action == "stick":
            hand.done = True
        elif action == "hit":
            hand.cards.append(next(self.cards))
        elif action == "double":
            hand.cards.append(next(self.cards))
            hand.stake, hand.done = 2, True
        elif action == "surrender":
            self.surrendered.add(p)
        else:
            # the engine moves the higher of two cards of one value; the lower one stays
            stays, moves = sorted(hand.cards, key=RANKS.index)
            kind = "A" if stays == "A" else "other"
            hand.cards, hand.from_split = [stays, next(self.cards)], kind
            self.hands[p].append(Hand([moves, next(self.cards)], kind))

    def finish(self):
        casino = self.o.naturals == "casino"
        live = any(
            hand.total <= 21 and not (casino and hand.is_blackjack)
            for p, hands in enumerate(self.hands)
            for hand in hands
            if p not in self.surrendered
        )
        while live:
            points, soft = total(self.dealer)
            if points < 17 or (points == 17 and soft and self.o.dealer_soft17 == "hit"):
                self.dealer.append(next(self.cards))
            else:
                break
        for p in range(self.o.num_players):
            self.returns[p] += self.bets[p] * self.result(p)
        if self.round == self.o.rounds:
            self.over = True
        else:
            self.begin()

    def result(self, p):
        won = 0.0
        if self.insured.get(p):
            won += 1 if self.dealer_has_blackjack else -0.5
        if p in self.surrendered:
            return won - 0.5
        return won + sum(self.result_of_hand(h, hand) for h, hand in enumerate(self.hands[p]))

    def result_of_hand(self, h, hand):
        dealer = total(self.dealer)[0]
        natural = hand.is_blackjack
        if hand.total > 21:
            return -hand.stake
        if self.o.naturals == "casino":
            if self.dealer_has_blackjack:
                if natural:
                    return 0
                return (-1 if h == 0 else 0) if self.o.obo else -hand.stake
            if natural:
                return {"3:2": 1.5, "6:5": 1.2, "1:1": 1}[self.o.blackjack_pays]
        if self.o.naturals == "sab" and natural:
            return 0 if total(self.dealer[:2])[0] == 21 else 1
        if dealer > 21 or hand.total > dealer:
            return 1.5 if natural and self.o.naturals == "natural" else hand.stake
        return 0 if hand.total == dealer else -hand.stake
