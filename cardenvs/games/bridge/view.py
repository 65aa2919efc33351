"""Texts and picture of Contract Bridge."""

from dataclasses import replace

import numpy as np

from cardenvs.core.cards import SUIT_SIGNS
from cardenvs.core.events import NO_PLAYER, CounterUse, PileLayout
from cardenvs.core.game_view import Choice, CounterView, SheetView
from cardenvs.core.text import count
from cardenvs.games.bridge import state
from cardenvs.games.bridge.cards import TRICKS, dummy_of, led_suit, trick_winner
from cardenvs.games.bridge.meanings import MEANINGS
from cardenvs.games.bridge.promises import MOST_POINTS
from cardenvs.games.bridge.reading import READING, read_auction
from cardenvs.games.bridge.state import (
    AUCTION,
    BID_0,
    CARD_0,
    DOUBLE,
    NO_BID,
    NUM_DENOMINATIONS,
    NUM_PLAYERS,
    PASS,
    PHASES,
    RUBBER,
    SEATS,
    call_label,
)
from cardenvs.kits.cards import CardView, card_text
from cardenvs.kits.deck import NO_CARD
from cardenvs.kits.matches import hands_over
from cardenvs.kits.tricks import MUST_FOLLOW, NOT_HELD, TrickView

_REASONS = {
    state.AUCTION_IS_ON: "the auction is on; make a call (rules.md 3.1)",
    state.AUCTION_IS_OVER: "the auction is over; play a card (rules.md 3.4)",
    state.NOTHING_TO_DOUBLE: "only a bid by an opponent that nobody has doubled can be doubled (rules.md 3.2)",
    state.NOTHING_TO_REDOUBLE: "only a double by an opponent can be redoubled (rules.md 3.3)",
    NOT_HELD: "that card is not in the hand that plays now (rules.md 4.2)",
    MUST_FOLLOW: "the suit that was led, {led}, must be followed (rules.md 4.2)",
}
_SIDE_NAMES = ("NS", "EW")
_VULNERABLE = ("nobody", "North and South", "East and West", "everybody")
_SEAT_NAMES = ("North", "East", "South", "West")
_SUIT_NAMES = ("clubs", "diamonds", "hearts", "spades")  # by denomination


class BridgeView(TrickView, CardView):
    """Words of Contract Bridge."""

    shape = "ring"
    tricks = TRICKS
    phases = PHASES
    reasons = _REASONS

    def action_label(self, s, action):
        if action < CARD_0:
            return call_text(int(action))
        return f"play {card_text(action - CARD_0)}"

    def choice(self, s, action):
        if action < CARD_0:
            return Choice(row=(int(action) - BID_0) // NUM_DENOMINATIONS if action >= BID_0 else None)
        seat = int(s.turn)
        return Choice((int(action) - CARD_0,), ("hand", seat), ("trick", seat))

    def meant_by(self, s, token):
        return CARD_0 + token

    def illegal_reason(self, s, action, code):
        if code == state.BID_TOO_LOW:
            return f"a bid must be higher than {call_text(BID_0 + int(s.contract))} (rules.md 3.1)"
        return super().illegal_reason(s, action, code)

    def prompt(self, s):
        if s.phase == AUCTION:
            if s.contract == NO_BID:
                return "Make a call: pass, or a bid from 1♣ to 7NT."
            doubled = ("", ", doubled", ", redoubled")[int(s.doubled)]
            return f"Make a call over {call_text(BID_0 + int(s.contract))}{doubled}."
        hand = "dummy's hand" if s.turn != s.current_player else "your hand"
        if led_suit(s) < 0:
            return f"Lead a card from {hand}."
        winner = trick_winner(s)
        card = card_text(int(s.played[winner, s.trick]))
        return f"Play a card from {hand}; player_{winner} wins so far with {card}."

    def facts(self, s, player):
        """Seats, auction with what its calls promise, contract, and voids shown."""
        contract = None
        if s.declarer != NO_PLAYER:
            contract = {
                "bid": call_text(BID_0 + int(s.contract)),
                "doubled": int(s.doubled),
                "declarer": f"player_{s.declarer}",
                "dummy": f"player_{dummy_of(s)}",
                "tricks_needed": 7 + int(s.contract) // 5,
            }
        found = {
            "seat": SEATS[int(player)],
            "partner": f"player_{(player + 2) % 4}",
            "board": int(s.board),
            "vulnerable": _VULNERABLE[int(s.vulnerable)],
            "auction": auction_of(s),
            "contract": contract,
            "tricks_won": {"us": int(s.tricks_won[player & 1]), "them": int(s.tricks_won[1 - (player & 1)])},
            "voids": self.voids_shown(s),
            "cards_played": int((s.played != NO_CARD).sum()),
        }
        if s.rules.scoring == RUBBER:
            found["rubber"] = {
                "deal": int(s.num_deals),
                "games": s.games.tolist(),
                "below_the_line": s.below.tolist(),
                "totals": s.totals.tolist(),
            }
        found["results"] = [_result(s, k) for k in range(hands_over(s, s.num_deals))]
        return found

    def arrange(self, s, viewer, scene):
        """Hands by suit, calls and parts in the deal beside the players, contract and tricks in the heading."""
        for p in range(NUM_PLAYERS):
            self.sort_hand(s, scene.piles["hand", p])
            scene.piles["tricks", p].layout = PileLayout.NONE
            scene.notes[p].append(_SEAT_NAMES[p])
            if s.declarer == p:
                scene.notes[p].append("declarer")
            if s.declarer != NO_PLAYER and dummy_of(s) == p:
                scene.notes[p].append("dummy")
        if s.turn != s.current_player and not s.terminal:
            scene.turn = int(s.turn)
        shown = {"board": int(s.board), "vulnerable": _VULNERABLE[int(s.vulnerable)]}
        if s.contract != NO_BID and s.declarer != NO_PLAYER:
            shown["contract"] = _contract_text(s)
        if s.declarer != NO_PLAYER:
            shown["tricks_won"] = f"NS {s.tricks_won[0]}, EW {s.tricks_won[1]}"
        if s.rules.scoring == RUBBER:
            del shown["board"]
            shown["deal_number"] = int(s.num_deals)
            for name, values in (("games", s.games), ("below_the_line", s.below), ("total", s.totals)):
                shown[name] = f"NS {values[0]}, EW {values[1]}"
        for name, value in shown.items():
            scene.counters[name] = replace(scene.counters[name], use=CounterUse.NUMBER, value=value)
        if s.declarer == NO_PLAYER:
            scene.sheet = _auction_sheet(s)
        elif s.num_calls:
            label = f"auction from {_SEAT_NAMES[int(s.dealer)]}"
            scene.counters["auction"] = CounterView(label, CounterUse.NUMBER, _auction_text(s))

    def describe_event(self, event, kind):
        """Calls by their names, contracts and vulnerability in words."""
        who = "" if event.player is None else f"player_{event.player}"
        if event.kind == "call":
            return f"{who} {('passes', 'doubles', 'redoubles')[event.value]}."
        if event.kind == "bid":
            return f"{who} bids {call_text(BID_0 + event.value - 1)}."
        if event.kind == "vulnerable":
            return f"Vulnerable: {_VULNERABLE[event.value]}."
        if event.kind == "double":
            return ("Not doubled.", "Doubled.", "Redoubled.")[event.value]
        if event.kind == "declare" and event.player is None:
            return "There is no declarer."
        if event.kind in ("total", "below_the_line", "win_game", "has_tricks"):
            who = _SIDE_NAMES[event.player]
            return super().describe_event(event, kind).replace(f"player_{event.player}'s side", who)
        return super().describe_event(event, kind)


def auction_of(s) -> list[dict]:
    """Return all calls of a deal with their players, and what they promise in the natural system of the suite."""
    reading = np.zeros(1, READING)[0]
    read_auction(s, reading)
    return [
        {
            "player": f"player_{(int(s.dealer) + k) % 4}",
            "call": call_text(int(s.calls[k])),
            "meaning": _explained(reading, k),
        }
        for k in range(int(s.num_calls))
    ]


def _explained(reading, k):
    """Return what call number `k` promises: "balanced, 15 to 17 points"."""
    low, high, number = int(reading.lows[k]), int(reading.highs[k]), int(reading.numbers[k])
    parts = [MEANINGS[int(reading.meanings[k])]]
    if low > 0 and high < MOST_POINTS:
        parts.append(f"{low} to {high} points" if low < high else count(low, "point"))
    elif low > 0:
        parts.append(f"{count(low, 'point')} or more")
    elif high < MOST_POINTS:
        parts.append(f"up to {count(high, 'point')}")
    if reading.named[k] >= 0 and number:
        parts.append(f"at least {number} {_SUIT_NAMES[int(reading.named[k])]}")
    return ", ".join(parts)


def _contract_text(s):
    """Return the last bid, with an x if it is doubled and two if it is redoubled."""
    return call_text(BID_0 + int(s.contract)) + "x" * int(s.doubled)


def _result(s, deal):
    if s.contracts[deal] == NO_BID:
        return {"contract": None, "points_NS": 0}
    return {
        "contract": call_text(BID_0 + int(s.contracts[deal])) + "x" * int(s.doubles[deal]),
        "declarer": SEATS[int(s.declarers[deal])],
        "tricks": int(s.tricks_made[deal]),
        "points_NS": int(s.points[deal]),
    }


def _auction_sheet(s):
    """Return the calls so far in columns from West to South, as players write them down."""
    columns = (3, 0, 1, 2)
    first = columns.index(int(s.dealer))
    calls = [""] * first + [_short(int(call), "pass") for call in s.calls[: int(s.num_calls)]]
    rows = [calls[k : k + NUM_PLAYERS] for k in range(0, len(calls), NUM_PLAYERS)]
    return SheetView([_SEAT_NAMES[p] for p in columns], rows)


def call_text(call: int) -> str:
    """Return a call for people: "pass", "double", "redouble", or a bid such as "1♠" or "3NT"."""
    label = call_label(call)
    return label[:-1] + SUIT_SIGNS[label[-1].lower()] if call >= BID_0 and label[-1] != "T" else label


def _auction_text(s):
    """Return all calls, in rounds of four: "1C - 1H - / 2H - - -"."""
    calls = [_short(int(call), "-") for call in s.calls[: int(s.num_calls)]]
    return " / ".join(" ".join(calls[k : k + NUM_PLAYERS]) for k in range(0, len(calls), NUM_PLAYERS))


def _short(call, passed):
    return {PASS: passed, DOUBLE: "X", state.REDOUBLE: "XX"}.get(call) or call_text(call)
