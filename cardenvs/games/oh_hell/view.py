"""Texts and picture of Oh Hell."""

from cardenvs.games.oh_hell import rules
from cardenvs.kits.bids import BidView
from cardenvs.kits.cards import PackView
from cardenvs.kits.trick_deals import DealView
from cardenvs.kits.tricks import MUST_FOLLOW, NOT_HELD
from cardenvs.kits.trumps import TrumpView

_REASONS = {
    NOT_HELD: "that card is not in hand (rules.md 4.1)",
    MUST_FOLLOW: "the suit that was led, {led}, must be followed (rules.md 4.1)",
    rules.BIDS_COME_FIRST: "cards are played once all have bid; make a bid (rules.md 3.1)",
    rules.BIDS_ARE_OVER: "all have bid; play a card (rules.md 3.1)",
    rules.TOO_MANY: "a bid is at most the number of cards that each player was dealt (rules.md 3.1)",
    rules.HOOKED: "the bids would add up to the number of tricks, which the dealer must prevent (rules.md 3.2)",
}


class OhHellView(BidView, TrumpView, DealView, PackView):
    """Words of Oh Hell."""

    pack, bids, tricks, trick_pile = rules.PACK, rules.BIDS, rules.TRICKS, "trick"
    phases = ("bidding", "play")
    reasons = _REASONS

    def prompt(self, s):
        if s.phase == rules.PLAY:
            return super().prompt(s)
        barred = int(rules.barred_bid(s))
        hook = f", but not {barred}" if 0 <= barred <= s.hand_size else ""
        return f"How many tricks will you win? Bid 0 to {s.hand_size}{hook}."

    def facts(self, s, player):
        return super().facts(s, player) | {"scores": s.scores[: int(s.rules.num_players)].tolist()}
