"""Language models in the arena: many matches side by side against a server that fails in every way it can."""

import json
import urllib.request
from collections import Counter

import pytest
import yaml

from cardenvs.arena import Store
from cardenvs.arena.experiment import Experiment
from cardenvs.arena.output.site import write_site
from cardenvs.arena.results.board import board_of
from cardenvs.arena.results.document import board_document
from cardenvs.arena.verify import verify
from cardenvs.llm.stub import FAULTS, OUTCOME_OF, StubSettings, running

pytest.importorskip("openai")
pytest.importorskip("starlette")

KEY = "sk-never-to-be-seen-0123456789"


def check_load(tmp_path, monkeypatch, deals, side_by_side, share):
    settings = StubSettings(dict.fromkeys(FAULTS, share), seed=5, slow_seconds=60.0, retry_after=0.05)
    with running(settings) as stub:
        model = {
            "base_url": stub.base_url, "model": "stub", "turn_timeout_ms": 0, "request_timeout_ms": 5000,
            "concurrency": 24, "api_key_env": "STUB_KEY",
        }  # fmt: skip
        (tmp_path / "llm.yaml").write_text(yaml.safe_dump({"models": {"stub": model}}))
        monkeypatch.setenv("CARDENVS_LLM_CONFIG", str(tmp_path / "llm.yaml"))
        monkeypatch.setenv("STUB_KEY", KEY)
        experiment = Experiment.of(
            {
                "name": "models", "deals": deals, "games": ["leduc_poker_v0"], "anchors": {"random": 1000},
                "agents": [
                    {"name": "model", "spec": "llm:stub"}, "random", {"name": "s", "spec": "search:simulations=2"},
                ],
            }
        )  # fmt: skip
        with Store(tmp_path / "store.db") as store:
            assert experiment.run(store, batch=side_by_side)
            served = json.load(urllib.request.urlopen(stub.base_url.replace("/v1", "/stub/served")))
            games = store.count(experiment.matches[0].id)
            assert games == deals * 6  # every match ends, and nothing is lost
            assert verify(store) == (games, [])
            board = board_of(store)
            write_site(store, board_document(board), tmp_path / "site")
    behaviours = {behaviour.name: behaviour for behaviour in board.games[0].behaviours}
    wanted = Counter()
    for kind, count in served["served"].items():
        if kind != "good":
            wanted[OUTCOME_OF[kind]] += count
    assert behaviours["model"].failures == wanted  # the report counts what the stub served
    assert all(served["served"].get(fault, 0) > 0 for fault in FAULTS)
    assert behaviours["model"].outcomes["forfeit"] > 0
    assert behaviours["random"].failures == behaviours["s"].failures == {}
    return served


def test_games_with_models_are_played_side_by_side_and_counted(tmp_path, monkeypatch):
    check_load(tmp_path, monkeypatch, deals=12, side_by_side=40, share=0.05)
    written = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "llm.yaml"]
    assert len(written) > 10
    for path in written:
        assert KEY.encode() not in path.read_bytes(), f"{path} holds the key"
    page = (tmp_path / "site" / "games" / "leduc-poker.html").read_text()
    assert "Conditions of model" in page
    assert "timeout" in page


@pytest.mark.slow
def test_sixty_four_matches_side_by_side(tmp_path, monkeypatch):
    check_load(tmp_path, monkeypatch, deals=100, side_by_side=64, share=0.05)
