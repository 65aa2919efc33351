"""Spades once more, slow and obvious, from rules.md: lists of card texts instead of bit sets."""

ORDER = "23456789TJQKA"


class Oracle:
    """A game that is given the hands of each deal, and plays along."""

    def __init__(self, **options):
        self.partners = options.get("partners", True)
        self.dealer = options.get("dealer", 3)
        self.nil = options.get("nil", True)
        self.nil_points = options.get("nil_points", 100)
        self.blind_nil = options.get("blind_nil", False)
        self.blind_nil_points = options.get("blind_nil_points", 200)
        self.blind_deficit = options.get("blind_deficit", 100)
        self.blind_nil_pass = options.get("blind_nil_pass", 0)
        self.failed_nil = options.get("failed_nil", "bags")
        self.max_team_bid = options.get("max_team_bid", 13)
        self.min_team_bid = options.get("min_team_bid", 0)
        self.break_spades = options.get("break_spades", "standard")
        self.first_lead = options.get("first_lead", "any")
        self.bag_limit = options.get("bag_limit", 10)
        self.bag_penalty = options.get("bag_penalty", 100)
        self.bag_points = options.get("bag_points", 1)
        self.target = options.get("target")
        self.lose_at = options.get("lose_at")
        self.sides = [[0, 2], [1, 3]] if self.partners else [[0], [1], [2], [3]]
        self.scores, self.bags = [0] * len(self.sides), [0] * len(self.sides)
        self.hands_begun, self.returns = 0, None

    def begin_hand(self, hands):
        """`hands`: the cards of each player, also of those who have not looked at them."""
        self.hands = [list(hand) for hand in hands]
        self.hands_begun += 1
        self.order = [(self.dealer + 1 + k) % 4 for k in range(4)]
        self.to_act = self.order[0]
        self.bids, self.blind, self.won = {}, set(), [0, 0, 0, 0]
        self.unseen = {p for p in range(4) if self.is_behind(p)}
        self.exchanges, self.trick, self.number, self.is_broken = [], [], 1, False
        self.is_playing = False

    def side(self, player):
        return next(side for side, players in enumerate(self.sides) if player in players)

    def is_behind(self, player):
        """Whether the player may bid blind nil (3.4)."""
        own = self.side(player)
        best = max(score for side, score in enumerate(self.scores) if side != own)
        return self.blind_nil and best - self.scores[own] >= self.blind_deficit

    # -- what is legal -------------------------------------------------------------------------------------------

    def legal(self):
        """Bids as numbers, "blind nil" and "look", or cards."""
        player, hand = self.to_act, self.hands[self.to_act]
        if self.is_playing:
            return self.legal_follows(hand) if self.trick else self.legal_leads(hand)
        if self.exchanges:
            return hand
        bids = [bid for bid in range(14) if self.is_allowed(player, bid)]
        if player in self.unseen:
            return ["blind nil", "look"] if 0 in bids else ["look"]
        return bids

    def is_allowed(self, player, bid):
        """Whether a bid keeps to the limits of the side (3.2, 3.3)."""
        lowest = 0 if self.nil else 1
        most = 26 if self.max_team_bid is None else self.max_team_bid
        others = [p for p in self.sides[self.side(player)] if p != player]
        total = bid + sum(self.bids.get(p, lowest) for p in others)
        is_last = all(p in self.bids for p in others)
        return bid >= lowest and total <= most and (not is_last or total >= self.min_team_bid)

    def legal_leads(self, hand):
        if self.opens_with_clubs():
            return self.opening(hand)
        others = [card for card in hand if card[1] != "s"]
        free = self.break_spades == "off" or (self.break_spades == "standard" and self.is_broken)
        return hand if free else others or hand

    def legal_follows(self, hand):
        if self.opens_with_clubs():
            return self.opening(hand)
        return [card for card in hand if card[1] == self.trick[0][1][1]] or hand

    def opens_with_clubs(self):
        return self.first_lead == "low_club" and self.number == 1

    @staticmethod
    def opening(hand):
        """What may be played to a first trick of clubs (4.4)."""
        clubs = sorted((card for card in hand if card[1] == "c"), key=lambda card: ORDER.index(card[0]))
        return clubs[:1] or [card for card in hand if card[1] != "s"] or hand

    # -- what happens --------------------------------------------------------------------------------------------

    def act(self, what):
        """Bid, look, give or play; returns whether the hand is over."""
        player = self.to_act
        if self.is_playing:
            return self.play(player, what)
        if self.exchanges:
            self.give(player, what)
        elif what == "look":
            self.unseen.remove(player)
        else:
            if what == "blind nil":
                self.unseen.remove(player)
                self.blind.add(player)
            self.bids[player] = 0 if what == "blind nil" else what
            self.to_act = (player + 1) % 4
            if len(self.bids) == 4:
                self.end_bidding()
        return False

    def end_bidding(self):
        """List who gives a card to whom (3.5)."""
        for p in self.order:
            if p in self.blind and (p + 2) % 4 not in self.blind:
                self.exchanges += [p] * self.blind_nil_pass + [(p + 2) % 4] * self.blind_nil_pass
        self.next_exchange()

    def next_exchange(self):
        self.is_playing = not self.exchanges
        self.to_act = self.exchanges[0] if self.exchanges else self.order[0]

    def give(self, player, card):
        self.hands[player].remove(card)
        self.hands[(player + 2) % 4].append(card)
        self.exchanges.pop(0)
        self.next_exchange()

    def play(self, player, card):
        self.hands[player].remove(card)
        self.is_broken = self.is_broken or card[1] == "s"
        self.trick.append((player, card))
        self.to_act = (player + 1) % 4
        if len(self.trick) == 4:
            self.end_trick()
        if any(self.hands) or self.trick:
            return False
        self.end_hand()
        return True

    def end_trick(self):
        led = "c" if self.opens_with_clubs() else self.trick[0][1][1]
        worth = {card: (card[1] == "s", card[1] == led, ORDER.index(card[0])) for _, card in self.trick}
        self.to_act = max(self.trick, key=lambda played: worth[played[1]])[0]
        self.won[self.to_act] += 1
        self.trick = []
        self.number += 1

    # -- what it is worth ----------------------------------------------------------------------------------------

    def end_hand(self):
        for side, players in enumerate(self.sides):
            points, bags = self.score(players)
            for _ in range(bags):
                self.bags[side] += 1
                if self.bags[side] == self.bag_limit:
                    self.bags[side], points = 0, points - self.bag_penalty
            self.scores[side] += points
        self.dealer = (self.dealer + 1) % 4
        if self.target is None:
            self.pay_hand()
        else:
            self.pay_match()

    def score(self, players):
        """The points and bags of a side (5.1 to 5.4)."""
        nils = [p for p in players if self.bids[p] == 0]
        helpful = sum(self.won[p] for p in players if p not in nils or self.failed_nil == "count")
        bags = sum(self.won[p] for p in players) - helpful
        points = 0
        for p in nils:
            value = self.blind_nil_points if p in self.blind else self.nil_points
            points += value if self.won[p] == 0 else -value
        contract = sum(self.bids[p] for p in players)
        if helpful >= contract:
            points += 10 * contract
            bags += helpful - contract
        else:
            points -= 10 * contract
        return points + self.bag_points * bags, bags

    def pay_hand(self):
        others = len(self.sides) - 1
        self.returns = [0.0] * 4
        for p in range(4):
            own = self.scores[self.side(p)]
            self.returns[p] = own - (sum(self.scores) - own) / others

    def pay_match(self):
        best = max(self.scores)
        leaders = [side for side, score in enumerate(self.scores) if score == best]
        is_over = best >= self.target or (self.lose_at is not None and min(self.scores) <= self.lose_at)
        if len(leaders) == 1 and (is_over or self.hands_begun == 50):
            self.returns = [1 if self.side(p) == leaders[0] else -1 / (len(self.sides) - 1) for p in range(4)]
        elif self.hands_begun == 50:
            self.returns = [0, 0, 0, 0]
