"""A second Rummikub to check the environment against: whole turns as plain Python values (rules.md 3 to 6).

A turn is one move: DRAW, PASS, or PLAY with the whole new table. Positions, moves and events are JSON in and out. The
environment builds the same turns in steps.
"""

import hashlib
import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Self

from rummikub_legality import NOT_NOW, IllegalMoveError, check_play

from cardenvs.core.errors import DeckError, FormatError
from cardenvs.games.rummikub.melds import (
    Meld,
    Slot,
    Table,
    canonical_table,
    table_from_json,
    table_of,
    table_tiles,
    table_to_json,
)
from cardenvs.games.rummikub.position import Position
from cardenvs.games.rummikub.ruleset import Ruleset
from cardenvs.games.rummikub.solve import has_play
from cardenvs.games.rummikub.tiles import (
    JOKER,
    NUM_TYPES,
    Multiset,
    add,
    multiset,
    multiset_from_json,
    multiset_to_json,
    parse_tiles,
    rack_points,
    sub,
    tile_of,
    total,
    value_of,
)


@dataclass(frozen=True)
class Draw:
    """Take a tile from the pool (3.3)."""


@dataclass(frozen=True)
class Pass:
    """Do nothing, the pool being empty (3.4)."""


@dataclass(frozen=True)
class Timeout:
    """Run out of time: the table stays as it was, and the player draws (3.6)."""


@dataclass(frozen=True)
class Play:
    """Put rack tiles down; the new table is stated in full (3.2)."""

    delta_from_hand: Multiset
    new_table_melds: Table

    @classmethod
    def of(cls, delta: str | Iterable[str | int], table: Iterable[str | Iterable[str | Slot] | Meld]) -> Self:
        """A play from tiles and melds in any form: `Play.of("R5", ["R3 R4 R5 R6"])`."""
        return cls(multiset(delta), table_of(table))


Move = Draw | Pass | Timeout | Play
_NAMES: dict[type, str] = {Draw: "DRAW", Pass: "PASS", Timeout: "TIMEOUT", Play: "PLAY"}


def move_to_json(move: Move) -> dict[str, Any]:
    """{"type": "DRAW"}, ..., or {"type": "PLAY", "delta_from_hand": ..., "new_table_melds": ...}."""
    data: dict[str, Any] = {"type": _NAMES[type(move)]}
    if isinstance(move, Play):
        data["delta_from_hand"] = multiset_to_json(move.delta_from_hand)
        data["new_table_melds"] = table_to_json(move.new_table_melds)
    return data


def move_from_json(data: dict[str, Any]) -> Move:
    """The inverse of `move_to_json`.

    Raises:
        FormatError: no such type of move.
    """
    if data.get("type") == "PLAY":
        return Play(multiset_from_json(data["delta_from_hand"]), table_from_json(data["new_table_melds"]))
    for kind, name in _NAMES.items():
        if data.get("type") == name:
            return kind()
    raise FormatError(f"a move has the type {', '.join(_NAMES.values())}; got {data.get('type')!r}")


# ---------------------------------------------------------------------------------------------------------------
# Dealing


def all_tiles(rules: Ruleset) -> list[int]:
    """Every tile of the game."""
    naturals = [tile_of(colour, value) for colour in range(rules.colors) for value in range(1, rules.values + 1)]
    return sorted(naturals * rules.copies) + [JOKER] * rules.jokers


def _starting_player(rules: Ruleset, chance: random.Random) -> int:
    """Seat 0, chance, or who draws the highest tile; a joker is lowest, ties draw again (1.4)."""
    if rules.start_player == "seat0":
        return 0
    if rules.start_player == "random":
        return chance.randrange(rules.num_players)
    players = list(range(rules.num_players))
    while len(players) > 1:
        drawn = dict(zip(players, chance.sample(all_tiles(rules), len(players)), strict=True))
        values = {player: 0 if tile == JOKER else value_of(tile) for player, tile in drawn.items()}
        players = [player for player in players if values[player] == max(values.values())]
    return players[0]


# ---------------------------------------------------------------------------------------------------------------
# The engine


@dataclass(frozen=True)
class EngineState:
    """A position. Nothing in it changes; `apply` gives the next one.

    Attributes:
        rules: the Ruleset.
        hands: a multiset each player.
        table: canonical.
        deck: all tiles in dealing order; deck[deck_index:] is the pool.
        deck_index: tiles dealt and drawn so far.
        current_player: to move.
        opened: whether each player has opened.
        num_passes: passes in a row.
        has_drawn: the player to move has drawn in this turn (only without draw_ends_turn).
        is_terminal: the game is over.
        events: the moves so far, as JSON values: player, move, what was drawn, table_key after it.
    """

    rules: Ruleset
    hands: tuple[Multiset, ...]
    table: Table
    deck: tuple[int, ...]
    deck_index: int
    current_player: int
    opened: tuple[bool, ...]
    num_passes: int = 0
    has_drawn: bool = False
    is_terminal: bool = False
    events: tuple[dict[str, Any], ...] = field(default=(), compare=False)

    # -- making ---------------------------------------------------------------------------------------------------

    @classmethod
    def new(cls, seed: int, deck: str | Sequence[str | int] | None = None, **options: Any) -> Self:
        """Deal (1.3).

        Args:
            seed: of all chance.
            deck: tiles in dealing order, the racks in player order, then the pool; what it leaves out is shuffled.
            options: of the Ruleset.
        """
        rules, chance = Ruleset.make(**options), random.Random(seed)
        given = parse_tiles(deck) if deck is not None else []
        rest = list(all_tiles(rules))
        for tile in given:
            if tile not in rest:
                raise DeckError(f"tile {tile} stands too often in the deck, or is not in this game")
            rest.remove(tile)
        chance.shuffle(rest)
        order = tuple(given + rest)
        size, n = rules.initial_hand_size, rules.num_players
        hands = tuple(multiset(order[p * size : (p + 1) * size]) for p in range(n))
        opened = (rules.initial_meld_min == 0,) * n
        return cls(rules, hands, (), order, n * size, _starting_player(rules, chance), opened)

    @classmethod
    def position(
        cls,
        racks: Sequence[str | Sequence[str | int]],
        table: Iterable[str | Iterable[str | Slot] | Meld] = (),
        pool: str | Sequence[str | int] | None = None,
        opened: Sequence[bool] | bool = False,
        **options: Any,
    ) -> Self:
        """A written position, player 0 to move; without a `pool`, all other tiles are in it."""
        rules = Ruleset.make(num_players=len(racks), **options)
        hands = tuple(multiset(rack) for rack in racks)
        melds = canonical_table(table_of(table))
        used = table_tiles(melds)
        for hand in hands:
            used = add(used, hand)
        rest = sub(multiset(all_tiles(rules)), used) if pool is None else multiset(pool)
        first = [tile for tile in range(NUM_TYPES) for _ in range(used[tile])]
        last = parse_tiles(pool) if pool is not None else [t for t in range(NUM_TYPES) for _ in range(rest[t])]
        open_flags = (opened,) * len(racks) if isinstance(opened, bool) else tuple(opened)
        return cls(rules, hands, melds, tuple(first + last), len(first), 0, open_flags)

    # -- reading --------------------------------------------------------------------------------------------------

    @property
    def pool(self) -> tuple[int, ...]:
        """The tiles not dealt, next first."""
        return self.deck[self.deck_index :]

    @property
    def table_key(self) -> str:
        """Hash of the table."""
        return table_key(self.table)

    @property
    def state_key(self) -> str:
        """Hash of hands, table, how far the deck is dealt, whose turn it is, and the flags."""
        flags = [self.opened, self.num_passes, self.has_drawn, self.is_terminal]
        hands = [multiset_to_json(hand) for hand in self.hands]
        return stable_hash([hands, self.table_key, self.deck_index, self.current_player, flags])

    def check_invariants(self) -> None:
        """Raise AssertionError unless every tile is somewhere once and the table is valid (1.1, 2)."""
        everything = add(table_tiles(self.table), multiset(self.pool))
        for hand in self.hands:
            assert min(hand) >= 0, "a hand holds less than nothing"
            everything = add(everything, hand)
        assert everything == multiset(self.deck), "hands, table and pool are not the deck"
        for meld in self.table:
            assert not meld.why_invalid(self.rules.max_run), meld.why_invalid(self.rules.max_run)
        assert self.table == canonical_table(self.table), "the table is not canonical"

    # -- moves ----------------------------------------------------------------------------------------------------

    def check(self, move: Move) -> None:
        """Raise IllegalMoveError, which names the condition, unless `move` is legal."""
        if self.is_terminal:
            raise IllegalMoveError(NOT_NOW, "the game is over (rules.md 6)")
        if isinstance(move, Play):
            check_play(self._position(), move.delta_from_hand, move.new_table_melds)
        elif isinstance(move, Draw):
            self._check_draw()
        elif isinstance(move, Pass):
            self._check_pass()
        elif self.rules.timeout_penalty is None:
            raise IllegalMoveError(NOT_NOW, "this game has no time limit (rules.md 3.6)")

    def _position(self) -> Position:
        player = self.current_player
        return Position(self.rules, self.hands[player], self.table, self.opened[player])

    def _check_draw(self) -> None:
        if not self.pool:
            raise IllegalMoveError(NOT_NOW, "the pool is empty; play or pass (rules.md 3.3)")
        if self.has_drawn:
            raise IllegalMoveError(NOT_NOW, "a tile has been drawn in this turn; play or pass (rules.md 3.5)")
        if not self.rules.allow_draw_when_play_possible and self.can_play():
            raise IllegalMoveError(NOT_NOW, "a player who can play may not draw (rules.md 3.3)")

    def _check_pass(self) -> None:
        if self.has_drawn:
            return
        if self.pool:
            raise IllegalMoveError(NOT_NOW, "there are tiles in the pool; play or draw (rules.md 3.4)")
        if self.rules.pass_rule == "no_play_only" and self.can_play():
            raise IllegalMoveError(NOT_NOW, "a player who can play may not pass (rules.md 3.4)")

    def apply(self, move: Move) -> Self:
        """The position after a legal move.

        Raises:
            IllegalMoveError: the move is not legal; its `condition` says which rule it breaks.
        """
        self.check(move)
        if isinstance(move, Play):
            return self._after_play(move)
        if isinstance(move, Pass):
            passes = self.num_passes + (0 if self.has_drawn else 1)
            blocked = passes >= self.rules.num_players
            return self._next(move, [], num_passes=passes, is_terminal=blocked)
        wanted = 1 if isinstance(move, Draw) else int(self.rules.timeout_penalty or 0)
        drawn = self.pool[:wanted]
        passes = 0 if drawn else self.num_passes + 1
        return self._next(
            move,
            list(drawn),
            stays=isinstance(move, Draw) and not self.rules.draw_ends_turn,
            hands=self._with_hand(add(self.hands[self.current_player], multiset(drawn))),
            deck_index=self.deck_index + len(drawn),
            num_passes=passes,
            is_terminal=passes >= self.rules.num_players,
        )

    def _after_play(self, move: Play) -> Self:
        rack = sub(self.hands[self.current_player], move.delta_from_hand)
        opened = tuple(was or p == self.current_player for p, was in enumerate(self.opened))
        return self._next(
            move, [], hands=self._with_hand(rack), table=canonical_table(move.new_table_melds),
            opened=opened, num_passes=0, is_terminal=total(rack) == 0,
        )  # fmt: skip

    def _with_hand(self, hand: Multiset) -> tuple[Multiset, ...]:
        return tuple(hand if p == self.current_player else other for p, other in enumerate(self.hands))

    def _next(self, move: Move, drawn: list[int], stays: bool = False, **changes: Any) -> Self:
        """The changes, the turn passed on unless it stays, and the event."""
        following = self.current_player if stays else (self.current_player + 1) % self.rules.num_players
        after = replace(self, current_player=following, has_drawn=stays, **changes)
        event = {"player": self.current_player, "move": move_to_json(move), "drawn": drawn, "table": after.table_key}
        return replace(after, events=(*self.events, event))

    def can_play(self) -> bool:
        """Whether the player to move has a legal PLAY.

        Raises:
            OptionError: asked under house rules that the solver does not know.
        """
        return has_play(self._position())

    # -- scoring --------------------------------------------------------------------------------------------------

    @property
    def scores(self) -> list[Fraction]:
        """Each player's points; zeros until the game is over (6)."""
        if not self.is_terminal:
            return [Fraction(0)] * self.rules.num_players
        sums = [rack_points(hand, self.rules.joker_value_at_end) for hand in self.hands]
        return final_scores(sums, [total(hand) == 0 for hand in self.hands])

    # -- JSON -----------------------------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """The whole state, events included, as JSON values."""
        return {
            "rules": self.rules.as_dict(),
            "hands": [multiset_to_json(hand) for hand in self.hands],
            "table": table_to_json(self.table),
            "deck": list(self.deck),
            "deck_index": self.deck_index,
            "current_player": self.current_player,
            "opened": list(self.opened),
            "num_passes": self.num_passes,
            "has_drawn": self.has_drawn,
            "is_terminal": self.is_terminal,
            "events": list(self.events),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """The inverse of `to_json`."""
        return cls(
            rules=Ruleset.make(**data["rules"]),
            hands=tuple(multiset_from_json(hand) for hand in data["hands"]),
            table=canonical_table(table_from_json(data["table"])),
            deck=tuple(data["deck"]),
            deck_index=data["deck_index"],
            current_player=data["current_player"],
            opened=tuple(data["opened"]),
            num_passes=data["num_passes"],
            has_drawn=data["has_drawn"],
            is_terminal=data["is_terminal"],
            events=tuple(data["events"]),
        )


def final_scores(sums: Sequence[int], out: Sequence[bool]) -> list[Fraction]:
    """The points of a game that is over, which add up to zero (6.1, 6.2).

    Args:
        sums: of the racks.
        out: whether each rack is empty; at most one is.
    """
    base = 0 if any(out) else min(sums)
    winners = [p for p, rack in enumerate(sums) if (out[p] if any(out) else rack == base)]
    lost = [rack - base for rack in sums]
    share = Fraction(sum(lost[p] for p in range(len(sums)) if p not in winners), len(winners))
    return [share if p in winners else Fraction(-lost[p]) for p in range(len(sums))]


def match_result(games: Sequence[Sequence[Fraction]]) -> tuple[list[Fraction], list[int]]:
    """Totals of a match, and its winners: most games won, then the higher total (6.5).

    Args:
        games: the scores of each game.
    """
    n = len(games[0])
    totals = [sum((game[p] for game in games), Fraction(0)) for p in range(n)]
    won = [sum(game[p] == max(game) for game in games) for p in range(n)]
    best = max((won[p], totals[p]) for p in range(n))
    return totals, [p for p in range(n) if (won[p], totals[p]) == best]


def replay(start: EngineState, events: Iterable[dict[str, Any]]) -> EngineState:
    """The position after the moves of an event log.

    Raises:
        IllegalMoveError: a move is not legal there.
        FormatError: a move leads to another table or draws other tiles than the log says.
    """
    state = start
    for event in events:
        state = state.apply(move_from_json(event["move"]))
        if state.events[-1] != event:
            raise FormatError(f"the log says {event}, but the move gives {state.events[-1]}")
    return state


# ---------------------------------------------------------------------------------------------------------------
# Keys


def table_key(table: Iterable[Meld]) -> str:
    """A hash of the canonical table, the same in every process and on every platform."""
    return stable_hash(table_to_json(canonical_table(table)))


def stable_hash(data: Any) -> str:
    """32 hexadecimal digits of the SHA-256 of JSON values."""
    return hashlib.sha256(json.dumps(data, separators=(",", ":"), sort_keys=True).encode()).hexdigest()[:32]
