"""An agent that fails is never better off than one that plays on."""

import pytest

from cardenvs.agents.guarded.limits import AgentLimits
from cardenvs.arena import Match, run_match
from cardenvs.arena.play import AgentPool, PlaySettings, play_games
from cardenvs.core.codes import FORFEIT

OWN = "python:arena_agents:"


def guarded(game, agents, deals, **options):
    """A match in which an agent that fails forfeits."""
    return Match.of(game, agents, deals, 3, **options).changed(guard=AgentLimits(isolation="none", tries=1))


def ranking(*arguments, **options):
    """The mean return of each agent of such a match, by name."""
    standings = run_match(guarded(*arguments, **options)).ranking
    return {standing.name.removeprefix(OWN): standing.mean.mean for standing in standings}


@pytest.mark.parametrize(
    ("game", "options", "opponent"),
    [
        ("texas_holdem_v0", {"format": "cash", "num_players": 2, "num_hands": 20}, "equity"),
        ("leduc_poker_v0", {}, "random"),
        ("kuhn_poker_v0", {}, "random"),
    ],
)
def test_who_fails_at_once_ranks_below_who_loses_as_it_can(game, options, opponent):
    agents = [f"{OWN}Crashes", f"{OWN}Folds", f"{OWN}ShovesAndFolds", opponent]
    means = ranking(game, agents, 6, **options)
    assert means["Crashes"] == min(means.values())
    assert means["Crashes"] < means["Folds"]


def test_a_crash_in_cash_holdem_costs_the_stack():
    means = ranking("texas_holdem_v0", [f"{OWN}Crashes", "equity"], 3, format="cash", num_players=2, num_hands=20)
    assert means["Crashes"] == -500  # 100 big blinds in 20 hands


@pytest.mark.parametrize(
    ("game", "options"),
    [
        ("casino_v0", {"match": False, "spade_casino": True}),
        ("kasino_v0", {}),
        ("scopa_v0", {"target": None, "napola": True}),
    ],
)
def test_nobody_gains_by_quitting_when_behind(game, options):
    match = guarded(game, [f"{OWN}QuitsWhenBehind", "heuristic"], 4, **options)
    crew = AgentPool(match, PlaySettings())
    try:
        records = [*play_games(crew, ((deal, lineup) for deal in range(match.deals) for lineup in range(2)))]
    finally:
        crew.close()
    assert len(records) == 8
    assert not any(action >= FORFEIT for record in records for action in record.actions)
