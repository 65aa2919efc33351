"""Seeds, targets, allowed hints and jumps, and prepared traces by tier of difficulty.

The files come from `cardenvs poker calibrate`. Only public data are read: seeds, targets, and traces of a policy that
does not know the order of the cards.
"""

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cardenvs.core.checks import parsed
from cardenvs.core.errors import FileError, FormatError
from cardenvs.core.files import check_input
from cardenvs.core.registry import get_game
from cardenvs.tools.one_player_poker.api.advice import rule_agent_points
from cardenvs.tools.one_player_poker.api.session import CHALLENGE, GAME, LIMITED, OFF, PRACTICE, UNLIMITED, Policy

MANIFEST, TRACES = "seed_manifest.json", ("trace_pass.jsonl", "trace_fail.jsonl")
FORMAT = "cardenvs-poker-seeds"
MOST_SEED = 2**53 - 1  # JavaScript rounds larger numbers
_MOST_BYTES = 1 << 26
_KEY_BYTES, _MOST_KEY_BYTES = 16, 4096
_KEY_LETTERS = 8  # number of different characters

_ALLOWED = {  # hints and jumps in challenges by tier, none in other tiers; practice allows all
    "easy": (Policy(LIMITED, 3), Policy(LIMITED, 3)),
    "medium": (Policy(LIMITED, 1), Policy(LIMITED, 1)),
}
_OFF = Policy(OFF)


class Tier(BaseModel):
    """A tier of difficulty in a manifest: the target of a challenge, and the seeds to draw from.

    With a deck key, challenges have fresh decks: those on which the rule agent reaches `least_points`, but not the
    `least_points` of an easier tier.
    """

    model_config = ConfigDict(extra="ignore", strict=True)
    target_score: int = Field(ge=0)
    least_points: int = Field(ge=0)
    practice: list[int] = Field(min_length=1)
    challenge: list[int] = Field(min_length=1)


class Manifest(BaseModel):
    """A seed manifest, written by `cardenvs poker calibrate`."""

    model_config = ConfigDict(extra="ignore", strict=True)
    format: str
    run_id: str
    engine_version: str
    deck_key_id: str | None = None
    tiers: dict[str, Tier] = Field(min_length=1)


@dataclass(frozen=True)
class Pools:
    """Seeds, targets and traces."""

    manifest: Manifest  # manifest of a calibration run
    # steps of the rule agent's games by (mode, seed)
    traces: Mapping[tuple[str, int], list[dict[str, Any]]] = field(default_factory=dict)
    key: bytes = b""  # secret from which decks are shuffled; empty: decks follow from seeds alone

    @classmethod
    def load(cls, folder: Path | None = None, key: bytes = b"") -> "Pools":
        """Read the files of a calibration run, or the manifest of this package.

        Raises:
            FileError: a file cannot be read.
            FormatError: a file is invalid, or was made with another key.
        """
        if folder is None and key:
            raise FormatError("the seeds of this package have no deck key; name a run that was made with this key")
        where = MANIFEST if folder is None else str(folder / MANIFEST)
        packaged = files("cardenvs.tools.one_player_poker.api") / MANIFEST
        text = packaged.read_text(encoding="utf-8") if folder is None else _read(folder / MANIFEST, _MOST_BYTES)
        manifest = _checked(Manifest, parsed(text, where), where)
        if manifest.format != FORMAT:
            raise FormatError(f"{where} is not a seed manifest")
        if manifest.deck_key_id != key_id(key):
            made, runs = _with(manifest.deck_key_id), _with(key_id(key))
            raise FormatError(f"{where} was made {made}, but this server runs {runs}")
        return cls(manifest, {} if folder is None else _traces(folder), key)

    @property
    def tiers(self) -> list[str]:
        """Names of the tiers."""
        return list(self.manifest.tiers)

    def draw(self, mode: str, tier: str) -> int:
        """Return a random seed of the pool for a mode and tier."""
        found = self.manifest.tiers[tier]
        return secrets.choice(found.practice if mode == PRACTICE else found.challenge)

    def tier_of(self, points: int) -> str | None:
        """Return the tier of a deck on which the rule agent makes `points`, or None."""
        tiers = self.manifest.tiers.items()  # easiest first
        return next((name for name, tier in tiers if points >= tier.least_points), None)

    def target(self, mode: str, tier: str) -> int | None:
        """Return the points to reach in a challenge; None in practice."""
        return self.manifest.tiers[tier].target_score if mode == CHALLENGE else None

    def policies(self, mode: str, tier: str, hints: bool, jumps: bool) -> tuple[Policy, Policy]:
        """Return the policies for hints and jumps; `hints` and `jumps` tell which of them the player wants."""
        allowed = (Policy(UNLIMITED), Policy(UNLIMITED)) if mode == PRACTICE else _ALLOWED.get(tier, (_OFF, _OFF))
        return allowed[0] if hints else _OFF, allowed[1] if jumps else _OFF


def deck_seed(key: bytes, mode: str, seed: int) -> int:
    """Return the seed of a game's deck: 63 bits of the HMAC-SHA256 of mode and seed, or `seed` without a key.

    With a key, practice and challenges of equal seeds have different decks.
    """
    if not key:
        return seed
    return int.from_bytes(hmac.digest(key, f"{mode}:{seed}".encode(), hashlib.sha256)[:8], "big") >> 1


def key_id(key: bytes) -> str | None:
    """Return an identifier of a key that does not reveal the key; None without a key."""
    return hmac.digest(key, b"key id", hashlib.sha256).hex()[:16] if key else None


def read_key(path: Path) -> bytes:
    """Read a deck key from a file.

    Raises:
        FileError: the file cannot be read.
        FormatError: the key is too short or too regular.
    """
    key = _read(path, _MOST_KEY_BYTES).strip().encode()
    if len(key) < _KEY_BYTES:
        raise FormatError(f"a deck key must have at least {_KEY_BYTES} characters; {path} has {len(key)}")
    if len(set(key)) < _KEY_LETTERS:
        raise FormatError(
            f"the deck key in {path} can be guessed; make one: python -c 'import secrets; print(secrets.token_hex())'"
        )
    return key


def _with(identity: str | None) -> str:
    return "without a deck key" if identity is None else f"with the deck key {identity}"


def _checked(model: type[BaseModel], data: Any, where: str) -> Any:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise FormatError(f"{where}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None


class _Trace(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)
    seed: int
    mode: str
    policy: str
    info_set: str
    steps: list[dict[str, Any]]


def _traces(folder: Path) -> dict[tuple[str, int], list[dict[str, Any]]]:
    found = {}
    for name in TRACES:
        if not (folder / name).exists():
            continue
        for number, line in enumerate(_read(folder / name, _MOST_BYTES).splitlines(), 1):
            where = f"{folder / name}, line {number}"
            trace = _checked(_Trace, parsed(line, where), where)
            if trace.info_set != "order_unknown":
                raise FormatError(f"{where}: the policy knew the order of the cards")
            found[trace.mode, trace.seed] = trace.steps
    return found


def _read(path: Path, most: int) -> str:
    check_input(path)
    if path.stat().st_size > most:
        raise FormatError(f"{path} has more than {most} bytes")
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"cannot read {path}: {error}") from None


_MOST_DECKS = 2000  # attempts to find a deck; each tier has about a third of all decks


def fresh_seed(pools: Pools, tier: str) -> int:
    """Return a random seed whose deck, shuffled with the key of the pools, belongs to a tier.

    Seeds do not repeat, even after a restart or on another server with the same key: among a million of them, two are
    equal with a probability of 1 in 18,000.

    Raises:
        FormatError: no deck belongs to the tier.
    """
    for _ in range(_MOST_DECKS):
        seed = secrets.randbelow(MOST_SEED + 1)
        state = get_game(GAME).new_state(seed=deck_seed(pools.key, CHALLENGE, seed))
        if pools.tier_of(rule_agent_points(state)) == tier:
            return seed
    raise FormatError(f"no deck belongs to tier {tier}: check the least_points of the tiers")
