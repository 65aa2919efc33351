"""All deals of a small game, for exact solvers."""

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from cardenvs.core.options import Options

if TYPE_CHECKING:
    from cardenvs.core.game import Game

_MOST_DEALS = 10_000  # listed at once


def list_deals(game: "Game", options: Options) -> list[tuple[str, float]]:
    """Return every deal as (deck text, probability). Deals of equal tokens are merged.

    Raises:
        NotImplementedError: the game has too many deals to list; the message gives their number and the limit.
    """
    dealt, wrong = _dealt_tokens(game, options), why_not_listed(game, options)
    if wrong or dealt is None:
        raise NotImplementedError(wrong)
    rolled = game.rolled(options)
    if rolled is not None:
        faces, _ = rolled
        rolls = itertools.product(range(faces), repeat=dealt)
        return [(game.deck_text(roll), 1 / faces**dealt) for roll in rolls]
    deck = game.deck(options).tolist()
    deals = _sequences(Counter(deck), dealt)
    return [(game.deck_text(tokens), ways / math.perm(len(deck), dealt)) for tokens, ways in deals]


def why_not_listed(game: "Game", options: Options) -> str:
    """Return why the deals cannot be listed, or "" if they can."""
    dealt, deck = _dealt_tokens(game, options), game.deck(options).tolist()
    limit = f"at most {_MOST_DEALS:,} can be listed"
    if dealt is None:
        orders = f"the deck has {_rounded(_num_sequences(Counter(deck), len(deck)))} orders"
        why = orders if deck else "chance continues after the deal"
        return f"{game.name} has too many deals to list with these options: {why}; {limit}"
    rolled = game.rolled(options)
    number = _num_sequences(Counter(deck), dealt) if rolled is None else rolled[0] ** dealt
    if number <= _MOST_DEALS:
        return ""
    return f"{game.name} with {options.num_players} players has too many deals to list: {_rounded(number)}; {limit}"


def _dealt_tokens(game: "Game", options: Options) -> int | None:
    return None if game.dealt_tokens is None else game.dealt_tokens(options)


def _num_sequences(counts: Counter[Any], length: int) -> int:
    """Return how many different sequences of that length can be drawn from tokens."""
    ways = [1] + [0] * length
    for count in counts.values():
        ways = [
            sum(math.comb(size, k) * ways[size - k] for k in range(min(count, size) + 1)) for size in range(length + 1)
        ]
    return ways[length]


def _sequences(counts: Counter[Any], length: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield each of them with the number of ways to draw it."""
    if length == 0:
        yield (), 1
        return
    for token, count in counts.items():
        if count:
            for rest, ways in _sequences(counts - Counter([token]), length - 1):
                yield (token, *rest), count * ways


def _rounded(number: int) -> str:
    return f"{number:,}" if number < 10**12 else f"{Decimal(number):.1e}"
