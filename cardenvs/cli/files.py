"""Files that commands read and write. Bad paths are refused before the work starts, and results are never lost."""

import itertools
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import typer

from cardenvs.cli.exit_codes import EXIT_REFUSED
from cardenvs.core.errors import ArenaError, FileError
from cardenvs.core.files import check_input, check_output, check_output_folder

_BESIDE_A_STORE = ("", "-wal", "-shm", "-journal")


def input_file(path: Path | None) -> Path | None:
    """Check a file to read; a callback for parameters."""
    if path is not None:
        check_input(path)
    return path


class Outputs:
    """The files that a command writes at its end."""

    def __init__(
        self,
        files: Mapping[str, Path | None],
        folders: Mapping[str, Path | None] | None = None,
        *,
        used: Mapping[str, Path | None] | None = None,
    ) -> None:
        """Check the paths, given by option or argument; None: not wanted.

        `used` are files that the command reads or keeps open, such as its store.

        Raises:
            FileError: a path cannot be written.
            ArenaError: two paths are the same, or one is a file that the command uses.
        """
        self._failed = False
        wanted = [(name, path, check_output) for name, path in files.items() if path is not None]
        wanted += [(name, path, check_output_folder) for name, path in (folders or {}).items() if path is not None]
        for _, path, check in wanted:
            check(path)
        written = [(name, path) for name, path, _ in wanted]
        for (name, path), (other, another) in itertools.combinations(written, 2):
            if _same(path, another):
                raise ArenaError(f"{name} and {other} would both write {path}; give them different paths")
        for (name, path), (other, kept) in itertools.product(written, (used or {}).items()):
            if kept is not None and any(_same(path, Path(f"{kept}{ending}")) for ending in _BESIDE_A_STORE):
                raise ArenaError(f"{name} would overwrite {path}, which {other} uses; give it another path")

    def write(self, what: str, path: Path | None, write: Callable[[Path], object]) -> None:
        """Write a file or folder, if it is wanted, and print `what` and its path. If the path fails, write it
        elsewhere.

        If `write` returns something, that is printed instead of the path.
        """
        if path is None:
            return
        try:
            shown = write(path)
        except OSError as error:
            self._failed = True
            kept = _kept_elsewhere(path, write)
            reason = str(error) if isinstance(error, FileError) else error.strerror or str(error)
            where = (
                f"it is in {kept} instead"
                if kept
                else "it could not be written anywhere else either; only the printed output is left"
            )
            typer.secho(f"Error: cannot write {path} ({reason}): {where}", fg="red", err=True)
        else:
            typer.echo(f"{what}: {shown or path}")

    def close(self) -> None:
        """Exit with an error code if a file could not be written to its path."""
        if self._failed:
            raise typer.Exit(EXIT_REFUSED)


def _kept_elsewhere(path: Path, write: Callable[[Path], object]) -> Path | None:
    """Write a result beside its path or to a temporary folder. Returns the path, or None if both fail."""
    beside = path.with_name(f"{path.stem}-{os.getpid()}{path.suffix}")
    for is_beside in (True, False):
        try:
            kept = beside if is_beside else Path(tempfile.mkdtemp(prefix="cardenvs-")) / path.name
            write(kept)
        except OSError:
            continue
        return kept
    return None


def _same(one: Path, two: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(two)
