"""Kuhn poker in words."""

from cardenvs.core.cards import SMALL_RANKS
from cardenvs.core.events import OMNISCIENT
from cardenvs.core.view import SmallCardView, sees
from cardenvs.games.kuhn_poker.rules import BET, NO_BETTOR


class KuhnView(SmallCardView):
    """Words of Kuhn poker."""

    shape = "ring"

    def fill_table(self, s, viewer, table):
        n = int(s.rules.num_players)
        table.put("deck", [s.deck[n]], seen=viewer == OMNISCIENT)
        for p in range(n):
            table.put("hand", [s.deck[p]], player=p, seen=sees(viewer, p))
            table.set("chips_in", s.chips_in[p], player=p)

    def action_label(self, s, action):
        if s.bettor == NO_BETTOR:
            return "bet" if action == BET else "pass"
        return "call" if action == BET else "fold"

    def prompt(self, s):
        return "Pass or bet?" if s.bettor == NO_BETTOR else "Fold or call?"

    def facts(self, s, player):
        n = int(s.rules.num_players)
        return {
            "own_card": SMALL_RANKS[int(s.deck[player])],
            "cards_higher": n - int(s.deck[player]),
            "pot": int(sum(s.chips_in[p] for p in range(n))),
            "to_call": int(s.bettor != NO_BETTOR and s.chips_in[player] == 1),
        }
