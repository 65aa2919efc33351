"""A policy trained by `cardenvs.training.ppo`, as an agent.

    agent = load_agent("runs/best/latest.pt")

Its files are described in cardenvs/agents/checkpoint_file.py, and its network in cardenvs/agents/network.py. Needs the
extra `train` (torch).
"""

import copy
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np

from cardenvs.agents.base import Agent, Turn, drawn_index, note_probabilities
from cardenvs.agents.checkpoint_file import check_fits, read_checkpoint, restore_network
from cardenvs.agents.network import Network, log_policy
from cardenvs.core.errors import FormatError, require
from cardenvs.core.files import FilePath
from cardenvs.core.game import Game
from cardenvs.core.options import Options

require("torch", "train")  # names the missing extra, which a plain import would not

import torch  # noqa: E402


class PPOAgent(Agent):
    """Plays the policy of a trained network. Keeps nothing from turn to turn.

    Computes in float64 on one thread, so that its choices do not depend on the batch size or the number of processes.
    In float32, rounding can change which of two nearly equal actions is better.

    Attributes:
        game: name of the game it was trained on.
        sample: whether it draws actions from its policy instead of taking the most likely one.
        threshold: the least probability that an action needs to be drawn; see `log_policy`.
        has_policy: whether the network gives probabilities, and not only values of actions.
        steps: number of training steps.
    """

    def __init__(
        self,
        network: Network,
        checkpoint: dict[str, Any],
        path: FilePath,
        sample: bool = False,
        threshold: float = 0.0,
    ) -> None:
        """Create an agent; see `load_agent`."""
        self.name = f"ppo:{path}"
        self.game, self.steps = checkpoint["game"], checkpoint["steps"]
        self.sample, self.threshold = sample, threshold
        self._network = network.double().eval().requires_grad_(False)
        self._checkpoint, self._path = {key: checkpoint[key] for key in ("game", "options", "layout", "shape")}, path
        self._reading: dict[tuple[str, Options], Options] = {}
        self._reward_scale, self._method = checkpoint["reward_scale"], checkpoint["method"]
        self.has_policy = self._method == "ppo"
        if sample:
            self._check_policy("sample from; leave out sample=true")

    def single_precision(self) -> Self:
        """Return a copy that computes in float32: twice as fast, for estimates of what the agent would do."""
        other = copy.copy(self)
        other._network = copy.deepcopy(self._network).float()
        return other

    def reset(self, seed: int) -> None:
        """Do nothing: all randomness comes from the turns."""

    def act(self, turn: Turn) -> int:
        """Return the action for one turn. If the network has a policy, note the likeliest actions."""
        log_probs = self._log_probs_of([turn])
        if self.has_policy:
            note_probabilities(turn, np.exp(log_probs[0, turn.legal_actions]))
        return self._chosen(log_probs, [turn])[0]

    def probabilities(self, turn: Turn) -> np.ndarray:
        """Return the probabilities of `turn.legal_actions`, float64 (n,). Unless it samples, one of them is 1."""
        log_probs = self._log_probs_of([turn])[0, turn.legal_actions].astype(np.float64)
        if not self.sample:
            return np.equal(np.arange(len(log_probs)), log_probs.argmax()).astype(np.float64)
        probs: np.ndarray = np.exp(log_probs) / np.exp(log_probs).sum()
        return probs

    def act_batch(self, turns: list[Turn]) -> list[int]:
        """Return an action for each turn.

        Raises:
            FormatError: a turn is of a game that the network was not trained on.
        """
        return self._chosen(self._log_probs_of(turns), turns)

    def _log_probs_of(self, turns: list[Turn]) -> np.ndarray:
        seen = [turn.observation_as(self.reads(turn.game, turn.options)) for turn in turns]
        mask = np.stack([turn.action_mask for turn in turns]).astype(np.bool_)
        return self.log_probs(np.stack(seen), mask)

    def _chosen(self, log_probs: np.ndarray, turns: list[Turn]) -> list[int]:
        if not self.sample:
            return list(map(int, log_probs.argmax(-1)))
        return [drawn_index(row, turn.seed) for row, turn in zip(np.exp(log_probs), turns, strict=True)]

    def log_probs(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Return the log-probabilities of all actions, float64 (N, A), -inf for illegal ones.

        Args:
            observation: (N, D), of the game's dtype.
            mask: (N, A), bool or int8.
        """
        with torch.inference_mode(), _one_thread():
            return self._judge(observation, mask)[0].numpy()

    def evaluate(self, observation: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the probabilities of all actions, float64 (N, A), and the expected further returns, float64 (N,).

        Args:
            observation: (N, D), of the game's dtype.
            mask: (N, A), bool or int8, with at least one legal action per row.

        Raises:
            FormatError: the network was trained by a method without a policy.
        """
        self._check_policy("evaluate positions")
        with torch.inference_mode(), _one_thread():
            log_probs, values = self._judge(observation, mask)
            return log_probs.exp().double().numpy(), values.double().numpy() / self._reward_scale

    def _judge(self, observation: np.ndarray, mask: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        """Return log-probabilities (N, A) and values (N,). The network scores legal actions only."""
        allowed = torch.from_numpy(mask.astype(np.bool_, copy=False))
        row, action = allowed.nonzero(as_tuple=True)
        number = allowed.sum(1)
        column = torch.arange(len(row)) - (number.cumsum(0) - number)[row]
        shape = len(allowed), int(number.max()) if len(number) else 0
        legal, listed = torch.zeros(shape, dtype=torch.int64), torch.zeros(shape, dtype=torch.bool)
        legal[row, column], listed[row, column] = action, True
        logits, values = self._network(self._network.features(torch.from_numpy(observation)), legal, listed)
        every = logits.new_zeros(allowed.shape).index_put((row, action), logits[row, column])
        return log_policy(every, allowed, self.threshold), values

    def _check_policy(self, what: str) -> None:
        if not self.has_policy:
            raise FormatError(f"{self._path} was trained by {self._method} and has no policy to {what}")

    def reads(self, game: Game, options: Options) -> Options:
        """Return the options whose observations the network reads where `options` are played; see `Game.as_read`.

        Raises:
            FormatError: it cannot play these.
        """
        if (game.name, options) not in self._reading:
            read = game.as_read(options, self._checkpoint["options"])
            check_fits(self._checkpoint, self._path, game, read)
            self._reading[game.name, options] = read
        return self._reading[game.name, options]


_torch_threads = threading.Lock()  # torch's number of threads belongs to the process


@contextmanager
def _one_thread() -> Iterator[None]:
    """Run torch on one thread: more do not speed up a few rows, and other processes need the cores.

    One network computes at a time, so that no other one puts the number of threads back meanwhile.
    """
    with _torch_threads:
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)


def load_agent(
    path: FilePath,
    game: Game | None = None,
    options: Options | None = None,
    *,
    sample: bool = False,
    threshold: float = 0.0,
) -> PPOAgent:
    """Return the agent of a checkpoint or weights file.

    Args:
        path: path of the checkpoint or weights file.
        game, options: what it is to play; without them, this is checked at the first turn.
        sample: draw actions from the policy instead of taking the most likely one: a mixed strategy, as in poker.
        threshold: the least probability that an action needs to be drawn, 0 to 1.

    Raises:
        FormatError: the file is damaged, or is for another game, version or observation layout.
        OSError: the file cannot be read.
    """
    checkpoint = read_checkpoint(path)
    if game is not None and options is not None:
        check_fits(checkpoint, path, game, game.as_read(options, checkpoint["options"]))
    return PPOAgent(restore_network(checkpoint, path), checkpoint, path, sample, threshold)
