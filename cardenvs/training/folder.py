"""The folder of a run: its lock, its files and its metrics."""

import json
import math
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Self

from cardenvs.core.errors import OptionError
from cardenvs.core.files import locked_folder, naming, write_json, write_whole

CHECKPOINT, METRICS_FILE, EVALUATION_FILE = "latest.pt", "metrics.jsonl", "evaluation.json"
POLICY_FILE = "latest.policy"  # of `cardenvs solve`
CLONE_FILE, EXPLOIT_FILE = "clone.json", "exploit.json"


class RunFolder:
    """A folder that holds one run.

    Attributes:
        path: the folder.
        checkpoint: the file that the run resumes from.
        metrics: a JSON object per line, one for each update or evaluation.
        result: the final result.
    """

    def __init__(self, path: str | Path, checkpoint: str = CHECKPOINT, result: str = EVALUATION_FILE) -> None:
        """Name the files. Nothing is created."""
        self.path = Path(path)
        self.checkpoint, self.metrics, self.result = (self.path / name for name in (checkpoint, METRICS_FILE, result))

    @classmethod
    def named(cls, path: str | Path | None, name: str, **files: str) -> Self:
        """Return the folder at `path`; None: a new one in `runs/`, called after `name` and the time."""
        return cls(Path("runs") / time.strftime(f"{name}-%Y%m%d-%H%M%S") if path is None else path, **files)

    def locked(self) -> AbstractContextManager[None]:
        """Create the folder and keep other processes out of it. Raises FileError if another process works in it."""
        return locked_folder(self.path)

    def check_free(self, overwrite: bool) -> None:
        """Check that a run may begin here.

        Raises:
            OptionError: the folder holds a run that must not be overwritten.
        """
        held = [name for name in (CHECKPOINT, POLICY_FILE) if (self.path / name).exists()]
        if held and not overwrite:
            other = "" if held == [self.checkpoint.name] else f" of another command ({held[0]})"
            raise OptionError(f"{self.path} holds a run{other}; resume it, choose another folder or overwrite it")

    def clear(self) -> None:
        """Remove the files of an earlier run, also of another command."""
        results = (EVALUATION_FILE, CLONE_FILE, EXPLOIT_FILE)
        for pattern in (CHECKPOINT, POLICY_FILE, METRICS_FILE, *results, "events.out.tfevents.*"):
            for path in self.path.glob(pattern):
                path.unlink()

    def write_result(self, result: dict[str, Any]) -> None:
        """Write the final result as JSON."""
        write_json(self.result, result)


def append_metrics(path: Path, metrics: dict[str, float]) -> None:
    """Append a line to a metrics file; NaN and infinity become null."""
    finite = {name: value if math.isfinite(value) else None for name, value in metrics.items()}
    with naming(path), path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(finite) + "\n")


def cut_metrics(path: Path, unit: str, most: int) -> None:
    """Drop the lines of a metrics file beyond `most` of `unit`, and an unfinished last line that a kill left."""
    if not path.exists():
        return
    before = path.read_text(encoding="utf-8")
    kept = "".join(line for line in before.splitlines(keepends=True) if _is_up_to(line, unit, most))
    if kept != before:
        write_whole(path, kept)


def _is_up_to(line: str, unit: str, most: int) -> bool:
    try:
        return line.endswith("\n") and bool(json.loads(line)[unit] <= most)
    except (ValueError, KeyError, TypeError):
        return False


class Logs:
    """Metrics of a run, written to metrics.jsonl and, where it is installed, to TensorBoard."""

    def __init__(self, folder: Path, steps: int) -> None:
        """Start to log after `steps`. Later metrics are dropped, because the run repeats those steps."""
        try:
            from torch.utils.tensorboard import SummaryWriter

            self._writer: Any = SummaryWriter(str(folder), purge_step=steps + 1 if steps else None)
        except ImportError:
            self._writer = None
        self._path = folder / METRICS_FILE
        cut_metrics(self._path, "steps", steps)

    def write(self, metrics: dict[str, float]) -> None:
        """Write the metrics of one update."""
        append_metrics(self._path, metrics)
        if self._writer is not None:
            for name, value in metrics.items():
                self._writer.add_scalar(name, value, int(metrics["steps"]))

    def close(self) -> None:
        """Close TensorBoard's file."""
        if self._writer is not None:
            self._writer.close()
