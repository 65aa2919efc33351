"""Texts and picture of Katko."""

import numpy as np

from cardenvs.core.events import NO_PLAYER
from cardenvs.core.game_view import Choice
from cardenvs.games.katko import state
from cardenvs.games.katko.rules import TRICKS
from cardenvs.games.katko.state import DONE, EXCHANGE, SET_ASIDE_0
from cardenvs.kits.cards import NUM_CARDS, CardView, card_text
from cardenvs.kits.tricks import MUST_FOLLOW, NOT_HELD, TrickView

_REASONS = {
    NOT_HELD: "that card is not in hand (rules.md 3.1, 4.1)",
    MUST_FOLLOW: "the suit that was led, {led}, must be followed (rules.md 3.1)",
    state.EXCHANGES: "cards are exchanged first; set a card aside, or say done (rules.md 4.1)",
    state.EXCHANGE_IS_OVER: "the exchange is over (rules.md 4.1)",
    state.REST_IS_SHORT: "the rest has no card left to draw for another one (rules.md 4.2)",
}


class KatkoView(TrickView, CardView):
    """Words of Katko."""

    tricks = TRICKS
    phases = state.PHASES
    reasons = _REASONS
    follow_prompt = "Play a card; {led} was led."

    def action_label(self, s, action):
        if action == DONE:
            return "done"
        if action >= SET_ASIDE_0:
            return f"set aside {card_text(action - SET_ASIDE_0)}"
        return super().action_label(s, action)

    def choice(self, s, action):
        if action == DONE:
            return Choice()
        if action >= SET_ASIDE_0:
            player = int(s.current_player)
            return Choice((int(action) - SET_ASIDE_0,), ("hand", player), ("set_aside", player))
        return super().choice(s, action)

    def arrange(self, s, viewer, scene):
        """The card of this trick apart from those of earlier ones; who leads."""
        for p, notes in enumerate(scene.notes):
            number = len(scene.piles["played", p].tokens)
            if number > s.trick > 0:
                scene.piles["played", p].groups = [number - 1, 1]
            if s.active[p] and p == s.leader and not s.terminal:
                notes.append("leads" if s.phase != EXCHANGE else "will lead")
        if s.rules.target > 1:
            scene.counters["deal_number"].label = f"match to {s.rules.target}, deal"

    def prompt(self, s):
        if s.phase == EXCHANGE:
            return "Set a card aside to draw another one, or say done."
        return super().prompt(s)

    def facts(self, s, player):
        """Deal, trick, voids shown, and the score of every deal so far."""
        return {
            "deal": int(s.num_deals),
            "tricks_left": int(s.rules.cards_per_player - s.trick),
            **super().facts(s, player),
            "scores": s.scores[: int(s.rules.num_players)].tolist(),
            "scores_by_deal": _scores_by_deal(s),
            "undealt_cards": NUM_CARDS - int(s.num_dealt),
        }


def _scores_by_deal(s):
    """Return the points of all players by deal; deals that a player broke off by leaving have none."""
    deals = int(s.num_deals)
    scores = np.zeros((deals, int(s.rules.num_players)), int)
    for winners, points in ((s.winners, s.points), (s.poker_winners, np.ones_like(s.points))):
        scored = np.flatnonzero(winners[:deals] != NO_PLAYER)
        scores[scored, winners[scored]] += points[scored]
    return scores.tolist()
