"""High Card in words."""

from cardenvs.core.events import OMNISCIENT
from cardenvs.core.view import View, sees

from high_card.observation import RANKS
from high_card.rules import KEEP, NOT_SWAPPED, NUM_PLAYERS, held


class HighCardView(View):
    """Words of High Card."""

    tokens = RANKS

    def fill_table(self, s, viewer, table):
        """Hands and cards set aside for their owners; the deck for nobody."""
        undealt = s.deck[int(s.num_dealt) :]
        table.put("deck", undealt, seen=viewer == OMNISCIENT)
        for p in range(NUM_PLAYERS):
            table.put("hand", [held(s, p)], player=p, seen=sees(viewer, p))
            if s.drawn_at[p] != NOT_SWAPPED:
                table.put("aside", [s.deck[p]], player=p, seen=sees(viewer, p))

    def action_label(self, s, action):
        """Keep or swap."""
        return "keep" if action == KEEP else "swap"

    def prompt(self, s):
        """What the player to act is asked."""
        return f"Keep the {RANKS[int(held(s, int(s.current_player)))]}, or swap it?"

    def facts(self, s, player):
        """The card held, and how many of those not seen are lower."""
        own = int(held(s, player))
        aside_is_lower = s.drawn_at[player] != NOT_SWAPPED and s.deck[player] < own
        return {"own_card": RANKS[own], "lower_cards_not_seen": own - int(aside_is_lower)}
