"""What the environment sets, and the switch for language models."""

import pytest
from served import client, open_table

from cardenvs.cli.serve import serve
from cardenvs.core.errors import AgentError, OptionError
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
    with pytest.raises(OptionError, match=f"{variable} is .*{value}"):
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
        assert "a seat is for a person or one of" in refused.json()["error"]["message"]
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
        serve(**dict(arguments), data=":memory:")
        settings = apps[-1].state.host.settings
        return {name: getattr(settings, name) for name in ("models", "show_errors", "think")}

    return start


def test_an_option_overrides_its_variable(started, monkeypatch):
    assert started() == {"models": None, "show_errors": False, "think": 0.5}
    monkeypatch.setenv("LLM_MODEL", "some-model")
    monkeypatch.setenv("LLM_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("BACKEND_LLM_ENABLED", "1")
    monkeypatch.setenv("LLM_SHOW_EXCEPTIONS_IN_FRONTEND", "1")
    monkeypatch.setenv("LLM_MIN_THINK_TIME_MS", "0")
    assert started() == {"models": True, "show_errors": True, "think": 0.0}
    given = (("models", False), ("show_errors", False), ("think", 1.5))
    assert started(*given) == dict(given)
    with pytest.raises(AgentError, match="offers 'model' as well"):
        started(("agent", ["model=random"]))


def test_a_server_with_a_model_does_not_start_without_its_settings(started, monkeypatch):
    pytest.importorskip("pydantic")
    monkeypatch.delenv("LLM_BASE_URL", raising=False)
    monkeypatch.setenv("BACKEND_LLM_ENABLED", "1")
    with pytest.raises(AgentError, match="set LLM_BASE_URL and LLM_MODEL"):
        started()
