"""The network of `cardenvs.training.ppo`, with a policy and a value head, for training and for agents.

Needs the extra `train` (torch).
"""

import math
from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np

from cardenvs.core.errors import OptionError, require
from cardenvs.core.game import Game
from cardenvs.core.options import Options

require("torch", "train")  # names the missing extra, which a plain import would not

import torch  # noqa: E402
from torch import Tensor, nn  # noqa: E402

ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "tanh": nn.Tanh, "silu": nn.SiLU}
_LOGIT_GAIN = 0.01


class Network(nn.Module):
    """Policy and value of a player from its observation; one network for all seats.

    Initial weights are orthogonal, and small for the logits, as in S. Huang et al., "The 37 Implementation Details of
    Proximal Policy Optimization" (ICLR blog track 2022), 2.

    Attributes:
        shape: the constructor's arguments, as JSON values.
        scale: (D,) floats, factors of observations in `features`.
        outcomes: a linear map of what the observation says about each legal action, which is added to its embedding;
            None if it says nothing.
        is_half: whether the hidden layers compute in bfloat16.
    """

    scale: Tensor

    def __init__(
        self,
        observation_size: int,
        num_actions: int,
        hidden: Sequence[int] = (256, 256),
        activation: str = "relu",
        action_embedding: int = 0,
        action_head: str = "product",
        action_features: int = 0,
        outcomes: Sequence[int] = (),
    ) -> None:
        """Create a network with random weights, from torch's global generator.

        Args:
            observation_size: D.
            num_actions: A.
            hidden: widths of the hidden layers.
            activation: one of ACTIVATIONS.
            action_embedding: size of the actions' embeddings; 0: a linear layer over all actions.
            action_head: how embeddings are combined with hidden values, one of HEADS.
            action_features: number of features per action, on which its embedding depends; 0: none.
            outcomes: where observations describe legal actions, as `Layout.outcomes`: first index, number of rows and
                entries per row; empty: nowhere. Needs embeddings.
        """
        super().__init__()
        self.is_half = False
        self.shape = {
            "observation_size": observation_size,
            "num_actions": num_actions,
            "hidden": list(hidden),
            "activation": activation,
            "action_embedding": action_embedding,
            "action_head": action_head,
            "action_features": action_features,
            "outcomes": list(outcomes),
        }
        layers: list[nn.Module] = []
        for size_in, size_out in zip([observation_size, *hidden], hidden, strict=False):
            layers += [_linear(size_in, size_out, 2**0.5), ACTIVATIONS[activation]()]
        self.trunk = nn.Sequential(*layers)
        self.policy: LinearHead | EmbeddingHead | LayerHead = (
            HEADS[action_head](hidden[-1], num_actions, action_embedding, action_features)
            if action_embedding
            else LinearHead(hidden[-1], num_actions)
        )
        self._rows = tuple(outcomes)
        self.outcomes = nn.Linear(outcomes[2], action_embedding, bias=False) if outcomes else None
        if self.outcomes is not None:
            nn.init.normal_(self.outcomes.weight, std=_LOGIT_GAIN)
        self.value = _linear(hidden[-1], 1, 1.0)
        self.register_buffer("scale", torch.ones(observation_size))

    @classmethod
    def for_game(
        cls,
        game: Game,
        options: Options,
        hidden: Sequence[int],
        activation: str,
        action_embedding: int = 0,
        action_head: str = "product",
        action_features: bool = False,
    ) -> Self:
        """Return a network with the sizes of a game, which scales each entry of the observation by its bounds.

        With embeddings and `action_features`, embeddings depend on the game's features of each action, scaled too.
        With embeddings, they also depend on what the observation says about each legal action, if it says something.

        Raises:
            OptionError: the head needs features of actions, and the game has none.
        """
        layout = game.layout(options)
        known = game.action_features(options)
        num_features = known.shape[1] if action_features and action_embedding else 0
        if action_head == "features" and not num_features:
            raise OptionError(f"action_head features needs features of actions, and {game.name} has none")
        outcomes = layout.outcomes or () if action_embedding else ()
        network = cls(
            layout.size, len(known), hidden, activation, action_embedding, action_head, num_features, outcomes
        )
        bound = np.maximum(np.abs(layout.low.astype(np.float64)), np.abs(layout.high.astype(np.float64)))
        bound[~np.isfinite(bound) | (bound == 0)] = 1
        network.scale.copy_(torch.from_numpy(1 / bound))
        if num_features and not isinstance(network.policy, LinearHead):
            network.policy.embedding.describe(known)
        return network

    def features(self, observation: Tensor) -> Tensor:
        """Return the input of `forward`, floats of about -1 to 1, for observations (N, D) of any dtype."""
        return observation * self.scale

    def forward(
        self, features: Tensor, legal: Tensor | None = None, listed: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return logits and values (N,).

        Args:
            features: (N, D), from `features`.
            legal: (N, L) int64, the actions whose logits (N, L) to return; None: logits (N, A) of all actions. With
                `outcomes`, these must be all legal actions, in order.
            listed: (N, L) bool, which entries of `legal` are actions; some heads skip the others. None: all.
        """
        hidden = self._hidden(features)
        return self.policy(hidden, legal, listed, self._described(features, legal)), self.value(hidden).squeeze(-1)

    def _described(self, features: Tensor, legal: Tensor | None) -> Tensor | None:
        """Return what is added to the embeddings of `legal`, (N, L, size), if the observation describes actions."""
        if self.outcomes is None:
            return None
        if legal is None:
            raise ValueError("this network scores legal actions only, by what the observation says about them")
        start, rows, width = self._rows
        num_described = min(legal.shape[1], rows)
        described = features[:, start : start + num_described * width].unflatten(1, (num_described, width))
        added: Tensor = self.outcomes(described)
        return nn.functional.pad(added, (0, 0, 0, legal.shape[1] - num_described))

    def value_of(self, features: Tensor) -> Tensor:
        """Return values (N,) only."""
        values: Tensor = self.value(self._hidden(features))
        return values.squeeze(-1)

    def _hidden(self, features: Tensor) -> Tensor:
        with torch.autocast(features.device.type, torch.bfloat16, enabled=self.is_half):
            hidden: Tensor = self.trunk(features)
        return hidden.float() if self.is_half else hidden  # heads stay exact: small probability ratios matter


class LinearHead(nn.Linear):
    """Logits of all actions by one linear layer."""

    def __init__(self, size_in: int, num_actions: int) -> None:
        """Start with logits close to 0."""
        super().__init__(size_in, num_actions)
        nn.init.orthogonal_(self.weight, _LOGIT_GAIN)
        nn.init.zeros_(self.bias)

    def forward(
        self, hidden: Tensor, legal: Tensor | None = None, listed: Tensor | None = None, added: Tensor | None = None
    ) -> Tensor:
        """Return logits (N, L) of the actions `legal` (N, L) from hidden values (N, H); None: (N, A) of all actions.

        `listed` and `added` are not used.
        """
        logits = super().forward(hidden)
        return logits if legal is None else logits.gather(1, legal)

    @torch.no_grad()
    def rescale(self, ratio: float) -> None:
        """Multiply all outputs by a number."""
        self.weight.mul_(ratio)
        self.bias.mul_(ratio)


class Embeddings(nn.Embedding):
    """Embeddings of actions: a learnt vector for each, plus a linear map of its features, if there are any.

    With features, learning generalises across similar actions, as with the encoded moves of D. Zha et al.,
    "DouZero: Mastering DouDizhu with Self-Play Deep Reinforcement Learning" (2021).
    """

    features: Tensor

    def __init__(self, num_actions: int, size: int, num_features: int = 0) -> None:
        """Create embeddings of `size` numbers, with features of 0."""
        super().__init__(num_actions, size)
        self.mix = nn.Linear(num_features, size, bias=False) if num_features else None
        if num_features:
            self.register_buffer("features", torch.zeros(num_actions, num_features))

    def describe(self, features: np.ndarray) -> None:
        """Set the features (A, F) of the actions, each divided by its largest absolute value."""
        self.features.copy_(_scaled(features))

    def begin(self, spread: float) -> None:
        """Draw new weights with standard deviation `spread`."""
        nn.init.normal_(self.weight, std=spread)
        if self.mix is not None:
            nn.init.normal_(self.mix.weight, std=spread)

    def table(self) -> Tensor:
        """Return the embeddings of all actions, (A, size)."""
        return self.weight if self.mix is None else self.weight + self.mix(self.features)

    def of(self, actions: Tensor) -> Tensor:
        """Return the embeddings (..., size) of some actions (...), int64."""
        if self.mix is None or actions.numel() >= self.num_embeddings:
            return nn.functional.embedding(actions, self.table())
        mixed: Tensor = super().forward(actions) + self.mix(self.features[actions])
        return mixed

    @torch.no_grad()
    def rescale(self, ratio: float) -> None:
        """Multiply all embeddings by a number."""
        self.weight.mul_(ratio)
        if self.mix is not None:
            self.mix.weight.mul_(ratio)


class FeatureEmbeddings(nn.Module):
    """Embeddings of actions: a linear map of their features alone, so its size does not grow with the actions."""

    features: Tensor

    def __init__(self, num_actions: int, size: int, num_features: int) -> None:
        """Create embeddings of `size` numbers, with features of 0."""
        super().__init__()
        self.mix = nn.Linear(num_features, size, bias=False)
        self.register_buffer("features", torch.zeros(num_actions, num_features))

    def describe(self, features: np.ndarray) -> None:
        """Set the features (A, F) of the actions, each divided by its largest absolute value."""
        self.features.copy_(_scaled(features))

    def begin(self, spread: float) -> None:
        """Draw new weights with standard deviation `spread`."""
        nn.init.normal_(self.mix.weight, std=spread)

    def table(self) -> Tensor:
        """Return the embeddings of all actions, (A, size)."""
        return self.of(torch.arange(len(self.features), device=self.features.device))

    def of(self, actions: Tensor) -> Tensor:
        """Return the embeddings (..., size) of some actions (...), int64."""
        mixed: Tensor = self.mix(self.features[actions])
        return mixed


def _scaled(features: np.ndarray) -> Tensor:
    most = np.maximum(np.abs(features.astype(np.float64)).max(0), 1)
    return torch.from_numpy(features / most)


class EmbeddingHead(nn.Module):
    """Logits as products of a query, computed from the hidden values, and an embedding of each action.

    Computes only logits of legal actions, which is much faster if few of thousands of actions are legal.
    """

    def __init__(self, size_in: int, num_actions: int, size: int, num_features: int) -> None:
        """Start with logits close to 0."""
        super().__init__()
        self.query = _linear(size_in, size, 1.0)
        self.embedding = Embeddings(num_actions, size, num_features)
        self.bias = nn.Parameter(torch.zeros(num_actions))
        self.embedding.begin(_LOGIT_GAIN)

    def forward(
        self, hidden: Tensor, legal: Tensor | None = None, listed: Tensor | None = None, added: Tensor | None = None
    ) -> Tensor:
        """Return logits (N, L) of the actions `legal` (N, L) from hidden values (N, H); None: (N, A) of all actions.

        `added` (N, L, size) is added to their embeddings. `listed` is not used.
        """
        query: Tensor = self.query(hidden)
        if legal is None:
            return query @ self.embedding.table().T + self.bias
        embedded = self.embedding.of(legal) if added is None else self.embedding.of(legal) + added
        return (embedded @ query.unsqueeze(-1)).squeeze(-1) + self.bias[legal]

    @torch.no_grad()
    def rescale(self, ratio: float) -> None:
        """Multiply all outputs by a number."""
        self.embedding.rescale(ratio)
        self.bias.mul_(ratio)


class LayerHead(nn.Module):
    """Scores from a hidden layer over the hidden values and an embedding of the action, one row per action.

    As in DouZero, where a network scores one action at a time; the part for the observation is computed once.
    """

    embeddings: ClassVar[type[Embeddings] | type[FeatureEmbeddings]] = Embeddings

    def __init__(self, size_in: int, num_actions: int, size: int, num_features: int) -> None:
        """Start with scores close to 0, from a layer as wide as the embeddings."""
        super().__init__()
        self.query = _linear(size_in, size, 1.0)
        self.embedding = self.embeddings(num_actions, size, num_features)
        self.score = _linear(size, 1, _LOGIT_GAIN)
        self.embedding.begin(0.1)

    def forward(
        self, hidden: Tensor, legal: Tensor | None = None, listed: Tensor | None = None, added: Tensor | None = None
    ) -> Tensor:
        """Return scores (N, L) of the actions `legal` (N, L) from hidden values (N, H); None: (N, A) of all actions.

        Scores of actions that are not `listed` are 0. `added` (N, L, size) is added to the embeddings.
        """
        query: Tensor = self.query(hidden)
        if legal is None:
            every: Tensor = self.score((query.unsqueeze(1) + self.embedding.table()).relu())
            return every.squeeze(-1)
        row, column = (torch.ones_like(legal, dtype=torch.bool) if listed is None else listed).nonzero(as_tuple=True)
        chosen = self.embedding.of(legal[row, column])
        if added is not None:
            chosen = chosen + added[row, column]
        scores: Tensor = self.score((query[row] + chosen).relu())
        return scores.new_zeros(legal.shape).index_put((row, column), scores.squeeze(-1))

    @torch.no_grad()
    def rescale(self, ratio: float) -> None:
        """Multiply all outputs by a number."""
        self.score.weight.mul_(ratio)
        self.score.bias.mul_(ratio)


class FeatureHead(LayerHead):
    """A layer head that knows actions by their features alone, as in DouZero: small, however many actions there are."""

    embeddings = FeatureEmbeddings


HEADS: dict[str, type[EmbeddingHead] | type[LayerHead]] = {
    "product": EmbeddingHead,
    "layer": LayerHead,
    "features": FeatureHead,
}


def _linear(size_in: int, size_out: int, gain: float) -> nn.Linear:
    layer = nn.Linear(size_in, size_out)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


def log_policy(logits: Tensor, mask: Tensor, threshold: float = 0.0) -> Tensor:
    """Return log-probabilities (N, K), -inf for illegal actions.

    Entropy bonuses and gradient steps leave a little probability on every bad action. Leaving out what is less likely
    than a threshold gets nearer to an equilibrium, as in J. Perolat et al., "Mastering the Game of Stratego with
    Model-Free Multiagent Reinforcement Learning" (Science 2022).

    Args:
        logits: (N, K) floats, of all actions or of some.
        mask: (N, K) bool, with at least one legal action per row.
        threshold: actions with a smaller probability get none, except the likeliest.
    """
    found = torch.where(mask, logits, -torch.inf).log_softmax(-1)
    if not threshold:
        return found
    is_kept = (found >= math.log(threshold)) | (found >= found.max(-1, keepdim=True).values)
    return found.masked_fill(~is_kept, -torch.inf).log_softmax(-1)
