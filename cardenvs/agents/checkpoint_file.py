"""Files of trained policies: what they contain, how they are written, and how they are checked when read.

There are two forms with the same description of a policy (`_POLICY`):

- a *checkpoint* (torch's zip archive) also has everything needed to resume training;
- a *weights file* (safetensors, named *.safetensors) has only what is needed to play.

    write_weights(read_checkpoint("runs/best/latest.pt"), "best.safetensors")

Reading a file never runs code from it, so files may come from anybody. Needs the extra `train` (torch, safetensors).
"""

import json
import os
import pickletools
import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from cardenvs.core.checks import short
from cardenvs.core.errors import FormatError, require
from cardenvs.core.files import FilePath, whole_file, write_whole
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.text import one_line

require("torch", "train")  # names the missing extra, which a plain import would not
require("safetensors", "train")

import torch  # noqa: E402
from safetensors import SafetensorError, safe_open  # noqa: E402
from safetensors.torch import save  # noqa: E402
from torch import Tensor, nn  # noqa: E402

from cardenvs.agents.network import ACTIVATIONS, HEADS, Network  # noqa: E402

FORMAT = "cardenvs-ppo-1"
WEIGHTS_FORMAT = "cardenvs-weights-1"
WEIGHTS_SUFFIX = ".safetensors"
METHODS = ("ppo", "dmc")  # ppo: logits are those of a policy; dmc: they are values of actions, in scaled reward
PRECISIONS = {"float32": torch.float32, "float16": torch.float16}

Fields = Mapping[str, Any]  # the type of each field, or a tuple of types

_POLICY: Fields = {
    "game": str,  # its name
    "options": dict,  # the options it was trained with, by name
    "layout": str,  # hash of the observation layout
    "shape": dict,  # arguments of Network
    "steps": int,  # number of training steps
    "reward_scale": (int, float),  # factor of rewards, and so of values, in training
    "method": str,  # one of METHODS
}
_SHAPE: Fields = {
    "observation_size": int, "num_actions": int, "hidden": list, "activation": str, "action_embedding": int,
    "action_head": str, "action_features": int, "outcomes": list,
}  # fmt: skip
_WIDEST, _MOST_LAYERS = 1 << 16, 64
_LARGEST = 1 << 62  # of whole numbers
_GLOBALS = {"collections OrderedDict", "torch._utils _rebuild_tensor_v2"}  # what checkpoints call
_STORAGE = re.compile(r"torch [A-Z][A-Za-z0-9]*Storage")
_MOST_BYTES = 256 << 20  # largest weights file


# -- reading ------------------------------------------------------------------------------------------------------


def read_checkpoint(path: FilePath) -> dict[str, Any]:
    """Return the checked fields of a checkpoint or weights file, and its weights as `model`, all tensors on the CPU.

    Weights are checked against the shape by `restore_network` or `check_model`.

    Raises:
        FormatError: the file is damaged, or is not such a file.
        OSError: it cannot be read.
    """
    checkpoint = _read_weights(path) if Path(path).suffix == WEIGHTS_SUFFIX else _read_archive(path)
    try:
        return _checked(checkpoint)
    except FormatError as error:
        raise FormatError(f"{path} is damaged: {error}") from None


def _read_archive(path: FilePath) -> dict[str, Any]:
    with open(path, "rb") as file:  # torch reports a missing file as a damaged one
        try:
            _check_archive(file)
            file.seek(0)
            checkpoint = torch.load(file, map_location="cpu", weights_only=True)
        except Exception as error:  # torch raises whatever its reader and unpickler raise
            reason = one_line((str(error).strip() or type(error).__name__).splitlines()[0])
            raise FormatError(f"{path} is damaged, or is not a checkpoint: {reason}") from None
    if not isinstance(checkpoint, dict) or checkpoint.get("format") != FORMAT:
        raise FormatError(f"{path} is not a checkpoint of this version of cardenvs ({FORMAT})")
    return checkpoint


def _check_archive(file: IO[bytes]) -> None:
    """Refuse an archive that is damaged or compressed. Torch does not compress, so contents cannot exceed the file."""
    archive = zipfile.ZipFile(file)
    entries = archive.infolist()
    size = file.seek(0, os.SEEK_END)
    if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
        raise FormatError("it is compressed")
    if sum(entry.file_size for entry in entries) > size:
        raise FormatError("its contents are larger than the file")
    bad = archive.testzip()  # torch does not check the checksums
    if bad is not None:
        raise FormatError(f"{bad} has a wrong checksum")
    for entry in entries:
        if entry.filename.endswith(".pkl"):
            _check_pickle(archive.read(entry))


def _check_pickle(data: bytes) -> None:
    """Refuse a pickle that names more than tensors need: torch also calls bytearray, with any size."""
    for operation, argument, _ in pickletools.genops(data):
        if operation.name == "GLOBAL" and (argument in _GLOBALS or _STORAGE.fullmatch(str(argument))):
            continue
        if operation.name in ("GLOBAL", "STACK_GLOBAL", "INST", "OBJ", "NEWOBJ", "NEWOBJ_EX", "EXT1", "EXT2", "EXT4"):
            raise FormatError(f"it names {short(argument or operation.name)}, which no checkpoint needs")


def _read_weights(path: FilePath) -> dict[str, Any]:
    if Path(path).stat().st_size > _MOST_BYTES:
        raise FormatError(f"{path} is larger than {_MOST_BYTES >> 20} MiB")
    try:
        with safe_open(path, "pt") as file:
            about = file.metadata() or {}
            model = {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118, not a dict
    except SafetensorError as error:
        raise FormatError(f"{path} is damaged, or is not a safetensors file: {one_line(str(error))}") from None
    if about.get("format") != WEIGHTS_FORMAT:
        raise FormatError(f"{path} does not hold a policy of this version of cardenvs ({WEIGHTS_FORMAT})")
    try:
        policy = json.loads(about.get("policy", ""))
    except ValueError:
        policy = None
    if not isinstance(policy, dict) or set(policy) != set(_POLICY):
        raise FormatError(f"{path} is damaged: its description of the policy cannot be read")
    return {**policy, "model": model}


def _checked(checkpoint: dict[str, Any]) -> dict[str, Any]:
    checked_fields(checkpoint, {**_POLICY, "model": dict}, "the checkpoint")
    scale, method = checkpoint["reward_scale"], checkpoint["method"]
    if not 0 < scale < (_LARGEST if isinstance(scale, int) else float("inf")):
        raise FormatError(f"its reward_scale is {short(scale)}")
    if method not in METHODS:
        raise FormatError(f"method is one of {', '.join(METHODS)}; got {short(method)}")
    if not 0 <= checkpoint["steps"] < _LARGEST:
        raise FormatError(f"steps is {short(checkpoint['steps'])}")
    _check_options(checkpoint["options"])
    return {**checkpoint, "shape": _checked_shape(checkpoint["shape"]), "reward_scale": float(scale)}


def _checked_shape(shape: dict[str, Any]) -> dict[str, Any]:
    shape = {"outcomes": [], **shape}  # the policies of the zoo without outcomes lack the field
    checked_fields(shape, _SHAPE, "shape")
    hidden = shape["hidden"]
    sizes = [shape["observation_size"], shape["num_actions"], *hidden]
    if not 1 <= len(hidden) <= _MOST_LAYERS or not all(type(size) is int and size >= 1 for size in sizes):
        raise FormatError(f"shape should have sizes of 1 or more and 1 to {_MOST_LAYERS} hidden layers")
    if max(hidden) > _WIDEST:
        raise FormatError(f"a hidden layer has a width of {short(max(hidden))}; at most {_WIDEST} is allowed")
    for name in ("action_embedding", "action_features"):
        if not 0 <= shape[name] <= _WIDEST:
            raise FormatError(f"{name} is {short(shape[name])}; it should be 0 to {_WIDEST}")
    for name, known in (("activation", ACTIVATIONS), ("action_head", HEADS)):
        if shape[name] not in known:
            raise FormatError(f"{name} is one of {', '.join(known)}; got {short(shape[name])}")
    if shape["action_head"] == "features" and not shape["action_features"]:
        raise FormatError("action_head is features, but action_features is 0")
    _check_outcomes(shape)
    return {name: shape[name] for name in _SHAPE}


def _check_outcomes(shape: dict[str, Any]) -> None:
    outcomes = shape["outcomes"]
    if not outcomes:
        return
    if len(outcomes) != 3 or not all(type(number) is int for number in outcomes) or not shape["action_embedding"]:
        raise FormatError("outcomes should be three whole numbers, beside embeddings of actions")
    start, rows, width = outcomes
    if start < 0 or rows < 1 or width < 1 or start + rows * width > shape["observation_size"]:
        raise FormatError(f"outcomes are {short(outcomes)}, which do not lie within the observation")


def _check_options(options: dict[Any, Any]) -> None:
    for name, value in options.items():
        entries = value if isinstance(value, list) else [value]
        if not isinstance(name, str) or not all(isinstance(one, bool | int | float | str | None) for one in entries):
            raise FormatError(f"options has {short(name)}={short(value)}")


def checked_fields(values: Any, fields: Fields, what: str) -> dict[str, Any]:
    """Return `values` if it is a dict with values of these types; it may have more fields.

    Raises:
        FormatError: a field of `what` is missing or has another type.
    """
    if not isinstance(values, dict):
        raise FormatError(f"{what} is not a dict")
    for name, kind in fields.items():
        value = values.get(name)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise FormatError(f"{what} needs {name}, of type {getattr(kind, '__name__', kind)}; got {short(value)}")
    return values


def checked_tensor(value: Any, name: str, shape: Sequence[int], dtype: torch.dtype) -> Tensor:
    """Return `value` if it is a dense tensor of that shape and dtype with finite entries.

    Raises:
        FormatError: it is not; the message has its `name` and what is wrong with it.
    """
    if type(value) not in (Tensor, nn.Parameter) or value.layout != torch.strided or value.is_quantized:
        raise FormatError(f"{name} is not a tensor")
    tensor: Tensor = value
    if tuple(tensor.shape) != tuple(shape) or tensor.dtype != dtype:
        raise FormatError(
            f"{name} should be {list(shape)} {dtype}; it is {one_line(str(list(tensor.shape)), 80)} {tensor.dtype}"
        )
    if tensor.untyped_storage().nbytes() < tensor.numel() * tensor.element_size():  # strides of 0 repeat entries
        raise FormatError(f"{name} has more entries than the file")
    if not bool(torch.isfinite(tensor).all()):
        raise FormatError(f"{name} is not finite: NaN or infinity")
    return tensor


def check_fits(checkpoint: Mapping[str, Any], path: FilePath, game: Game, options: Options) -> None:
    """Refuse a checkpoint of another game, or of options that change its observations or actions.

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


def restore_network(checkpoint: Mapping[str, Any], path: FilePath) -> Network:
    """Return the network of a checkpoint.

    Raises:
        FormatError: the weights do not fit the shape.
    """
    try:
        check_model(checkpoint["model"], checkpoint["shape"])  # before a network of that size is made
        network = Network(**checkpoint["shape"])
        network.load_state_dict(checkpoint["model"])
    except (FormatError, KeyError, TypeError, ValueError, RuntimeError) as error:
        raise FormatError(f"{path} is damaged: {one_line(str(error))}") from None
    return network


def check_model(model: dict[str, Any], shape: dict[str, Any]) -> None:
    """Refuse weights that do not belong to a network of that shape.

    Raises:
        FormatError: names the weights that do not fit.
    """
    sizes, num_actions = [shape["observation_size"], *shape["hidden"]], shape["num_actions"]
    embedding, action_head = shape["action_embedding"], shape["action_head"]
    expected: dict[str, tuple[int, ...]] = {"scale": (sizes[0],)}
    layers = [(f"trunk.{2 * k}", size, sizes[k + 1]) for k, size in enumerate(sizes[:-1])]
    if embedding:
        if action_head != "features":
            expected |= {"policy.embedding.weight": (num_actions, embedding)}
        if action_head == "product":
            expected |= {"policy.bias": (num_actions,)}
        else:
            expected |= {"policy.score.weight": (1, embedding), "policy.score.bias": (1,)}
        if features := shape["action_features"]:
            expected |= {"policy.embedding.features": (num_actions, features)}
            expected |= {"policy.embedding.mix.weight": (embedding, features)}
        if shape["outcomes"]:
            expected |= {"outcomes.weight": (embedding, shape["outcomes"][2])}
    head = ("policy.query", sizes[-1], embedding) if embedding else ("policy", sizes[-1], num_actions)
    for name, size_in, size_out in [*layers, head, ("value", sizes[-1], 1)]:
        expected |= {f"{name}.weight": (size_out, size_in), f"{name}.bias": (size_out,)}
    if set(model) != set(expected):
        wrong = sorted(map(short, set(model) ^ set(expected)))
        raise FormatError(f"its weights are not those of the network described: {', '.join(wrong[:5])}")
    for name, size in expected.items():
        checked_tensor(model[name], name, size, torch.float32)


# -- writing ------------------------------------------------------------------------------------------------------


def write_checkpoint(
    path: FilePath,
    game: Game,
    options: Options,
    shape: dict[str, Any],
    model: dict[str, Any],
    steps: int,
    reward_scale: float,
    more: Mapping[str, Any],
) -> None:
    """Write a checkpoint atomically, and wait until it is on the disk.

    Args:
        path: of the file, which is replaced.
        game, options: what the network was trained on.
        shape, model: arguments of the network, and its weights.
        steps: number of training steps.
        reward_scale: factor of rewards in training.
        more: fields needed to resume, and `method` if it is not "ppo".

    Raises:
        OSError: the file cannot be written.
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
        "method": "ppo",
        **more,
    }
    with whole_file(path, sync=True) as file:
        torch.save(checkpoint, file)


def write_weights(checkpoint: Mapping[str, Any], path: FilePath, precision: str = "float16") -> None:
    """Write the policy of a checkpoint as a weights file. The same policy always gives the same bytes.

    Args:
        checkpoint: as returned by `read_checkpoint`.
        path: of the file, which is replaced.
        precision: precision of the weights, one of PRECISIONS. float16 halves the file, but its policy differs a little
            from the checkpoint's; measure the one you publish.

    Raises:
        FormatError: a weight is too large for the precision.
        OSError: the file cannot be written.
    """
    dtype = PRECISIONS[precision]
    tensors = {name: tensor.detach().to(dtype).contiguous() for name, tensor in checkpoint["model"].items()}
    for name, tensor in tensors.items():
        if not bool(torch.isfinite(tensor).all()):
            raise FormatError(f"{name} has weights too large for {precision}; use float32")
    policy = json.dumps({name: checkpoint[name] for name in _POLICY}, sort_keys=True)
    write_whole(path, _with_sorted_header(save(tensors, {"format": WEIGHTS_FORMAT, "policy": policy})))


def _with_sorted_header(data: bytes) -> bytes:
    """Sort the header, in which safetensors puts metadata in random order.

    A file begins with the length of its header (8 bytes) and the header: JSON, padded with spaces to a multiple of 8.
    """
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.dumps(json.loads(data[8:start]), sort_keys=True, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + data[start:]
