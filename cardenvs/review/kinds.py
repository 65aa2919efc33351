"""Kinds of mistakes: what an agent does wrong again and again, over many reviewed games."""

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from cardenvs.core.game import Game
from cardenvs.review.decisions import Judged

_SOME = "…"
# the name of a card, a tile or a player, or a number; all other words of a play are in small letters
_NAME = re.compile(r"\S*[A-Z0-9♠♥♦♣]\S*?(?=[,;:]*(?:\s|$))")
_SUIT = re.compile("[♠♥♦♣]")
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
        played: what was played, without the names of cards and without numbers.
        better: what was better, in the same way; where it is the same, how it differed: "a higher one", "a lower one",
            "one of another suit" or "another one".
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
        return f"{self.played}: better {self.better} (phase {self.phase})"

    @property
    def worst(self) -> Example:
        """The most expensive mistake of the kind."""
        return max(self.examples, key=lambda one: one.judged.loss)


def kinds_of_mistakes(game: Game, mistakes: Iterable[tuple[int, Judged]]) -> list[Kind]:
    """Return the kinds of mistakes, given with the numbers of their games: those that cost most together first."""
    kinds: dict[tuple[str, str, str], Kind] = {}
    for number, one in mistakes:
        played, better = pattern(one.played), pattern(one.best)
        if played == better:
            better = _difference(game, one.played, one.best)
        kind = kinds.setdefault((one.phase, played, better), Kind(one.phase, played, better))
        kind.loss += one.loss
        kind.examples.append(Example(number, one))
    return sorted(kinds.values(), key=lambda kind: -kind.loss)


def pattern(label: str) -> str:
    """Return the text of a play without names of cards and numbers, which differ from deal to deal."""
    return _SEVERAL.sub(_SOME, _NAME.sub(_SOME, label))


def _difference(game: Game, played: str, best: str) -> str:
    """Return how the best play differs from one that reads the same but for a card or a number."""
    one, other = _NAME.findall(played), _NAME.findall(best)
    if len(one) != 1 or len(other) != 1:
        return "another one"
    low, high = _rank(game, one[0]), _rank(game, other[0])
    if low is None or high is None:
        return "another one"
    return "one of another suit" if low == high else "a higher one" if low < high else "a lower one"


def _rank(game: Game, name: str) -> int | None:
    """Return a number, or the place of a card's rank in the order in which the game lists its cards."""
    rank = _SUIT.sub("", name)
    return int(rank) if rank == name and rank.isdecimal() else _ranks(game).get(rank)


@functools.cache
def _ranks(game: Game) -> dict[str, int]:
    labels = (game.view.token_label(token) for token in range(len(game.view.tokens)))
    return {rank: place for place, rank in enumerate(dict.fromkeys(_SUIT.sub("", label) for label in labels))}
