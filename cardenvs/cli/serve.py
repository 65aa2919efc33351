"""`cardenvs serve`."""

from pathlib import Path
from typing import Annotated

import typer

from cardenvs.cli.files import input_file
from cardenvs.cli.options import parse_pairs
from cardenvs.cli.shared import finite
from cardenvs.core.errors import AgentError

_SLOWEST, _LONGEST_CLOCK = 60.0, 604_800.0


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
        float,
        typer.Option(
            min=0,
            max=_SLOWEST,
            callback=finite,
            help="Least seconds that agents take at tables with people, so that their time tells nothing.",
        ),
    ] = 0.5,
    clock: Annotated[
        float,
        typer.Option(
            min=0,
            max=_LONGEST_CLOCK,
            callback=finite,
            help="Seconds for each move at tables of several people, after which a player forfeits. 0: no limit.",
        ),
    ] = 600.0,
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
    from cardenvs.server.settings import Settings
    from cardenvs.server.wire import run

    for path in [*(replay or []), *(store or [])]:
        input_file(path)
    settings = Settings(
        data=str(data or _default_data()),
        agents=parse_pairs(agent, "--agent", "trained=ppo:runs/gin/latest.pt", AgentError),
        host_names=(*Settings.host_names, *(name or [])),
        replays=tuple(replay or ()),
        stores=tuple(store or ()),
        poker_run=poker_run,
        deck_key=read_key(deck_key) if deck_key else b"",
        pace=pace,
        think=think,
        clock=clock,
    )
    app = make_app(settings)
    if log:
        _log_requests()
    shown = f"[{bind}]" if ":" in bind else bind
    typer.echo(f"http://{shown}:{port} serves; tables are kept in {settings.data}. Ctrl-C ends it.", err=True)
    run(app, bind, port, settings.limits)


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
