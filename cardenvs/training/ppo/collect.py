"""Playing: batches of games, and the transitions of all their players."""

import copy
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from cardenvs.agents.ppo import (
    Network,
    checked_tensor,
    log_policy,
)
from cardenvs.core.errors import FormatError
from cardenvs.envs.batch import Batch
from cardenvs.envs.vector import VectorEnv
from cardenvs.training.config import Config
from cardenvs.training.ppo.trajectories import RolloutBuffer, Trajectories, as_arrays, as_tensors
from cardenvs.training.progress import Stopwatch


def is_listed(legal: Tensor, num_legal: Tensor) -> Tensor:
    """(N, L) bool: whether an entry of the lists `legal` (N, L) is among the first num_legal (N,) of its row."""
    return torch.arange(legal.shape[1], device=legal.device) < num_legal.unsqueeze(1)


def columns(batch: Batch, rows: slice | np.ndarray = slice(None)) -> Tensor:
    """Legal lists of a batch as columns to gather: what is behind their ends, -1, would be none."""
    assert batch.legal_actions is not None  # the batch was made with legal_lists=True
    return torch.from_numpy(np.maximum(batch.legal_actions[rows], 0))


def sample(log_probs: Tensor, generator: torch.Generator) -> Tensor:
    """Draw an entry a row by the Gumbel trick: the argmax of log p - log(-log u), u uniform.

    Args:
        log_probs: (N, K), -inf for what must not be drawn.
        generator: of the same device.

    Returns:
        (N,) int64.
    """
    u = torch.rand(log_probs.shape, generator=generator, device=log_probs.device)
    u.clamp_(torch.finfo(u.dtype).tiny, 1 - torch.finfo(u.dtype).eps / 2)  # at 0 and 1 the noise would not be finite
    return (log_probs - u.log_().neg_().log_()).argmax(-1)


class Pool:
    """Past selves of the network, oldest first, of which one at a time is the opponent."""

    def __init__(self, network: Network, size: int) -> None:
        """Create a pool of at most `size` past selves, the present one first."""
        self._size = size
        self.selves: list[Tensor] = []  # each all parameters as one vector
        self.opponent = copy.deepcopy(network).requires_grad_(False)
        self.add(network)
        self.choose(0)

    def add(self, network: Network) -> None:
        """Keep a copy of the present network; the oldest self goes when there are too many."""
        self.selves.append(nn.utils.parameters_to_vector(network.parameters()).detach().clone())
        del self.selves[: -self._size]

    def choose(self, number: int) -> None:
        """Make self number `number` the opponent."""
        nn.utils.vector_to_parameters(self.selves[number], self.opponent.parameters())


class Collector:
    """Plays N games with the network, a share of them against a past self, and stores the transitions.

    In the last `pool_share` of the games one player, of number i modulo the number of players in environment i, is the
    learner and the others are played by the pool's opponent, whose transitions are not learnt from. In all the other
    games every player is the learner. A new opponent is drawn for each rollout, so it may change within a game.

    Attributes:
        vec: the games.
        trajectories, store: the transitions of the present rollout.
    """

    def __init__(
        self, vec: VectorEnv, network: Network, config: Config, generator: torch.Generator, watch: Stopwatch
    ) -> None:
        """Create a player of the games in `vec`, which have been reset."""
        self.vec, self._network, self._config, self._generator, self._watch = vec, network, config, generator, watch
        self.device = next(network.parameters()).device
        self.trajectories = Trajectories(vec.num_envs, vec.num_players, config.rollout_steps)
        self.store = RolloutBuffer(self.trajectories.num_slots, vec, self.device)
        self.pool = Pool(network, config.pool_size)
        self._observation = torch.from_numpy(vec.batch.observation)  # a view: the batch is overwritten in place
        in_pool = np.arange(vec.num_envs) >= vec.num_envs - round(config.pool_share * vec.num_envs)
        self._learner = np.where(in_pool, np.arange(vec.num_envs) % vec.num_players, -1)  # -1: every player

    @torch.inference_mode()
    def play(self) -> dict[str, float]:
        """Play a rollout from where the last one stopped. Returns metrics."""
        tally = _Tally()
        with self._watch("trajectories"):
            source, target = self.trajectories.carry()
            self.store.move(self._slots(source), self._slots(target))
        self.pool.choose(int(torch.randint(len(self.pool.selves), (), generator=self._generator, device=self.device)))
        for step in range(self._config.rollout_steps):
            rows, players = self.trajectories.rows(step), self.vec.batch.current_player
            learning = (self._learner < 0) | (players == self._learner)
            actions = self._act(rows, learning)
            with self._watch("trajectories"):
                self.trajectories.act(step, players, learning)
            with self._watch("environments"):
                batch = self.vec.step(actions)
            with self._watch("trajectories"):
                self._credit(batch, tally)
        return tally.metrics(self._config.rollout_steps * self.vec.num_envs)

    def _act(self, rows: slice, learning: np.ndarray) -> np.ndarray:
        """Choose and store the actions of all environments. Returns actions (N,) int64."""
        store = self.store
        with self._watch("encode"):
            observation, legal, num_legal = store.observation[rows], store.legal[rows], store.num_legal[rows]
            observation.copy_(self._observation)
            legal.copy_(columns(self.vec.batch))
            num_legal.copy_(torch.from_numpy(self.vec.batch.num_legal.copy()))
            features = self._network.features(observation)
        with self._watch("forward"):
            logits, store.value[rows] = self._network(features)
            others = self._slots(np.flatnonzero(~learning))
            if len(others):
                logits[others] = self.pool.opponent(features[others])[0]
        with self._watch("sample"):
            log_probs = log_policy(logits.gather(1, legal), is_listed(legal, num_legal))
            choice = sample(log_probs, self._generator).unsqueeze(1)
            store.choice[rows] = choice.squeeze(1)
            store.log_prob[rows] = log_probs.gather(1, choice).squeeze(1)
            return legal.gather(1, choice).squeeze(1).cpu().numpy()

    def _credit(self, batch: Batch, tally: "_Tally") -> None:
        """Give the rewards of a step to the transitions they belong to."""
        ended = batch.terminated | batch.truncated
        if batch.final_observation is not None:
            envs = np.flatnonzero(batch.truncated)
            seen = torch.from_numpy(batch.final_observation[envs]).to(self.device)
            self.trajectories.truncate(envs, self._network(self._network.features(seen))[1].cpu().numpy())
        self.trajectories.credit(batch.reward * np.float32(self._config.reward_scale), ended)
        tally.ended += int(ended.sum())
        pooled = np.flatnonzero(ended & (self._learner >= 0))
        tally.pool_returns += batch.episode_returns[pooled, self._learner[pooled]].tolist()

    def _slots(self, indices: np.ndarray) -> Tensor:
        return torch.from_numpy(indices).to(self.device)

    def get_state(self) -> dict[str, Any]:
        """Return all that the next rollout depends on, but for the network and the generator; arrays as tensors."""
        self.store.move(*map(self._slots, self.trajectories.carry()))
        trajectories = self.trajectories.get_state()
        return {
            "env": as_tensors(self.vec.get_state()),
            "trajectories": as_tensors(trajectories),
            "store": self.store.get_state(self._slots(trajectories["slots"])),
            "pool": self.pool.selves,
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on from `get_state`, its arrays being tensors.

        Raises:
            FormatError: it is not what `get_state` gives.
        """
        self._check_transitions(state["trajectories"], state["store"])
        self._check_pool(state["pool"])
        trajectories = as_arrays(state["trajectories"])
        self.vec.set_state(as_arrays(state["env"]))
        self.trajectories.set_state(trajectories)
        self.store.set_state(self._slots(trajectories["slots"]), state["store"])
        self.pool.selves = [past.to(self.device) for past in state["pool"]]

    def _check_transitions(self, trajectories: dict[str, Any], store: dict[str, Any]) -> None:
        slots = trajectories.get("slots")
        if not isinstance(slots, Tensor) or slots.ndim != 1 or len(slots) > self.trajectories.num_carried:
            raise FormatError("slots are not those of transitions that are carried on")
        number = len(slots)
        checked_tensor(slots, "slots", (number,), torch.int64)
        checked_tensor(trajectories.get("reward"), "reward", (number,), torch.float32)
        inside = number == 0 or (slots[0] >= 0 and slots[-1] < self.trajectories.num_carried)
        if not inside or (slots[1:] <= slots[:-1]).any():
            raise FormatError("slots are not those of transitions that are carried on")
        for name, array in vars(self.store).items():
            checked_tensor(store.get(name), f"store.{name}", (number, *array.shape[1:]), array.dtype)
        legal, count, choice = store["legal"], store["num_legal"], store["choice"]
        if ((legal < 0) | (legal >= self.vec.num_actions)).any() or ((count < 1) | (count > legal.shape[1])).any():
            raise FormatError("store has actions that the game has not")
        if ((choice < 0) | (choice >= count)).any():
            raise FormatError("store has choices that were not legal")

    def _check_pool(self, pool: list[Any]) -> None:
        if not 1 <= len(pool) <= self._config.pool_size:
            raise FormatError(f"pool has {len(pool)} past selves, not 1 to {self._config.pool_size}")
        (size,) = self.pool.selves[0].shape
        for past in pool:
            checked_tensor(past, "pool", (size,), torch.float32)


class _Tally:
    """Counts over a rollout."""

    def __init__(self) -> None:
        self.ended = 0
        self.pool_returns: list[float] = []

    def metrics(self, steps: int) -> dict[str, float]:
        metrics = {"games/length": steps / max(1, self.ended)}
        if self.pool_returns:
            metrics["games/return_vs_past_self"] = float(np.mean(self.pool_returns))
        return metrics
