"""What the lobby of a page without a server shows of each game. A process of its own writes it, without the compiler.

What is offered depends on whether kernels are compiled, and the pages' are not.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from cardenvs.browser.tables import SETTINGS
from cardenvs.core.errors import CardenvsError
from cardenvs.core.registry import get_game
from cardenvs.server.catalogue import game_json
from cardenvs.server.tiles import draw_tile


def lobby_games(names: Sequence[str]) -> list[dict[str, Any]]:
    """Return for each game {"game": as for a server's lobby, "picture": SVG, "rules": Markdown}.

    Raises:
        CardenvsError: the process failed.
    """
    made = subprocess.run(
        [sys.executable, "-m", __name__, *names], env=os.environ | {"CARDENVS_COMPILE": "0"}, capture_output=True,
        text=True, encoding="utf-8",
    )  # fmt: skip
    if made.returncode:
        raise CardenvsError(f"the games cannot be drawn for the lobby:\n{made.stderr.strip()}")
    found: list[dict[str, Any]] = json.loads(made.stdout)
    return found


def _lobby_game(name: str) -> dict[str, Any]:
    game = get_game(name)
    return {"game": game_json(game, SETTINGS), "picture": draw_tile(name), "rules": game.rules_text}


if __name__ == "__main__":
    json.dump([_lobby_game(name) for name in sys.argv[1:]], sys.stdout)
