"""Agents by name."""

import contextlib
import sys
import textwrap

import pytest

from cardenvs.agents import Agent, PolicyAgent, SearchAgent, Turn, make_agent, split_specs
from cardenvs.agents.guarded.process import ProcessAgent
from cardenvs.agents.specs import agent_fingerprint, load_agent
from cardenvs.core.errors import AgentError, MissingExtraError, PolicyNotFoundError
from cardenvs.core.registry import get_game

GAME = get_game("leduc_poker_v0")
OPTIONS = GAME.make_options()


def test_random_plays_every_legal_action_and_repeats():
    agent = make_agent("random", GAME, OPTIONS)
    assert isinstance(agent, PolicyAgent)
    assert isinstance(agent, Agent)
    state = GAME.new_state(seed=1)
    chosen = [agent.act(Turn(state, seed)) for seed in range(60)]
    assert set(chosen) == set(state.legal_actions())
    assert chosen == [agent.act(Turn(state, seed)) for seed in range(60)]


def test_search_takes_its_parameters():
    agent = make_agent("search:simulations=30, playout=random,depth=5", GAME, OPTIONS)
    assert isinstance(agent, SearchAgent)
    assert (agent.simulations, agent.seconds, agent.playouts.name, agent.depth) == (30, None, "random", 5)
    assert make_agent("search:seconds=0.5", GAME, OPTIONS).simulations is None
    assert make_agent("search", GAME, OPTIONS).simulations == 200
    assert agent.name == "search:simulations=30, playout=random,depth=5"


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("serch", AgentError, "no agent 'serch' for leduc_poker_v0; did you mean 'search'[?] agents are: random"),
        ("heuristic", AgentError, "no agent 'heuristic' for leduc_poker_v0; .*random, .*, search"),
        ("random:3", AgentError, "'random' takes no parameters"),
        ("search:simulation=3", AgentError, "search has no parameter 'simulation=3'; did you mean 'simulations'"),
        ("search:deep", AgentError, "search has no parameter 'deep'"),
        ("search:simulations=many", AgentError, "search takes an integer for simulations; got 'many'"),
        ("search:seconds=many", AgentError, "search takes a number for seconds"),
        ("search:simulations=0", AgentError, "search takes simulations above 0 and up to 1,000,000,000; got 0"),
        ("search:seconds=nan", AgentError, "search takes seconds above 0"),
        ("search:simulations=1,seconds=1", AgentError, "in simulations or in seconds, not both"),
        ("search:playout=best", PolicyNotFoundError, "has no policy 'best'; its policies are: random"),
        ("ppo:", AgentError, "ppo needs the path of a file"),
        ("ppo:nowhere.pt", AgentError, "ppo: there is no file 'nowhere.pt'"),
        ("ppo:.", AgentError, "ppo: '.' is a folder; name a file in it, as in "),
        ("python:module", AgentError, "python agents are written python:MODULE:NAME"),
        ("python:no_such_module:make", AgentError, "cannot load agent 'python:no_such_module:make'"),
        ("python:json:no_such_thing", AgentError, "has no attribute 'no_such_thing'"),
    ],
)
def test_what_is_wrong_with_a_spec_is_said(spec, error, message):
    with pytest.raises(error, match=message):
        make_agent(spec, GAME, OPTIONS)


def test_a_factory_in_the_working_folder_is_found(tmp_path, monkeypatch):
    (tmp_path / "my_agents_here.py").write_text(
        textwrap.dedent("""
            class Caller:
                name = "caller"
                def __init__(self, game, options):
                    self.game, self.options = game, options
                def reset(self, seed): ...
                def act(self, turn):
                    return 1
            def nothing(game, options):
                return 5
        """)
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    with contextlib.closing(make_agent("python:my_agents_here:Caller", GAME, OPTIONS)) as agent:
        assert isinstance(agent, ProcessAgent)
        assert agent.act(Turn(GAME.new_state(seed=1), 0)) == 1
    agent = load_agent("python:my_agents_here:Caller", GAME, OPTIONS)
    assert agent.act(Turn(GAME.new_state(seed=1), 0)) == 1
    assert agent.game is GAME
    with pytest.raises(AgentError, match=r"made 5, which is not an agent: it lacks act\(turn\)"):
        make_agent("python:my_agents_here:nothing", GAME, OPTIONS)


def test_ppo_without_torch_names_the_extra(tmp_path, monkeypatch):
    (tmp_path / "policy.pt").write_bytes(b"weights")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"cardenvs\[train\]"):
        make_agent(f"ppo:{tmp_path / 'policy.pt'}", GAME, OPTIONS)


def test_a_fingerprint_changes_with_the_file(tmp_path):
    path = tmp_path / "policy.pt"
    path.write_bytes(b"one")
    first = agent_fingerprint(f"ppo:{path}")
    path.write_bytes(b"two")
    assert agent_fingerprint(f"ppo:{path}") != first
    assert agent_fingerprint("search:simulations=3") == ""


def test_lists_of_specs_keep_parameters_together():
    text = "random, search:simulations=20,playout=random ,python:a.b:make,ppo:runs/x.pt"
    assert split_specs(text) == [
        "random", "search:simulations=20,playout=random", "python:a.b:make", "ppo:runs/x.pt",
    ]  # fmt: skip
    for wrong in ("", "random,", "random,,search"):
        with pytest.raises(AgentError, match="separated by single commas"):
            split_specs(wrong)
