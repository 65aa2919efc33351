"""Seeds of a match, derived so that no agent can infer the deal from what it receives.

A match has a *secret*, from which all cards are derived, and a *guests' key*, from which the seeds of guests (agents
from outside cardenvs) are derived. Nothing that a guest receives is derived from the secret, because a secret may be a
small number that could be guessed.
"""

import hashlib
import re
import secrets
from dataclasses import dataclass, field
from typing import Self

from cardenvs.core.errors import ArenaError
from cardenvs.core.rng import SEED_MASK, derived_seed

_KEY_BYTES = 16
_TOKEN = re.compile(r"(?:(?P<number>[0-9]{1,19})|(?P<secret>[0-9a-f]{32}))(?:-(?P<key>[0-9a-f]{32}))?")


def new_key() -> str:
    """Return a key of 128 bits from the operating system, as 32 hex digits."""
    return secrets.token_hex(_KEY_BYTES)


def guest_seed(key: str, *place: int | str) -> int:
    """Return the seed (0..2**63-1) of a guest at a place in a match; unpredictable without the key."""
    digest = hashlib.blake2b(repr(place).encode(), key=bytes.fromhex(key), digest_size=8).digest()
    return int.from_bytes(digest, "little") & SEED_MASK


@dataclass(frozen=True)
class MatchSeed:
    """The source of all randomness of a match."""

    # determines all cards and the seeds of built-in agents: 128 bits drawn from the operating system, or a number from
    # 0 to 2**63-1 that somebody chose. Whoever knows it knows the cards.
    secret: int
    # 32 hex digits that determine the seeds of guests. The match's id does not depend on it.
    guests_key: str = field(default_factory=new_key, compare=False)
    # whether the secret was drawn. A resumed match then takes the one from its store instead.
    is_drawn: bool = field(default=False, compare=False)

    @classmethod
    def of(cls, seed: "int | str | MatchSeed | None") -> Self:
        """Return a seed from a number or from the text that a match has printed; None draws one.

        Raises:
            ArenaError: the number is out of range, or the text is not one that a match prints.
        """
        if isinstance(seed, cls):
            return seed
        if seed is None:
            return cls(secrets.randbits(8 * _KEY_BYTES), is_drawn=True)
        if isinstance(seed, bool) or not isinstance(seed, int | str):
            raise ArenaError(f"a match's seed is a number, or the text that a match has printed; got {seed!r}")
        found = _TOKEN.fullmatch(str(seed).strip().lower())
        if found is None or int(found["number"] or 0) > SEED_MASK:
            raise ArenaError(
                f"a match's seed is a number from 0 to 2**63-1, or the text that a match has printed; got {seed!r}"
            )
        secret = int(found["secret"], 16) if found["secret"] else int(found["number"])
        return cls(secret, found["key"]) if found["key"] else cls(secret)

    @property
    def text(self) -> str:
        """The secret as text: a number, or 32 hex digits."""
        return str(self.secret) if self.secret <= SEED_MASK else f"{self.secret:0{2 * _KEY_BYTES}x}"

    @property
    def token(self) -> str:
        """Secret and guests' key as text; repeats the match including the seeds of guests."""
        return f"{self.text}-{self.guests_key}"

    def deal(self, deal: int) -> int:
        """Return the seed (0..2**63-1) of the cards of a deal; one-way."""
        return derived_seed(self.secret, "deal", deal)
