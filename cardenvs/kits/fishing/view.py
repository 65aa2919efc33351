"""Texts and picture of fishing games."""

from typing import Any

from cardenvs.core.events import PileLayout
from cardenvs.core.view import View
from cardenvs.kits.cards import cards_of
from cardenvs.kits.deck import hidden_in_hands_and_deck
from cardenvs.kits.fishing import rules
from cardenvs.kits.matches import hands_over


class FishingView(View):
    """Words of a fishing game, beside the view of its cards: `class MyView(FishingView, CardView)`.

    Attributes:
        sweeps: name of the counter of sweeps.
        num_sides: the kernel num_sides(s).
    """

    shape = "ring"
    remembered = frozenset({"not_seen_yet"})
    sweeps = "sweeps"
    num_sides: Any = staticmethod(rules.num_sides)

    def is_match(self, s):
        """Return whether hands are played until a side has `target` points."""
        return bool(s.rules.match)

    def arrange(self, s, viewer, scene):
        """Leave out what only sides have."""
        sides = int(self.num_sides(s))
        for player in range(sides, len(scene.notes)):
            scene.piles["won", player].layout = PileLayout.NONE
        for counter in scene.counters.values():
            if isinstance(counter.value, list):
                counter.value = counter.value[:sides]
        if sides < len(scene.notes):
            for player, notes in enumerate(scene.notes):
                notes.append(f"side {player % sides}")
        if self.is_match(s):
            scene.counters["hand_number"].label = f"match to {s.rules.target}, hand"

    def facts(self, s, player):
        """Points of each side so far, and the cards that have not been seen."""
        sides, hidden = range(self.num_sides(s)), hidden_in_hands_and_deck(s, player)
        return {
            "hand_number": int(s.num_hands),
            "side": int(player) % len(sides),
            "scores": [int(s.scores[side]) for side in sides],
            **self.by_hand(s, hands_over(s, s.num_hands), len(sides)),
            self.sweeps: [int(s.sweeps[side]) for side in sides],
            "cards": [int(s.won[side]).bit_count() for side in sides],
            **self.captured(s, sides),
            "last_taker": int(s.last_taker) if s.last_taker >= 0 else None,
            "cards_to_be_dealt": len(s.deck) - int(s.num_dealt),
            "not_seen_yet": [self.token_label(card) for card in cards_of(hidden)],
        }

    def by_hand(self, s, hands, sides):
        """Return the scores after each of the hands that are over. One that decides a match before its end has none."""
        if s.terminal and hands and (s.hand_scores[hands - 1, :sides] != s.scores[:sides]).any():
            hands -= 1
        return {"scores_by_hand": s.hand_scores[:hands, :sides].tolist()}

    def captured(self, s, sides):
        """Return what else matters of the cards that each side has captured."""
        return {"spades": [sum(card < 13 for card in cards_of(s.won[side])) for side in sides]}
