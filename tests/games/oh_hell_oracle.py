"""Oh Hell once more, slow and obvious, from rules.md: lists of card texts instead of bit sets."""

ORDER = "23456789TJQKA"
USUAL = {3: 10, 4: 10, 5: 10, 6: 8, 7: 7}


def sizes(schedule, most):
    """The number of cards in each deal (2.2)."""
    down, up = list(range(most, 0, -1)), list(range(1, most + 1))
    return {"down_up": down + up[1:], "up_down": up + down[1:], "down": down, "up": up}.get(schedule, [most])


class Oracle:
    """A game that is given the hands, the card turned up and the size of each deal, and plays along."""

    def __init__(self, num_players, hook, trump, scoring, points_per_trick, order_of_bids):
        self.n, self.hook, self.trump_form = num_players, hook and order_of_bids == "in_turn", trump
        self.scoring, self.p = scoring, points_per_trick
        self.points, self.deals = [0] * num_players, 0

    def begin_deal(self, dealer, hands, turned_up):
        self.dealer, self.hands, self.size = dealer, [list(hand) for hand in hands], len(hands[0])
        self.trump = {"none": None, "rotate": ("c", "d", "h", "s", None)[self.deals % 5]}.get(
            self.trump_form, turned_up and turned_up[1]
        )
        self.bids, self.won, self.trick = {}, [0] * self.n, []
        self.to_act = (dealer + 1) % self.n
        self.deals += 1

    def legal(self):
        """The bids, as numbers, or the cards."""
        if len(self.bids) < self.n:
            bids = list(range(self.size + 1))
            if self.hook and len(self.bids) == self.n - 1:
                bids = [bid for bid in bids if sum(self.bids.values()) + bid != self.size]
            return bids
        hand = self.hands[self.to_act]
        if self.trick:
            same = [card for card in hand if card[1] == self.trick[0][1][1]]
            return same or hand
        return hand

    def act(self, action):
        """Bid or play; returns whether the deal is over."""
        player = self.to_act
        self.to_act = (player + 1) % self.n
        if len(self.bids) < self.n:
            self.bids[player] = action
            return False
        self.hands[player].remove(action)
        self.trick.append((player, action))
        if len(self.trick) == self.n:
            self.to_act = max(self.trick, key=self.worth)[0]
            self.won[self.to_act] += 1
            self.trick = []
        if any(self.hands):
            return False
        for p in range(self.n):
            self.points[p] += self.score(self.bids[p], self.won[p])
        return True

    def worth(self, played):
        card, led = played[1], self.trick[0][1]
        return card[1] == self.trump, card[1] == led[1], ORDER.index(card[0])

    def score(self, bid, won):
        """The points of a deal (5.1)."""
        if self.scoring == "squares":
            return 10 + bid**2 if bid == won else -((won - bid) ** 2)
        if bid == won:
            return 10 + self.p * won
        return {"exact_plus": self.p * won, "exact_only": 0, "penalty": -self.p * abs(won - bid)}[self.scoring]
