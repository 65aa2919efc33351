"""Writing files whole."""

import os
from pathlib import Path


def write_whole(path: str | os.PathLike[str], data: str | bytes) -> None:
    """Write a file in one go: whoever reads it finds the old one or the new one, never a part. Text is UTF-8."""
    target = Path(path)
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        part.write_bytes(data.encode() if isinstance(data, str) else data)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
