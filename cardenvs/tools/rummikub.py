"""The exact solver for Rummikub: the best play of a rack and a table."""

import json
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from cardenvs.cli.shared import new_console
from cardenvs.core.text import count

if TYPE_CHECKING:
    from rich.console import Console

    from cardenvs.games.rummikub.melds import Meld, Table
    from cardenvs.games.rummikub.solve import Solution

app = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown", pretty_exceptions_enable=False)

_MARKUP = ("red", "blue", "bold", "yellow")
_JOKER_MARKUP = "magenta"


@app.callback()
def commands() -> None:
    """The exact solver for Rummikub."""


@app.command()
def solve(
    rack: Annotated[str, Option(metavar="TILES", help='Tiles of the rack, such as "R13 K4 J".')],
    table: Annotated[
        list[str] | None, Option(metavar="SETS", help='Sets separated by ";", as in "B3 B4 B5; R7 B7 K7". Repeatable.')
    ] = None,
    objective: Annotated[str, Option(metavar="tiles|points", help="Lay the most tiles or the most points.")] = "tiles",
    joker_rule: Annotated[
        str, Option(metavar="retrieve|free|locked", help="When a joker on the table may change its meaning.")
    ] = "retrieve",
    opening: Annotated[bool, Option("--opening", help="The player has not opened: rack tiles only.")] = False,
    opening_min: Annotated[int, Option(min=0, help="Points that an opening must be worth.")] = 30,
    as_json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print the play that lays the most tiles or points. The result is exact.

    Tiles are a colour letter (R red, B blue, K black, O orange; Y is read as O) and a value 1 to 13, and J for a joker.
    Write a joker on the table with the tile that it represents, such as J(R5), unless only one tile is possible.

    Examples:

    - `cardenvs rummikub solve --rack "R13 K4 J" --table "B3 B4 B5"`
    - `cardenvs rummikub solve --rack "R5 K9 K10" --table "R4 J R6; O1 O2 O3" --objective points`
    - `cardenvs rummikub solve --rack "K10 J B10 R2" --opening --json`
    """
    from cardenvs.games.rummikub.solve import solve as solve_position
    from cardenvs.games.rummikub.tiles import parse_tiles

    sets = [part for part in ";".join(table or ()).split(";") if part.strip()]
    best = solve_position(
        rack, sets, objective=objective, joker_rule=joker_rule, opened=not opening, initial_meld_min=opening_min
    )
    if as_json:
        typer.echo(json.dumps(_as_json(best), indent=1))
    else:
        _show(best, Counter(parse_tiles(rack)))


def _as_json(best: "Solution") -> dict[str, Any]:
    from cardenvs.games.rummikub.tiles import tile_label

    return {
        "num_tiles": best.num_tiles,
        "points": best.points,
        "played": [tile_label(tile) for tile in best.played],
        "table": [meld.label for meld in best.melds],
        "kept": [meld.label for meld in best.kept],
        "laid": [meld.label for meld in best.laid],
        "opening_points": best.opening_points,
        "opening": [meld.label for meld in best.opening_melds],
    }


def _show(best: "Solution", rack: Counter[Any]) -> None:
    """Print the play: first the sets that stay, then the sets laid, with rack tiles marked."""
    console = new_console()
    if not best.num_tiles:
        console.print("No tile can be laid.")
    else:
        tiles, points = count(best.num_tiles, "tile"), count(best.points, "point")
        console.print(f"[bold]{tiles}, {points}[/bold]; * is from the rack")
        _show_melds(console, "stays", best.kept, Counter())
        _show_melds(console, "laid", best.laid, Counter(best.played))
        left = rack - Counter(best.played)
        console.print(f"  left in the rack: {' '.join(_tile(tile) for tile in sorted(left.elements())) or 'nothing'}")
    if best.opening_points:
        melds = ", ".join(_meld(meld, Counter()) for meld in best.opening_melds)
        console.print(f"  best from the rack alone: {best.opening_points} points, {melds}")


def _show_melds(console: "Console", what: str, melds: "Table", from_rack: Counter[Any]) -> None:
    for meld in sorted(melds, key=lambda meld: not any(from_rack[slot.tile] for slot in meld.slots)):
        console.print(f"  [dim]{what:<6}[/dim] {_meld(meld, from_rack)}")


def _meld(meld: "Meld", from_rack: Counter[Any]) -> str:
    """Return a meld with colours; tiles found in `from_rack` are marked and removed from it."""
    parts = []
    for slot in meld.slots:
        marked = from_rack[slot.tile] > 0
        from_rack[slot.tile] -= marked
        parts.append(_coloured(slot.label + "*" * marked, slot.tile))
    return " ".join(parts)


def _tile(tile: int) -> str:
    from cardenvs.games.rummikub.tiles import tile_label

    return _coloured(tile_label(tile), tile)


def _coloured(text: str, tile: int) -> str:
    from cardenvs.games.rummikub.tiles import JOKER, colour_of

    name = _JOKER_MARKUP if tile == JOKER else _MARKUP[colour_of(tile)]
    return f"[{name}]{text}[/{name}]"
