"""Texts and pictures of Ristiseiska."""

from cardenvs.core.events import CounterUse
from cardenvs.core.game_view import Choice
from cardenvs.core.view import sees
from cardenvs.games.ristiseiska import actions, state
from cardenvs.games.ristiseiska.rules import hand_points
from cardenvs.games.ristiseiska.state import (
    FIRST_CARD,
    FIRST_OUT,
    GIVE,
    MORE,
    NO_CARD,
    NO_PLAYER,
    NUM_SUITS,
    PACK,
    PHASES,
    begs_to_stall,
    fitting,
    target_of,
)
from cardenvs.kits.cards import PackView

_REASONS = {
    actions.MUST_GIVE: "player_{beggar} begs and must be given a card (rules.md 4.2)",
    actions.MUST_PLAY: "a player with a card that fits must play one (rules.md 4.1)",
    actions.NO_EXTRA: "only after an ace or a king may a player stop (rules.md 4.7)",
    actions.NO_BEG_NOW: "after an ace or a king a player plays one more card, or stops (rules.md 4.7)",
}


class RistiseiskaView(PackView):
    """Words of Ristiseiska."""

    pack = PACK
    shape = "ring"
    phases = PHASES
    remembered = frozenset({"known", "lacked", "given_away"})

    # -- the table ----------------------------------------------------------------------------------------------

    def fill_table(self, s, viewer, table):
        """What the declarations say, and the hands: cards that a viewer knows, others face down."""
        super().fill_table(s, viewer, table)
        for p in range(int(s.rules.num_players)):
            is_seen = sees(viewer, p) or bool(s.is_shown)
            shown = PACK.cards_of(s.hands[p] if is_seen else _known(s, viewer, p))
            table.put("hand", shown, int(s.hand_sizes[p]) - len(shown), player=p)

    def arrange(self, s, viewer, scene):
        """Hands by suit, and the layout in suits."""
        layout = scene.piles["layout", None]
        for pile in (layout, *(scene.piles["hand", p] for p in range(int(s.rules.num_players)))):
            pile.tokens = sorted(pile.tokens, key=lambda card: (card < 0, card % NUM_SUITS, card))
        suits = [sum(card % NUM_SUITS == suit for card in layout.tokens) for suit in range(NUM_SUITS)]
        layout.groups = [size for size in suits if size]
        if s.token == NO_PLAYER:
            scene.counters["token"].use = CounterUse.NONE
        if s.num_begs:
            scene.counters["begs"].use, scene.counters["begs"].label = CounterUse.NUMBER, "begs in a row"
        if target_of(s.rules):
            number = scene.counters["hands"]
            number.use, number.label = CounterUse.NUMBER, f"match to {int(target_of(s.rules))}, hand"

    # -- actions ------------------------------------------------------------------------------------------------

    def action_label(self, s, action):
        """Return "play 9♥", "give 9♥", "beg" or "stop"."""
        if action < actions.BEG:
            return f"{'give' if s.phase == GIVE else 'play'} {PACK.texts[action]}"
        return "beg" if action == actions.BEG else "stop"

    def choice(self, s, action):
        if action < actions.BEG:
            target = ("hand", int(s.beggar)) if s.phase == GIVE else ("layout", None)
            return Choice((int(action),), ("hand", int(s.current_player)), target)
        return Choice()

    def meant_by(self, s, token):
        return token

    def illegal_reason(self, s, action, code):
        if code in (actions.NOT_HELD, actions.NO_FIT, actions.MUST_PLAY_BEGGED):
            why = {
                actions.NOT_HELD: "is not in hand (rules.md 4.1)",
                actions.NO_FIT: "does not fit (rules.md 3.2)",
                actions.MUST_PLAY_BEGGED: "is not the card that was received, which must be played (rules.md 4.6)",
            }[code]
            return f"{PACK.texts[action]} {why}"
        return _REASONS[code].format(beggar=int(s.beggar))

    def prompt(self, s):
        if s.phase == GIVE:
            return f"player_{int(s.beggar)} begs. Give a card."
        if s.phase == MORE:
            return "Play one more card, or stop."
        if s.begged != NO_CARD:
            return f"You have got {PACK.texts[int(s.begged)]}, which fits: play it."
        if s.hands[int(s.current_player)] & fitting(s):
            return "Play a card that fits."
        return "No card fits: beg."

    # -- what a careful player knows ----------------------------------------------------------------------------

    def facts(self, s, player):
        n = int(s.rules.num_players)
        facts = {
            "fits": _texts(fitting(s)),
            "hand_sizes": [int(size) for size in s.hand_sizes[:n]],
            "hand_points": int(hand_points(s, player)),
            "known": [_texts(s.known[player, p]) for p in range(n)],
            "lacked": [_texts(s.lacked[p]) for p in range(n)],
            "has_new": [bool(new) for new in s.has_new[:n]],
            "given_away": _texts(s.given[player]),
            "begs_left": int(begs_to_stall(s.rules) - s.num_begs),
        }
        if s.rules.beg == state.TOKEN:
            facts["token"] = None if s.token == NO_PLAYER else int(s.token)
        if s.rules.end != FIRST_OUT:
            facts["places"] = [None if place < 0 else int(place) + 1 for place in s.place[:n]]
        if target_of(s.rules):
            facts["scores"] = [int(score) for score in s.scores[:n]]
        return facts

    def describe_event(self, event, kind):
        if event.kind == "give" and event.token is None:
            return f"player_{event.player} gives a card."
        return super().describe_event(event, kind)


def _known(s, viewer, player):
    """Return the cards that a viewer knows to be in a hand; a spectator knows who holds 7♣."""
    if viewer >= 0:
        return s.known[viewer, player]
    return s.hands[player] & (1 << FIRST_CARD)


def _texts(cards):
    return [PACK.texts[card] for card in PACK.cards_of(int(cards))]
