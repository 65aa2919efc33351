"""Masked PPO with self-play on `VectorEnv`: one network plays every seat of a game and learns from all of them.

    python -m training.ppo gin_rummy_v0 --seconds 90 --out runs/gin
    python -m training.ppo leduc_poker_v0 --set lr=3e-4 --set num_envs=512 --total-steps 2e6
    python -m training.ppo --resume runs/gin/latest.pt --seconds 180

Read from the top: how play is cut into each player's own trajectories, how it is collected, what is learnt from it,
evaluation, checkpoints, the loop. Settings are in config.py, display and logs in progress.py, the network in
cardenvs/agents/ppo.py.

Sources: J. Schulman et al., "Proximal Policy Optimization Algorithms" (2017) for the clipped loss; J. Schulman et
al., "High-Dimensional Continuous Control Using Generalized Advantage Estimation" (2016); S. Huang et al., "The 37
Implementation Details of Proximal Policy Optimization" (2022) and CleanRL for details; S. Huang and S. Ontañón, "A
Closer Look at Invalid Action Masking in Policy Gradient Algorithms" (2020) for the mask.
"""

import argparse
import copy
import dataclasses
import json
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from cardenvs.agents.ppo import (
    FORMAT,
    Network,
    check_fits,
    check_model,
    checked_fields,
    checked_tensor,
    log_policy,
    read_checkpoint,
)
from cardenvs.core.checks import short
from cardenvs.core.codes import HOLD
from cardenvs.core.errors import CardenvsError, FormatError, OptionError
from cardenvs.core.game import Game
from cardenvs.core.registry import get_game
from cardenvs.core.rng import derived_seed
from cardenvs.core.text import one_line
from cardenvs.envs.vector import Batch, VectorEnv
from training.config import Config, config_for, parse_settings, read_config, settings_text
from training.progress import METRICS_FILE, NETWORK_PARTS, Logs, Progress, Stopwatch, split_text

CHECKPOINT, EVALUATION_FILE = "latest.pt", "evaluation.json"
MOST_THREADS = 8  # more do not pay for networks of this size

# ---------------------------------------------------------------------------------------------------------------
# Trajectories: whose transition is whose


class Trajectories:
    """Cuts the play of N games into chains: the turns of one player in one episode, each linked to its next.

    A transition begins when a player acts and stays *open* while the others act: rewards that arrive meanwhile are
    credited to it. It is closed when the player acts again, which is its next observation, or when the episode ends:

        env 0    player_0 acts   player_1 acts   player_1 acts   player_0 acts    ... the episode ends
        slot           a               b               c               d
        closed by      d               c           the end          the end
        reward of a: all that player_0 gets up to d.   Of c and d: up to and including the end.

    A player who never acts in an episode has no transition, and what it gets goes nowhere.

    Transitions that are open when a rollout ends are not cut there. They are left out of this update and carried into
    the next rollout, where they close as if nothing had happened; the transition before them bootstraps from their
    value. So the network is only ever asked for values of its own turns, on which it is trained. The price is that one
    transition in `rollout_steps` or so is learnt from one update late, with the probabilities it was played with.

    Slots: 0..C-1 are carried ones, slot i * P + p that of player p in environment i; after them slot C + t * N + i is
    what environment i does at step t of the rollout. A chain's slots rise.

    Attributes:
        num_carried: C = N * P.
        num_slots: C + T * N.
        next_slot: (num_slots,) int64, the slot of the player's next turn, or UNUSED, OPEN, ENDED.
        reward: (num_slots,) float32, credited so far.
        end_value: (num_slots,) float32, what is still to be expected after an ENDED slot: 0 unless truncated.
    """

    UNUSED, OPEN, ENDED = -1, -2, -3

    def __init__(self, num_envs: int, num_players: int, num_steps: int) -> None:
        """Nothing open yet, for N environments, P players and rollouts of T steps."""
        self._num_envs, self._num_players, self._num_steps = num_envs, num_players, num_steps
        self.num_carried = num_envs * num_players
        self.num_slots = self.num_carried + num_steps * num_envs
        self.next_slot = np.full(self.num_slots, self.UNUSED, np.int64)
        self.reward = np.zeros(self.num_slots, np.float32)
        self.end_value = np.zeros(self.num_slots, np.float32)
        self._open = np.full((num_envs, num_players), self.UNUSED, np.int64)  # each player's open slot

    def rows(self, step: int) -> slice:
        """The slots of a step of the rollout, one an environment."""
        start = self.num_carried + step * self._num_envs
        return slice(start, start + self._num_envs)

    def act(self, step: int, players: np.ndarray, learning: np.ndarray) -> None:
        """Open the transitions of a step, each closing the player's last one.

        Args:
            step: 0..T-1.
            players: (N,) integers, who acts.
            learning: (N,) bool, false where the player who acts is not to be learnt from.
        """
        envs = np.flatnonzero(learning)
        players, slots = players[envs], self.rows(step).start + envs
        last = self._open[envs, players]
        self.next_slot[last[last >= 0]] = slots[last >= 0]
        self.next_slot[slots] = self.OPEN
        self._open[envs, players] = slots

    def truncate(self, envs: np.ndarray, values: np.ndarray) -> None:
        """Note what players may still expect where an episode was cut off; call it before `credit`.

        Args:
            envs: (M,) integers, which environments.
            values: (M, P) float32, by player.
        """
        slots = self._open[envs]
        self.end_value[slots[slots >= 0]] = values[slots >= 0]

    def credit(self, rewards: np.ndarray, ended: np.ndarray) -> None:
        """Give rewards to the open transitions, then close those of ended episodes.

        Args:
            rewards: (N, P) float32, what each player got in this step.
            ended: (N,) bool.
        """
        waiting = self._open >= 0
        self.reward[self._open[waiting]] += rewards[waiting]
        last = self._open[ended]
        self.next_slot[last[last >= 0]] = self.ENDED
        self._open[ended] = self.UNUSED

    def closed(self) -> np.ndarray:
        """The slots to learn from, ascending."""
        return np.flatnonzero((self.next_slot >= 0) | (self.next_slot == self.ENDED))

    def advantages(self, values: np.ndarray, gamma: float, gae_lambda: float) -> np.ndarray:
        """Generalised advantage estimates along each chain (Schulman et al. 2016, equation 16).

        Args:
            values: (num_slots,) float32, the network's values when it played.
            gamma: discount, from one turn of a player to its next.
            gae_lambda: lambda.

        Returns:
            (num_slots,) float32; 0 where a slot is not closed.
        """
        chained = self.next_slot >= 0
        follower = np.where(chained, self.next_slot, 0)
        expected = np.where(chained, values[follower], self.end_value)
        advantage = self.reward + np.float32(gamma) * expected - values
        advantage[(self.next_slot == self.OPEN) | (self.next_slot == self.UNUSED)] = 0
        weight = np.where(chained, np.float32(gamma * gae_lambda), np.float32(0))
        blocks = [self.rows(step) for step in reversed(range(self._num_steps))]
        for block in [*blocks, slice(0, self.num_carried)]:  # a chain's slots rise, so later blocks are complete
            advantage[block] += weight[block] * advantage[follower[block]]
        return advantage

    def carry(self) -> tuple[np.ndarray, np.ndarray]:
        """Begin the next rollout: move the open transitions to their carried slots and forget the others.

        Returns:
            source and target slots, for arrays kept elsewhere.
        """
        envs, players = np.nonzero(self._open >= 0)
        source, target = self._open[envs, players], envs * self._num_players + players
        reward = self.reward[source]
        self.next_slot[:] = self.UNUSED
        self.reward[:] = 0
        self.end_value[:] = 0
        self.next_slot[target], self.reward[target] = self.OPEN, reward
        self._open[envs, players] = target
        return source, target

    def get_state(self) -> dict[str, np.ndarray]:
        """What `set_state` needs to go on after a `carry`: the carried slots and their rewards."""
        slots = np.flatnonzero(self.next_slot[: self.num_carried] == self.OPEN)
        return {"slots": slots, "reward": self.reward[slots]}

    def set_state(self, state: dict[str, np.ndarray]) -> None:
        """Go on from `get_state`, in a new object of the same shape."""
        slots = state["slots"]
        self.next_slot[slots], self.reward[slots] = self.OPEN, state["reward"]
        self._open.reshape(-1)[slots] = slots


class Store:
    """What the network saw and did in each slot of a rollout, allocated once.

    Observations stay as small as the game makes them: turning int8 into floats when a minibatch is gathered is faster
    than gathering floats. Actions are numbers in the legal list, L of them rather than A: all that is worked out about
    a policy costs so much less.

    Attributes:
        observation: (num_slots, D) of the game's dtype.
        legal: (num_slots, L) int64, ids of the legal actions, first num_legal ones.
        num_legal: (num_slots,) int64.
        choice: (num_slots,) int64, the action taken, as an index into `legal`.
        log_prob: (num_slots,) float32, of the action when it was taken.
        value: (num_slots,) float32.
    """

    def __init__(self, num_slots: int, vec: VectorEnv, device: torch.device) -> None:
        """Room for num_slots transitions of the games in `vec`."""
        dtype = torch.from_numpy(vec.batch.observation).dtype
        self.observation = torch.zeros(num_slots, vec.observation_size, dtype=dtype, device=device)
        self.legal = torch.zeros(num_slots, vec.game.max_legal(vec.options), dtype=torch.int64, device=device)
        self.num_legal = torch.ones(num_slots, dtype=torch.int64, device=device)
        self.choice = torch.zeros(num_slots, dtype=torch.int64, device=device)
        self.log_prob = torch.zeros(num_slots, device=device)
        self.value = torch.zeros(num_slots, device=device)

    def move(self, source: Tensor, target: Tensor) -> None:
        """Copy slots `source` to slots `target`."""
        for array in vars(self).values():
            array[target] = array[source]

    def get_state(self, slots: Tensor) -> dict[str, Tensor]:
        """A copy of some slots."""
        return {name: array[slots] for name, array in vars(self).items()}

    def set_state(self, slots: Tensor, state: dict[str, Tensor]) -> None:
        """Write back what `get_state` copied."""
        for name, array in vars(self).items():
            array[slots] = state[name].to(array.device)


# ---------------------------------------------------------------------------------------------------------------
# Playing


def is_listed(legal: Tensor, num_legal: Tensor) -> Tensor:
    """(N, L) bool: whether an entry of the lists `legal` (N, L) is among the first num_legal (N,) of its row."""
    return torch.arange(legal.shape[1], device=legal.device) < num_legal.unsqueeze(1)


def _columns(batch: Batch, rows: slice | np.ndarray = slice(None)) -> Tensor:
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
        """A pool of at most `size` past selves, the present one first."""
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


class Player:
    """Plays N games with the network, a share of them against a past self, and notes what happens.

    In the last `pool_share` of the games one player, of number i modulo the number of players in environment i, is the
    learner and the others are played by the pool's opponent, whose transitions are not learnt from. In all the other
    games every player is the learner. The opponent is drawn anew for each rollout, so it may change within a game.

    Attributes:
        vec: the games.
        trajectories, store: the transitions of the present rollout.
    """

    def __init__(
        self, vec: VectorEnv, network: Network, config: Config, generator: torch.Generator, watch: Stopwatch
    ) -> None:
        """A player of the games in `vec`, which have been reset."""
        self.vec, self._network, self._config, self._generator, self._watch = vec, network, config, generator, watch
        self.device = next(network.parameters()).device
        self.trajectories = Trajectories(vec.num_envs, vec.num_players, config.rollout_steps)
        self.store = Store(self.trajectories.num_slots, vec, self.device)
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
        """Choose and note what all environments do. Returns actions (N,) int64."""
        store = self.store
        with self._watch("encode"):
            observation, legal, num_legal = store.observation[rows], store.legal[rows], store.num_legal[rows]
            observation.copy_(self._observation)
            legal.copy_(_columns(self.vec.batch))
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
        """All that the next rollout depends on, but for the network and the generator; arrays as tensors."""
        self.store.move(*map(self._slots, self.trajectories.carry()))
        trajectories = self.trajectories.get_state()
        return {
            "env": _as_tensors(self.vec.get_state()),
            "trajectories": _as_tensors(trajectories),
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
        trajectories = _as_arrays(state["trajectories"])
        self.vec.set_state(_as_arrays(state["env"]))
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


# ---------------------------------------------------------------------------------------------------------------
# Learning


class Learner:
    """The network's optimiser and the PPO update.

    Attributes:
        optimizer: Adam over all parameters.
    """

    def __init__(self, network: Network, config: Config, generator: torch.Generator, watch: Stopwatch) -> None:
        """A learner that has learnt nothing yet."""
        self._network, self._config, self._generator, self._watch = network, config, generator, watch
        self.optimizer = torch.optim.Adam(network.parameters(), lr=config.lr, eps=1e-5, fused=True)

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on with the moments in a state of the optimiser; its other settings are those of this learner.

        Raises:
            FormatError: they are not those of this network.
        """
        moments = checked_fields(state, {"state": dict}, "optimizer")["state"]
        parameters = list(self._network.parameters())
        if moments and set(moments) != set(range(len(parameters))):
            raise FormatError("optimizer has other parameters than the network")
        for number, moment in moments.items():
            shape = parameters[number].shape
            checked_fields(moment, {"step": Tensor, "exp_avg": Tensor, "exp_avg_sq": Tensor}, "optimizer")
            step = checked_tensor(moment["step"], "optimizer step", (), torch.float32)
            checked_tensor(moment["exp_avg"], "exp_avg", shape, torch.float32)
            squares = checked_tensor(moment["exp_avg_sq"], "exp_avg_sq", shape, torch.float32)
            if step < 0 or (squares < 0).any():
                raise FormatError("optimizer has negative squares or steps")
        known = {
            number: {name: moment[name] for name in ("step", "exp_avg", "exp_avg_sq")}
            for number, moment in moments.items()
        }
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": known})

    def update(self, trajectories: Trajectories, store: Store, lr: float, entropy_coef: float) -> dict[str, float]:
        """Learn from the closed transitions of a rollout. Returns metrics."""
        config = self._config
        with self._watch("trajectories"):
            values = store.value.cpu().numpy()
            advantages = trajectories.advantages(values, config.gamma, config.gae_lambda)
            closed = trajectories.closed()
            variance = _explained_variance(values[closed], (values + advantages)[closed])
            advantage = torch.from_numpy(advantages).to(store.value.device)
            slots = torch.from_numpy(closed).to(store.value.device)
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        history: list[Tensor] = []
        for rows in self._minibatches(slots):
            history.append(self._step(store, advantage, rows, entropy_coef))
            if config.target_kl and history[-1][3] > config.target_kl:
                break
        means = torch.stack(history).mean(0).tolist() if history else [math.nan] * 6
        names = ("loss/policy", "loss/value", "policy/entropy", "policy/kl", "policy/clipped", "loss/gradient_norm")
        return {
            **dict(zip(names, means, strict=True)),
            "value/explained_variance": variance,
            "schedule/lr": lr,
            "schedule/entropy": entropy_coef,
            "transitions": len(slots),
            "minibatches": len(history),
        }

    def _minibatches(self, slots: Tensor) -> Iterator[Tensor]:
        """Random parts of `slots`, each slot once an epoch."""
        for _ in range(self._config.epochs):
            order = torch.randperm(len(slots), generator=self._generator, device=slots.device)
            yield from (rows for rows in slots[order].tensor_split(self._config.minibatches) if len(rows))

    def _step(self, store: Store, advantage: Tensor, rows: Tensor, entropy_coef: float) -> Tensor:
        """One step of the optimiser. Returns its metrics, (6,)."""
        with self._watch("gather"):
            features = self._network.features(store.observation.index_select(0, rows))
            legal = store.legal.index_select(0, rows)
            listed = is_listed(legal, store.num_legal.index_select(0, rows))
            choice, log_prob, value, advantage = (
                array.index_select(0, rows) for array in (store.choice, store.log_prob, store.value, advantage)
            )
        with self._watch("learn"):
            logits, new_value = self._network(features)
            policy_loss, entropy, kl, clipped = policy_loss_and_metrics(
                logits.gather(1, legal), listed, choice, log_prob, self._normalised(advantage), self._config.clip
            )
            value_loss = value_loss_of(new_value, value, value + advantage, self._config.value_clip)
            loss = policy_loss - entropy_coef * entropy + self._config.value_coef * value_loss
            self.optimizer.zero_grad()
            loss.backward()
        with self._watch("optimise"):
            norm = nn.utils.clip_grad_norm_(self._network.parameters(), self._config.max_grad_norm)
            self.optimizer.step()
        return torch.stack([policy_loss, value_loss, entropy, kl, clipped, norm]).detach()

    def _normalised(self, advantage: Tensor) -> Tensor:
        if not self._config.normalise_advantages or len(advantage) < 2:
            return advantage
        return (advantage - advantage.mean()) / (advantage.std() + 1e-8)


def policy_loss_and_metrics(
    logits: Tensor, mask: Tensor, action: Tensor, log_prob: Tensor, advantage: Tensor, clip: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The clipped policy loss (Schulman et al. 2017, equation 7), entropy, KL estimate and share of clipped ratios.

    Args:
        logits: (B, K), those of illegal actions any finite number.
        mask: (B, K) bool, at least one legal action a row.
        action: (B,) int64, columns of legal actions.
        log_prob: (B,), of the actions when they were played.
        advantage: (B,).
        clip: epsilon.

    Returns:
        four scalars; the last two carry no gradient. The KL estimate is mean((r - 1) - log r), which is never negative.
    """
    log_probs = log_policy(logits, mask)
    log_ratio = log_probs.gather(1, action.unsqueeze(1)).squeeze(1) - log_prob
    ratio = log_ratio.exp()
    loss = -torch.min(advantage * ratio, advantage * ratio.clamp(1 - clip, 1 + clip)).mean()
    # 0 * -inf would be nan: where an action is illegal its log-probability counts as 0, its probability is 0.
    entropy = -(log_probs.exp() * log_probs.masked_fill(~mask, 0)).sum(-1).mean()
    with torch.no_grad():
        kl = (ratio - 1 - log_ratio).mean()
        clipped = ((ratio - 1).abs() > clip).float().mean()
    return loss, entropy, kl, clipped


def value_loss_of(value: Tensor, old_value: Tensor, target: Tensor, clip: float) -> Tensor:
    """Half the mean squared error; with clip > 0 a value gains nothing by moving further than that from the old one."""
    error = (value - target).square()
    if clip:
        held = old_value + (value - old_value).clamp(-clip, clip)
        error = torch.max(error, (held - target).square())
    return 0.5 * error.mean()


def _explained_variance(values: np.ndarray, targets: np.ndarray) -> float:
    """1 - Var(target - value) / Var(target): 1 is a perfect prediction, 0 no better than the mean."""
    variance = targets.var() if len(targets) else 0.0
    return float(1 - (targets - values).var() / variance) if variance > 0 else math.nan


# ---------------------------------------------------------------------------------------------------------------
# Evaluation


@dataclasses.dataclass(frozen=True)
class Score:
    """Mean return a deal against a policy in all other seats, with half its 95% interval, over duplicate deals."""

    mean: float
    half: float
    deals: int

    def __str__(self) -> str:
        """As in "+12.34 ± 0.56"."""
        return f"{self.mean:+.2f} ± {self.half:.2f}"


@torch.inference_mode()
def evaluate(
    network: Network, vec: VectorEnv, opponent: str, seed: int, generator: torch.Generator | None = None
) -> Score:
    """Play each deal once from every seat, a policy of the game in the other seats.

    Args:
        network: plays its most likely action, or draws one if there is a generator.
        vec: its num_envs is the number of deals.
        opponent: "random", or one of `game.policies`.
        seed: of the deals and the opponent.
        generator: for drawing actions.
    """
    returns, step = np.zeros(vec.num_envs), 0
    for seat in range(vec.num_players):
        batch = vec.reset(seed)
        running = np.ones(vec.num_envs, np.bool_)
        while running.any():
            actions = np.full(vec.num_envs, HOLD, np.int64)
            others = np.flatnonzero(running & (batch.current_player != seat))
            actions[others] = vec.policy_actions(opponent, others, seed, step)
            mine = np.flatnonzero(running & (batch.current_player == seat))
            actions[mine] = _choose(network, batch, mine, generator)
            batch = vec.step(actions)
            ended = running & (batch.terminated | batch.truncated)
            returns[ended] += batch.episode_returns[ended, seat]
            running &= ~ended
            step += 1
    returns /= vec.num_players
    return Score(float(returns.mean()), float(1.96 * returns.std(ddof=1) / math.sqrt(len(returns))), len(returns))


def _choose(network: Network, batch: Batch, rows: np.ndarray, generator: torch.Generator | None) -> np.ndarray:
    """The network's actions in the environments `rows`."""
    device = network.scale.device
    observation, num_legal = (
        torch.from_numpy(array[rows]).to(device) for array in (batch.observation, batch.num_legal)
    )
    legal = _columns(batch, rows).to(device)
    logits, _ = network(network.features(observation))
    log_probs = log_policy(logits.gather(1, legal.long()), is_listed(legal, num_legal))
    choice = log_probs.argmax(-1) if generator is None else sample(log_probs, generator)
    return legal.gather(1, choice.unsqueeze(1)).squeeze(1).cpu().numpy()


# ---------------------------------------------------------------------------------------------------------------
# A run: all of the above, its progress, and its checkpoints


class Run:
    """A training run between two updates.

    Attributes:
        game, options, config: what is trained, and how.
        network: what is trained.
        steps, updates: done so far.
        seconds: spent so far, evaluations included.
        total_steps, total_seconds: when it is over, whichever comes first; None: no such limit.
        watch: where the time went, in this process.
    """

    def __init__(
        self,
        game: Game,
        config: Config,
        device: str = "cpu",
        total_steps: float | None = None,
        total_seconds: float | None = None,
    ) -> None:
        """A run that has not begun."""
        self.game, self.config, self.options = game, config, game.make_options(**config.options)
        self.total_steps, self.total_seconds = total_steps, total_seconds
        self.steps, self.updates, self.seconds = 0, 0, 0.0
        self.watch = Stopwatch(torch.cuda.synchronize if device.startswith("cuda") else None)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            self.network = Network.for_game(game, self.options, config.hidden, config.activation).to(device)
        self._generator = torch.Generator(device).manual_seed(config.seed)
        vec = self._games(config.num_envs)
        vec.require_lists("PPO")
        _check_memory(config, vec)
        vec.reset(derived_seed(config.seed, "deals"))
        self.player = Player(vec, self.network, config, self._generator, self.watch)
        self.learner = Learner(self.network, config, self._generator, self.watch)

    def _games(self, number: int) -> VectorEnv:
        threads = 1 if torch.get_num_threads() == 1 else "auto"
        return VectorEnv(self.game, number, num_threads=threads, mask=False, resumable=True, **self.config.options)

    @property
    def opponents(self) -> list[str]:
        """The policies to evaluate against: those of the config that the game has."""
        return [name for name in self.config.eval_opponents if name in self.game.engine.policy_names()]

    def compile(self) -> None:
        """Compile, or load from the cache, what the run will call, so that its clock measures training alone."""
        vec = self._games(1)
        vec.reset(0)
        vec.step(vec.sample_actions())
        for opponent in self.opponents:
            vec.policy_actions(opponent, np.zeros(1, np.int64), 0, 0)

    def fraction(self) -> float:
        """How much of the run is done, 0 to 1."""
        done = 0.0 if self.total_steps is None else self.steps / self.total_steps
        return min(1.0, done if self.total_seconds is None else max(done, self.seconds / self.total_seconds))

    def advance(self) -> dict[str, float]:
        """Play a rollout and learn from it. Returns metrics."""
        started, before = time.perf_counter(), dict(self.watch.seconds)
        lr, entropy = self._lr(), _between(self.config.entropy, self.config.entropy_end, self.fraction())
        metrics = self.player.play()
        metrics |= self.learner.update(self.player.trajectories, self.player.store, lr, entropy)
        steps = self.config.num_envs * self.config.rollout_steps
        self.steps += steps
        self.updates += 1
        if self.updates % self.config.pool_interval == 0:
            self.player.pool.add(self.network)
        total = time.perf_counter() - started
        spent = {part: value - before.get(part, 0.0) for part, value in self.watch.seconds.items()}
        metrics |= {f"time/{part}": value for part, value in spent.items()}
        metrics["speed/steps_per_second"] = steps / total
        metrics["speed/network_share"] = sum(spent[part] for part in NETWORK_PARTS) / total
        return metrics

    def _lr(self) -> float:
        config, fraction = self.config, self.fraction()
        if config.lr_schedule == "constant":
            return config.lr
        if config.lr_schedule == "cosine":
            fraction = (1 - math.cos(math.pi * fraction)) / 2
        return _between(config.lr, config.lr_end, fraction)

    def evaluate(self, deals: int, purpose: str = "evaluation") -> dict[str, Score]:
        """Scores against each of `opponents`, always on the same deals for a purpose. Draws nothing from the run."""
        seed = derived_seed(self.config.seed, purpose)
        generator = None
        if self.config.eval_sample:
            generator = torch.Generator(self._generator.device).manual_seed(seed)
        vec = self._games(deals)
        scores = {name: evaluate(self.network, vec, name, seed, generator) for name in self.opponents}
        vec.close()
        return scores

    def save(self, path: Path) -> None:
        """Write a checkpoint; a reader sees the old one or the new one, never half of one."""
        training = {
            "total_steps": self.total_steps,
            "total_seconds": self.total_seconds,
            "updates": self.updates,
            "seconds": self.seconds,
            "optimizer": self.learner.optimizer.state_dict(),
            "generator": self._generator.get_state(),
            "player": self.player.get_state(),
        }
        checkpoint = {
            "format": FORMAT,
            "game": self.game.name,
            "options": self.options.as_dict(),
            "layout": self.game.layout(self.options).hash,
            "shape": self.network.shape,
            "model": self.network.state_dict(),
            "steps": self.steps,
            "config": self.config.as_dict(),
            "training": training,
        }
        part = path.with_name(path.name + ".part")
        with part.open("wb") as file:
            torch.save(checkpoint, file)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)

    @classmethod
    def restore(cls, path: Path, device: str = "cpu") -> "Run":
        """A run as it was when it saved a checkpoint.

        Raises:
            FormatError: the file is damaged, or of another version of the game.
            OSError: it cannot be read.
        """
        checkpoint = read_checkpoint(path)
        try:
            checked_fields(checkpoint, {"training": dict, "config": dict}, "the checkpoint")
            training = checked_fields(checkpoint["training"], _TRAINING_FIELDS, "training")
            config = Config.make(checkpoint["config"], str(path))
            _check_progress(training)
            _check_games(training["player"], config)
            check_model(checkpoint["model"], checkpoint["shape"])
            game = get_game(checkpoint["game"])
            check_fits(checkpoint, path, game, game.make_options(**config.options))
            run = cls(game, config, device, training["total_steps"], training["total_seconds"])
            run.steps, run.updates, run.seconds = checkpoint["steps"], training["updates"], training["seconds"]
            run.network.load_state_dict(checkpoint["model"])
            run.learner.set_state(training["optimizer"])
            size = run._generator.get_state().shape
            run._generator.set_state(checked_tensor(training["generator"], "generator", size, torch.uint8))
            run.player.set_state(training["player"])
        except FormatError as error:
            raise FormatError(f"{path} cannot be resumed: {str(error).removeprefix(f'{path} ')}") from None
        except CardenvsError:
            raise
        except (LookupError, TypeError, ValueError, RuntimeError, OverflowError, MemoryError) as error:
            raise FormatError(f"{path} is damaged: {one_line(repr(error))}") from None
        return run


_NUMBER = (int, float)
_MOST_STEPS = 1 << 62
_TRAINING_FIELDS: dict[str, Any] = {
    "total_steps": (*_NUMBER, type(None)), "total_seconds": (*_NUMBER, type(None)), "updates": int,
    "seconds": _NUMBER, "optimizer": dict, "generator": Tensor, "player": dict,
}  # fmt: skip


def _check_progress(training: dict[str, Any]) -> None:
    for name in ("total_steps", "total_seconds", "updates", "seconds"):
        value = training[name]
        if value is not None and not 0 <= value < _MOST_STEPS:  # False for NaN as well
            raise FormatError(f"{name} is {short(value)}")


def _check_games(player: dict[str, Any], config: Config) -> None:
    """Refuse a number of games other than that of the games in the file, before room is made for them."""
    checked_fields(player, {"env": dict, "trajectories": dict, "store": dict, "pool": list}, "player")
    arrays = checked_fields(player["env"], {"arrays": dict}, "env")["arrays"]
    checked_tensor(arrays.get("episodes"), "episodes", (config.num_envs,), torch.int64)
    for name, array in arrays.items():
        if not isinstance(array, Tensor):
            raise FormatError(f"{short(name)} is no tensor")
        checked_tensor(array, short(name), array.shape, array.dtype)


def _check_memory(config: Config, vec: VectorEnv) -> None:
    """Refuse rollouts that this machine cannot keep.

    Raises:
        OptionError: says what they take.
    """
    observation = vec.observation_size * vec.layout.dtype.itemsize
    row = observation + 8 * vec.game.max_legal(vec.options) + 40
    wanted = config.num_envs * (config.rollout_steps + vec.num_players) * row
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else math.inf
    if wanted > there:
        raise OptionError(
            f"{config.rollout_steps} steps of {config.num_envs} games take {wanted >> 30} GiB, more than this machine "
            "has; lower num_envs or rollout_steps"
        )


def _between(start: float, end: float, fraction: float) -> float:
    return start + (end - start) * fraction


def _as_tensors(tree: Any) -> Any:
    """A tree of dicts with its NumPy arrays as tensors, which torch reads back without running code."""
    if isinstance(tree, dict):
        return {name: _as_tensors(value) for name, value in tree.items()}
    return torch.from_numpy(tree) if isinstance(tree, np.ndarray) else tree


def _as_arrays(tree: Any) -> Any:
    """The reverse of `_as_tensors`."""
    if isinstance(tree, dict):
        return {name: _as_arrays(value) for name, value in tree.items()}
    return tree.cpu().numpy() if isinstance(tree, Tensor) else tree


# ---------------------------------------------------------------------------------------------------------------
# The loop


def train(
    game: str | Game | None = None,
    config: Config | None = None,
    *,
    out: str | Path | None = None,
    seconds: float | None = None,
    total_steps: float | None = None,
    resume: str | Path | None = None,
    overwrite: bool = False,
    device: str = "auto",
    threads: int = 0,
    show: bool = True,
    on_update: Callable[[dict[str, float]], None] | None = None,
) -> Path:
    """Train a policy, or go on training one.

    Args:
        game: its name or the Game; not with `resume`.
        config: settings; by default those of the game in `configs/`. Not with `resume`.
        out: folder for the checkpoint, metrics and TensorBoard events; by default a new one in `runs/`.
        seconds: train for so long rather than for config.total_steps. Schedules then follow the clock, so the same
            seed does not give the same numbers.
        total_steps: train for so many steps rather than config.total_steps.
        resume: a checkpoint to go on from, to the numbers that an uninterrupted run would have given. Its limits stay,
            unless `seconds` or `total_steps` is given.
        overwrite: replace a run that `out` already holds.
        device: "cpu", "cuda", or "auto".
        threads: of torch and of the games; 0: one a core, up to MOST_THREADS.
        show: print progress to stderr.
        on_update: called with the metrics of each update. A KeyboardInterrupt that it raises ends the run like Ctrl-C.

    Returns:
        the path of the checkpoint.

    Raises:
        KeyboardInterrupt: after Ctrl-C, once the update in progress is finished and the checkpoint written. A second
            Ctrl-C ends at once.
        GameNotFoundError, OptionError, FormatError: what was asked for cannot be done.
    """
    for name, limit in (("seconds", seconds), ("total_steps", total_steps)):
        if limit is not None and not limit > 0:
            raise OptionError(f"{name} must be above 0; got {limit:g}")
    device = _device(device)
    with _torch_threads(threads):
        if resume is not None:
            if game is not None or config is not None:
                raise OptionError("resuming takes game and settings from the checkpoint; give neither")
            run = Run.restore(Path(resume), device)
            folder = Path(resume).parent if out is None else Path(out)
            if seconds is not None or total_steps is not None:
                run.total_seconds, run.total_steps = seconds, total_steps
        else:
            run = _new_run(game, config, device, seconds, total_steps)
            folder = Path("runs") / time.strftime(f"{run.game.name}-%Y%m%d-%H%M%S") if out is None else Path(out)
            if (folder / CHECKPOINT).exists() and not overwrite:
                raise OptionError(f"{folder} holds a run; resume it, choose another folder or overwrite it")
        folder.mkdir(parents=True, exist_ok=True)
        if resume is None:
            _clear(folder)
        run.compile()
        return _Loop(run, folder, show, on_update).go()


def _new_run(
    game: str | Game | None, config: Config | None, device: str, seconds: float | None, total_steps: float | None
) -> Run:
    if game is None:
        if config is None or not config.game:
            raise OptionError("which game? name one, or give a config that does")
        game = config.game
    game = get_game(game) if isinstance(game, str) else game
    config = config_for(game.name) if config is None else config
    if config.game not in ("", game.name):
        raise OptionError(f"these settings are for {config.game}, not for {game.name}")
    if seconds is None and total_steps is None:
        total_steps = config.total_steps
    return Run(game, config, device, total_steps, seconds)


def _clear(folder: Path) -> None:
    """Remove what an earlier run left in its folder."""
    for pattern in (CHECKPOINT, METRICS_FILE, EVALUATION_FILE, "events.out.tfevents.*"):
        for path in folder.glob(pattern):
            path.unlink()


class _Loop:
    """Updates, evaluations, logs and checkpoints until the run is over or somebody stops it."""

    def __init__(
        self, run: Run, folder: Path, show: bool, on_update: Callable[[dict[str, float]], None] | None
    ) -> None:
        self._run, self._folder, self._on_update = run, folder, on_update
        self._path = folder / CHECKPOINT
        limit = f"{run.total_seconds:g} seconds" if run.total_seconds else f"{run.total_steps:,.0f} steps"
        self._progress = Progress(f"{run.game.title}: PPO for {limit}, in {folder}", show)
        self._logs = Logs(folder, run.steps)
        self._first_step, self._trained_seconds = run.steps, 0.0

    def go(self) -> Path:
        run, progress = self._run, self._progress
        with progress, _Interrupt(progress.note) as interrupt:
            saved = time.monotonic()
            began = saved - run.seconds
            while run.fraction() < 1 and not interrupt.requested:
                metrics = self._update()
                run.seconds = time.monotonic() - began
                metrics |= {"steps": run.steps, "updates": run.updates, "seconds": run.seconds}
                self._logs.write(metrics)
                progress.update(metrics, run.fraction())
                if time.monotonic() - saved > run.config.checkpoint_interval:
                    run.save(self._path)
                    saved = time.monotonic()
                self._tell(metrics, interrupt)
            run.save(self._path)
        if not interrupt.requested:
            self._finish()
        self._logs.close()
        self._report_time()
        if interrupt.requested:
            progress.note(f"Stopped. To go on: cardenvs train --resume {self._path}")
            raise KeyboardInterrupt
        return self._path

    def _update(self) -> dict[str, float]:
        """One update, and an evaluation if it is time."""
        started = time.monotonic()
        metrics = self._run.advance()
        self._trained_seconds += time.monotonic() - started
        interval = self._run.config.eval_interval
        if interval and self._run.updates % interval == 0:
            for name, score in self._run.evaluate(self._run.config.eval_deals).items():
                metrics |= {f"eval/{name}": score.mean, f"eval/{name}_half": score.half}
                self._progress.score(name, str(score))
        return metrics

    def _tell(self, metrics: dict[str, float], interrupt: "_Interrupt") -> None:
        try:
            if self._on_update is not None:
                self._on_update(metrics)
        except KeyboardInterrupt:
            interrupt.requested = True

    def _finish(self) -> None:
        """The evaluation at the end, on deals of its own, printed and written to the folder."""
        run = self._run
        if not run.config.final_deals:
            return
        scores = run.evaluate(run.config.final_deals, "final evaluation")
        unit = run.game.returns(run.options).unit
        for name, score in scores.items():
            self._progress.note(f"against {name}: {score} {unit} a deal over {score.deals:,} duplicate deals")
        values = {name: dataclasses.asdict(score) for name, score in scores.items()}
        text = json.dumps({"steps": run.steps, "seconds": run.seconds, "seed": run.config.seed, "scores": values})
        (self._folder / EVALUATION_FILE).write_text(text + "\n", encoding="utf-8")

    def _report_time(self) -> None:
        steps = self._run.steps - self._first_step
        if steps:
            self._progress.note(split_text(self._run.watch.seconds, self._trained_seconds, steps))
        self._progress.note(f"checkpoint: {self._path}")


class _Interrupt:
    """Ctrl-C asks for a stop at the next good moment; the second one stops at once."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self.requested = False
        self._note = note

    def __enter__(self) -> "_Interrupt":
        self._in_main = threading.current_thread() is threading.main_thread()
        if self._in_main:
            self._before = signal.signal(signal.SIGINT, self._on_signal)
        return self

    def __exit__(self, *error: object) -> None:
        if self._in_main:
            signal.signal(signal.SIGINT, self._before)

    def _on_signal(self, *_: object) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
        self._note("Stopping after this update; press Ctrl-C again to stop at once.")


def _device(name: str) -> str:
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.zeros(1, device=name)
    except (RuntimeError, AssertionError) as error:
        raise OptionError(f"device {name!r} cannot be used here: {str(error).splitlines()[0]}") from error
    return name


@contextmanager
def _torch_threads(threads: int) -> Iterator[None]:
    """Let torch use so many threads inside the block; 0: one a core, up to MOST_THREADS."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    before = torch.get_num_threads()
    torch.set_num_threads(threads or min(cores, MOST_THREADS))
    try:
        yield
    finally:
        torch.set_num_threads(before)


# ---------------------------------------------------------------------------------------------------------------
# Command line


def main(arguments: Sequence[str] | None = None) -> int:
    """`python -m training.ppo`. Returns the exit code: 0, 2 for what cannot be done, 130 after Ctrl-C."""
    parser = _parser()
    given = parser.parse_args(arguments)
    if given.settings:
        print(settings_text())
        return 0
    try:
        train(
            None if given.resume else given.game,
            _config(given),
            out=given.out,
            seconds=given.seconds,
            total_steps=given.total_steps,
            resume=given.resume,
            overwrite=given.overwrite,
            device=given.device,
            threads=given.threads,
            show=not given.quiet,
        )
    except KeyboardInterrupt:
        return 130
    except (CardenvsError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _config(given: argparse.Namespace) -> Config | None:
    """The settings asked for; None to take those of the checkpoint."""
    if given.resume:
        if given.game or given.config or given.set or given.option:
            raise OptionError(
                "--resume takes game and settings from the checkpoint; give it --seconds or --total-steps"
            )
        return None
    config = read_config(given.config) if given.config else config_for(get_game(given.game).name if given.game else "")
    if given.option:
        options = get_game(given.game or config.game).options.parse(parse_settings(given.option, "--option"))
        config = config.changed({"options": options.changed()}, "--option")
    return config.changed(parse_settings(given.set)) if given.set else config


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m training.ppo",
        description="Masked PPO with self-play: train a policy for a game.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="""examples:
  python -m training.ppo gin_rummy_v0 --seconds 90 --out runs/gin
  python -m training.ppo --config configs/leduc.yaml --set lr=3e-4 --set hidden=128,128
  python -m training.ppo gin_rummy_v0 --option knock_max=5 --total-steps 20e6
  python -m training.ppo --resume runs/gin/latest.pt --seconds 300
  python -m training.ppo --settings
""",
    )
    add = parser.add_argument
    add("game", nargs="?", help="name of the game, as in gin_rummy_v0")
    add("--config", metavar="FILE", help="YAML file of settings; by default the one in configs/ for the game")
    add("--set", metavar="NAME=VALUE", action="append", default=[], help="change one setting")
    add("--option", metavar="NAME=VALUE", action="append", default=[], help="change one option of the game")
    add("--seconds", type=float, help="train for so long, rather than for total_steps")
    add("--total-steps", type=float, help="train for so many steps")
    add("--out", metavar="FOLDER", help="folder of the run; by default a new one in runs/")
    add("--overwrite", action="store_true", help="replace a run that the folder already holds")
    add("--resume", metavar="CHECKPOINT", help="go on from a checkpoint")
    add("--device", default="auto", help="cpu, cuda or auto")
    add("--threads", type=int, default=0, help="threads; 0: one a core")
    add("--quiet", action="store_true", help="print nothing but errors")
    add("--settings", action="store_true", help="list all settings and exit")
    return parser


if __name__ == "__main__":
    sys.exit(main())
