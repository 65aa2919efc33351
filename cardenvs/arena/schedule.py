"""Schedules: who meets whom, and who sits where.

A *group* is the agents at one table in seating order; a *lineup* is a group whose first agent is player 0. Every lineup
plays every deal. The kinds of schedule:

    round_robin   every combination of agents that fills a table
    field         each challenger against the other agents, the field; challengers do not meet. If the field cannot fill
                  a table, each of its agents in turn takes all the other seats
    tables        a given number of groups in which all agents sit equally often (give or take one) and pairs meet about
                  equally often; for many agents at large tables, where a round robin has too many groups
    fixed         one group in one order: agent p is player p in every game

In a cooperative game, the tables of a round robin may have several copies of an agent: every agent plays with itself
and with every mix of others.

and of seating:

    all           each group in every order
    rotations     each group in every rotation, so each agent is each player once
    auto          all up to three players, rotations for more
"""

import dataclasses
import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from cardenvs.core.errors import ArenaError

Kind = Literal["round_robin", "field", "tables", "fixed"]
Seating = Literal["auto", "all", "rotations"]
Group = tuple[int, ...]

_ALL_SEATINGS_UP_TO = 3  # players, with seating "auto"
_MOST_ROUNDS = 20  # rounds of swapping agents between tables
_MOST_LINEUPS = 1_000_000  # lineups per deal, which are all held in memory
_BEST_ORDER_UP_TO = 6  # agents at a table; with more, their order is not optimised


@dataclass(frozen=True)
class Schedule:
    """A schedule for agents 0..n-1."""

    kind: Kind = "round_robin"  # kind of schedule, see the top of this module
    seating: Seating = "auto"  # kind of seating, see the top of this module
    challengers: tuple[int, ...] = ()  # agent numbers, for kind "field" only
    tables: int = 0  # number of groups, for kind "tables" only

    def lineups(self, agents: int, players: int, cooperative: bool = False) -> tuple[Group, ...]:
        """Return the games of a deal: for each, the agents by player. `cooperative` is that of the game's returns.

        Raises:
            ArenaError: there are too few agents, invalid challengers or tables, or more than a million lineups.
        """
        if self.kind == "fixed":
            return tuple(self.groups(agents, players, cooperative))
        every_order = self.seating == "all" or (self.seating == "auto" and players <= _ALL_SEATINGS_UP_TO)
        seatings = itertools.permutations if every_order else _rotations
        found = (lineup for group in self.groups(agents, players, cooperative) for lineup in seatings(group))
        some = dict.fromkeys(itertools.islice(found, _MOST_LINEUPS))  # groups with a repeated agent have equal seatings
        if next(found, None) is not None:
            raise ArenaError(
                f"{agents} agents at tables of {players} make more than {_MOST_LINEUPS:,} games a deal; list fewer "
                "agents, or run an experiment with `schedule: {kind: tables}`"
            )
        return tuple(some)

    def as_dict(self) -> dict[str, Any]:
        """Return the fields that differ from a round robin, as JSON values."""
        return {
            field.name: list(value) if isinstance(value, tuple) else value
            for field in dataclasses.fields(self)
            if (value := getattr(self, field.name)) != field.default
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Return the schedule that `as_dict` gave these values for."""
        read: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in values.items()}
        return cls(**read)

    def groups(self, agents: int, players: int, cooperative: bool = False) -> Iterable[Group]:
        """Return the groups, each in one order. Raises the same errors as `lineups`."""
        if self.kind == "round_robin" and cooperative:
            return itertools.combinations_with_replacement(range(agents), players)
        if self.kind == "round_robin":
            return itertools.combinations(range(agents), players)
        if self.kind == "fixed":
            if agents != players:
                raise ArenaError(f"with fixed seats a game of {players} players needs {players} agents; got {agents}")
            return [tuple(range(players))]
        if self.kind == "field":
            return _against_the_field(self.challengers, agents, players)
        return balanced_groups(agents, players, self.tables)


ROUND_ROBIN = Schedule()
FIXED = Schedule("fixed")
FIRST_AGAINST_FIELD = Schedule("field", challengers=(0,))


def _rotations(group: Group) -> Iterable[Group]:
    return (group[k:] + group[:k] for k in range(len(group)))


def _against_the_field(challengers: Sequence[int], agents: int, players: int) -> Iterable[Group]:
    field = [agent for agent in range(agents) if agent not in challengers]
    if not challengers or not field:
        raise ArenaError("a field schedule needs a challenger, and a field of other agents")
    if len(field) >= players - 1:
        return ((one, *group) for one in challengers for group in itertools.combinations(field, players - 1))
    return ((one, *(agent,) * (players - 1)) for one in challengers for agent in field)


def balanced_groups(agents: int, players: int, tables: int) -> list[Group]:
    """Return `tables` groups of different agents, with even seat counts and, greedily, even meetings of pairs.

    Within a group, the order puts agents side by side that were neighbours least often.
    """
    if not 1 <= tables <= _MOST_LINEUPS:
        raise ArenaError(f"a schedule of tables needs 1 to {_MOST_LINEUPS:,} tables; got {tables}")
    if agents < players:
        raise ArenaError(f"a table has {players} players; got {agents} agents")
    seated: Counter[int] = Counter()
    met: Counter[tuple[int, int]] = Counter()
    groups: list[list[int]] = []
    for _ in range(tables):
        group: list[int] = []
        while len(group) < players:
            free = (agent for agent in range(agents) if agent not in group)
            group.append(min(free, key=lambda agent: (seated[agent], sum(met[agent, other] for other in group), agent)))
            seated[group[-1]] += 1
        met.update(itertools.permutations(group, 2))
        groups.append(group)
    for _ in range(_MOST_ROUNDS):
        if not _swap_where_it_helps(groups, met):
            break
    followed: Counter[tuple[int, int]] = Counter()
    ordered = []
    for group in groups:
        ordered.append(_best_order(group, followed))
        followed.update(_neighbours(ordered[-1]))
    return ordered


def _swap_where_it_helps(groups: list[list[int]], met: Counter[tuple[int, int]]) -> bool:
    """Swap agents between tables if pairs then meet more evenly. Return whether any were swapped."""
    changed = False
    for one, two in itertools.combinations(groups, 2):
        for i, j in itertools.product(range(len(one)), range(len(two))):
            a, b = one[i], two[j]
            if a in two or b in one:
                continue
            with_one, with_two = one[:i] + one[i + 1 :], two[:j] + two[j + 1 :]
            lost = sum(met[a, other] for other in with_one) + sum(met[b, other] for other in with_two)
            won = sum(met[b, other] for other in with_one) + sum(met[a, other] for other in with_two)
            if won + len(with_one) + len(with_two) >= lost:  # the sum of squared meetings would not fall
                continue
            one[i], two[j] = b, a
            changed = True
            for agent, others, step in ((a, with_one, -1), (b, with_two, -1), (b, with_one, 1), (a, with_two, 1)):
                for other in others:
                    met[agent, other] += step
                    met[other, agent] += step
    return changed


def _best_order(group: list[int], followed: Counter[tuple[int, int]]) -> Group:
    first, *rest = sorted(group)
    if len(group) > _BEST_ORDER_UP_TO:
        return (first, *rest)
    orders = ((first, *order) for order in itertools.permutations(rest))
    return min(orders, key=lambda order: (sum(followed[pair] for pair in _neighbours(order)), order))


def _neighbours(order: Group) -> list[tuple[int, int]]:
    return list(zip(order, order[1:] + order[:1], strict=True))
