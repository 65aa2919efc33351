"""What the server plays: seeds and targets of every tier, hints and jumps allowed, and traces made beforehand.

The files are those of `cardenvs poker calibrate`. Only what is public is read: seeds, targets, and the traces of a
policy that does not know the order of the cards.
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
from cardenvs.server.poker.session import CHALLENGE, LIMITED, OFF, PRACTICE, UNLIMITED, Policy

MANIFEST, TRACES = "seed_manifest.json", ("trace_pass.jsonl", "trace_fail.jsonl")
FORMAT = "cardenvs-poker-seeds"
MOST_SEED = 2**53 - 1  # JavaScript reads larger numbers wrongly
_MOST_BYTES = 1 << 26
_KEY_BYTES, _MOST_KEY_BYTES = 16, 4096
_KEY_LETTERS = 8  # different ones

_ALLOWED = {  # hints and jumps in challenges, by tier; practice allows all
    "easy": (Policy(LIMITED, 3), Policy(LIMITED, 3)),
    "medium": (Policy(LIMITED, 1), Policy(LIMITED, 1)),
}
_OFF = Policy(OFF)


class Tier(BaseModel):
    """A tier of a manifest: what a challenge asks for, and the seeds to draw from.

    With a deck key, challenges are on fresh decks: those with which the rule agent reaches `least_points`, and the
    least points of no easier tier.
    """

    model_config = ConfigDict(extra="ignore", strict=True)
    target_score: int = Field(ge=0)
    least_points: int | None = Field(None, ge=0)
    practice: list[int] = Field(min_length=1)
    challenge: list[int] = Field(min_length=1)


class Manifest(BaseModel):
    """A seed manifest, as `cardenvs poker calibrate` writes it."""

    model_config = ConfigDict(extra="ignore", strict=True)
    format: str
    run_id: str
    engine_version: str
    deck_key_id: str | None = None
    tiers: dict[str, Tier] = Field(min_length=1)


@dataclass(frozen=True)
class Pools:
    """Seeds, targets and traces.

    Attributes:
        manifest: of a calibration run.
        traces: by (mode, seed): the actions of the policy that made the trace, in the whole game.
        key: secret bytes from which decks are shuffled; empty: from the seed alone.
    """

    manifest: Manifest
    traces: Mapping[tuple[str, int], list[dict[str, Any]]] = field(default_factory=dict)
    key: bytes = b""

    @classmethod
    def load(cls, folder: Path | None = None, key: bytes = b"") -> "Pools":
        """Read the files of a calibration run, or those that come with the package.

        Raises:
            FileError: a file cannot be read.
            FormatError: a file is not what it should be, or made with another key.
        """
        if folder is None and key:
            raise FormatError("the seeds that come with cardenvs are made without a key; name a run made with yours")
        where = MANIFEST if folder is None else str(folder / MANIFEST)
        packaged = files("cardenvs.server.poker") / MANIFEST
        text = packaged.read_text(encoding="utf-8") if folder is None else _read(folder / MANIFEST, _MOST_BYTES)
        manifest = _checked(Manifest, parsed(text, where), where)
        if manifest.format != FORMAT:
            raise FormatError(f"{where} is not a seed manifest")
        if manifest.deck_key_id != key_id(key):
            made, runs = _with(manifest.deck_key_id), _with(key_id(key))
            raise FormatError(f"{where} was made {made}, but this server runs {runs}")
        if key and any(tier.least_points is None for tier in manifest.tiers.values()):
            raise FormatError(f"{where} lacks the least points of its tiers; make it again: cardenvs poker calibrate")
        return cls(manifest, {} if folder is None else _traces(folder), key)

    @property
    def tiers(self) -> list[str]:
        """Names of the tiers."""
        return list(self.manifest.tiers)

    def draw(self, mode: str, tier: str) -> int:
        """Return a seed of the pool for a mode and tier."""
        found = self.manifest.tiers[tier]
        return secrets.choice(found.practice if mode == PRACTICE else found.challenge)

    def tier_of(self, points: int) -> str | None:
        """Return the tier of a deck with which the rule agent makes so many points."""
        least = {name: tier.least_points for name, tier in self.manifest.tiers.items()}  # easiest first
        return next((name for name, bound in least.items() if bound is not None and points >= bound), None)

    def target(self, mode: str, tier: str) -> int | None:
        """Return the points to reach, in a challenge."""
        return self.manifest.tiers[tier].target_score if mode == CHALLENGE else None

    def policies(self, mode: str, tier: str, hints: bool, jumps: bool) -> tuple[Policy, Policy]:
        """Return what is allowed of hints and jumps; nothing that was not asked for."""
        allowed = (Policy(UNLIMITED), Policy(UNLIMITED)) if mode == PRACTICE else _ALLOWED.get(tier, (_OFF, _OFF))
        return allowed[0] if hints else _OFF, allowed[1] if jumps else _OFF

    def deck_seed(self, mode: str, seed: int) -> int:
        """Return what the deck is shuffled with: the seed, or with a key 63 bits that only the key tells.

        With a key, practice does not show the decks of challenges.
        """
        return deck_seed(self.key, mode, seed)


def deck_seed(key: bytes, mode: str, seed: int) -> int:
    """Return the seed of the deck of a game: HMAC-SHA256 of mode and seed, 63 bits, or the seed if there is no key."""
    if not key:
        return seed
    return int.from_bytes(hmac.digest(key, f"{mode}:{seed}".encode(), hashlib.sha256)[:8], "big") >> 1


def key_id(key: bytes) -> str | None:
    """Return what tells keys apart and says nothing about them; None without a key."""
    return hmac.digest(key, b"key id", hashlib.sha256).hex()[:16] if key else None


def read_key(path: Path) -> bytes:
    """Read a key: the bytes of a file.

    Raises:
        FileError: it cannot be read.
        FormatError: it is too short to be secret.
    """
    key = _read(path, _MOST_KEY_BYTES).strip().encode()
    if len(key) < _KEY_BYTES:
        raise FormatError(f"a deck key has at least {_KEY_BYTES} characters; {path} has {len(key)}")
    if len(set(key)) < _KEY_LETTERS:
        raise FormatError(
            f"the deck key in {path} can be guessed; python -c 'import secrets; print(secrets.token_hex())'"
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
