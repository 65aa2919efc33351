"""Experiments in YAML: what they mean, and what is wrong with them."""

import pytest

from cardenvs.arena.experiment import Experiment, read_experiment, settings
from cardenvs.arena.store import Store
from cardenvs.core.errors import ArenaError, FileError, MissingExtraError

SMALL = {"name": "small", "games": ["kuhn_poker_v0"], "agents": ["random", "search:simulations=5"], "deals": 3}


def test_a_file_in_full(tmp_path):
    path = tmp_path / "all.yaml"
    path.write_text("""
name: everything
description: of it
seed: 7
deals: 50
games:
  - kuhn_poker_v0
  - {game: leduc_poker_v0, options: {num_players: 3, raise_size: [2, 4]}, deals: 20, seed: 9, agents: [random, s, mine]}
  - {game: kuhn_poker_v0, title: again}
agents:
  - random
  - {name: s, spec: "search:simulations=5,playout=random"}
  - {name: mine, spec: "python:arena_agents:First"}
schedule: {kind: field, challengers: [mine], seating: rotations}
stop: {half_width: 0.25, of: means, min_deals: 10}
guard: {on_failure: forced_action, time_limit: 2, tries: 2, isolation: none}
budget: {seconds: 60}
anchors: {random: 1000}
intervals: student
""")
    experiment = read_experiment(path)
    first, second, third = experiment.matches
    assert experiment.titles == ("Kuhn poker", "Leduc poker (num_players=3)", "again")
    assert (first.deals, first.seed.secret, first.options.num_players) == (50, 7, 2)
    assert (second.deals, second.seed.secret, second.options.num_players) == (20, 9, 3)
    assert first.names == ("random", "s", "mine")
    assert first.specs[1] == "search:simulations=5,playout=random"
    assert set(first.lineups) == {(2, 0), (0, 2), (2, 1), (1, 2)}
    assert len(second.lineups) == 3  # rotations
    assert (first.guard.on_failure, first.guard.time_limit, first.guard.tries) == ("forced_action", 2, 2)
    assert experiment.stop.half_width == 0.25
    assert experiment.stop.intervals == "student"
    assert (experiment.seconds, experiment.anchors) == (60, {"random": 1000})
    assert third.id == first.id


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"game": []}, "game: there is no such setting; did you mean 'games'. settings are: name"),
        ({"games": []}, "games: List should have at least 1 item"),
        ({"games": ["kuhn_pokre"]}, "games.0: no game named 'kuhn_pokre'; did you mean"),
        ({"games": [{"game": "kuhn_poker_v0", "options": {"antes": 2}}]}, "games.0: .*unknown option 'antes'"),
        ({"games": [{"game": "kuhn_poker_v0", "deal": 2}]}, "games.0.deal: there is no such setting; did you mean 'd"),
        ({"games": [{"game": "kuhn_poker_v0", "agents": ["randum"]}]}, "games.0.agents: no agent is named 'randum'; d"),
        ({"agents": ["random", "random"]}, "agent names must differ; random appears twice"),
        ({"agents": ["random"]}, "games.0: kuhn_poker_v0 is played by 2 here, so a match needs at least as many"),
        ({"agents": [{"name": "x"}]}, r"agents.0.spec: Field required$"),
        ({"deals": 0}, r"deals: Input should be greater than or equal to 1 \(got 0\)"),
        ({"seed": -1}, "seed: a match's seed is a number from 0 to 2"),
        ({"schedule": "swiss"}, r"'round_robin', 'field', 'tables' or 'fixed' \(got 'swiss'\)"),
        ({"schedule": {"kind": "field"}}, None),
        ({"schedule": {"challengers": ["random"]}}, "games.0: challengers need a schedule of kind field"),
        ({"stop": {"half_width": 0}}, "stop.half_width: Input should be greater than 0"),
        ({"guard": {"on_failure": "cry"}}, "guard.on_failure: Input should be 'forfeit', 'forced_action' or 'stop'"),
        ({"guard": {"tries": 0}}, "guard.tries: Input should be greater than or equal to 1"),
        ({"budget": {"games": 1}}, "budget.games: 1 games leave 1 for each of 1 matches, but one deal of kuhn_poker"),
        ({"anchors": {"nobody": 1}}, "anchors: no agent is named 'nobody'"),
        ({"name": None}, "name: Input should be a valid string"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_place(changes, message):
    if message is None:
        experiment = Experiment.of({**SMALL, **changes})
        with pytest.raises(ArenaError, match="needs a challenger"):
            experiment.matches[0].lineups  # noqa: B018
        return
    with pytest.raises(ArenaError, match=f"^bad.yaml: .*{message}"):
        Experiment.of({**SMALL, **changes}, "bad.yaml")


def test_all_that_is_wrong_is_said_at_once():
    with pytest.raises(ArenaError, match=r"seed: .*; deals: "):
        Experiment.of({**SMALL, "deals": 0, "seed": -1})


def test_files_that_are_none(tmp_path):
    with pytest.raises(FileError, match=r"cannot read .*nowhere\.yaml: there is no such file"):
        read_experiment(tmp_path / "nowhere.yaml")
    (tmp_path / "bad.yaml").write_text("games: [")
    with pytest.raises(ArenaError, match=r"bad\.yaml cannot be read"):
        read_experiment(tmp_path / "bad.yaml")
    (tmp_path / "list.yaml").write_text("- a")
    with pytest.raises(ArenaError, match="must be a mapping"):
        read_experiment(tmp_path / "list.yaml")


def test_a_budget_of_games_is_shared_out_in_whole_deals():
    experiment = Experiment.of(
        {
            **SMALL,
            "games": ["kuhn_poker_v0", {"game": "kuhn_poker_v0", "seed": 5}],
            "deals": 100,
            "budget": {"games": 27},
        }
    )
    assert [match.deals for match in experiment.matches] == [6, 6]


def test_tables_default_to_one_for_each_agent():
    agents = [{"spec": "random", "name": f"a{k}"} for k in range(6)]
    game = {"game": "kuhn_poker_v0", "options": {"num_players": 4}}
    match = Experiment.of({**SMALL, "games": [game], "agents": agents, "schedule": "tables"}).matches[0]
    assert len(match.lineups) == 6 * 4


def test_out_of_time_a_run_ends_and_a_later_one_goes_on():
    experiment = Experiment.of({**SMALL, "budget": {"seconds": 1e-6}, "guard": {"on_failure": "stop"}})
    with Store() as store:
        assert experiment.run(store) is False
        assert store.count(experiment.matches[0].id) == 0
        assert Experiment.of({**SMALL, "guard": {"on_failure": "stop"}}).run(store, resume=True) is True
        assert store.count(experiment.matches[0].id) == 6


def test_every_setting_is_listed_with_what_it_is():
    rows = settings()
    assert {"name", "games.options", "stop.half_width", "guard.tries", "budget.seconds"} <= {row[0] for row in rows}
    assert all(what and takes for _, takes, _, what in rows)
    assert not any("Annotated" in takes or "FieldInfo" in takes or ")" in takes for _, takes, _, _ in rows)


def test_the_experiments_of_the_repository_are_sound():
    from pathlib import Path

    paths = sorted((Path(__file__).parents[2] / "configs" / "arena").glob("*.yaml"))
    assert paths
    for path in paths:
        assert read_experiment(path).num_games > 0


def test_without_the_extra(monkeypatch):
    import importlib
    import sys

    import cardenvs.arena.experiment as module

    monkeypatch.setitem(sys.modules, "pydantic", None)
    with pytest.raises(MissingExtraError, match=r"cardenvs\[arena\]"):
        importlib.reload(module)
    monkeypatch.undo()
    importlib.reload(module)
