"""The tables of docs/scores.md, from the file that `python -m baselines.reference` writes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("scores.json")
NONE_YET = "No scores yet. `python -m baselines.reference` measures them."
_SIZES = {
    "full": "The whole protocol",
    "tiny": "The tiny size",
}
_FEW = 3  # an agent with fewer games gets a row in the last table, not a column


def sections(table: Callable[[tuple[str, ...], list[tuple[str, ...]]], str]) -> str:
    """Return the scores of all agents in Markdown: tables by size, and one of the agents that play few games."""
    if not FILE.exists():
        return NONE_YET
    found = list(json.loads(FILE.read_text(encoding="utf-8")).values())
    many = [one for one in found if len(one["games"]) >= _FEW]
    parts = [
        f"## {title}\n\n{_by_game([one for one in many if one['size'] == size], table)}"
        for size, title in _SIZES.items()
        if any(one["size"] == size for one in many)
    ]
    few = [one for one in found if len(one["games"]) < _FEW]
    return "\n\n".join([*parts, f"## Agents of single games\n\n{_by_agent(few, table)}"] if few else parts)


def _by_game(agents: list[dict[str, Any]], table: Any) -> str:
    """Return a table with a row for each game and a column for each agent, and their means and times."""
    titles = dict(sorted({name: game["title"] for one in agents for name, game in one["games"].items()}.items()))
    rows = [
        (
            f"[{title}](games/{name}.md)",
            *(_score(one["games"][name]["score"]) if name in one["games"] else "" for one in agents),
        )
        for name, title in titles.items()
    ]
    rows.append(("**mean**", *(f"**{_score(one['score'])}**{'' if one['is_complete'] else ' *'}" for one in agents)))
    rows.append(("ms a decision", *(_time(list(one["games"].values())) for one in agents)))
    text = table(("game", *(f"`{one['agent']}`" for one in agents)), rows)
    return text if all(one["is_complete"] for one in agents) else f"{text}\n\n\\* not of all games of the size."


def _by_agent(agents: list[dict[str, Any]], table: Any) -> str:
    rows = [
        (
            f"`{one['agent']}`",
            f"[{game['title']}](games/{name}.md)",
            _score(game["score"]),
            _time([game]),
        )
        for one in agents
        for name, game in one["games"].items()
    ]
    return str(table(("agent", "game", "score", "ms a decision"), sorted(rows, key=lambda row: row[1])))


def _score(score: dict[str, Any]) -> str:
    half = "" if score["low"] is None else f" ± {(score['high'] - score['low']) / 2:.0f}"
    return f"{round(score['mean'])}{half}"  # as an integer, which has no -0


def _time(games: list[dict[str, Any]]) -> str:
    """Return the mean time of a decision in milliseconds, each game with the same weight."""
    mean = sum(game["decision_ms"] for game in games) / len(games)
    return f"{mean:.0f}" if mean >= 100 else f"{mean:.2g}"  # two digits of 235 would be 2.3e+02
