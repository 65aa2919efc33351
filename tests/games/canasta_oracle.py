"""A slow and obvious second implementation of Canasta, written from the rules alone.

`Turn` is the position of a player in the middle of a turn; `legal_steps` tries whole turns: a step is legal if some
sequence of steps after it ends the turn by the rules. `Deal` plays a whole deal, card by card, and scores it.
"""

import functools
from collections import Counter
from dataclasses import dataclass, replace

RANKS = "456789TJQKA"
KINDS = (*RANKS, "2", "JK", "B", "R")  # B and R: black and red threes
VALUES = {**dict.fromkeys("4567", 5), **dict.fromkeys("89TJQK", 10), "A": 20, "2": 20, "JK": 50, "B": 5, "R": 0}
MELDS = (*RANKS, "B", "W")  # W: wild cards alone


def kind_of(card):
    """Return the kind of a card such as "Kh", "3d" or "JK"."""
    if card == "JK":
        return "JK"
    if card[0] == "3":
        return "B" if card[1] in "sc" else "R"
    return card[0]


@dataclass(frozen=True)
class Rules:
    """The options that matter, resolved."""

    players: int = 2
    hand_size: int = 15
    draws: int = 2
    canastas: int = 2
    most_wilds: int = 3
    fewer_wilds: bool = False
    wild_melds: bool = False
    exempt: bool = True
    ask: bool = False
    forced: bool = True


@dataclass(frozen=True)
class Turn:
    """A position within a turn. Hands and piles are tuples of kinds; melds are (name, naturals, jokers, twos)."""

    rules: Rules
    phase: str
    hand: tuple
    melds: tuple = ()
    pile: tuple = ()  # bottom first
    stock: int = 10
    opened: bool = False  # before this turn
    minimum: int = 50
    points: int = 0  # melded in this turn
    first: int = 0
    laid: bool = False
    blacks: bool = False  # black threes have been laid
    taken: bool = False
    no_discard: bool = False
    answer: str = ""  # "yes" or "no" of the partner
    frozen: bool = False

    def meld(self, name):
        return next(((n, j, t) for m, n, j, t in self.melds if m == name), (0, 0, 0))


def legal_steps(turn):
    """Return the steps with which some legal whole turn begins."""
    return {step for step, after in steps(turn) if after is None or can_end(after)}


@functools.lru_cache(maxsize=200_000)
def can_end(turn):
    """Whether the turn can be ended legally."""
    return any(after is None or can_end(after) for _, after in steps(turn))


def steps(turn):
    """Yield the steps that are possible by themselves, and the position after each, or None if the turn is over."""
    if turn.phase == "draw":
        yield from draws(turn)
        return
    if turn.phase == "meld":
        yield from ends(turn)
        if turn.rules.ask and not turn.laid and not turn.answer and can_end(replace(turn, answer="yes")):
            yield ("ask",), None
    yield from lays(turn)


def draws(turn):
    if turn.stock:
        yield ("draw",), None
    takes = list(takes_of(turn))
    yield from takes
    must = turn.rules.forced and any(step == ("take", "add") and (a is None or can_end(a)) for step, a in takes)
    if not turn.stock and not must:
        yield ("end",), None


def takes_of(turn):
    """Yield the ways to take the pile (6)."""
    if not turn.pile or turn.pile[-1] not in RANKS or (len(turn.pile) == 1 and len(turn.hand) == 1):
        return
    rank, hand = turn.pile[-1], Counter(turn.hand)
    frozen = turn.frozen or not turn.opened
    has_meld = sum(turn.meld(rank)) > 0
    ways = []
    if not frozen and has_meld:
        ways = [("add", 0, 0, 0)]
    elif frozen:
        ways = [("pair", 2, 0, 0)]
    else:
        ways = [("pair", 2, 0, 0), ("JK", 1, 1, 0), ("2", 1, 0, 1)]
    for name, n, j, t in ways:
        if hand[rank] < n or hand["JK"] < j or hand["2"] < t or j + t > wild_limit(turn.rules, n + 1):
            continue
        after = replace(turn, phase="take", pile=turn.pile[:-1], taken=True)
        after = put(after, rank, n + 1, j, t, from_pile=True)
        yield ("take", name), take_rest(replace(after, first=0))


def wild_limit(rules, naturals):
    return min(rules.most_wilds, naturals - 1) if rules.fewer_wilds else rules.most_wilds


def put(turn, name, n, j, t, from_pile=False):
    """Move cards from the hand, and with `from_pile` one natural card from the pile, to a meld."""
    kind = name
    hand = Counter(turn.hand)
    hand[kind] -= n - from_pile
    hand["JK"] -= j
    hand["2"] -= t
    assert min(hand.values()) >= 0
    old = turn.meld(name)
    rest = tuple(meld for meld in turn.melds if meld[0] != name)
    melds = tuple(sorted((*rest, (name, old[0] + n, old[1] + j, old[2] + t))))
    points = n * VALUES.get(kind, 0) + 50 * j + 20 * t
    return replace(
        turn, hand=tuple(sorted(hand.elements())), melds=melds, points=turn.points + points, laid=True,
        first=MELDS.index(name) + 1, blacks=turn.blacks or name == "B",
    )  # fmt: skip


def take_rest(turn):
    """Take the pile if the initial minimum is reached; None if that ends the turn by going out legally."""
    if not turn.opened and turn.points < turn.minimum:
        return turn
    hand = tuple(sorted((*turn.hand, *(kind for kind in turn.pile if kind != "R"))))
    return over(replace(turn, hand=hand, pile=(), phase="meld", first=0))


def over(turn):
    """Return None if the turn is over because no card is left, which must be legal; else the turn."""
    return None if turn.phase == "meld" and not turn.hand and may_go_out(turn) else turn


def lays(turn):
    """Yield the ways to lay cards (4)."""
    hand = Counter(turn.hand)
    for name in MELDS[turn.first :]:
        old = turn.meld(name)
        for n in range(hand[name] + 1 if name != "W" else 1):
            for j in range(hand["JK"] + 1 if name != "B" else 1):
                for t in range(hand["2"] + 1 if name != "B" else 1):
                    if n + j + t and fits(turn, name, old[0] + n, old[1] + old[2] + j + t):
                        after = put(turn, name, n, j, t)
                        if turn.phase == "take":
                            after = take_rest(after)
                        yield ("lay", name, n, j, t), after if after is None else over(after)


def fits(turn, name, naturals, wilds):
    """Whether a meld may consist of this."""
    if naturals + wilds < 3:
        return False
    if name == "B":
        return turn.phase == "meld" and naturals in (3, 4) and not wilds
    if name == "W":
        return turn.rules.wild_melds
    return naturals >= 2 and wilds <= wild_limit(turn.rules, naturals)


def ends(turn):
    """Yield the ways to end the turn with cards in hand (3.4, 3.5)."""
    reached = turn.opened or not turn.laid or turn.points >= turn.minimum
    stays = reached and not turn.blacks and turn.answer != "yes"
    if turn.no_discard:
        if turn.hand and stays:
            yield ("done",), None
        return
    for kind in set(turn.hand):
        if (len(turn.hand) >= 2 and stays) or (len(turn.hand) == 1 and may_go_out(turn)):
            yield ("discard", kind), None


def may_go_out(turn):
    """Whether the player, who holds no card or discards the last one, may go out (7)."""
    if turn.answer == "no" or sum(n + j + t >= 7 for _, n, j, t in turn.melds) < turn.rules.canastas:
        return False
    if turn.opened or turn.points >= turn.minimum:
        return True
    return turn.rules.exempt and not turn.taken


# ---------------------------------------------------------------------------------------------------------------
# Whole deals


class Deal:
    """A deal with an explicit deck, card by card: player 0 begins.

    Attributes:
        hands: lists of cards. known: for each player, the cards in hand that all have seen.
        melds: for each side, the cards of each meld. scores: for each side, at the end.
    """

    def __init__(self, rules, deck):
        self.rules, self.stock = rules, list(deck)
        n = rules.players
        self.sides = 3 if n == 3 else 2
        self.hands = [[self.stock.pop(0) for _ in range(rules.hand_size)] for _ in range(n)]
        self.known = [[] for _ in range(n)]
        self.reds = [[] for _ in range(n)]
        self.melds = [{} for _ in range(self.sides)]
        self.pile, self.frozen, self.scores = [], False, None
        self.ever_melded = [False] * n
        while True:
            self.pile.append(self.stock.pop(0))
            if kind_of(self.pile[-1]) not in ("R", "2", "JK"):
                break
            self.frozen = True
        for p in range(n):
            self.lay_reds(p, True)
        self.begin(0)

    def side(self, p):
        return p if self.rules.players == 3 else p % 2

    def begin(self, p):
        self.player, self.phase, self.points, self.laid = p, "draw", 0, []
        self.opened = bool(self.melds[self.side(p)])
        self.old = set(self.melds[self.side(p)])
        self.concealed, self.no_discard, self.taken = not self.ever_melded[p], False, False

    def lay_reds(self, p, replaced):
        while reds := [card for card in self.hands[p] if kind_of(card) == "R"]:
            for card in reds:
                self.hands[p].remove(card)
                if card in self.known[p]:
                    self.known[p].remove(card)
                self.reds[p].append(card)
                if replaced and self.stock:
                    self.hands[p].append(self.stock.pop(0))
                elif replaced:
                    self.no_discard = True

    def draw(self):
        for _ in range(self.rules.draws):
            if self.stock:
                self.hands[self.player].append(self.stock.pop(0))
                self.lay_reds(self.player, True)
        self.phase = "meld"

    def take(self, how):
        card = self.pile.pop()
        rank = kind_of(card)
        self.melds[self.side(self.player)].setdefault(rank, []).append(card)
        self.points += VALUES[rank]
        self.phase, self.taken = "take", True
        n, j, t = {"pair": (2, 0, 0), "JK": (1, 1, 0), "2": (1, 0, 1), "add": (0, 0, 0)}[how]
        self.lay(rank, n, j, t)

    def lay(self, name, n, j, t):
        meld = self.melds[self.side(self.player)].setdefault(name, [])
        for kind, number in ((name, n), ("JK", j), ("2", t)):
            for _ in range(number):
                meld.append(self.leave(kind))
                self.points += VALUES[kind]
        if name in self.old:
            self.concealed = False
        self.ever_melded[self.player] = True
        if self.phase == "take" and (self.opened or self.points >= self.minimum):
            self.hands[self.player] += self.pile
            self.known[self.player] += self.pile
            self.pile, self.frozen, self.phase = [], False, "meld"
            self.lay_reds(self.player, False)
        if self.phase == "meld" and not self.hands[self.player]:
            self.end(self.player)

    minimum = 50

    def leave(self, kind, card=None):
        """Remove a card of a kind from the hand, one that all know if there is one, else the first by suit s c d h."""
        hand, known = self.hands[self.player], self.known[self.player]
        order = {suit: k for k, suit in enumerate("scdhK")}
        if card is None:
            of_kind = [one for one in hand if kind_of(one) == kind]
            card = min(of_kind, key=lambda one: (one not in known, order[one[1]]))
        hand.remove(card)
        if card in known:
            known.remove(card)
        return card

    def discard(self, card):
        self.pile.append(self.leave(None, card))
        if kind_of(card) in ("2", "JK"):
            self.frozen = True
        if not self.hands[self.player]:
            self.end(self.player)
        else:
            self.begin((self.player + 1) % self.rules.players)

    def end(self, out=None):
        """Score the deal (9)."""
        self.scores = []
        for side in range(self.sides):
            score = 0
            for name, meld in self.melds[side].items():
                wilds = sum(kind_of(card) in ("2", "JK") for card in meld)
                if len(meld) >= 7:
                    score += 1000 if name == "W" else 300 if wilds else 500
                score += sum(VALUES[kind_of(card)] for card in meld)
            reds = sum(len(self.reds[p]) for p in range(self.rules.players) if self.side(p) == side)
            red_points = 800 if reds == 4 else 100 * reds
            score += red_points if self.melds[side] else -red_points
            for p in range(self.rules.players):
                if self.side(p) == side:
                    score -= sum(VALUES[kind_of(card)] for card in self.hands[p])
            if out is not None and side == self.side(out):
                new = [m for m, meld in self.melds[side].items() if m not in self.old and len(meld) >= 7]
                score += 200 if self.concealed and new else 100
            self.scores.append(score)
        self.phase = "over"

    def returns(self):
        """Return what each player gets: the score of the side less the mean of the others' (10.1)."""
        total = sum(self.scores)
        own = [self.scores[self.side(p)] for p in range(self.rules.players)]
        return [score - (total - score) / (self.sides - 1) for score in own]
