"""`cardenvs site`."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from cardenvs.cli.files import input_file
from cardenvs.cli.shared import new_console, new_table
from cardenvs.core.files import check_output_folder
from cardenvs.core.registry import get_game, list_games


def site(
    out: Annotated[Path, Argument(metavar="FOLDER", help="Folder to write; files of an older build are replaced.")],
    games: Annotated[
        str | None, Option(metavar="GAME,...", help="The games. [default: all that come with cardenvs]")
    ] = None,
    pyodide: Annotated[
        Path | None,
        Option(metavar="FILE", callback=input_file, help="Pyodide's archive from npm. [default: npm brings it]"),
    ] = None,
) -> None:
    """Write pages with tables that need no server: rules and agents run in the reader's browser.

    Any host of static files serves the folder; a browser does not open it without one. Needs Node.js, with npm.

    Examples:

    - `cardenvs site public --games leduc_poker_v0,uno_v0`
    - `python -m http.server --directory public`
    """
    from cardenvs.browser.build import build, own_games, weight

    check_output_folder(out)
    names = [get_game(name.strip()).name for name in games.split(",")] if games else own_games(list_games())
    build(out, names, pyodide)
    table = new_table("game", "a table loads", right=1, key=True)
    for name in names:
        table.add_row(name, f"{weight(out, name) / 1e6:.1f} MB")
    console = new_console()
    console.print(table)
    console.print(f"[dim]wrote {out}[/dim]", soft_wrap=True)
