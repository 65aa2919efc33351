"""A game as core and the interfaces know it: rules, words, and what is offered besides."""

import functools
import itertools
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from cardenvs.core.checks import is_integer, short
from cardenvs.core.codes import NO_DECK
from cardenvs.core.engine import Engine
from cardenvs.core.errors import DeckError, OptionError
from cardenvs.core.events import Table
from cardenvs.core.observation import Layout
from cardenvs.core.options import Options, fill_rules
from cardenvs.core.record import copied
from cardenvs.core.rules import Returns, Rules
from cardenvs.core.view import View, split_tokens

if TYPE_CHECKING:
    from cardenvs.core.state import State


_MOST_DEALS = 10_000  # listed at once


@dataclass(frozen=True, eq=False)
class Game:
    """One game: its rules and its words. Compared by identity, pickled by name.

    Attributes:
        name: with version, as in "my_game_v0".
        title: for people.
        rules: record, kernels and spaces.
        view: words for people.
        phases: names that View.phase returns.
        hidden_phases: those of them in which something is hidden from some player; all, unless given.
        policies: further policy kernels by name: policy(s, legal, n, rng) -> action, knowing only what the player
            to act may know.
        policies_need_legal: whether these need the list of legal actions. False where listing takes long: in
            playouts, and when one is asked for an action, n may then be 0 and `legal` is room for a list.
        playout_policy: the policy with which search plays out unless asked otherwise.
        default_opponent: the policy that people and learners meet unless they ask for another; `playout_policy`, unless
            given.
        fallback_action: fallback_action(s, legal) -> action, of the widened record and the legal ids: what is done
            for a player who fails to choose, knowing only what that player may know; by default the first legal
            action.
        state_class: a State subclass with extras, as "module:Class", or None.
        not_observed: by pile, why a player's observation leaves out faces in it that the player's events have shown;
            printed on the game's page. Of all other piles the observation shows what is known.
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
    fallback_action: Callable[[np.record, list[int]], int] | None = None
    state_class: str | None = None
    not_observed: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.hidden_phases is None:
            object.__setattr__(self, "hidden_phases", self.phases)
        if not self.default_opponent:
            object.__setattr__(self, "default_opponent", self.playout_policy)

    def __repr__(self) -> str:
        return f"<Game {self.name}>"

    def __reduce__(self) -> tuple:
        from cardenvs.core.registry import get_game

        return get_game, (self.name,)

    @property
    def options(self) -> type[Options]:
        """The class of the game's options."""
        return self.rules.options

    @property
    def table(self) -> Table:
        """Piles, counters and kinds of event."""
        return self.rules.table

    def num_actions(self, options: Options) -> int:
        """Number of action ids."""
        return self.rules.num_actions(options)

    def max_legal(self, options: Options) -> int:
        """Length of the longest list of legal actions."""
        return (self.rules.max_legal or self.rules.num_actions)(options)

    def max_length(self, options: Options) -> int:
        """A bound on the number of actions in a game."""
        return self.rules.max_length(options)

    def layout(self, options: Options) -> Layout:
        """The sections of an observation."""
        return _layout(self, options)

    def returns(self, options: Options) -> Returns:
        """What the returns promise: bounds, sum, unit."""
        return self.rules.returns(options)

    def deck(self, options: Options) -> np.ndarray:
        """Every token of the game, int16."""
        return self.rules.deck(options)

    @functools.cached_property
    def engine(self) -> Engine:
        """The compiled generic kernels of this game."""
        return Engine(self)

    @property
    def version(self) -> int:
        """The number behind `_v`: rises when rules, ids, layout, rewards or the deal of a seed change."""
        return int(self.name.rsplit("_v", 1)[1])

    def make_options(self, **values: Any) -> Options:
        """Check option values.

        Raises:
            OptionError: naming this game, the option and what it takes.
        """
        try:
            return self.options.make(**values)
        except OptionError as error:
            raise OptionError(f"{self.name}: {error}") from None

    def blank(self, options: Options) -> np.ndarray:
        """An array of one record before the deal: rules filled in, all players active, the rest zero."""
        return copied(_blank(self, options))

    def new_state(self, seed: int | None = None, deck: str | Sequence[int] | None = None, **options: Any) -> "State":
        """Start an episode.

        Args:
            seed: of all chance; None draws one.
            deck: explicit cards in dealing order (hands in player order, board or upcard, stock from the top), as
                text or tokens. What it leaves out comes from the seed.
            options: of the game.

        Raises:
            OptionError: an unknown option or value.
            DeckError: unknown card, or too many copies.
        """
        return self.state_type(self, self.make_options(**options), seed=seed, deck=deck)

    @functools.cached_property
    def state_type(self) -> "type[State]":
        """The State class of this game."""
        from cardenvs.core.state import State

        if self.state_class is None:
            return State
        module, name = self.state_class.split(":")
        __import__(module)
        return getattr(sys.modules[module], name)

    def from_bytes(self, data: bytes, trusted: bool = False) -> "State":
        """The state saved by `State.to_bytes`; see `State.from_bytes`.

        Raises:
            FormatError: the data is damaged or edited, or of another game, version or layout, or has no history.
        """
        return self.state_type.from_bytes(self, data, trusted)

    def parse_deck(self, deck: str | Sequence[int] | None, options: Options) -> np.ndarray:
        """Tokens of an explicit deck, int16, checked to be among the game's.

        Raises:
            DeckError: an unknown text or token, or too many copies of one.
        """
        if deck is None:
            return NO_DECK
        if not isinstance(deck, str | Iterable):
            raise DeckError(f"{self.name}: an explicit deck is a text or a list of tokens; got {short(deck)}")
        tokens = [self.view.parse_token(part) for part in split_tokens(deck)] if isinstance(deck, str) else list(deck)
        left = self.deck(options).tolist()
        for token in tokens:
            if not is_integer(token):
                raise DeckError(f"{self.name}: a token of an explicit deck is an integer; got {short(token)}")
            if token not in left:
                what = self.view.token_label(token) if token in self.deck(options) else f"token {token}"
                why = "appears too often" if token in self.deck(options) else "is not in this game"
                raise DeckError(f"{self.name}: {what} {why} in the explicit deck")
            left.remove(token)
        return np.array(tokens, np.int16)

    def deck_text(self, tokens: Iterable[int]) -> str:
        """Tokens as the text that `parse_deck` reads."""
        return " ".join(self.view.token_label(int(token)) for token in tokens)

    def enumerate_deals(self, **options: Any) -> list[tuple[str, float]]:
        """List every deal as (deck text, probability), for exact solvers. Deals that look the same are one.

        Raises:
            NotImplementedError: the deals of this game are too many to list.
        """
        made = self.make_options(**options)
        if self.rules.dealt_tokens is None:
            raise NotImplementedError(f"{self.name} has too many deals to list")
        deck, dealt = self.deck(made).tolist(), self.rules.dealt_tokens(made)
        total = math.perm(len(deck), dealt)
        if total > _MOST_DEALS:
            raise NotImplementedError(
                f"{self.name} with {made.num_players} players has too many deals to list: {total}"
            )
        counts = Counter(itertools.permutations(deck, dealt))
        return [(self.deck_text(tokens), count / total) for tokens, count in counts.items()]

    @functools.cached_property
    def rules_text(self) -> str:
        """The game's rules.md."""
        return (self.rules.folder / "rules.md").read_text(encoding="utf-8")


@functools.lru_cache(maxsize=256)
def _layout(game: Game, options: Options) -> Layout:
    return game.rules.layout(options)  # kept: every observation needs it, and building it takes 100 times as long


@functools.lru_cache(maxsize=256)
def _blank(game: Game, options: Options) -> np.ndarray:
    states = np.zeros(1, game.rules.state_dtype)
    fill_rules(states["rules"], options)
    states["active"][:, : options.num_players] = 1
    return states
