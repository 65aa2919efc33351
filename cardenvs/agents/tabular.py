"""Policies as tables, with a row for each information state: their files, and the agent `tabular:PATH`.

`cardenvs solve` writes such files. They contain numbers and JSON only, so reading one never runs code.
"""

import functools
import math
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np

from cardenvs.agents.base import Agent, Turn, note_probabilities
from cardenvs.agents.kinds import AgentKind
from cardenvs.agents.parameters import Reader, file_fingerprint, read_parameters, split_file, truth
from cardenvs.core.checks import check_fields, sealed, short, split_saved
from cardenvs.core.errors import AgentError, FormatError
from cardenvs.core.files import write_whole
from cardenvs.core.game import Game
from cardenvs.core.information import key_text
from cardenvs.core.options import Options
from cardenvs.core.text import one_line

_MAGIC = b"cardenvs-policy-1\n"
_FIELDS = {
    "game": str, "options": dict, "method": str, "iterations": int, "infosets": int, "pairs": int, "regrets": bool,
    "notes": dict,
}  # fmt: skip
_MOST_ITERATIONS = 1 << 60


@dataclass
class TabularPolicy:
    """A policy with a row for each information state, and what a solver needs to resume."""

    # the game's name, and all its options as JSON values
    game: str
    options: dict[str, Any]
    method: str  # name of the solver's method
    iterations: int  # number of iterations of that method
    players: np.ndarray  # int8 (I,), the player to act in each information state
    keys: np.ndarray  # uint64 (I, 2), the information state's key for that player; see `cardenvs.core.information`
    sizes: np.ndarray  # int32 (I,), its number of legal actions
    # int32 (A,), the ids of the legal actions of all information states, ascending in each; A is the sum of `sizes`
    actions: np.ndarray
    # float64 (A,); probabilities are proportional to them. All 0 in an information state means uniform.
    weights: np.ndarray
    regrets: np.ndarray | None = None  # float64 (A,), or None if no solver will resume
    notes: dict[str, Any] = field(default_factory=dict)  # further JSON values of the solver

    def save(self, path: str | Path) -> None:
        """Write the policy to a file, atomically. Raises OSError if it cannot be written."""
        header = {name: getattr(self, name) for name in ("game", "options", "method", "iterations", "notes")}
        header |= {"infosets": len(self.sizes), "pairs": len(self.actions), "regrets": self.regrets is not None}
        kinds = _arrays(**{name: header[name] for name in ("infosets", "pairs", "regrets")})
        parts = [np.ascontiguousarray(getattr(self, name), kind).tobytes() for name, (kind, _) in kinds.items()]
        write_whole(path, sealed(_MAGIC, header, *parts))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a policy from a file.

        Raises:
            FormatError: the file is damaged or is not a policy.
            OSError: it cannot be read.
        """
        try:
            header, body = split_saved(Path(path).read_bytes(), _MAGIC, "policy")
            return cls._read(header, body)
        except FormatError as error:
            raise FormatError(f"{path}: {one_line(str(error))}") from None

    @classmethod
    def _read(cls, header: dict[str, Any], body: bytes) -> Self:
        check_fields(header, _FIELDS, "the saved policy")
        infosets, pairs = header.pop("infosets"), header.pop("pairs")
        kinds = _arrays(infosets, pairs, header.pop("regrets"))
        sizes = {name: np.dtype(kind).itemsize * math.prod(shape) for name, (kind, shape) in kinds.items()}
        if infosets < 0 or pairs < 0 or sum(sizes.values()) != len(body):
            raise FormatError("the saved policy is damaged: its size differs from the one in its header")
        if not 0 <= header["iterations"] <= _MOST_ITERATIONS:
            raise FormatError("the saved policy is damaged: its number of iterations is out of range")
        fields: dict[str, Any] = {name: header[name] for name in ("game", "options", "method", "iterations", "notes")}
        start = 0
        for name, (kind, shape) in kinds.items():
            fields[name] = np.frombuffer(body[start : start + sizes[name]], kind).reshape(shape).copy()
            start += sizes[name]
        policy = cls(**fields)
        policy._check()
        return policy

    def _check(self) -> None:
        """Reject values that no policy has."""
        if (self.sizes < 1).any() or self.sizes.sum(dtype=np.int64) != len(self.actions):
            raise FormatError(
                "the saved policy is damaged: its information states and its list of actions differ in size"
            )
        if not np.isfinite(self.weights).all() or (self.weights < 0).any():
            raise FormatError("the saved policy is damaged: a weight is negative, NaN or infinite")
        if self.regrets is not None and not np.isfinite(self.regrets).all():
            raise FormatError("the saved policy is damaged: a regret is NaN or infinite")
        if (self.players < 0).any() or len(self._rows) != len(self.sizes):
            raise FormatError("the saved policy is damaged: an information state appears twice or has no player")

    @functools.cached_property
    def _rows(self) -> dict[tuple[int, str], int]:
        players = self.players.tolist()
        return {(player, key_text(key)): row for row, (player, key) in enumerate(zip(players, self.keys, strict=True))}

    @functools.cached_property
    def _first(self) -> np.ndarray:
        return np.concatenate([[0], np.cumsum(self.sizes, dtype=np.int64)])

    def check_fits(self, game: Game, options: Options) -> None:
        """Reject another game or other options, in which information states would differ.

        Raises:
            FormatError: the game or the options differ; the message says which.
        """
        if self.game != game.name:
            raise FormatError(f"the policy is for {short(self.game)}; it cannot play {game.name}")
        here = options.as_dict()
        if self.options != here:
            names = sorted(name for name in {*here, *self.options} if here.get(name) != self.options.get(name))
            wanted = ", ".join(f"{one_line(str(name), 40)}={short(self.options.get(name))}" for name in names[:5])
            raise FormatError(f"the policy is for {game.name} with other options: {wanted}")

    def probabilities(self, player: int, key: str, legal: list[int]) -> np.ndarray | None:
        """Return the probabilities of the legal actions, float64 (n,), or None for an unknown information state.

        Raises:
            FormatError: the policy lists other legal actions.
        """
        row = self._rows.get((player, key))
        if row is None:
            return None
        pairs = slice(int(self._first[row]), int(self._first[row + 1]))
        if self.actions[pairs].tolist() != legal:
            raise FormatError(f"the policy lists other legal actions than {self.game} has; it is for another version")
        weights = self.weights[pairs]
        highest = weights.max()
        if highest == 0:
            return np.full(len(legal), 1 / len(legal))
        probabilities: np.ndarray = (weights / highest) / (weights / highest).sum()
        return probabilities


def _arrays(infosets: int, pairs: int, regrets: bool) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Return dtype and shape of the arrays of a file, in their order."""
    arrays: dict[str, tuple[str, tuple[int, ...]]] = {
        "keys": ("<u8", (infosets, 2)), "weights": ("<f8", (pairs,)), "sizes": ("<i4", (infosets,)),
        "actions": ("<i4", (pairs,)), "players": ("<i1", (infosets,)),
    }  # fmt: skip
    return arrays | ({"regrets": ("<f8", (pairs,))} if regrets else {})


class TabularAgent(Agent):
    """Plays a tabular policy, and uniformly at random in unknown information states."""

    def __init__(self, policy: TabularPolicy, path: str | Path, sample: bool = True) -> None:
        """Create an agent that samples the policy, or always takes the most likely action. `path` gives its name."""
        self.name = f"tabular:{path}"
        self._policy, self._sample = policy, sample

    def probabilities(self, turn: Turn) -> np.ndarray:
        """Return the probabilities of `turn.legal_actions`, float64 (n,)."""
        self._policy.check_fits(turn.game, turn.options)
        legal = turn.legal_actions
        found = self._policy.probabilities(turn.player, turn.information_state_key, legal)
        turn.notes["known"] = found is not None
        found = np.full(len(legal), 1 / len(legal)) if found is None else found
        return found if self._sample else np.eye(len(legal))[found.argmax()]

    def act(self, turn: Turn) -> int:
        """Return an action drawn from the policy with the turn's seed, and note the likeliest with probabilities."""
        probabilities, legal = self.probabilities(turn), turn.legal_actions
        note_probabilities(turn, probabilities)
        return random.Random(turn.seed).choices(legal, probabilities.tolist())[0]


_PARAMETERS: dict[str, Reader] = {"sample": truth}


def _make(argument: str, game: Game, options: Options) -> Agent:
    path, parameters = split_file("tabular", argument, "runs/solved/latest.policy")
    values = read_parameters("tabular", parameters, _PARAMETERS)
    try:
        policy = TabularPolicy.load(path)
        policy.check_fits(game, options)
    except (FormatError, OSError) as error:
        raise AgentError(f"tabular: {error}") from None
    return TabularAgent(policy, path, **values)


def _fingerprint(argument: str) -> str:
    path, _ = split_file("tabular", argument, "runs/solved/latest.policy")
    return file_fingerprint(path)


TABULAR = AgentKind(
    "tabular",
    "tabular:PATH",
    "a policy from `cardenvs solve`, its actions drawn; `tabular:PATH,sample=false` takes the most likely action",
    _make,
    _fingerprint,
    guest=False,
    isolation="none",
)
