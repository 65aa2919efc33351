"""A policy trained by `cardenvs.training.ppo`, as an agent: its checkpoints, and how it plays.

    agent = load_agent("runs/best/latest.pt")

Its network is in cardenvs/agents/network.py. Needs the extra `train` (torch).
"""

import os
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from cardenvs.agents.base import Agent, Turn
from cardenvs.agents.checkpoint import WEIGHTS_SUFFIX
from cardenvs.agents.network import ACTIVATIONS, HEADS, Network, log_policy
from cardenvs.agents.weights import read_weights
from cardenvs.core.checks import short
from cardenvs.core.errors import FormatError, require
from cardenvs.core.files import whole_file
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.rng import derived_seed
from cardenvs.core.text import one_line

require("torch", "train")  # names the missing extra, which the next line would not

import torch  # noqa: E402
from torch import Tensor, nn  # noqa: E402

FORMAT = "cardenvs-ppo-1"
METHODS = ("ppo", "dmc")  # what logits are: those of a policy, or values of actions in scaled reward

_SEED_RANGE = 2.0**63
_MOST_NOTED = 5  # actions whose probabilities are noted


def read_checkpoint(path: str | Path) -> dict[str, Any]:
    """Return what `cardenvs.training.ppo` or `write_weights` saved, all tensors on the CPU.

    Nothing in the file is executed: it may come from anybody.

    Raises:
        FormatError: the file is damaged or no such checkpoint.
        OSError: it cannot be read.
    """
    checkpoint = read_weights(path) if Path(path).suffix == WEIGHTS_SUFFIX else _read_archive(path)
    try:
        checked_fields(checkpoint, _FIELDS, "the checkpoint")
        checkpoint["shape"] = _checked_shape(checkpoint["shape"])
        checkpoint["reward_scale"] = _checked_scale(checkpoint)
        checkpoint["method"] = checkpoint.get("method", "ppo")  # which files of earlier versions lack
        if checkpoint["method"] not in METHODS:
            raise FormatError(f"method is one of {', '.join(METHODS)}; got {short(checkpoint['method'])}")
        _check_options(checkpoint["options"])
        if checkpoint["steps"] < 0:
            raise FormatError("steps is negative")
    except FormatError as error:
        raise FormatError(f"{path} is damaged: {error}") from None
    return checkpoint


def write_checkpoint(
    path: Path,
    game: Game,
    options: Options,
    shape: dict[str, Any],
    model: dict[str, Any],
    steps: int,
    reward_scale: float,
    more: dict[str, Any],
) -> None:
    """Write a checkpoint that plays; a reader sees the old one or the new one, never half of one.

    Args:
        path: of the file, which is replaced.
        game, options: what the network was trained on.
        shape, model: the arguments of the network, and its weights.
        steps: for how many it was trained.
        reward_scale: factor by which rewards were multiplied in training, and with them its values.
        more: further fields, for resuming.

    Raises:
        OSError: it cannot be written.
    """
    checkpoint = {
        "format": FORMAT,
        "game": game.name,
        "options": options.as_dict(),
        "layout": game.layout(options).hash,
        "shape": shape,
        "model": model,
        "steps": steps,
        "reward_scale": reward_scale,
        **more,
    }
    with whole_file(path, sync=True) as file:
        torch.save(checkpoint, file)


def _read_archive(path: str | Path) -> dict[str, Any]:
    with open(path, "rb") as file:  # torch reports a missing file as a damaged one
        try:
            _check_archive(file)
            file.seek(0)
            checkpoint = torch.load(file, map_location="cpu", weights_only=True)
        except Exception as error:  # torch raises whatever its reader and its unpickler happen to
            reason = one_line((str(error).strip() or type(error).__name__).splitlines()[0])
            raise FormatError(f"{path} is damaged, or no checkpoint: {reason}") from None
    if not isinstance(checkpoint, dict) or checkpoint.get("format") != FORMAT:
        raise FormatError(f"{path} is not a checkpoint of this version of cardenvs ({FORMAT})")
    return checkpoint


def _check_archive(file: IO[bytes]) -> None:
    """Refuse an archive that is damaged, or larger inside than outside: torch compresses nothing."""
    archive = zipfile.ZipFile(file)
    entries = archive.infolist()
    size = file.seek(0, os.SEEK_END)
    if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
        raise FormatError("it is compressed")
    if sum(entry.file_size for entry in entries) > size:
        raise FormatError("it is larger inside than outside")
    bad = archive.testzip()  # torch itself does not look at the checksums
    if bad is not None:
        raise FormatError(f"{bad} has a wrong checksum")


def checked_fields(values: Any, fields: dict[str, Any], what: str) -> dict[str, Any]:
    """`values`, if it is a dict with values of these types; further ones do not matter.

    Raises:
        FormatError: says `what` lacks which of them.
    """
    if not isinstance(values, dict):
        raise FormatError(f"{what} is not a dict")
    for name, kind in fields.items():
        value = values.get(name)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise FormatError(f"{what} needs {name}, of type {getattr(kind, '__name__', kind)}; got {short(value)}")
    return values


def checked_tensor(value: Any, name: str, shape: Sequence[int], dtype: torch.dtype) -> Tensor:
    """`value`, if it is a dense tensor of that shape and dtype with finite entries.

    Raises:
        FormatError: says what is wrong with the tensor `name`.
    """
    if type(value) not in (Tensor, nn.Parameter) or value.layout != torch.strided or value.is_quantized:
        raise FormatError(f"{name} is not a tensor")
    if tuple(value.shape) != tuple(shape) or value.dtype != dtype:
        raise FormatError(
            f"{name} should be {list(shape)} {dtype}; it is {one_line(str(list(value.shape)), 80)} {value.dtype}"
        )
    if value.untyped_storage().nbytes() < value.numel() * value.element_size():  # one entry may stand for any number
        raise FormatError(f"{name} has more entries than the file")
    if not bool(torch.isfinite(value).all()):
        raise FormatError(f"{name} is not finite: NaN or infinity")
    return value


_FIELDS = {"game": str, "options": dict, "layout": str, "shape": dict, "model": dict, "steps": int}
_SHAPE_FIELDS = {
    "observation_size": int, "num_actions": int, "hidden": list, "activation": str, "action_embedding": int,
    "action_head": str, "action_features": int,
}  # fmt: skip
_EARLIER_SHAPE = {"action_embedding": 0, "action_head": "product", "action_features": 0}
_WIDEST, _MOST_LAYERS = 1 << 16, 64


def _checked_shape(shape: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a network; files of earlier versions lack what concerns embeddings.

    Raises:
        FormatError: they are not such arguments.
    """
    shape = checked_fields({**_EARLIER_SHAPE, **shape}, _SHAPE_FIELDS, "shape")
    hidden = shape["hidden"]
    sizes = [shape["observation_size"], shape["num_actions"], *hidden]
    if not 1 <= len(hidden) <= _MOST_LAYERS or not all(type(size) is int and size >= 1 for size in sizes):
        raise FormatError(f"shape should have sizes of 1 or more and 1 to {_MOST_LAYERS} hidden layers")
    if max(hidden) > _WIDEST:
        raise FormatError(f"a hidden layer is {short(max(hidden))} wide; at most {_WIDEST} is")
    for name in ("action_embedding", "action_features"):
        if not 0 <= shape[name] <= _WIDEST:
            raise FormatError(f"{name} is {short(shape[name])}; it is 0 to {_WIDEST}")
    for name, known in (("activation", ACTIVATIONS), ("action_head", HEADS)):
        if shape[name] not in known:
            raise FormatError(f"{name} is one of {', '.join(known)}; got {short(shape[name])}")
    return {name: shape[name] for name in _SHAPE_FIELDS}


def _checked_scale(checkpoint: dict[str, Any]) -> float:
    """The factor by which rewards were multiplied in training, and with them the network's values.

    Files of earlier versions have it among the settings.
    """
    config = checkpoint.get("config")
    earlier = config.get("reward_scale", 1.0) if isinstance(config, dict) else 1.0
    scale = checkpoint.get("reward_scale", earlier)
    if not isinstance(scale, int | float) or isinstance(scale, bool) or not 0 < scale < float("inf"):
        raise FormatError(f"its reward_scale is {short(scale)}")
    return float(scale)


def _check_options(options: dict[Any, Any]) -> None:
    for name, value in options.items():
        entries = value if isinstance(value, list) else [value]
        if not isinstance(name, str) or not all(isinstance(one, bool | int | float | str | None) for one in entries):
            raise FormatError(f"options has {short(name)}={short(value)}")


def check_fits(checkpoint: dict[str, Any], path: str | Path, game: Game, options: Options) -> None:
    """Refuse a checkpoint for another game, or for options that change what is seen or done.

    Raises:
        FormatError: says what differs.
    """
    if checkpoint["game"] != game.name:
        raise FormatError(f"{path} was trained on {one_line(checkpoint['game'], 80)}; it cannot play {game.name}")
    shape, layout = checkpoint["shape"], game.layout(options)
    for what, its, wanted in (
        ("observation entries", shape["observation_size"], layout.size),
        ("actions", shape["num_actions"], game.num_actions(options)),
        ("observation layout", checkpoint["layout"], layout.hash),
    ):
        if its != wanted:
            here = options.as_dict()
            other = [
                f"{name}={short(value)}" for name, value in checkpoint["options"].items() if here.get(name) != value
            ]
            raise FormatError(
                f"{path} does not fit {game.name} as played here: {what} {one_line(str(its), 80)}, not {wanted}; "
                f"it was trained with {', '.join(other) or 'another version of the game'}"
            )


def restore_network(checkpoint: dict[str, Any], path: str | Path) -> Network:
    """Return the network of a checkpoint.

    Raises:
        FormatError: the weights do not belong to the network described.
    """
    try:
        check_model(checkpoint["model"], checkpoint["shape"])  # before a network of that size is made
        network = Network(**checkpoint["shape"])
        network.load_state_dict(checkpoint["model"])
    except (FormatError, KeyError, TypeError, ValueError, RuntimeError) as error:
        raise FormatError(f"{path} is damaged: {one_line(str(error))}") from None
    return network


def check_model(model: dict[str, Any], shape: dict[str, Any]) -> None:
    """Refuse weights that are not those of a network of that shape.

    Raises:
        FormatError: says which.
    """
    sizes, num_actions = [shape["observation_size"], *shape["hidden"]], shape["num_actions"]
    embedding, is_layer = shape["action_embedding"], shape["action_head"] == "layer"
    expected: dict[str, tuple[int, ...]] = {"scale": (sizes[0],)}
    layers = [(f"trunk.{2 * k}", size, sizes[k + 1]) for k, size in enumerate(sizes[:-1])]
    if embedding:
        expected |= {"policy.embedding.weight": (num_actions, embedding)}
        expected |= {"policy.score.weight": (1, embedding), "policy.score.bias": (1,)} if is_layer else {}
        expected |= {} if is_layer else {"policy.bias": (num_actions,)}
        if features := shape["action_features"]:
            expected |= {"policy.embedding.features": (num_actions, features)}
            expected |= {"policy.embedding.mix.weight": (embedding, features)}
    head = ("policy.query", sizes[-1], embedding) if embedding else ("policy", sizes[-1], num_actions)
    for name, size_in, size_out in [*layers, head, ("value", sizes[-1], 1)]:
        expected |= {f"{name}.weight": (size_out, size_in), f"{name}.bias": (size_out,)}
    if set(model) != set(expected):
        wrong = sorted(map(short, set(model) ^ set(expected)))
        raise FormatError(f"its weights are not those of the network described: {', '.join(wrong[:5])}")
    for name, size in expected.items():
        checked_tensor(model[name], name, size, torch.float32)


class PPOAgent(Agent):
    """Plays what a trained network says. Keeps nothing from turn to turn.

    Computes in float64 on one thread, so that it plays the same in batches of any size and any number of processes. In
    float32 the last digits differ, and with them sometimes the better of two nearly equal actions.

    Attributes:
        game: the name of the game it was trained on.
        sample: whether it draws actions from its policy, rather than taking the most likely.
        steps: for how many steps it was trained.
    """

    def __init__(self, network: Network, checkpoint: dict[str, Any], path: str | Path, sample: bool = False) -> None:
        """Create an agent; see `load_agent`."""
        self.name = f"ppo:{path}"
        self.game, self.steps, self.sample = checkpoint["game"], checkpoint["steps"], sample
        self._network = network.double().eval().requires_grad_(False)
        self._checkpoint, self._path = {key: checkpoint[key] for key in ("game", "options", "layout", "shape")}, path
        self._fitting: set[tuple[str, Options]] = set()
        self._reward_scale, self._method = checkpoint["reward_scale"], checkpoint["method"]
        if sample:
            self._check_policy("sample from; leave out sample=true")

    def reset(self, seed: int) -> None:
        """Nothing to do: all randomness comes from the turns."""

    def act(self, turn: Turn) -> int:
        """Return the action for one turn, and note the likeliest ones with their probabilities if it has a policy."""
        log_probs = self._log_probs_of([turn])
        if self._method == "dmc":
            return self._chosen(log_probs, [turn])[0]
        likeliest = np.argsort(-log_probs[0], kind="stable")[: min(_MOST_NOTED, len(turn.legal_actions))]
        turn.notes["probabilities"] = [
            [turn.label(int(action)), round(float(np.exp(log_probs[0, action])), 4)] for action in likeliest
        ]
        return self._chosen(log_probs, [turn])[0]

    def probabilities(self, turn: Turn) -> np.ndarray:
        """Return the probabilities of `turn.legal_actions`, float64 (n,): of one action only, unless it samples."""
        log_probs, legal = self._log_probs_of([turn])[0].astype(np.float64), turn.legal_actions
        if not self.sample:
            return (np.array(legal) == log_probs.argmax()).astype(np.float64)
        return np.exp(log_probs[legal]) / np.exp(log_probs[legal]).sum()

    def act_batch(self, turns: list[Turn]) -> list[int]:
        """Return an action for each turn.

        Raises:
            FormatError: a turn of a game that the network was not trained on.
        """
        return self._chosen(self._log_probs_of(turns), turns)

    def _log_probs_of(self, turns: list[Turn]) -> np.ndarray:
        for turn in turns:
            self._check_fits(turn.game, turn.options)
        mask = np.stack([turn.action_mask for turn in turns]).astype(np.bool_)
        return self.log_probs(np.stack([turn.observation for turn in turns]), mask)

    def _chosen(self, log_probs: np.ndarray, turns: list[Turn]) -> list[int]:
        if not self.sample:
            return log_probs.argmax(-1).tolist()
        return [_drawn(row, turn.seed) for row, turn in zip(np.exp(log_probs), turns, strict=True)]

    def log_probs(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Return the log-probabilities of all actions, float32 (N, A), -inf for illegal ones.

        Args:
            observation: (N, D), of the game's dtype.
            mask: (N, A), bool or int8 as environments return it.
        """
        with torch.inference_mode(), _one_thread():
            features = self._network.features(torch.from_numpy(observation))
            return log_policy(self._network(features)[0], torch.from_numpy(mask.astype(np.bool_, copy=False))).numpy()

    def evaluate(self, observation: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the probabilities of all actions, float64 (N, A), and the expected further returns, float64 (N,).

        Args:
            observation: (N, D), of the game's dtype.
            mask: (N, A), bool or int8, at least one legal action a row.

        Raises:
            FormatError: the network was trained by a method without a policy.
        """
        self._check_policy("evaluate positions")
        with torch.inference_mode(), _one_thread():
            logits, values = self._network(self._network.features(torch.from_numpy(observation)))
            log_probs = log_policy(logits, torch.from_numpy(mask.astype(np.bool_, copy=False)))
            return log_probs.exp().double().numpy(), values.double().numpy() / self._reward_scale

    def _check_policy(self, what: str) -> None:
        if self._method != "ppo":
            raise FormatError(f"{self._path} was trained by {self._method} and has no policy to {what}")

    def _check_fits(self, game: Game, options: Options) -> None:
        if (game.name, options) not in self._fitting:
            check_fits(self._checkpoint, self._path, game, options)
            self._fitting.add((game.name, options))


def _drawn(probs: np.ndarray, seed: int) -> int:
    """Return an action drawn with `probs` (A,), from `seed` alone."""
    total = np.cumsum(probs)
    u = derived_seed(seed, "action") / _SEED_RANGE  # 0 <= u <= 1
    return min(int(np.searchsorted(total, u * total[-1], side="right")), int(np.flatnonzero(probs)[-1]))


@contextmanager
def _one_thread() -> Iterator[None]:
    """Run torch on one thread: a few rows do not gain from more, and other processes need the cores."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def load_agent(
    path: str | Path, game: Game | None = None, options: Options | None = None, *, sample: bool = False
) -> PPOAgent:
    """Return the agent saved in a checkpoint of `cardenvs.training.ppo`.

    Args:
        path: of the checkpoint.
        game, options: what it is to play, if that is to be checked now rather than at its first turn.
        sample: draw actions from the policy instead of taking the most likely: a mixed strategy, as poker wants it.

    Raises:
        FormatError: the file is damaged, or of another game, version or observation layout.
        OSError: the file cannot be read.
    """
    checkpoint = read_checkpoint(path)
    if game is not None and options is not None:
        check_fits(checkpoint, path, game, options)
    return PPOAgent(restore_network(checkpoint, path), checkpoint, path, sample)
