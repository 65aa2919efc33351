"""A session as tools of the Model Context Protocol, with the official Python SDK."""

from collections.abc import Callable
from importlib.metadata import version
from typing import Any, TypeVar

import anyio.to_thread

from cardenvs.core.errors import CardenvsError, require
from cardenvs.mcp.session import Session

require("mcp", "mcp")  # names the missing extra, which a plain import would not

from mcp.server.mcpserver import MCPServer  # noqa: E402
from mcp.server.mcpserver.exceptions import ToolError  # noqa: E402

_Answer = TypeVar("_Answer")

_FREE = (
    "You sit at a table of card and tile games with hidden information. `list_games` names them, `rules` explains one, "
    "and `start_game` deals you in."
)
_APPOINTED = "You sit at a table: the games of a match are played one after another. `look` shows the game."
_HOW = (
    " You see what your player may know, and nothing else. `play` makes a move by its words or its number, and answers "
    "with what happens until it is your turn again. A game that you leave or resign is lost."
)


def make_server(session: Session) -> MCPServer:
    """Return a server whose client plays the games of a session.

    Raises:
        MissingExtraError: the SDK is not installed.
    """
    how = (_APPOINTED if session.is_appointed else _FREE) + _HOW
    server = MCPServer("cardenvs", title="cardenvs", version=version("cardenvs"), instructions=how, log_level="WARNING")

    async def answered(call: Callable[..., _Answer], *arguments: Any) -> _Answer:
        """Return what the session answers; a refusal is an error that the client reads."""
        try:
            return await anyio.to_thread.run_sync(call, *arguments, abandon_on_cancel=True)
        except CardenvsError as error:
            raise ToolError(str(error)) from None

    @server.tool()
    async def list_games() -> list[dict[str, Any]]:
        """List the games: name, title, and the usual number of players."""
        return await answered(session.games)

    @server.tool()
    async def rules(game: str) -> str:
        """Explain the rules of a game, named as in list_games."""
        return await answered(session.rules, game)

    if not session.is_appointed:

        @server.tool()
        async def start_game(
            game: str, opponent: str = "", options: dict[str, int | float | bool | str] | None = None, seat: int = 0
        ) -> str:
            """Deal a new game and show the table.

            Args:
                game: name of the game, as in list_games.
                opponent: who takes the other seats: "random", "heuristic", "search", or a policy of the zoo; by default
                    the game's usual opponent.
                options: options of the game, such as {"num_players": 3}.
                seat: your seat, from 0.
            """
            return await answered(session.start, game, opponent, options, seat)

    @server.tool()
    async def look() -> str:
        """Show the table as your player sees it, what has happened since you last looked, and your moves."""
        return await answered(session.look)

    @server.tool()
    async def list_moves(contains: str = "", first: int = 1) -> str:
        """List your legal moves.

        Args:
            contains: only moves whose words contain this.
            first: number of the first move to list.
        """
        return await answered(session.moves, contains, first)

    @server.tool()
    async def play(move: str) -> str:
        """Make a move, and show what happens until your next turn.

        Args:
            move: the words of a move, or its number in the latest list.
        """
        return await answered(session.play, move)

    @server.tool()
    async def recap() -> str:
        """Tell all that your player has seen of this game."""
        return await answered(session.recap)

    @server.tool()
    async def facts() -> dict[str, Any]:
        """List what a careful player would have deduced by now, such as who cannot have which card."""
        return await answered(session.facts)

    @server.tool()
    async def resign() -> str:
        """Give the game up. It counts as lost as badly as it still could be."""
        return await answered(session.resign)

    return server
