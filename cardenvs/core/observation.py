"""Observation layouts: named sections as data.

The observation space, the table on the game's page, the readable dump and the layout hash all come from one list of
sections. The game's `observe` kernel writes the numbers.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Section:
    """One named part of an observation.

    Attributes:
        name: unique in its layout.
        size: number of entries.
        doc: meaning of an entry, with scale and clipping if it is not 0 or 1.
        low, high: bounds of an entry, inclusive.
        labels: texts of the entries for the readable dump; by default their indices.
    """

    name: str
    size: int
    doc: str
    low: float = 0
    high: float = 1
    labels: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.labels is not None and len(self.labels) != self.size:
            raise ValueError(f"section {self.name} has {self.size} entries but {len(self.labels)} labels")


class Layout:
    """The sections of an observation, in order.

    Attributes:
        sections: tuple of Section.
        starts: first index of each section, in order.
        size: total number of entries.
        dtype: dtype of the observation: int8, int16 or float32.
    """

    def __init__(self, sections: Sequence[Section], dtype: str = "int8") -> None:
        self.sections = tuple(sections)
        self.dtype = np.dtype(dtype)
        self.starts = tuple(int(start) for start in np.cumsum([0, *[s.size for s in self.sections]])[:-1])
        self.size = sum(section.size for section in self.sections)
        names = [section.name for section in self.sections]
        if len(set(names)) != len(names):
            raise ValueError(f"section names must differ: {names}")

    @property
    def low(self) -> np.ndarray:
        """Lower bound of each entry, (size,), of the layout's dtype."""
        return np.concatenate([np.full(s.size, s.low, self.dtype) for s in self.sections])

    @property
    def high(self) -> np.ndarray:
        """Upper bound of each entry, (size,), of the layout's dtype."""
        return np.concatenate([np.full(s.size, s.high, self.dtype) for s in self.sections])

    @property
    def hash(self) -> str:
        """Hash of all names, sizes, bounds and the dtype, which states, replays and checkpoints store."""
        rows = [(s.name, s.size, float(s.low), float(s.high)) for s in self.sections]
        return hashlib.sha256(repr((self.dtype.str, rows)).encode()).hexdigest()[:12]

    def split(self, observation: np.ndarray) -> dict[str, np.ndarray]:
        """Return views of `observation` (last axis of length `size`) by section name."""
        return {
            section.name: observation[..., start : start + section.size]
            for section, start in zip(self.sections, self.starts, strict=True)
        }

    def describe(self, observation: np.ndarray) -> str:
        """Return a readable dump: one line per section with its non-zero entries."""
        lines = []
        for section in self.sections:
            part = self.split(observation)[section.name]
            labels = section.labels or tuple(str(k) for k in range(section.size))
            shown = [label if v == 1 else f"{label}={v:g}" for label, v in zip(labels, part, strict=True) if v]
            lines.append(f"{section.name}: {' '.join(shown) or '-'}")
        return "\n".join(lines)
