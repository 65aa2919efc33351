"""The tables of docs/results.md, from the files that `python -m baselines.run` writes."""

import json
import re
from pathlib import Path
from typing import Any

from cardenvs.core.game import Game
from cardenvs.core.registry import get_game
from docs import foreign_tables

FOLDER = Path(__file__).with_name("results")
_VERSUS = (
    "What each wins from the rule agent on the boards below: half the difference of their results in the games that "
    "they play together; in a game for one player, the difference on the same deals. Simulations are those of search "
    "for a move."
)
NONE_YET = "No results yet. `make baselines` makes them."


def read_results() -> list[dict[str, Any]]:
    """Return all results, sorted by file, each with the name of its `file` and of its `policy`, which is empty unless
    it is a further policy of its game."""
    return [_read(path) for path in sorted(FOLDER.glob("*.json"))]


def _read(path: Path) -> dict[str, Any]:
    _, _, policy = path.stem.partition("-")
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return {**found, "file": path.stem, "policy": policy}


def sections(table: Any) -> str:
    """Return an overview and a section for each game that has results, in Markdown.

    Args:
        table: function (heading, rows) -> Markdown.
    """
    found = read_results()
    if not found:
        return NONE_YET
    parts = (_overview(found, table), *(_section(result, table) for result in found))
    return "\n\n".join(part for part in parts if part)


def baseline(game: Game, table: Any) -> str:
    """Return the board of a game in short, with a link to all of it; empty: there are no results yet."""
    path = FOLDER / f"{game.name}.json"
    if not path.exists():
        return ""
    result = _read(path)
    summary = result["board"]["games"][0]["summary"]
    rows = [
        (f"`{one['agent']}`", _signed(one["mean"]["mean"]), _interval(one["mean"])) for one in summary["leaderboard"]
    ]
    how = f"[how they were trained and played](../results.md#{_anchor(result)})"
    if "cross_play" in summary:
        return f"Each with itself and with each other, {_setting(result)}; {how}:\n\n{_cross_play(summary, table)}"
    found = table(("agent", f"mean, {_unit(summary)}", "95% interval"), rows)
    return f"Each against all the others, on the same {_setting(result)}; {how}:\n\n{found}"


def _overview(results: list[dict[str, Any]], table: Any) -> str:
    """Whether search and the trained policy beat the strongest rule agent of each game; empty: no game has one."""
    rows = []
    for result in results:
        game, board = get_game(result["game"]), result["board"]["games"][0]
        rules = [one for one in board["ratings"] if one["agent"] in game.policies]
        if not rules:
            continue
        best = max(rules, key=lambda one: one["rating"])["agent"]
        unit = _unit(board["summary"])
        search, policy = (_versus(board["summary"], kind, best) for kind in ("search", "ppo"))
        link, simulations = f"[{_heading(result)}](#{_anchor(result)})", _simulations(board["summary"])
        rows.append((link, f"`{best}`", search, simulations, policy, unit))
    if not rows:
        return ""
    ahead = sum(any(cell.startswith("**") for cell in row) for row in rows)
    head = ("game", "strongest rule agent", "search against it", "simulations", "`ppo` against it", "unit")
    said = f"Search or the trained policy beats the strongest rule agent in {ahead} of {len(rows)} games that have one"
    return f"## At a glance\n\n{said} (in bold: the 95% interval is above 0).\n\n{table(head, rows)}\n\n{_VERSUS}"


def _versus(summary: dict[str, Any], kind: str, other: str) -> str:
    """The mean result of the agent of a kind, `search` or `ppo`, against another one, with its 95% interval."""
    for pair in summary["head_to_head"]:
        names = [name.partition(":")[0] for name in pair["agents"]]
        mean, low, high = (pair["advantage"][name] for name in ("mean", "low", "high"))
        if names == [other, kind]:
            names, mean, low, high = [kind, other], -mean, -high, -low
        if names == [kind, other]:
            shown = f"{_signed(mean)} ({_signed(low)} to {_signed(high)})"
            return f"**{shown}**" if low > 0 else shown
    return ""


def _simulations(summary: dict[str, Any]) -> str:
    """How many simulations a move the search of a board makes; empty: it has none."""
    names = [name for pair in summary["head_to_head"] for name in pair["agents"]]
    return next((name.rpartition("=")[2] for name in names if name.startswith("search:simulations=")), "")


def _heading(result: dict[str, Any]) -> str:
    """The heading of a result on the page of results: the game, and the name of a further policy of that game."""
    policy = result.get("policy")
    return get_game(result["game"]).title + (f": {policy}" if policy else "")


def _anchor(result: dict[str, Any]) -> str:
    """That heading, as a link names it."""
    return re.sub(r"[^a-z0-9 _-]", "", _heading(result).lower()).replace(" ", "-")


def _section(result: dict[str, Any], table: Any) -> str:
    board = result["board"]["games"][0]
    summary, ratings = board["summary"], {one["agent"]: one for one in board["ratings"]}
    rows = [
        (
            f"`{one['agent']}`",
            _signed(one["mean"]["mean"]),
            _interval(one["mean"]),
            f"{ratings[one['agent']]['rating']:,.0f}" if one["agent"] in ratings else "",
            f"{one['decision_ms']:.3g}",
        )
        for one in summary["leaderboard"]
    ]
    response = result.get("response")
    lines = [
        f"## {_heading(result)}",
        f"{_setting(result)}:",
        _cross_play(summary, table)
        if "cross_play" in summary
        else table(("agent", f"mean, {_unit(summary)}", "95% interval", "rating", "ms a decision"), rows),
        *_training(result, _unit(summary)),
        *([f"A response to `ppo`, {response['steps'] / 1e6:,.3g} M steps: {response['verdict']}"] if response else []),
        *foreign_tables.bounds(result["game"], result["options"]),
        f"`{result['command']}`, {result['date']}, {result['hardware']}. Digest of the store: `{_digest(result)}`.",
    ]
    return "\n\n".join(lines)


def _cross_play(summary: dict[str, Any], table: Any) -> str:
    """The mean result of each two agents of a cooperative game, with half the width of its 95% interval."""
    names = [one["name"] for one in summary["agents"]]
    found = {frozenset(pair["agents"]): pair["result"] for pair in summary["cross_play"]}

    def cell(row: str, column: str) -> str:
        one = found[frozenset((row, column))]
        return f"{one['mean']:.2f} ± {(one['high'] - one['low']) / 2:.2f}"

    rows = [(f"`{row}`", *(cell(row, column) for column in names)) for row in names]
    return table((f"{_unit(summary)}, together with", *(f"`{name}`" for name in names)), rows)


def _setting(result: dict[str, Any]) -> str:
    """How many deals and games the board of a game has, and with which options."""
    summary = result["board"]["games"][0]["summary"]
    changed = ", ".join(f"`{name}={value}`" for name, value in result["options"].items())
    return f"{summary['deals']:,} deals, {summary['games']:,} games{f', with {changed}' if changed else ''}"


def _training(result: dict[str, Any], unit: str) -> list[str]:
    """The runs of a game, and the picture of their learning curves."""
    if not result["runs"]:
        return []
    game = get_game(result["game"])
    returns = game.returns(game.make_options(**result["options"]))
    factor = returns.result_factor
    chosen = f", of which seed {result['chosen']} plays on the board" if len(result["runs"]) > 1 else ""
    how = (
        "of the policy with itself, less those of the other with itself"
        if returns.cooperative
        else "with one seat for the policy and all others for the opponent"
    )
    head = f"Training{chosen}; scores ({unit}) {how}:"
    picture = f"{result.get('file', result['game'])}.svg"
    shown = [f"![Learning curves](results/{picture})"] if (FOLDER / picture).exists() else []
    return [head, "\n".join(_trained(run, factor) for run in result["runs"]), *shown]


def _interval(mean: dict[str, Any]) -> str:
    return "" if mean["low"] is None else f"{_signed(mean['low'])} to {_signed(mean['high'])}"


def _signed(value: float) -> str:
    return f"{value:+,.0f}" if abs(value) >= 100 else f"{value:+.3g}"


def _unit(summary: dict[str, Any]) -> str:
    """The unit of a mean, without "a deal"."""
    return summary["unit"].removesuffix(" a deal").removesuffix(" a game")


def _trained(run: dict[str, Any], factor: float) -> str:
    """A run in a line; its scores are returns, which `factor` brings to the unit of the board."""
    scores = ", ".join(
        f"{_signed(factor * one['mean'])} ± {factor * one['half']:.2g} against {name}"
        for name, one in run["scores"].items()
    )
    steps, seconds = f"{run['steps'] / 1e6:,.3g} M steps", run["seconds"]
    time = f"{seconds:,.0f} s" if seconds < 120 else f"{seconds / 60:,.0f} min"
    exact = "" if run["nash_conv"] is None else f"; NashConv {run['nash_conv']:.3f}"
    gpu = "" if run.get("device", "cpu") == "cpu" else f" on {run['device']}"
    return f"- seed {run['seed']}: {steps} in {time}{gpu}; {scores}{exact}"


def _digest(result: dict[str, Any]) -> str:
    return result["board"]["digest"][:16]
