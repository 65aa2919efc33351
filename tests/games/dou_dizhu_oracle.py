"""Dou Dizhu once more, slow and obvious, from rules.md: lists of rank letters instead of numbers."""

import itertools

ORDER = "3456789TJQKA2BR"
CHAIN = "3456789TJQKA"
SMALLEST_CHAIN = {1: 5, 2: 3, 3: 2}  # ranks of a solo, pair and trio chain


def ascending(cards):
    return sorted(cards, key=ORDER.index)


def written(main, kickers=()):
    """A play as the labels of actions have it."""
    text = " ".join(main) + (" + " + " ".join(ascending(kickers)) if kickers else "")
    return text.replace("T", "10")


def possible_kickers(rest, number, copies, main, options):
    """All kickers from the cards `rest`: as many solos or pairs as `number` says (4.2 to 4.4)."""
    others = [card for card in rest if card not in main]
    if copies == 2:
        pairs = [rank for rank in CHAIN + "2" if others.count(rank) >= 2]
        return [[rank for rank in chosen for _ in range(2)] for chosen in itertools.combinations(pairs, number)]
    found = []
    for chosen in sorted(set(itertools.combinations(ascending(others), number))):
        if any(chosen.count(rank) == 4 for rank in chosen):
            continue
        if "B" in chosen and "R" in chosen and not options["rocket_kicker"]:
            continue
        if not options["ambiguous_kickers"] and len(set(main)) > 1:
            longer = [rank for rank in CHAIN if abs(CHAIN.index(rank) - CHAIN.index(main[0])) == 1
                      or abs(CHAIN.index(rank) - CHAIN.index(main[-1])) == 1]  # fmt: skip
            if any(chosen.count(rank) == 3 for rank in longer):
                continue
        found.append(list(chosen))
    return found


def plays(hand, options):
    """All plays in a hand, as {text: (pattern, number of cards, rank, cards)}."""
    found = {}

    def add(pattern, main, kickers=()):
        found[written(main, kickers)] = (pattern, len(main) + len(kickers), ORDER.index(main[0]), [*main, *kickers])

    for rank in ORDER:
        for copies, pattern in ((1, "solo"), (2, "pair"), (3, "trio"), (4, "bomb")):
            if hand.count(rank) >= copies:
                add(pattern, [rank] * copies)
        if hand.count(rank) >= 3:
            for copies in (1, 2):
                for kickers in possible_kickers(hand, 1, copies, [rank], options):
                    add(f"trio and {copies}", [rank] * 3, kickers)
        if hand.count(rank) == 4 and options["four_with_two"]:
            for copies in (1, 2):
                for kickers in possible_kickers(hand, 2, copies, [rank], options):
                    add(f"four and {copies}", [rank] * 4, kickers)
    if "B" in hand and "R" in hand:
        add("rocket", ["B", "R"])
    for first in range(len(CHAIN)):
        for last in range(first + 1, len(CHAIN)):
            ranks = CHAIN[first : last + 1]
            for copies, smallest in SMALLEST_CHAIN.items():
                if len(ranks) < smallest or any(hand.count(rank) < copies for rank in ranks):
                    continue
                main = [rank for rank in ranks for _ in range(copies)]
                add(f"chain of {copies}", main)
                if copies < 3:
                    continue
                for kind in (1, 2):
                    for kickers in possible_kickers(hand, len(ranks), kind, main, options):
                        add(f"chain of trios and {kind}", main, kickers)
    return found


def beats(play, other):
    """Whether a play beats another one (5.2)."""
    (pattern, size, rank, _), (other_pattern, other_size, other_rank, _) = play, other
    if pattern == other_pattern and size == other_size:
        return rank > other_rank
    if pattern == "rocket":
        return True
    return pattern == "bomb" and other_pattern != "rocket"


class Oracle:
    """A game that is given the hands and the cards left over of each deal, and plays along."""

    def __init__(self, options):
        self.options, self.deals, self.over, self.landlord = options, 0, False, None

    def begin_deal(self, hands, extra, first):
        self.hands, self.extra = [ascending(hand) for hand in hands], list(extra)
        self.to_act, self.words, self.bid, self.bidder = first, [], 0, None
        self.deals += 1
        self.trick, self.doublings, self.plays = [], 0, [0, 0, 0]
        if self.options["bidding"] == "none":
            self.bid = 1
            self.begin_play(0)

    def begin_play(self, landlord):
        self.landlord = self.to_act = landlord
        self.hands[landlord] = ascending(self.hands[landlord] + self.extra)

    def last_play(self):
        """The play to beat, or None."""
        for _, play in reversed(self.trick):
            if play:
                return play
        return None

    def legal(self):
        """The texts of all legal actions."""
        if self.landlord is None:
            return {"pass", *(f"bid {bid}" for bid in range(self.bid + 1, 4))}
        found, last = plays(self.hands[self.to_act], self.options), self.last_play()
        if last is None:
            return set(found)
        return {"pass", *(text for text, play in found.items() if beats(play, last))}

    def act(self, text):
        """Apply an action; returns whether the cards must be dealt again."""
        player, self.to_act = self.to_act, (self.to_act + 1) % 3
        if self.landlord is None:
            return self.speak(player, text)
        if text == "pass":
            self.trick.append((player, None))
            if [play for _, play in self.trick[-2:]] == [None, None]:
                self.to_act = next(p for p, play in reversed(self.trick) if play)
                self.trick = []
            return False
        play = plays(self.hands[player], self.options)[text]
        for card in play[3]:
            self.hands[player].remove(card)
        self.trick.append((player, play))
        self.plays[player] += 1
        self.doublings += play[0] in ("bomb", "rocket")
        if not self.hands[player]:
            self.settle(player)
        return False

    def speak(self, player, text):
        self.words.append(text)
        if text != "pass":
            self.bid, self.bidder = int(text[-1]), player
        all_have_spoken = len(self.words) >= 3 and not self.options["rebid"]
        if self.bid == 3 or (self.bid and (all_have_spoken or self.words[-2:] == ["pass", "pass"])):
            self.begin_play(self.bidder)
        elif self.words == ["pass"] * 3:
            if self.options["all_pass"] == "redeal" and self.deals < 10:
                return True
            self.over, self.returns = True, [0, 0, 0]
        return False

    def settle(self, winner):
        """The end of the game (6)."""
        landlord_won, peasants = winner == self.landlord, [p for p in range(3) if p != self.landlord]
        stake = self.bid
        if self.options["bomb_doubles"]:
            stake *= 2**self.doublings
        if self.options["spring_doubles"]:
            if landlord_won and not any(self.plays[p] for p in peasants):
                stake *= 2
            if not landlord_won and self.plays[self.landlord] == 1:
                stake *= 2
        self.returns = []
        for p in range(3):
            won = landlord_won == (p == self.landlord)
            if self.options["returns"] == "points":
                self.returns.append(stake * (2 if p == self.landlord else 1) * (1 if won else -1))
            else:
                self.returns.append(1 if won else {"win_loss": -1, "rlcard": 0}[self.options["returns"]])
        self.over = True
