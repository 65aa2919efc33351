"""Observation layouts: named sections as data.

The observation space, the table on the game's page, the readable dump and the layout hash all come from one list of
sections. The game's `observe` kernel writes the numbers.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np


@dataclass(frozen=True)
class Section:
    """One named part of an observation.

    Attributes:
        name: unique in its layout.
        size: number of entries.
        doc: meaning of an entry, with scale and clipping if it is not 0 or 1.
        low, high: bounds of an entry, inclusive; or a tuple of such, one for each entry.
        labels: texts of the entries for the readable dump; by default their indices.
        rows: if it is about legal actions, the number of those that it describes: row k of `rows` equal parts is about
            the k-th legal action of the observer, and 0 if there is none. 0 for all other sections.
    """

    name: str
    size: int
    doc: str
    low: float | tuple[float, ...] = 0
    high: float | tuple[float, ...] = 1
    labels: tuple[str, ...] | None = None
    rows: int = 0

    def __post_init__(self) -> None:
        if self.labels is not None and len(self.labels) != self.size:
            raise ValueError(f"section {self.name} has {self.size} entries but {len(self.labels)} labels")
        if self.rows and self.size % self.rows:
            raise ValueError(f"section {self.name} has {self.size} entries, which are not {self.rows} equal rows")

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the bounds of all entries, float64 (size,) each."""
        low, high = np.zeros(self.size), np.zeros(self.size)
        low[:], high[:] = self.low, self.high
        return low, high

    @property
    def range_text(self) -> str:
        """The least and the most that an entry can be, for people."""
        low, high = self.bounds()
        return f"{low.min():g} to {high.max():g}"


@dataclass(frozen=True)
class Outcomes:
    """What an observation says beyond the other sections with the option `outcomes`: what legal actions would do.

    It comes last. Its kernel is compiled for games with that option only.

    Attributes:
        sections: what it consists of.
        write: kernel write(s, p, out, at), which writes them to out[at:], where all is 0; nothing if player `p` is not
            to act.
    """

    sections: tuple[Section, ...]
    write: Any

    @classmethod
    def by_action(
        cls, rows: int, bounds: Mapping[str, tuple[int, int]], doc: str, write: Any, others: tuple[Section, ...] = ()
    ) -> Self:
        """Return the section `outcomes`, with a row for each legal action, in their order, and what follows it.

        Args:
            rows: how many legal actions are described: the first ones.
            bounds: of each entry of a row, by its label: the least and the most that it can be.
            doc: what the entries are.
            write: as above; row k begins at out[at + k * len(bounds)].
            others: sections that come after it.
        """
        low, high = zip(*list(bounds.values()) * rows, strict=True)
        labels = tuple(f"{k}:{label}" for k in range(rows) for label in bounds)
        doc = f"own turn, for each legal action in order, the first {rows} of them: {doc}"
        return cls((Section("outcomes", len(labels), doc, low, high, labels, rows), *others), write)

    @property
    def size(self) -> int:
        """Number of entries."""
        return sum(section.size for section in self.sections)


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
        if sum(section.rows > 0 for section in self.sections) > 1:
            raise ValueError("at most one section can be about legal actions")

    @property
    def outcomes(self) -> tuple[int, int, int] | None:
        """First index, number of rows and entries per row of the section about legal actions, if there is one."""
        for section, start in zip(self.sections, self.starts, strict=True):
            if section.rows:
                return start, section.rows, section.size // section.rows
        return None

    @property
    def low(self) -> np.ndarray:
        """Lower bound of each entry, (size,), of the layout's dtype."""
        return np.concatenate([s.bounds()[0] for s in self.sections]).astype(self.dtype)

    @property
    def high(self) -> np.ndarray:
        """Upper bound of each entry, (size,), of the layout's dtype."""
        return np.concatenate([s.bounds()[1] for s in self.sections]).astype(self.dtype)

    @property
    def hash(self) -> str:
        """Hash of all names, sizes, bounds and the dtype, which states, replays and checkpoints store."""
        rows = [(s.name, s.size, _hashed(s.low), _hashed(s.high)) for s in self.sections]
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


def _hashed(bound: float | tuple[float, ...]) -> float | tuple[float, ...]:
    return tuple(map(float, bound)) if isinstance(bound, tuple) else float(bound)
