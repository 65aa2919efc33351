"""Matches of language models: failed decisions, limits, and matches that are taken up again."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from cardenvs.agents.base import Agent
from cardenvs.core.errors import ArenaError, FileError, FormatError
from cardenvs.core.replay import Replay
from cardenvs.games.texas_holdem import GAME
from cardenvs.llm import LLMAgent, LLMConfig
from cardenvs.llm.stub import StubSettings, running
from cardenvs.tools.texas_holdem.records import MatchFailedError, MatchLimits, play_match
from cardenvs.tools.texas_holdem.timeline import Timeline

FILES = {"match.json", "timeline.jsonl", "actions.jsonl", "aggregates.json", "replay.json"}


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def models(stub, number, **values):
    values = {"name": "stub", "base_url": stub.base_url, "model": "stub", **values}
    return [LLMAgent(GAME, GAME.make_options(num_players=number), LLMConfig.of(values, {})) for _ in range(number)]


def status_of(folder):
    return json.loads((folder / "match.json").read_text())


# ---------------------------------------------------------------------------------------------------------------
# Failed decisions


def test_a_second_bad_answer_is_a_fold_and_both_are_kept(tmp_path):
    bad = ['<answer>{"action":"raise"}</answer>', "I fold."]
    with running(StubSettings(script=bad)) as stub:
        agents = [models(stub, 2, answer="game")[0], "random"]
        result = play_match(agents, seed=1, out=tmp_path / "m", format="cash", num_hands=3, limits=MatchLimits())
    assert result.status == "finished"
    forced = [one for one in result.decisions if one["player"] == 0 and one["notes"]["llm"]["outcome"] != "single"]
    assert forced
    for decision in forced:
        assert decision["outcome"] == "forced"
        assert decision["label"] in ("fold", "check")
        assert [call["reply"] for call in decision["notes"]["llm"]["calls"]] == bad
        assert [failure["kind"] for failure in decision["failures"]] == ["illegal", "unparsable"]
    counted = status_of(tmp_path / "m")["failures"][result.timeline.players[0]]
    assert counted == {"forced": len(forced), "illegal": len(forced), "unparsable": len(forced)}


def test_models_that_keep_failing_end_the_match(tmp_path):
    with running(StubSettings(script=["nothing"])) as stub:
        agents = models(stub, 6, answer="game")
        with pytest.raises(MatchFailedError, match=r"'stub\S*' failed at 4 decisions in a row, the limit.*resumed"):
            play_match(agents, seed=1, out=tmp_path / "m", limits=MatchLimits(failures=4), num_players=6)
        requests = stub.served.total()
    assert requests <= 2 * 6 * 4
    folder = tmp_path / "m"
    assert {path.name for path in folder.iterdir()} == FILES | {"failure.json", "state.bin"}
    assert status_of(folder)["status"] == "failed"
    decisions = lines(folder / "actions.jsonl")
    assert sum(len(one["notes"]["llm"]["calls"]) for one in decisions) == requests  # every call that was paid for
    assert len(Timeline.load(folder / "timeline.jsonl").actions) == len(decisions)


class Scripted(Agent):
    """Folds or checks; what `fails` says of a decision is done instead."""

    def __init__(self, name="Ann", fails=lambda turn: False):
        self.name, self._fails = name, fails
        self.asked = []

    def act(self, turn):
        self.asked.append(turn.decision)
        if self._fails(turn):
            raise RuntimeError("no connection")
        return turn.legal_actions[0]


def test_a_good_decision_between_failures_resets_their_count():
    result = play_match(
        [Scripted(fails=lambda turn: turn.decision % 4), Scripted("Bob")], seed=1, limits=MatchLimits(failures=4),
        format="cash", num_hands=30,
    )  # fmt: skip
    assert result.status == "finished"
    with pytest.raises(MatchFailedError, match="failed at 3 decisions in a row"):
        play_match(
            [Scripted(fails=lambda turn: turn.decision % 4), Scripted("Bob")], seed=1, limits=MatchLimits(failures=3),
            format="cash", num_hands=30,
        )  # fmt: skip


def test_a_tournament_in_which_all_fold_ends_at_its_limit_of_hands(tmp_path):
    agents = [Scripted(name) for name in "ABCDEF"]
    with pytest.raises(MatchFailedError, match="not over after 25 hands, the limit"):
        play_match(agents, seed=1, out=tmp_path / "m", limits=MatchLimits(hands=25))
    assert status_of(tmp_path / "m")["hands"] == 26
    with pytest.raises(MatchFailedError, match="not over after 30 hands"):
        play_match(agents, out=tmp_path / "m", resume=True, limits=MatchLimits(hands=30))
    assert status_of(tmp_path / "m")["hands"] == 31


@pytest.mark.parametrize("limits", [{"failures": 0}, {"hands": -1}, {"on_failure": "fold"}])
def test_limits_that_mean_nothing_are_refused(limits):
    with pytest.raises(ArenaError):
        MatchLimits(**limits)


# ---------------------------------------------------------------------------------------------------------------
# Matches that are taken up again


def stopped(tmp_path, name, ply, agents, **options):
    """The folder of a match that Ctrl-C stopped after `ply` actions."""

    def stop(state):
        if state.ply == ply:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play_match(agents, seed=4, out=tmp_path / name, progress=stop, **options)
    return tmp_path / name


def timeless(folder):
    return [{**decision, "seconds": 0} for decision in lines(folder / "actions.jsonl")]


def test_a_stopped_match_goes_on_as_if_nothing_had_happened(tmp_path):
    specs, options = ["random", "search:simulations=5", "equity"], {"starting_stack": 200}
    play_match(specs, seed=4, out=tmp_path / "whole", **options)
    folder = stopped(tmp_path, "parts", 7, specs, **options)
    assert status_of(folder)["status"] == "interrupted"
    assert [row["name"] for row in status_of(folder)["standings"]]
    result = play_match(specs, out=folder, resume=True, **options)
    assert result.status == "finished"
    for file in FILES - {"actions.jsonl"}:
        assert (folder / file).read_bytes() == (tmp_path / "whole" / file).read_bytes(), file
    assert timeless(folder) == timeless(tmp_path / "whole")


def test_an_observer_sees_the_whole_match_when_it_goes_on(tmp_path):
    class Watching(Scripted):
        def observe(self, events):
            self.seen.extend(events)

        def reset(self, seed):
            self.seen = []

    first, again = Watching(), Watching()
    folder = stopped(tmp_path, "m", 5, [first, "random"], format="cash", num_hands=9)
    play_match([again, "random"], out=folder, resume=True, format="cash", num_hands=9)
    assert again.seen[: len(first.seen)] == first.seen
    assert again.seen == Replay.load(folder / "replay.json").events(0)
    assert again.asked == list(range(len(first.asked), len(first.asked) + len(again.asked)))


def program(stub, folder, *words, **more):
    command = [
        sys.executable,
        "-m",
        "cardenvs",
        "texas_holdem",
        "play-match",
        "--agents",
        "llm:env,llm:env,llm:env",
    ]
    command += ["-o", "format=cash", "-o", "num_hands=8", "--seed", "3", "--out", str(folder), *words]
    environ = {**os.environ, "LLM_BASE_URL": stub.base_url, "LLM_MODEL": "stub", "LLM_TURN_TIMEOUT_MS": "0"}
    return subprocess.Popen(command, env=environ, text=True, **more)


def wait_for(what):
    deadline = time.monotonic() + 60
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.rotating
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_match_asks_no_model_twice(tmp_path, how):
    with running(StubSettings(seed=5, latency=0.05, faults={"garbage": 0.4})) as stub:
        folder = tmp_path / "m"
        killed = program(stub, folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        # in the middle of a decision whose first answer was bad
        wait_for(lambda: stub.served.total() > 6 and (folder / "answers.jsonl").exists())
        killed.send_signal(how)
        said = killed.communicate(timeout=60)[1]
        if how == signal.SIGTERM:
            assert killed.returncode == 130
            assert "Add --resume to continue" in said
            assert status_of(folder)["status"] == "interrupted"
        else:
            assert status_of(folder)["status"] == "running"
        assert Timeline.load(folder / "timeline.jsonl").actions == list(Replay.load(folder / "replay.json").actions)
        assert status_of(folder)["standings"]
        asked = stub.served.total()
        assert program(stub, folder, "--resume", stdout=subprocess.DEVNULL).wait(120) == 0
        assert status_of(folder)["status"] == "finished"
        assert not (folder / "answers.jsonl").exists()
        calls = sum(len(decision["notes"]["llm"]["calls"]) for decision in lines(folder / "actions.jsonl"))
        assert calls > asked
        assert stub.served.total() <= calls + 1  # the one that was on its way when the process died


def test_what_a_match_cannot_go_on_with_is_refused_and_left_as_it_was(tmp_path):
    specs, options = ["random", "random"], {"format": "cash", "num_hands": 9}
    folder = stopped(tmp_path, "m", 5, specs, **options)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for agents, more, message in [
        (["random", "equity"], options, "agents differ.*equity"),
        (specs, options | {"num_hands": 8}, "options differ: num_hands: it had 9, now 8"),
        (specs, options | {"seed": 5}, "seed differ: it had 4, now 5"),
    ]:
        with pytest.raises(ArenaError, match=message):
            play_match(agents, out=folder, resume=True, **more)
    with pytest.raises(ArenaError, match="it is there already"):
        play_match(specs, out=folder, **options)
    with pytest.raises(ArenaError, match="it has no match"):
        play_match(specs, out=tmp_path / "none", resume=True, **options)
    with pytest.raises(ArenaError, match="resume needs the folder"):
        play_match(specs, resume=True, **options)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert not (tmp_path / "none").exists()
    assert play_match(specs, out=folder, resume=True, **options).status == "finished"
    with pytest.raises(ArenaError, match="it is finished"):
        play_match(specs, out=folder, resume=True, **options)


def test_a_match_is_played_by_one_process_at_a_time(tmp_path):
    specs, options = ["random", "random"], {"format": "cash", "num_hands": 9}
    folder = stopped(tmp_path, "m", 5, specs, **options)

    def another(state):
        with pytest.raises(FileError, match="in use"):
            play_match(specs, out=folder, resume=True, **options)

    play_match(specs, out=folder, resume=True, progress=another, **options)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda text: text.replace('"action": ', '"action": 9', 1), r"actions\.jsonl: line 1: .*legal"),
        (lambda text: text.replace('"action": ', '"action": "x', 1), r"actions\.jsonl: line 1 is not JSON"),
        (lambda text: "[]\n" + text, r"actions\.jsonl: line 1 is not a JSON object"),
        (lambda text: "{}\n" + text, r"actions\.jsonl: line 1: ply should be 0; got None"),
        (lambda text: text.replace('"player": ', '"player": 1', 1), r"actions\.jsonl: line 1: player should be"),
        (lambda text: text.replace('"failures": []', '"failures": [1]', 1), r"line 1: .*a list of objects"),
    ],
)
def test_an_edited_record_is_refused_with_its_line(tmp_path, edit, message):
    specs, options = ["random", "random"], {"format": "cash", "num_hands": 9}
    folder = stopped(tmp_path, "m", 5, specs, **options)
    actions = folder / "actions.jsonl"
    actions.write_text(edit(actions.read_text()))
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(FormatError, match=message):
        play_match(specs, out=folder, resume=True, **options)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("line", ["{", "[]", "{}", '{"key": 1, "calls": []}', '{"key": "a", "calls": [1]}'])
def test_damaged_answers_are_refused(tmp_path, line):
    specs, options = ["random", "random"], {"format": "cash", "num_hands": 9}
    folder = stopped(tmp_path, "m", 5, specs, **options)
    (folder / "answers.jsonl").write_text(line + "\n")
    with pytest.raises(FormatError, match=r"answers\.jsonl: "):
        play_match(specs, out=folder, resume=True, **options)


def test_a_line_that_was_cut_short_is_decided_again(tmp_path):
    specs, options = ["random", "random"], {"format": "cash", "num_hands": 9}
    play_match(specs, seed=4, out=tmp_path / "whole", **options)
    folder = stopped(tmp_path, "m", 5, specs, **options)
    actions = folder / "actions.jsonl"
    actions.write_text(actions.read_text()[:-20])
    play_match(specs, out=folder, resume=True, **options)
    assert timeless(folder) == timeless(tmp_path / "whole")
