"""Write results as JSON and CSV files for other programs."""

import csv
import io
from collections.abc import Iterator
from typing import Any

from cardenvs.arena.results.document import Document, board_file, without_display
from cardenvs.arena.results.statistics import complete_deals
from cardenvs.arena.store import Store
from cardenvs.core.codes import FORFEIT
from cardenvs.core.files import FilePath, write_json, write_whole
from cardenvs.core.text import csv_cell

COLUMNS = (
    "title", "match", "game", "deal", "lineup", "seed", "player", "agent", "return", "place", "decisions", "seconds",
    "plies", "failures", "forced", "forfeited",
)  # fmt: skip
"""Columns of the results table, which has a row per player and game of each complete deal."""


def write_summary_json(summary: Document, path: FilePath, more: dict[str, Any] | None = None) -> None:
    """Write a summary with the entries of `more` as JSON, replacing an existing file atomically."""
    write_json(path, {**without_display(summary), **(more or {})})


def write_board_json(board: Document, path: FilePath) -> None:
    """Write a board as JSON, replacing an existing file atomically."""
    write_json(path, board_file(board))


def rows(store: Store, board: Document) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of the results table, in the order of COLUMNS."""
    for game in board["games"]:
        match = store.match(game["summary"]["match"])
        for records in complete_deals(match, store.records(match.id)):
            for record in records:
                forfeited = {action - FORFEIT for action in record.actions if action >= FORFEIT}
                for player, agent in enumerate(record.seating):
                    mine = record.returns[player]
                    failures = sum(record.failures[player].values()) if record.failures else 0
                    forced = record.outcomes[player].get("forced", 0) if record.outcomes else 0
                    yield (
                        game["title"], match.id, match.game.name, record.deal, record.lineup, record.seed, player,
                        match.names[agent], mine, 1 + sum(other > mine for other in record.returns),
                        record.decisions[player], record.seconds[player], len(record.actions), failures, forced,
                        player in forfeited,
                    )  # fmt: skip


def write_csv(store: Store, board: Document, path: FilePath) -> None:
    """Write the results table as CSV, replacing an existing file atomically.

    Text that a spreadsheet would read as a formula gets a leading apostrophe.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows(store, board):
        writer.writerow([str(value).lower() if isinstance(value, bool) else csv_cell(value) for value in row])
    write_whole(path, out.getvalue())
