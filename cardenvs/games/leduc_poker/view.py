"""Leduc poker in words."""

import numpy as np

from cardenvs.core.cards import SMALL_RANKS
from cardenvs.core.events import OMNISCIENT
from cardenvs.core.view import SmallCardView, sees
from cardenvs.games.leduc_poker.rules import CALL, FOLD, NOTHING_OWED, owed


class LeducView(SmallCardView):
    """Words of Leduc poker."""

    shape = "ring"

    def fill_table(self, s, viewer, table):
        n, stage = int(s.rules.num_players), int(s.stage)
        table.put("deck", s.deck[n + stage : 2 * (n + 1)], seen=viewer == OMNISCIENT)
        table.put("public", s.deck[n : n + stage])
        for p in range(n):
            table.put("hand", [s.deck[p]], player=p, seen=sees(viewer, p))
            table.set("chips_in", s.chips_in[p], player=p)
            table.set("folded", s.folded[p], player=p)

    def phase(self, s):
        return "second_round" if s.stage == 1 else "first_round"

    def action_label(self, s, action):
        if action == FOLD:
            return "fold"
        nothing_owed = owed(s, int(s.current_player)) == 0
        if action == CALL:
            return "check" if nothing_owed else "call"
        return "bet" if nothing_owed else "raise"

    def illegal_reason(self, s, action, code):
        if code == NOTHING_OWED:
            return "nothing is owed, so there is nothing to fold to (rules.md 3.3)"
        return f"the round has had its {s.rules.max_raises} raises (rules.md 3.2)"

    def prompt(self, s):
        to_call = int(owed(s, int(s.current_player)))
        return f"You owe {to_call}. Fold, call or raise?" if to_call else "Check or bet?"

    def facts(self, s, player):
        n = int(s.rules.num_players)
        return {
            "own_rank": SMALL_RANKS[int(s.deck[player])],
            "has_pair": bool(s.stage == 1 and s.deck[player] == s.deck[n]),
            "pot": int(np.sum(s.chips_in[:n])),
            "to_call": int(owed(s, player)),
            "raises_left": int(s.rules.max_raises - s.num_raises),
        }
