"""The policies that ship with cardenvs, without torch: the network of cardenvs.agents.network in numpy.

For where torch is missing, as in a browser. Agents with torch play the same up to rounding in float64.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from cardenvs.agents.base import Agent, Turn, drawn_index, note_probabilities
from cardenvs.core.errors import FormatError
from cardenvs.core.game import Game
from cardenvs.core.options import Options

_DTYPES = {"F16": np.float16, "F32": np.float32}
_LENGTH_BYTES = 8  # of the number at the start of a safetensors file, the length of its header

Weights = dict[str, np.ndarray]


class PlainPolicy(Agent):
    """Plays the policy of a weights file. Keeps nothing from turn to turn.

    Attributes:
        game: name of the game it was trained on.
        sample: whether it draws actions from its policy instead of taking the most likely one.
        threshold: the least probability that an action needs to be drawn.
    """

    def __init__(self, path: Path, game: Game, options: Options, sample: bool = False, threshold: float = 0.0) -> None:
        """Read a weights file of the zoo.

        Raises:
            FormatError: it is for another game, or for options with other observations or actions.
        """
        about, self._weights = read_weights(path)
        its = (about["game"], about["layout"], about["shape"]["num_actions"])
        self._reads = game.as_read(options, about["options"])
        if its != (game.name, game.layout(self._reads).hash, game.num_actions(options)):
            raise FormatError(f"{path.name} was trained on {about['game']} with other options; it does not fit these")
        self.name, self.game = f"zoo:{game.name}/{path.stem}", game.name
        self.sample, self.threshold = sample, threshold
        self._shape, self._has_policy = about["shape"], about["method"] == "ppo"

    def reset(self, seed: int) -> None:
        """Do nothing: all randomness comes from the turns."""

    def act(self, turn: Turn) -> int:
        """Return the action for one turn. If the network has a policy, note the likeliest actions."""
        logits = network_logits(
            self._weights, self._shape, turn.observation_as(self._reads), np.array(turn.legal_actions)
        )
        if not self._has_policy:
            return turn.legal_actions[int(logits.argmax())]
        likely = np.exp(logits - logits.max())
        if self.threshold:
            likely[(likely < self.threshold * likely.sum()) & (likely < likely.max())] = 0
        note_probabilities(turn, likely / likely.sum())
        return turn.legal_actions[drawn_index(likely, turn.seed) if self.sample else int(logits.argmax())]


def read_weights(path: Path) -> tuple[dict[str, Any], Weights]:
    """Return the description of a policy and its weights, float64, from a file of the zoo (safetensors)."""
    data = path.read_bytes()
    start = _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "little")
    header = json.loads(data[_LENGTH_BYTES:start])
    about = json.loads(header.pop("__metadata__")["policy"])
    weights = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        values = np.frombuffer(data[start + begin : start + end], _DTYPES[entry["dtype"]])
        weights[name] = values.reshape(entry["shape"]).astype(np.float64)
    return about, weights


def network_logits(weights: Weights, shape: dict[str, Any], observation: np.ndarray, legal: np.ndarray) -> np.ndarray:
    """Return the logits of legal actions, float64 (n,), as cardenvs.agents.network computes them.

    Args:
        weights: by name.
        shape: arguments of `Network`.
        observation: (D,).
        legal: (n,) ids of all legal actions, in order.
    """
    features = hidden = observation * weights["scale"]
    for k in range(len(shape["hidden"])):
        hidden = _activated(_linear(weights, f"trunk.{2 * k}", hidden), shape["activation"])
    if not shape["action_embedding"]:
        return np.asarray(_linear(weights, "policy", hidden)[legal])
    query, embedded = _linear(weights, "policy.query", hidden), _embeddings(weights, legal)
    if outcomes := shape.get("outcomes"):
        start, rows, width = outcomes
        num_described = min(len(legal), rows)
        described = features[start : start + num_described * width].reshape(num_described, width)
        embedded[:num_described] += described @ weights["outcomes.weight"].T
    if shape["action_head"] == "product":
        return np.asarray(embedded @ query + weights["policy.bias"][legal])
    return _linear(weights, "policy.score", np.maximum(query + embedded, 0))[:, 0]


def _linear(weights: Weights, name: str, values: np.ndarray) -> np.ndarray:
    return np.asarray(values @ weights[f"{name}.weight"].T + weights[f"{name}.bias"])


def _embeddings(weights: Weights, legal: np.ndarray) -> np.ndarray:
    """Return the embeddings (n, size) of actions: a vector for each, a map of its features, or the sum of both."""
    made: Any = 0.0
    if "policy.embedding.weight" in weights:
        made = made + weights["policy.embedding.weight"][legal]
    if "policy.embedding.features" in weights:
        made = made + weights["policy.embedding.features"][legal] @ weights["policy.embedding.mix.weight"].T
    return np.asarray(made)


def _activated(values: np.ndarray, activation: str) -> np.ndarray:
    if activation == "relu":
        return np.asarray(np.maximum(values, 0))
    if activation == "tanh":
        return np.asarray(np.tanh(values))
    return np.asarray(values / (1 + np.exp(-values)))  # silu
