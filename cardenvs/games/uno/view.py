"""Texts and pictures of Uno."""

from cardenvs.core.errors import DeckError
from cardenvs.core.events import UNKNOWN, CounterUse, PileLayout
from cardenvs.core.game_view import Choice
from cardenvs.core.text import count
from cardenvs.core.view import View, sees
from cardenvs.games.uno import actions
from cardenvs.games.uno.cards import (
    CODES,
    COLOUR_NAMES,
    COLOURED,
    COPIES,
    LABELS,
    NUM_KINDS,
    NUM_SYMBOLS,
    SYMBOL_NAMES,
    WILD,
)
from cardenvs.games.uno.legal import cards_to_play, may_draw
from cardenvs.games.uno.rules import hand_points
from cardenvs.games.uno.state import (
    AGAINST,
    CATCH,
    CHALLENGE,
    DRAWN,
    JUMP,
    NAME,
    NO_CARD,
    PHASES,
    SAY,
    STACK,
    SWAP,
    may_challenge,
)

_REASONS = {
    actions.WRONG_PHASE: "that is not the question now (rules.md 4.1)",
    actions.HAS_COLOUR: "Wild Draw Four needs a hand without the colour in force (rules.md 4.6)",
    actions.HAS_OTHER: "Wild Draw Four may only be played if nothing else can be (rules.md 8.2)",
    actions.MUST_PLAY: "a player who can play a card may not draw (rules.md 7.3, 8.2)",
    actions.ONLY_DRAWN: "after drawing, only the card drawn may be played (rules.md 4.2)",
    actions.NOT_ON_STACK: "this card may not be added to the stack (rules.md 7.1)",
    actions.NOT_IDENTICAL: "only an identical card may be played out of turn (rules.md 7.5)",
    actions.OWN_HAND: "hands are swapped with another player (rules.md 7.4)",
    actions.NOT_IN_GAME: "in this game Uno is always said (rules.md 7.6)",
}
_TILE_COLOURS = (*COLOUR_NAMES[:3], "orange")  # tiles have no yellow, which is hard to read
_SHORT = (*"0123456789", "skip", "rev", "+2")  # on pictures


class UnoView(View):
    """Words of Uno."""

    tokens = LABELS
    shape = "ring"
    phases = PHASES
    remembered = frozenset({"known_hands", "not_seen_yet"})

    # -- cards --------------------------------------------------------------------------------------------------

    def token_code(self, token):
        """As RLCard writes it: "r-draw_2"."""
        return CODES[token]

    def parse_token(self, text):
        """Read "red 7" or "r-7", "green Draw Two" or "g-draw_2", "Wild" or "wild"."""
        wanted = text.strip().lower()
        for names in (CODES, LABELS):
            for kind, name in enumerate(names):
                if name.lower() == wanted:
                    return kind
        raise DeckError(f"{text!r} is not a card; cards are written as in red 7, r-7, b-draw_2 or wild_draw_4")

    def token_face(self, token):
        if token >= WILD:
            return {"kind": "tile", "text": "wild" if token == WILD else "+4", "colour": "black"}
        return {"kind": "tile", "text": _SHORT[token % COLOURED], "colour": _TILE_COLOURS[token // COLOURED]}

    # -- the table ----------------------------------------------------------------------------------------------

    def fill_table(self, s, viewer, table):
        """What the declarations say, and the hands: those of others as far as the viewer knows them."""
        super().fill_table(s, viewer, table)
        for p in range(int(s.rules.num_players)):
            is_seen = sees(viewer, p) or s.is_shown
            shown = _listed(s.hands[p] if is_seen else s.known[p, viewer] if viewer >= 0 else [])
            table.put("hand", shown, unknown=int(s.hand_sizes[p]) - len(shown), player=p)
            if s.drawn != NO_CARD and p == s.current_player:
                table.put("drawn", [s.drawn], player=p, seen=sees(viewer, p))

    def arrange(self, s, viewer, scene):
        """Hands by colour, the colour and direction in words, and no places that nothing lies in."""
        for p in range(int(s.rules.num_players)):
            hand = scene.piles["hand", p]
            known = sorted(token for token in hand.tokens if token != UNKNOWN)
            hand.tokens = known + [UNKNOWN] * (len(hand.tokens) - len(known))
            if not scene.piles["drawn", p].tokens:
                scene.piles["drawn", p].layout = PileLayout.NONE
        scene.counters["colour"].value = "not named yet" if s.phase == NAME else COLOUR_NAMES[int(s.colour)]
        scene.counters["direction"].value = "to the left" if s.direction > 0 else "to the right"
        if s.owed:
            scene.counters["owed"].use, scene.counters["owed"].label = CounterUse.NUMBER, "to draw"
        if s.rules.target > 0:
            number = scene.counters["round"]
            number.use, number.label = CounterUse.NUMBER, f"match to {s.rules.target}, round"
        else:
            scene.counters["score"].use = CounterUse.NONE

    # -- actions ------------------------------------------------------------------------------------------------

    def action_label(self, s, action):
        """Return "play red 7", "play Wild, name blue", "draw", "keep", "challenge" and so on."""
        if action < actions.DRAW:
            kind, colour = int(actions.kind_played(action)), COLOUR_NAMES[action // NUM_SYMBOLS]
            return f"play {LABELS[kind]}, name {colour}" if kind >= WILD else f"play {LABELS[kind]}"
        if action == actions.DRAW:
            return f"draw {int(s.owed)}" if s.phase == STACK else "draw"
        if action == actions.PASS:
            return "keep" if s.phase == DRAWN else "say nothing" if s.phase == SAY else "pass"
        if action >= actions.SWAP_0:
            return f"swap with player_{action - actions.SWAP_0}"
        if actions.NAME_0 <= action < actions.SAY_UNO:
            return f"name {COLOUR_NAMES[action - actions.NAME_0]}"
        return {
            actions.ACCEPT: "accept",
            actions.CHALLENGE: "challenge",
            actions.SAY_UNO: "say Uno",
            actions.CATCH: "catch",
        }[int(action)]

    def choice(self, s, action):
        player = int(s.current_player)
        source = ("drawn" if s.phase == DRAWN else "hand", player)
        if action < actions.DRAW:
            return Choice((int(actions.kind_played(action)),), source, ("discards", None))
        if action == actions.DRAW:
            return Choice((), ("draw_pile", None))
        if action == actions.PASS and s.phase == DRAWN:
            return Choice((int(s.drawn),), source, ("hand", player))
        return Choice()

    def meant_by(self, s, token):
        if token >= WILD:
            return NUM_SYMBOLS * int(s.colour) + token - WILD + COLOURED
        return NUM_SYMBOLS * (token // COLOURED) + token % COLOURED

    def illegal_reason(self, s, action, code):
        if code in (actions.NOT_HELD, actions.NO_MATCH):
            card = LABELS[int(actions.kind_played(action))]
            if code == actions.NOT_HELD:
                return f"{card} is not in hand (rules.md 4.1)"
            return f"{card} does not match {_to_match(s)} (rules.md 4.1)"
        return _REASONS[code]

    def prompt(self, s):
        author = f"player_{int(s.author)}"
        if s.phase == NAME:
            return "The first card is a Wild. Name a colour."
        if s.phase == DRAWN:
            drawn = f"You have drawn {LABELS[int(s.drawn)]}"
            if not cards_to_play(s):
                return f"{drawn}, which may not be played on {_to_match(s)}. Keep it."
            return f"{drawn}. Play it on {_to_match(s)}, or keep it?"
        if s.phase == CHALLENGE:
            return f"{author} has played Wild Draw Four on {COLOUR_NAMES[int(s.old_colour)]}. Accept, or challenge?"
        if s.phase == STACK:
            return f"Add a card, or draw {count(int(s.owed), 'card')}?"
        if s.phase == SAY:
            return "You have one card left. Say Uno?"
        if s.phase == CATCH:
            return f"{author} has one card left and has not said Uno. Catch?"
        if s.phase == SWAP:
            return "With whom do you swap hands?"
        if s.phase == JUMP:
            return f"{author} has played {_to_match(s)}. Jump in?"
        cards = cards_to_play(s)
        or_draw = ", or draw" if may_draw(s, cards) else ""
        return f"Play a card on {_to_match(s)}{or_draw}."

    # -- what a careful player knows ----------------------------------------------------------------------------

    def facts(self, s, player):
        n = int(s.rules.num_players)
        facts = {
            "colour": None if s.phase == NAME else COLOUR_NAMES[int(s.colour)],
            "symbol": SYMBOL_NAMES[int(s.symbol)],
            "direction": "left" if s.direction > 0 else "right",
            "hand_sizes": [int(size) for size in s.hand_sizes[:n]],
            "hand_points": int(hand_points(s, player)),
            "known_hands": [
                [LABELS[kind] for kind in _listed(s.hands[p] if p == player or s.is_shown else s.known[p, player])]
                for p in range(n)
            ],
            "draw_pile": int(s.num_stock),
            "discards": int(s.num_pile),
            "not_seen_yet": _unseen(s, player),
            "turns_left": int(s.rules.max_turns - s.num_turns),
        }
        if s.phase == CHALLENGE and may_challenge(s):
            facts["colour_before"] = COLOUR_NAMES[int(s.old_colour)]
        if s.rules.target > 0:
            facts["scores"] = [int(score) for score in s.scores[:n]]
            facts["points_are_bad"] = bool(s.rules.scoring == AGAINST)
        return facts

    def describe_event(self, event, kind):
        if event.kind in ("colour", "name"):
            colour = COLOUR_NAMES[event.value]
            return f"The colour is {colour}." if event.kind == "colour" else f"player_{event.player} names {colour}."
        if event.kind == "direction":
            return f"Play goes to the {'left' if event.value > 0 else 'right'}."
        return super().describe_event(event, kind)


# ---------------------------------------------------------------------------------------------------------------
# Parts of the texts


def _listed(counts):
    """Return counts by kind as a list of kinds, ascending."""
    return [kind for kind, number in enumerate(counts) for _ in range(int(number))]


def _to_match(s):
    """Return the card to match in words: "red 7", or the colour named and the wild card."""
    symbol, colour = int(s.symbol), COLOUR_NAMES[int(s.colour)]
    return f"{colour} {SYMBOL_NAMES[symbol]}" if symbol < COLOURED else f"{SYMBOL_NAMES[symbol]}, {colour}"


def _unseen(s, player):
    """Return how many cards of each kind `player` does not see: in the draw pile and in hands."""
    found = {}
    for kind in range(NUM_KINDS):
        in_hands = s.hands[:, kind].sum() if s.is_shown else s.hands[player, kind] + s.known[:, player, kind].sum()
        number = int(COPIES[kind] - s.discarded[kind] - in_hands)
        if s.drawn == kind and s.current_player == player:
            number -= 1
        if number:
            found[LABELS[kind]] = number
    return found
