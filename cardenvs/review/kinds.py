"""Kinds of mistakes: what an agent does wrong again and again, over many reviewed games."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from cardenvs.review.decisions import Judged

_SOME = "…"
# the name of a card, a tile or a player, or a number; all other words of a play are in small letters
_NAME = re.compile(r"\S*[A-Z0-9♠♥♦♣]\S*?(?=[,;:]*(?:\s|$))")
_SEVERAL = re.compile(rf"{_SOME}(?:[ ,;+/-]*{_SOME})+")


@dataclass(frozen=True)
class Example:
    """One mistake of a kind: the number of its game, and what was judged."""

    game: int
    judged: Judged


@dataclass
class Kind:
    """A kind of mistake.

    Attributes:
        phase: of the game.
        played, better: what was played and what was better, without the names of cards and without numbers.
        loss: what all mistakes of the kind cost together, in returns.
        examples: the mistakes.
    """

    phase: str
    played: str
    better: str
    loss: float = 0.0
    examples: list[Example] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The kind in words."""
        if self.played == self.better:
            return f"{self.played} where another was better (phase {self.phase})"
        return f"{self.played} instead of {self.better} (phase {self.phase})"

    @property
    def worst(self) -> Example:
        """The most expensive mistake of the kind."""
        return max(self.examples, key=lambda one: one.judged.loss)


def kinds_of_mistakes(mistakes: Iterable[tuple[int, Judged]]) -> list[Kind]:
    """Return the kinds of mistakes, given with the numbers of their games: those that cost most together first."""
    kinds: dict[tuple[str, str, str], Kind] = {}
    for number, one in mistakes:
        key = one.phase, pattern(one.played), pattern(one.best)
        kind = kinds.setdefault(key, Kind(*key))
        kind.loss += one.loss
        kind.examples.append(Example(number, one))
    return sorted(kinds.values(), key=lambda kind: -kind.loss)


def pattern(label: str) -> str:
    """Return the text of a play without names of cards and numbers, which differ from deal to deal."""
    return _SEVERAL.sub(_SOME, _NAME.sub(_SOME, label))
