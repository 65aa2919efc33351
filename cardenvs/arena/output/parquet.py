"""Write and read trajectories as Parquet files, one row per decision. Needs the extra `data` (pyarrow).

The rows of an episode (one game from one seat) are consecutive and in order.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cardenvs.arena.trajectories import Episode
from cardenvs.core.checks import check_fields
from cardenvs.core.errors import FormatError, require
from cardenvs.core.files import whole_file
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.text import one_line

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = "cardenvs-trajectories-1"
_KEY = b"cardenvs"
_BYTES_TOGETHER = 8 << 20  # bytes of observations and legal actions in memory at a time
_MOST_BYTES = 1 << 30  # bytes of a row group in memory, when reading a file
_FIELDS = {
    "format": str, "game": str, "options": dict, "layout": str, "observation_size": int, "num_actions": int,
}  # fmt: skip


def arrow() -> Any:
    """Return the module pyarrow, with pyarrow.parquet imported. Raises MissingExtraError if it is not installed."""
    require("pyarrow", "data")
    require("pyarrow.parquet", "data")
    import pyarrow

    return pyarrow


def schema(game: Game, options: Options, with_seeds: bool = False) -> "pa.Schema":
    """Return the columns and metadata of a file."""
    pa, layout = arrow(), game.layout(options)
    name = pa.dictionary(pa.int32(), pa.string())
    columns = {
        "game": name, "options": name, "match": pa.int32(), "deal": pa.int64(), "lineup": pa.int32(),
        "seat": pa.int8(), "agent": name, "step": pa.int32(),
        "observation": pa.list_(pa.from_numpy_dtype(layout.dtype), layout.size),
        "legal_actions": pa.list_(pa.int32()), "action": pa.int32(), "forced": pa.bool_(), "reward": pa.float32(),
        "return": pa.float32(), "done": pa.bool_(), **({"seed": pa.int64()} if with_seeds else {}),
    }  # fmt: skip
    about = {
        "format": FORMAT, "game": game.name, "options": options.as_dict(), "layout": layout.hash,
        "observation_size": layout.size, "num_actions": game.num_actions(options),
    }  # fmt: skip
    fields = [pa.field(column, kind, nullable=False) for column, kind in columns.items()]
    return pa.schema(fields, {_KEY: json.dumps(about).encode()})


def write_parquet(
    path: Path, episodes: Iterable[Episode], game: Game, options: Options, *, with_seeds: bool = False
) -> int:
    """Write episodes with one observation layout to a file atomically, using bounded memory. Returns the number of
    rows.

    `with_seeds` adds a column with the seeds of deals, which determine all cards.

    Raises:
        MissingExtraError: pyarrow is not installed.
        OSError: the file cannot be written.
    """
    arrow()
    from pyarrow.parquet import ParquetWriter

    kind, rows = schema(game, options, with_seeds), 0
    with whole_file(path) as file, ParquetWriter(file, kind, compression="zstd") as writer:
        for group in _groups(episodes):
            table = _table(group, game, kind)
            writer.write_table(table)
            rows += table.num_rows
    return rows


def _groups(episodes: Iterable[Episode]) -> Iterator[list[Episode]]:
    """Yield the episodes in lists of a bounded size."""
    group: list[Episode] = []
    size = 0
    for episode in episodes:
        group.append(episode)
        size += episode.observations.nbytes + sum(legal.nbytes for legal in episode.legal_actions)
        if size >= _BYTES_TOGETHER:
            yield group
            group, size = [], 0
    if group:
        yield group


def _table(episodes: list[Episode], game: Game, kind: "pa.Schema") -> "pa.Table":
    pa = arrow()
    lengths = np.array([len(episode) for episode in episodes])
    rows = int(lengths.sum())

    def each(values: list[Any], dtype: Any = None) -> np.ndarray:
        return np.repeat(np.array(values, dtype), lengths)

    legal = [one for episode in episodes for one in episode.legal_actions]
    offsets = np.concatenate([[0], np.cumsum([len(one) for one in legal])]).astype(np.int32)
    observations = np.concatenate([episode.observations[:-1] for episode in episodes])
    ends = np.zeros(rows, np.bool_)
    ends[np.cumsum(lengths) - 1] = True
    columns = {
        "game": np.full(rows, game.name, object),
        "options": each([episode.options for episode in episodes], object),
        "match": each([episode.match for episode in episodes]),
        "deal": each([episode.deal for episode in episodes]),
        "lineup": each([episode.lineup for episode in episodes]),
        "seat": each([episode.seat for episode in episodes]),
        "agent": each([episode.agent for episode in episodes], object),
        "step": np.concatenate([np.arange(length) for length in lengths]),
        "observation": pa.FixedSizeListArray.from_arrays(pa.array(observations.reshape(-1)), observations.shape[1]),
        "legal_actions": pa.ListArray.from_arrays(pa.array(offsets), pa.array(np.concatenate(legal))),
        "action": np.concatenate([episode.actions for episode in episodes]),
        "forced": np.concatenate([episode.forced for episode in episodes]),
        "reward": np.concatenate([episode.rewards for episode in episodes]),
        "return": np.concatenate([episode.returns for episode in episodes]),
        "done": ends,
        "seed": each([episode.seed for episode in episodes]),
    }
    fields = [field for field in kind if field.name in columns]
    return pa.table([_column(pa, columns[field.name], field.type) for field in fields], schema=kind)


def _column(pa: Any, values: Any, kind: Any) -> Any:
    if pa.types.is_dictionary(kind):
        return pa.array(values, pa.string()).dictionary_encode()
    return values if isinstance(values, pa.Array) else pa.array(values, kind)


class TrajectoryFile:
    """A Parquet file of trajectories, read in batches. All columns are checked: the file may come from anybody."""

    def __init__(self, path: Path) -> None:
        """Open a file.

        Raises:
            FormatError: the file is damaged, or is not a file of trajectories.
            MissingExtraError: pyarrow is not installed.
        """
        pa = arrow()
        from pyarrow.parquet import ParquetFile

        self._path = path
        try:
            self._file = ParquetFile(path)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise FormatError(f"{path} is damaged, or is not a Parquet file: {one_line(str(error))}") from None
        about = self._file.metadata
        self.rows = about.num_rows
        if any(about.row_group(k).total_byte_size > _MOST_BYTES for k in range(about.num_row_groups)):
            raise FormatError(f"{path} has a row group of more than {_MOST_BYTES >> 20} MiB; write smaller ones")
        self.about = self._about()  # metadata: game, options, layout, observation_size, num_actions

    def _about(self) -> dict[str, Any]:
        try:
            about = json.loads((self._file.schema_arrow.metadata or {}).get(_KEY, b""))
        except ValueError:
            about = None
        if not isinstance(about, dict) or about.get("format") != FORMAT:
            raise FormatError(f"{self._path} does not hold trajectories of this version of cardenvs ({FORMAT})")
        check_fields(about, _FIELDS, str(self._path))
        return about

    def check_fits(self, game: Game, options: Options) -> None:
        """Reject trajectories of another game, or with options that change observations or actions.

        Raises:
            FormatError: the message says what differs, or which column is damaged.
        """
        if self.about["game"] != game.name:
            raise FormatError(f"{self._path} has games of {one_line(self.about['game'], 80)}, not of {game.name}")
        layout = game.layout(options)
        wanted = {"layout": layout.hash, "observation_size": layout.size, "num_actions": game.num_actions(options)}
        for name, value in wanted.items():
            if self.about[name] != value:
                found = one_line(str(self.about[name]), 80)
                raise FormatError(f"{self._path} has {name} {found}; {game.name} as played here has {value}")
        found = self._file.schema_arrow
        for field in schema(game, options):
            at = found.get_field_index(field.name)
            if at < 0 or found.field(at).type != field.type:
                raise FormatError(f"{self._path} is damaged: column {field.name} should be {field.type}")

    def batches(self, columns: list[str], rows: int = 8192) -> Iterator[dict[str, Any]]:
        """Yield some columns in batches of at most `rows`, as NumPy arrays; list columns as (offsets, values).

        Raises:
            FormatError: the file is damaged.
        """
        pa = arrow()
        try:
            for batch in self._file.iter_batches(rows, columns=columns):
                batch.validate(full=True)
                yield {name: self._values(pa, name, batch.column(name)) for name in columns}
        except (pa.ArrowException, OSError) as error:
            raise FormatError(f"{self._path} is damaged: {one_line(str(error))}") from None

    def _values(self, pa: Any, name: str, column: Any) -> Any:
        if column.null_count:
            raise FormatError(f"{self._path} is damaged: column {name} has nulls")
        if pa.types.is_dictionary(column.type):
            return np.array(column.to_pylist(), object)
        if pa.types.is_fixed_size_list(column.type):
            return column.flatten().to_numpy(zero_copy_only=False).reshape(len(column), -1)
        if pa.types.is_list(column.type):
            offsets = column.offsets.to_numpy()
            return offsets - offsets[0], column.flatten().to_numpy(zero_copy_only=False)
        return column.to_numpy(zero_copy_only=False)
