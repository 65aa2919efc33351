"""Playing: batches of games, and the transitions of all their players."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from cardenvs.agents.network import Network, log_policy
from cardenvs.agents.ppo import checked_tensor
from cardenvs.core.checks import short
from cardenvs.core.errors import FormatError
from cardenvs.core.game import Game
from cardenvs.core.rng import SEED_MASK, derived_seed
from cardenvs.envs.batch import Batch
from cardenvs.envs.vector import VectorEnv
from cardenvs.training.config import Config
from cardenvs.training.ppo.league import EVERY_PLAYER, Latest, Pool, Tables
from cardenvs.training.ppo.opponents import Opponent, PolicyOpponent
from cardenvs.training.ppo.processes import ALONE, Processes
from cardenvs.training.ppo.trajectories import NO_ADVICE, RolloutBuffer, Trajectories, as_arrays, as_tensors
from cardenvs.training.progress import Stopwatch


def is_listed(legal: Tensor, num_legal: Tensor) -> Tensor:
    """(N, L) bool: whether an entry of the lists `legal` (N, L) is among the first num_legal (N,) of its row."""
    return torch.arange(legal.shape[1], device=legal.device) < num_legal.unsqueeze(1)


def columns(batch: Batch, rows: slice | np.ndarray = slice(None), out: np.ndarray | None = None) -> Tensor:
    """Legal lists of a batch as columns to gather, in `out` if given: what is behind their ends, -1, would be none."""
    assert batch.legal_actions is not None  # the batch was made with legal_lists=True
    return torch.from_numpy(np.maximum(batch.legal_actions[rows], 0, out=out))


def shortened(legal: Tensor, num_legal: Tensor) -> Tensor:
    """Lists `legal` (N, L) without the columns that are behind the end of every row.

    On a GPU this waits, unless `num_legal` is on the CPU.
    """
    return legal[:, : int(num_legal.max())]


def sample(
    log_probs: Tensor, generator: torch.Generator, shape: tuple[int, int] | None = None, rows: slice = slice(None)
) -> Tensor:
    """Draw an entry a row by the Gumbel trick: the argmax of log p - log(-log u), u uniform.

    Args:
        log_probs: (N, K), -inf for what must not be drawn.
        generator: of the same device.
        shape: of the noise to draw, of which this takes `rows` and K columns; None: (N, K).
        rows: N of them.

    Returns:
        (N,) int64.
    """
    u = torch.rand(shape or log_probs.shape, generator=generator, device=log_probs.device)
    u = u[rows, : log_probs.shape[1]]
    u.clamp_(torch.finfo(u.dtype).tiny, 1 - torch.finfo(u.dtype).eps / 2)  # at 0 and 1 the noise would not be finite
    return (log_probs - u.log_().neg_().log_()).argmax(-1)


def epsilon_greedy(values: Tensor, listed: Tensor, epsilon: float, generator: torch.Generator) -> Tensor:
    """Choose the column of the largest value in each row, or with probability epsilon any listed one.

    Args:
        values: (N, K).
        listed: (N, K) bool, what may be chosen; at least one a row.
        epsilon: 0 to 1.
        generator: of the same device.

    Returns:
        (N,) int64.
    """
    best = values.masked_fill(~listed, -torch.inf).argmax(-1)
    anything = sample(torch.zeros_like(values).masked_fill(~listed, -torch.inf), generator)
    return torch.where(torch.rand(len(values), generator=generator, device=values.device) < epsilon, anything, best)


class StepInput:
    """The input of the networks in a step: observations and legal actions of all games.

    For a GPU it is in page-locked memory, from which copies are fast and run on their own. The next step can safely
    overwrite it, because it waits for the actions of this one, which come after the copies.

    Attributes:
        observation: (N, D) of the game's dtype.
        legal: (N, L) int64, with zeros behind the end of a list.
        num_legal: (N,) int64.
    """

    def __init__(self, vec: VectorEnv, device: torch.device) -> None:
        """Make room for the games in `vec`, whose networks are on `device`."""
        locked = device.type == "cuda"
        self._batch = torch.from_numpy(vec.batch.observation)  # a view: the batch is overwritten in place
        self.observation = torch.empty_like(self._batch, pin_memory=True) if locked else self._batch
        shape = vec.num_envs, vec.game.max_legal(vec.options)
        self.legal = torch.empty(shape, dtype=torch.int64, pin_memory=locked)
        self.num_legal = torch.empty(vec.num_envs, dtype=torch.int64, pin_memory=locked)

    def update(self, batch: Batch) -> None:
        """Copy the present step of the games."""
        if self.observation is not self._batch:
            self.observation.copy_(self._batch)
        columns(batch, out=self.legal.numpy())
        self.num_legal.numpy()[:] = batch.num_legal


class Collector:
    """Plays N games with the network, some of them against others (`Tables`), and stores the learners' transitions.

    An opponent from the pool is drawn for each rollout, so it may change within a game.

    Attributes:
        vec: the games.
        trajectories, store: the transitions of the present rollout.
        returns: (M, P) float64, of the games that ended in it, in all processes.
        pool: the networks to play against.
    """

    def __init__(
        self,
        vec: VectorEnv,
        network: Network,
        config: Config,
        generator: torch.Generator,
        watch: Stopwatch,
        pool: Pool | Latest,
        opponents: dict[str, Opponent] | None = None,
        processes: Processes = ALONE,
        num_games: int | None = None,
    ) -> None:
        """Create a player of the games in `vec`, which have been reset.

        Args:
            vec, network, config, generator: of the run.
            watch: takes the time.
            pool: the networks to play against.
            opponents: by name, who shares the games of `rule_share`; None: the rule policies of the config.
            processes: the others play further games.
            num_games: in all processes; None: those in `vec`.
        """
        if opponents is None:
            opponents = {name: PolicyOpponent(name) for name in rule_opponents(config, vec.game)}
        self._opponents = opponents
        self.vec, self._network, self._config, self._generator, self._watch = vec, network, config, generator, watch
        self.device = next(network.parameters()).device
        self._processes = processes
        self._num_games = num_games or vec.num_envs
        self._games = slice(vec.first_env, vec.first_env + vec.num_envs)
        self.trajectories = Trajectories(vec.num_envs, vec.num_players, config.rollout_steps, vec.first_env)
        self.store = RolloutBuffer(self.trajectories.num_slots, vec, self.device)
        self.pool = pool
        self.returns = np.zeros((0, vec.num_players))
        self._input = StepInput(vec, self.device)
        self._tables = Tables(config, self._num_games, vec.num_players, list(opponents), self._games)
        self._rule_seed, self._rule_calls = derived_seed(config.seed, "rule opponents"), 0

    @torch.inference_mode()
    def play(self, teacher: str = "") -> dict[str, float]:
        """Play a rollout from where the last one stopped, noting what a policy named `teacher` would do there.

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
        return tally.metrics(self._config.rollout_steps * self._num_games)

    def _act(self, rows: slice, learning: np.ndarray) -> np.ndarray:
        """Choose and store the networks' actions in all environments. Returns actions (N,) int64."""
        store, new = self.store, self._input
        with self._watch("encode"):
            new.update(self.vec.batch)
            observation, legal, num_legal = store.observation[rows], store.legal[rows], store.num_legal[rows]
            observation.copy_(new.observation, non_blocking=True)
            legal.copy_(new.legal, non_blocking=True)
            num_legal.copy_(new.num_legal, non_blocking=True)
            legal = shortened(legal, new.num_legal)
            listed = is_listed(legal, num_legal)
            features = self._network.features(observation)
        with self._watch("forward"):
            logits, store.value[rows] = self._network(features, legal, listed)
            others = self._slots(np.flatnonzero(~learning & ~self._tables.is_ruled))
            if len(others):
                logits[others] = self.pool.opponent(features[others], legal[others], listed[others])[0]
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

    def _sample(self, log_probs: Tensor) -> Tensor:
        """Draw from the policy; in several processes as in one, which draws noise for all games at once."""
        if self._processes.size == 1:
            return sample(log_probs, self._generator)
        shape = self._num_games, self._processes.largest(log_probs.shape[1])
        return sample(log_probs, self._generator, shape, self._games)

    def _follow_rules(self, actions: np.ndarray, learning: np.ndarray) -> None:
        """Replace the actions of rule policies' players, or of a frozen agent's, by their own."""
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
        """Return all that the next rollout depends on, but for the network and the generator; arrays as tensors."""
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
        """Go on from `get_state`, its arrays being tensors.

        Raises:
            FormatError: it is not what `get_state` gives.
        """
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


class Tally:
    """Counts over a rollout."""

    def __init__(self, tables: Tables) -> None:
        """Nothing counted yet."""
        self._tables = tables
        self._returns: list[np.ndarray] = []
        self._pool: list[np.ndarray] = []
        self._rules: list[np.ndarray] = []

    def add(self, batch: Batch) -> None:
        """Take in the games that ended in a step."""
        ended = np.flatnonzero(batch.terminated | batch.truncated)
        if len(ended):
            returns = batch.episode_returns[ended]
            learner, is_ruled = self._tables.learner[ended], self._tables.is_ruled[ended]
            learners = returns[np.arange(len(ended)), learner]  # of games in which everybody learns: left out below
            self._returns.append(returns)
            self._pool.append(learners[(learner != EVERY_PLAYER) & ~is_ruled])
            self._rules.append(learners[is_ruled])

    def unite(self, processes: Processes) -> None:
        """Add what the other processes counted."""
        if processes.size > 1:
            counts = zip(*processes.gather((self._returns, self._pool, self._rules)), strict=True)
            self._returns, self._pool, self._rules = ([array for part in parts for array in part] for parts in counts)

    @property
    def returns(self) -> np.ndarray:
        """(M, P) float64, of all games that ended."""
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
        PolicyNotFoundError: the game has no policy that the config names, for this or as a teacher.
    """
    for name in (*config.rule_opponents, *([config.teacher] if config.teacher else [])):
        game.engine.policy(name)
    return [*config.rule_opponents] or [name for name in game.engine.policy_names() if name != "random"]
