"""Texts and picture of Kasino."""

from cardenvs.core.events import CounterUse
from cardenvs.core.game_view import Choice, CounterView
from cardenvs.games.kasino import state
from cardenvs.games.kasino.legal import capture, num_offered, takeable
from cardenvs.games.kasino.state import (
    COMPOSE,
    DONE,
    FIRST_CAPTURE,
    HAND_VALUES,
    PHASES,
    SLOTS,
    TAKE_0,
    TRAIL,
)
from cardenvs.kits.cards import CardView, card_text, cards_of
from cardenvs.kits.deck import NO_CARD
from cardenvs.kits.fishing.view import FishingView

_REASONS = {
    state.TAKING: "a capture is being put together: take a card, or be done (rules.md 3.2)",
    state.NOT_TAKING: "no capture is being put together (rules.md 3.2)",
    state.NOT_COMPLETE: "the cards taken so far are not a capture, or not all that must be taken (rules.md 3.2, 3.3)",
    state.ALL_LISTED: "all captures of this card are listed (rules.md 3.2)",
}


class KasinoView(FishingView, CardView):
    """Words of Kasino."""

    phases = PHASES

    def phase(self, s):
        return PHASES[0 if s.playing == NO_CARD else 1]

    def action_label(self, s, action):
        """Return "lay 7♠", "J♦ takes 3♣ 8♦", "J♦ takes other cards", "take 3♣" or "done"."""
        if action == DONE:
            return "done"
        if action >= TAKE_0:
            return f"take {card_text(action - TAKE_0)}"
        card, slot = divmod(int(action), SLOTS)
        if slot == TRAIL:
            return f"lay {card_text(card)}"
        if slot == COMPOSE:
            return f"{card_text(card)} takes other cards"
        if slot - FIRST_CAPTURE >= num_offered(s, card):
            return f"{card_text(card)} takes nothing ({slot})"
        return f"{card_text(card)} takes {' '.join(map(card_text, cards_of(capture(s, card, slot))))}"

    def choice(self, s, action):
        if action == DONE:
            return Choice()
        if action >= TAKE_0:
            return Choice((action - TAKE_0,), ("table", None))
        card, slot = divmod(int(action), SLOTS)
        if slot == TRAIL:
            return Choice((card,), ("hand", int(s.current_player)), ("table", None))
        return Choice((card,) if slot == COMPOSE else (card, *cards_of(capture(s, card, slot))))

    def arrange(self, s, viewer, scene):
        """The capture that is being put together."""
        super().arrange(s, viewer, scene)
        if s.playing != NO_CARD:
            taken = " ".join(map(card_text, cards_of(s.taken))) or "-"
            scene.counters["taken"] = CounterView(f"{card_text(int(s.playing))} takes", CounterUse.NUMBER, taken)

    def illegal_reason(self, s, action, code):
        if code in _REASONS:
            return _REASONS[code]
        if code == state.NOT_POSSIBLE:
            possible = " ".join(card_text(card) for card in cards_of(takeable(s)))
            return f"{card_text(action - TAKE_0)} cannot be taken next; possible: {possible or 'none'} (rules.md 3.2)"
        card = card_text(action // SLOTS)
        if code == state.NOT_HELD:
            return f"{card} is not in hand (rules.md 3.1)"
        if code == state.MUST_CAPTURE:
            return f"{card} can capture, so it must (rules.md 3.3)"
        return f"{card} has {num_offered(s, action // SLOTS)} captures on this table (rules.md 3.2)"

    def prompt(self, s):
        if s.playing == NO_CARD:
            return "Play a card: capture with it, or lay it on the table."
        return f"Take cards of the table in groups that add up to {HAND_VALUES[int(s.playing)]}, or be done."

    def facts(self, s, player):
        """What all fishing games know, and what most cards and most spades are worth."""
        return super().facts(s, player) | {
            "points_for_most_cards": int(s.cards_prize),
            "points_for_most_spades": int(s.spades_prize),
        }
