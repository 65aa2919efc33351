"""Plain Whist in words."""

from cardenvs.kits.cards import CardView, suit_text
from cardenvs.kits.tricks import TrickView

from plain_whist.rules import NUM_SIDES, TRICKS


class PlainWhistView(TrickView, CardView):
    """Words of Plain Whist."""

    tricks = TRICKS

    def arrange(self, s, viewer, scene):
        """Show the tricks of each side, and the suit of trumps."""
        won = scene.counters["tricks_won"]
        won.value = won.value[:NUM_SIDES]
        won.label = f"trump {suit_text(int(s.trump))}, tricks won"

    def facts(self, s, player):
        """What all trick games know, trumps, and tricks won."""
        return super().facts(s, player) | {"trump": suit_text(int(s.trump)), "tricks_won": s.tricks_won.tolist()}
