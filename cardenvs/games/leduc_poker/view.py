"""Leduc poker in words."""

import numpy as np

from cardenvs.games.leduc_poker.rules import CALL, FOLD, NOTHING_OWED, owed
from cardenvs.kits.small_cards import SMALL_RANKS, SmallCardView


class LeducView(SmallCardView):
    """Words of Leduc poker."""

    shape = "ring"
    phases = ("first_round", "second_round")

    def phase(self, s):
        return self.phases[int(s.stage)]

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
            "to_call": 0 if s.terminal or s.folded[player] else int(owed(s, player)),
            "raises_left": int(s.rules.max_raises - s.num_raises),
        }
