"""The tables of opponents from outside, from the file that `python -m baselines.foreign` writes."""

import json
from pathlib import Path
from typing import Any

from baselines.foreign import RESPONSE
from cardenvs.core.game import Game

FILE = Path(__file__).with_name("foreign.json")
_WHAT = (
    "What [opponents from outside](../agents.md#opponents-from-outside) win from agents of cardenvs on duplicate "
    "deals: half the difference of their results in the games that they play together. In partnership games two of "
    "them meet two of ours; at other tables of more than two, one of them sits with several of ours."
)
_BOUND = (
    "The [local best response](../holdem.md#local-best-response) knows how its opponent plays: what it wins, the "
    "opponent loses to its best response at least."
)


def of_game(game: Game, table: Any) -> str:
    """Return what opponents from outside win in a game, in Markdown; empty: none has played.

    Args:
        game: the game.
        table: function (heading, rows) -> Markdown.
    """
    results = _results(game.name)
    if not results:
        return ""
    settings = list({json.dumps(one["options"]): one["options"] for one in results}.values())
    tables = [_table([one for one in results if one["options"] == options], table) for options in settings]
    bound = [_BOUND] if any(one["foreign"] == RESPONSE for one in results) else []
    how = f"`python -m baselines.foreign --games {game.name}` plays all this, and `--list` prints the commands."
    return "\n\n".join([_WHAT, *tables, *bound, how])


def bounds(game: str, options: dict[str, Any]) -> list[str]:
    """Return what local best responses win from trained policies with these options, a sentence for each policy."""
    found = [one for one in _results(game) if one["foreign"] == RESPONSE and one["options"] == options]
    return [
        f"A [local best response](holdem.md#local-best-response) wins {_won(one['won'])} {one['unit']} from "
        f"`{one['agent']}`, which so loses at least {max(0, one['won']['mean'] - one['won']['half']):.0f} to its best "
        "response."
        for one in found
        if one["agent"].startswith("zoo:")
    ]


def _results(game: str) -> list[dict[str, Any]]:
    found = json.loads(FILE.read_text(encoding="utf-8")).values() if FILE.exists() else ()
    return [one for one in found if one["game"] == game]


def _table(results: list[dict[str, Any]], table: Any) -> str:
    """Return the results with some options: a row for each foreign agent, a column for each of the house."""
    agents = list(dict.fromkeys(one["agent"] for one in results))
    rows = []
    for name in dict.fromkeys(one["foreign"] for one in results):
        row = {one["agent"]: one for one in results if one["foreign"] == name}
        first = next(iter(row.values()))
        rows.append(
            (
                name if name == RESPONSE else f"`{name}`",
                *(_won(row[agent]["won"]) if agent in row else "" for agent in agents),
                f"{first['won']['deals']:,}",
                _time(first["decision_ms"]),
            )
        )
    unit = results[0]["unit"].removesuffix(" a deal").removesuffix(" a game")
    heading = (f"agent, {unit}", *(f"against `{agent}`" for agent in agents), "deals", "ms a decision")
    options = ", ".join(f"`{name}={json.dumps(value)}`" for name, value in results[0]["options"].items())
    return f"With {options}:\n\n{table(heading, rows)}" if options else str(table(heading, rows))


def _won(result: dict[str, Any]) -> str:
    digits = 0 if abs(result["mean"]) >= 100 else 2
    return f"{result['mean']:+,.{digits}f} ± {result['half']:.{digits}f}"


def _time(milliseconds: float | None) -> str:
    if milliseconds is None:
        return ""
    return f"{milliseconds:.0f}" if milliseconds >= 10 else f"{milliseconds:.2g}"
