"""Texts and picture of Briscola."""

import numpy as np

from cardenvs.core.cards import ITALIAN_LABELS, NUM_ITALIAN, SUITS, card_markup, full_deck_card
from cardenvs.core.events import NO_PLAYER, OMNISCIENT
from cardenvs.core.game_view import Choice
from cardenvs.core.text import count
from cardenvs.core.view import ItalianCardView, sees
from cardenvs.games.briscola.rules import NO_CARD, NUM_SIDES, hidden_cards, suit_of, trick_winner


class BriscolaView(ItalianCardView):
    """Words of Briscola."""

    remembered = frozenset({"not_seen_yet", "turned_up_is_held_by"})

    def fill_table(self, s, viewer, table):
        """Hands for their owners; for all the trick, what was won, and the turned-up card wherever it is."""
        stock = s.deck[int(s.num_dealt) : NUM_ITALIAN - 1]
        table.put("stock", stock, seen=viewer == OMNISCIENT)
        table.put("turned_up", [s.trump] if s.num_dealt < NUM_ITALIAN else [])
        for p in range(int(s.rules.num_players)):
            hand = cards_of(s.hands[p])
            known = hand if sees(viewer, p) else [card for card in hand if p == s.trump_holder and card == s.trump]
            table.put("hand", known, unknown=len(hand) - len(known), player=p)
            table.put("trick", [s.trick[p]] if s.trick[p] != NO_CARD else [], player=p)
            table.put("tricks", cards_of(s.won[p]), player=p)
        table.set("deal_number", s.num_deals)
        for side in range(NUM_SIDES):
            table.set("deals_won", s.deals_won[side], player=side)

    def action_label(self, s, action):
        return f"play {ITALIAN_LABELS[action]}"

    def choice(self, s, action):
        return Choice((action,), ("hand", int(s.current_player)), ("trick", int(s.current_player)))

    def illegal_reason(self, s, action, code):
        return "that card is not in hand (rules.md 3.1)"

    def prompt(self, s):
        if s.current_player == s.leader:
            return "Lead a card."
        winner = trick_winner(s)
        return f"Play a card; player_{winner} wins so far with {ITALIAN_LABELS[int(s.trick[winner])]}."

    def facts(self, s, player):
        """Trump, points, and the cards that have not been seen."""
        n = int(s.rules.num_players)
        return {
            "trump": SUITS[int(suit_of(int(s.trump)))],
            "turned_up": ITALIAN_LABELS[int(s.trump)],
            "turned_up_is_held_by": None if s.trump_holder == NO_PLAYER else f"player_{s.trump_holder}",
            "points": s.points.tolist(),
            "side": int(player) % NUM_SIDES,
            "partner": f"player_{(player + 2) % 4}" if n == 4 else None,
            "cards_to_draw": NUM_ITALIAN - int(s.num_dealt),
            "not_seen_yet": [ITALIAN_LABELS[card] for card in cards_of(hidden_cards(s, player))],
            "deal": int(s.num_deals),
            "points_by_deal": s.deal_points[: int(s.num_deals) - (0 if s.terminal else 1)].tolist(),
            "deals_won": s.deals_won.tolist(),
        }

    def render(self, s, viewer, table):
        """Stock and trump, then a line for each player: card in the trick, points, hand."""
        left = NUM_ITALIAN - int(s.num_dealt)
        stock = f"stock {'▒' * ((left + 3) // 4)} {left} " if left else "no stock "
        match = f"deal {s.num_deals} of a match to {s.rules.target}, " if s.rules.target > 1 else ""
        turned_up = f"turned up {_markup(s.trump)}" if left else f"trump {SUITS[int(suit_of(int(s.trump)))]}"
        lines = [f"Briscola, {match}{stock}{turned_up}", ""]
        n = int(s.rules.num_players)
        for p in [(max(viewer, 0) + k) % n for k in (*range(1, n), 0)]:
            lines += self._player_lines(s, p, viewer)
        return "\n".join(lines)

    def _player_lines(self, s, player, viewer):
        side = int(player) % NUM_SIDES
        score = count(int(s.points[side]), "point")
        if s.rules.num_players == 4:
            score += f" with player_{(player + 2) % 4}"
        if s.rules.target > 1:
            score += f", {count(int(s.deals_won[side]), 'deal')} won"
        hand = cards_of(s.hands[player])
        known = [card for card in hand if sees(viewer, player) or (card == s.trump and player == s.trump_holder)]
        shown = [*map(_markup, known), *["▒▒"] * (len(hand) - len(known))]
        card = _markup(s.trick[player]) if s.trick[player] != NO_CARD else "-"
        pointer = "▶" if player == s.current_player else " "
        return [
            f"{pointer} [bold]player_{player}[/bold]  {score}",
            f"    plays {card}    hand {' '.join(shown) or '-'}",
        ]


def cards_of(bits):
    """The cards in a bit set, ascending."""
    return [card for card in range(NUM_ITALIAN) if int(bits) >> card & 1]


def _markup(card):
    return card_markup(full_deck_card(np.int64(card)))
