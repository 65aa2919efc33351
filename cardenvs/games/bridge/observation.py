"""What a player of Contract Bridge observes."""

import numpy as np

from cardenvs.core.events import NO_PLAYER
from cardenvs.core.kernel import kernel
from cardenvs.games.bridge import cards as bridge
from cardenvs.games.bridge.state import (
    DENOMINATIONS,
    MAX_DEALS,
    NO_BID,
    NUM_BIDS,
    NUM_DENOMINATIONS,
    NUM_PLAYERS,
    NUM_SIDES,
    NUM_TRICKS,
    PHASES,
    PLAY,
    RUBBER,
    STATE,
)
from cardenvs.kits.cards import CARD_LABELS, NUM_CARDS, SUITS
from cardenvs.kits.deck import NO_CARD
from cardenvs.kits.sections import (
    Observation,
    cards,
    number,
    one_hot,
    one_seat,
    only,
    per_seat,
    per_side,
    together,
    written,
)

_BIDS = tuple(f"{level}{name}" for level in range(1, 8) for name in DENOMINATIONS)
_SCORE_STEP = 10  # points
_MOST_SCORE = 30_000


@kernel(inline=True)
def _dummy(s, p):
    return s.hands[bridge.dummy_of(s)] if s.phase == PLAY and s.is_faced else 0


@kernel(inline=True)
def _write_tricks(s, player, out, this, last, played, played_in):
    num_tricks = min(s.trick + 1, NUM_TRICKS) if s.phase == PLAY else 0
    for seat in range(NUM_PLAYERS):
        p, first = player + seat & 3, seat * NUM_CARDS
        for trick in range(num_tricks):
            card = s.played[p, trick]
            if card != NO_CARD:
                out[played + np.uint64(first + card)] = 1
                out[played_in + np.uint64(card)] = trick + 1
                if trick == s.trick:
                    out[this + np.uint64(first + card)] = 1
                elif trick == s.trick - 1:
                    out[last + np.uint64(first + card)] = 1


@kernel(inline=True)
def _write_bids(s, player, out, bids, doubles, redoubles):
    for bid in range(s.contract + 1):
        if s.bidders[bid] == NO_PLAYER:
            continue
        out[bids + np.uint64((s.bidders[bid] - player & 3) * NUM_BIDS + bid)] = 1
        if s.doublers[bid] != NO_PLAYER:
            out[doubles + np.uint64((s.doublers[bid] - player & 3) * NUM_BIDS + bid)] = 1
        if s.redoublers[bid] != NO_PLAYER:
            out[redoubles + np.uint64((s.redoublers[bid] - player & 3) * NUM_BIDS + bid)] = 1


@kernel(inline=True)
def _has_passed(s, p):
    return (p - s.dealer & 3) < min(s.opening_passes, 3)


@kernel(inline=True)
def _passes(s, p):
    return min(s.num_passes, 3)


@kernel(inline=True)
def _write_contract(s, p, out, at):
    if s.contract != NO_BID:
        out[at + s.contract // NUM_DENOMINATIONS] = 1
        out[at + 7 + s.contract % NUM_DENOMINATIONS] = 1


@kernel(inline=True)
def _doubled(s, p):
    return s.doubled - 1


@kernel(inline=True)
def _leader(s, p):
    return s.leader if s.phase == PLAY and s.trick < NUM_TRICKS else NO_PLAYER


@kernel(inline=True)
def _turn(s, p):
    return NO_PLAYER if s.terminal else s.turn


@kernel(inline=True)
def _vulnerable(s, side):
    return s.vulnerable >> side & 1


@kernel(inline=True)
def _led_suit(s, p):
    return bridge.led_suit(s) if s.phase == PLAY and s.trick < NUM_TRICKS else -1


@kernel(inline=True)
def _lead(s, p):
    lead = (s.totals[p & 1] - s.totals[1 - (p & 1)]) // _SCORE_STEP
    return min(max(lead, -_MOST_SCORE), _MOST_SCORE)


@kernel(inline=True)
def _is_rubber(rules):
    return rules.scoring == RUBBER


def _by_side(name, doc, source, high=1):
    return per_side(number(name, doc, source, high=high), NUM_SIDES, "the observer's side first")


OBSERVATION = Observation(
    STATE,
    cards("hand", CARD_LABELS, "own cards", "hands"),
    cards("dummy", CARD_LABELS, "dummy's cards, once they are faced; those of the observer who is dummy, too", _dummy),
    *together(
        _write_tricks,
        per_seat(written("trick", CARD_LABELS, "one-hot card in the current trick")),
        per_seat(written("last_trick", CARD_LABELS, "one-hot card in the trick before")),
        per_seat(written("played", CARD_LABELS, "cards played in this deal")),
        written("played_in", CARD_LABELS, "number of the trick in which a card was played, 0 if it was not",
                high=NUM_TRICKS),
    ),
    per_seat(cards("voids", SUITS, "1 for each suit that a player has shown not to hold", "voids")),
    *together(
        _write_bids,
        per_seat(written("bids", _BIDS, "1 for each bid that a player has made")),
        per_seat(written("doubles", _BIDS, "1 for each bid that a player has doubled")),
        per_seat(written("redoubles", _BIDS, "1 for each bid that a player has redoubled")),
    ),
    per_seat(number("opening_passes", "1 for a player who has passed before the first bid", _has_passed)),
    one_hot("passes", None, "one-hot passes in a row, 0 to 3", _passes, size=4),
    written("contract", (*"1234567", *DENOMINATIONS), "one-hot level and denomination of the last bid",
            _write_contract),
    one_hot("doubled", ("doubled", "redoubled"), "1 if it is doubled; 1 if it is redoubled", _doubled),
    one_seat("declarer", "the declarer, once the auction is over", "declarer"),
    one_seat("dealer", "the dealer", "dealer"),
    one_seat("leader", "the leader of the trick, in the play", _leader),
    one_seat("turn", "the hand to play or call", _turn),
    one_seat("to_act", "the player who decides", "current_player"),
    _by_side("vulnerable", "1 for a vulnerable side", _vulnerable),
    one_hot("led_suit", SUITS, "one-hot suit to follow", _led_suit),
    _by_side("tricks_won", "tricks won", "tricks_won", high=NUM_TRICKS),
    one_hot("phase", PHASES, "one-hot phase", "phase"),
    *only(lambda options: options.scoring == "rubber",
          per_seat(cards("last_played", CARD_LABELS, "cards played in the deal before", "last_played")),
          _by_side("games", "games won", "games", high=2),
          _by_side("below", "points below the line", "below", high=2000),
          number("lead", f"lead of the observer's side in points, in {_SCORE_STEP}s, cut off", _lead,
                 low=-_MOST_SCORE, high=_MOST_SCORE),
          number("deal_number", "deals begun", "num_deals", high=MAX_DEALS),
          rules=_is_rubber),
    dtype=lambda options: "int16" if options.scoring == "rubber" else "int8",
    players=NUM_PLAYERS,
)  # fmt: skip
layout, observe = OBSERVATION.layout, OBSERVATION.observe
