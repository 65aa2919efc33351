"""Many matches at once against a server that fails in every way it can."""

import json
import time
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

import cardenvs
from cardenvs.agents import make_agent
from cardenvs.agents.guarded.limits import AgentLimits
from cardenvs.agents.guarded.proxy import FORCED, FORFEITED, OK, AgentProxy, play
from cardenvs.core.replay import Replay
from cardenvs.llm import LLMAgent, LLMConfig
from cardenvs.llm.stub import FAULTS, OUTCOME_OF, StubSettings, running
from cardenvs.llm.transcript import count_outcomes, read_calls

GAME = cardenvs.get_game("leduc_poker_v0")


def load(matches, games, share, tmp_path):
    """Play `matches` at the same time, model against model and a policy; returns what there is to compare."""
    file = tmp_path / "calls.jsonl"
    options = GAME.make_options(num_players=3)
    settings = StubSettings(dict.fromkeys(FAULTS, share), seed=11, slow_seconds=20.0, retry_after=0.05)
    with running(settings) as stub:
        config = LLMConfig.of(
            {
                "name": "stub", "base_url": stub.base_url, "model": "stub", "turn_timeout_ms": 0,
                "request_timeout_ms": 4000, "concurrency": 24, "transcript": str(file),
            },
            {},
        )  # fmt: skip
        agents = [[LLMAgent(GAME, options, config) for _ in range(2)] for _ in range(matches)]

        def match(number):
            guard = AgentLimits(on_failure="forfeit" if number % 2 else "forced_action")
            proxies = [AgentProxy(one, guard) for one in agents[number]]
            proxies.append(AgentProxy(make_agent("random", GAME, options)))
            decisions, replays = [], []
            for k in range(games):
                state = GAME.new_state(seed=100 * number + k, num_players=3)
                decisions += play(state, proxies, seeds=[k, k + 1, k + 2])
                replays.append(Replay.of(state, [one.name for one in proxies]))
            return proxies, decisions, replays

        with ThreadPoolExecutor(matches) as threads:
            played = list(threads.map(match, range(matches)))
        served = json.load(urllib.request.urlopen(stub.base_url.replace("/v1", "/stub/served")))
    return played, served, Counter(sum((one.outcomes for pair in agents for one in pair), Counter())), file


def check(matches, games, share, tmp_path):
    GAME.new_state(seed=0, num_players=3).view(0)
    started = time.monotonic()
    played, served, outcomes, file = load(matches, games, share, tmp_path)
    print(f"{matches} matches, {served['requests']} requests in {time.monotonic() - started:.1f} s: {served['served']}")

    assert len(played) == matches  # every match ends, and nothing is lost:
    for _, _, replays in played:
        assert len(replays) == games
        for replay in replays:
            replay.verify()

    wanted = Counter()  # what was served is what the agents have counted,
    for kind, count in served["served"].items():
        wanted["ok" if kind == "good" else OUTCOME_OF[kind]] += count
    asked = {name: count for name, count in outcomes.items() if name not in ("single", "planned")}
    # Under load the rest of an answer that was cut short may come too late, so it counts as a timeout.
    late = asked["timeout"] - wanted["timeout"]
    assert 0 <= late <= wanted["truncated"]
    wanted.update({"timeout": late, "truncated": -late})
    assert asked == wanted
    assert all(served["served"].get(fault, 0) > 0 for fault in FAULTS)

    failures = sum((proxy.failures for proxies, _, _ in played for proxy in proxies), Counter())
    assert failures == wanted - Counter({"ok": wanted["ok"]})  # what the proxies report,
    assert count_outcomes(file) == {"stub": wanted}  # and what the transcript holds
    assert len(list(read_calls(file))) == served["requests"]

    decided = [one for _, decisions, _ in played for one in decisions]
    assert sum(len(one.failures) for one in decided) == failures.total()
    decisions = {one.outcome for one in decided}
    assert OK in decisions
    assert decisions & {FORFEITED, FORCED}  # three failures in a row, in whichever match


def test_matches_at_once_against_every_fault(tmp_path):
    check(matches=16, games=2, share=0.04, tmp_path=tmp_path)


@pytest.mark.slow
def test_sixty_four_matches_at_once_with_a_twentieth_of_each_fault(tmp_path):
    check(matches=64, games=6, share=0.05, tmp_path=tmp_path)
