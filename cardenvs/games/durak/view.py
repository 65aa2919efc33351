"""Texts and pictures of Durak."""

from cardenvs.core.events import UNKNOWN
from cardenvs.core.game_view import Choice
from cardenvs.games.durak import actions
from cardenvs.games.durak.legal import transfer_cards, trump_to_show
from cardenvs.games.durak.state import (
    ADD,
    DECKS,
    DEFEND,
    LEAD,
    NO_CARD,
    NUM_RANKS,
    PEREVODNOY,
    PHASES,
    num_talon,
    num_teams,
)
from cardenvs.kits.cards import SUIT_SETS, CardView, bits_of, card_text, cards_of

_SUIT_NAMES = ("spades", "clubs", "diamonds", "hearts")  # in the order of SUITS
_PLAYS = {LEAD: "lead", DEFEND: "beat with", ADD: "add"}
_REASONS = {
    actions.MUST_LEAD: "the primary attacker must lead a card (rules.md 3.1)",
    actions.NOT_DEFENDING: "only the defender takes or transfers, when there is a card to beat (rules.md 3.2)",
    actions.MUST_DEFEND: "the defender must beat the attack card, or take (rules.md 3.2)",
    actions.NO_TRANSFERS_NOW: "the first bout may not be transferred in this game (rules.md 4.6)",
    actions.ALREADY_BEATEN: "a card has been beaten, so the attack cannot be transferred (rules.md 4.4)",
    actions.TOO_FEW_CARDS: "the next defender has fewer cards than there would be attack cards (rules.md 4.2)",
    actions.TOO_MANY_CARDS: "the bout has its limit of attack cards (rules.md 3.6)",
    actions.NO_SUCH_TRUMP: "the defender does not hold the trump of the attack's rank (rules.md 4.5)",
    actions.SHOWN_BEFORE: "that trump has been shown before (rules.md 4.5)",
}


class DurakView(CardView):
    """The view of Durak."""

    shape = "ring"
    phases = PHASES
    remembered = frozenset(
        {"known_hands", "others_know_of_your_hand", "discards", "not_seen_yet", "trumps_nobody_was_dealt"}
    )

    def arrange(self, s, viewer, scene):
        """The table in the order of play, each attack with the card that beats it; hands by suit, trumps last."""
        scene.piles["attack", None].tokens = [int(card) for card in s.attack_cards[: int(s.num_attack)]]
        scene.piles["defence", None].tokens = [int(card) for card in s.defence_cards[: int(s.num_beaten)]]
        scene.counters["trump"].value = _SUIT_NAMES[int(s.trump)]
        if s.rules.variant == PEREVODNOY:
            scene.counters["bout"].label = "with transfers, bout"
        for p in range(int(s.rules.num_players)):
            hand = scene.piles["hand", p]
            known = [card for card in hand.tokens if card != UNKNOWN]
            hand.tokens = _by_value(s, bits_of(known)) + [UNKNOWN] * (len(hand.tokens) - len(known))

    # -- actions ------------------------------------------------------------------------------------------------

    def action_label(self, s, action):
        if action < actions.TAKE:
            return f"{_PLAYS.get(int(s.phase), 'throw in')} {card_text(action)}"
        if action == actions.TAKE:
            return "take"
        if action == actions.PASS:
            return "pass"
        if action == actions.SHOW:
            card = trump_to_show(s) if s.phase == DEFEND else NO_CARD
            return "show a trump to transfer" if card == NO_CARD else f"show {card_text(card)} to transfer"
        return f"transfer with {card_text(action - actions.TRANSFER_0)}"

    def choice(self, s, action):
        if action in (actions.TAKE, actions.PASS, actions.SHOW):
            return Choice()
        hand = ("hand", int(s.current_player))
        if action >= actions.TRANSFER_0:
            return Choice((action - actions.TRANSFER_0,), hand, ("attack", None))
        return Choice((action,), hand, ("defence" if s.phase == DEFEND else "attack", None))

    def meant_by(self, s, token):
        return token

    def illegal_reason(self, s, action, code):
        card = action if action < actions.TAKE else action - actions.TRANSFER_0
        if code == actions.NOT_HELD:
            return f"{card_text(card)} is not in hand (rules.md 3.1)"
        if code == actions.NO_MATCH:
            return f"no card of the rank of {card_text(card)} is on the table (rules.md 3.4)"
        if code == actions.DOES_NOT_BEAT:
            return f"{card_text(card)} does not beat {card_text(_to_beat(s))} (rules.md 3.3)"
        if code == actions.OTHER_RANK:
            return f"{card_text(card)} does not have the rank of {card_text(_to_beat(s))} (rules.md 4.1)"
        return _REASONS[code]

    def prompt(self, s):
        if s.phase == LEAD:
            return f"Lead a card against player_{s.defender}."
        if s.phase == DEFEND:
            transfer = ", transfer" if s.rules.variant == PEREVODNOY and _can_transfer(s) else ""
            return f"Beat {card_text(_to_beat(s))}{transfer}, or take?"
        if s.phase == ADD:
            return f"player_{s.defender} takes. Add a card, or pass?"
        return f"player_{s.defender} has beaten all cards. Throw in a card, or pass?"

    # -- what a careful player knows ----------------------------------------------------------------------------

    def facts(self, s, player):
        n, hand = int(s.rules.num_players), s.hands[player]
        facts = {
            "trump": _SUIT_NAMES[int(s.trump)],
            "own_trumps": _labels(hand & SUIT_SETS[s.trump]),
            "role": _role(s, player),
            "talon": int(num_talon(s)),
            "hand_sizes": [_num_cards(s, p) for p in range(n)],
            "known_hands": [_labels(_known_hand(s, player, p)) for p in range(n)],
            "others_know_of_your_hand": _labels(s.known[player]),
            "discards": _labels(s.discards),
            "not_seen_yet": _labels(_unseen(s, player)),
            "attack_cards_left": 0 if s.terminal else int(s.most_attack - s.num_attack),
            "bouts_left": int(s.rules.max_bouts - s.num_bouts),
        }
        if _not_dealt(s, player):
            facts["trumps_nobody_was_dealt"] = _labels(_not_dealt(s, player))
        if num_teams(s) < n:
            facts["partners"] = [p for p in range(n) if p != player and p % num_teams(s) == player % num_teams(s)]
        return facts

    def describe_event(self, event, kind):
        if event.kind == "trump":
            return f"Trumps are {_SUIT_NAMES[event.value]}."
        return super().describe_event(event, kind)


# ---------------------------------------------------------------------------------------------------------------
# Parts of the texts


def _num_cards(s, player):
    return int(s.hands[player]).bit_count()


def _to_beat(s):
    return int(s.attack_cards[int(s.num_beaten)])


def _can_transfer(s):
    return bool(transfer_cards(s)) or trump_to_show(s) != NO_CARD


def _labels(cards):
    """Return the labels of a bit set, by suit and from low to high."""
    return [card_text(card) for card in _sorted(cards)]


def _sorted(cards):
    return sorted(cards_of(cards), key=lambda card: (card // NUM_RANKS, (card - 1) % NUM_RANKS))


def _unseen(s, player):
    """Return the cards whose place `player` has not seen: face down in the talon, or in another hand."""
    seen = int(s.hands[player] | s.attack | s.defence | s.discards)
    for known in s.known:
        seen |= int(known)
    if s.turn_up != NO_CARD:
        seen |= 1 << int(s.turn_up)
    return int(DECKS[int(s.rules.deck_size)]) & ~seen


def _known_hand(s, player, other):
    """Return the cards that `player` can place in the hand of `other`: with an empty talon, perhaps all the rest."""
    hidden = [p for p in range(int(s.rules.num_players)) if p != player and s.hands[p] != s.known[p]]
    if other == player or (hidden == [other] and s.num_face_down == 0):
        return s.hands[other]
    return s.known[other]


def _not_dealt(s, player):
    """Return the unseen trumps that nobody held after the deal (2.4)."""
    return int(s.undealt) & _unseen(s, player)


def _role(s, player):
    if player == s.defender:
        return "defender"
    return "primary attacker" if player == s.primary else "attacker"


def _by_value(s, cards):
    """Return a bit set as a list, trumps last."""
    return sorted(_sorted(cards), key=lambda card: card // NUM_RANKS == s.trump)
