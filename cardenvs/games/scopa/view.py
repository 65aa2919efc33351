"""Texts and picture of Scopa."""

from cardenvs.core.cards import ITALIAN_LABELS, NUM_ITALIAN, card_markup, full_deck_card
from cardenvs.core.events import OMNISCIENT
from cardenvs.core.fishing.view import arrange_sides
from cardenvs.core.game_view import Choice
from cardenvs.core.options import NONE
from cardenvs.core.text import count
from cardenvs.core.view import ItalianCardView, sees
from cardenvs.games.scopa import scoring, state
from cardenvs.games.scopa.captures import capture, num_captures
from cardenvs.games.scopa.rules import hidden_cards, num_sides, side_of
from cardenvs.games.scopa.state import SLOTS


class ScopaView(ItalianCardView):
    """Words of Scopa."""

    remembered = frozenset({"not_seen_yet"})

    def fill_table(self, s, viewer, table):
        """Hands for their owners, the stock for nobody, all else for everybody."""
        table.put("stock", s.deck[int(s.num_dealt) :], seen=viewer == OMNISCIENT)
        table.put("table", cards_of(s.table))
        for p in range(int(s.rules.num_players)):
            table.put("hand", cards_of(s.hands[p]), player=p, seen=sees(viewer, p))
        for side in range(num_sides(s)):
            table.put("won", cards_of(s.won[side]), player=side)
            table.set("scope", s.scope[side], player=side)
            table.set("score", s.scores[side], player=side)
        table.set("hand_number", s.num_hands)
        table.set("dealer", s.dealer)

    def action_label(self, s, action):
        """Return "lay 7s", or "7s takes 3d 4c"."""
        card, k = divmod(int(action), SLOTS)
        if not num_captures(s, card):
            return f"lay {ITALIAN_LABELS[card]}" + (f" ({k})" if k else "")
        if k >= num_captures(s, card):
            return f"{ITALIAN_LABELS[card]} takes nothing ({k})"
        taken = " ".join(ITALIAN_LABELS[other] for other in cards_of(capture(s, card, k)))
        return f"{ITALIAN_LABELS[card]} takes {taken}"

    def choice(self, s, action):
        card, k = divmod(int(action), SLOTS)
        if not num_captures(s, card):
            return Choice((card,), ("hand", int(s.current_player)), ("table", None))
        return Choice((card, *cards_of(capture(s, card, k))))

    def arrange(self, s, viewer, scene):
        """Leave out what only sides have."""
        arrange_sides(scene, int(num_sides(s)))

    def illegal_reason(self, s, action, code):
        card = ITALIAN_LABELS[action // SLOTS]
        if code == state.NOT_HELD:
            return f"{card} is not in hand (rules.md 3.1)"
        number = num_captures(s, action // SLOTS)
        if number == 0:
            return f"{card} can only be laid (rules.md 3.3)"
        return f"{card} has {number} captures on this table (rules.md 3.1, 3.2)"

    def prompt(self, s):
        return "Play a card: take with it, or lay it if it takes nothing."

    def facts(self, s, player):
        """Points of each side so far, and the cards that have not been seen."""
        sides = range(num_sides(s))
        over = int(s.num_hands) - (0 if s.terminal else 1)
        return {
            "hand_number": int(s.num_hands),
            "side": int(side_of(s, player)),
            "scores": [int(s.scores[side]) for side in sides],
            "points_by_hand": s.hand_points[:over, : len(sides)].tolist(),
            "scope": [int(s.scope[side]) for side in sides],
            "cards": [int(s.won[side]).bit_count() for side in sides],
            "diamonds": [int(scoring.diamonds(s.won[side])).bit_count() for side in sides],
            "settebello": next((side for side in sides if s.won[side] & scoring.SETTEBELLO), None),
            "primiera": [int(scoring.primiera(s.won[side], s.rules.primiera_needs_all_suits)) for side in sides],
            "last_taker": int(s.last_taker) if s.last_taker >= 0 else None,
            "cards_to_be_dealt": NUM_ITALIAN - int(s.num_dealt),
            "not_seen_yet": [ITALIAN_LABELS[card] for card in cards_of(hidden_cards(s, player))],
        }

    def render(self, s, viewer, table):
        """Table and stock, then a line for each player: side, cards won, scope, hand."""
        match = "a single hand" if s.rules.target == NONE else f"hand {s.num_hands} of a match to {s.rules.target}"
        n = int(s.rules.num_players)
        lines = [
            f"Scopa, {match}, {count(NUM_ITALIAN - int(s.num_dealt), 'card')} in the stock",
            "",
            f"    table  {_markup(s.table) or '-'}",
            "",
        ]
        for p in [(max(viewer, 0) + k) % n for k in (*range(1, n), 0)]:
            lines += _player_lines(s, p, sees(viewer, p))
        return "\n".join(lines)


def cards_of(bits):
    """Return the cards in a bit set, ascending."""
    return [card for card in range(NUM_ITALIAN) if int(bits) >> card & 1]


def _markup(bits):
    return " ".join(card_markup(full_deck_card(card)) for card in cards_of(bits))


def _player_lines(s, player, is_seen):
    side = int(side_of(s, player))
    scope = f"{s.scope[side]} {'scopa' if s.scope[side] == 1 else 'scope'}"
    marks = [f"{count(int(s.won[side]).bit_count(), 'card')}, {scope}"]
    if s.rules.target != NONE:
        marks.append(f"score {s.scores[side]}")
    if s.rules.num_players > 3:
        marks.append(f"side {side}")
    pointer = "▶" if player == s.current_player else " "
    hand = _markup(s.hands[player]) if is_seen else "▒▒ " * int(s.hands[player]).bit_count()
    return [f"{pointer} [bold]player_{player}[/bold]  {', '.join(marks)}", f"    hand   {hand.rstrip() or '-'}"]
