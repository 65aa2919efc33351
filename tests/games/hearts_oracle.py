"""Hearts once more, slow and obvious, from rules.md: lists of card texts instead of bit sets."""

ORDER = "23456789TJQKA"


class Oracle:
    """A game that is given the hands of each deal, and plays along."""

    def __init__(self, num_players=4, **options):
        self.n = num_players
        self.passing = options.get("passing", "cycle")
        self.pass_count = options.get("pass_count", 3)
        self.lead_any_club = options.get("lead_any_club", False)
        self.first_trick_points = options.get("first_trick_points", False)
        self.must_break_hearts = options.get("must_break_hearts", True)
        self.qs_breaks_hearts = options.get("qs_breaks_hearts", True)
        self.lead_hearts_instead_of_qs = options.get("lead_hearts_instead_of_qs", False)
        self.queen_points = options.get("queen_points", 13)
        self.jd_bonus = options.get("jd_bonus", False)
        self.no_trick_bonus = options.get("no_trick_bonus", False)
        self.moon = options.get("moon", "others_plus")
        self.moon_needs_jd = options.get("moon_needs_jd", False)
        self.target = options.get("target")
        self.tie = options.get("tie", "play_on")
        self.reward = options.get("reward", "relative")
        self.number = 0
        self.scores = [0] * num_players
        self.points_by_hand = []
        self.returns = None

    def begin_hand(self, hands):
        self.number += 1
        self.hands = [list(hand) for hand in hands]
        self.chosen = [[] for _ in range(self.n)]
        self.taken = [[] for _ in range(self.n)]
        self.tricks = [0] * self.n
        self.trick = []
        self.is_first, self.is_broken, self.shooter = True, False, None
        self.steps = self._steps()
        self.is_passing = self.steps != 0
        self.to_act = 0
        if not self.is_passing:
            self._open()

    def _steps(self):
        """How many seats to the left cards go."""
        ways = {"none": ["hold"], "left": ["left"], "right": ["right"], "across": ["across"]}
        ways["cycle"] = ["left", "right", "across", "hold"]
        ways["cycle_lra"] = ["left", "right", "across"]
        cycle = [way for way in ways[self.passing] if self.n == 4 or way != "across"]
        return {"hold": 0, "left": 1, "right": -1, "across": 2}[cycle[(self.number - 1) % len(cycle)]]

    def _open(self):
        self.lowest = "3c" if self.n == 5 else "2c"
        self.to_act = next(p for p, hand in enumerate(self.hands) if self.lowest in hand)

    # -- what is legal -------------------------------------------------------------------------------------------

    def legal(self):
        if self.shooter is not None:
            return ["subtract", "add"]
        hand = self.hands[self.to_act]
        if self.is_passing:
            return hand
        if not self.trick:
            return self._legal_leads(hand)
        cards = [card for card in hand if card[1] == self.trick[0][1][1]] or hand
        if self.is_first and not self.first_trick_points:
            return [card for card in cards if not self._is_bad(card)] or cards
        return cards

    def _legal_leads(self, hand):
        if self.is_first:
            return [card for card in hand if card[1] == "c" and (self.lead_any_club or card == self.lowest)]
        if self.is_broken or not self.must_break_hearts or all(card[1] == "h" for card in hand):
            return hand
        others = [card for card in hand if card[1] != "h"]
        return hand if others == ["Qs"] and self.lead_hearts_instead_of_qs else others

    @staticmethod
    def _is_bad(card):
        return card[1] == "h" or card == "Qs"

    # -- what happens --------------------------------------------------------------------------------------------

    def act(self, what):
        """Pass or play a card, or say how a moon is scored; returns whether a hand is over."""
        if self.shooter is not None:
            self._score_moon(what == "add")
            return self._end_hand()
        self.hands[self.to_act].remove(what)
        if self.is_passing:
            return self._choose(what)
        if what[1] == "h" or (what == "Qs" and self.qs_breaks_hearts):
            self.is_broken = True
        self.trick.append((self.to_act, what))
        self.to_act = (self.to_act + 1) % self.n
        return len(self.trick) == self.n and self._end_trick()

    def _choose(self, card):
        self.chosen[self.to_act].append(card)
        if len(self.chosen[self.to_act]) == self.pass_count:
            self.to_act += 1
        if self.to_act == self.n:
            self.is_passing = False
            for p, cards in enumerate(self.chosen):
                self.hands[(p + self.steps) % self.n] += cards
            self._open()
        return False

    def _end_trick(self):
        suit = self.trick[0][1][1]
        winner, _ = max(
            ((p, card) for p, card in self.trick if card[1] == suit), key=lambda pair: ORDER.index(pair[1][0])
        )
        self.taken[winner] += [card for _, card in self.trick]
        self.tricks[winner] += 1
        self.trick, self.to_act, self.is_first = [], winner, False
        return not any(self.hands) and self._end_play()

    def _end_play(self):
        self.points = [sum(map(self._points, cards)) for cards in self.taken]
        needed = 14 + self.moon_needs_jd
        for p, cards in enumerate(self.taken):
            found = sum(self._is_bad(card) or (self.moon_needs_jd and card == "Jd") for card in cards)
            if found == needed and self.moon != "off":
                self.shooter = self.to_act = p
        if self.shooter is None:
            self.points = [
                points - 5 * (self.no_trick_bonus and tricks == 0)
                for points, tricks in zip(self.points, self.tricks, strict=True)
            ]
            return self._end_hand()
        if self.moon == "choice":
            return False
        self._score_moon(self.moon == "others_plus")
        return self._end_hand()

    def _points(self, card):
        if card[1] == "h":
            return 1
        return self.queen_points if card == "Qs" else -10 if card == "Jd" and self.jd_bonus else 0

    def _score_moon(self, adds):
        total = 13 + self.queen_points
        for p in range(self.n):
            if p == self.shooter:
                self.points[p] -= total if adds else 2 * total
            elif adds:
                self.points[p] += total

    def _end_hand(self):
        self.scores = [score + points for score, points in zip(self.scores, self.points, strict=True)]
        self.points_by_hand.append(self.points)
        if self.target is None:
            par = sum(self.points) / self.n if self.reward == "relative" else 13 + self.queen_points
            self.returns = [par - points for points in self.points]
            return True
        best = [p for p, score in enumerate(self.scores) if score == min(self.scores)]
        is_over = max(self.scores) >= self.target and (len(best) == 1 or self.tie == "share")
        if is_over or self.number == 100:
            pot = (self.n - len(best)) / (self.n - 1)
            self.returns = [pot / len(best) if p in best else -1 / (self.n - 1) for p in range(self.n)]
        return True
