"""Playing: batches of games, and the transitions of all players in them."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from cardenvs.agents.checkpoint_file import checked_tensor
from cardenvs.agents.network import Network, log_policy
from cardenvs.core.checks import short
from cardenvs.core.errors import FormatError
from cardenvs.core.game import Game
from cardenvs.core.rng import SEED_MASK, derived_seed
from cardenvs.envs.batch import Batch
from cardenvs.envs.vector import VectorEnv
from cardenvs.training.config import Config
from cardenvs.training.ppo.league import EVERY_PLAYER, Latest, Pool, Tables
from cardenvs.training.ppo.merging import distinct
from cardenvs.training.ppo.opponents import Opponent, PolicyOpponent
from cardenvs.training.ppo.processes import Context, Processes, part_of, united
from cardenvs.training.ppo.trajectories import NO_ADVICE, RolloutBuffer, Trajectories, as_arrays, as_tensors


def is_listed(legal: Tensor, num_legal: Tensor) -> Tensor:
    """Return, (N, L) bool, which entries of `legal` (N, L) are among the first num_legal (N,) of their row."""
    return torch.arange(legal.shape[1], device=legal.device) < num_legal.unsqueeze(1)


def columns(batch: Batch, rows: slice | np.ndarray = slice(None), out: np.ndarray | None = None) -> Tensor:
    """Return the legal lists of a batch as gather indices, in `out` if given. Padding, which is -1, becomes 0."""
    assert batch.legal_actions is not None  # the batch was made with legal_lists=True
    return torch.from_numpy(np.maximum(batch.legal_actions[rows], 0, out=out))


def shortened(legal: Tensor, num_legal: Tensor) -> Tensor:
    """Return the lists `legal` (N, L) without the columns that are padding in every row.

    With `num_legal` on a GPU, this waits for the GPU.
    """
    return legal[:, : int(num_legal.max())]


def sample(
    log_probs: Tensor, generator: torch.Generator, shape: tuple[int, int] | None = None, rows: slice = slice(None)
) -> Tensor:
    """Draw one entry per row with the Gumbel trick: the argmax of log p - log(-log u), u uniform. Returns (N,) int64.

    `log_probs` is (N, K), with -inf for entries that must not be drawn; the generator is on the same device. Of noise
    of the given shape, by default (N, K), this takes `rows` and the first K columns.
    """
    u = torch.rand(shape or log_probs.shape, generator=generator, device=log_probs.device)
    u = u[rows, : log_probs.shape[1]]
    u.clamp_(torch.finfo(u.dtype).tiny, 1 - torch.finfo(u.dtype).eps / 2)  # the noise is infinite at 0 and 1
    return (log_probs - u.log_().neg_().log_()).argmax(-1)


def epsilon_greedy(values: Tensor, listed: Tensor, epsilon: float, generator: torch.Generator) -> Tensor:
    """Choose the column of the largest value in each row, or with probability epsilon a random listed one.

    `values` is (N, K), and `listed`, (N, K) bool, has at least one column per row. Returns (N,) int64.
    """
    best = values.masked_fill(~listed, -torch.inf).argmax(-1)
    anything = sample(torch.zeros_like(values).masked_fill(~listed, -torch.inf), generator)
    return torch.where(torch.rand(len(values), generator=generator, device=values.device) < epsilon, anything, best)


class StepInput:
    """The input of the networks in a step: observations and legal actions of all games.

    For a GPU, it is in page-locked memory, which is copied fast and asynchronously. The next step may overwrite it,
    because it waits for the actions of this step, which are computed after the copies.
    """

    def __init__(self, vec: VectorEnv, device: torch.device) -> None:
        """Allocate memory for the games in `vec`, whose networks are on `device`."""
        locked = device.type == "cuda"
        self._batch = torch.from_numpy(vec.batch.observation)  # a view: the batch is overwritten in place
        # (N, D) of the game's dtype
        self.observation = torch.empty_like(self._batch, pin_memory=True) if locked else self._batch
        shape = vec.num_envs, vec.game.max_legal(vec.options)
        self.legal = torch.empty(shape, dtype=torch.int64, pin_memory=locked)  # (N, L) int64, padded with zeros
        self.num_legal = torch.empty(vec.num_envs, dtype=torch.int64, pin_memory=locked)  # (N,) int64

    def update(self, batch: Batch) -> None:
        """Copy the current step of the games."""
        if self.observation is not self._batch:
            self.observation.copy_(self._batch)
        columns(batch, out=self.legal.numpy())
        self.num_legal.numpy()[:] = batch.num_legal


class Collector:
    """Plays N games with the network, some of them against others (`Tables`), and stores the learners' transitions.

    The opponent from the pool is drawn anew for each rollout, so it may change within a game.

    Attributes:
        vec: the games.
        trajectories, store: the transitions of the current rollout.
        returns: (M, P) float64, returns of the games that ended in it, in all processes.
        pool: the networks to play against.
    """

    def __init__(
        self,
        vec: VectorEnv,
        network: Network,
        context: Context,
        pool: Pool | Latest,
        opponents: dict[str, Opponent] | None = None,
    ) -> None:
        """Create a player of the games in `vec`, which have been reset: this process's share of the config's
        `num_envs`.

        `network` plays for the learners, against the networks of the pool. `opponents`, by default the rule policies of
        the config, share the games of `rule_share`.
        """
        config = context.config
        if opponents is None:
            opponents = {name: PolicyOpponent(name) for name in rule_opponents(config, vec.game)}
        self._opponents = opponents
        self.vec, self._network, self._config = vec, network, config
        self._generator, self._watch, self._processes = context.generator, context.watch, context.processes
        self.device = next(network.parameters()).device
        self._games = slice(vec.first_env, vec.first_env + vec.num_envs)
        self.trajectories = Trajectories(vec.num_envs, vec.num_players, config.rollout_steps, vec.first_env)
        self.store = RolloutBuffer(self.trajectories.num_slots, vec, self.device)
        self.pool = pool
        self.returns = np.zeros((0, vec.num_players))
        self._input = StepInput(vec, self.device)
        self._tables = Tables(config, config.num_envs, vec.num_players, list(opponents), self._games)
        self._rule_seed, self._rule_calls = derived_seed(config.seed, "rule opponents"), 0

    @torch.inference_mode()
    def play(self, teacher: str = "") -> dict[str, float]:
        """Play a rollout from where the last one stopped, and record what the policy `teacher` would do, if any.

        Returns:
            metrics.
        """
        tally = Tally(self._tables)
        with self._watch("trajectories"):
            source, target = self.trajectories.carry()
            self.store.move(self._slots(source), self._slots(target))
        if not teacher:
            self.store.advice.fill_(NO_ADVICE)
        self.pool.draw(self._generator)
        for step in range(self._config.rollout_steps):
            rows, players = self.trajectories.rows(step), self.vec.batch.current_player
            learning = self._tables.learning(players)
            actions = self._act(rows, learning)
            with self._watch("rules"):
                self._follow_rules(actions, learning)
                if teacher:
                    self._note_advice(teacher, rows, learning)
                self._rule_calls += 1
            with self._watch("trajectories"):
                self.trajectories.act(step, players, learning)
            with self._watch("environments"):
                batch = self.vec.step(actions)
            with self._watch("trajectories"):
                self._credit(batch)
                tally.add(batch)
        tally.unite(self._processes)
        self.returns = tally.returns
        self.pool.note(tally.against_pool)
        return tally.metrics(self._config.rollout_steps * self._config.num_envs)

    def _act(self, rows: slice, learning: np.ndarray) -> np.ndarray:
        """Choose and store the networks' actions in all environments. Returns actions, (N,) int64."""
        store, new = self.store, self._input
        with self._watch("encode"):
            new.update(self.vec.batch)
            observation, legal, num_legal = store.observation[rows], store.legal[rows], store.num_legal[rows]
            observation.copy_(new.observation, non_blocking=True)
            legal.copy_(new.legal, non_blocking=True)
            num_legal.copy_(new.num_legal, non_blocking=True)
            legal = shortened(legal, new.num_legal)
            listed = is_listed(legal, num_legal)
        with self._watch("forward"):
            logits, store.value[rows] = self._evaluate(observation, legal, listed)
            others = self._slots(np.flatnonzero(~learning & ~self._tables.is_ruled))
            if len(others):
                features = self._network.features(observation[others])
                logits[others] = self.pool.opponent(features, legal[others], listed[others])[0]
        with self._watch("sample"):
            if self._config.method == "dmc":  # logits are values
                choice = epsilon_greedy(logits, listed, self._config.epsilon, self._generator).unsqueeze(1)
                store.value[rows] = logits.gather(1, choice).squeeze(1)
            else:
                log_probs = log_policy(logits, listed)
                choice = self._sample(log_probs).unsqueeze(1)
                store.log_prob[rows] = log_probs.gather(1, choice).squeeze(1)
            store.choice[rows] = choice.squeeze(1)
            return legal.gather(1, choice).squeeze(1).cpu().numpy()

    def _evaluate(self, observation: Tensor, legal: Tensor, listed: Tensor) -> tuple[Tensor, Tensor]:
        """Return the network's logits, (N, K), and values, (N,).

        With `merge_turns` many games look alike: the network sees each observation, which determines the legal actions,
        once.
        """
        network = self._network
        if self._config.merge_turns:
            first, kind = (self._slots(rows) for rows in distinct(self.vec.batch.observation))
            logits, value = network(network.features(observation[first]), legal[first], listed[first])
            return logits[kind], value[kind]
        logits, value = network(network.features(observation), legal, listed)
        return logits, value

    def _sample(self, log_probs: Tensor) -> Tensor:
        """Draw from the policy. Each process takes its rows of the noise that one process would draw for all games."""
        if self._processes.size == 1:
            return sample(log_probs, self._generator)
        shape = self._config.num_envs, self._processes.largest(log_probs.shape[1])
        return sample(log_probs, self._generator, shape, self._games)

    def _follow_rules(self, actions: np.ndarray, learning: np.ndarray) -> None:
        """Replace the actions of players that a rule policy or a frozen agent controls."""
        for name, rows in self._tables.rules:
            acting = rows[~learning[rows]]
            if len(acting):
                chosen = self._opponents[name].actions(self.vec, acting, self._rule_seed, self._rule_calls)
                actions[acting] = chosen

    def _note_advice(self, teacher: str, rows: slice, learning: np.ndarray) -> None:
        """Store the actions that the teacher would choose for the learners."""
        acting = np.flatnonzero(learning)
        advice = np.full(self.vec.num_envs, NO_ADVICE, np.int64)
        advice[acting] = self.vec.policy_actions(teacher, acting, self._rule_seed, self._rule_calls)
        self.store.advice[rows] = self._slots(advice)

    def _credit(self, batch: Batch) -> None:
        """Give the rewards of a step to the transitions they belong to."""
        if batch.final_observation is not None and self._config.method == "ppo":
            envs = np.flatnonzero(batch.truncated)
            seen = torch.from_numpy(batch.final_observation[envs]).to(self.device)
            self.trajectories.truncate(envs, self._network.value_of(self._network.features(seen)).cpu().numpy())
        self.trajectories.credit(batch.reward, batch.terminated | batch.truncated)

    def get_state(self) -> dict[str, Any]:
        """Return everything that the next rollout depends on except the network and the generator.

        Arrays become tensors. In several processes, all call it, and the first one gets the state of all games.
        """
        state = self._own_state()
        if self._processes.size == 1:
            return state
        # Tensors on a GPU cannot be sent to the process of another one.
        state["store"] = {name: array.cpu() for name, array in state["store"].items()}
        states = self._processes.gather_in_first(state if self._processes.is_first else {**state, "pool": None})
        return united(states, self.vec.num_players) if states else state

    def _own_state(self) -> dict[str, Any]:
        self.store.move(*map(self._slots, self.trajectories.carry()))
        trajectories = self.trajectories.get_state()
        return {
            "env": as_tensors(self.vec.get_state()),
            "trajectories": as_tensors(trajectories),
            "store": self.store.get_state(self._slots(trajectories["slots"])),
            "pool": self.pool.get_state(),
            "rule_calls": self._rule_calls,
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Continue from a state of `get_state`, of which this process takes its share of the games.

        Raises:
            FormatError: the state does not fit.
        """
        if self._processes.size > 1:
            state = part_of(state, self._games, self.vec.num_players)
        self._check_transitions(state["trajectories"], state["store"])
        self.pool.check(state["pool"])
        calls = state["rule_calls"]
        if not 0 <= calls <= SEED_MASK:
            raise FormatError(f"rule_calls is {short(calls)}")
        trajectories = as_arrays(state["trajectories"])
        self.vec.set_state(as_arrays(state["env"]))
        self.trajectories.set_state(trajectories)
        self.store.set_state(self._slots(trajectories["slots"]), state["store"])
        self.pool.set_state(state["pool"])
        self._rule_calls = calls

    def _slots(self, indices: np.ndarray) -> Tensor:
        return torch.from_numpy(indices).to(self.device)

    def _check_transitions(self, trajectories: dict[str, Any], store: dict[str, Any]) -> None:
        slots = trajectories.get("slots")
        if not isinstance(slots, Tensor) or slots.ndim != 1 or len(slots) > self.trajectories.num_carried:
            raise FormatError("slots are not those of carried transitions")
        number = len(slots)
        checked_tensor(slots, "slots", (number,), torch.int64)
        checked_tensor(trajectories.get("reward"), "reward", (number,), torch.float32)
        inside = number == 0 or (slots[0] >= 0 and slots[-1] < self.trajectories.num_carried)
        if not inside or (slots[1:] <= slots[:-1]).any():
            raise FormatError("slots are not those of carried transitions")
        for name, array in vars(self.store).items():
            checked_tensor(store.get(name), f"store.{name}", (number, *array.shape[1:]), array.dtype)
        legal, count, choice = store["legal"], store["num_legal"], store["choice"]
        if ((legal < 0) | (legal >= self.vec.num_actions)).any() or ((count < 1) | (count > legal.shape[1])).any():
            raise FormatError("store has unknown actions")
        if ((choice < 0) | (choice >= count)).any():
            raise FormatError("store has illegal choices")


class Tally:
    """Counts over a rollout."""

    def __init__(self, tables: Tables) -> None:
        """Start at zero."""
        self._tables = tables
        self._returns: list[np.ndarray] = []
        self._pool: list[np.ndarray] = []
        self._rules: list[np.ndarray] = []

    def add(self, batch: Batch) -> None:
        """Count the games that ended in a step."""
        ended = np.flatnonzero(batch.terminated | batch.truncated)
        if len(ended):
            returns = batch.episode_returns[ended]
            learner, is_ruled = self._tables.learner[ended], self._tables.is_ruled[ended]
            learners = returns[np.arange(len(ended)), learner]  # meaningless where everybody learns; dropped below
            self._returns.append(returns)
            self._pool.append(learners[(learner != EVERY_PLAYER) & ~is_ruled])
            self._rules.append(learners[is_ruled])

    def unite(self, processes: Processes) -> None:
        """Add the counts of the other processes."""
        if processes.size > 1:
            counts = zip(*processes.gather((self._returns, self._pool, self._rules)), strict=True)
            self._returns, self._pool, self._rules = ([array for part in parts for array in part] for parts in counts)

    @property
    def returns(self) -> np.ndarray:
        """(M, P) float64, returns of all games that ended."""
        return np.concatenate(self._returns) if self._returns else np.zeros((0, 1))

    @property
    def against_pool(self) -> np.ndarray:
        """(M,) float64, the learner's returns in games against the pool."""
        return np.concatenate(self._pool) if self._pool else np.zeros(0)

    def metrics(self, steps: int) -> dict[str, float]:
        """Return metrics of a rollout of `steps` steps."""
        metrics = {"games/length": steps / max(1, len(self.returns))}
        against_rules = np.concatenate(self._rules) if self._rules else np.zeros(0)
        for name, returns in (("past_self", self.against_pool), ("rules", against_rules)):
            if len(returns):
                metrics[f"games/return_vs_{name}"] = float(returns.mean())
        return metrics


def rule_opponents(config: Config, game: Game) -> list[str]:
    """Return the names of the rule policies to train against.

    Raises:
        PolicyNotFoundError: the game lacks a policy that the config names, here or as the teacher.
    """
    for name in (*config.rule_opponents, *([config.teacher] if config.teacher else [])):
        game.engine.policy(name)
    return [*config.rule_opponents] or [name for name in game.engine.policy_names() if name != "random"]
