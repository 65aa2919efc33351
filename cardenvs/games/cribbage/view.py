"""Texts and picture of Cribbage."""

from cardenvs.core.events import OMNISCIENT, CounterUse, PileLayout
from cardenvs.core.game_view import Choice, SheetView
from cardenvs.core.view import GameStatistics
from cardenvs.games.cribbage import state
from cardenvs.games.cribbage.state import (
    COUNT_0,
    GO,
    LAID_EACH,
    LAY_AWAY,
    MAX_SUM,
    ONE,
    PACK,
    PLAY,
    SHOW,
    crib_of,
    seen_in_crib,
)
from cardenvs.games.cribbage.worlds import hidden_cards
from cardenvs.kits.cards import PackView
from cardenvs.kits.matches import num_sides, side_of

_STEP = 10  # points of a dot of the score track


class CribbageView(PackView):
    """Words of Cribbage."""

    pack = PACK
    phases = state.PHASES
    remembered = frozenset({"not_seen_yet", "holds_only_cards_above"})

    def fill_table(self, s, viewer, table):
        """As declared; and the crib, in which players know their own cards."""
        super().fill_table(s, viewer, table)
        crib = int(crib_of(s))
        known = crib if viewer == OMNISCIENT or s.crib_is_shown else int(seen_in_crib(s, viewer)) if viewer >= 0 else 0
        table.put("crib", PACK.cards_of(known), (crib & ~known).bit_count())

    def action_label(self, s, action):
        """Return "lay away 5♣", "play 5♣", "go" or "count 12"."""
        if action >= COUNT_0:
            return f"count {action - COUNT_0}"
        if action == GO:
            return "go"
        return f"{'lay away' if s.phase == LAY_AWAY else 'play'} {PACK.texts[action]}"

    def choice(self, s, action):
        if action >= COUNT_0:
            return Choice(row=int(action - COUNT_0) // 10)
        if action == GO:
            return Choice()
        target = "crib" if s.phase == LAY_AWAY else "count"
        return Choice((int(action),), ("hand", int(s.current_player)), (target, None))

    def illegal_reason(self, s, action, code):
        return _REASONS[code].format(card=PACK.texts[action] if action < GO else "", total=int(s.total))

    def prompt(self, s):
        player = int(s.current_player)
        if s.phase == LAY_AWAY:
            number, of = int(s.laid[player]).bit_count() + 1, int(LAID_EACH[int(s.rules.num_players)])
            which = f" ({number} of {of})" if of > 1 else ""
            whose = "your own" if s.dealer == player else f"player_{s.dealer}'s"
            return f"Lay a card away to {whose} crib{which}."
        if s.phase == SHOW:
            what = "crib" if s.show_step == s.rules.num_players else "hand"
            return f"How many points does your {what} have with the starter {PACK.texts[int(s.starter)]}?"
        if not s.total:
            return "The count starts at 0. Lead a card."
        return f"The count is {s.total}, and may not pass {MAX_SUM}. Play a card, or say go if none fits."

    def facts(self, s, player):
        """Count, crib, starter and scores; what goes have shown; the cards not seen."""
        n, sides = int(s.rules.num_players), int(num_sides(s))
        starter = int(s.starter)
        return {
            "deal": int(s.num_deals),
            "dealer": f"player_{s.dealer}",
            "side": int(side_of(int(player), sides)),
            "scores": s.scores[:sides].tolist(),
            "count": int(s.total),
            "cards_of_count": [
                PACK.texts[card] for card in s.sequence[int(s.count_start) : int(s.num_played)].tolist()
            ],
            "starter": PACK.texts[starter] if starter >= 0 else None,
            "crib": _texts(seen_in_crib(s, player)),
            "played": [_texts(s.played[p]) for p in range(n)],
            "holds_only_cards_above": s.floors[:n].tolist(),
            "not_seen_yet": _texts(hidden_cards(s, player)),
        }

    def arrange(self, s, viewer, scene):
        """Hands by rank, who has played what, and the score track."""
        n, sides = int(s.rules.num_players), int(num_sides(s))
        for p in range(n):
            for name in ("hand", "played"):
                pile = scene.piles[name, p]
                pile.tokens.sort(key=lambda card: (card < 0, card % 13, card))
            if s.phase == SHOW or s.terminal:
                scene.piles["played", p].label = "hand"
            if sides < n:
                scene.notes[p].append(f"side {p % sides}")
        crib = scene.piles["crib", None]
        crib.label = f"crib of player_{s.dealer}"
        count = scene.piles["count", None]
        count.label = f"count: {s.total}"
        if s.phase != PLAY:
            count.layout = PileLayout.NONE
        scene.counters["total"].label = "count"
        if s.phase != PLAY:
            scene.counters["total"].use = CounterUse.NONE
        scene.counters["score"].use = CounterUse.NONE  # the track has it
        scene.counters["deal_number"].label = "deal"
        if s.rules.deals == ONE:
            scene.counters["deal_number"].use = CounterUse.NONE
        scene.sheet = _score_track(s, sides)

    def statistics(self, state):
        """Return the points of each player's side."""
        s = state.record
        sides = int(num_sides(s))
        return GameStatistics({"points": [float(s.scores[int(side_of(p, sides))]) for p in range(state.num_players)]})


def _score_track(s, sides):
    """Return the scores with a dot for each ten points to the target, larger once they are reached."""
    target = int(s.rules.target)
    rows = []
    for side in range(sides):
        score = int(s.scores[side])
        full = min(score, target) // _STEP
        name = f"player_{side}" if sides == s.rules.num_players else f"side {side}"
        rows.append([name, str(score), "•" * full + "·" * (target // _STEP - full)])
    return SheetView(["", "points", "tens" if s.rules.deals == ONE else f"to {target}"], rows, has_scores=True)


_REASONS = {
    state.NOT_HELD: "{card} is not in hand (rules.md 2.2, 3.1)",
    state.TOO_MUCH: f"{{card}} would take the count, {{total}}, past {MAX_SUM} (rules.md 3.1)",
    state.CAN_PLAY: "a player who can play a card must (rules.md 3.2)",
    state.NO_GO: "cards are laid away first (rules.md 2.2)",
    state.NO_COUNT: "hands are counted in the show, and only with muggins by the players (rules.md 4.7)",
    state.MUST_COUNT: "all cards have been played; count your cards (rules.md 4.7)",
}


def _texts(cards):
    """Return the texts of a bit set of cards."""
    return [PACK.texts[card] for card in PACK.cards_of(cards)]
