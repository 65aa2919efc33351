"""Small pictures of the games for the lobby, drawn once by a process of their own.

The process does not compile: a few moves in plain Python take a moment, while compiling all games takes minutes and
would delay the first tables. It writes a line of JSON for each game, [name, SVG].
"""

import asyncio
import contextlib
import json
import os
import sys
import zlib
from asyncio.subprocess import DEVNULL, PIPE

from cardenvs.core.registry import get_game, list_games
from cardenvs.pictures import draw_thumbnail

_TURNS = 5  # of each player before the pictured position
_PICTURE_BYTES = 1 << 22
_NICE = 5


class Tiles:
    """The pictures of all games."""

    def __init__(self) -> None:
        """Prepare the pictures, which are drawn on demand."""
        self._drawn: dict[str, asyncio.Future[str | None]] = {}
        self._drawing: asyncio.Task[None] | None = None

    async def picture(self, name: str) -> str | None:
        """Return the picture of a game as SVG, or None if there is no such game or it cannot be drawn."""
        if self._drawing is None:
            loop = asyncio.get_running_loop()
            self._drawn = {game: loop.create_future() for game in list_games()}
            self._drawing = loop.create_task(self._draw())
        return await asyncio.shield(self._drawn[name]) if name in self._drawn else None

    async def _draw(self) -> None:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "cardenvs.server.tiles"), stdin=DEVNULL, stdout=PIPE, limit=_PICTURE_BYTES,
            env=os.environ | {"CARDENVS_COMPILE": "0"}, start_new_session=True,
        )  # fmt: skip
        assert process.stdout is not None
        try:
            async for line in process.stdout:
                name, picture = json.loads(line)
                self._drawn[name].set_result(picture)
        finally:
            for waiting in self._drawn.values():
                if not waiting.done():
                    waiting.set_result(None)
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def stop(self) -> None:
        """Stop drawing."""
        if self._drawing is not None:
            self._drawing.cancel()
            await asyncio.gather(self._drawing, return_exceptions=True)


def draw_tile(name: str) -> str:
    """Return the picture of a game: the same position each time, a few moves in, as player 0 sees it."""
    game = get_game(name)
    state = game.new_state(seed=zlib.crc32(name.encode()))  # similar games should not look the same
    while state.ply < _TURNS * state.options.num_players or state.current_player != 0:
        after = state.clone()
        after.apply(state.policy_action(game.default_opponent, state.ply))
        if after.is_terminal:
            break
        state = after
    return draw_thumbnail(state.view(0), "auto")


def _main() -> None:
    """Write the pictures of all games to standard output."""
    if hasattr(os, "nice"):
        os.nice(_NICE)
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # anything else that is printed goes to standard error
    for name in list_games():
        try:
            picture = draw_tile(name)
        except Exception as error:  # a game of another package may raise anything; the others have pictures
            print(f"the game {name} has no picture: {type(error).__name__}: {error}", file=sys.stderr)
            continue
        out.write(json.dumps([name, picture]) + "\n")
        out.flush()


if __name__ == "__main__":
    _main()
