"""Seeds of a match, derived so that no agent can infer the deal from what it receives.

A match has a *secret*, from which all cards follow, and a *guests' key*, from which the seeds of guests follow: agents
that cardenvs does not bring along. Nothing that a guest receives is derived from the secret, which may be
a small number that could be guessed.
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
    """Return the seed (0..2**63-1) of a guest at a place in a match. Only the key relates it to the place."""
    digest = hashlib.blake2b(repr(place).encode(), key=bytes.fromhex(key), digest_size=8).digest()
    return int.from_bytes(digest, "little") & SEED_MASK


@dataclass(frozen=True)
class MatchSeed:
    """All that a match draws from.

    Attributes:
        secret: of all cards, and of the agents that cardenvs brings along: 128 bits drawn from the operating system, or
            a number from 0 to 2**63-1 that somebody chose. Whoever knows it knows the cards.
        guests_key: 32 hex digits, of the seeds of guests. Which match it is does not depend on it.
        is_drawn: whether nobody chose it: to go on with a match, a store's own takes its place.
    """

    secret: int
    guests_key: str = field(default_factory=new_key, compare=False)
    is_drawn: bool = field(default=False, compare=False)

    @classmethod
    def of(cls, seed: "int | str | MatchSeed | None") -> Self:
        """Return a seed from a number, from the text that a match has printed, or (None) drawn.

        Raises:
            ArenaError: a number out of range, or a text that no match has printed.
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
        """Secret and guests' key as text, with which the match can be played again with the same guests."""
        return f"{self.text}-{self.guests_key}"

    def deal(self, deal: int) -> int:
        """Return the seed (0..2**63-1) of the cards of a deal; one-way."""
        return derived_seed(self.secret, "deal", deal)
