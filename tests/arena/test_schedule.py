"""Who meets whom, and who sits where."""

import itertools
from collections import Counter

import pytest

from cardenvs.arena.schedule import Schedule, balanced_groups
from cardenvs.core.errors import ArenaError


def test_seatings():
    assert Schedule(seating="all").lineups(2, 2) == ((0, 1), (1, 0))
    assert len(Schedule().lineups(3, 3)) == 6
    assert Schedule().lineups(4, 4) == ((0, 1, 2, 3), (1, 2, 3, 0), (2, 3, 0, 1), (3, 0, 1, 2))
    assert Schedule(seating="rotations").lineups(3, 3) == ((0, 1, 2), (1, 2, 0), (2, 0, 1))
    assert len(Schedule(seating="all").lineups(4, 4)) == 24


def test_challengers_meet_the_field_and_not_each_other():
    lineups = Schedule("field", challengers=(1, 3)).lineups(5, 2)
    assert {frozenset(lineup) for lineup in lineups} == {
        frozenset(pair) for pair in itertools.product((1, 3), (0, 2, 4))
    }
    assert len(lineups) == 12  # both seatings
    three = Schedule("field", challengers=(0,)).lineups(4, 3)
    assert {frozenset(lineup) for lineup in three} == {frozenset({0, a, b}) for a, b in ((1, 2), (1, 3), (2, 3))}


def test_a_small_field_fills_the_table_with_copies():
    lineups = Schedule("field", challengers=(0,)).lineups(3, 4)
    assert lineups[:4] == ((0, 1, 1, 1), (1, 1, 1, 0), (1, 1, 0, 1), (1, 0, 1, 1))
    assert len(lineups) == 8
    assert all(lineup.count(0) == 1 for lineup in lineups)
    for player in range(4):
        assert sum(lineup[player] == 0 for lineup in lineups) == 2
    assert len(Schedule("field", seating="all", challengers=(0,)).lineups(2, 3)) == 3  # no lineup twice


@pytest.mark.parametrize(("agents", "players", "tables"), [(6, 4, 6), (9, 3, 12), (7, 5, 7), (10, 6, 10), (8, 2, 12)])
def test_tables_are_balanced(agents, players, tables):
    groups = balanced_groups(agents, players, tables)
    assert len(groups) == tables
    assert all(len(set(group)) == players for group in groups)
    seats = Counter(agent for group in groups for agent in group)
    assert max(seats.values()) - min(seats[agent] for agent in range(agents)) <= 1
    met = Counter(frozenset(pair) for group in groups for pair in itertools.combinations(group, 2))
    pairs = [met[frozenset(pair)] for pair in itertools.combinations(range(agents), 2)]
    assert max(pairs) - min(pairs) <= (2 if players < 6 else 3)
    lineups = Schedule("tables", tables=tables).lineups(agents, players)
    for player in range(players):  # every agent is every player as often
        as_player = Counter(lineup[player] for lineup in lineups)
        assert as_player == Counter(lineup[0] for lineup in lineups)


def test_neighbours_change():
    groups = balanced_groups(5, 5, 4)
    followed = Counter(pair for g in groups for pair in zip(g, g[1:] + g[:1], strict=True))
    assert max(followed.values()) <= 2  # one order for all would make it 4


@pytest.mark.parametrize(
    ("schedule", "agents", "message"),
    [
        (Schedule("field"), 3, "needs a challenger, and a field of other agents"),
        (Schedule("field", challengers=(0, 1, 2)), 3, "needs a challenger, and a field"),
        (Schedule("tables"), 4, "needs 1 to 1,000,000 tables; got 0"),
        (Schedule("tables", tables=2), 2, "a table has 3 players; got 2 agents"),
    ],
)
def test_what_cannot_be_is_refused(schedule, agents, message):
    with pytest.raises(ArenaError, match=message):
        schedule.lineups(agents, 3)


def test_a_schedule_is_kept_by_what_is_special_of_it():
    schedule = Schedule("field", "rotations", (2,))
    assert schedule.as_dict() == {"kind": "field", "seating": "rotations", "challengers": [2]}
    assert Schedule.from_dict(schedule.as_dict()) == schedule
    assert Schedule().as_dict() == {}
