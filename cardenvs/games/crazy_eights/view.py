"""Texts and pictures of Crazy Eights."""

from cardenvs.core.events import CounterUse
from cardenvs.core.game_view import Choice
from cardenvs.core.text import count
from cardenvs.core.view import sees
from cardenvs.games.crazy_eights import actions
from cardenvs.games.crazy_eights.rules import hand_points
from cardenvs.games.crazy_eights.state import (
    ANY_SUIT,
    EIGHT,
    NAME,
    NUM_SUITS,
    PACK,
    PHASES,
    SPECIAL_RANKS,
    SUIT_NAMES,
    is_own_penalty,
    packs_of,
    passes_to_block,
    plays_in_hand,
)
from cardenvs.kits.cards import PackView

_REASONS = {
    actions.NAME_A_SUIT: "a suit must be named (rules.md 3.2)",
    actions.NO_EIGHT: "a suit is named after an eight only (rules.md 3.2)",
    actions.OWES_CARDS: "{owed} must be drawn, unless a card that may be added is played (rules.md 4.3)",
    actions.NO_STOCK: "the stock is empty (rules.md 3.4)",
    actions.LIMIT_REACHED: "{limit} have been drawn in this turn (rules.md 3.4)",
    actions.MUST_PLAY: "a player who can play a card may not draw (rules.md 3.3)",
    actions.MUST_DRAW: "{owed} must be drawn (rules.md 4.3)",
    actions.MAY_NOT_PASS: "passing needs {limit} drawn in this turn, or an empty stock (rules.md 3.4)",
}


class CrazyEightsView(PackView):
    """Words of Crazy Eights."""

    pack = PACK
    shape = "ring"
    phases = PHASES
    remembered = frozenset({"not_seen_yet", "recycled"})

    # -- the table ----------------------------------------------------------------------------------------------

    def fill_table(self, s, viewer, table):
        """What the declarations say, and the hands."""
        super().fill_table(s, viewer, table)
        for p in range(int(s.rules.num_players)):
            table.put("hand", _listed(s.hands[p], s.doubles[p]), player=p, seen=sees(viewer, p) or bool(s.is_shown))

    def arrange(self, s, viewer, scene):
        """Hands by suit, and suit and direction in words."""
        for p in range(int(s.rules.num_players)):
            hand = scene.piles["hand", p]
            hand.tokens = sorted(hand.tokens, key=lambda card: (card < 0, card % NUM_SUITS, card))
        scene.counters["suit"].value = _suit(s)
        scene.counters["direction"].value = "to the left" if s.direction > 0 else "to the right"
        if not _has_reverse(s):
            scene.counters["direction"].use = CounterUse.NONE
        if s.owed:
            scene.counters["owed"].use, scene.counters["owed"].label = CounterUse.NUMBER, "to draw"
        if s.rules.target < 0 and not s.is_shown:
            scene.counters["score"].use = CounterUse.NONE
        if s.rules.target > 0:
            number = scene.counters["hands"]
            number.use, number.label = CounterUse.NUMBER, f"match to {int(s.rules.target)}, hand"

    # -- actions ------------------------------------------------------------------------------------------------

    def action_label(self, s, action):
        """Return "play 9♥", "draw", "draw 4", "pass" or "name hearts"."""
        if action < actions.DRAW:
            return f"play {PACK.texts[action]}"
        if action == actions.DRAW:
            return f"draw {int(s.owed)}" if s.owed else "draw"
        return "pass" if action == actions.PASS else f"name {SUIT_NAMES[action - actions.NAME_0]}"

    def choice(self, s, action):
        if action < actions.DRAW:
            return Choice((int(action),), ("hand", int(s.current_player)), ("discards", None))
        return Choice((), ("stock", None)) if action == actions.DRAW else Choice()

    def meant_by(self, s, token):
        return token

    def illegal_reason(self, s, action, code):
        if code == actions.NOT_HELD:
            return f"{PACK.texts[action]} is not in hand (rules.md 3.1)"
        if code == actions.NO_FIT:
            return f"{PACK.texts[action]} does not fit {_to_match(s)} (rules.md 3.1)"
        limit = int(s.rules.draw_limit)
        return _REASONS[code].format(
            owed=count(int(s.owed), "card"), limit="all cards" if limit < 0 else count(limit, "card")
        )

    def prompt(self, s):
        if s.phase == NAME:
            return "Name a suit."
        if s.owed:
            more = ", or add a card" if s.rules.stack else ""
            return f"Draw {count(int(s.owed), 'card')}{more}."
        if actions.may_pass(s):
            return f"Play a card on {_to_match(s)}, or pass."
        or_draw = ", or draw" if actions.may_draw(s, actions.playable(s, s.current_player)) else ""
        return f"Play a card on {_to_match(s)}{or_draw}."

    # -- what a careful player knows ----------------------------------------------------------------------------

    def facts(self, s, player):
        n = int(s.rules.num_players)
        facts = {
            "suit": None if s.suit == ANY_SUIT else SUIT_NAMES[int(s.suit)],
            "top": PACK.texts[int(s.top)],
            "direction": "left" if s.direction > 0 else "right",
            "owed": int(s.owed),
            "drawn": int(s.num_drawn),
            "hand_sizes": [int(size) for size in s.hand_sizes[:n]],
            "hand_points": int(hand_points(s, player)),
            "stock": int(s.num_stock),
            "discards": int(s.num_pile),
            "not_seen_yet": _unseen(s, player),
            "recycled": _recycled(s, player),
            "passes_left": int(passes_to_block(s.rules) - s.num_passes),
            "plays_left": int(plays_in_hand(s.rules) - s.num_plays),
        }
        if s.rules.target > 0:
            facts["scores"] = [int(score) for score in s.scores[:n]]
            facts["points_are_bad"] = bool(is_own_penalty(s.rules))
        return facts

    def describe_event(self, event, kind):
        if event.kind in ("suit", "name"):
            suit = (*SUIT_NAMES, "any")[event.value]
            return f"The suit is {suit}." if event.kind == "suit" else f"player_{event.player} names {suit}."
        if event.kind == "direction":
            return f"Play goes to the {'left' if event.value > 0 else 'right'}."
        return super().describe_event(event, kind)


# ---------------------------------------------------------------------------------------------------------------
# Parts of the texts


def _listed(cards, doubles):
    """Return bit sets of cards and of those that are there twice as a list of cards, ascending."""
    return sorted(PACK.cards_of(int(cards)) + PACK.cards_of(int(doubles)))


def _suit(s):
    return "any" if s.suit == ANY_SUIT else SUIT_NAMES[int(s.suit)]


def _has_reverse(s):
    return SPECIAL_RANKS[int(s.rules.reverse)] != "none"


def _to_match(s):
    """Return what a card must match in words: "9♥", or the suit that was named."""
    return _suit(s) if int(s.top) // NUM_SUITS == EIGHT else PACK.texts[int(s.top)]


def _unseen(s, player):
    """Return how many of each card `player` does not see: in the stock and in hands."""
    seen, packs = _seen(s, player), int(packs_of(s.rules))
    unseen = {PACK.texts[card]: packs - seen.count(card) for card in range(PACK.size)}
    return {text: number for text, number in unseen.items() if number}


def _recycled(s, player):
    """Return the cards of which the stock was made again, less those that the player must have seen since.

    With two packs, an equal card that the player sees may be the other one.
    """
    seen, packs = _seen(s, player), int(packs_of(s.rules))
    recycled = _listed(s.recycled, s.double_recycled)
    left = {card: min(recycled.count(card), packs - seen.count(card)) for card in recycled}
    return [PACK.texts[card] for card, number in left.items() for _ in range(number)]


def _seen(s, player):
    """Return the cards that `player` sees: the discards, the own hand, and at the end those of all."""
    players = range(int(s.rules.num_players)) if s.is_shown else (player,)
    found = _listed(s.discards, s.double_discards)
    for p in players:
        found += _listed(s.hands[p], s.doubles[p])
    return found
