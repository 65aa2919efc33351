"""Texts and picture of Kasino."""

from cardenvs.core.cards import NUM_CARDS, card_label, card_markup, cards_of
from cardenvs.core.events import OMNISCIENT
from cardenvs.core.view import CardView, sees
from cardenvs.games.kasino import state
from cardenvs.games.kasino.legal import capture, num_offered, takeable
from cardenvs.games.kasino.rules import hidden_cards, num_sides, side_of
from cardenvs.games.kasino.state import (
    COMPOSE,
    DONE,
    FIRST_CAPTURE,
    HAND_VALUES,
    NO_CARD,
    PHASES,
    SLOTS,
    TAKE_0,
    TRAIL,
)

_REASONS = {
    state.TAKING: "a capture is being put together: take a card, or be done (rules.md 3.2)",
    state.NOT_TAKING: "no capture is being put together (rules.md 3.2)",
    state.NOT_COMPLETE: "the cards taken so far are not a capture, or not all that must be taken (rules.md 3.2, 3.3)",
    state.ALL_LISTED: "all captures of this card are listed (rules.md 3.2)",
}


class KasinoView(CardView):
    """Words of Kasino."""

    def fill_table(self, s, viewer, table):
        """Hands for their owners, the stock for nobody, all else for everybody."""
        table.put("stock", s.deck[int(s.num_dealt) :], seen=viewer == OMNISCIENT)
        table.put("table", cards_of(s.table))
        for p in range(int(s.rules.num_players)):
            table.put("hand", cards_of(s.hands[p]), player=p, seen=sees(viewer, p))
        for side in range(num_sides(s)):
            table.put("won", cards_of(s.won[side]), player=side)
            table.set("sweeps", s.sweeps[side], player=side)
            table.set("score", s.scores[side], player=side)
        table.set("hand_number", s.num_hands)
        table.set("dealer", s.dealer)

    def phase(self, s):
        return PHASES[0 if s.playing == NO_CARD else 1]

    def action_label(self, s, action):
        """Return "lay 7s", "Jd takes 3c 8d", "Jd takes more", "take 3c" or "done"."""
        if action == DONE:
            return "done"
        if action >= TAKE_0:
            return f"take {card_label(action - TAKE_0)}"
        card, slot = divmod(int(action), SLOTS)
        if slot == TRAIL:
            return f"lay {card_label(card)}"
        if slot == COMPOSE:
            return f"{card_label(card)} takes other cards"
        if slot - FIRST_CAPTURE >= num_offered(s, card):
            return f"{card_label(card)} takes nothing ({slot})"
        return f"{card_label(card)} takes {' '.join(map(card_label, cards_of(capture(s, card, slot))))}"

    def illegal_reason(self, s, action, code):
        if code in _REASONS:
            return _REASONS[code]
        if code == state.NOT_POSSIBLE:
            possible = " ".join(card_label(card) for card in cards_of(takeable(s)))
            return f"{card_label(action - TAKE_0)} cannot be taken next; possible: {possible or 'none'} (rules.md 3.2)"
        card = card_label(action // SLOTS)
        if code == state.NOT_HELD:
            return f"{card} is not in hand (rules.md 3.1)"
        if code == state.MUST_CAPTURE:
            return f"{card} can capture, so it must (rules.md 3.3)"
        return f"{card} has {num_offered(s, action // SLOTS)} captures on this table (rules.md 3.2)"

    def prompt(self, s):
        if s.playing == NO_CARD:
            return "Play a card: capture with it, or lay it on the table."
        return f"Take cards of the table in groups that add up to {HAND_VALUES[int(s.playing)]}, or be done."

    def facts(self, s, player):
        """Points of each side so far, and the cards that have not been seen."""
        sides = range(num_sides(s))
        over = int(s.num_hands) - (0 if s.terminal else 1)
        return {
            "hand_number": int(s.num_hands),
            "side": int(side_of(s, player)),
            "scores": [int(s.scores[side]) for side in sides],
            "scores_by_hand": s.hand_scores[:over, : len(sides)].tolist(),
            "sweeps": [int(s.sweeps[side]) for side in sides],
            "cards": [int(s.won[side]).bit_count() for side in sides],
            "spades": [sum(card < 13 for card in cards_of(s.won[side])) for side in sides],
            "points_for_most_cards": int(s.cards_prize),
            "points_for_most_spades": int(s.spades_prize),
            "last_taker": int(s.last_taker) if s.last_taker >= 0 else None,
            "cards_to_be_dealt": NUM_CARDS - int(s.num_dealt),
            "not_seen_yet": [card_label(card) for card in cards_of(hidden_cards(s, player))],
        }

    def render(self, s, viewer, table):
        """Table and stock, then a line for each player: score, cards won, sweeps, hand."""
        match = f"hand {s.num_hands} of a match to {s.rules.target}" if s.rules.match else "a single hand"
        n = int(s.rules.num_players)
        lines = [
            f"Kasino, {match}, {NUM_CARDS - int(s.num_dealt)} cards in the stock",
            "",
            f"    table  {_markup(s.table) or '-'}",
        ]
        if s.playing != NO_CARD:
            lines.append(f"    {card_markup(int(s.playing))} takes  {_markup(s.taken) or '-'}")
        lines.append("")
        for p in [(max(viewer, 0) + k) % n for k in (*range(1, n), 0)]:
            lines += _player_lines(s, p, sees(viewer, p))
        return "\n".join(lines)


def _markup(bits):
    return " ".join(card_markup(card) for card in cards_of(bits))


def _player_lines(s, player, is_seen):
    side = int(side_of(s, player))
    marks = [f"score {s.scores[side]}, {int(s.won[side]).bit_count()} cards, {s.sweeps[side]} sweeps"]
    if s.rules.teams:
        marks.append(f"side {side}")
    pointer = "▶" if player == s.current_player else " "
    hand = _markup(s.hands[player]) if is_seen else "▒▒ " * int(s.hands[player]).bit_count()
    return [f"{pointer} [bold]player_{player}[/bold]  {', '.join(marks)}", f"    hand   {hand.rstrip() or '-'}"]
