"""Kuhn poker in words."""

from cardenvs.games.kuhn_poker.rules import BET, NO_BETTOR
from cardenvs.kits.small_cards import SMALL_RANKS, SmallCardView


class KuhnView(SmallCardView):
    """Words of Kuhn poker."""

    shape = "ring"

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
            "to_call": int(_is_to_answer(s, player, n)),
        }


def _is_to_answer(s, player, n):
    """Return whether a player still has to answer a bet."""
    if s.bettor == NO_BETTOR or s.terminal or player == s.bettor:
        return False
    return (player - s.bettor) % n >= (s.current_player - s.bettor) % n
