"""Texts and picture of Blackjack."""

from types import MappingProxyType

from cardenvs.core.events import OMNISCIENT, UNKNOWN
from cardenvs.core.view import GameStatistics, View
from cardenvs.games.blackjack import rules, state
from cardenvs.games.blackjack.state import BET, BET_0, HAND_NAMES, INFINITE, INSURANCE, NO_CARD, cards_in
from cardenvs.kits.cards import RANKS, card_face

_LABELS = ("stick", "hit", "double", "split", "surrender", "insure", "no insurance")
_TENTHS = 10
_TEXTS = tuple("10" if rank == "T" else rank for rank in RANKS)


class BlackjackView(View):
    """Words of Blackjack. Its tokens are ranks: suits do not matter."""

    tokens = _TEXTS
    shape = "ring"
    phases = ("bet", "insurance", "play")
    reasons = MappingProxyType(
        {
            rules.NOT_BETTING: "first you bet one of the amounts on offer (rules.md 2.2)",
            rules.NOT_INSURING: "first you say whether you take insurance (rules.md 3.2)",
            rules.NOT_PLAYING: "bets and insurance come before the play (rules.md 2.2, 3.2)",
            rules.ACES_STAND: "an ace that was split gets one card only (rules.md 4.6)",
            rules.NOT_TWO_CARDS: "the hand has more than two cards (rules.md 4.4, 4.5)",
            rules.NO_DOUBLES: "nobody may double in this game (rules.md 4.4)",
            rules.WRONG_TOTAL: "only some totals may double (rules.md 4.4)",
            rules.DOUBLE_SPLIT: "a hand from a split may not double (rules.md 4.4)",
            rules.NO_PAIR: "the two cards are not a pair (rules.md 4.5)",
            rules.TOO_MANY_HANDS: "you have as many hands as are allowed (rules.md 4.5)",
            rules.ACES_AGAIN: "aces are split only once (rules.md 4.6)",
            rules.NO_SURRENDERS: "nobody may surrender in this game (rules.md 4.7)",
            rules.NOTHING_TO_DECIDE: "there is nothing to decide in this round but to stick (rules.md 4.8)",
            rules.TOO_LATE: "only the first decision may be to surrender (rules.md 4.7)",
        }
    )
    remembered = frozenset({"unseen"})

    def token_code(self, token):
        return RANKS[token]

    def parse_token(self, text):
        return super().parse_token("10" if text.strip().lower() == "t" else text)

    def token_face(self, token):
        return card_face(RANKS[token])

    def fill_table(self, s, viewer, table):
        """Hide the dealer's second card until it is shown."""
        super().fill_table(s, viewer, table)
        hole = [] if s.hole == NO_CARD else [int(s.hole) if viewer == OMNISCIENT else UNKNOWN]
        table.put("dealer", [*cards_in(s.dealer), *hole])

    def arrange(self, s, viewer, scene):
        """Leave out hands that are not there, and give totals, stakes and the hand that is played."""
        for p in range(int(s.rules.num_players)):
            for h, name in enumerate(HAND_NAMES):
                if h and not s.sizes[p, h]:
                    del scene.piles[name, p]
            scene.notes[p] += [_hand_note(s, p, h) for h in range(int(s.num_hands[p]))]
        if s.rules.decks == INFINITE:
            del scene.piles["shoe", None], scene.piles["discards", None]

    def action_label(self, s, action):
        return f"bet {s.rules.bet_units[action - BET_0]}" if action >= BET_0 else _LABELS[action]

    def illegal_reason(self, s, action, code):
        if code == rules.WRONG_TOTAL:
            low = {state.FROM_9: 9, state.FROM_10: 10}[int(s.rules.double)]
            total = int(rules.total_of(s, int(s.current_player), int(s.hand)))
            return f"only totals from {low} to 11 may double; this is {total} (rules.md 4.4)"
        return super().illegal_reason(s, action, code)

    def prompt(self, s):
        if s.phase == BET:
            return "How much do you bet?"
        if s.phase == INSURANCE:
            return "The dealer shows an ace. Insurance?"
        if s.waits:
            return "There is nothing to decide in this round. Stick?"
        p, h = int(s.current_player), int(s.hand)
        which = f"Hand {h + 1} of {int(s.num_hands[p])}, " if s.num_hands[p] > 1 else ""
        return f"{which}{_total_text(s, p, h)} against {_TEXTS[int(s.up)]}: what do you do?"

    def facts(self, s, player):
        """Totals and stakes of all hands, what the dealer shows, and how many cards of each rank nobody has seen."""
        n = int(s.rules.num_players)
        facts = {
            "hands": [[_hand_facts(s, p, h) for h in range(int(s.num_hands[p]))] for p in range(n)],
            "dealer_shows": [_TEXTS[card] for card in cards_in(s.dealer)],
            "dealer_total": int(rules.dealer_total(s)),
            "dealer_has_no_blackjack": bool(s.has_looked),
            "rounds_left": int(s.rules.rounds - s.num_rounds),
        }
        if s.rules.decks != INFINITE:
            facts["unseen"] = {
                text: int(s.left[rank] + (s.hole == rank))
                for rank, text in enumerate(_TEXTS)
                if s.left[rank] + (s.hole == rank)
            }
        return facts

    def describe_event(self, event, kind):
        if event.kind == "paid":
            amount = abs(event.value) / _TENTHS
            if not amount:
                return f"player_{event.player} wins and loses nothing."
            return f"player_{event.player} {'wins' if event.value > 0 else 'loses'} {amount:g}."
        return super().describe_event(event, kind)

    def statistics(self, state):
        """What each player has won."""
        return GameStatistics(figures={"profit": [float(value) for value in state.returns]})


def _total_text(s, p, h):
    soft = "soft " if rules.is_soft(s.hard[p, h], s.hands[p, h]) else ""
    return f"{soft}{int(rules.total_of(s, p, h))}"


def _hand_note(s, p, h):
    parts = ["blackjack" if s.rules.naturals == state.CASINO and rules.has_natural(s, p) else _total_text(s, p, h)]
    if s.hard[p, h] > state.BLACKJACK:
        parts.append("bust")
    if s.doubled[p] >> h & 1:
        parts.append("doubled")
    return " ".join(parts)


def _hand_facts(s, p, h):
    return {
        "cards": [_TEXTS[card] for card in cards_in(s.hands[p, h])],
        "total": int(rules.total_of(s, p, h)),
        "soft": bool(rules.is_soft(s.hard[p, h], s.hands[p, h])),
        "stake": int(s.bets[p]) * (1 + int(s.doubled[p] >> h & 1)),
    }
