"""Stores under attack: every cell edited, files cut and flipped. A store works, or says in a line what is wrong."""

import json
import shutil
import sqlite3
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from cardenvs.arena import Match, Store, run_match
from cardenvs.cli import app
from cardenvs.core.errors import CardenvsError
from fuzz import LONG, examples

VALUES = [
    None, -1, 0, 7, 2**62, 0.5, "", "nonsense", "[", "null", "[null]", "{}", "[]", "[1e999]", "[NaN]", '["a"]',
    "[[[]]]", '{"a": []}', "[-1]", "[99]", f"[{'9' * 400}]", f"[{'9' * 5000}]", "[" * 3000, "x" * 100_000, b"\xff\xfe",
    b"[\xff]", "\ud7ff",
]  # fmt: skip
LOOSE = """
CREATE TABLE new AS SELECT * FROM {table};
DROP TABLE {table};
ALTER TABLE new RENAME TO {table};
"""


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """A store of an experiment and a match with statistics, and the same with tables that take anything."""
    folder = tmp_path_factory.mktemp("stores")
    (folder / "small.yaml").write_text(
        "name: small\ndeals: 3\ngames: [kuhn_poker]\nagents: [random, {name: again, spec: random}]\n"
        "anchors: {random: 1000}\nguard: {isolation: none}\n"
    )
    result = CliRunner().invoke(app, ["arena", "run", str(folder / "small.yaml"), "--store", str(folder / "whole.db")])
    assert result.exit_code == 0, result.output
    run_match(Match.of("kuhn_poker", ["random", "random"], deals=2), folder / "whole.db", statistics=True)
    shutil.copy(folder / "whole.db", folder / "loose.db")
    connection = sqlite3.connect(folder / "loose.db")
    for table in ("matches", "games", "experiments"):
        connection.executescript(LOOSE.format(table=table))
    connection.execute("PRAGMA journal_mode=DELETE")
    connection.close()
    return folder


def cells():
    """(table, column) of every column of a store."""
    return [
        (table, column)
        for table, columns in {
            "matches": [
                "id", "game", "options", "agents", "secret", "guests_key", "created", "layout", "schedule", "guard",
            ],
            "games": [
                "match_id", "deal", "lineup", "seed", "seating", "agents", "returns", "actions", "plies", "decisions",
                "seconds", "error", "digest", "failures", "outcomes", "notes", "statistics",
            ],
            "experiments": ["id", "name", "matches", "anchors", "config", "created"],
        }.items()
        for column in columns
    ]  # fmt: skip


def said(*words):
    """What a command says, which is no traceback."""
    result = CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "200"})
    assert result.exception is None or isinstance(result.exception, SystemExit), (words, result.exception)
    assert "Traceback" not in result.output, result.output
    assert result.exit_code in (0, 1, 2)
    if result.exit_code == 2:
        (line,) = result.stderr.strip().splitlines()[-1:]
        assert line.startswith("Error: "), result.stderr
    return result


def read_everything(path, folder):
    """What each command that reads a store says of one."""
    return [
        said("verify", path),
        said("arena", "list", path),
        said("arena", "report", path),
        said("arena", "report", path, "--all", "--csv", folder / "games.csv", "--json", folder / "board.json"),
    ]


def try_cell(stores, folder, table, column, value):
    path = folder / "edited.db"
    shutil.copy(stores / "loose.db", path)
    connection = sqlite3.connect(path)
    if isinstance(value, bytes):
        connection.execute(f"UPDATE {table} SET {column} = CAST(? AS TEXT) WHERE rowid = 2 OR rowid = 1", (value,))
    else:
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = 1", (value,))
    connection.commit()
    connection.close()
    return read_everything(path, folder)


@pytest.mark.parametrize(("table", "column"), cells())
def test_no_edited_cell_gives_a_traceback(stores, tmp_path, table, column):
    """Every column, with some of the values in turn; all of them in the long form."""
    first = cells().index((table, column))
    chosen = VALUES if LONG else [VALUES[first % len(VALUES)]]
    for value in chosen:
        try_cell(stores, tmp_path, table, column, value)


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("games", "returns", "[1, "), ("games", "returns", None), ("games", "returns", "[1e99, -1e99]"),
        ("games", "seating", "[5, 6]"), ("games", "seating", "[0]"), ("games", "actions", "[-3]"),
        ("games", "actions", b"\xff"), ("games", "lineup", 70), ("games", "deal", "two"), ("games", "match_id", "gone"),
        ("games", "seed", 3), ("games", "decisions", "{}"), ("games", "seconds", '["a", 1]'), ("games", "error", "no"),
    ],
)  # fmt: skip
def test_verify_names_the_row_and_goes_on(stores, tmp_path, table, column, value):
    verified, *_ = try_cell(stores, tmp_path, table, column, value)
    assert verified.exit_code == 1
    assert "from the record" in verified.stdout
    assert "deal " in verified.stdout


def test_a_damaged_cell_is_named_with_what_would_do(stores, tmp_path):
    *_, report = try_cell(stores, tmp_path, "games", "returns", "nonsense")
    assert report.exit_code == 2
    assert "table games, row match_id" in report.stderr
    assert "column returns is 'nonsense', not a JSON list of numbers" in report.stderr
    assert "delete them and continue with --resume" in report.stderr
    _, listed, *_ = try_cell(stores, tmp_path, "matches", "options", b"\xff\xfe")
    assert "table matches, row id" in listed.stderr
    assert "column options is b'\\xff\\xfe', not a JSON object" in listed.stderr


def open_and_read(path):
    """Open a store and read all of it; what it refuses it refuses with a CardenvsError."""
    try:
        with Store(path, read_only=True) as store:
            for match_id in store.match_ids():
                list(store.records(match_id))
                store.match(match_id)
            store.experiments(), store.failed(), store.stray(), store.digest()
    except CardenvsError as error:
        print(error)  # what cannot be printed would raise here


@given(data=st.data())
@settings(max_examples=examples(60, 3000), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_damaged_file_gives_a_traceback(stores, tmp_path, data):
    """Cut anywhere, or with bytes changed anywhere."""
    raw = bytearray((stores / "whole.db").read_bytes())
    if data.draw(st.booleans(), "cut"):
        raw = raw[: data.draw(st.integers(0, len(raw)), "at")]
    for _ in range(data.draw(st.integers(0, 8), "changes")):
        if raw:
            raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / "damaged.db"
    path.write_bytes(raw)
    open_and_read(path)


@pytest.mark.parametrize("text", ["", "SQLite format 3\0", "SQLite format 3\0" + "\0" * 4096, "{}", "\n" * 5000])
def test_what_is_no_store_is_refused_in_a_line(tmp_path, text):
    path = tmp_path / "no.db"
    path.write_text(text)
    for result in read_everything(path, tmp_path):
        assert result.exit_code == 2
        assert str(path) in result.stderr


def test_every_statement_that_makes_a_store_may_be_cut(stores, tmp_path):
    """A store without one of its tables, columns or versions is refused in a line."""
    for statement in (
        "DROP TABLE games", "DROP TABLE matches", "DROP TABLE experiments", "ALTER TABLE games DROP COLUMN returns",
        "ALTER TABLE matches RENAME COLUMN options TO choices", "PRAGMA user_version=0", "PRAGMA user_version=1",
        "PRAGMA user_version=77", "PRAGMA application_id=1",
    ):  # fmt: skip
        path = Path(tmp_path / "cut.db")
        shutil.copy(stores / "loose.db", path)
        connection = sqlite3.connect(path)
        connection.execute(statement)
        connection.commit()
        connection.close()
        assert 2 in {result.exit_code for result in read_everything(path, tmp_path)}, statement


def test_json_of_a_board_is_json(stores, tmp_path):
    said("arena", "report", stores / "whole.db", "--json", tmp_path / "board.json")
    assert json.loads((tmp_path / "board.json").read_text())["format"] == "cardenvs-board"
