"""Texts and picture of Skat."""

from dataclasses import replace

from cardenvs.core.events import NO_PLAYER, OMNISCIENT, UNKNOWN, CounterUse, PileLayout
from cardenvs.core.game_view import Choice, CounterView
from cardenvs.games.skat import state
from cardenvs.games.skat.auction import best_null_value, forehand, highest_bid
from cardenvs.games.skat.cards import SUITS, TRICKS, TRUMPS, suit_cards
from cardenvs.games.skat.state import (
    ANNOUNCE_0,
    AUCTION,
    GAMES,
    HAND,
    LAY_AWAY,
    NAME_0,
    NO_GAME,
    NOTHING,
    NULL,
    NUM_CARDS,
    NUM_PLAYERS,
    OPENSPIEL,
    OUVERT,
    PACK,
    PASS,
    PLAY,
    RAMSCH,
    SKAT,
    TAKE,
    VALUE_0,
    VALUES,
    YES,
)
from cardenvs.games.skat.worlds import knows_skat
from cardenvs.kits.cards import PackView, count_bits
from cardenvs.kits.trick_deals import DealView
from cardenvs.kits.tricks import MUST_FOLLOW, NOT_HELD, TrickView

_REASONS = {
    NOT_HELD: "that card is not in hand (rules.md 5.2)",
    MUST_FOLLOW: "the suit that was led, {led}, must be followed (rules.md 5.2)",
    state.MUST_SPEAK: "the auction is on; name a value or pass (rules.md 3.2)",
    state.MUST_ANSWER: "a value has been named; say yes or pass (rules.md 3.2)",
    state.TOO_LOW: "a value must be higher than the last one, {bid} (rules.md 3.2)",
    state.NEXT_ONLY: "only the next value, {next}, may be named (rules.md 3.2)",
    state.FIRST_ONLY: "when both others have passed without a bid, forehand plays at 18 or passes (rules.md 3.4)",
    state.MUST_NAME_OR_PASS: "name a game or pass (rules.md 10.1)",
    state.TAKE_OR_HAND: "take the skat or play hand (rules.md 4.1)",
    state.MUST_LAY_AWAY: "two cards must be laid away first (rules.md 4.2)",
    state.MUST_NAME: "name a game (rules.md 4.3)",
    state.NULL_TOO_LOW: "null is worth at most {null} here, less than the bid of {bid} (rules.md 4.5)",
    state.MUST_ANNOUNCE: "announce a level, or nothing (rules.md 4.4)",
    state.NULL_LEVELS: "null is played plain or ouvert; it has no schneider or schwarz (rules.md 4.4)",
    state.NULL_NEEDS_OUVERT: "null is worth the bid of {bid} only as ouvert (rules.md 4.5)",
    state.MUST_PLAY: "the game is on; play a card (rules.md 5.2)",
}
_LEVELS = ("nothing", "schneider", "schwarz", "ouvert")
_PER_ROW = 9  # values in a row of the keypad
_HAND_ORDER = (TRUMPS, *(SUITS.index(suit) for suit in "cshd"))


class SkatView(DealView, TrickView, PackView):
    """Words of Skat."""

    pack = PACK
    tricks, trick_pile = TRICKS, "trick"
    phases = state.PHASES
    reasons = _REASONS
    follow_prompt = "The lead is {led}. player_{winner} wins so far with {best}; play a card."
    remembered = frozenset({"voids", "skat", "trumps_not_seen", "points"})

    def fill_table(self, s, viewer, table):
        """Show the skat to those who know it."""
        super().fill_table(s, viewer, table)
        table.put("skat", PACK.cards_of(s.skat), seen=_sees_skat(s, viewer))

    def action_label(self, s, action):
        """Return "bid 18", "take the skat", "lay away 7♦", "clubs", "announce schneider", "lead 7♦" and so on."""
        action = int(action)
        if action < NUM_CARDS:
            return f"lay away {PACK.texts[action]}" if s.phase == LAY_AWAY else super().action_label(s, action)
        if VALUE_0 <= action < TAKE:
            return f"bid {VALUES[action - VALUE_0 + 1]}"
        if NAME_0 <= action < ANNOUNCE_0:
            return GAMES[action - NAME_0]
        if action >= ANNOUNCE_0:
            return f"announce {_LEVELS[action - ANNOUNCE_0]}"
        return {PASS: "pass", YES: "yes", TAKE: "take the skat", HAND: "play hand"}[action]

    def choice(self, s, action):
        if s.phase == PLAY:
            return super().choice(s, action)
        if s.phase == LAY_AWAY:
            return Choice((int(action),), ("hand", int(s.soloist)), ("skat", None))
        if VALUE_0 <= action < TAKE:
            return Choice(row=(int(action) - VALUE_0) // _PER_ROW)
        return Choice()

    def meant_by(self, s, token):
        return token if s.phase in (PLAY, LAY_AWAY) else None

    def illegal_reason(self, s, action, code):
        bid = int(highest_bid(s))
        text = self.reasons.get(code, "")
        if "{bid}" in text or "{next}" in text:
            words = {"bid": VALUES[bid], "next": VALUES[min(bid + 1, len(VALUES) - 1)], "null": best_null_value(s)}
            return text.format(**words)
        return super().illegal_reason(s, action, code)

    def prompt(self, s):
        if s.phase == PLAY:
            return super().prompt(s)
        if s.phase == AUCTION:
            return _auction_prompt(s)
        if s.phase == SKAT:
            return f"You are the soloist at {_bid_of(s)}. Take the skat, or play hand?"
        if s.phase == LAY_AWAY:
            return f"Lay {'two cards' if not s.skat else 'another card'} away."
        if s.phase == state.NAME_GAME:
            return f"Which game do you play? It must be worth {_bid_of(s)}."
        return "Do you play ouvert?" if s.game == NULL else "Announce a level, or nothing."

    def facts(self, s, player):
        """Return auction, game, points and what is known of trumps, suits and the skat."""
        return {
            **super().facts(s, player),
            "forehand": f"player_{forehand(s)}",
            "bids": [int(VALUES[bid]) for bid in s.bids],
            "passed": [f"player_{p}" for p in range(NUM_PLAYERS) if s.passed[p]],
            "soloist": None if s.soloist == NO_PLAYER else f"player_{s.soloist}",
            "game": _game_text(s),
            "points": s.points.tolist(),
            "skat": [PACK.texts[card] for card in PACK.cards_of(s.skat)] if _sees_skat(s, player) else None,
            "trumps_not_seen": _trumps_not_seen(s, player),
            "scores": s.scores.tolist(),
        }

    def arrange(self, s, viewer, scene):
        """Hands by suit; bids beside the players; game and points in the heading, with several deals the score, too."""
        super().arrange(s, viewer, scene)
        scene.piles["deck", None].layout = PileLayout.NONE  # empty
        is_match = s.rules.deals > 1
        use = CounterUse.NUMBER if is_match else CounterUse.NONE
        scene.counters["deal_number"] = CounterView("deal", use, f"{s.num_deals} of {s.rules.deals}")
        for p in range(NUM_PLAYERS):
            scene.piles["hand", p].tokens.sort(key=lambda card: _place_in_hand(s, card))
            if s.phase == AUCTION:
                scene.notes[p] += ["forehand"] if p == forehand(s) else []
                scene.notes[p] += ["passed"] if s.passed[p] else []
            if s.bids[p] and (s.phase == AUCTION or p == s.soloist):
                scene.notes[p].append(f"bid {VALUES[s.bids[p]]}")
        shown = {}
        if s.game != NO_GAME:
            shown["game"] = _game_text(s)
        if s.phase == PLAY:
            shown["points"] = s.points.tolist()
        if is_match:
            shown["score"] = s.scores.tolist()
        for name, value in shown.items():
            scene.counters[name] = replace(scene.counters[name], use=CounterUse.NUMBER, value=value)

    def describe_event(self, event, kind):
        """Games and levels by their names."""
        who = f"player_{event.player}"
        if event.kind == "name":
            return "Jacks are trumps." if event.player is None else f"{who} plays {GAMES[event.value - 1]}."
        if event.kind == "announce":
            return f"{who} announces {_LEVELS[event.value]}."
        return super().describe_event(event, kind)


def _sees_skat(s, viewer):
    if viewer >= 0:
        return bool(knows_skat(s, viewer))
    return viewer == OMNISCIENT or bool(s.skat_is_shown)


def _bid_of(s):
    """Return the value at which the soloist plays."""
    return int(VALUES[s.bids[s.soloist]])


def _auction_prompt(s):
    if s.rules.bidding == OPENSPIEL:
        return "Name the game that you want to play, or pass."
    bid = int(VALUES[highest_bid(s)])
    if s.current_player == s.listener:
        return f"player_{s.speaker} bids {bid}. Say yes, or pass."
    if s.listener == NO_PLAYER:
        after = "then ramsch is played" if s.rules.all_pass == RAMSCH else "then the cards are thrown in"
        return f"Both others have passed. Play at 18, or pass; {after}."
    return f"Name a value above {bid} to player_{s.listener}, or pass." if bid else "Name a value from 18, or pass."


def _game_text(s):
    """Return the game in words, such as "clubs hand, schneider announced"; None if none has been named."""
    if s.game == NO_GAME:
        return None
    if s.soloist == NO_PLAYER:
        return "ramsch"
    words = GAMES[s.game] + ("" if s.took_skat else " hand")
    if s.announced == OUVERT:
        return f"{words} ouvert"
    return words if s.announced == NOTHING else f"{words}, {_LEVELS[s.announced]} announced"


def _trumps_not_seen(s, player):
    """Return how many trumps a player has not seen; None if there are none yet."""
    if s.game in (NO_GAME, NULL):
        return None
    seen = int(s.hands[player]) | (int(s.skat) if _sees_skat(s, player) else 0)
    for p in range(NUM_PLAYERS):
        seen |= int(s.cards_played[p]) | int(state.open_hand(s, p))
    return int(count_bits(suit_cards(s, TRUMPS) & ~seen))


def _place_in_hand(s, card):
    """Return the place of a card in a hand that is shown: trumps first, black and red suits, high cards first."""
    if card == UNKNOWN:
        return len(_HAND_ORDER), 0
    ranking = TRICKS.ranking
    return _HAND_ORDER.index(int(ranking.suit_of(s, card))), -int(ranking.height(s, card))
