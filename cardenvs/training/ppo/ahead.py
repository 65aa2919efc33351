"""Playing ahead: while the network learns from a rollout, a thread plays the next one with a copy of it.

A GPU that learns and a CPU that plays then work at the same time. What is learnt from was played by the network as it
was one update earlier. PPO compares a policy with the probabilities that actions were played with, so it allows for
this, as for the turns that `Trajectories` carries on. What is played depends on no clock: a run gives the same numbers
whichever of the two is done first.
"""

import copy
import math
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import torch

from cardenvs.agents.network import Network
from cardenvs.agents.ppo import check_model, checked_tensor
from cardenvs.core.errors import FormatError
from cardenvs.training.ppo.collect import Collector
from cardenvs.training.ppo.returns import ReturnScale

State = tuple[dict[str, Any], dict[str, Any]]


class Ahead:
    """Plays one rollout ahead of the learner, whose network it copies before each.

    Attributes:
        player: plays; its network and its generator are its own.
        trajectories, store, returns: the rollout to learn from, copies that `player` does not overwrite.
    """

    def __init__(
        self, player: Callable[[Network, torch.Generator], Collector], network: Network, scale: ReturnScale, seed: int
    ) -> None:
        """Get ready to play with copies of `network`.

        Args:
            player: makes what plays, given its network and its generator.
            network, scale: of the learner.
            seed: of the play.
        """
        device = next(network.parameters()).device
        self._network, self._copy = network, copy.deepcopy(network).requires_grad_(False)
        self._scale = scale
        self._generator = torch.Generator(device).manual_seed(seed)
        self._stream = torch.cuda.Stream(device) if device.type == "cuda" else None
        self._thread = ThreadPoolExecutor(1, "cardenvs-play")
        self.player = player(self._copy, self._generator)
        self.trajectories, self.store = copy.deepcopy(self.player.trajectories), copy.deepcopy(self.player.store)
        self.returns = self.player.returns
        self._factor = 0.0  # of rewards, in which the copy predicts; 0: nothing has been copied yet
        self._played: Future[dict[str, float]] | None = None
        self._state: State | None = None  # before the rollout that is played ahead

    def play(self, teacher: str = "") -> dict[str, float]:
        """Hand over the rollout that has been played ahead, and begin the next one, in which `teacher` is asked.

        All but `trajectories`, `store` and `returns` is in use until `wait`.

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

    def wait(self) -> None:
        """Wait for the rollout that is played ahead."""
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
        with torch.cuda.stream(self._stream):  # without one, this does nothing
            metrics = self.player.play(teacher)
        if self._stream is not None:
            self._stream.synchronize()
        return metrics

    def _hand_over(self) -> None:
        """Copy what was played, values being brought to the present scale of rewards."""
        ratio = self._scale.factor / self._factor
        self.player.store.value *= ratio
        self.player.trajectories.end_value *= ratio
        self.trajectories = copy.deepcopy(self.player.trajectories)
        self.store.take(self.player.store)
        self.returns = self.player.returns

    def _present_state(self) -> State:
        network = {name: value.clone() for name, value in self._copy.state_dict().items()}
        state = {"network": network, "generator": self._generator.get_state(), "factor": self._factor}
        return self.player.get_state(), state

    def get_state(self) -> State:
        """Return what `set_state` takes, from before the rollout that is played ahead: it is then played again."""
        return self._state or self._present_state()

    def set_state(self, player: dict[str, Any], state: dict[str, Any]) -> None:
        """Go on from `get_state`: the state of the player, and what else there is.

        Raises:
            FormatError: it is not what `get_state` gives.
        """
        if not 0 <= state["factor"] < math.inf:
            raise FormatError(f"ahead.factor is {state['factor']}")
        check_model(state["network"], self._copy.shape)
        size = self._generator.get_state().shape
        self._generator.set_state(checked_tensor(state["generator"], "ahead.generator", size, torch.uint8))
        self._copy.load_state_dict(state["network"])
        self.player.set_state(player)
        self._factor, self._state, self._played = state["factor"], None, None
