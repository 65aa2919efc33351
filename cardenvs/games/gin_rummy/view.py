"""Texts and pictures of gin rummy."""

import numpy as np

from cardenvs.core.events import UNKNOWN, PileLayout
from cardenvs.core.game_view import Choice
from cardenvs.core.options import NONE
from cardenvs.games.gin_rummy import actions
from cardenvs.games.gin_rummy.legal import forbidden_discard, knocking_hand, top_discard
from cardenvs.games.gin_rummy.melds import (
    MAX_MELDS,
    arrangement,
    best_melded,
    knock_discards,
    min_deadwood,
    min_deadwood_after_discard,
)
from cardenvs.games.gin_rummy.rules import least_deadwood, match_total
from cardenvs.games.gin_rummy.state import (
    DISCARD,
    DRAW,
    FIRST_UPCARD,
    NO_CARD,
    NUM_PLAYERS,
    PHASES,
    WALL,
)
from cardenvs.kits.cards import NUM_CARDS, CardView, card_text, cards_of

_REASONS = {
    actions.MUST_DRAW_FIRST: "a turn begins with drawing a card, from the stock or the discard pile (rules.md 3.3)",
    actions.HAS_DRAWN: "a card has been drawn; now discard one or knock (rules.md 3.3)",
    actions.MUST_ANSWER_UPCARD: "the first upcard may only be taken or passed (rules.md 3.1)",
    actions.UPCARD_REFUSED: "both players have refused the upcard, so the draw is from the stock (rules.md 3.2)",
    actions.CANNOT_PASS: "only the first upcard, or a knock with the last discard, can be passed (rules.md 3.1, 3.8)",
    actions.BIG_GIN_OFF: "this game is played without big gin (rules.md 4.3)",
    actions.NOT_ALL_MELDED: "not all eleven cards are melded (rules.md 4.3)",
    actions.AT_THE_WALL: "the stock is used up; knock with the last discard, or pass (rules.md 3.8)",
    actions.MUST_LAY_OFF: "the opponent has knocked; lay off, or be done (rules.md 4.8)",
    actions.NO_KNOCK_YET: "nobody has knocked, so there is nothing to lay off on (rules.md 4.6)",
    actions.FITS_NO_RUN: "that card is at the end of none of the knocker's runs (rules.md 4.6)",
    actions.FITS_NO_SET: "the knocker has no set of three of that rank (rules.md 4.6)",
}


class GinRummyView(CardView):
    """The view of gin rummy."""

    remembered = frozenset(
        {"opponent_is_known_to_hold", "opponent_knows_of_your", "opponent_discarded", "not_seen_yet"}
    )

    phases = PHASES

    # -- actions ------------------------------------------------------------------------------------------------

    def action_label(self, s, action):
        if action < actions.TAKE_UPCARD:
            return f"discard {card_text(action)}"
        if action == actions.TAKE_UPCARD:
            return f"take {card_text(top_discard(s))}" if s.num_discards else "take the upcard"
        if action == actions.DRAW_STOCK:
            return "draw stock"
        if action == actions.PASS:
            return "pass"
        if action < actions.BIG_GIN:
            return _knock_label(s, action - actions.KNOCK_0)
        if action == actions.BIG_GIN:
            return "big gin"
        if action == actions.DONE:
            return "done"
        return _layoff_label(s, action)

    def choice(self, s, action):
        hand = ("hand", int(s.current_player))
        if action < actions.TAKE_UPCARD:
            return Choice((action,), hand, ("discard_pile", None))
        if action == actions.TAKE_UPCARD:
            return Choice((), ("discard_pile", None), hand)
        if action == actions.DRAW_STOCK:
            return Choice((), ("stock", None), hand)
        card = _card_of(action)
        return Choice() if card == NO_CARD or (card == top_discard(s) and s.phase == WALL) else Choice((card,), hand)

    def arrange(self, s, viewer, scene):
        """Hands that are wholly known by melds, the rest last; no empty melds, and cards laid off on them apart."""
        for p in range(NUM_PLAYERS):
            for k in range(MAX_MELDS):
                meld = scene.piles[f"meld_{k + 1}", p]
                own, laid_off = int(s.melds[p, k]), int(s.laid_off[k]) if p == s.knocker else 0
                if laid_off:
                    meld.tokens = cards_of(own ^ laid_off) + cards_of(laid_off)
                    meld.groups = [len(meld.tokens) - laid_off.bit_count(), laid_off.bit_count()]
                elif not own:
                    meld.layout = PileLayout.NONE
            if p == s.knocker:
                scene.notes[p].append("has big gin" if s.is_big_gin else "has gin" if not s.hands[p] else "knocks")
            if s.terminal and s.rules.match_target != NONE:
                scene.notes[p].append(f"total {match_total(s, p)}")
            hand = scene.piles["hand", p]
            if UNKNOWN in hand.tokens or not hand.tokens:
                continue
            melds = [cards_of(meld) for meld in _arranged(s.hands[p])]
            melded = [card for meld in melds for card in meld]
            rest = [card for card in hand.tokens if card not in melded]
            hand.tokens, hand.groups = [*melded, *rest], [len(group) for group in (*melds, rest) if group]
            hand.label = f"hand, deadwood {least_deadwood(s.hands[p])}"
        if s.doubled:
            scene.counters["knock_limit"].label = "knock limit (points count twice)"
        if s.rules.match_target != NONE:
            scene.counters["hand_number"].label = f"match to {s.rules.match_target}, hand"

    def meant_by(self, s, token):
        return token

    def illegal_reason(self, s, action, code):
        card = card_text(_card_of(action)) if _card_of(action) != NO_CARD else ""
        if code == actions.NOT_HELD:
            return f"{card} is not in hand (rules.md 3.3)"
        if code == actions.JUST_TAKEN:
            return f"{card} was taken from the discard pile in this turn (rules.md 3.4)"
        if code == actions.TOO_MUCH_DEADWOOD:
            left = min_deadwood(knocking_hand(s) ^ 1 << _card_of(action))
            return f"without {card} the deadwood is {left}, above the limit of {s.knock_limit} (rules.md 4.1)"
        return _REASONS[code]

    def prompt(self, s):
        if s.phase == FIRST_UPCARD:
            return f"Take the upcard, {card_text(top_discard(s))}, or pass?"
        if s.phase == DRAW:
            if s.num_passes == NUM_PLAYERS:
                return "Both players have passed: draw from the stock."
            return f"Take {card_text(top_discard(s))}, or draw from the stock?"
        if s.phase == DISCARD:
            return "Discard a card, or knock." if _can_knock(s) else "Discard a card."
        if s.phase == WALL:
            return f"The stock is used up: knock with {card_text(top_discard(s))}, or pass?"
        return "Lay off a card on the knocker's melds, or be done?"

    # -- what a careful player knows ----------------------------------------------------------------------------

    def facts(self, s, player):
        hand, opponent = s.hands[player], 1 - player
        melded = best_melded(hand)
        unseen = (1 << NUM_CARDS) - 1 & ~(hand | s.known[opponent] | s.discards)
        for meld in s.melds.ravel():
            unseen &= ~meld
        facts = {
            "deadwood": int(least_deadwood(hand)),
            "melds": [_labels(meld) for meld in _arranged(hand)],
            "not_melded": _labels(hand & ~melded),
            "knock_limit": int(s.knock_limit),
            "stock": int(s.num_stock),
            "draws_from_the_stock_left": max(0, int(s.num_stock - s.rules.last_stock_cards)),
            "draws_from_the_discard_pile_left": int(s.rules.max_upcard_draws - s.num_upcard_draws),
            "opponent_is_known_to_hold": _labels(s.known[opponent]),
            "opponent_knows_of_your": _labels(s.known[player]),
            "opponent_discarded": _labels(s.discarded[opponent]),
            "not_seen_yet": _labels(unseen),
        }
        if player == s.current_player:
            facts |= _facts_of_turn(s, hand)
        return facts

    def describe_event(self, event, kind):
        if event.kind == "doubled":
            return f"The points of this hand count {'twice' if event.value else 'once'}."
        if event.kind == "knock_limit" and event.value == 0:
            return "The knock limit of this hand is 0: only gin."
        return super().describe_event(event, kind)


# ---------------------------------------------------------------------------------------------------------------
# Parts of the texts


def _card_of(action):
    """Return the card that an action is about, or NO_CARD."""
    firsts = (actions.LAY_OFF_ON_SET_0, actions.LAY_OFF_ON_RUN_0, actions.KNOCK_0, actions.DISCARD_0)
    for first in firsts:
        if first <= action < first + NUM_CARDS:
            return action - first
    return NO_CARD


def _knock_label(s, card):
    hand = knocking_hand(s)
    is_gin = hand >> card & 1 and min_deadwood(hand ^ 1 << card) == 0
    return f"{'gin' if is_gin else 'knock'} discarding {card_text(card)}"


def _layoff_label(s, action):
    on = "a set" if action >= actions.LAY_OFF_ON_SET_0 else "a run"
    return f"lay off {card_text(_card_of(action))} on {on}"


def _can_knock(s):
    hand = knocking_hand(s)
    return bool(knock_discards(hand, int(s.knock_limit), forbidden_discard(s)))


def _labels(cards):
    return [card_text(card) for card in cards_of(cards)]


def _arranged(hand):
    """Return the melds of the best arrangement of a hand."""
    melds = np.zeros(MAX_MELDS, np.int64)
    return melds[: arrangement(np.int64(hand), melds)]


def _facts_of_turn(s, hand):
    """Return the facts that concern only the player to act."""
    facts = {}
    if s.phase in (FIRST_UPCARD, DRAW, WALL) and s.num_passes < NUM_PLAYERS:
        upcard = top_discard(s)
        facts["upcard"] = card_text(upcard)
        facts["deadwood_with_upcard"] = int(min_deadwood_after_discard(hand | 1 << upcard))
    if s.phase == DISCARD:
        facts["deadwood_after_discard"] = {
            card_text(card): int(min_deadwood(hand ^ 1 << card)) for card in cards_of(hand & ~forbidden_discard(s))
        }
    if s.phase in (DISCARD, WALL):
        facts["can_knock"] = _can_knock(s)
    return facts
