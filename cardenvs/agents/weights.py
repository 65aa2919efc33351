"""Trained policies as small files: safetensors, which hold weights and text and nothing that runs.

    write_weights(read_checkpoint("runs/best/latest.pt"), "best.safetensors")

A checkpoint has everything needed to resume training; such a file has only what is needed to play. `ppo:PATH` takes
both. Needs the extra `train` (torch, safetensors).
"""

import json
from pathlib import Path
from typing import Any

from cardenvs.core.errors import FormatError, require
from cardenvs.core.files import FilePath, write_whole
from cardenvs.core.text import one_line

require("safetensors", "train")

import torch  # noqa: E402
from safetensors import SafetensorError, safe_open  # noqa: E402
from safetensors.torch import save  # noqa: E402

FORMAT = "cardenvs-weights-1"
PRECISIONS = {"float32": torch.float32, "float16": torch.float16}
_DESCRIBED = (
    "game",
    "options",
    "layout",
    "shape",
    "steps",
    "reward_scale",
    "method",
)  # the fields of a checkpoint that become text
_MOST_BYTES = 256 << 20


def write_weights(checkpoint: dict[str, Any], path: FilePath, precision: str = "float16") -> None:
    """Write the policy of a checkpoint.

    Args:
        checkpoint: what `read_checkpoint` returned.
        path: of the file, which is replaced.
        precision: of the weights, one of PRECISIONS. float16 halves the file; the policy that is read back differs a
            little from that of the checkpoint, so measure the one you publish.

    Raises:
        FormatError: a weight is too large for the precision.
        OSError: the file cannot be written.
    """
    dtype = PRECISIONS[precision]
    tensors = {name: tensor.detach().to(dtype).contiguous() for name, tensor in checkpoint["model"].items()}
    for name, tensor in tensors.items():
        if not bool(torch.isfinite(tensor).all()):
            raise FormatError(f"{name} has weights too large for {precision}; use float32")
    about = {"format": FORMAT, "policy": json.dumps({name: checkpoint[name] for name in _DESCRIBED}, sort_keys=True)}
    write_whole(path, _with_sorted_header(save(tensors, about)))


def _with_sorted_header(data: bytes) -> bytes:
    """Sort the header, in which safetensors puts metadata in random order: the same policy gives the same file.

    A file begins with the length of its header, 8 bytes, and the header, JSON padded with spaces to a multiple of 8.
    """
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.dumps(json.loads(data[8:start]), sort_keys=True, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + data[start:]


def read_weights(path: FilePath) -> dict[str, Any]:
    """Return the fields that a checkpoint has, as far as playing needs them, with weights in float32; still unchecked.

    Raises:
        FormatError: the file is damaged, or no such file.
        OSError: it cannot be read.
    """
    if Path(path).stat().st_size > _MOST_BYTES:
        raise FormatError(f"{path} is larger than {_MOST_BYTES >> 20} MiB")
    try:
        with safe_open(path, "pt") as file:
            about = file.metadata() or {}
            model = {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118, not a dict
    except SafetensorError as error:
        raise FormatError(f"{path} is damaged, or no safetensors file: {one_line(str(error))}") from None
    if about.get("format") != FORMAT:
        raise FormatError(f"{path} does not hold a policy of this version of cardenvs ({FORMAT})")
    try:
        policy = json.loads(about.get("policy", ""))
    except ValueError:
        policy = None
    if isinstance(policy, dict):
        policy = {"method": "ppo", **policy}  # which files of earlier versions lack
    if not isinstance(policy, dict) or sorted(policy) != sorted(_DESCRIBED):
        raise FormatError(f"{path} is damaged: its description of the policy cannot be read")
    return {**policy, "model": model}
