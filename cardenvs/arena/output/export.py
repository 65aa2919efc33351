"""Write boards and games as JSON and CSV files for other programs."""

import csv
import io
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cardenvs.arena.output.report import as_json, estimate_json, versions
from cardenvs.arena.results.board import Behaviour, Board, GameBoard
from cardenvs.arena.results.ratings import Rating
from cardenvs.arena.results.statistics import complete_deals
from cardenvs.arena.store import Store
from cardenvs.core.codes import FORFEIT
from cardenvs.core.files import write_whole
from cardenvs.core.text import csv_cell

FORMAT = "cardenvs-board"
FORMAT_VERSION = 1

COLUMNS = (
    "title", "match", "game", "deal", "lineup", "seed", "player", "agent", "return", "place", "decisions", "seconds",
    "plies", "failures", "forced", "forfeited",
)  # fmt: skip
"""Columns of the results table, which has a row per player and game of each complete deal."""


def board_json(board: Board) -> dict[str, Any]:
    """Return a board as JSON values. An interval is null if there are too few deals."""
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "name": board.name,
        "anchors": board.anchors,
        "intervals": board.intervals,
        "ratings_by": {"by": board.basis.by, "games": board.basis.games},
        "overall": [_rating_json(rating) for rating in board.overall],
        "not_comparable": list(board.unconnected),
        "games": [_game_json(game) for game in board.games],
        "errors": list(board.failed),
        "versions": versions(),
    }


def _game_json(game: GameBoard) -> dict[str, Any]:
    names = game.match.names
    return {
        "title": game.title,
        "summary": as_json(game.summary),
        "ratings": [_rating_json(rating) for rating in game.ratings],
        "circles": [[names[agent] for agent in circle] for circle in game.circles],
        "seats": [
            {"agent": names[agent], "player": player, "mean": estimate_json(found)}
            for (agent, player), found in sorted(game.seats.items())
        ],
        "behaviour": [_behaviour_json(behaviour) for behaviour in game.behaviours],
        "mean_plies": game.plies,
        "sampled_games": game.sampled,
    }


def _rating_json(rating: Rating) -> dict[str, Any]:
    low, high = (None if math.isinf(bound) else bound for bound in (rating.low, rating.high))
    return {
        "agent": rating.name, "rating": rating.rating, "low": low, "high": high, "games": rating.games,
        "anchored": rating.anchored,
    }  # fmt: skip


def _behaviour_json(behaviour: Behaviour) -> dict[str, Any]:
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


def write_board_json(board: Board, path: str | Path) -> None:
    """Write a board as JSON, replacing an existing file atomically."""
    write_whole(path, json.dumps(board_json(board), indent=1, allow_nan=False) + "\n")


def rows(store: Store, board: Board) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of the results table, in the order of COLUMNS."""
    for game in board.games:
        match = game.match
        for records in complete_deals(match, store.records(match.id)):
            for record in records:
                forfeited = {action - FORFEIT for action in record.actions if action >= FORFEIT}
                for player, agent in enumerate(record.seating):
                    mine = record.returns[player]
                    failures = sum(record.failures[player].values()) if record.failures else 0
                    forced = record.outcomes[player].get("forced", 0) if record.outcomes else 0
                    yield (
                        game.title, match.id, match.game.name, record.deal, record.lineup, record.seed, player,
                        match.names[agent], mine, 1 + sum(other > mine for other in record.returns),
                        record.decisions[player], record.seconds[player], len(record.actions), failures, forced,
                        player in forfeited,
                    )  # fmt: skip


def write_csv(store: Store, board: Board, path: str | Path) -> None:
    """Write the results table as CSV, replacing an existing file atomically.

    Text that a spreadsheet would read as a formula gets a leading apostrophe.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows(store, board):
        writer.writerow([str(value).lower() if isinstance(value, bool) else csv_cell(value) for value in row])
    write_whole(path, out.getvalue())
