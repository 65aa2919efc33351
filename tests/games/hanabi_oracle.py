"""Hanabi once more, slow and obvious, from rules.md: cards are texts such as "R1", and hints are kept as they were."""

COLOURS, NAMES = "RYGWB", {"R": "red", "Y": "yellow", "G": "green", "W": "white", "B": "blue", "M": "rainbow"}


def whole_deck(colors, ranks, rainbow):
    """All cards (2.1)."""
    copies = dict.fromkeys(range(2, ranks), 2) | {ranks: 1} | {1: 3}
    suits = COLOURS[:colors] + ("M" if rainbow != "off" else "")
    return [f"{suit}{rank}" for suit in suits for rank in range(1, ranks + 1) for _ in range(copies[rank])]


class Oracle:
    """A game from a deck in dealing order. Actions are texts, as the labels of the game."""

    def __init__(self, deck, options, starter=0):
        self.o, self.stock, self.n = options, list(deck), options.num_players
        self.suits = COLOURS[: options.colors] + ("M" if options.rainbow != "off" else "")
        self.hands = [[self.draw() for _ in range(options.hand_size)] for _ in range(self.n)]
        self.fireworks, self.discards = [], []
        self.tokens, self.lives = options.max_information_tokens, options.max_life_tokens
        self.turns_left = None if self.stock else self.n
        self.player, self.returns, self.rewards, self.over = starter, 0, 0, False

    def draw(self):
        return {"card": self.stock.pop(0), "hints": []}

    def touches(self, hint, card):
        """Whether a hint, a rank or a suit, points at a card (3.1, 7.1)."""
        wild = self.o.rainbow == "wild" and card[0] == "M" and hint in COLOURS
        return hint in card or wild

    def hints(self):
        colours = list(COLOURS[: self.o.colors]) + (["M"] if self.o.rainbow == "suit" else [])
        return colours + [str(rank) for rank in range(1, self.o.ranks + 1)]

    def legal(self):
        """The labels of all legal actions."""
        places = range(1, len(self.hands[self.player]) + 1)
        found = [f"play {k}" for k in places]
        if self.tokens < self.o.max_information_tokens or self.o.discard_at_max:
            found += [f"discard {k}" for k in places]
        if self.tokens:
            for p in range(self.n):
                for hint in self.hints():
                    fits = any(self.touches(hint, held["card"]) for held in self.hands[p])
                    if p != self.player and (fits or self.o.empty_hints):
                        found.append(f"hint player_{p} {NAMES.get(hint, hint)}")
        return found

    def score(self):
        return len(self.fireworks)

    def act(self, label):
        before, last_round = self.score(), self.turns_left is not None
        verb, *words = label.split()
        if verb == "hint":
            self.hint(int(words[0][-1]), next(h for h in self.hints() if NAMES.get(h, h) == words[1]))
        else:
            card = self.hands[self.player].pop(int(words[0]) - 1)["card"]
            if verb == "discard":
                self.discards.append(card)
                self.tokens = min(self.tokens + 1, self.o.max_information_tokens)
            else:
                self.play(card)
            if self.stock and not self.finished():
                self.hands[self.player].append(self.draw())
                if not self.stock:
                    self.turns_left = self.n
        if last_round:
            self.turns_left -= 1
        self.rewards = self.score() - before
        if self.lives == 0 and self.o.bomb_score == "zero":
            self.rewards = -before
        self.returns += self.rewards
        self.over = self.finished() or self.turns_left == 0
        self.player = (self.player + 1) % self.n

    def finished(self):
        return self.lives == 0 or self.score() == len(self.suits) * self.o.ranks

    def hint(self, receiver, hint):
        self.tokens -= 1
        for held in self.hands[receiver]:
            held["hints"].append((hint, self.touches(hint, held["card"])))

    def play(self, card):
        wanted = sum(other[0] == card[0] for other in self.fireworks) + 1
        if int(card[1]) == wanted:
            self.fireworks.append(card)
            if wanted == self.o.ranks:
                self.tokens = min(self.tokens + 1, self.o.max_information_tokens)
        else:
            self.discards.append(card)
            self.lives -= 1

    def can_be(self, player):
        """For each card of a hand, the cards that fit all hints it was there for (5.2)."""
        kinds = sorted(set(whole_deck(self.o.colors, self.o.ranks, self.o.rainbow)))
        return [
            {kind for kind in kinds if all(self.touches(hint, kind) == touched for hint, touched in held["hints"])}
            for held in self.hands[player]
        ]
