"""Statistics of players over one or more matches, counted from events alone.

A share is None if there was no such hand, street or showdown.

    hands                  hands dealt in
    vpip                   share of hands in which the player voluntarily put chips in before the flop: called, bet
                           or raised. Blinds and antes are not voluntary; a big blind that checks does not count.
    pfr                    share of hands in which the player raised before the flop
    aggression_factor      (bets + raises) / calls, on flop, turn and river
    aggression_frequency   (bets + raises) / (bets + raises + calls + folds), on flop, turn and river
    wtsd                   went to showdown: of the hands in which the player saw the flop, the share in which it was
                           one of two or more players who had not folded at the end
    wsd                    won at showdown: of the hands in which the player was at a showdown, the share in which it
                           won chips from any pot
    chips                  chips won less chips lost
    big_blinds_per_100     big blinds won less lost, in the big blind of each hand, per 100 hands
    by_position            for each position: hands, chips won less chips lost
    actions                for each street: folds, checks, calls, bets and raises

Positions: BTN has the button (heads-up it also posts the small blind), SB and BB post the blinds, and the others are
counted backwards from the button: BTN-1 acts just before it, BTN-2 before BTN-1, and so on. If the button is at an
empty seat, nobody is BTN in this hand, and BTN-1 is the nearest seat before the button.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from cardenvs.core.replay import Replay
from cardenvs.core.state import State
from cardenvs.games.texas_holdem.state import STREETS
from cardenvs.tools.texas_holdem.hands import Hand, read_hands
from cardenvs.tools.texas_holdem.timeline import Timeline, timeline_of

_KINDS = ("fold", "check", "call", "bet", "raise")
_AFTER_THE_FLOP = STREETS[1:]


def aggregate(matches: Iterable[Timeline | Replay | State]) -> dict[str, dict[str, Any]]:
    """Return the statistics above for each player name, over all finished hands of some matches, as JSON values.

    Args:
        matches: timelines, replays or states of Texas hold'em. The players of a state are player_0, player_1, ...
            Equal names, in several matches or at several seats, count as one player.

    Raises:
        CardenvsError: a match is of another game.
        ValueError: the history of a state does not go back to the deal.
    """
    tallies: dict[str, _Tally] = {}
    for match in matches:
        timeline = timeline_of(match)
        for name in timeline.players:
            tallies.setdefault(name, _Tally())
        for hand in read_hands(timeline):
            if hand.is_over:
                for seat in hand.cards:
                    tallies[timeline.players[seat]].add(hand, seat)
    return {name: tally.figures() for name, tally in tallies.items()}


def position(hand: Hand, seat: int) -> str:
    """Return the name of a seat's position in a hand; see the module's docstring."""
    seats = hand.seats
    if seat == hand.button:
        return "BTN"
    if len(seats) == 2:
        return "BB"
    blinds = ["SB", "BB"] if hand.has_small_blind else ["BB"]
    place = seats.index(seat)
    if place < len(blinds):
        return blinds[place]
    last = len(seats) - 1 if seats[-1] == hand.button else len(seats)
    return f"BTN-{last - place}"


@dataclass
class _Tally:
    """Counts of one player."""

    count: Counter[Any] = field(default_factory=Counter[Any])
    big_blinds: float = 0.0
    actions: Counter[Any] = field(default_factory=Counter[Any])  # by (street, kind)
    position_hands: Counter[Any] = field(default_factory=Counter[Any])
    position_chips: Counter[Any] = field(default_factory=Counter[Any])

    def add(self, hand: Hand, seat: int) -> None:
        """Count a finished hand in which the player sat at `seat`."""
        acts = [act for act in hand.acts if act.seat == seat]
        before_flop = {act.kind for act in acts if act.street == STREETS[0]}
        sees_flop = len(hand.board) >= 3 and not any(a.kind == "fold" and a.street == STREETS[0] for a in acts)
        at_showdown = hand.has_showdown and seat not in hand.folded
        won = hand.won(seat)
        self.count.update(
            hands=1,
            vpip=bool(before_flop & {"call", "bet", "raise"}),
            pfr=bool(before_flop & {"bet", "raise"}),
            flops=sees_flop,
            showdowns=at_showdown,
            won_showdowns=at_showdown and any(seat in pot.wins for pot in hand.pots),
            chips=won,
        )
        self.big_blinds += won / hand.blinds[1]
        self.actions.update((act.street, act.kind) for act in acts)
        where = position(hand, seat)
        self.position_hands[where] += 1
        self.position_chips[where] += won

    def figures(self) -> dict[str, Any]:
        """Return the statistics that the module's docstring lists."""
        count = self.count
        late = {kind: sum(self.actions[street, kind] for street in _AFTER_THE_FLOP) for kind in _KINDS}
        aggressive = late["bet"] + late["raise"]
        return {
            "hands": count["hands"],
            "vpip": _share(count["vpip"], count["hands"]),
            "pfr": _share(count["pfr"], count["hands"]),
            "aggression_factor": _share(aggressive, late["call"]),
            "aggression_frequency": _share(aggressive, aggressive + late["call"] + late["fold"]),
            "flops": count["flops"],
            "showdowns": count["showdowns"],
            "wtsd": _share(count["showdowns"], count["flops"]),
            "wsd": _share(count["won_showdowns"], count["showdowns"]),
            "chips": count["chips"],
            "big_blinds_per_100": _share(100 * self.big_blinds, count["hands"]),
            "by_position": {
                where: {"hands": hands, "chips": self.position_chips[where]}
                for where, hands in sorted(self.position_hands.items(), key=lambda item: _order(item[0]))
            },
            "actions": {street: {kind: self.actions[street, kind] for kind in _KINDS} for street in STREETS},
        }


def _share(part: float, whole: int) -> float | None:
    return part / whole if whole else None


def _order(where: str) -> tuple[int, int]:
    """Return a sort key of positions, in the order in which they act after the flop."""
    fixed = {"SB": (0, 0), "BB": (1, 0), "BTN": (3, 0)}
    return fixed[where] if where in fixed else (2, -int(where.removeprefix("BTN-")))
