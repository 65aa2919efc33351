"""`Game`: a game's rules, view and policies, as core and the interfaces use them."""

import functools
import itertools
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from cardenvs.core.checks import is_integer, short
from cardenvs.core.codes import NO_DECK
from cardenvs.core.engine import Engine
from cardenvs.core.errors import DeckError, OptionError
from cardenvs.core.events import Table
from cardenvs.core.observation import Layout
from cardenvs.core.options import Options, fill_rules
from cardenvs.core.record import Record, copied
from cardenvs.core.rules import Returns, Rules
from cardenvs.core.view import View, split_tokens

if TYPE_CHECKING:
    from cardenvs.core.state import State


_MOST_DEALS = 10_000  # listed at once


@dataclass(frozen=True, eq=False)
class Game:
    """One game. Games are compared by identity and pickled by name.

    Attributes:
        name: name with version, as in "my_game_v0".
        title: name for people.
        rules: record, kernels and spaces.
        view: texts for people and language models.
        phases: all names that `View.phase` may return.
        hidden_phases: the phases in which something is hidden from some player; all phases, unless given.
        policies: policy kernels by name, policy(s, legal, n, rng) -> action. A policy may use only what the player to
            act may know.
        policies_need_legal: whether the policies read the list of legal actions. Set it to False if listing is slow;
            `n` may then be 0 and `legal` only provides room for a list.
        playout_policy: default policy of search agents in playouts.
        default_opponent: the policy that people and learners meet unless they choose another; `playout_policy`, unless
            given.
        fallback_action: fallback_action(s, legal) -> action, called with the widened record and the legal ids. Returns
            the action for a player who fails to choose, using only what that player may know; by default the first
            legal action.
        state_class: a State subclass with more methods, as "module:Class", or None.
        not_observed: reasons, by pile, why an observation omits faces in it that the player's events have shown; the
            game's page prints them. Observations must show all known faces in other piles.
    """

    name: str
    title: str
    rules: Rules
    view: View
    phases: tuple[str, ...] = ("play",)
    hidden_phases: tuple[str, ...] = None  # type: ignore[assignment]
    policies: dict[str, Any] = field(default_factory=dict)
    policies_need_legal: bool = True
    playout_policy: str = "random"
    default_opponent: str = ""
    fallback_action: Callable[[Record, list[int]], int] | None = None
    state_class: str | None = None
    not_observed: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.hidden_phases is None:
            object.__setattr__(self, "hidden_phases", self.phases)
        if not self.default_opponent:
            object.__setattr__(self, "default_opponent", self.playout_policy)
        self.table.complete()

    def __repr__(self) -> str:
        return f"<Game {self.name}>"

    def __reduce__(self) -> tuple:
        from cardenvs.core.registry import get_game

        return get_game, (self.name,)

    @property
    def options(self) -> type[Options]:
        """The Options subclass of the game."""
        return self.rules.options

    @property
    def table(self) -> Table:
        """Piles, counters and event kinds."""
        return self.rules.table

    def num_actions(self, options: Options) -> int:
        """Return the number of action ids."""
        return self.rules.num_actions(options)

    def action_features(self, options: Options) -> np.ndarray:
        """Return what networks may know about each action, int8 (num_actions, F); F is 0 where there is nothing."""
        features = self.rules.action_features
        return np.zeros((self.num_actions(options), 0), np.int8) if features is None else features(options)

    def max_legal(self, options: Options) -> int:
        """Return the length of the longest list of legal actions."""
        return (self.rules.max_legal or self.rules.num_actions)(options)

    def max_length(self, options: Options) -> int:
        """Return an upper bound on the number of actions in a game."""
        return self.rules.max_length(options)

    def layout(self, options: Options) -> Layout:
        """Return the layout of observations."""
        return _layout(self, options)

    def returns(self, options: Options) -> Returns:
        """Return the bounds, sum and unit of the players' returns."""
        return self.rules.returns(options)

    def deck(self, options: Options) -> np.ndarray:
        """Return every token of the game, int16."""
        return self.rules.deck(options)

    @functools.cached_property
    def engine(self) -> Engine:
        """The compiled generic kernels of this game."""
        return Engine(self)

    @property
    def version(self) -> int:
        """The number after `_v`. It increases when rules, ids, layout, rewards or the deal of a seed change."""
        return int(self.name.rsplit("_v", 1)[1])

    def make_options(self, **values: Any) -> Options:
        """Return options with the given values and defaults for the others.

        Raises:
            OptionError: unknown option or invalid value.
        """
        try:
            return self.options.make(**values)
        except OptionError as error:
            raise OptionError(f"{self.name}: {error}") from None

    def blank(self, options: Options) -> np.ndarray:
        """Return an array of one record before the deal: options filled in, all players active, all else zero."""
        return copied(_blank(self, options))

    def new_state(self, seed: int | None = None, deck: str | Sequence[int] | None = None, **options: Any) -> "State":
        """Deal a game and return its state.

        Args:
            seed: of all chance in the game, 0..2**63-1; None draws one.
            deck: explicit cards in dealing order (hands in player order, board or upcard, stock from the top), as
                text or tokens. Cards that it leaves out come from the seed.
            options: game options.

        Raises:
            OptionError: unknown option or invalid value.
            DeckError: unknown card, or too many copies.
            ValueError: invalid seed.
        """
        return self.state_type(self, self.make_options(**options), seed=seed, deck=deck)

    @functools.cached_property
    def state_type(self) -> "type[State]":
        """The class of the game's states: State or a subclass of it."""
        from cardenvs.core.state import State

        if self.state_class is None:
            return State
        module, name = self.state_class.split(":")
        __import__(module)
        return getattr(sys.modules[module], name)

    def from_bytes(self, data: bytes, trusted: bool = False) -> "State":
        """Load a state saved by `State.to_bytes`; see `State.from_bytes`.

        Raises:
            FormatError: the data is damaged or edited, belongs to another game, version or layout, or has no history.
        """
        return self.state_type.from_bytes(self, data, trusted)

    def parse_deck(self, deck: str | Sequence[int] | None, options: Options) -> np.ndarray:
        """Return the tokens of an explicit deck, int16.

        Raises:
            DeckError: unknown card, or too many copies.
        """
        if deck is None:
            return NO_DECK
        if not isinstance(deck, str | Iterable):
            raise DeckError(f"{self.name}: an explicit deck is a text or a list of tokens; got {short(deck)}")
        tokens = [self.view.parse_token(part) for part in split_tokens(deck)] if isinstance(deck, str) else list(deck)
        known = self.deck(options).tolist()
        if self.rules.first_roll is not None:
            faces, dice = self.rules.first_roll(options)
            if len(tokens) > dice:
                raise DeckError(f"{self.name}: the first roll has {dice} dice; got {len(tokens)}")
            known = [*range(faces)] * dice
        left = known.copy()
        for token in tokens:
            if not is_integer(token):
                raise DeckError(f"{self.name}: a token of an explicit deck is an integer; got {short(token)}")
            if token not in left:
                what = self.view.token_label(token) if token in known else f"token {token}"
                why = "appears too often" if token in known else "is not in this game"
                raise DeckError(f"{self.name}: {what} {why} in the explicit deck")
            left.remove(token)
        return np.array(tokens, np.int16)

    def deck_text(self, tokens: Iterable[int]) -> str:
        """Return tokens as text for `parse_deck`."""
        return " ".join(self.view.token_label(int(token)) for token in tokens)

    def enumerate_deals(self, **options: Any) -> list[tuple[str, float]]:
        """Return every deal as (deck text, probability), for exact solvers. Deals of equal tokens are merged.

        Raises:
            NotImplementedError: the game has too many deals to list; the message gives their number and the limit.
        """
        made = self.make_options(**options)
        dealt, wrong = self._dealt_tokens(made), self._why_not_listed(made)
        if wrong or dealt is None:
            raise NotImplementedError(wrong)
        if self.rules.first_roll is not None:
            faces, _ = self.rules.first_roll(made)
            rolls = itertools.product(range(faces), repeat=dealt)
            return [(self.deck_text(roll), 1 / faces**dealt) for roll in rolls]
        deck = self.deck(made).tolist()
        deals = _sequences(Counter(deck), dealt)
        return [(self.deck_text(tokens), ways / math.perm(len(deck), dealt)) for tokens, ways in deals]

    def can_list_deals(self, **options: Any) -> bool:
        """Return whether `enumerate_deals` works with these options."""
        return not self._why_not_listed(self.make_options(**options))

    def _dealt_tokens(self, options: Options) -> int | None:
        return None if self.rules.dealt_tokens is None else self.rules.dealt_tokens(options)

    def _why_not_listed(self, options: Options) -> str:
        """Return why the deals cannot be listed, or "" if they can."""
        dealt, deck = self._dealt_tokens(options), self.deck(options).tolist()
        limit = f"at most {_MOST_DEALS:,} can be listed"
        if dealt is None:
            orders = f"the deck has {_rounded(_num_sequences(Counter(deck), len(deck)))} orders"
            why = orders if deck else "chance goes on after the deal"
            return f"{self.name} has too many deals to list with these options: {why}; {limit}"
        if self.rules.first_roll is not None:
            number = self.rules.first_roll(options)[0] ** dealt
        else:
            number = _num_sequences(Counter(deck), dealt)
        if number <= _MOST_DEALS:
            return ""
        players = f"{options.num_players} players"
        return f"{self.name} with {players} has too many deals to list: {_rounded(number)}; {limit}"

    @functools.cached_property
    def rules_text(self) -> str:
        """The text of the game's rules.md."""
        return (self.rules.folder / "rules.md").read_text(encoding="utf-8")


@functools.lru_cache(maxsize=256)
def _layout(game: Game, options: Options) -> Layout:
    return game.rules.layout(options)  # cached: building it takes 100 times as long as using it in an observation


@functools.lru_cache(maxsize=256)
def _blank(game: Game, options: Options) -> np.ndarray:
    states = np.zeros(1, game.rules.state_dtype)
    fill_rules(states["rules"], options)
    states["active"][:, : options.num_players] = 1
    return states


def _num_sequences(counts: Counter, length: int) -> int:
    """Return how many different sequences of that length can be drawn from tokens."""
    ways = [1] + [0] * length
    for count in counts.values():
        ways = [
            sum(math.comb(size, k) * ways[size - k] for k in range(min(count, size) + 1)) for size in range(length + 1)
        ]
    return ways[length]


def _sequences(counts: Counter, length: int) -> Iterator[tuple[tuple[int, ...], int]]:
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
