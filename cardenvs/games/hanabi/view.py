"""Texts and pictures of Hanabi."""

from cardenvs.core.errors import DeckError
from cardenvs.core.events import UNKNOWN, CounterUse, PileLayout
from cardenvs.core.game_view import Choice, SheetView
from cardenvs.core.text import count
from cardenvs.core.view import View
from cardenvs.games.hanabi import rules
from cardenvs.games.hanabi import state as st
from cardenvs.games.hanabi.cards import LABELS, MAX_RANKS, RAINBOW, SUIT_LETTERS, SUIT_NAMES, cards_of, set_of

_TILE_COLOURS = ("red", "orange", "green", "grey", "blue", "black")
_REASONS = {
    rules.NO_TOKEN: "a hint costs a token, and there is none (rules.md 3.1)",
    rules.ALL_TOKENS: "no card may be discarded while all hint tokens are there (rules.md 3.2)",
    rules.NO_SUCH_CARD: "there is no card at this place (rules.md 3.5)",
    rules.TOUCHES_NOTHING: "a hint must touch at least one card (rules.md 3.1)",
}


class HanabiView(View):
    """Words of Hanabi."""

    tokens = LABELS
    reasons = _REASONS
    remembered = frozenset({"hands_known_as", "not_seen_yet", "critical", "useless"})

    def parse_token(self, text):
        """Read "R1" or "red 1"."""
        wanted = " ".join(text.lower().split())
        for card, label in enumerate(LABELS):
            if wanted in (label.lower(), f"{SUIT_NAMES[card // MAX_RANKS]} {label[1]}"):
                return card
        raise DeckError(f"{text!r} is not a card; cards are written as in R1, Y2, G3, W4, B5 and M1 (rainbow)")

    def token_face(self, token):
        colour = _TILE_COLOURS[token // MAX_RANKS]
        return {"kind": "tile", "text": LABELS[token], "colour": colour}

    # -- actions ------------------------------------------------------------------------------------------------

    def action_label(self, s, action):
        """Return "play 1", "discard 5" by place, or "hint player_1 red" and "hint player_1 3"."""
        h = int(s.rules.hand_size)
        if action < 2 * h:
            return f"{'discard' if action < h else 'play'} {action % h + 1}"
        offset, colour, rank = rules.hint_of(s, action)
        receiver = (int(s.current_player) + int(offset)) % int(s.rules.num_players)
        return f"hint player_{receiver} {_colour_name(s, int(colour)) if colour >= 0 else int(rank) + 1}"

    def choice(self, s, action):
        h = int(s.rules.hand_size)
        if action < 2 * h:
            return Choice(row=0 if action >= h else 1)
        offset, colour, _ = rules.hint_of(s, action)
        return Choice(row=2 * int(offset) + int(colour < 0))

    def prompt(self, s):
        hints = count(int(s.information), "hint token")
        if s.turns_left:
            return f"This is your last turn. Play or discard a card, or give a hint ({hints})?"
        return f"Play or discard a card, or give a hint ({hints})?"

    # -- what a careful player knows ----------------------------------------------------------------------------

    def facts(self, s, player):
        n = int(s.rules.num_players)
        unseen = int(st.unseen_by(s, player))
        return {
            "score": int(st.score_of(s)),
            "best_score": int(st.count_suits(s.rules)) * int(s.rules.ranks),
            "information": int(s.information),
            "lives": int(s.lives),
            "stock": int(st.in_stock(s)),
            "turns_left": int(s.turns_left) or None,
            "playable": _listed(s.playable),
            "critical": _listed(s.critical),
            "useless": _listed(s.useless & set_of(st.all_cards(s.rules))),
            "hands_known_as": [[_known_as(s, p, k) for k in range(int(s.hand_sizes[p]))] for p in range(n)],
            "not_seen_yet": {LABELS[card]: unseen >> 2 * card & 3 for card in cards_of(set_of(unseen))},
        }

    def describe_event(self, event, kind):
        if event.kind in ("hint_colour", "hint_rank"):
            what = SUIT_NAMES[event.value] if event.kind == "hint_colour" else f"rank {event.value}"
            return f"player_{event.player} hints player_{event.source[1]}: {what}."
        return super().describe_event(event, kind)

    # -- pictures -----------------------------------------------------------------------------------------------

    def arrange(self, s, viewer, scene):
        """Write what each card of a hand can be, and group fireworks and discards by suit."""
        for p in range(int(s.rules.num_players)):
            hand = scene.piles["hand", p]
            known = [_known_as(s, p, k) for k in range(int(s.hand_sizes[p]))]
            if UNKNOWN not in hand.tokens:
                hand.layout = PileLayout.SETS
                hand.groups, hand.captions = [1] * len(hand.tokens), known[: len(hand.tokens)]
            elif viewer == p:  # hidden cards have no captions
                scene.sheet = SheetView([f"card {k + 1}" for k in range(len(known))], [known])
        for name in ("fireworks", "discards"):
            pile = scene.piles[name, None]
            pile.tokens = sorted(pile.tokens)
            suits = sorted({token // MAX_RANKS for token in pile.tokens if token != UNKNOWN})
            pile.groups = [sum(token // MAX_RANKS == suit for token in pile.tokens) for suit in suits]
        if not s.turns_left:
            scene.counters["turns_left"].use = CounterUse.NONE
        scene.counters["information"].label = "hint tokens"


# ---------------------------------------------------------------------------------------------------------------
# Parts of the texts


def _colour_name(s, colour):
    return SUIT_NAMES[colour if colour < s.rules.colors else RAINBOW]


def _listed(cards):
    return [LABELS[card] for card in cards_of(cards)]


def _known_as(s, player, place):
    """Return what the hints leave of a card: "RG 12" for a red or green one or two, "?" if nothing is known."""
    suits, ranks = int(s.suits[player, place]), int(s.ranks[player, place])
    letters = "".join(letter for k, letter in enumerate(SUIT_LETTERS) if suits >> k & 1)
    digits = "".join(str(rank + 1) for rank in range(MAX_RANKS) if ranks >> rank & 1)
    knows_suit = suits != int(st.all_suits(s.rules))
    knows_rank = ranks != (1 << int(s.rules.ranks)) - 1
    return " ".join([letters] * knows_suit + [digits] * knows_rank) or "?"
