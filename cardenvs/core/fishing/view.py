"""Texts and picture of fishing games."""

from cardenvs.core.cards import NUM_CARDS, card_label, card_markup, cards_of
from cardenvs.core.events import OMNISCIENT, PileLayout
from cardenvs.core.fishing.rules import hidden_cards, num_sides, side_of
from cardenvs.core.text import count
from cardenvs.core.view import CardView, sees


class FishingView(CardView):
    """Words of a fishing game."""

    title = ""
    remembered = frozenset({"not_seen_yet"})

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

    def arrange(self, s, viewer, scene):
        """Leave out what only sides have."""
        arrange_sides(scene, int(num_sides(s)))

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
            "last_taker": int(s.last_taker) if s.last_taker >= 0 else None,
            "cards_to_be_dealt": NUM_CARDS - int(s.num_dealt),
            "not_seen_yet": [card_label(card) for card in cards_of(hidden_cards(s, player))],
        }

    def render(self, s, viewer, table):
        """Table and stock, then a line for each player: score, cards won, sweeps, hand."""
        match = f"hand {s.num_hands} of a match to {s.rules.target}" if s.rules.match else "a single hand"
        n = int(s.rules.num_players)
        lines = [f"{self.title}, {match}, {count(NUM_CARDS - int(s.num_dealt), 'card')} in the stock", ""]
        lines += [f"    {line}" for line in self.middle(s)]
        lines.append("")
        for p in [(max(viewer, 0) + k) % n for k in (*range(1, n), 0)]:
            lines += _player_lines(s, p, sees(viewer, p))
        return "\n".join(lines)

    def middle(self, s):
        """Return the lines of the picture between the title and the players."""
        return [f"table  {markup(s.table) or '-'}"]


def arrange_sides(scene, sides):
    """Leave out piles and scores of players without a side of their own."""
    for player in range(sides, len(scene.notes)):
        scene.piles["won", player].layout = PileLayout.NONE
    for counter in scene.counters.values():
        if isinstance(counter.value, list):
            counter.value = counter.value[:sides]
    if sides < len(scene.notes):
        for player, notes in enumerate(scene.notes):
            notes.append(f"side {player % sides}")


def markup(bits):
    """Return the cards of a bit set as rich markup."""
    return " ".join(card_markup(card) for card in cards_of(bits))


def _player_lines(s, player, is_seen):
    side = int(side_of(s, player))
    won, sweeps = count(int(s.won[side]).bit_count(), "card"), count(int(s.sweeps[side]), "sweep")
    marks = [f"score {s.scores[side]}, {won}, {sweeps}"]
    if s.rules.teams:
        marks.append(f"side {side}")
    pointer = "▶" if player == s.current_player else " "
    hand = markup(s.hands[player]) if is_seen else "▒▒ " * int(s.hands[player]).bit_count()
    return [f"{pointer} [bold]player_{player}[/bold]  {', '.join(marks)}", f"    hand   {hand.rstrip() or '-'}"]
