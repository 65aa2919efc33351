"""Behaviour cloning: a network learns to act like an agent from its recorded decisions (D. Pomerleau 1991).

    decisions = Decisions.of_store(Path("games.db"), get_game("leduc_poker_v0"), ["search"], most=100_000)
    path = clone(decisions, Config(hidden=(64,)), "runs/clone")

The policy is trained by cross-entropy over the legal actions, and the value on the returns that followed, so that PPO
can start from the network. The deals are split in three: for learning, for deciding when to stop, and for the report.
"""

import copy
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from cardenvs.agents.checkpoint_file import check_model, checked_fields, read_checkpoint, write_checkpoint
from cardenvs.agents.network import Network, log_policy
from cardenvs.core.checks import short
from cardenvs.core.errors import FormatError, OptionError
from cardenvs.core.rng import derived_seed
from cardenvs.training.config import NETWORK_SETTINGS, Config
from cardenvs.training.decisions import Decisions
from cardenvs.training.folder import CLONE_FILE, Logs, RunFolder
from cardenvs.training.ppo.saved import restore_moments

_EVALUATED_TOGETHER = 8192
_VALUE_WEIGHT = 0.25
_MOST_NORM = 1.0
_STATE_FIELDS: dict[str, Any] = {
    "settings": dict, "digest": str, "epoch": int, "waited": int, "best": float, "model": dict, "optimizer": dict,
}  # fmt: skip


@dataclass(frozen=True)
class CloneSettings:
    """How to clone.

    Attributes:
        epochs: passes over the data at most.
        patience: stop after this many epochs without a better likelihood on the stopping deals.
        batch: decisions per optimiser step.
        lr: learning rate of Adam.
        held_out: share of the deals for stopping; as many again are for the report.
    """

    epochs: int = 100
    patience: int = 5
    batch: int = 512
    lr: float = 1e-3
    held_out: float = 0.1

    def __post_init__(self) -> None:
        """Check the fields.

        Raises:
            OptionError: a field is out of range.
        """
        if min(self.epochs, self.patience, self.batch) < 1:
            raise OptionError("epochs, patience and batch must be at least 1")
        if not 0 < self.lr <= 1 or not 0 < self.held_out <= 0.4:
            raise OptionError(
                "lr must be above 0 and at most 1, held_out above 0 and at most 0.4; "
                f"got {self.lr:g} and {self.held_out:g}"
            )


@dataclass(frozen=True)
class Agreement:
    """How well a network predicts decisions with more than one legal action.

    Attributes:
        accuracy: share of decisions in which the most likely action was the agent's.
        log_likelihood: mean log-probability of the agent's action, in nats.
        uniform: the same for uniform random play.
        decisions: number of decisions.
    """

    accuracy: float
    log_likelihood: float
    uniform: float
    decisions: int

    def __str__(self) -> str:
        return f"{self.accuracy:.1%} agreement, log-likelihood {self.log_likelihood:.4f} (uniform {self.uniform:.4f})"


@dataclass(frozen=True)
class Progress:
    """An epoch: its number, from 1, the mean loss, and the agreement on the stopping deals."""

    epoch: int
    loss: float
    stopping: Agreement


class _Data:
    """Decisions as tensors, split by deal."""

    def __init__(self, decisions: Decisions, held_out: float, seed: int) -> None:
        deals = np.unique(decisions.deal)
        number = max(1, round(held_out * len(deals)))
        if len(deals) < 2 * number + 1:
            raise OptionError(f"cloning needs at least 3 deals, since some are held out; there are {len(deals)}")
        deals = np.random.default_rng(derived_seed(seed, "held-out deals")).permutation(deals)
        split = {"stopping": deals[:number], "report": deals[number : 2 * number], "learning": deals[2 * number :]}
        self.rows = {
            name: torch.from_numpy(np.flatnonzero(np.isin(decisions.deal, part))) for name, part in split.items()
        }
        self.observation = torch.from_numpy(decisions.observation)
        self.listed = torch.from_numpy(decisions.legal >= 0)
        self.legal = torch.from_numpy(np.maximum(decisions.legal, 0))
        self.choice = torch.from_numpy((decisions.legal == decisions.action[:, None]).argmax(1))
        self.has_choice = self.listed.sum(1) > 1
        squares = float(np.square(decisions.returns[self.rows["learning"].numpy()], dtype=np.float64).mean())
        self.reward_scale = 1 / math.sqrt(squares) if squares > 0 else 1.0
        self.returns = torch.from_numpy(decisions.returns) * self.reward_scale


class Cloning:
    """A run between two epochs.

    Attributes:
        network: the network that learns.
        best: its weights after the best epoch so far.
        epoch: number of epochs done.
    """

    def __init__(self, decisions: Decisions, config: Config, settings: CloneSettings) -> None:
        """Create a run that has not begun.

        Raises:
            OptionError: there are too few deals.
        """
        self.decisions, self.config, self.settings = decisions, config, settings
        self._data = _Data(decisions, settings.held_out, config.seed)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            self.network = Network.for_game(decisions.game, decisions.options, **config.network())
        self._optimizer = torch.optim.Adam(self.network.parameters(), lr=settings.lr)
        self.best = copy.deepcopy(self.network.state_dict())
        self.epoch, self._waited, self._best_score = 0, 0, -math.inf
        self._digest = decisions.digest

    @property
    def is_over(self) -> bool:
        """Whether the likelihood has stopped rising, or all epochs are done."""
        return self.epoch >= self.settings.epochs or self._waited >= self.settings.patience

    def advance(self, on_step: Callable[[int, int], None] = lambda done, total: None) -> Progress:
        """Learn for an epoch. `on_step` is called with the number of decisions done and their total."""
        data, rows = self._data, self._data.rows["learning"]
        generator = torch.Generator().manual_seed(derived_seed(self.config.seed, "epoch", self.epoch))
        order, losses = rows[torch.randperm(len(rows), generator=generator)], []
        for start in range(0, len(order), self.settings.batch):
            part = order[start : start + self.settings.batch]
            losses.append(self._step(data, part) * len(part))
            on_step(start + len(part), len(order))
        self.epoch += 1
        found = self.agreement("stopping")
        if found.log_likelihood > self._best_score:
            self._best_score, self._waited = found.log_likelihood, 0
            self.best = copy.deepcopy(self.network.state_dict())
        else:
            self._waited += 1
        return Progress(self.epoch, sum(losses) / len(order), found)

    def _step(self, data: _Data, rows: Tensor) -> float:
        logits, value = self.network(self.network.features(data.observation[rows]), data.legal[rows].long())
        log_probs = log_policy(logits, data.listed[rows]).gather(1, data.choice[rows, None])
        loss = -log_probs.mean() + _VALUE_WEIGHT * (value - data.returns[rows]).square().mean()
        self._optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), _MOST_NORM)
        self._optimizer.step()
        return float(loss.detach())

    @torch.inference_mode()
    def agreement(self, part: str, best: bool = False) -> Agreement:
        """Return how well the network, or its best state, predicts the decisions of a part of the deals.

        Args:
            part: "learning", "stopping" or "report".
            best: whether to use the best weights.
        """
        data = self._data
        network = self.network
        if best:
            network = copy.deepcopy(network)
            network.load_state_dict(self.best)
        rows = data.rows[part]
        rows = rows[data.has_choice[rows]]
        right, log_likelihood, uniform = 0, 0.0, 0.0
        for some in rows.split(_EVALUATED_TOGETHER):
            listed = data.listed[some]
            logits, _ = network(network.features(data.observation[some]), data.legal[some].long())
            log_probs = log_policy(logits, listed)
            right += int((log_probs.argmax(1) == data.choice[some]).sum())
            log_likelihood += float(log_probs.gather(1, data.choice[some, None]).double().sum())
            uniform -= float(listed.sum(1).double().log().sum())
        count = max(1, len(rows))
        return Agreement(right / count, log_likelihood / count, uniform / count, len(rows))

    def save(self, path: Path) -> None:
        """Write a checkpoint with the best weights, which plays as `ppo:PATH`, and everything needed to resume."""
        decisions = self.decisions
        state = {
            "settings": asdict(self.settings), "digest": self._digest, "epoch": self.epoch, "waited": self._waited,
            "best": self._best_score, "model": self.network.state_dict(), "optimizer": self._optimizer.state_dict(),
        }  # fmt: skip
        more = {"config": self.config.as_dict(), "cloning": state}
        steps, scale = self.epoch * len(self._data.rows["learning"]), self._data.reward_scale
        write_checkpoint(path, decisions.game, decisions.options, self.network.shape, self.best, steps, scale, more)

    def restore(self, path: Path) -> None:
        """Resume from a checkpoint.

        Raises:
            FormatError: the checkpoint is damaged, or not that of a clone.
            OptionError: it was made from other data or with other settings.
        """
        checkpoint = read_checkpoint(path)
        state = checked_fields(checkpoint.get("cloning"), _STATE_FIELDS, f"{path}: the state of cloning")
        kept = (*NETWORK_SETTINGS, "seed")
        before, now = checkpoint.get("config"), self.config.as_dict()
        settings = {**asdict(self.settings), "epochs": state["settings"].get("epochs")}
        if not isinstance(before, dict) or any(before.get(name) != now[name] for name in kept):
            raise OptionError(f"{path} was made with another network or seed; choose another folder")
        if state["settings"] != settings or state["digest"] != self._digest:
            raise OptionError(f"{path} was made from other decisions or with other settings; choose another folder")
        try:
            check_model(state["model"], self.network.shape)
            check_model(checkpoint["model"], self.network.shape)
            restore_moments(self._optimizer, list(self.network.parameters()), state["optimizer"])
        except FormatError as error:
            raise FormatError(f"{path} cannot be resumed: {error}") from None
        if state["epoch"] < 0 or state["waited"] < 0 or math.isnan(state["best"]):
            raise FormatError(f"{path} cannot be resumed: its state is out of range, in epoch {short(state['epoch'])}")
        self.network.load_state_dict(state["model"])
        self.best = copy.deepcopy(checkpoint["model"])
        self.epoch, self._waited, self._best_score = state["epoch"], state["waited"], state["best"]


def clone(
    decisions: Decisions,
    config: Config,
    out: str | Path,
    settings: CloneSettings | None = None,
    *,
    resume: bool = False,
    overwrite: bool = False,
    on_step: Callable[[int, int], None] = lambda done, total: None,
    on_epoch: Callable[[Progress], bool | None] = lambda progress: None,
) -> tuple[Path, Agreement]:
    """Clone an agent.

    Args:
        decisions: decisions of the agent.
        config: shape of the network (NetworkSettings) and the seed.
        out: folder for the checkpoint, metrics.jsonl and clone.json.
        settings: how to learn.
        resume: resume the run in the folder, if it holds one, to the numbers of an uninterrupted run.
        overwrite: replace a run that the folder holds.
        on_step: called in each epoch with the number of decisions done and their total.
        on_epoch: called after each epoch; if it returns False, the run stops and can be resumed.

    Returns:
        the path of the checkpoint, and the agreement on deals that were not used for learning or stopping.

    Raises:
        OptionError: too few deals, or the folder holds a run.
        FormatError: the run in the folder is damaged.
        FileError: another process works in the folder.
        KeyboardInterrupt: on_epoch returned False.
    """
    folder, run = RunFolder(out, result=CLONE_FILE), Cloning(decisions, config, settings or CloneSettings())
    with folder.locked():
        folder.check_free(resume or overwrite)
        if resume and folder.checkpoint.exists():
            run.restore(folder.checkpoint)
        else:
            folder.clear()
        return folder.checkpoint, _clone_in(folder, run, on_step, on_epoch)


def _clone_in(
    folder: RunFolder, run: Cloning, on_step: Callable[[int, int], None], on_epoch: Callable[[Progress], bool | None]
) -> Agreement:
    """Work on a run to its end, in its folder."""
    per_epoch = len(run._data.rows["learning"])
    logs = Logs(folder.path, run.epoch * per_epoch)
    try:
        while not run.is_over:
            progress = run.advance(on_step)
            logs.write(
                {
                    "steps": progress.epoch * per_epoch,
                    "updates": progress.epoch,
                    "loss/clone": progress.loss,
                    "clone/accuracy": progress.stopping.accuracy,
                    "clone/log_likelihood": progress.stopping.log_likelihood,
                }
            )
            run.save(folder.checkpoint)
            if on_epoch(progress) is False:
                raise KeyboardInterrupt
    finally:
        logs.close()
    found = run.agreement("report", best=True)
    about = {"game": run.decisions.game.name, "epochs": run.epoch, "learnt_from": len(run.decisions)}
    folder.write_result({**about, **asdict(found)})
    return found
