"""`cardenvs mcp`."""

from typing import Annotated

from typer import Argument, Option

from cardenvs.cli.options import read_options
from cardenvs.cli.shared import MAX_COUNT, MAX_SEED, GamesStore, OptionTexts, finite
from cardenvs.core.errors import ArenaError, require
from cardenvs.core.registry import get_game


def mcp(
    game: Annotated[str | None, Argument(help="The game of a match; default: the client starts games itself.")] = None,
    against: Annotated[
        str | None,
        Option(metavar="AGENTS", help="Who has the other seats of the match: one agent for all, or one for each."),
    ] = None,
    deals: Annotated[int, Option(min=1, max=MAX_COUNT, help="Deals of the match, shared out to the seats.")] = 10,
    seed: Annotated[
        int | None, Option(min=0, max=MAX_SEED, help="Seed of the match; default: drawn and kept secret.")
    ] = None,
    option: OptionTexts = None,
    name: Annotated[str, Option("--name", metavar="NAME", help="Name of the client in results.")] = "client",
    store: GamesStore = None,
    resume: Annotated[bool, Option("--resume", help="Play the rest of a match that the store has games of.")] = False,
    time_limit: Annotated[
        float | None,
        Option(metavar="SECONDS", min=0.001, callback=finite, help="Time for a decision; default: no limit."),
    ] = None,
) -> None:
    """Serve a seat at a table by the Model Context Protocol, on standard input and output.

    An agent program starts this command and plays by its tools: list_games, rules, start_game, look, list_moves, play,
    recap, facts, resign. It sees what its player may know. With GAME, it plays the deals of one match, each deal from
    one seat only; the store's games are reported, verified and rated as those of other matches. A game that the client
    leaves is forfeited.

    Examples:

    - `cardenvs mcp`
    - `cardenvs mcp gin_rummy_v0 --against heuristic --deals 20 --store games.db --name my-model`
    - `cardenvs arena report games.db`
    """
    require("mcp", "mcp")
    from cardenvs.agents.specs import split_specs
    from cardenvs.mcp.server import make_server
    from cardenvs.mcp.session import Appointment, Session

    appointment = None
    if game is not None:
        found = get_game(game)
        options = read_options(found, option or [])
        opponents = tuple(split_specs(against)) if against else (found.default_opponent,)
        if len(opponents) not in (1, options.num_players - 1):
            raise ArenaError(f"--against takes one agent, or {options.num_players - 1}; got {len(opponents)}")
        appointment = Appointment(found, options, opponents, deals, seed)
    elif option or against or seed is not None:
        raise ArenaError("--against, --option and --seed belong to a match: name its GAME first")
    session = Session(name=name, appointment=appointment, store=store, resume=resume, seconds=time_limit)
    try:
        make_server(session).run("stdio")
    finally:
        session.close()
