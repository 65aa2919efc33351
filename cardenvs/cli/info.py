"""`cardenvs info`."""

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from cardenvs.cli.options import option_text, read_options
from cardenvs.cli.shared import GameName, OptionTexts, escaped, new_console, new_table
from cardenvs.core.registry import get_game

if TYPE_CHECKING:
    from rich.table import Table

    from cardenvs.core.game import Game
    from cardenvs.core.options import Options


def info(
    game: GameName,
    option: OptionTexts = None,
    rules: Annotated[bool, Option("--rules", help="Print the rules instead.")] = False,
) -> None:
    """Show the sizes, options and observation of a game.

    Example: `cardenvs info leduc_poker_v0 -o num_players=3`
    """
    found = get_game(game)
    options = read_options(found, option)
    output = new_console()
    if rules:
        from rich.markdown import Markdown

        output.print(Markdown(found.rules_text))
        return
    output.print(f"[bold]{found.title}[/bold]  [cyan]{found.name}[/cyan]\n")
    for table in (_numbers_table(found, options), _options_table(found, options), _sections_table(found, options)):
        output.print(table)
        output.print()


def _numbers_table(game: "Game", options: "Options") -> "Table":
    from cardenvs.core.options import players_text

    returns, layout = game.returns(options), game.layout(options)
    total = "they vary in sum" if returns.total is None else f"they add up to {returns.total:g}"
    if returns.cooperative:
        total = "the same for all players"
    rows = {
        "players": f"{options.num_players} ({players_text(game.options)} possible)",
        "actions": f"{game.num_actions(options):,}, at most {game.max_legal(options)} legal at once",
        "observation": f"{layout.size} x {layout.dtype}, layout {layout.hash}",
        "returns": f"{returns.text}; {total}",
        "length": f"at most {game.max_length(options):,} actions",
        "phases": ", ".join(phase.replace("_", " ") for phase in game.phases),
        "hiding": ", ".join(phase.replace("_", " ") for phase in game.hidden_phases) or "nothing is hidden",
        "agents": ", ".join(
            [
                *game.engine.policy_names(),
                *("search", "ismcts", "zoo:NAME", "ppo:PATH", "tabular:PATH", "llm:NAME"),
                *("python:MODULE:NAME", "process:COMMAND"),
            ]
        ),
    }
    return _key_table(("", ""), rows.items())


def _options_table(game: "Game", options: "Options") -> "Table":
    rows = []
    for field in dataclasses.fields(options):
        value = getattr(options, field.name)
        rows.append((field.name, option_text(value), _allowed_text(field), field.metadata["doc"]))
    return _key_table(("option", "value", "allowed", ""), rows)


def _allowed_text(field: Any) -> str:
    from cardenvs.core.options import range_text

    meta = field.metadata
    if meta["choices"]:
        text = " or ".join(meta["choices"])
    elif isinstance(field.default, bool):
        text = "true or false"
    else:
        text = range_text(field)
        at_most = "" if meta["min_length"] == meta["length"] else "up to "
        text = f"{at_most}{meta['length']} of {text}" if meta["length"] else text
    return f"{text} or none" if meta["optional"] else text


def _sections_table(game: "Game", options: "Options") -> "Table":
    layout = game.layout(options)
    rows = [
        (section.name, f"{start}..{start + section.size - 1}", section.range_text, section.doc)
        for section, start in zip(layout.sections, layout.starts, strict=True)
    ]
    return _key_table(("observation", "at", "values", ""), rows)


def _key_table(columns: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> "Table":
    table = new_table(*columns, key=True)
    for row in rows:
        table.add_row(*(escaped(str(cell)) for cell in row))
    return table
