"""Blackjack: the exact house edge for any rules."""

import json
from typing import Annotated

import typer
from typer import Option

from cardenvs.cli.shared import OptionTexts, new_console

app = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown", pretty_exceptions_enable=False)


@app.callback()
def _group() -> None:
    """Blackjack."""


@app.command()
def edge(
    option: OptionTexts = None,
    as_json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print what the best play of a lone player wins in a round from a full shoe, for a bet of 1.

    A negative number is the edge of the house. It is exact for an endless deck (`decks=0`), and from a shoe for games
    without splits; with splits, the hands of a split pair are valued as if cards were put back.

    Examples:

    - `cardenvs blackjack edge -o decks=8 -o dealer_soft17=hit`
    - `cardenvs blackjack edge -o decks=0 -o naturals=sab -o peek=false -o hit_21=true -o double=none -o max_hands=1`
    """
    from cardenvs.cli.options import read_options
    from cardenvs.core.registry import get_game
    from cardenvs.tools.blackjack.edge import exact_edge

    found = exact_edge(read_options(get_game("blackjack_v0"), option))
    if as_json:
        print(json.dumps({"value": found.value, "is_exact": found.is_exact}))
        return
    how = "exact" if found.is_exact else "hands of split pairs valued as if cards were put back"
    new_console().print(f"{found.value:+.6f} bets a round ({100 * found.value:+.4f}%), {how}", highlight=False)
