"""`cardenvs games`."""

import typer

from cardenvs.cli.shared import new_console, new_table
from cardenvs.core.registry import get_game, list_games


def games() -> None:
    """List the games.

    Example: `cardenvs games`
    """
    table = new_table("game", "", "players", "actions", "observation", "longest", right=2, key=True)
    failures = []
    for name in list_games():
        try:
            table.add_row(name, *_row(name))
        except (ImportError, AttributeError) as error:  # perhaps a game of another package; list the others
            failures.append(f"{name} cannot be loaded: {error}")
    new_console().print(table)
    for failure in failures:
        typer.secho(failure, fg="red", err=True)


def _row(name: str) -> tuple[str, ...]:
    from cardenvs.core.options import players_text

    game = get_game(name)
    options = game.make_options()
    sizes = (game.num_actions(options), game.layout(options).size, game.max_length(options))
    return (game.title, players_text(game.options), *map(str, sizes))
