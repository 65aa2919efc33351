"""Texts and picture of Briscola."""

from cardenvs.core.events import NO_PLAYER, CounterUse
from cardenvs.core.game_view import CounterView
from cardenvs.core.text import count
from cardenvs.games.briscola.rules import NUM_SIDES, TRICKS, hidden_cards, trump_suit
from cardenvs.kits.cards import ITALIAN, ItalianCardView, cards_of, suit_text
from cardenvs.kits.matches import hands_over
from cardenvs.kits.tricks import NOT_HELD, TrickView

_REASONS = {NOT_HELD: "that card is not in hand (rules.md 3.1)"}


class BriscolaView(TrickView, ItalianCardView):
    """Words of Briscola."""

    tricks, trick_pile = TRICKS, "trick"
    remembered = frozenset({"not_seen_yet", "turned_up_is_held_by"})
    reasons = _REASONS
    follow_prompt = "Play a card; player_{winner} wins so far with {best}."

    def action_label(self, s, action):
        return f"play {ITALIAN.texts[action]}"

    def arrange(self, s, viewer, scene):
        """Points and partners of the players; the trump suit once the turned-up card has been drawn."""
        won = scene.counters["deals_won"]
        won.value = [int(s.deals_won[p % NUM_SIDES]) for p in range(len(scene.notes))]
        for player, notes in enumerate(scene.notes):
            notes.append(count(int(s.points[player % NUM_SIDES]), "point"))
            if len(scene.notes) == 4:
                notes.append(f"with player_{(player + 2) % 4}")
        if s.rules.target > 1:
            scene.counters["deal_number"].label = f"match to {s.rules.target}, deal"
        else:
            won.use = CounterUse.NONE
        if not scene.piles["turned_up", None].tokens:
            scene.counters["trump"] = CounterView("trump", CounterUse.NUMBER, suit_text(int(trump_suit(s))))

    def facts(self, s, player):
        """Trump, points, and the cards that have not been seen."""
        n = int(s.rules.num_players)
        return {
            "trump": suit_text(int(trump_suit(s))),
            "turned_up": ITALIAN.texts[int(s.trump)],
            "turned_up_is_held_by": None if s.trump_holder == NO_PLAYER else f"player_{s.trump_holder}",
            "points": s.points.tolist(),
            "side": int(player) % NUM_SIDES,
            "partner": f"player_{(player + 2) % 4}" if n == 4 else None,
            "cards_to_draw": ITALIAN.size - int(s.num_dealt),
            "not_seen_yet": [ITALIAN.texts[card] for card in cards_of(hidden_cards(s, player))],
            "deal": int(s.num_deals),
            "points_by_deal": s.deal_points[: hands_over(s, s.num_deals)].tolist(),
            "deals_won": s.deals_won.tolist(),
        }
