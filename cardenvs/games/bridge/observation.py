"""What a player of Contract Bridge observes."""

import functools

from cardenvs.core.cards import CARD_LABELS, NUM_CARDS, SUITS, mark_cards
from cardenvs.core.events import NO_PLAYER
from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Layout, Section
from cardenvs.games.bridge.cards import dummy_of, led_suit
from cardenvs.games.bridge.state import (
    DENOMINATIONS,
    MAX_DEALS,
    NO_BID,
    NO_CARD,
    NUM_BIDS,
    NUM_DENOMINATIONS,
    NUM_PLAYERS,
    NUM_SIDES,
    NUM_TRICKS,
    PHASES,
    PLAY,
    RUBBER,
)

_SEATS = "observer first, then clockwise"
_SIDES = "the observer's side first"
_BIDS = tuple(f"{level}{name}" for level in range(1, 8) for name in DENOMINATIONS)
_SCORE_STEP = 10  # points
_MOST_SCORE = 30_000


def layout(options):
    """Return the sections of an observation, int16: those of a deal, then those of a rubber."""
    return _layout(options.scoring == "rubber")


def _cards(name, doc, high=1):
    return Section(name, NUM_CARDS, doc, high=high, labels=CARD_LABELS)


def _by_seat(name, doc, labels):
    texts = tuple(f"{seat}:{label}" for seat in range(NUM_PLAYERS) for label in labels)
    return Section(name, len(texts), f"{doc}, {_SEATS}", labels=texts)


def _seat(name, doc):
    return Section(name, NUM_PLAYERS, f"one-hot {doc}, {_SEATS}")


_DEAL = (
    _cards("hand", "own cards"),
    _cards("dummy", "dummy's cards, once they are faced; those of the observer who is dummy, too"),
    _by_seat("trick", "one-hot card in the current trick", CARD_LABELS),
    _by_seat("last_trick", "one-hot card in the trick before", CARD_LABELS),
    _by_seat("played", "cards played in this deal", CARD_LABELS),
    _cards("played_in", "number of the trick in which a card was played, 0 if it was not", high=NUM_TRICKS),
    _by_seat("voids", "1 for each suit that a player has shown not to hold", tuple(SUITS)),
    _by_seat("bids", "1 for each bid that a player has made", _BIDS),
    _by_seat("doubles", "1 for each bid that a player has doubled", _BIDS),
    _by_seat("redoubles", "1 for each bid that a player has redoubled", _BIDS),
    _by_seat("opening_passes", "1 for a player who has passed before the first bid", ("passed",)),
    Section("passes", 4, "one-hot passes in a row, 0 to 3"),
    Section("contract", 7 + NUM_DENOMINATIONS, "one-hot level and denomination of the last bid",
            labels=(*"1234567", *DENOMINATIONS)),
    Section("doubled", 2, "1 if it is doubled; 1 if it is redoubled", labels=("doubled", "redoubled")),
    _seat("declarer", "declarer, once the auction is over"),
    _seat("dealer", "dealer"),
    _seat("leader", "leader of the trick, in the play"),
    _seat("turn", "hand to play or call"),
    _seat("to_act", "player who decides"),
    Section("vulnerable", NUM_SIDES, f"1 for a vulnerable side, {_SIDES}"),
    Section("led_suit", 4, "one-hot suit to follow", labels=tuple(SUITS)),
    Section("tricks_won", NUM_SIDES, f"tricks won, {_SIDES}", high=NUM_TRICKS),
    Section("phase", len(PHASES), "one-hot phase", labels=PHASES),
)  # fmt: skip
_RUBBER = (
    _by_seat("last_played", "cards played in the deal before", CARD_LABELS),
    Section("games", NUM_SIDES, f"games won, {_SIDES}", high=2),
    Section("below", NUM_SIDES, f"points below the line, {_SIDES}", high=2000),
    Section("lead", 1, f"lead of the observer's side in points, in {_SCORE_STEP}s, cut off",
            low=-_MOST_SCORE, high=_MOST_SCORE),
    Section("deal_number", 1, "deals begun", high=MAX_DEALS),
)  # fmt: skip


@functools.cache
def _layout(is_rubber):
    return Layout(_DEAL + _RUBBER if is_rubber else _DEAL, dtype="int16" if is_rubber else "int8")


_COMMON = Layout(_DEAL)
(
    _HAND, _DUMMY, _TRICK, _LAST_TRICK, _PLAYED, _PLAYED_IN, _VOIDS, _BID, _DOUBLE, _REDOUBLE, _OPENING_PASSES, _PASSES,
    _CONTRACT, _DOUBLED, _DECLARER, _DEALER, _LEADER, _TURN, _TO_ACT, _VULNERABLE, _LED_SUIT, _TRICKS_WON, _PHASE,
) = _COMMON.starts  # fmt: skip
_LAST_PLAYED = _COMMON.size
_GAMES = _LAST_PLAYED + NUM_PLAYERS * NUM_CARDS
_BELOW, _LEAD, _DEAL_NUMBER = _GAMES + NUM_SIDES, _GAMES + 2 * NUM_SIDES, _GAMES + 2 * NUM_SIDES + 1


@kernel
def observe(s, player, out):
    """Write what `player` sees of `s` into `out` (layout.size,), int8, or int16 for a rubber."""
    out[:] = 0
    mark_cards(s.hands[player], out, _HAND)
    _observe_auction(s, player, out)
    out[_DEALER + (s.dealer - player & 3)] = 1
    if not s.terminal:
        out[_TURN + (s.turn - player & 3)] = 1
        out[_TO_ACT + (s.current_player - player & 3)] = 1
    out[_PHASE + s.phase] = 1
    for k in range(NUM_SIDES):
        out[_VULNERABLE + k] = s.vulnerable >> (player + k & 1) & 1
    if s.declarer != NO_PLAYER:
        out[_DECLARER + (s.declarer - player & 3)] = 1
    if s.phase == PLAY:
        _observe_play(s, player, out)
    if s.rules.scoring == RUBBER:
        _observe_rubber(s, player, out)


@kernel(inline=True)
def _observe_auction(s, player, out):
    for k in range(min(s.opening_passes, 3)):
        out[_OPENING_PASSES + (s.dealer + k - player & 3)] = 1
    out[_PASSES + min(s.num_passes, 3)] = 1
    if s.contract == NO_BID:
        return
    for bid in range(s.contract + 1):
        if s.bidders[bid] == NO_PLAYER:
            continue
        out[_BID + (s.bidders[bid] - player & 3) * NUM_BIDS + bid] = 1
        if s.doublers[bid] != NO_PLAYER:
            out[_DOUBLE + (s.doublers[bid] - player & 3) * NUM_BIDS + bid] = 1
        if s.redoublers[bid] != NO_PLAYER:
            out[_REDOUBLE + (s.redoublers[bid] - player & 3) * NUM_BIDS + bid] = 1
    out[_CONTRACT + s.contract // NUM_DENOMINATIONS] = 1
    out[_CONTRACT + 7 + s.contract % NUM_DENOMINATIONS] = 1
    if s.doubled:
        out[_DOUBLED + s.doubled - 1] = 1


@kernel(inline=True)
def _observe_play(s, player, out):
    if s.is_faced:
        mark_cards(s.hands[dummy_of(s)], out, _DUMMY)
    if s.trick < NUM_TRICKS:
        out[_LEADER + (s.leader - player & 3)] = 1
        if led_suit(s) >= 0:
            out[_LED_SUIT + led_suit(s)] = 1
    for seat in range(NUM_PLAYERS):
        p = player + seat & 3
        for trick in range(min(s.trick + 1, NUM_TRICKS)):
            card = s.played[p, trick]
            if card != NO_CARD:
                out[_PLAYED + seat * NUM_CARDS + card] = 1
                out[_PLAYED_IN + card] = trick + 1
                if trick == s.trick:
                    out[_TRICK + seat * NUM_CARDS + card] = 1
                elif trick == s.trick - 1:
                    out[_LAST_TRICK + seat * NUM_CARDS + card] = 1
        for suit in range(4):
            out[_VOIDS + 4 * seat + suit] = s.voids[p] >> suit & 1
    for k in range(NUM_SIDES):
        out[_TRICKS_WON + k] = s.tricks_won[player + k & 1]


@kernel(inline=True)
def _observe_rubber(s, player, out):
    for seat in range(NUM_PLAYERS):
        mark_cards(s.last_played[player + seat & 3], out, _LAST_PLAYED + seat * NUM_CARDS)
    for k in range(NUM_SIDES):
        out[_GAMES + k] = s.games[player + k & 1]
        out[_BELOW + k] = s.below[player + k & 1]
    lead = (s.totals[player & 1] - s.totals[1 - (player & 1)]) // _SCORE_STEP
    out[_LEAD] = min(max(lead, -_MOST_SCORE), _MOST_SCORE)
    out[_DEAL_NUMBER] = s.num_deals
