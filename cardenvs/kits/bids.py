"""Trick games in which each player bids, once in a deal, how many tricks they will win.

    BIDS = Bids(TABLE, first=NUM_CARDS, are_hidden=bids_are_hidden)

The action `first` + b bids b tricks. The record has the fields of `bid_fields`. Bids are public, or hidden from the
other players for as long as the game's kernel are_hidden(s) says so: players then decide in turn and show their bids
together. Who may bid what, and what it is worth, is up to the game.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.events import Event, EventKind, Op, Part, Table
from cardenvs.core.fold import FoldedTable
from cardenvs.core.game_view import Choice, Scene
from cardenvs.core.kernel import kernel
from cardenvs.core.record import Field, Record
from cardenvs.core.rng import random_below
from cardenvs.core.seats import wrap
from cardenvs.core.view import View, sees
from cardenvs.kits import sections
from cardenvs.kits.sections import per_seat, together, written

NO_BID = -1
_PER_ROW = 6  # bids in a row of the keypad


def bid_fields(max_players: int, max_deals: int) -> list[Field]:
    """Return the fields of bids and of the tricks that count towards them, for `record`."""
    return [
        ("bids", "i1", (max_players,)),  # tricks, or NO_BID      seen by: all; by their owner alone while are_hidden(s)
        ("tricks_won", "i1", (max_players,)),  # in this deal     seen by: all
        ("past_bids", "i1", (max_deals, max_players)),  # of the deals that are over
        ("past_tricks", "i1", (max_deals, max_players)),
    ]


@kernel(inline=True)
def never_hidden(s):
    """Return False: everybody sees a bid when it is made."""
    return False


class Bids:
    """The kernels of bids.

    Attributes:
        first: id of the action that bids 0.
        are_hidden: are_hidden(s) -> whether players see no bid but their own.
        clear: clear(s, log): begin a deal, without bids and tricks, once it is counted in `num_deals`.
        take_turn: take_turn(s, tricks, log) -> whether all have bid. The player to act bids, and it is the turn of the
            next one. The last bid shows those that were hidden.
        win_trick: win_trick(s, winner, log): count a trick for its winner.
    """

    def __init__(self, table: Table, first: int, are_hidden: Any = never_hidden) -> None:
        """Declare the counters and kinds of event, and compile the kernels; the arguments are as above."""
        self.first, self.are_hidden = first, are_hidden
        bid = table.counter("bid", per_player=True, use="none", value="bids")
        tricks = table.counter("tricks_won", per_player=True, use="none", value="tricks_won")
        no_bid = table.event("no_bid", Op.SET, "{player} has not bid.", is_detail=True)
        no_tricks = table.event("no_tricks", Op.SET, "{player} has no tricks.", is_detail=True)
        bids = table.event("bid", Op.SET, "{player} bids {value}.")
        shows = table.event("show_bid", Op.SET, "{player} has bid {value}.", reveals_hidden_value=True)
        wins = table.event("win_trick", Op.SET, "{player} wins the trick and has {value:trick}.", closes=Part.TRICK)
        self.clear = kernel(_clear(no_bid, bid, no_tricks, tricks))
        self.take_turn = kernel(_take_turn(bids, shows, bid, are_hidden), inline=True)
        self.win_trick = kernel(_win_trick(wins, tricks), inline=True)


def _clear(no_bid: int, bid: int, no_tricks: int, tricks: int) -> Callable[..., Any]:
    def clear(s, log):
        for p in range(s.rules.num_players):
            if s.num_deals > 1:
                s.past_bids[s.num_deals - 2, p], s.past_tricks[s.num_deals - 2, p] = s.bids[p], s.tricks_won[p]
            s.bids[p], s.tricks_won[p] = NO_BID, 0
            ev.log_set(log, no_bid, p, bid + p, NO_BID)
            ev.log_set(log, no_tricks, p, tricks + p, 0)

    return clear


def _take_turn(bids: int, shows: int, counter: int, are_hidden: Any) -> Callable[..., Any]:
    def take_turn(s, tricks, log):
        n, player, is_hidden = s.rules.num_players, np.int64(s.current_player), are_hidden(s)
        s.bids[player] = tricks
        seen = 1 << player if is_hidden else ev.EVERYBODY
        ev.log_event(log, bids, player, ev.UNKNOWN, counter + player, ev.NO_PLACE, tricks, seen, ev.EVERYBODY)
        s.current_player = wrap(player + 1, n)
        if s.bids[s.current_player] == NO_BID:
            return False
        if is_hidden:
            for p in range(n):
                ev.log_set(log, shows, p, counter + p, s.bids[p])
        return True

    return take_turn


def _win_trick(kind: int, counter: int) -> Callable[..., Any]:
    def win_trick(s, winner, log):
        s.tricks_won[winner] += 1
        ev.log_set(log, kind, winner, counter + winner, s.tricks_won[winner])

    return win_trick


@kernel(inline=True)
def redraw_bids(s, player, most):
    """Draw the bids of the others again, each of 0 to `most` as likely: worlds while bids are hidden."""
    for p in range(s.rules.num_players):
        if p != player and s.bids[p] != NO_BID:
            s.bids[p] = random_below(s.rng, most + 1)


# ---------------------------------------------------------------------------------------------------------------
# What is observed and shown


def bid_sections(bids: Bids, highest: int) -> tuple[sections.Part, ...]:
    """Return the sections of bids from 0 to `highest`, and of tricks against them."""
    are_hidden, size = bids.are_hidden, highest + 1

    @kernel(inline=True)
    def write(s, player, out, bid, has_bid, won, missing):
        n = s.rules.num_players
        for seat in range(n):
            p = wrap(player + seat, n)
            tricks, at = np.int64(s.bids[p]), np.uint64(seat)
            out[won + at] = s.tricks_won[p]
            out[has_bid + at] = tricks != NO_BID
            if tricks != NO_BID and (seat == 0 or not are_hidden(s)):
                out[bid + np.uint64(seat * size + tricks)] = 1
                out[missing + at] = tricks - s.tricks_won[p]

    return together(
        write,
        per_seat(written("bid", [str(tricks) for tricks in range(size)], "one-hot bid, if the observer sees it")),
        per_seat(written("has_bid", None, "1 for each player who has bid", size=1)),
        per_seat(written("tricks_won", None, "tricks won in this deal", high=highest, size=1)),
        per_seat(written("missing", None, "bid, if seen, less tricks won", low=-highest, high=highest, size=1)),
    )


class BidView(View):
    """Words of bids, before those of tricks and cards: `class MyView(BidView, TrickView, PackView)`.

    Attributes:
        bids: the game's Bids.
    """

    bids: Bids

    def bid_text(self, tricks: int) -> str:
        """Return a bid in words."""
        return f"bid {tricks}"

    def action_label(self, s: Any, action: int) -> str:
        """Return "bid 3" for a bid."""
        if action >= self.bids.first:
            return self.bid_text(int(action) - self.bids.first)
        return super().action_label(s, action)

    def choice(self, s: Any, action: int) -> Choice:
        """Return a key of the keypad for a bid."""
        if action >= self.bids.first:
            return Choice(row=(int(action) - self.bids.first) // _PER_ROW)
        return super().choice(s, action)

    def fill_table(self, s: Record, viewer: int, table: FoldedTable) -> None:
        """Hide the bids that the viewer does not see."""
        super().fill_table(s, viewer, table)
        if self.bids.are_hidden(s):
            for p in range(int(s.rules.num_players)):
                if s.bids[p] != NO_BID and not sees(viewer, p):
                    table.set("bid", None, player=p)

    def arrange(self, s: Any, viewer: int, scene: Scene) -> None:
        """Show at each player the bid and the tricks won."""
        super().arrange(s, viewer, scene)
        for p, notes in enumerate(scene.notes):
            tricks = scene.counters["bid"].value[p]
            if tricks is None:
                notes.append("has bid")
            elif tricks != NO_BID:
                notes.append(f"{self.bid_text(tricks)}, won {s.tricks_won[p]}")

    def describe_event(self, event: Event, kind: EventKind) -> str:
        """Say of a hidden bid only that it was made."""
        if event.kind == "bid" and event.value is None:
            return f"player_{event.player} makes a hidden bid."
        return super().describe_event(event, kind)

    def facts(self, s: Any, player: int) -> dict[str, Any]:
        """Return bids and tricks of this deal and those before; a bid that the player does not see is "hidden"."""
        n, over = int(s.rules.num_players), int(s.num_deals) - 1
        bids: list[int | str | None] = [None if tricks == NO_BID else int(tricks) for tricks in s.bids[:n]]
        if self.bids.are_hidden(s):
            bids = ["hidden" if tricks is not None and p != player else tricks for p, tricks in enumerate(bids)]
        return {
            "bids": bids,
            "tricks_won": s.tricks_won[:n].tolist(),
            "past_bids": s.past_bids[:over, :n].tolist(),
            "past_tricks_won": s.past_tricks[:over, :n].tolist(),
            **super().facts(s, player),
        }
