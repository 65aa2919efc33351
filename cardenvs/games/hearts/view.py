"""Texts and picture of Hearts."""

from types import MappingProxyType

from cardenvs.core.events import CounterUse, PileLayout
from cardenvs.core.game_view import Choice, CounterView
from cardenvs.core.options import NONE
from cardenvs.games.hearts import state
from cardenvs.games.hearts.rules import TRICKS, all_points, received_by, receiver_of
from cardenvs.games.hearts.state import ADD, MOON, PACK, PASS, PLAY, QUEEN
from cardenvs.games.hearts.worlds import hidden_cards, known_cards
from cardenvs.kits.cards import PackView
from cardenvs.kits.matches import hands_over
from cardenvs.kits.tricks import MUST_FOLLOW, NOT_HELD, TrickView

_REASONS = MappingProxyType({
    NOT_HELD: "{card} is not in hand (rules.md 3.1, 4.2)",
    MUST_FOLLOW: "the suit that was led, {led}, must be followed (rules.md 4.2)",
    state.MUST_OPEN: "the first lead is {opening} (rules.md 4.1)",
    state.NO_POINTS_YET: "hearts and Q♠ may not be thrown on the first trick (rules.md 4.3)",
    state.NOT_BROKEN: "hearts are not broken yet, and the hand has other cards to lead (rules.md 4.4, 4.5)",
    state.NO_MOON: "there is no moon to score (rules.md 5.4)",
    state.IS_MOON: "the moon is scored first: subtract, or add (rules.md 5.4)",
})  # fmt: skip


class HeartsView(TrickView, PackView):
    """Words of Hearts."""

    pack, tricks, trick_pile = PACK, TRICKS, "trick"
    phases = state.PHASES
    remembered = frozenset({"voids", "not_seen_yet", "passed", "received"})
    reasons = _REASONS
    follow_prompt = "Play a card; {led} was led, and player_{winner} wins so far with {best}."

    def fill_table(self, s, viewer, table):
        """As declared; and players know cards in other hands, such as those that they have passed."""
        super().fill_table(s, viewer, table)
        for p in range(int(s.rules.num_players)):
            if viewer >= 0 and p != viewer:
                known = PACK.cards_of(known_cards(s, viewer, p))
                table.put("hand", known, int(s.hands[p]).bit_count() - len(known), player=p)

    def action_label(self, s, action):
        if action >= state.SUBTRACT:
            return f"{'add' if action == ADD else 'subtract'} {all_points(s.rules)}"
        return f"pass {PACK.texts[action]}" if s.phase == PASS else super().action_label(s, action)

    def choice(self, s, action):
        if s.phase == MOON:
            return Choice()
        choice, player = super().choice(s, action), int(s.current_player)
        return Choice(choice.tokens, choice.source, ("passed", player)) if s.phase == PASS else choice

    def illegal_reason(self, s, action, code):
        reason = super().illegal_reason(s, action, code) if code == MUST_FOLLOW else _REASONS[code]
        lowest = PACK.texts[state.LOWEST_CLUB[int(s.rules.num_players)]]
        card = PACK.texts[action] if action < state.SUBTRACT else ""
        return reason.format(card=card, opening="a club" if s.rules.lead_any_club else lowest)

    def prompt(self, s):
        player = int(s.current_player)
        if s.phase == MOON:
            total = all_points(s.rules)
            return f"You have shot the moon. Subtract {total} from your score, or add {total} to all others?"
        if s.phase == PASS:
            number, of = int(s.passed[player]).bit_count() + 1, int(s.rules.pass_count)
            return f"Choose a card to pass to player_{receiver_of(s, player)} ({number} of {of})."
        return super().prompt(s)

    def facts(self, s, player):
        """Where cards are passed, the state of hearts and the queen, points, and the cards not seen yet."""
        players = range(int(s.rules.num_players))
        return super().facts(s, player) | {
            "hand": int(s.num_hands),
            "passes_to": f"player_{receiver_of(s, player)}" if s.distance else None,
            "passed": texts(s.passed[player]),
            "received": texts(received_by(s, player)),
            "hearts_are_broken": bool(s.is_broken),
            "queen_of_spades_was_taken_by": next((f"player_{p}" for p in players if s.won[p] >> QUEEN & 1), None),
            "points": s.points[: len(players)].tolist(),
            "not_seen_yet": texts(hidden_cards(s, player)),
            "scores": s.scores[: len(players)].tolist(),
            "points_by_hand": s.hand_points[: hands_over(s, s.num_hands), : len(players)].tolist(),
        }

    def arrange(self, s, viewer, scene):
        """Hands by suit; who leads, and who passes to whom; points, and the score of a match."""
        for p, notes in enumerate(scene.notes):
            self.sort_hand(s, scene.piles["hand", p])
            scene.piles["passed", p].label = "to pass"
            if s.phase != PASS:
                scene.piles["passed", p].layout = PileLayout.NONE
            if s.phase == PLAY and p == s.leader and not s.terminal:
                notes.append("leads")
        hand, score = scene.counters["hand_number"], scene.counters["score"]
        if s.rules.target == NONE:
            hand.use = score.use = CounterUse.NONE
        else:
            hand.label = f"match to {s.rules.target}, hand"
        if s.distance and s.phase == PASS:
            scene.counters["passing"] = CounterView("passing", CounterUse.NUMBER, direction(s))
        elif s.phase == PLAY and not s.terminal:
            scene.counters["hearts"] = CounterView("hearts", CounterUse.NUMBER, "broken" if s.is_broken else "unbroken")


def texts(cards):
    """Return the texts of a bit set of cards."""
    return [PACK.texts[card] for card in PACK.cards_of(cards)]


def direction(s):
    """Return where cards are passed, in words."""
    return "right" if s.distance == s.rules.num_players - 1 else "left" if s.distance == 1 else "across"
