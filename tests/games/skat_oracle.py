"""Skat once more, slow and obvious, from rules.md: lists of card texts instead of bit sets and tables.

It never looks at the game. It is given the hands and the skat of each deal, and then plays along.
"""

from fractions import Fraction

VALUES = sorted(
    {base * level for base in (9, 10, 11, 12) for level in range(2, 19)}
    | {24 * level for level in range(2, 12)}
    | {23, 35, 46, 59}
)
SUITS, RANKS = "dhsc", "789QKTAJ"
BASES = {"diamonds": 9, "hearts": 10, "spades": 11, "clubs": 12, "grand": 24}
GAMES = [*BASES, "null"]
LEVELS = ["nothing", "schneider", "schwarz", "ouvert"]
POINTS = {"A": 11, "T": 10, "K": 4, "Q": 3, "J": 2}


def points(cards):
    return sum(POINTS.get(card[0], 0) for card in cards)


def suit(game, card):
    """The suit that a card counts as in a game (5.3)."""
    if game != "null" and (card[0] == "J" or card[1] == game[0]):
        return "trumps"
    return card[1]


def rank(game, card):
    """A number that is larger for the better of two cards of one suit (5.3)."""
    if game == "null":
        return "789TJQKA".index(card[0])
    return 10 + SUITS.index(card[1]) if card[0] == "J" else "789QKTA".index(card[0])


def count_tops(game, cards):
    """Tops of a soloist who holds `cards` with the skat (6.2)."""
    trumps = ["Jc", "Js", "Jh", "Jd"]
    if game != "grand":
        trumps += [other + game[0] for other in "ATKQ987"]
    number = 0
    while number < len(trumps) and (trumps[number] in cards) == ("Jc" in cards):
        number += 1
    return number


class Oracle:
    """A game."""

    def __init__(self, bidding, jump_bids, all_pass, ramsch_skat, ramsch_tie, scoring, deals):
        self.bidding, self.jump_bids, self.all_pass = bidding, jump_bids, all_pass
        self.ramsch_skat, self.ramsch_tie, self.scoring, self.deals = ramsch_skat, ramsch_tie, scoring, deals
        self.forehand, self.returns = 2, [Fraction(0)] * 3
        self.done = 0

    def begin_deal(self, hands, skat):
        self.hands, self.skat = [list(hand) for hand in hands], list(skat)
        self.forehand = (self.forehand + 1) % 3
        self.f, self.m, self.r = (self.forehand, (self.forehand + 1) % 3, (self.forehand + 2) % 3)
        self.words = []  # (player, word)
        self.soloist, self.game, self.hand_game, self.level = None, None, True, None
        self.bid, self.tricks, self.trick = 0, [], []
        self.stage = "auction"
        self.auction = self.by_value() if self.bidding == "value" else self.by_turn()
        self.question = next(self.auction)

    # The auction as a program that asks questions: (player, allowed words); it gets the word.

    def by_turn(self):
        for player in (self.f, self.m, self.r):
            word = yield player, ["pass", *GAMES]
            if word != "pass":
                self.game, self.hand_game, self.level = word, False, "nothing"
                return player
        return None

    def by_value(self):
        survivor = yield from self.duel(self.m, self.f)
        survivor = yield from self.duel(self.r, survivor)
        if self.bid:
            return survivor
        word = yield self.f, ["pass", 18]
        if word == "pass":
            return None
        self.bid = 18
        return self.f

    def duel(self, speaker, listener):
        while True:
            higher = [value for value in VALUES if value > self.bid]
            word = yield speaker, ["pass", *(higher if self.jump_bids else higher[:1])]
            if word == "pass":
                return listener
            self.bid = word
            if (yield listener, ["pass", "yes"]) == "pass":
                return speaker

    def null_worth(self, level):
        return {(False, False): 23, (True, False): 35, (False, True): 46, (True, True): 59}[
            self.hand_game, level == "ouvert"
        ]

    def levels(self):
        if self.game == "null":
            return [level for level in ("nothing", "ouvert") if self.null_worth(level) >= self.bid]
        return LEVELS

    def legal(self):
        """Who is to act, and the actions, as words or cards."""
        if self.stage == "auction":
            return self.question
        if self.stage == "skat":
            return self.soloist, ["take the skat", "play hand"]
        if self.stage == "lay away":
            return self.soloist, self.hands[self.soloist]
        if self.stage == "name":
            return self.soloist, [game for game in GAMES if game != "null" or self.null_worth("ouvert") >= self.bid]
        if self.stage == "announce":
            return self.soloist, self.levels()
        player = (self.leader + len(self.trick)) % 3
        hand = self.hands[player]
        if self.trick:
            led = suit(self.game, self.trick[0])
            return player, [card for card in hand if suit(self.game, card) == led] or hand
        return player, hand

    def act(self, action):
        """Act; return whether the deal is over."""
        if self.stage == "auction":
            return self.speak(action)
        if self.stage == "skat":
            self.hand_game = action == "play hand"
            self.stage = "name" if self.hand_game else "lay away"
            if not self.hand_game:
                self.take()
        elif self.stage == "lay away":
            self.hands[self.soloist].remove(action)
            self.skat.append(action)
            if len(self.skat) == 2:
                self.stage = "name"
                if self.game:
                    self.begin_play()
        elif self.stage == "name":
            self.game = action
            if self.hand_game or action == "null":
                self.stage = "announce"
            else:
                self.level = "nothing"
                self.begin_play()
        elif self.stage == "announce":
            self.level = action
            self.begin_play()
        else:
            return self.play(action)
        return False

    def take(self):
        self.hands[self.soloist] += self.skat
        self.skat = []

    def speak(self, word):
        try:
            self.question = self.auction.send(word)
        except StopIteration as end:
            self.soloist = end.value
            if self.soloist is None:
                if self.all_pass == "thrown_in":
                    return True
                self.game = "grand"
                self.begin_play()
            elif self.game:
                self.take()
                self.stage = "lay away"
            else:
                self.stage = "skat"
        return False

    def begin_play(self):
        self.stage, self.leader = "play", self.f
        if self.soloist is not None:
            self.twelve = self.hands[self.soloist] + self.skat

    def play(self, card):
        player = (self.leader + len(self.trick)) % 3
        self.hands[player].remove(card)
        self.trick.append(card)
        if len(self.trick) < 3:
            return False
        led = suit(self.game, self.trick[0])
        able = [c for c in self.trick if suit(self.game, c) == "trumps"]
        able = able or [c for c in self.trick if suit(self.game, c) == led]
        best = max(able, key=lambda c: rank(self.game, c))
        self.leader = (self.leader + self.trick.index(best)) % 3
        self.tricks.append((self.leader, self.trick))
        self.trick = []
        if len(self.tricks) < 10 and not (self.game == "null" and self.leader == self.soloist):
            return False
        for player, score in self.scores().items():
            for p in range(3):
                self.returns[p] += score if p == player else Fraction(-score) / 2
        return True

    def won_by(self, player):
        return [card for winner, cards in self.tricks if winner == player for card in cards]

    def scores(self):
        if self.soloist is None:
            return self.ramsch()
        mine, count = points(self.won_by(self.soloist) + self.skat), len(self.won_by(self.soloist)) // 3
        if self.bidding == "openspiel":
            if self.game == "null":
                return {self.soloist: Fraction(-1 if count else 1, 4)}
            return {self.soloist: Fraction(mine - 60, 120)}
        if self.game == "null":
            value, made = self.null_worth(self.level), count == 0
        else:
            schneider, schwarz = mine >= 90 or mine <= 30, count in (0, 10)
            told = LEVELS.index(self.level)
            extras = [
                self.hand_game, schneider or told >= 1, told >= 1, schwarz or told >= 2, told >= 2, told >= 3,
            ]  # fmt: skip
            value = BASES[self.game] * (count_tops(self.game, self.twelve) + 1 + sum(extras))
            made = mine > 60 and (told < 1 or mine >= 90) and (told < 2 or count == 10)
        if value < self.bid:
            made = False
            while value < self.bid or value % BASES[self.game]:
                value += 1
        score = {self.soloist: value if made else -2 * value}
        if self.scoring == "seeger_fabian":
            score[self.soloist] += 50 if made else -50
            if not made:
                score |= {p: 40 for p in range(3) if p != self.soloist}
        return score

    def ramsch(self):
        last = self.tricks[-1][0]
        taken = {p: self.won_by(p) for p in range(3)}
        for p in range(3):
            if len(taken[p]) == 30:
                return {p: 120}
        total = {p: points(taken[p]) for p in range(3)}
        if self.ramsch_skat == "last_trick":
            total[last] += points(self.skat)
        losers = [p for p in range(3) if total[p] == max(total.values())]
        if self.ramsch_tie == "last_trick" and last in losers:
            losers = [last]
        factor = 2 if [] in taken.values() else 1
        extra = points(self.skat) if self.ramsch_skat == "loser" else 0
        return {p: -factor * (total[p] + extra) for p in losers}
