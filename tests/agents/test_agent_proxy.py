import contextlib
import json
import os
import subprocess
import sys
import textwrap
import time
from collections import Counter

import psutil
import pytest

import cardenvs
from cardenvs.agents import PolicyAgent, Turn
from cardenvs.agents.base import Agent, Failure
from cardenvs.agents.guarded.limits import AgentLimits
from cardenvs.agents.guarded.proxy import FORCED, FORFEITED, OK, AgentProxy, play
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import AgentError, AgentFailureError
from cardenvs.core.events import OMNISCIENT
from cardenvs.core.game_view import table_texts

pytestmark = pytest.mark.rotating

GAME = cardenvs.get_game("leduc_poker_v0")
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="memory of several processes is counted on Linux")
QUICK = {"time_limit": 20.0, "memory_limit_mb": 1024}


@pytest.fixture(autouse=True)
def agents_can_be_imported(monkeypatch):
    monkeypatch.syspath_prepend(os.path.dirname(__file__))


def proxy_of(spec, players=2, **limits):
    spec = spec if ":" in spec or spec == "random" else f"python:proxy_agents:{spec}"
    return AgentProxy.of(spec, GAME, GAME.make_options(num_players=players), AgentLimits(**{**QUICK, **limits}))


def played(spec, players=2, seed=7, **limits):
    """A game of an agent as player 0 against random ones: its end, its decisions, the proxy (closed)."""
    with proxy_of(spec, players, **limits) as proxy:
        proxies = [proxy, *(proxy_of("random", players) for _ in range(players - 1))]
        state = GAME.new_state(seed=seed, num_players=players)
        decisions = play(state, proxies, seeds=range(players))
    return state, [one for one in decisions if one.player == 0], proxy


# ---------------------------------------------------------------------------------------------------------------
# Tries, forfeits, forced actions


def test_a_good_agent_plays_as_if_there_were_no_proxy():
    for isolation in ("none", "thread", "process"):
        state, _, proxy = played("random", isolation=isolation)
        assert state.actions == played("random", isolation="none")[0].actions
        assert proxy.outcomes == {OK: proxy.decisions} != {OK: 0}
        assert not proxy.failures


@pytest.mark.parametrize(
    ("agent", "kind"),
    [
        ("raises", "exception"),
        ("hangs", "timeout"),
        ("spins", "timeout"),
        ("dies", "crash"),
        ("is_killed", "crash"),
        ("is_killed_in_real_time", "crash"),
        ("exits", "crash"),
        ("hogs", "memory"),
        pytest.param("hogs_shared", "memory", marks=linux_only),
        ("illegal", "illegal"),
        ("forfeits_for_others", "illegal"),
        ("answers_text", "illegal"),
    ],
)
def test_who_fails_three_times_forfeits_and_the_others_play_on(agent, kind):
    state, decisions, proxy = played(agent, players=3, **({"time_limit": 0.3} if kind == "timeout" else {}))
    assert proxy.failures == {kind: 3}
    assert proxy.outcomes == {FORFEITED: 1}
    (decision,) = decisions
    assert decision.action == FORFEIT + 0 == state.actions[decision.ply]
    assert [failure.kind for failure in decision.failures] == [kind] * 3
    assert state.is_terminal
    assert len(state.actions) > decision.ply + 1  # two others remain: they play on


def test_of_two_players_the_other_wins_by_the_forfeit():
    state, decisions, _ = played("raises")
    assert state.actions[-1] == decisions[-1].action == FORFEIT
    assert state.returns[0] < 0 < state.returns[1]


def test_a_try_that_fails_is_followed_by_another_that_knows_of_it():
    _, decisions, proxy = played("raises_once")
    assert proxy.outcomes == {OK: len(decisions)}
    assert proxy.failures == {"exception": len(decisions)}
    assert decisions[0].failures == (Failure("exception", "ValueError: the first time (proxy_agents.py, line 37)"),)


@pytest.mark.parametrize(
    ("left", "why"),
    [({"a": {1, 2}}, "not JSON"), ({"a": float("nan")}, "not JSON"), ({"a": "x" * (2 << 20)}, "at most")],
)
def test_notes_that_could_hurt_a_record_are_dropped(left, why):
    class Notes(Agent):
        name = "notes"

        def act(self, turn):
            turn.notes |= left
            return turn.legal_actions[0]

    proxy, state = AgentProxy(Notes()), GAME.new_state(seed=1)
    proxy.begin(state, 0, 0)
    decision = proxy.decide(state)
    assert decision.outcome == OK
    assert why in decision.notes["dropped"]


def test_tries_are_as_many_as_asked_for():
    assert played("raises", tries=1)[2].failures == {"exception": 1}
    assert played("raises_once", tries=1)[2].outcomes == {FORFEITED: 1}


def test_a_forced_action_keeps_the_player_in_the_game():
    state, decisions, proxy = played("raises", on_failure="forced_action")
    assert proxy.outcomes == {FORCED: len(decisions)}
    assert proxy.failures == {"exception": 3 * len(decisions)}
    assert all(action < FORFEIT for action in state.actions)


@pytest.mark.parametrize("betting", ["pot_fractions", "fcpa", "full"])
def test_forced_in_no_limit_holdem_is_to_fold_facing_a_bet_and_to_check_otherwise(betting):
    game = cardenvs.get_game("texas_holdem_v0")
    forced = Counter()
    for seed in range(5):
        state = game.new_state(seed=seed, num_players=3, betting=betting)
        while not state.is_terminal and state.ply < 60:
            label = state.action_label(state.forced_action())
            assert label == ("fold" if "call" in state.legal_options().kinds else "check")
            forced[label] += 1
            state.act("check_call")
    assert min(forced["fold"], forced["check"]) > 10


def test_an_agent_that_has_tried_often_enough_is_not_asked_again():
    class GivesUp(Agent):
        name, asked = "gives up", 0

        def act(self, turn):
            self.asked += 1
            turn.failures += [Failure("empty", "nothing"), Failure("unparsable", "no answer in it")]
            raise AgentFailureError("unparsable", "no answer in it", final=True)

    agent = GivesUp()
    proxy = AgentProxy(agent)
    state = GAME.new_state(seed=1)
    proxy.begin(state, state.current_player, 0)
    decision = proxy.decide(state)
    assert agent.asked == 1
    assert proxy.failures == {"empty": 1, "unparsable": 1}
    assert decision.outcome == FORFEITED


def test_a_decision_changes_nothing_and_is_for_the_player_to_act():
    with proxy_of("random") as proxy:
        state = GAME.new_state(seed=1)
        proxy.begin(state, 0, 0)
        before = state.record_bytes()
        proxy.decide(state)
        assert state.record_bytes() == before
        state.apply(1)
        with pytest.raises(AgentError, match="not to act"):
            proxy.decide(state)


@pytest.mark.parametrize(
    "wrong", [{"tries": 0}, {"time_limit": 0}, {"on_failure": "cry"}, {"isolation": "box"}, {"memory_limit_mb": -1}]
)
def test_limits_refuse_what_makes_no_sense(wrong):
    with pytest.raises(AgentError):
        AgentLimits(**wrong)


def test_an_object_cannot_be_moved_to_a_process():
    with pytest.raises(AgentError, match="spec"):
        AgentProxy(PolicyAgent(GAME, "random"), AgentLimits(isolation="process"))


# ---------------------------------------------------------------------------------------------------------------
# Isolation


def test_an_answer_that_comes_too_late_counts_as_a_timeout_in_this_thread_too():
    class Slow(Agent):
        name = "slow"

        def act(self, turn):
            time.sleep(0.05)
            return turn.legal_actions[0]

    proxy = AgentProxy(Slow(), AgentLimits(time_limit=0.01, tries=2, isolation="none"))
    state = GAME.new_state(seed=1)
    proxy.begin(state, 0, 0)
    assert proxy.decide(state).outcome == FORFEITED
    assert proxy.failures == {"timeout": 2}


def test_a_thread_that_hangs_is_left_behind():
    state, _, proxy = played("hangs", isolation="thread", time_limit=0.1)
    assert proxy.failures == {"timeout": 3}
    assert state.is_terminal


def test_an_agent_cannot_answer_by_printing():
    _, decisions, proxy = played("prints")
    assert not proxy.failures
    assert proxy.outcomes[OK] == len(decisions) > 0


def test_a_leak_is_stopped_by_the_limit_and_the_agent_goes_on_in_a_new_process():
    with proxy_of("leaks", memory_limit_mb=400, time_limit=20.0) as proxy:
        own = psutil.Process()
        before = own.memory_info().rss
        state, k = GAME.new_state(seed=1), 0
        proxy.begin(state, 0, 0)
        while proxy.agent.starts == 1 and k < 400:
            proxy.decide(state)
            k += 1
        assert proxy.failures["memory"] + proxy.failures["crash"] >= 1
        assert proxy.decide(state).outcome == OK
        assert own.memory_info().rss - before < 100 << 20


def test_processes_end_with_the_proxy_and_with_the_program():
    with proxy_of("good") as proxy:
        proxy.begin(GAME.new_state(seed=1), 0, 0)
        pid = proxy.agent._server.process.pid
        assert psutil.pid_exists(pid)
    assert not psutil.pid_exists(pid)
    code = """
        import os, cardenvs
        from cardenvs.agents.guarded.limits import AgentLimits
        from cardenvs.agents.guarded.proxy import AgentProxy
        game = cardenvs.get_game("leduc_poker_v0")
        proxy = AgentProxy.of("python:proxy_agents:good", game, game.make_options(), AgentLimits())
        print(proxy.agent._server.process.pid, flush=True)
        os.kill(os.getpid(), 9)
    """
    path = os.pathsep.join([os.path.dirname(__file__), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    pid = int(done.stdout)
    with contextlib.suppress(psutil.NoSuchProcess):  # it has ended before it is looked at, or while it is
        process, deadline = psutil.Process(pid), time.monotonic() + 10
        while process.status() != psutil.STATUS_ZOMBIE:
            assert time.monotonic() < deadline, "the agent outlives the program"
            time.sleep(0.05)


def test_the_true_state_is_not_in_the_process_and_secrets_are_not_either(monkeypatch):
    monkeypatch.setenv("LLM_API_KEY", "very secret")
    sees_the_truth = []  # now and then a twin happens to be the truth; a true state would always be
    for seed in range(8):
        state = GAME.new_state(seed=seed)
        with proxy_of("peeks") as proxy:
            proxy.begin(state, state.current_player, 0)
            notes = proxy.decide(state).notes
        assert notes["environment"] == []
        own, other = table_texts(state.view(OMNISCIENT))["piles"]["hand"]
        found = [table["piles"]["hand"] for table in notes["hands"]]
        assert own in [hands[0] for hands in found]
        sees_the_truth.append([own, other] in found)
    assert not all(sees_the_truth)


def test_an_agent_that_does_not_start_is_known_at_once():
    with pytest.raises(AgentError, match="no such model"):
        proxy_of("does_not_start")
    with pytest.raises(AgentError, match="cannot run /no/such/program"):
        proxy_of("process:/no/such/program")


# ---------------------------------------------------------------------------------------------------------------
# Observers


@pytest.mark.parametrize("isolation", ["none", "thread", "process"])
def test_an_observer_has_been_told_all_of_the_recap_when_it_is_its_turn(isolation):
    _, decisions, _ = played("watches", players=3, isolation=isolation)
    assert decisions
    for decision in decisions:
        assert decision.notes["told"] == decision.notes["recap"] > 0


def test_an_observer_is_told_what_its_player_sees_and_no_more():
    told = {0: [], 1: []}

    class Watcher(Agent):
        def __init__(self, player):
            self.name, self._player = f"watcher {player}", player

        def observe(self, events):
            told[self._player] += events

        def act(self, turn):
            return turn.legal_actions[0]

    state = GAME.new_state(seed=3)
    play(state, [AgentProxy(Watcher(0)), AgentProxy(Watcher(1))], seeds=[1, 2])
    assert told == {player: state.events(player) for player in (0, 1)}
    assert told[0] != told[1]


def test_an_observer_that_is_started_again_is_told_again():
    starts, outcomes = 0, Counter()
    for seed in range(3):
        _, decisions, proxy = played("watches_and_dies_once", players=3, seed=seed)
        starts += proxy.agent.starts
        outcomes += proxy.outcomes
        assert all(decision.notes["told"] == decision.notes["recap"] for decision in decisions)
    assert starts > 3
    assert set(outcomes) == {OK}


# ---------------------------------------------------------------------------------------------------------------
# Programs that speak JSON lines

SCRIPT = """
    import json, sys
    def say(message):
        print(json.dumps(message), flush=True)
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            say({"type": "ready", "protocol": 1, "wants": WANTS})
        elif message["type"] == "act":
            ACT
"""


def program(tmp_path, act, wants=()):
    path = tmp_path / "agent.py"
    path.write_text(textwrap.dedent(SCRIPT).replace("WANTS", repr(list(wants))).replace("ACT", act))
    return f"process:{sys.executable} {path}"


def test_a_program_that_speaks_json_lines_plays(tmp_path):
    spec = program(tmp_path, 'say({"type": "action", "label": message["legal"][0]["label"], "notes": {"a": 1}})')
    _, decisions, proxy = played(spec)
    assert not proxy.failures
    assert decisions[0].notes == {"a": 1}


def test_a_program_gets_what_it_wants_and_nothing_else(tmp_path):
    wants = ["view", "facts", "recap", "observation", "render"]
    spec = program(tmp_path, 'say({"type": "action", "id": 1, "notes": message})', wants)
    with proxy_of(spec) as proxy:
        state = GAME.new_state(seed=1)
        proxy.begin(state, 0, 5)
        notes = proxy.decide(state).notes
    turn = Turn(state, 5)
    assert notes["view"] == turn.view
    assert notes["facts"] == turn.facts
    assert notes["recap"] == turn.recap
    assert notes["observation"] == turn.observation.tolist()
    assert notes["render"] == turn.render()
    assert notes["seed"] == turn.seed
    assert set(notes) == {"type", "player", "decision", "goes_on", "seed", "legal", "failures", *wants}


@pytest.mark.parametrize(
    ("act", "kind"),
    [
        ("print('hello', flush=True)", "protocol"),
        ("say([1])", "protocol"),
        ("say({'type': 'sing'})", "protocol"),
        ("sys.stdout.write('x' * (9 << 20)); sys.stdout.flush()", "protocol"),
        ("say({'type': 'action', 'label': 'dance'})", "illegal"),
        ("say({'type': 'action'})", "illegal"),
        ("say({'type': 'action', 'id': 0.5})", "illegal"),
        ("say({'type': 'action', 'id': 10 ** 400})", "illegal"),
        ("say({'type': 'failure', 'message': 'no idea'})", "exception"),
        ("sys.exit(1)", "crash"),
        ("import time; time.sleep(60)", "timeout"),
        ("import os, time; os.close(1); time.sleep(60)", "crash"),
        ("[sys.stderr.write('z' * 1000) for _ in iter(int, 1)]", "timeout"),
    ],
)
def test_a_program_that_says_anything_else_has_failed(tmp_path, act, kind):
    _, _, proxy = played(program(tmp_path, act), time_limit=0.5 if kind == "timeout" else 20.0)
    assert proxy.failures == {kind: 3}


def test_a_program_that_does_not_read_hurts_nobody(tmp_path):
    path = tmp_path / "deaf.py"
    path.write_text(
        'import sys, time\nsys.stdin.readline()\nprint(\'{"type": "ready", "protocol": 1, "wants": ["view"]}\', '
        "flush=True)\ntime.sleep(60)\n"
    )
    state, _, proxy = played(f"process:{sys.executable} {path}", time_limit=0.3)
    assert proxy.failures == {"timeout": 3}
    assert state.is_terminal


def test_the_example_program_plays_every_game(every_game):
    path = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "json_lines_agent.py")
    options = every_game.make_options()
    limits = AgentLimits(time_limit=20)
    with AgentProxy.of(f"process:{sys.executable} {path}", every_game, options, limits) as proxy:
        state = every_game.new_state(seed=1)
        proxy.begin(state, state.current_player, 0)
        decision = proxy.decide(state)
    assert decision.outcome == OK, decision.failures
    assert json.loads(json.dumps(decision.notes))["seen"] == len(state.recap(decision.player))
