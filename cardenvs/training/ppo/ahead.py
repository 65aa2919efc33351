"""Playing ahead: while the network learns from a rollout, a thread plays the next one with a copy of it.

This keeps a GPU that learns and a CPU that plays busy at the same time. Each rollout was played by the network as it
was one update earlier. PPO compares a policy with the probabilities that actions were played with, so it allows for
this, as for the turns that `Trajectories` carries over. Play depends on no clock: a run gives the same numbers whether
playing or learning finishes first.
"""

import copy
import math
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import torch

from cardenvs.agents.checkpoint_file import check_model, checked_tensor
from cardenvs.agents.network import Network
from cardenvs.core.errors import FormatError
from cardenvs.core.rng import derived_seed
from cardenvs.training.ppo.collect import Collector
from cardenvs.training.ppo.processes import Context
from cardenvs.training.ppo.returns import ReturnScale
from cardenvs.training.progress import Stopwatch


class Ahead:
    """Plays one rollout ahead of the learner, with a copy of the network made before each rollout.

    Attributes:
        player: plays, with its own network and generator.
        trajectories, store, returns: the rollout to learn from, copies that `player` does not overwrite.
    """

    def __init__(
        self, make_player: Callable[[Network, Context], Collector], network: Network, scale: ReturnScale,
        context: Context,
    ) -> None:  # fmt: skip
        """Prepare to play with copies of the learner's network and scale; `make_player` makes the player."""
        device = context.generator.device
        self._network, self._copy = network, copy.deepcopy(network).requires_grad_(False)
        self._scale = scale
        self._generator = torch.Generator(device).manual_seed(derived_seed(context.config.seed, "play ahead"))
        self._stream = torch.cuda.Stream(device) if device.type == "cuda" else None
        self._thread = ThreadPoolExecutor(1, "cardenvs-play")
        self.player = make_player(self._copy, replace(context, generator=self._generator, watch=Stopwatch()))
        self.trajectories, self.store = copy.deepcopy(self.player.trajectories), copy.deepcopy(self.player.store)
        self.returns = self.player.returns
        self._factor = 0.0  # the scale of rewards in which the copy predicts; 0: there has been no copy yet
        self._played: Future[dict[str, float]] | None = None
        self._state: dict[str, Any] | None = None  # before the rollout that is played ahead

    def play(self, teacher: str = "") -> dict[str, float]:
        """Hand over the rollout that was played ahead, and start the next one, in which `teacher` advises.

        Until `wait` returns, only `trajectories`, `store` and `returns` may be used.

        Returns:
            metrics of the rollout handed over.
        """
        if not self._factor:
            self._copy_network()
        metrics = (self._played or self._begin(teacher)).result()
        self._hand_over()
        self._copy_network()
        self._begin(teacher)
        return metrics

    def catch_up(self, teacher: str) -> None:
        """Play the rollout again that was played ahead when the run was saved, before its opponents change."""
        if self._factor and self._played is None:
            self._begin(teacher).result()

    def wait(self) -> None:
        """Wait until the rollout that is played ahead is complete."""
        if self._played is not None:
            self._played.result()

    def _copy_network(self) -> None:
        self._copy.load_state_dict(self._network.state_dict())
        self._factor = self._scale.factor

    def _begin(self, teacher: str) -> Future[dict[str, float]]:
        """Play a rollout in the thread, and keep the state before it for checkpoints."""
        self._state = self._present_state()
        if self._stream is not None:
            self._stream.wait_stream(torch.cuda.current_stream())
        self._played = self._thread.submit(self._play, teacher)
        return self._played

    def _play(self, teacher: str) -> dict[str, float]:
        with torch.cuda.stream(self._stream):  # does nothing without a stream
            metrics = self.player.play(teacher)
        if self._stream is not None:
            self._stream.synchronize()
        return metrics

    def _hand_over(self) -> None:
        """Copy the rollout, and bring its values to the present scale of rewards."""
        ratio = self._scale.factor / self._factor
        self.player.store.value *= ratio
        self.player.trajectories.end_value *= ratio
        self.trajectories = copy.deepcopy(self.player.trajectories)
        self.store.take(self.player.store)
        self.returns = self.player.returns

    def _present_state(self) -> dict[str, Any]:
        network = {name: value.clone() for name, value in self._copy.state_dict().items()}
        ahead = {"network": network, "generator": self._generator.get_state(), "factor": self._factor}
        return {**self.player.get_state(), "ahead": ahead}

    def get_state(self) -> dict[str, Any]:
        """Return the state before the rollout that is played ahead, which is played again after `set_state`."""
        return self._state or self._present_state()

    def set_state(self, state: dict[str, Any]) -> None:
        """Continue from a state of `get_state`. Raises FormatError if the state does not fit."""
        ahead = state["ahead"]
        if not 0 <= ahead["factor"] < math.inf:
            raise FormatError(f"ahead.factor is {ahead['factor']}")
        check_model(ahead["network"], self._copy.shape)
        size = self._generator.get_state().shape
        self._generator.set_state(checked_tensor(ahead["generator"], "ahead.generator", size, torch.uint8))
        self._copy.load_state_dict(ahead["network"])
        self.player.set_state(state)
        self._factor, self._state, self._played = ahead["factor"], None, None
