"""Texas hold'em against PokerKit, hand by hand: the same choices at every decision, the same stacks in the end.

The six spots of rules.md 11 in which PokerKit plays otherwise are recognised one by one and counted; where the
difference would change the rest of the hand (11.3, 11.6), the hand is left there.
"""

import random
from collections import Counter

import pytest
from holdem import pots

from cardenvs.core.kernel import COMPILED
from cardenvs.games.texas_holdem import GAME, hand_rank
from cardenvs.games.texas_holdem.actions import NOT_REOPENED
from cardenvs.games.texas_holdem.legal import raise_refused

pokerkit = pytest.importorskip("pokerkit")

_AUTOMATIC = tuple(
    getattr(pokerkit.Automation, name)
    for name in (
        "ANTE_POSTING", "BET_COLLECTION", "BLIND_OR_STRADDLE_POSTING", "HOLE_CARDS_SHOWING_OR_MUCKING", "HAND_KILLING",
        "CHIPS_PUSHING", "CHIPS_PULLING",
    )
)  # fmt: skip
SMALL_BLIND, BIG_BLIND = 10, 20
LARGE = 1_000_003  # chips of a small one, where stacks are as in the largest tournaments


class Hand:
    """One hand, dealt alike in both engines. Their player 0 is the first from the button's left."""

    def __init__(self, chooser, ante_type="all", unit=1):
        n = chooser.choice((2, 2, 3, 4, 5, 6, 7, 8, 9))
        depth = chooser.choice((60, 200, 600, 3000))
        ante = unit * chooser.choice((0, 0, 0, 5) if ante_type == "all" else (5, 20, 50))
        depth = min(depth, 900_000_000 // unit // n - 50)
        least = 1 if chooser.random() < 0.2 else 25
        stacks = [ante + unit * chooser.randrange(least, max(depth, 40)) + chooser.randrange(unit) for _ in range(n)]
        self.big_blind = BIG_BLIND * unit
        blinds = (SMALL_BLIND * unit, self.big_blind)
        self.cards = chooser.sample(GAME.deck_text(range(52)).split(), 2 * n + 5)
        self.ours = GAME.new_state(
            seed=0, num_players=n, format="cash", stacks=stacks, blinds=blinds, ante=ante, ante_type=ante_type,
            button=chooser.randrange(n), deck=" ".join(self.cards),
        )  # fmt: skip
        first = (int(self.ours.record.button) + 1) % n
        self.seat_of = [(first + k) % n for k in range(n)]
        self.theirs = pokerkit.NoLimitTexasHoldem.create_state(
            _AUTOMATIC, ante_type == "all", ante if ante_type == "all" else {1: ante}, blinds, self.big_blind,
            tuple(stacks[s] for s in self.seat_of), n,
        )  # fmt: skip
        payer = int(self.ours.record.big_blind_seat)
        self.ante_first = ante_type == "big_blind" and stacks[payer] < ante + self.big_blind
        for seat in self.seat_of:
            self.theirs.deal_hole("".join(self.cards[2 * seat : 2 * seat + 2]))
        self.full_raises = 0  # on this street
        self.acted = set()  # on this street
        self.short_raises = []  # the last short all-ins of this street, as PokerKit counts them
        self.street = self.ours.phase

    def run_out_theirs(self):
        """Deal their board where nothing is to be decided."""
        board = self.cards[2 * len(self.seat_of) :]
        while self.theirs.status and self.theirs.actor_index is None:
            if self.theirs.can_burn_card():
                self.theirs.burn_card("??")
            else:
                dealt = sum(1 for _ in self.theirs.get_board_cards(0))
                self.theirs.deal_board("".join(board[dealt : 3 if dealt == 0 else dealt + 1]))

    def compare(self, seen):
        """Both ask the same player for the same amounts, or differ in a known spot; returns our options."""
        self.run_out_theirs()
        ours, theirs = self.ours.legal_options(), self.theirs
        assert self.seat_of[theirs.actor_index] == ours.player
        if self.ours.phase != self.street:
            self.street, self.full_raises, self.acted, self.short_raises = self.ours.phase, 0, set(), []
        their_low, their_high = theirs.min_completion_betting_or_raising_to_amount, None
        if their_low is not None:
            their_high = theirs.max_completion_betting_or_raising_to_amount
        here = (ours.call_amount, ours.min_raise_to, ours.max_raise_to)
        there = (theirs.checking_or_calling_amount, their_low, their_high)
        if here != there:
            spot = self.known_spot(ours, here, there)
            assert spot, (self.ours.recap(ours.player), here, there)
            seen[spot] += 1
            if spot in ("11.3 short big blind", "11.5 one more short all-in"):
                return None  # from here on they play another hand
        return ours

    def known_spot(self, ours, here, there):
        """Which of the spots of rules.md 11 this is."""
        s, p = self.ours.record, ours.player
        bets = [int(bet) for bet in s.bets[s.street]]
        if s.street == 0 and 0 < bets[s.big_blind_seat] < self.big_blind and not s.raises[0].any():
            their_call = min(ours.stack, max(bets) - bets[p])
            if here[0] >= there[0] == their_call and (here[1] is None or here[1] >= there[1]):
                return "11.3 short big blind"
        reopened_there_only = raise_refused(s, p) == NOT_REOPENED and here[0] == there[0] and there[1] is not None
        if reopened_there_only and p in self.acted and self.full_raises == 0 and here[0] < s.last_raise:
            return "11.1 limper" if s.street == 0 else "11.2 checker"
        refused_there_only = here[0] == there[0] and here[1] is not None and there[1] is None
        if refused_there_only and s.acted_since_full >> p & 1 and here[0] >= s.last_raise > sum(self.short_raises) > 0:
            return "11.5 one more short all-in"
        return None

    def apply(self, chooser, ours):
        """Make one random move in both."""
        choices = ["fold"] * 2 if "fold" in ours.kinds else []
        choices += ["check_call"] * 4
        if ours.min_raise_to is not None:
            choices += ["least", "least", "any", "all"]
        choice = chooser.choice(choices)
        if choice == "fold":
            self.ours.act("fold")
            self.theirs.fold()
            return
        self.acted.add(ours.player)
        if choice == "check_call":
            self.ours.act("check_call")
            self.theirs.check_or_call()
            return
        total = {"least": ours.min_raise_to, "all": ours.max_raise_to}.get(
            choice, chooser.randint(ours.min_raise_to, ours.max_raise_to)
        )
        s = self.ours.record
        self.full_raises += bool(total - s.to_match >= s.last_raise)
        self.count_short_raises(total - int(s.to_match), int(s.last_raise), total == ours.max_raise_to)
        self.ours.act("raise_to", total)
        self.theirs.complete_bet_or_raise_to(total)

    def count_short_raises(self, size, full, is_all_in):
        """PokerKit adds up short all-ins until they are a full raise together, and then begins again at nothing."""
        self.short_raises = [*self.short_raises, size] if is_all_in else []
        if sum(self.short_raises) >= max(size, full):
            self.short_raises = []

    def compare_end(self, seen):
        """The same stacks, but for odd chips; where we ask nobody any more, they may offer a lone player a check."""
        self.run_out_theirs()
        while self.theirs.status:
            assert self.theirs.checking_or_calling_amount == 0
            assert not self.theirs.can_complete_bet_or_raise_to()
            self.theirs.check_or_call()
            self.run_out_theirs()
        settled = [(amount, eligible, self.winners(eligible)) for amount, eligible in pots(self.ours)]
        wanted = self.ours.stacks
        if any(amount % len(winners) for amount, _, winners in settled):
            for amount, _, winners in settled:
                self.divide(-amount, winners, 1, wanted)
            for amount, winners in self.joined(settled):
                self.divide(amount, winners, amount, wanted)
            seen["11.4 odd chips"] += wanted != self.ours.stacks
        assert [wanted[seat] for seat in self.seat_of] == list(self.theirs.stacks)

    def winners(self, eligible):
        """Who wins a pot, from the button's left."""
        ranks = {p: self.rank(p) if len(eligible) > 1 else 0 for p in eligible}
        return [seat for seat in self.seat_of if ranks.get(seat) == max(ranks.values())]

    def joined(self, settled):
        """The pots as they are divided by PokerKit: those that the same of the winning players play for are one."""
        any_winner = {seat for _, _, winners in settled for seat in winners}
        pots_of: dict[frozenset, list] = {}
        for amount, eligible, winners in settled:
            pot = pots_of.setdefault(frozenset(eligible & any_winner), [0, winners])
            pot[0] += amount
        return pots_of.values()

    def divide(self, amount, winners, most_odd, stacks):
        """Give a pot (or take it, if negative) to its winners, up to `most_odd` odd chips to each from the first on."""
        share, odd = divmod(abs(amount), len(winners))
        for seat in winners:
            extra = min(odd, most_odd)
            odd -= extra
            stacks[seat] += (share + extra) * (1 if amount > 0 else -1)

    def rank(self, seat):
        return hand_rank(" ".join(self.cards[2 * seat : 2 * seat + 2] + self.cards[-5:]))


def play(seed, seen, **table):
    chooser = random.Random(seed)
    try:
        hand = Hand(chooser, **table)
    except ValueError:
        seen["nothing to decide"] += 1
        return
    if hand.ante_first:
        seen["11.6 ante first"] += 1
        return
    while not hand.ours.is_terminal:
        ours = hand.compare(seen)
        if ours is None:
            return
        hand.apply(chooser, ours)
        seen["decisions"] += 1
    hand.compare_end(seen)
    seen["whole hands"] += 1


def compare_hands(first, number, **table):
    seen = Counter()
    for seed in range(first, first + number):
        play(seed, seen, **table)
    assert seen["whole hands"] > (0.7 if table else 0.85) * number, seen
    return seen


@pytest.mark.rotating
def test_hands_are_pokerkits():
    compare_hands(0, 1000 if COMPILED else 40)


@pytest.mark.slow
def test_many_hands_are_pokerkits():
    seen = compare_hands(10_000, 20_000)
    assert all(seen[spot] for spot in ("11.1 limper", "11.2 checker", "11.3 short big blind", "11.4 odd chips")), seen


TABLES = [{"ante_type": "big_blind"}, {"unit": LARGE}, {"ante_type": "big_blind", "unit": LARGE}]


@pytest.mark.rotating
@pytest.mark.parametrize("table", TABLES, ids=str)
def test_hands_with_big_blind_antes_and_large_stacks_are_pokerkits(table):
    compare_hands(0, 300 if COMPILED else 20, **table)


@pytest.mark.slow
@pytest.mark.parametrize("table", TABLES, ids=str)
def test_many_hands_with_big_blind_antes_and_large_stacks_are_pokerkits(table):
    compare_hands(10_000, 5_000, **table)
