"""`cardenvs serve`."""

import functools
import os
import re
import socket
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option

from cardenvs.cli.files import input_file
from cardenvs.cli.options import parse_pairs
from cardenvs.cli.shared import finite
from cardenvs.core.errors import AgentError, FileError, OptionError, require
from cardenvs.core.registry import get_game, list_games
from cardenvs.server.settings import LONGEST_CLOCK, SLOWEST, Limits, Settings

_HOST_NAME = re.compile(r"\*|(\*\.)?[\w.-]+|\[[0-9a-fA-F:.]+\]")


class ServeCommand(typer.core.TyperCommand):
    """`serve` with the options of the server's applications, which are loaded only when the command is used."""

    @functools.cached_property
    def _app_commands(self) -> dict[str, Any]:
        """By application: a command whose callback turns options into settings. Faulty ones are left out."""
        from cardenvs.server.apps import server_apps

        found: dict[str, Any] = {}
        for name, app in server_apps().items():
            wrapped = typer.Typer(add_completion=False)
            wrapped.command()(app.configure)
            try:
                command = typer.main.get_command(wrapped)
                twice = _options_of(command) & _options_of(self, *found.values())
                if twice:
                    raise OptionError(f"{min(twice)} is another option of this command")
            except Exception as error:  # typer raises various errors for parameters that it cannot read
                typer.echo(f"error: the options of the server application {name} are left out: {error}", err=True)
            else:
                found[name] = command
        return found

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: D102  documented in click
        added = [parameter for command in self._app_commands.values() for parameter in command.params]
        return [*super().get_params(ctx), *added]

    def invoke(self, ctx: Any) -> Any:  # noqa: D102
        ctx.obj = {
            name: command.callback(**{parameter.name: ctx.params.pop(parameter.name) for parameter in command.params})
            for name, command in self._app_commands.items()
        }
        return super().invoke(ctx)


def _options_of(*commands: Any) -> set[str]:
    parameters = [parameter for command in commands for parameter in command.params]
    return {option for parameter in parameters for option in (*parameter.opts, *parameter.secondary_opts)}


def _file(text: str) -> Any:
    return Option(metavar="FILE", help=text)


def _seconds(most: float, text: str) -> Any:
    return Option(min=0, max=most, callback=finite, help=text)


def serve(
    ctx: typer.Context,
    port: Annotated[int, Option(min=1, max=65535, help="Port.")] = 8000,
    bind: Annotated[
        str, Option(metavar="ADDRESS", help="Address to listen on. Only a loopback address keeps others out.")
    ] = "127.0.0.1",
    data: Annotated[Path | None, _file("SQLite file of the tables. [default: in the user's data folder]")] = None,
    agent: Annotated[
        list[str] | None,
        Option(metavar="NAME=SPEC", help="Another agent that visitors may choose by name. May be repeated."),
    ] = None,
    name: Annotated[
        list[str] | None, Option(metavar="HOST", help="Host name by which browsers reach the server. May be repeated.")
    ] = None,
    replay: Annotated[list[Path] | None, _file("Replay that visitors may watch. May be repeated.")] = None,
    store: Annotated[
        list[Path] | None, _file("Store of a match whose games visitors may watch. May be repeated.")
    ] = None,
    pace: Annotated[float, _seconds(SLOWEST, "Seconds between the moves of agents.")] = Settings.pace,
    think: Annotated[
        float | None,
        _seconds(
            SLOWEST,
            "Least seconds for agents' decisions at tables with people, so that their time reveals nothing. "
            "[default: LLM_MIN_THINK_TIME_MS, or 0.5]",
        ),
    ] = None,
    clock: Annotated[
        float,
        _seconds(
            LONGEST_CLOCK,
            "Seconds for a move at tables of several people; a player who takes longer forfeits. 0: no limit.",
        ),
    ] = Settings.clock,
    round_pause: Annotated[
        float,
        _seconds(
            LONGEST_CLOCK, "Most seconds that agents wait after a hand for people to read the scores. 0: no wait."
        ),
    ] = Settings.round_pause,
    abandoned: Annotated[
        float,
        Option(
            min=1,
            metavar="MINUTES",
            callback=finite,
            help="Minutes without a move or visit after which an unfinished table leaves the lobby's list.",
        ),
    ] = Limits.abandoned_minutes,
    keep: Annotated[
        float,
        Option(
            min=0.01,
            metavar="DAYS",
            callback=finite,
            help="Days without a move or visit after which a table is deleted, finished or not.",
        ),
    ] = Limits.keep_days,
    models: Annotated[
        bool | None,
        Option(
            "--models/--no-models",
            help="Offer the language model set by environment variables, as `model`; or offer no language model, not "
            "even those of --agent. [default: BACKEND_LLM_ENABLED, or only those of --agent]",
        ),
    ] = None,
    show_errors: Annotated[
        bool | None,
        Option(
            "--show-errors/--hide-errors",
            help="Show the only person at a table the error message of a failed agent, which may quote its cards. "
            "[default: LLM_SHOW_EXCEPTIONS_IN_FRONTEND, or hide]",
        ),
    ] = None,
) -> None:
    """Serve games to browsers: a lobby, tables for people and agents, recorded games. Stop it with Ctrl-C.

    Examples:

    - `cardenvs serve`
    - `cardenvs serve --agent trained=ppo:runs/gin/latest.pt --store games.db`
    - `cardenvs serve --bind 0.0.0.0 --name cards.example.org`
    """
    require("starlette", "server")
    require("websockets", "server")
    require("uvicorn", "server")
    from cardenvs.server.app import make_app
    from cardenvs.server.settings import ENVIRONMENT_MODEL, settings_of_environment
    from cardenvs.server.wire import run

    for path in [*(replay or []), *(store or [])]:
        input_file(path)
    _check_address(bind)
    agents = parse_pairs(agent, "--agent", "trained=ppo:runs/gin/latest.pt", AgentError)
    for visible, spec in agents.items():
        _check_agent(visible, spec)
    for host_name in name or ():
        _check_host_name(host_name)
    given = {"think": think, "models": models, "show_errors": show_errors}
    chosen = settings_of_environment(os.environ) | {key: value for key, value in given.items() if value is not None}
    if chosen.get("models"):
        if ENVIRONMENT_MODEL in agents:
            raise AgentError(f"--models offers {ENVIRONMENT_MODEL!r} as well; rename the --agent of that name")
        _check_agent(ENVIRONMENT_MODEL, "llm:env")
    settings = Settings(
        data=str(data or _default_data()),
        agents=agents,
        host_names=(*Settings.host_names, *(name or [])),
        replays=tuple(replay or ()),
        stores=tuple(store or ()),
        apps=ctx.obj,
        pace=pace,
        clock=clock,
        round_pause=round_pause,
        limits=_limits(abandoned, keep),
        **chosen,
    )
    app = make_app(settings)
    shown = f"[{bind}]" if ":" in bind else bind
    typer.echo(f"Serving on http://{shown}:{port}, with tables in {settings.data}. Stop with Ctrl-C.", err=True)
    run(app, bind, port, settings.limits)


def _limits(abandoned_minutes: float, days: float) -> Limits:
    """Return the limits with other times until abandoned tables go away."""
    return Limits(
        abandoned_minutes=abandoned_minutes, keep_days=days, unfinished_days=days,
        unused_days=min(days, Limits.unused_days),
    )  # fmt: skip


def _check_address(bind: str) -> None:
    """Raise OptionError unless a socket can listen on an address."""
    try:
        if not bind.strip():  # sockets would listen on all interfaces
            raise OSError("the address is empty; 0.0.0.0 means all interfaces")
        socket.getaddrinfo(bind, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise OptionError(f"--bind: cannot listen on {bind!r}: {reason}") from None


def _check_agent(name: str, spec: str) -> None:
    """Raise AgentError unless visitors can choose an agent by its name, and its spec names something."""
    from cardenvs.agents.kinds import find_kind
    from cardenvs.agents.specs import agent_fingerprint

    if not name or name == "person" or not spec:
        raise AgentError(f'--agent takes NAME=SPEC with a name other than "person"; got {name + "=" + spec!r}')
    kind = spec.partition(":")[0]
    if find_kind(kind) is None and not any(kind in get_game(game).engine.policy_names() for game in list_games()):
        raise AgentError(f"--agent {name}={spec}: there is no agent {kind!r}, and no game has such a policy")
    agent_fingerprint(spec)  # reads the agent's file, if any


def _check_host_name(name: str) -> None:
    """Raise OptionError unless a host name is valid."""
    if not _HOST_NAME.fullmatch(name):
        raise OptionError(f"--name takes a host name without a port, such as cards.example.org; got {name!r}")


def _default_data() -> Path:
    from platformdirs import user_data_path

    try:
        folder = user_data_path("cardenvs", ensure_exists=True)
    except RuntimeError:
        raise FileError("there is no home directory to keep tables in; give --data FILE") from None
    return folder / "tables.db"
