"""Texts and picture of Dou Dizhu."""

import re

from cardenvs.core.errors import DeckError
from cardenvs.core.events import OMNISCIENT, UNKNOWN, PileLayout
from cardenvs.core.game_view import Choice
from cardenvs.core.view import View, sees
from cardenvs.games.dou_dizhu import rules
from cardenvs.games.dou_dizhu.cards import ALL_CARDS, RANKS, listed
from cardenvs.games.dou_dizhu.plays import (
    BID_0,
    FOUR_WITH_TWO,
    KINDS,
    PASS,
    PLAYS,
    allowed_needs,
    main_part,
    pattern_for,
)
from cardenvs.games.dou_dizhu.state import (
    AUCTION,
    BY_POINTS,
    NO_BID,
    NO_PLAY,
    NUM_PLAYERS,
    PASSED,
    PHASES,
)
from cardenvs.kits.cards import JOKER

_TEXTS = tuple("10" if rank == "T" else rank for rank in RANKS)
_JOKER_FACES = {colour: {"kind": "card", "rank": JOKER, "suit": suit} for colour, suit in (("B", "s"), ("R", "h"))}
_TEN = re.compile(r"\bt\b")
_REASONS = {
    rules.BIDS_COME_FIRST: "cards are played after the auction; bid or pass (rules.md 3.2)",
    rules.BIDS_ARE_OVER: "the auction is over; play cards or pass (rules.md 5.1)",
    rules.MUST_LEAD: "the leader of a trick must play (rules.md 5.1)",
}


class DouDizhuView(View):
    """Words of Dou Dizhu."""

    tokens = _TEXTS
    shape = "ring"
    phases = PHASES
    remembered = frozenset({"not_seen_yet", "known_hands", "bids"})

    # -- cards --------------------------------------------------------------------------------------------------

    def token_code(self, token):
        return RANKS[token]

    def parse_token(self, text):
        """Read "10" or "T", "B" for the black joker and "R" for the red one."""
        wanted = text.strip().upper()
        for names in (_TEXTS, RANKS):
            if wanted in names:
                return list(names).index(wanted)
        raise DeckError(f"{text!r} is not a card; cards are {' '.join(_TEXTS)}, of which B and R are the jokers")

    def token_face(self, token):
        return _JOKER_FACES.get(RANKS[token]) or {"kind": "card", "rank": RANKS[token]}

    # -- the table ----------------------------------------------------------------------------------------------

    def fill_table(self, s, viewer, table):
        """What the declarations say, the hands as far as the viewer knows them, and the cards left over."""
        super().fill_table(s, viewer, table)
        for p in range(NUM_PLAYERS):
            shown = listed(s.hands[p] if sees(viewer, p) else s.known[p])
            table.put("hand", shown, unknown=int(s.hand_sizes[p]) - len(shown), player=p)
        if s.phase == AUCTION:
            table.put("extra", listed(s.extra), seen=viewer == OMNISCIENT)

    def arrange(self, s, viewer, scene):
        """Hands in order, words of the auction, passes, and no place that nothing lies in."""
        for p in range(NUM_PLAYERS):
            hand = scene.piles["hand", p]
            seen = sorted(token for token in hand.tokens if token != UNKNOWN)
            hand.tokens = seen + [UNKNOWN] * (len(hand.tokens) - len(seen))
            if not scene.piles["played", p].tokens:
                scene.piles["played", p].layout = PileLayout.NONE
            if s.phase == AUCTION and s.bids[p] != NO_BID:
                scene.notes[p].append("passes" if s.bids[p] == PASSED else f"bids {s.bids[p]}")
            elif s.passed[p]:
                scene.notes[p].append("passes")
        extra = scene.piles["extra", None]
        extra.label = "left over"
        if s.phase != AUCTION:
            extra.layout = PileLayout.NONE
        scene.counters["doublings"].label = "bombs and rockets"

    # -- actions ------------------------------------------------------------------------------------------------

    def action_label(self, s, action):
        """Return "pass", "bid 2", or the main part and the kickers, as in "3 3 3 4 4 4 + 5 5"."""
        if action == PASS:
            return "pass"
        if BID_0 < action <= BID_0 + rules.NUM_BIDS:
            return f"bid {action - BID_0}"
        return play_text(int(action))

    def label_key(self, label):
        return _TEN.sub("10", super().label_key(label))

    def choice(self, s, action):
        if PASS <= action <= BID_0 + rules.NUM_BIDS:
            return Choice()
        player = int(s.current_player)
        return Choice(tuple(listed(PLAYS[int(action)])), ("hand", player), ("on_table", player))

    def illegal_reason(self, s, action, code):
        if code == rules.TOO_LOW:
            return f"the last bid was {int(s.bid)}; a bid must be higher (rules.md 3.2)"
        if code == rules.NOT_HELD:
            return f"{play_text(int(action))} is not in hand (rules.md 5.1)"
        if code == rules.TOO_WEAK:
            return f"{play_text(int(action))} does not beat {play_text(int(s.to_beat))} (rules.md 5.2)"
        if code == rules.NOT_IN_GAME:
            lacks = pattern_for(int(action)).needs & ~allowed_needs(s.rules)
            paragraph = "4.1" if lacks & FOUR_WITH_TWO else "4.3, 4.4"
            return f"the options do not allow {play_text(int(action))} (rules.md {paragraph})"
        return _REASONS[code]

    def prompt(self, s):
        if s.phase == AUCTION:
            return f"The last bid was {int(s.bid)}. Bid higher, or pass." if s.bid else "Bid 1, 2 or 3, or pass."
        if s.to_beat == NO_PLAY:
            return "Lead any play."
        kind = KINDS[pattern_for(int(s.to_beat)).kind]
        return f"Beat {play_text(int(s.to_beat))} ({kind}) of player_{s.author}, or pass."

    # -- what a careful player knows ----------------------------------------------------------------------------

    def facts(self, s, player):
        unseen = int(ALL_CARDS - s.hands[player] - s.played.sum())
        facts = {
            "landlord": f"player_{s.landlord}" if s.landlord >= 0 else None,
            "hand_sizes": [int(size) for size in s.hand_sizes],
            "known_hands": [_cards_text(s.known[p]) for p in range(NUM_PLAYERS)],
            "not_seen_yet": {
                text: unseen >> 4 * rank & 15 for rank, text in enumerate(_TEXTS) if unseen >> 4 * rank & 15
            },
            "bids": ["passed" if bid == PASSED else None if bid == NO_BID else int(bid) for bid in s.bids],
        }
        if s.phase != AUCTION:
            facts["left_over"] = _cards_text(s.extra)
            if s.rules.returns == BY_POINTS:
                facts["stake"] = _stake(s)
        return facts

    def describe_event(self, event, kind):
        if event.kind == "bid":
            return f"player_{event.player} bids {event.value - 1}."
        if event.kind == "play":
            return f"player_{event.player} plays {play_text(event.value)}."
        return super().describe_event(event, kind)


# ---------------------------------------------------------------------------------------------------------------
# Parts of the texts


def _stake(s):
    """Return what a peasant wins or loses as things stand; at the end, doubled for a spring (6.2)."""
    doublings = int(s.doublings) if s.rules.bomb_doubles else 0
    out = [p for p in range(NUM_PLAYERS) if s.hand_sizes[p] == 0]
    if out and s.rules.spring_doubles and rules.is_spring(s, out[0]):
        doublings += 1
    return int(s.bid) << doublings


def _cards_text(cards):
    return " ".join(_TEXTS[rank] for rank in listed(cards))


def play_text(action):
    """Return a play as in "3 3 3 4 4 4 + 5 5": its main part, and its kickers."""
    main = main_part(action)
    kickers = _cards_text(int(PLAYS[action]) - main)
    return f"{_cards_text(main)} + {kickers}" if kickers else _cards_text(main)
