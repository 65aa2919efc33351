"""Euchre once more, slow and obvious, from rules.md: lists of card texts instead of bit sets and tables."""

COLOURS = {"c": "s", "s": "c", "d": "h", "h": "d"}


class Oracle:
    """A match that is given the cards of each hand, and is told what players do in words."""

    def __init__(self, **options):
        self.options = options
        self.scores = [0, 0]
        self.winner = None
        self.hands_played = 0

    def begin_hand(self, dealer, hands, upcard):
        """Deal; before the suit of a joker is named, `hands` are those that will be dealt."""
        self.dealer, self.hands, self.upcard = dealer, [list(hand) for hand in hands], upcard
        self.up = None if upcard == "JK" else upcard[1]
        self.trump = self.maker = self.laid_away = None
        self.passes, self.alone, self.tricks = 0, set(), [0, 0]
        self.table = []
        if self.up is None:
            self.stage, self.to_act = "name", dealer
        else:
            self.stage, self.to_act = "order", (dealer + 1) % 4

    def suit(self, card):
        if card == "JK" or card == "J" + COLOURS[self.trump]:
            return self.trump
        return card[1]

    def value(self, card):
        """Compare cards of one suit."""
        if card == "JK":
            return 100
        if card[0] == "J" and self.suit(card) == self.trump:
            return 99 if card[1] == self.trump else 98
        return "9TJQKA".index(card[0])

    def legal(self):
        hand = self.hands[self.to_act]
        if self.stage == "name":
            return [f"name {suit}" for suit in "cdhs"]
        if self.stage == "order":
            has_suit = any(card != "JK" and card[1] == self.up for card in hand)
            may = has_suit or not self.options["need_suit_to_order"]
            return ["pass", f"order up {self.up}"] if may else ["pass"]
        if self.stage == "call":
            stuck = self.passes == 7 and self.options["stick_the_dealer"]
            return [f"call {suit}" for suit in "cdhs" if suit != self.up] + ([] if stuck else ["pass"])
        if self.stage == "lay away":
            return [f"lay away {card}" for card in hand if card != self.upcard or self.options["discard_upcard"]]
        if self.stage in ("alone", "defend"):
            return ["alone", "with partner"]
        if not self.table:
            return [f"lead {card}" for card in hand]
        same = [card for card in hand if self.suit(card) == self.suit(self.table[0][1])]
        return [f"play {card}" for card in same or hand]

    def do(self, label):
        player = self.to_act
        if label == "pass":
            self.passes += 1
            self.to_act = (player + 1) % 4
            if self.passes == 4:
                self.stage = "call"
            if self.passes == 8:
                self.end_hand(0, 0)
        elif label.startswith("name "):
            self.up = label[-1]
            self.stage, self.to_act = "order", (self.dealer + 1) % 4
        elif label.startswith("order up "):
            self.trump, self.maker, self.was_ordered = self.up, player, True
            self.hands[self.dealer].append(self.upcard)
            self.stage, self.to_act = "lay away", self.dealer
        elif label.startswith("call "):
            self.trump, self.maker, self.was_ordered = label[-1], player, False
            self.stage, self.to_act = "alone", player
        elif label.startswith("lay away "):
            self.laid_away = label.split()[-1]
            self.hands[player].remove(self.laid_away)
            self.stage, self.to_act = "alone", self.maker
            if self.options["partner_assist_alone"] and self.maker == (self.dealer + 2) % 4:
                self.decide("alone")
        elif self.stage in ("alone", "defend"):
            self.decide(label)
        else:
            self.play(label.split()[-1])

    def decide(self, label):
        if label == "alone":
            self.alone.add(self.to_act)
        defenders = [p % 4 for p in range(self.dealer + 1, self.dealer + 5) if p % 2 != self.maker % 2]
        if self.stage == "alone" and self.options["lone_defender"]:
            self.stage, self.to_act = "defend", defenders[0]
        elif self.stage == "defend" and self.to_act == defenders[0] and label != "alone":
            self.to_act = defenders[1]
        else:
            self.stage = "play"
            left_of_maker = self.options["alone_lead"] == "left_of_maker" and self.maker in self.alone
            self.to_act = self.after(self.maker if left_of_maker else self.dealer)

    def after(self, player):
        player = (player + 1) % 4
        return self.after(player) if (player + 2) % 4 in self.alone else player

    def play(self, card):
        self.hands[self.to_act].remove(card)
        self.table.append((self.to_act, card))
        if len(self.table) < 4 - len(self.alone):
            self.to_act = self.after(self.to_act)
            return
        led = self.suit(self.table[0][1])
        suit = self.trump if any(self.suit(card) == self.trump for _, card in self.table) else led
        self.to_act = max((self.value(card), p) for p, card in self.table if self.suit(card) == suit)[1]
        self.tricks[self.to_act % 2] += 1
        self.table = []
        if sum(self.tricks) == 5:
            self.score()

    def score(self):
        makers = self.maker % 2
        won, is_alone = self.tricks[makers], self.maker in self.alone
        if won == 5:
            self.end_hand(makers, 4 if is_alone else 2)
        elif won >= 3:
            self.end_hand(makers, 1)
        elif any(p % 2 != makers for p in self.alone) or (won == 0 and self.options["super_euchre"]):
            self.end_hand(1 - makers, 4)
        else:
            self.end_hand(1 - makers, self.options["alone_euchre"] if is_alone else 2)

    def end_hand(self, side, points):
        self.scores[side] += points
        self.points = (side, points)
        self.hands_played += 1
        self.stage = "over"
        if self.options["target"] is not None and self.scores[side] >= self.options["target"]:
            self.winner = side

    def returns(self):
        side, points = self.points
        if self.options["target"] is not None:
            side, points = self.winner or 0, 0 if self.winner is None else 1
        return [points if p % 2 == side else -points for p in range(4)]
