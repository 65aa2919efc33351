"""What the environment sets, and the switch for language models."""

import pytest
from served import client, open_table
from typer.testing import CliRunner

from cardenvs.cli import app
from cardenvs.core.errors import OptionError
from cardenvs.server.settings import Settings, settings_of_environment

AGENTS = {"mini": "llm:env", "trained": "random"}


def test_the_environment_sets_what_it_names():
    assert settings_of_environment({"LLM_MODEL": "x", "LLM_MIN_THINK_TIME_MS": " "}) == {}
    environ = {
        "BACKEND_LLM_ENABLED": "1", "LLM_SHOW_EXCEPTIONS_IN_FRONTEND": "True", "LLM_MIN_THINK_TIME_MS": "300",
    }  # fmt: skip
    assert settings_of_environment(environ) == {"models": True, "show_errors": True, "think": 0.3}
    assert settings_of_environment({"BACKEND_LLM_ENABLED": "0"}) == {"models": False}
    assert settings_of_environment({"LLM_MIN_THINK_TIME_MS": "-5"}) == {"think": 0.0}


@pytest.mark.parametrize(
    ("variable", "value"),
    [("BACKEND_LLM_ENABLED", "maybe"), ("LLM_MIN_THINK_TIME_MS", "soon"), ("LLM_MIN_THINK_TIME_MS", "nan"),
     ("LLM_MIN_THINK_TIME_MS", "60001"), ("LLM_SHOW_EXCEPTIONS_IN_FRONTEND", "2")],
)  # fmt: skip
def test_a_value_that_cannot_be_read_is_named(variable, value):
    with pytest.raises(OptionError, match=f"{variable} must be .*{value}"):
        settings_of_environment({variable: value})


def test_the_switch_for_language_models():
    assert Settings(agents=AGENTS).offered_agents() == AGENTS
    assert Settings(agents=AGENTS, models=True).offered_agents() == AGENTS | {"model": "llm:env"}
    assert Settings(agents=AGENTS, models=False).offered_agents() == {"trained": "random"}


def test_no_client_gets_a_language_model_that_is_switched_off():
    with client(agents=AGENTS, models=False) as server:
        for game in server.get("/api/games").json()["games"]:
            assert "mini" not in game["agents"]
            assert "trained" in game["agents"]
        refused = server.post("/api/tables", json={"game": "kuhn_poker_v0", "seats": ["person", "mini"]})
        assert "a seat must be person or one of" in refused.json()["error"]["message"]
        table = open_table(server, "kuhn_poker_v0", ["person", "trained"])
        with server.websocket_connect(f"/ws/{table['seats'][0]['link']}") as socket:
            turn = socket.receive_json()["turn"]
            socket.send_json({"do": "hint", "turn": turn, "agent": "mini"})
            assert "there is no such agent" in socket.receive_json()["reason"]


@pytest.fixture
def started(monkeypatch):
    """Runs `cardenvs serve` with some arguments, without serving, and returns its settings."""
    pytest.importorskip("websockets")
    from cardenvs.server import wire

    apps = []
    monkeypatch.setattr(wire, "run", lambda app, *_: apps.append(app))
    for name in ("BACKEND_LLM_ENABLED", "LLM_SHOW_EXCEPTIONS_IN_FRONTEND", "LLM_MIN_THINK_TIME_MS"):
        monkeypatch.delenv(name, raising=False)

    def start(*arguments):
        result = CliRunner().invoke(app, ["serve", "--data", ":memory:", *arguments])
        assert result.exit_code == 0, result.output
        settings = apps[-1].state.host.settings
        return {name: getattr(settings, name) for name in ("models", "show_errors", "think")}

    start.apps = apps
    return start


def test_options_say_when_abandoned_tables_go_away(started):
    def limits():
        found = started.apps[-1].state.host.settings.limits
        return found.abandoned_minutes, found.keep_days, found.unfinished_days, found.unused_days

    started()
    assert limits() == (60.0, 30, 30, 1)
    started("--abandoned", "5", "--keep", "0.5")
    assert limits() == (5.0, 0.5, 0.5, 0.5)
    for wrong in (["--abandoned", "nan"], ["--abandoned", "0"], ["--keep", "inf"], ["--keep", "-1"]):
        assert CliRunner().invoke(app, ["serve", *wrong]).exit_code == 2


def test_an_option_overrides_its_variable(started, monkeypatch):
    assert started() == {"models": None, "show_errors": False, "think": 0.5}
    monkeypatch.setenv("LLM_MODEL", "some-model")
    monkeypatch.setenv("LLM_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("BACKEND_LLM_ENABLED", "1")
    monkeypatch.setenv("LLM_SHOW_EXCEPTIONS_IN_FRONTEND", "1")
    monkeypatch.setenv("LLM_MIN_THINK_TIME_MS", "0")
    assert started() == {"models": True, "show_errors": True, "think": 0.0}
    given = started("--no-models", "--hide-errors", "--think", "1.5")
    assert given == {"models": False, "show_errors": False, "think": 1.5}
    with pytest.raises(AssertionError, match="offers 'model' as well"):
        started("--agent", "model=random")


def test_a_server_with_a_model_does_not_start_without_its_settings(started, monkeypatch):
    pytest.importorskip("pydantic")
    monkeypatch.delenv("LLM_BASE_URL", raising=False)
    monkeypatch.setenv("BACKEND_LLM_ENABLED", "1")
    with pytest.raises(AssertionError, match="set LLM_BASE_URL and LLM_MODEL"):
        started()
