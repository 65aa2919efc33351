"""Texts and picture of Euchre."""

from cardenvs.core.events import NO_PLAYER, UNKNOWN, CounterUse, PileLayout
from cardenvs.core.game_view import Choice, SheetView
from cardenvs.core.options import NONE
from cardenvs.games.euchre import state
from cardenvs.games.euchre.rules import card_of, is_card, is_stuck, may_order
from cardenvs.games.euchre.state import (
    ALONE,
    ASKED,
    CALL,
    DEFEND,
    DISCARD,
    GO_ALONE,
    HEIGHT_TABLE,
    NAME_JOKER,
    NO_TRUMP,
    NUM_PLAYERS,
    NUM_SIDES,
    ORDER,
    PACK,
    PASS,
    PLAY,
    PLAY_JOKER,
    SUIT_TABLE,
    TRICKS,
    TRUMP_0,
    is_taken,
    partner_of,
    sits_out,
    upcard_in_hand,
)
from cardenvs.games.euchre.worlds import hidden_cards
from cardenvs.kits.cards import PackView
from cardenvs.kits.deck import NO_CARD
from cardenvs.kits.matches import hands_over
from cardenvs.kits.tricks import MUST_FOLLOW, NOT_HELD, TrickView

_REASONS = {
    NOT_HELD: "that card is not in hand (rules.md 3.4, 4.2)",
    MUST_FOLLOW: "the suit that was led, {led}, must be followed (rules.md 4.2)",
    ASKED + NAME_JOKER: "the dealer names a suit for the joker (rules.md 2.3)",
    ASKED + ORDER: "order up the upcard, or pass (rules.md 3.2)",
    ASKED + CALL: "call a suit, or pass (rules.md 3.3)",
    ASKED + DISCARD: "the dealer lays a card away (rules.md 3.4)",
    ASKED + ALONE: "play alone, or with your partner (rules.md 3.5)",
    ASKED + DEFEND: "play alone, or with your partner (rules.md 3.6)",
    ASKED + PLAY: "trumps are made; play a card (rules.md 4.2)",
    state.ONLY_UPCARD: "only {up}, the suit of the upcard, can be ordered up (rules.md 3.2)",
    state.NEEDS_SUIT: "ordering up needs a card of {up} in hand (rules.md 3.2)",
    state.TURNED_DOWN: "{up}, the suit of the upcard, has been turned down (rules.md 3.3)",
    state.STUCK: "the dealer must call a suit (rules.md 3.3)",
    state.UPCARD_STAYS: "the upcard may not be laid away (rules.md 3.4)",
}
_SUIT_ORDER = tuple(PACK.suits.index(suit) for suit in "shcd")  # in which people see a hand, after trumps


class EuchreView(TrickView, PackView):
    """Words of Euchre."""

    pack, tricks, trick_pile = PACK, TRICKS, "trick"
    phases = state.PHASES
    remembered = frozenset({"voids", "not_seen_yet", "laid_away"})
    reasons = _REASONS

    def action_label(self, s, action):
        if is_card(action):
            text = PACK.texts[card_of(action)]
            return f"lay away {text}" if s.phase == DISCARD else super().action_label(s, card_of(action))
        if action == PASS:
            return "pass"
        if action >= GO_ALONE:
            return "alone" if action == GO_ALONE else "with partner"
        verb = {NAME_JOKER: "name", ORDER: "order up"}.get(int(s.phase), "call")
        return f"{verb} {self.suit_text(action - TRUMP_0)}"

    def choice(self, s, action):
        if not is_card(action):
            return Choice()
        player = int(s.current_player)
        return Choice((int(card_of(action)),), ("hand", player), ("trick" if s.phase == PLAY else "laid_away", player))

    def meant_by(self, s, token):
        return PLAY_JOKER if token == state.JOKER else token

    def illegal_reason(self, s, action, code):
        if code == ASKED + CALL and is_stuck(s):
            code = state.STUCK
        up = "" if s.suit_up < 0 else self.suit_text(int(s.suit_up))
        return self.reasons[code].format(led=self.suit_text(int(TRICKS.led_suit(s))), up=up)

    def prompt(self, s):
        player = int(s.current_player)
        if s.phase == PLAY:
            return super().prompt(s)
        if s.phase == NAME_JOKER:
            return "The joker is turned up. Name the suit it counts as, before the cards are dealt."
        if s.phase == ORDER:
            if not may_order(s, player):
                return f"{self.upcard_text(s)} is turned up. You hold no card of its suit, so you can only pass."
            taker = "take it up" if player == s.dealer else f"player_{s.dealer} takes it up"
            return f"{self.upcard_text(s)} is turned up. Make its suit trumps ({taker}), or pass?"
        if s.phase == CALL:
            or_pass = "" if is_stuck(s) else ", or pass"
            return f"Call a suit other than {self.suit_text(int(s.suit_up))} as trumps{or_pass}."
        if s.phase == DISCARD:
            return f"You have taken up {PACK.texts[s.upcard]}. Lay a card away."
        trump, partner = self.suit_text(int(s.trump)), partner_of(player)
        return f"{trump} is trump. Play alone, or with your partner, player_{partner}?"

    def facts(self, s, player):
        """Bids, trumps and bowers, who plays alone, the upcard, tricks, cards not seen yet, and the match."""
        trump = None if s.trump == NO_TRUMP else self.suit_text(int(s.trump))
        own = int(player) % NUM_SIDES
        return super().facts(s, player) | {
            "partner": f"player_{partner_of(int(player))}",
            "dealer": f"player_{s.dealer}",
            "bids": [{"player": f"player_{p}", "bid": bid} for p, bid in self.bids(s)],
            "trump": trump,
            "left_bower": None if trump is None else _left_bower(s),
            "maker": None if s.maker == NO_PLAYER else f"player_{s.maker}",
            "alone": [f"player_{p}" for p in range(NUM_PLAYERS) if s.alone[p]],
            "upcard": self.upcard_text(s),
            "upcard_is": _place_of_upcard(s),
            "laid_away": PACK.texts[s.laid_away] if player == s.dealer and s.laid_away != NO_CARD else None,
            "tricks_won": {"us": int(s.tricks_won[own]), "them": int(s.tricks_won[1 - own])},
            "not_seen_yet": [PACK.texts[card] for card in PACK.cards_of(hidden_cards(s, player))],
            "hand": int(s.num_hands),
            "scores": {"us": int(s.scores[own]), "them": int(s.scores[1 - own])},
            "points_by_hand": s.hand_points[: hands_over(s, s.num_hands), [own, 1 - own]].tolist(),
        }

    def arrange(self, s, viewer, scene):
        """Hands by suit, bids as a sheet until the play begins, parts of the players, tricks and score of sides."""
        for p, notes in enumerate(scene.notes):
            _sort_hand(s, scene.piles["hand", p])
            scene.piles["laid_away", p].label = "laid away"
            if p == s.maker:
                notes.append(f"{'ordered' if is_taken(s) else 'called'} {self.suit_text(int(s.trump))}")
            if s.alone[p]:
                notes.append("alone")
            if sits_out(s, p):
                notes.append("sits out")
        turned_up = scene.piles["turned_up", None]
        if is_taken(s):
            turned_up.layout = PileLayout.NONE
        elif s.passes >= NUM_PLAYERS:
            turned_up.label = "turned down"
        if s.phase != PLAY and s.phase != NAME_JOKER:
            scene.sheet = self.bidding_sheet(s)
        for name in ("tricks_won", "score"):
            values = scene.counters[name].value
            scene.counters[name].value = [values[p % NUM_SIDES] for p in range(NUM_PLAYERS)]
        trump, hand = scene.counters["trump"], scene.counters["hand_number"]
        if s.trump == NO_TRUMP:
            trump.use = scene.counters["tricks_won"].use = CounterUse.NONE
        else:
            trump.value = self.suit_text(int(s.trump))
        if s.rules.target == NONE:
            hand.use = scene.counters["score"].use = CounterUse.NONE
        else:
            hand.label = f"match to {s.rules.target}, hand"

    def describe_event(self, event, kind):
        """Suits by their signs."""
        if event.kind == "name_joker":
            return f"The joker counts as {self.suit_text(event.value)}."
        if event.kind in ("order", "call"):
            verb = "orders up" if event.kind == "order" else "calls"
            return f"player_{event.player} {verb} {self.suit_text(event.value - 1)}."
        return super().describe_event(event, kind)

    def upcard_text(self, s):
        """Return the upcard; for a joker with the suit that it counts as."""
        text = PACK.texts[s.upcard]
        return f"{text} as {self.suit_text(int(s.suit_up))}" if s.upcard == state.JOKER and s.suit_up >= 0 else text

    def bids(self, s):
        """Return the bids of this hand in order, as (player, text)."""
        left = int(s.dealer) + 1
        bids = [((left + k) % NUM_PLAYERS, "pass") for k in range(int(s.passes))]
        if s.maker != NO_PLAYER:
            text = f"{'order up' if is_taken(s) else 'call'} {self.suit_text(int(s.trump))}"
            bids.append((int(s.maker), f"{text} alone" if s.alone[s.maker] else text))
        return bids

    def bidding_sheet(self, s):
        """Return the bids in a column for each player."""
        cells = [""] * ((int(s.dealer) + 1) % NUM_PLAYERS) + [text for _, text in self.bids(s)]
        rows = [cells[k : k + NUM_PLAYERS] for k in range(0, len(cells), NUM_PLAYERS)]
        return SheetView([f"player_{p}" for p in range(NUM_PLAYERS)], rows)


def _place_of_upcard(s):
    """Return where all know the upcard to be."""
    if not is_taken(s):
        return "turned down" if s.passes >= NUM_PLAYERS else "turned up"
    if upcard_in_hand(s, int(s.dealer)):
        return "in the dealer's hand"
    if (s.played == s.upcard).any():
        return "played"
    return "in the dealer's hand, or laid away"


def _left_bower(s):
    """Return the jack that counts as a trump, though it has another suit."""
    return PACK.texts[PACK.parse(f"J{PACK.suits[state.SAME_COLOUR[s.trump]]}")]


def _sort_hand(s, pile):
    """Show a hand by suit as it will be played: trumps first, high cards first, and what is hidden last."""
    trump = int(s.trump)
    suits = PACK.suit_index if trump == NO_TRUMP else SUIT_TABLE[trump]
    heights = PACK.rank_index if trump == NO_TRUMP else HEIGHT_TABLE[trump]
    order = [state.NO_TRUMP, trump, *_SUIT_ORDER]  # a joker comes before all suits

    def place(card):
        return (len(order), 0) if card == UNKNOWN else (order.index(int(suits[card])), -int(heights[card]))

    pile.tokens.sort(key=place)
