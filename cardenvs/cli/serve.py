"""`cardenvs serve`."""

import os
import re
import socket
from pathlib import Path
from typing import Annotated

import typer

from cardenvs.cli.files import input_file
from cardenvs.cli.options import parse_pairs
from cardenvs.cli.shared import finite
from cardenvs.core.errors import AgentError, OptionError

_SLOWEST, _LONGEST_CLOCK = 60.0, 604_800.0
_HOST_NAME = re.compile(r"\*|(\*\.)?[\w.-]+|\[[0-9a-fA-F:.]+\]")


def serve(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port.")] = 8000,
    bind: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address to listen on. Others can connect unless it is loopback.")
    ] = "127.0.0.1",
    data: Annotated[
        Path | None, typer.Option(metavar="FILE", help="SQLite file of the tables. [default: in your data folder]")
    ] = None,
    agent: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=SPEC", help="A further agent that visitors may choose by name. May be repeated."),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(metavar="HOST", help="Name under which browsers reach the server. May be repeated."),
    ] = None,
    replay: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="A replay that visitors may play. May be repeated."),
    ] = None,
    store: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="A match's store whose games visitors may play. May be repeated."),
    ] = None,
    poker_run: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Seeds of one-player poker, as `cardenvs poker calibrate` wrote them."),
    ] = None,
    deck_key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Secret from which decks of one-player poker are shuffled, for prizes."),
    ] = None,
    log: Annotated[
        bool, typer.Option("--log", help="Write a line of JSON to standard error for each request to /game.")
    ] = False,
    pace: Annotated[
        float, typer.Option(min=0, max=_SLOWEST, callback=finite, help="Seconds between the moves of agents.")
    ] = 0.8,
    think: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=_SLOWEST,
            callback=finite,
            help="Least seconds that agents take at tables with people, so that their time tells nothing. "
            "[default: LLM_MIN_THINK_TIME_MS, or 0.5]",
        ),
    ] = None,
    clock: Annotated[
        float,
        typer.Option(
            min=0,
            max=_LONGEST_CLOCK,
            callback=finite,
            help="Seconds for each move at tables of several people, after which a player forfeits. 0: no limit.",
        ),
    ] = 600.0,
    round_pause: Annotated[
        float,
        typer.Option(
            min=0,
            max=_LONGEST_CLOCK,
            callback=finite,
            help="Most seconds that agents wait after a hand for people to read the scores. 0: they go on at once.",
        ),
    ] = 60.0,
    models: Annotated[
        bool | None,
        typer.Option(
            "--models/--no-models",
            help="Offer the language model of the environment, as `model`; or no language model at all, whatever "
            "--agent names. [default: BACKEND_LLM_ENABLED, or those that --agent names]",
        ),
    ] = None,
    show_errors: Annotated[
        bool | None,
        typer.Option(
            "--show-errors/--hide-errors",
            help="Show a lone player why an agent failed, in its own words, which may quote its cards. "
            "[default: LLM_SHOW_EXCEPTIONS_IN_FRONTEND, or hide]",
        ),
    ] = None,
) -> None:
    """Serve games to browsers: a lobby, tables for people and agents, recorded games. Ctrl-C ends it.

    Examples:

    - `cardenvs serve`
    - `cardenvs serve --agent trained=ppo:runs/gin/latest.pt --store games.db`
    - `cardenvs serve --bind 0.0.0.0 --name cards.example.org`
    - `cardenvs serve --poker-run artifacts/pipeline/spring --deck-key key.txt --log`
    """
    from cardenvs.core.errors import require

    require("starlette", "server")
    require("fastapi", "server")
    require("websockets", "server")
    require("uvicorn", "server")
    from cardenvs.server.app import make_app
    from cardenvs.server.poker.pools import read_key
    from cardenvs.server.settings import ENVIRONMENT_MODEL, Settings, settings_of_environment
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
            raise AgentError(f"--models offers {ENVIRONMENT_MODEL!r} as well; give the --agent of that name another")
        _check_agent(ENVIRONMENT_MODEL, "llm:env")
    settings = Settings(
        data=str(data or _default_data()),
        agents=agents,
        host_names=(*Settings.host_names, *(name or [])),
        replays=tuple(replay or ()),
        stores=tuple(store or ()),
        poker_run=poker_run,
        deck_key=read_key(deck_key) if deck_key else b"",
        pace=pace,
        clock=clock,
        round_pause=round_pause,
        **chosen,
    )
    app = make_app(settings)
    if log:
        _log_requests()
    shown = f"[{bind}]" if ":" in bind else bind
    typer.echo(f"http://{shown}:{port} serves; tables are kept in {settings.data}. Ctrl-C ends it.", err=True)
    run(app, bind, port, settings.limits)


def _check_address(bind: str) -> None:
    """Raise OptionError unless a socket can listen on an address. An empty one would mean all interfaces."""
    try:
        if not bind.strip():
            raise OSError("it is empty; 0.0.0.0 stands for all interfaces")
        socket.getaddrinfo(bind, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise OptionError(f"--bind: cannot listen on {bind!r}: {reason}") from None


def _check_agent(name: str, spec: str) -> None:
    """Raise AgentError unless visitors can choose an agent by its name, and its spec names something."""
    from cardenvs.agents.specs import agent_fingerprint, find_kind
    from cardenvs.core.registry import get_game, list_games

    if not name or name == "person" or not spec:
        raise AgentError(f'--agent takes NAME=SPEC, and the name is not "person"; got {name + "=" + spec!r}')
    kind = spec.partition(":")[0]
    if find_kind(kind) is None and not any(kind in get_game(game).engine.policy_names() for game in list_games()):
        raise AgentError(f"--agent {name}={spec}: there is no agent {kind!r}, and no game has such a policy")
    agent_fingerprint(spec)  # reads the file, if there is one


def _check_host_name(name: str) -> None:
    """Raise OptionError unless browsers can address a host by a name."""
    if not _HOST_NAME.fullmatch(name):
        raise OptionError(f"--name takes the name of a host without a port, such as cards.example.org; got {name!r}")


def _log_requests() -> None:
    import logging

    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(message)s"))
    requests = logging.getLogger("cardenvs.server.poker")
    requests.addHandler(handler)
    requests.setLevel(logging.INFO)


def _default_data() -> Path:
    from platformdirs import user_data_path

    from cardenvs.core.errors import FileError

    try:
        folder = user_data_path("cardenvs", ensure_exists=True)
    except RuntimeError:
        raise FileError("this user has no home directory to keep tables in; give --data FILE") from None
    return folder / "tables.db"
