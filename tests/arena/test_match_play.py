"""Playing the games of a match in one process."""

import dataclasses

import pytest
from arena_agents import Together

from cardenvs.agents import kinds
from cardenvs.agents.python import PYTHON
from cardenvs.arena import Match
from cardenvs.arena.play import AgentPool, PlaySettings, play_games
from cardenvs.core.errors import AgentError
from cardenvs.core.registry import get_game

OWN = "python:arena_agents:"


def played(match, batch=64, jobs=None):
    """{(deal, lineup): record without its times}."""
    jobs = (
        [(deal, lineup) for deal in range(match.deals) for lineup in range(len(match.lineups))]
        if jobs is None
        else jobs
    )
    return {
        (r.deal, r.lineup): (r.seed, r.seating, r.returns, r.actions, r.error)
        for r in play_games(AgentPool(match, PlaySettings(batch)), iter(jobs))
    }


def test_all_games_of_a_deal_have_the_same_cards_and_deals_differ():
    match = Match.of("leduc_poker_v0", [f"{OWN}First", "random", "search:simulations=5"], deals=20, seed=3)
    seeds = {}
    for (deal, _), (seed, *_) in played(match).items():
        seeds.setdefault(deal, set()).add(seed)
    assert all(len(found) == 1 for found in seeds.values())
    assert len(set.union(*seeds.values())) == 20


def test_a_record_plays_again_to_its_returns():
    match = Match.of("leduc_poker_v0", ["random", "random"], deals=20, seed=3, ante=2)
    for seed, seating, returns, actions, error in played(match).values():
        state = get_game("leduc_poker_v0").new_state(seed=seed, ante=2)
        for action in actions:
            state.apply(action)
        assert state.is_terminal
        assert tuple(state.returns) == returns
        assert sorted(seating) == [0, 1]
        assert error is None


@pytest.fixture
def kind_here(monkeypatch):
    """A kind of agents that play in this process, as those of cardenvs do."""
    monkeypatch.setitem(kinds._added, "here", dataclasses.replace(PYTHON, name="here", guest=False, isolation="none"))


HERE = "here:arena_agents:"


@pytest.mark.parametrize("agents", [(f"{HERE}Together", f"{HERE}Keeper"), (f"{HERE}Together", f"{HERE}Together")])
def test_games_side_by_side_are_the_same_as_one_by_one(agents, kind_here):
    import arena_agents

    match = Match.of("leduc_poker_v0", agents, deals=30, seed=3)
    arena_agents.Together.largest = 0
    side_by_side = played(match, batch=16)
    assert arena_agents.Together.largest >= 8
    assert side_by_side == played(match, batch=1) == played(match, batch=1000)
    assert len(side_by_side) == 60
    backwards = sorted(side_by_side, reverse=True)
    assert played(match, batch=7, jobs=backwards) == side_by_side


def test_times_and_decisions_are_counted_by_player(kind_here):
    match = Match.of("leduc_poker_v0", [f"{HERE}Slow", f"{HERE}Together"], deals=2)
    for record in play_games(AgentPool(match, PlaySettings(4)), iter([(0, 0), (0, 1), (1, 0)])):
        assert sum(record.decisions) == len(record.actions)
        slow = record.seating.index(0)
        assert record.seconds[slow] >= 0.004 * record.decisions[slow] > record.seconds[1 - slow]


class Wrapper:
    """An agent around another one, which answers in batches."""

    name, asked = "wrapper", 0

    def __init__(self, game, options):
        self.agent = Together(game, options)

    def reset(self, seed):
        """Do nothing."""

    def act(self, turn):
        """The first legal action, whatever the other agent says."""
        Wrapper.asked += 1
        return turn.legal_actions[0]


def test_an_agent_around_another_one_is_asked_itself():
    match = Match.of("leduc_poker_v0", [Wrapper, "random"], deals=5, seed=3)
    Wrapper.asked = 0
    played(match)
    assert Wrapper.asked >= 5


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        (
            "Raises",
            r"ply \d+, as player_. of .*: ZeroDivisionError: I cannot go on \(arena_agents.py, line 35\)\nTraceback",
        ),
        ("BadReset", "ply 0, as player_.*: OSError: no memory"),
        ("Illegal", "its choice is not legal: .*there is no action 999"),
        ("Forfeits", "107374182. is a code, not an action id, so nobody may choose it"),
        ("TooFew", "its act_batch was given 1 turns and returned 0 actions"),
    ],
)
def test_a_failure_ends_the_play_and_says_whose_it_was_and_where(agent, message, kind_here):
    import re

    where = HERE if agent == "TooFew" else OWN
    match = Match.of("leduc_poker_v0", [f"{where}{agent}", "search:simulations=2"], deals=40, seed=3)
    jobs = [(deal, 0) for deal in range(40)]
    records = list(play_games(AgentPool(match, PlaySettings(1)), iter(jobs)))
    assert 1 <= len(records) < 40
    *good, bad = records
    assert all(record.error is None for record in good)
    assert bad.returns == ()
    assert bad.error.startswith(
        f"agent '{where}{agent}' failed in deal {bad.deal} (seed {match.deal_seed(bad.deal)}), ply"
    )
    assert re.search(message, bad.error)


def test_an_agent_that_cannot_be_made_is_an_error_at_once():
    match = Match.of("leduc_poker_v0", ["random", "castle"], deals=1)
    with pytest.raises(AgentError, match="no agent 'castle'"):
        AgentPool(match)
