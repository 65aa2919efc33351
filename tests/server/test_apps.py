"""Applications that packages add to the server: routes, settings and options; faulty ones are left out."""

import importlib.metadata
import sys
import types
from typing import Annotated

import pytest
import typer
from served import client
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from typer.testing import CliRunner

from cardenvs.cli import app as cli
from cardenvs.core.errors import FormatError, OptionError
from cardenvs.server import wire
from cardenvs.server.apps import ServerApp, server_apps

closed = []


def configure(greeting: Annotated[str, typer.Option(envvar="GREETING", help="What it says.")] = "hello"):
    if greeting == "?":
        raise FormatError("a greeting is a word")
    return greeting


def mount(server, greeting, stack):
    stack.callback(closed.append, greeting)
    return [Route("/hi", lambda request: PlainTextResponse(greeting))]


def fails(*_):
    raise ZeroDivisionError("never mind")


def takes_a_port(port: int = 1):
    return port


def takes_both(what: Annotated[int, typer.Option(), typer.Argument()] = 1):
    return what


APPS = {
    "good": ServerApp("Say <hi>", "/hi", configure, mount),
    "another": "not an application",
    "stuck": ServerApp("Stuck", "/stuck", lambda: None, fails),
    "port": ServerApp("Port", "/port", takes_a_port, mount),
    "unreadable": ServerApp("Unreadable", "/unreadable", takes_both, mount),
}


@pytest.fixture
def installed(monkeypatch):
    """Registers applications of this file, and one whose module does not exist."""
    module = types.ModuleType("apps_of_others")
    vars(module).update(APPS)
    monkeypatch.setitem(sys.modules, "apps_of_others", module)

    def install(*names):
        found = importlib.metadata.EntryPoints(
            importlib.metadata.EntryPoint(name, f"apps_of_others:{name}" if name in APPS else "no_such_module:app", "")
            for name in names
        )
        monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: found)
        server_apps.cache_clear()

    yield install
    server_apps.cache_clear()


def test_an_application_is_served_linked_and_closed(installed):
    installed("good")
    with client() as server:
        assert server.get("/hi").text == "hello"
        assert server.get("/hi").headers["x-content-type-options"] == "nosniff"
        assert '<a href="/hi">Say &lt;hi&gt;</a>' in server.get("/").text
    with client(apps={"good": "moi"}) as server:
        assert server.get("/hi").text == "moi"
    assert closed[-2:] == ["hello", "moi"]


def test_the_server_itself_has_no_game(installed):
    installed()
    with client() as server:
        assert server.get("/game").status_code == 404
        assert "poker" not in server.get("/").text


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("missing", "missing is left out: cannot load no_such_module:app: No module named"),
        ("another", "another is left out: cannot load apps_of_others:another: it is a str, not a ServerApp"),
        ("stuck", "stuck is left out: it does not start"),
    ],
)
def test_a_faulty_application_is_reported_and_the_others_are_served(installed, caplog, name, says):
    installed(name, "good")
    with client() as server:
        assert server.get("/hi").text == "hello"
        assert "Say" in server.get("/").text
        assert server.get("/").text.count("<a href") == 1
    assert says in caplog.text


def test_settings_of_an_unknown_application_are_refused(installed):
    installed("good")
    with pytest.raises(OptionError, match="no server application 'bad'; there are: good"), client(apps={"bad": 1}):
        pass


@pytest.fixture
def run_serve(monkeypatch):
    apps = []
    monkeypatch.setattr(wire, "run", lambda app, *_: apps.append(app))

    def run(*arguments):
        return CliRunner().invoke(cli, ["serve", "--data", ":memory:", *arguments]), apps

    return run


def test_an_application_has_options_and_variables(installed, run_serve, monkeypatch):
    installed("good")
    for arguments, variable, wanted in (
        ((), None, "hello"), (("--greeting", "hei"), "hoi", "hei"), ((), "hoi", "hoi"),
    ):  # fmt: skip
        if variable:
            monkeypatch.setenv("GREETING", variable)
        result, apps = run_serve(*arguments)
        assert result.exit_code == 0, result.output
        assert apps[-1].state.host.settings.apps == {"good": wanted}
    assert "--greeting" in run_serve("--help")[0].output
    result, _ = run_serve("--greeting", "?")
    assert result.exit_code != 0
    assert "a greeting is a word" in result.output


@pytest.mark.parametrize(
    ("name", "says"), [("port", "--port is another option"), ("unreadable", "Cannot specify multiple")]
)
def test_options_that_cannot_be_added_are_reported_and_left_out(installed, run_serve, name, says):
    installed(name, "good")
    result, apps = run_serve("--greeting", "hei")
    assert result.exit_code == 0, result.output
    assert f"the options of the server application {name} are left out: {says}" in result.output
    assert apps[-1].state.host.settings.apps == {"good": "hei"}
