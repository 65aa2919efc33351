"""Texts and picture of Scopa."""

from cardenvs.core.game_view import Choice
from cardenvs.core.options import NONE
from cardenvs.games.scopa import scoring, state
from cardenvs.games.scopa.captures import capture, num_captures
from cardenvs.games.scopa.state import SLOTS
from cardenvs.kits.cards import ITALIAN, ItalianCardView, cards_of
from cardenvs.kits.fishing.view import FishingView
from cardenvs.kits.matches import num_sides


class ScopaView(FishingView, ItalianCardView):
    """Words of Scopa."""

    sweeps = "scope"
    num_sides = staticmethod(num_sides)

    def action_label(self, s, action):
        """Return "lay 7♠", or "7♠ takes 3♦ 4♣"."""
        card, k = divmod(int(action), SLOTS)
        if not num_captures(s, card):
            return f"lay {ITALIAN.texts[card]}" + (f" ({k})" if k else "")
        if k >= num_captures(s, card):
            return f"{ITALIAN.texts[card]} takes nothing ({k})"
        taken = " ".join(ITALIAN.texts[other] for other in cards_of(capture(s, card, k)))
        return f"{ITALIAN.texts[card]} takes {taken}"

    def choice(self, s, action):
        card, k = divmod(int(action), SLOTS)
        if not num_captures(s, card):
            return Choice((card,), ("hand", int(s.current_player)), ("table", None))
        return Choice((card, *cards_of(capture(s, card, k))))

    def is_match(self, s):
        return s.rules.target != NONE

    def illegal_reason(self, s, action, code):
        card = ITALIAN.texts[action // SLOTS]
        if code == state.NOT_HELD:
            return f"{card} is not in hand (rules.md 3.1)"
        number = num_captures(s, action // SLOTS)
        if number == 0:
            return f"{card} can only be laid (rules.md 3.3)"
        return f"{card} has {number} captures on this table (rules.md 3.1, 3.2)"

    def prompt(self, s):
        return "Play a card: take with it, or lay it if it takes nothing."

    def by_hand(self, s, hands, sides):
        return {"points_by_hand": s.hand_points[:hands, :sides].tolist()}

    def captured(self, s, sides):
        needs = s.rules.primiera_needs_all_suits
        return {
            "diamonds": [int(scoring.diamonds(s.won[side])).bit_count() for side in sides],
            "settebello": next((side for side in sides if s.won[side] & scoring.SETTEBELLO), None),
            "primiera": [int(scoring.primiera(s.won[side], needs)) for side in sides],
        }
