"""Beginning and resuming runs."""

import functools
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cardenvs.agents.checkpoint_file import check_fits, read_checkpoint
from cardenvs.core.errors import OptionError
from cardenvs.core.game import Game
from cardenvs.core.registry import get_game
from cardenvs.training.config import NETWORK_SETTINGS, Config, config_for
from cardenvs.training.folder import RunFolder
from cardenvs.training.limits import Limits
from cardenvs.training.ppo.devices import torch_threads, usable_device
from cardenvs.training.ppo.loop import Loop, OnUpdate
from cardenvs.training.ppo.opponents import Opponent
from cardenvs.training.ppo.processes import Processes, joined
from cardenvs.training.ppo.run import Run
from cardenvs.training.torchrun import local_rank


def train(
    game: str | Game | None = None,
    config: Config | None = None,
    *,
    out: str | Path | None = None,
    overwrite: bool = False,
    total_steps: float | None = None,
    seconds: float | None = None,
    init: str | Path | None = None,
    opponent: Opponent | None = None,
    device: str = "auto",
    threads: int = 0,
    show: bool = True,
    on_update: OnUpdate | None = None,
) -> Path:
    """Train a policy.

    In processes that torchrun started, each does its share, and only the first one prints and writes files.

    Args:
        game: its name or the Game; None: the one that the config names.
        config: settings; None: those for the game in `configs/`.
        out: folder for the checkpoint, metrics and TensorBoard events; None: a new one in `runs/`.
        overwrite: replace a run that `out` holds.
        total_steps: how many steps to train for; without either limit, config.total_steps.
        seconds: how long to train; see `Limits`.
        init: a checkpoint or weights to start with; the network gets their shape, whatever the config says.
        opponent: plays all seats but the learner's; the config names it as `opponent`.
        device: "cpu", "cuda", or "auto".
        threads: threads of torch and of the games; 0: one per core, up to MOST_THREADS, shared among the processes of
            a machine.
        show: print progress to stderr.
        on_update: called with the metrics of each update. If it raises KeyboardInterrupt, the run ends as after Ctrl-C.

    Returns:
        the path of the checkpoint.

    Raises:
        KeyboardInterrupt: after Ctrl-C, once the current update is finished and the checkpoint is written. A second
            Ctrl-C stops at once, as does one during the final evaluation, which resuming repeats.
        GameNotFoundError, OptionError, FormatError: the game, a setting or a file is not valid.
        FileError: another process trains in the folder.
    """
    limits = Limits(total_steps, seconds)
    session = _Session(usable_device(device), threads, show, on_update)
    game, config = _game_and_config(game, config)
    limits = limits or Limits(config.total_steps)
    folder = RunFolder.named(out, game.name)
    new = functools.partial(_new_run, game, config, limits, session.device, init=init, opponent=opponent)
    return _work(new, folder, session, overwrite)


def resume(
    checkpoint: str | Path,
    *,
    out: str | Path | None = None,
    overwrite: bool = False,
    total_steps: float | None = None,
    seconds: float | None = None,
    opponent: Opponent | None = None,
    device: str = "auto",
    threads: int = 0,
    show: bool = True,
    on_update: OnUpdate | None = None,
) -> Path:
    """Resume a run, to the numbers that an uninterrupted run would have given.

    Args:
        checkpoint: the file to resume from, which says game, settings and limits.
        out: folder for the files; None: that of the checkpoint.
        overwrite: replace another run that `out` holds.
        total_steps, seconds: other limits, if one is given.
        opponent, device, threads, show, on_update: as for `train`.

    Returns:
        the path of the checkpoint.

    Raises:
        FileNotFoundError: there is no checkpoint.
        KeyboardInterrupt, OptionError, FormatError, FileError: as for `train`.
    """
    limits = Limits(total_steps, seconds)
    session = _Session(usable_device(device), threads, show, on_update)
    path = Path(checkpoint)
    path.stat()  # raises OSError before a folder is created
    folder = RunFolder(path.parent if out is None else out)

    def restored(processes: Processes) -> Run:
        run = Run.restore(path, session.device, opponent=opponent, processes=processes)
        run.limits = limits or run.limits
        return run

    same = folder.checkpoint.exists() and folder.checkpoint.samefile(path)
    return _work(restored, folder, session, overwrite, keep=same)


@dataclass(frozen=True)
class _Session:
    """How a run computes and reports, which does not affect its results; see `train`."""

    device: str
    threads: int
    show: bool
    on_update: OnUpdate | None


def _work(
    make: Callable[[Processes], Run], folder: RunFolder, session: _Session, overwrite: bool, keep: bool = False
) -> Path:
    """Make a run and work on it to its end, in its folder, whose files stay with `keep`. Returns the checkpoint."""
    with (
        torch_threads(session.threads),
        joined(session.device) as processes,
        folder.locked() if processes.is_first else nullcontext(),
    ):
        folder.check_free(overwrite or keep)
        run = _compiled(functools.partial(make, processes), processes)
        if processes.is_first:
            if not keep:
                folder.clear()
            elif run.fraction() < 1:
                folder.result.unlink(missing_ok=True)  # it is that of an earlier policy
        return Loop(run, folder, session.show and processes.is_first, session.on_update).run()


def _compiled(make: Callable[[], Run], processes: Processes) -> Run:
    """Make a run and compile its game, first in one process of each machine, whose result the others load."""
    if local_rank():
        processes.wait()
    try:
        run = make()
        run.games.compile(run.evaluator.policies)
    finally:  # an error is the same in all processes, so none waits for ever
        if not local_rank():
            processes.wait()
    return run


def _game_and_config(game: str | Game | None, config: Config | None) -> tuple[Game, Config]:
    """Return the game and the settings of a new run."""
    if game is None:
        if config is None or not config.game:
            raise OptionError("which game? name one, or give a config that does")
        game = config.game
    game = get_game(game) if isinstance(game, str) else game
    config = config_for(game.name) if config is None else config
    if config.game not in ("", game.name):
        raise OptionError(f"these settings are for {config.game}, not for {game.name}")
    return game, config


def _new_run(
    game: Game,
    config: Config,
    limits: Limits,
    device: str,
    processes: Processes,
    *,
    init: str | Path | None,
    opponent: Opponent | None,
) -> Run:
    start = None
    if init is not None:
        start = read_checkpoint(init)
        check_fits(start, init, game, game.make_options(**config.options))
        if start["method"] != config.method:
            raise OptionError(
                f"{init} was trained with method={start['method']}, whose outputs mean something else; start with a "
                f"network of method={config.method}, or train with --set method={start['method']}"
            )
        config = shaped_like(config, start)
    return Run(game, config, limits, device, opponent=opponent, start=start, processes=processes)


def shaped_like(config: Config, checkpoint: dict[str, Any]) -> Config:
    """Return settings for a network of the same shape as that of a checkpoint."""
    shape = {name: checkpoint["shape"][name] for name in NETWORK_SETTINGS}
    return config.changed(shape | {"action_features": shape["action_features"] > 0})
