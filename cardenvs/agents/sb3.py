"""Agents of the kind `sb3`: a model saved by Stable-Baselines3 or sb3-contrib, by path.

    model = MaskablePPO("MlpPolicy", SeatVecEnv("GAME_v0", 64)).learn(...)
    model.save("model.zip")             # then: cardenvs match GAME_v0 --agents sb3:model.zip,random

MaskablePPO, DQN, and the actor-critics of Stable-Baselines3 (PPO, A2C) work. The agent plays the most likely legal
action, or the one with the highest value; `sb3:model.zip,sample=true` samples from the policy. A model is a pickle,
which can run any code when it is read, so like every agent with code of its own it plays in a separate process.
"""

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from cardenvs.agents.base import Agent, Turn
from cardenvs.agents.kinds import AgentKind
from cardenvs.agents.parameters import Reader, file_fingerprint, read_parameters, split_file, truth
from cardenvs.core.errors import AgentError, require
from cardenvs.core.game import Game
from cardenvs.core.options import Options

_EXAMPLE = "model.zip"
_PARAMETERS: dict[str, Reader] = {"sample": truth}
_ALGORITHMS = {  # by the module of the policy's class, which the file names
    "sb3_contrib.common.maskable.policies": ("sb3_contrib", "MaskablePPO"),
    "stable_baselines3.common.policies": ("stable_baselines3", "PPO"),
    "stable_baselines3.dqn.policies": ("stable_baselines3", "DQN"),
}
# In place of functions pickled with the model, which another version of Python may not read. Only training calls them.
_SCHEDULES = dict.fromkeys(("lr_schedule", "clip_range"), lambda progress: 0.0)


class SB3Agent(Agent):
    """Plays with a model of Stable-Baselines3.

    Attributes:
        model: the model.
        sample: whether it samples from its policy; otherwise it plays the best action.
    """

    name = "sb3"

    def __init__(self, model: Any, game: Game, options: Options, sample: bool = False) -> None:
        """Create an agent.

        Raises:
            AgentError: the model takes other observations or actions than the game has, or has nothing to sample from.
        """
        self.model, self.sample = model, sample
        space, size = model.observation_space, game.layout(options).size
        self._takes_mask = hasattr(space, "spaces")
        taken = space.spaces.get("observation") if self._takes_mask else space
        shape, actions = getattr(taken, "shape", None), getattr(model.action_space, "n", None)
        if shape != (size,) or actions != game.num_actions(options):
            raise AgentError(
                f"the model was trained for observations of shape {shape} and {actions} actions; {game.name} with "
                f"these options has ({size},) and {game.num_actions(options)}"
            )
        if sample and hasattr(model, "q_net"):
            raise AgentError("a DQN has values and no probabilities, so there is nothing to sample from")

    def act(self, turn: Turn) -> int:
        """Return the best legal action, or a sample from the policy."""
        import torch

        mask = torch.as_tensor(turn.action_mask, dtype=torch.bool)
        seen: Any = turn.observation
        if self._takes_mask:
            seen = {"observation": turn.observation, "action_mask": turn.action_mask}
        observation, _ = self.model.policy.obs_to_tensor(seen)
        with torch.no_grad():
            scores = self._scores(observation).cpu()[0]
        scores[~mask] = -torch.inf
        if not self.sample:
            return int(scores.argmax())
        chances = torch.softmax(scores.double(), 0).numpy()
        return int(np.random.default_rng(turn.seed).choice(len(chances), p=chances / chances.sum()))

    def _scores(self, observation: Any) -> Any:
        """Return the values or the logits of all actions, (1, num_actions)."""
        policy = self.model.policy
        if hasattr(policy, "q_net"):
            return policy.q_net(observation)
        return policy.get_distribution(observation).distribution.logits


def load_model(path: Path) -> Any:
    """Return the model in a file, on the CPU.

    Raises:
        AgentError: the file is no model of a known algorithm, or cannot be read.
        MissingExtraError: Stable-Baselines3 is not installed.
    """
    module, name = _algorithm(path)
    algorithm = getattr(require(module, "sb3"), name)
    try:
        return algorithm.load(path, device="cpu", custom_objects=_SCHEDULES)
    except Exception as error:  # unpickling may raise anything
        raise AgentError(f"{path} cannot be loaded as {name}: {error}") from error


def _algorithm(path: Path) -> tuple[str, str]:
    try:
        with zipfile.ZipFile(path) as saved:
            policy = json.loads(saved.read("data"))["policy_class"]
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise AgentError(f"{path} is not a model saved by Stable-Baselines3: {error}") from None
    module = policy.get("__module__", "") if isinstance(policy, dict) else ""
    if module not in _ALGORITHMS:
        raise AgentError(f"{path} has a policy from {module!r}; MaskablePPO, PPO, A2C and DQN can play")
    return _ALGORITHMS[module]


def _make(argument: str, game: Game, options: Options) -> Agent:
    path, parameters = split_file("sb3", argument, _EXAMPLE)
    return SB3Agent(load_model(path), game, options, **read_parameters("sb3", parameters, _PARAMETERS))


def _fingerprint(argument: str) -> str:
    path, _ = split_file("sb3", argument, _EXAMPLE)
    return file_fingerprint(path)


SB3 = AgentKind(
    "sb3",
    "sb3:PATH",
    "a model saved by Stable-Baselines3 or sb3-contrib (MaskablePPO, DQN, PPO, A2C), its best legal action; "
    "`sb3:PATH,sample=true` samples from the policy",
    _make,
    _fingerprint,
)
