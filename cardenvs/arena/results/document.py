"""Results as documents: JSON values with everything that a page, a table or a file shows.

The renderers in `cardenvs.arena.output` read documents and nothing else. The entry `display` of a summary's document is
for them alone; `without_display` returns what a file contains.
"""

import math
import platform
import shlex
from collections import Counter
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from cardenvs.agents.guarded.limits import AgentLimits
from cardenvs.arena.match import Match
from cardenvs.arena.schedule import FIRST_AGAINST_FIELD, ROUND_ROBIN

if TYPE_CHECKING:  # they import what draws them
    from cardenvs.arena.results.board import Behaviour, Board, GameBoard
    from cardenvs.arena.results.ratings import Rating
    from cardenvs.arena.results.statistics import Estimate, Standing, Summary

Document = dict[str, Any]

SUMMARY_FORMAT, SUMMARY_VERSION = "cardenvs-match", 2
BOARD_FORMAT, BOARD_VERSION = "cardenvs-board", 1


def without_display(document: Document) -> Document:
    """Return a document without what only renderers need."""
    return {name: value for name, value in document.items() if name != "display"}


# -- a match ------------------------------------------------------------------------------------------------------


def summary_document(summary: "Summary") -> Document:
    """Return a summary as JSON values. Bounds of intervals are null if there is only one deal."""
    match = summary.match
    returns = match.game.returns(match.options)
    return {
        "format": SUMMARY_FORMAT,
        "format_version": SUMMARY_VERSION,
        "match": match.id,
        "game": match.game.name,
        "options": match.options.as_dict(),
        "seed": match.seed_text,
        "deals": len(summary.deals),
        "deals_asked": match.deals,
        "games": summary.games,
        "unfinished_games": summary.unfinished,
        "games_per_deal": len(match.lineups),
        "unit": returns.result_unit_label,
        "interval": f"95% {'Student t' if summary.intervals == 'student' else 'bootstrap'} over deals",
        "leaderboard": [_standing(summary, standing) for standing in (summary.ranking if summary.deals else ())],
        "head_to_head": [
            {"agents": [match.names[first], match.names[second]], "advantage": _estimate(estimate)}
            for (first, second), estimate in summary.advantages.items()
        ],
        **_cross_play(summary),
        "agents": [entry.as_dict() for entry in match.entries],
        "command": command_line(match),
        "versions": versions(),
        "display": {
            "title": match.game.title,
            "head_to_head": _head_to_head_note(match),
            "seating": _seating(match),
            "by_deal": {standing.name: standing.by_deal.tolist() for standing in summary.standings},
        },
    }


def _cross_play(summary: "Summary") -> Document:
    """Return the table of a cooperative game; nothing for any other."""
    if not summary.match.is_cooperative:
        return {}
    names = summary.match.names
    return {
        "cross_play": [
            {"agents": [names[first], names[second]], "result": _estimate(estimate)}
            for (first, second), estimate in summary.cross_play.items()
        ]
    }


def _standing(summary: "Summary", standing: "Standing") -> Document:
    return {
        "rank": summary.rank(standing),
        "agent": standing.name,
        "mean": _estimate(standing.mean),
        "won": standing.won,
        "games": standing.games,
        "decision_ms": 1000 * standing.decision_seconds,
    }


def _estimate(estimate: "Estimate") -> Document:
    return {"mean": estimate.mean, **_bounds(estimate), "deals": estimate.deals}


def _bounds(found: "Estimate | Rating") -> Document:
    return {name: None if math.isinf(bound) else bound for name, bound in (("low", found.low), ("high", found.high))}


def _head_to_head_note(match: Match) -> str:
    """Return what the cells of a head-to-head table show."""
    returns, num_players = match.game.returns(match.options), match.options.num_players
    unit = returns.result_unit_label
    if num_players == 1:
        return f"the row's mean result less the column's on the same deals, in {unit}"
    if num_players == 2 and returns.total == 0:
        return f"the row's mean result against the column, in {unit}"
    return f"half the difference between the row's and the column's results where both play, in {unit}"


def _seating(match: Match) -> str:
    groups = {tuple(sorted(lineup)) for lineup in match.lineups}
    every_seating = len(match.lineups) == sum(_num_orders(group) for group in groups)
    return "in every seating" if every_seating else "in every rotation of the seats"


def _num_orders(group: tuple[int, ...]) -> int:
    """Return in how many orders agents can sit, where copies of one agent are alike."""
    same = math.prod(math.factorial(copies) for copies in Counter(group).values())
    return math.factorial(len(group)) // same


def command_line(match: Match) -> str | None:
    """Return the command that plays the match again, or None if only an experiment file can express it."""
    guard = match.guard
    is_plain_guard = guard is None or guard == AgentLimits(on_failure=guard.on_failure, keep_env=guard.keep_env)
    if match.has_labels or match.schedule not in (ROUND_ROBIN, FIRST_AGAINST_FIELD) or not is_plain_guard:
        return None
    words = ["cardenvs", "match", match.game.name, "--agents", ",".join(match.specs)]
    words += ["--deals", str(match.deals), "--seed", match.seed_text]
    for name, value in match.options.changed().items():
        words += ["--option", f"{name}={','.join(map(str, value)) if isinstance(value, list) else value}"]
    if match.schedule == FIRST_AGAINST_FIELD:
        words.append("--field")
    if guard is not None:
        words += ["--on-failure", guard.on_failure]
        words += [word for name in guard.keep_env for word in ("--keep-env", name)]
    return shlex.join(words)


def versions() -> dict[str, str]:
    """Return the versions of cardenvs, its main dependencies, Python and the platform."""
    packages = {name: version(name) for name in ("cardenvs", "numpy", "numba")}
    return {**packages, "python": platform.python_version(), "platform": platform.platform()}


# -- a board ------------------------------------------------------------------------------------------------------


def board_document(board: "Board") -> Document:
    """Return a board as JSON values. Bounds of intervals are null if there are too few deals."""
    return {
        "format": BOARD_FORMAT,
        "format_version": BOARD_VERSION,
        "name": board.name,
        "anchors": board.anchors,
        "intervals": board.intervals,
        "ratings_by": {"by": board.basis.by, "games": board.basis.games},
        "overall": [_rating(rating) for rating in board.overall],
        "not_comparable": list(board.unconnected),
        "games": [_game(game) for game in board.games],
        "errors": list(board.failed),
        "versions": versions(),
        "display": {"basis": board.basis.description(), "scale": board.scale},
    }


def board_file(document: Document) -> Document:
    """Return what the file of a board contains."""
    games = [{**game, "summary": without_display(game["summary"])} for game in document["games"]]
    return {**without_display(document), "games": games}


def _game(game: "GameBoard") -> Document:
    names = game.match.names
    return {
        "title": game.title,
        "summary": summary_document(game.summary),
        "ratings": [_rating(rating) for rating in game.ratings],
        "circles": [[names[agent] for agent in circle] for circle in game.circles],
        "seats": [
            {"agent": names[agent], "player": player, "mean": _estimate(found)}
            for (agent, player), found in sorted(game.seats.items())
        ],
        "behaviour": [_behaviour(behaviour) for behaviour in game.behaviours],
        "mean_plies": game.plies,
        "sampled_games": game.sampled,
    }


def _rating(rating: "Rating") -> Document:
    return {
        "agent": rating.name, "rating": rating.rating, **_bounds(rating), "games": rating.games,
        "anchored": rating.anchored,
    }  # fmt: skip


def _behaviour(behaviour: "Behaviour") -> Document:
    return {
        "agent": behaviour.name,
        "decisions": behaviour.decisions,
        "decision_ms": 1000 * behaviour.decision_seconds,
        "failures": behaviour.failures,
        "outcomes": behaviour.outcomes,
        "kinds": behaviour.kinds,
        "mean_choices": behaviour.choices,
        "only_one_choice": behaviour.only_one,
    }
