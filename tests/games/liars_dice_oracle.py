"""A slow second implementation of liar's dice, written from the rules' text: lists of dice, bids as pairs.

Chance comes from outside: `begin` takes everybody's dice.
"""

from dataclasses import dataclass, field

EXACT_BIDDINGS = 100


@dataclass
class Oracle:
    """A game; the options are those of the game under test."""

    num_players: int = 2
    dice: int = 5
    sides: int = 6
    wild: str = "sixes"
    bidding: str = "quantity_first"
    ones_bids: str = "plain"
    open_on_ones: bool = True
    format: str = "single"
    loss: str = "one"
    exact_call: bool = False
    palifico: bool = False
    to_act: int = 0
    biddings: int = 0
    special: bool = False  # whether this bidding is a palifico
    over: bool = False
    rolls: list = field(default_factory=list)  # each player's dice
    shown: list = field(default_factory=list)  # the same of the bidding before
    bids: list = field(default_factory=list)  # (player, quantity, face) of this bidding

    def __post_init__(self):
        self.numbers = [self.dice] * self.num_players
        self.returns = [0.0] * self.num_players
        self.were_special = set()

    def begin(self, rolls):
        """Begin a bidding with everybody's dice."""
        assert [len(roll) for roll in rolls] == self.numbers
        self.rolls, self.bids = [sorted(roll) for roll in rolls], []
        self.biddings += 1

    def matches(self, face):
        """How many of all dice count for a face (1.3)."""
        wild = {"none": None, "ones": 1, "sixes": self.sides}[self.wild]
        good = {face} if self.special or wild is None else {face, wild}
        return sum(die in good for roll in self.rolls for die in roll)

    def is_higher(self, new, old):
        """Whether a bid may follow another (2.2, 2.3, 2.5, 4.6); both are (quantity, face)."""
        (q, f), (old_q, old_f) = new, old
        if self.special:
            return f == old_f and q > old_q
        if self.bidding == "face_first":
            return (f, q) > (old_f, old_q)
        if self.ones_bids == "halved":
            if f == 1 and old_f == 1:
                return q > old_q
            if f == 1:
                return q >= old_q / 2
            if old_f == 1:
                return q >= 2 * old_q + 1
        return (q, f) > (old_q, old_f)

    def legal(self):
        """All that the player to act may do: pairs, "liar" and "exact"."""
        every = [(q, f) for q in range(1, sum(self.numbers) + 1) for f in range(1, self.sides + 1)]
        if not self.bids:
            barred = self.ones_bids == "halved" and not self.open_on_ones and not self.special
            return [bid for bid in every if not (barred and bid[1] == 1)]
        found = [bid for bid in every if self.is_higher(bid, self.bids[-1][1:])]
        found.append("liar")
        if self.exact_call and self.biddings <= EXACT_BIDDINGS:
            found.append("exact")
        return found

    def act(self, action):
        """Bid or call; returns whether this ended the bidding."""
        if action not in ("liar", "exact"):
            self.bids.append((self.to_act, *action))
            self.to_act = self.after(self.to_act)
            return False
        caller, (bidder, quantity, face) = self.to_act, self.bids[-1]
        matches = self.matches(face)
        self.shown = self.rolls
        caller_wins = matches == quantity if action == "exact" else matches < quantity
        winner, loser = (caller, bidder) if caller_wins else (bidder, caller)
        if self.format == "single":
            self.returns[winner], self.returns[loser], self.over = 1, -1, True
        elif action == "exact" and caller_wins:
            self.numbers[caller] = min(self.numbers[caller] + 1, self.dice)
            self.special = False
        else:
            cost = 1
            if self.loss == "difference" and action == "liar":
                cost = max(1, abs(matches - quantity))
            self.lose(loser, cost)
        return True

    def leave(self):
        """The player to act leaves (5.1, 5.2); returns whether a new bidding begins."""
        player = self.to_act
        if self.format == "single":
            self.returns = [1 / (self.num_players - 1)] * self.num_players
            self.returns[player], self.over = -1, True
            return False
        self.lose(player, self.numbers[player])
        return not self.over

    def lose(self, loser, cost):
        """Take dice from a player, and see who starts or has won (4.2, 4.5, 4.6)."""
        self.numbers[loser] = max(0, self.numbers[loser] - cost)
        self.special = self.palifico and self.numbers[loser] == 1 and loser not in self.were_special
        if self.special:
            self.were_special.add(loser)
        self.to_act = loser if self.numbers[loser] else self.after(loser)
        if sum(number > 0 for number in self.numbers) == 1:
            self.over = True
            self.returns = [1.0 if number else -1 / (self.num_players - 1) for number in self.numbers]

    def after(self, player):
        """The next player with dice."""
        while True:
            player = (player + 1) % self.num_players
            if self.numbers[player]:
                return player
