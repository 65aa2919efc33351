"""Texts and picture of Contract Bridge."""

from dataclasses import replace

import numpy as np

from cardenvs.core.cards import SUITS, card_label, card_markup, cards_of
from cardenvs.core.events import NO_PLAYER, OMNISCIENT, UNKNOWN, CounterUse, PileLayout
from cardenvs.core.game_view import Choice
from cardenvs.core.text import count
from cardenvs.core.view import CardView, sees
from cardenvs.games.bridge import state
from cardenvs.games.bridge.cards import dummy_of, height, led_suit, suit_of, trick_winner
from cardenvs.games.bridge.meanings import MEANINGS
from cardenvs.games.bridge.promises import MOST_POINTS
from cardenvs.games.bridge.reading import READING, read_auction
from cardenvs.games.bridge.state import (
    AUCTION,
    BID_0,
    CARD_0,
    DOUBLE,
    NO_BID,
    NO_CARD,
    NUM_PLAYERS,
    NUM_SIDES,
    PASS,
    PHASES,
    RUBBER,
    SEATS,
    call_label,
)
from cardenvs.games.bridge.worlds import sees_hand

_REASONS = {
    state.AUCTION_IS_ON: "the auction is on; make a call (rules.md 3.1)",
    state.AUCTION_IS_OVER: "the auction is over; play a card (rules.md 3.4)",
    state.NOTHING_TO_DOUBLE: "only a bid by an opponent that nobody has doubled can be doubled (rules.md 3.2)",
    state.NOTHING_TO_REDOUBLE: "only a double by an opponent can be redoubled (rules.md 3.3)",
    state.NOT_HELD: "that card is not in the hand that plays now (rules.md 4.2)",
}
_SIDE_NAMES = ("NS", "EW")
_VULNERABLE = ("nobody", "North and South", "East and West", "everybody")
_INDENT = 20  # of North and South, in columns
_MOST_CALLS = 6  # of a player in a picture
_SUIT_NAMES = ("clubs", "diamonds", "hearts", "spades")  # by denomination
_SUIT_ORDER = (0, 3, 2, 1)  # spades, hearts, diamonds, clubs, as in newspapers
_SUIT_MARKS = {0: "♠", 3: "[red]♥[/red]", 2: "[blue]♦[/blue]", 1: "[green]♣[/green]"}


class BridgeView(CardView):
    """Words of Contract Bridge."""

    remembered = frozenset({"voids"})
    shape = "ring"

    def fill_table(self, s, viewer, table):
        """Hands for their owners, dummy's for everybody once it is faced; tricks, auction and scores for all."""
        for p in range(NUM_PLAYERS):
            is_seen = sees(viewer, p) or (bool(s.is_faced) and p == dummy_of(s))
            table.put("hand", cards_of(s.hands[p]), player=p, seen=is_seen)
            table.put("trick", _card_in_trick(s, p), player=p)
            table.put("tricks", _cards_won(s, p), player=p)
        for name in ("board", "dealer", "vulnerable", "doubled"):
            table.set(name, s[name])
        table.set("contract", s.contract + 1)
        table.set("declarer", s.declarer + 1)
        table.set("deal_number", s.num_deals)
        for side in range(NUM_SIDES):
            table.set("tricks_won", s.tricks_won[side], player=side)
            table.set("below_the_line", s.below[side], player=side)
            table.set("games", s.games[side], player=side)
            table.set("total", s.totals[side], player=side)

    def phase(self, s):
        return PHASES[int(s.phase)]

    def action_label(self, s, action):
        if action < CARD_0:
            return call_label(int(action))
        return f"play {card_label(action - CARD_0)}"

    def choice(self, s, action):
        if action < CARD_0:
            return Choice()
        seat = int(s.turn)
        return Choice((int(action) - CARD_0,), ("hand", seat), ("trick", seat))

    def illegal_reason(self, s, action, code):
        if code == state.BID_TOO_LOW:
            return f"a bid must be higher than {call_label(BID_0 + int(s.contract))} (rules.md 3.1)"
        if code == state.MUST_FOLLOW:
            return f"the suit that was led, {SUITS[led_suit(s)]}, must be followed (rules.md 4.2)"
        return _REASONS[code]

    def prompt(self, s):
        if s.phase == AUCTION:
            if s.contract == NO_BID:
                return "Make a call: pass, or a bid from 1C to 7NT."
            doubled = ("", ", doubled", ", redoubled")[int(s.doubled)]
            return f"Make a call over {call_label(BID_0 + int(s.contract))}{doubled}."
        hand = "dummy's hand" if s.turn != s.current_player else "your hand"
        if led_suit(s) < 0:
            return f"Lead a card from {hand}."
        winner = trick_winner(s)
        card = card_label(int(s.played[winner, s.trick]))
        return f"Play a card from {hand}; player_{winner} wins so far with {card}."

    def facts(self, s, player):
        """Seats, auction with what its calls promise, contract, and voids shown."""
        contract = None
        if s.declarer != NO_PLAYER:
            contract = {
                "bid": call_label(BID_0 + int(s.contract)),
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
            "voids": {f"player_{p}": [SUITS[k] for k in range(4) if s.voids[p] >> k & 1] for p in range(NUM_PLAYERS)},
            "cards_played": int((s.played != NO_CARD).sum()),
        }
        if s.rules.scoring == RUBBER:
            found["rubber"] = {
                "deal": int(s.num_deals),
                "games": s.games.tolist(),
                "below_the_line": s.below.tolist(),
                "totals": s.totals.tolist(),
            }
        found["results"] = [_result(s, k) for k in range(int(s.num_deals) - (0 if s.terminal else 1))]
        return found

    def arrange(self, s, viewer, scene):
        """Hands by suit, calls and parts in the deal beside the players, contract and tricks in the heading."""
        for p in range(NUM_PLAYERS):
            _sort_hand(scene.piles["hand", p])
            scene.piles["tricks", p].layout = PileLayout.NONE
            scene.notes[p].append(("North", "East", "South", "West")[p])
            if s.declarer == p:
                scene.notes[p].append("declarer")
            if s.declarer != NO_PLAYER and dummy_of(s) == p:
                scene.notes[p].append("dummy")
            calls = [call_label(int(s.calls[k])) for k in range(int(s.num_calls)) if (int(s.dealer) + k) % 4 == p]
            if calls:
                scene.notes[p].append(" · ".join(calls[-_MOST_CALLS:]))
        shown = {"vulnerable": _VULNERABLE[int(s.vulnerable)]}
        if s.contract != NO_BID:
            shown["contract"] = _contract_text(s)
        if s.declarer != NO_PLAYER:
            shown["tricks_won"] = f"NS {s.tricks_won[0]}, EW {s.tricks_won[1]}"
        if s.rules.scoring == RUBBER:
            for name, values in (("games", s.games), ("below_the_line", s.below), ("total", s.totals)):
                shown[name] = f"NS {values[0]}, EW {values[1]}"
        for name, value in shown.items():
            scene.counters[name] = replace(scene.counters[name], use=CounterUse.NUMBER, value=value)

    def describe_event(self, event, kind):
        """Calls by their names, contracts and vulnerability in words."""
        who = "" if event.player is None else f"player_{event.player}"
        if event.kind == "call":
            return f"{who} {('passes', 'doubles', 'redoubles')[event.value]}."
        if event.kind == "bid":
            return f"{who} bids {call_label(BID_0 + event.value - 1)}."
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

    def render(self, s, viewer, table):
        """The auction, and the hands by suit around the trick; newspapers print bridge like this."""
        return "\n".join([_title(s), *_auction_lines(s), "", *_hands(s, viewer)])


def auction_of(s) -> list[dict]:
    """Return all calls of a deal with their players, and what they promise in the natural system of the suite."""
    reading = np.zeros(1, READING)[0]
    read_auction(s, reading)
    return [
        {
            "player": f"player_{(int(s.dealer) + k) % 4}",
            "call": call_label(int(s.calls[k])),
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


def _sort_hand(pile):
    """Group a hand that is seen by suit, high cards first, overlapping."""
    if any(token == UNKNOWN for token in pile.tokens):
        return
    suits = [[card for card in pile.tokens if suit_of(card) == suit] for suit in _SUIT_ORDER]
    pile.tokens = [card for cards in suits for card in sorted(cards, key=height, reverse=True)]
    pile.groups = [len(cards) for cards in suits if cards]
    pile.layout = PileLayout.FAN


def _contract_text(s):
    """Return the last bid, with an x if it is doubled and two if it is redoubled."""
    return call_label(BID_0 + int(s.contract)) + "x" * int(s.doubled)


def _result(s, deal):
    if s.contracts[deal] == NO_BID:
        return {"contract": None, "points_NS": 0}
    return {
        "contract": call_label(BID_0 + int(s.contracts[deal])) + "x" * int(s.doubles[deal]),
        "declarer": SEATS[int(s.declarers[deal])],
        "tricks": int(s.tricks_made[deal]),
        "points_NS": int(s.points[deal]),
    }


def _card_in_trick(s, player):
    if s.trick >= 13 or s.played[player, s.trick] == NO_CARD:
        return []
    return [int(s.played[player, s.trick])]


def _cards_won(s, player):
    over = slice(0, int(s.trick))
    return s.played[:, over][:, s.winners[over] == player].T.ravel().tolist()


def _title(s):
    text = f"Bridge, board {s.board}, vulnerable: {_VULNERABLE[int(s.vulnerable)]}"
    if s.rules.scoring == RUBBER:
        games = [count(int(number), "game") for number in s.games]
        sides = [f"{_SIDE_NAMES[k]} {games[k]}, {s.below[k]} below, {s.totals[k]} in all" for k in range(2)]
        text = f"Rubber bridge, deal {s.num_deals}; " + "; ".join(sides)
    if s.declarer != NO_PLAYER:
        text += f"\n[bold]{_contract_text(s)}[/bold] by {SEATS[int(s.declarer)]}"
        text += f", tricks NS {s.tricks_won[0]} EW {s.tricks_won[1]}"
    return text


def _auction_lines(s):
    """The calls in four columns, West first as in newspapers."""
    cells = [""] * ((int(s.dealer) + 1) % 4) + [_short(int(call)) for call in s.calls[: int(s.num_calls)]]
    if s.phase == AUCTION and not s.terminal:
        cells.append("?")
    rows = [cells[k : k + 4] for k in range(0, len(cells), 4)]
    lines = ["  ".join(f"{name:<6}" for name in ("West", "North", "East", "South"))]
    return lines + ["  ".join(f"{cell:<6}" for cell in row).rstrip() for row in rows]


def _short(call):
    return {PASS: "-", DOUBLE: "X", state.REDOUBLE: "XX"}.get(call) or call_label(call)


def _hands(s, viewer):
    """Every hand as a name and four suits; North above, West and East beside the trick, South below."""
    north, east, south, west = (_hand_lines(s, p, viewer) for p in range(NUM_PLAYERS))
    lines = [" " * _INDENT + text for text, _ in north if text]
    for (left, width), (middle, middle_width), (right, _) in zip(west, _trick_lines(s), east, strict=True):
        padding = " " * (_INDENT + 4 - width)
        lines.append((left + padding + middle + " " * (_INDENT - 4 - middle_width) + right).rstrip())
    return lines + [" " * _INDENT + text for text, _ in south if text]


def _hand_lines(s, player, viewer):
    """Markup and width of five lines: name and suits."""
    pointer = "▶" if player == s.turn and not s.terminal else " "
    name = f"{pointer} {SEATS[player]} player_{player}"
    if s.declarer != NO_PLAYER and dummy_of(s) == player:
        name += " (dummy)"
    rows = [(f"[bold]{name}[/bold]", len(name))]
    is_seen = viewer == OMNISCIENT or (viewer >= 0 and sees_hand(s, viewer, player)) or (
        bool(s.is_faced) and player == dummy_of(s)
    )  # fmt: skip
    hand = cards_of(s.hands[player])
    for suit in _SUIT_ORDER:
        if is_seen:
            cards = sorted((card for card in hand if suit_of(card) == suit), key=height, reverse=True)
            text = "".join(card_label(card)[0] for card in cards) or "-"
            rows.append((f"  {_SUIT_MARKS[suit]} {text}", 4 + len(text)))
        else:
            text = "  " + "▒" * len(hand) if suit == 0 and hand else ""
            rows.append((text, len(text)))
    return rows


def _trick_lines(s):
    """Markup and width of five lines: the cards of the trick, each on the side of who has played it."""
    cells = [(card_markup(cards[0]), 2) if cards else (" ", 2) for cards in (_card_in_trick(s, p) for p in range(4))]
    north, east, south, west = (text + " " * (width - (1 if text == " " else 2)) for text, width in cells)
    number = f"trick {min(int(s.trick) + 1, 13)}" if s.phase == state.PLAY else ""
    return [(number, len(number)), (f"   {north}", 5), (f"{west}    {east}", 8), (f"   {south}", 5), ("", 0)]
