"""The game contract: all that core and the faces know of a game, as one frozen object."""

import functools
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
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
from cardenvs.core.view import View, split_tokens

if TYPE_CHECKING:
    from cardenvs.core.state import State


@dataclass(frozen=True)
class Returns:
    """What a game's returns promise.

    Attributes:
        low, high: bounds of one player's return.
        total: what the players' returns add up to, or None where that varies.
        unit: what a return of 1 is (chips, points, ...).
        result_factor, result_unit: matches tell results as mean return x factor, in this unit (big blinds per 100
            hands, ...); by default the mean return itself, in `unit` a deal.
    """

    low: float
    high: float
    total: float | None
    unit: str
    result_factor: float = 1.0
    result_unit: str = ""

    @property
    def result_unit_label(self) -> str:
        """The unit in which matches tell results."""
        return self.result_unit or f"{self.unit} a deal"


@dataclass(frozen=True)
class Amounts:
    """Actions that are amounts, as every bet in no-limit poker: too many for the lists and masks of a batch.

    The id of amount a is zero + a; all other ids are smaller. A batch shows the least and the most that is legal, and
    lists the other ids only.

    Attributes:
        legal: kernel, legal(s, out, bounds) -> n: as `legal_actions`, but for the amounts, of which bounds[0] and
            bounds[1] (int32) become the least and the most; 0 and -1 where none is legal.
        zero: of options; the id of amount 0, or None where amounts have no ids. `legal` then lists all ids, and the
            bounds are 0 and -1.
    """

    legal: Any
    zero: Callable[[Any], int | None]


@dataclass(frozen=True, eq=False)
class Game:
    """One game: its record, kernels, spaces and words. Compared by identity, pickled by name.

    The kernels (see docs/adding-a-game.md), all on one record `s`:
        deal(s, given, log)               start an episode from s.rules, s.seed and the explicit tokens `given`;
                                          somebody is to act afterwards, or the game is over
        legal_actions(s, out) -> n        legal action ids of the player to act, ascending, into int32 `out`
        apply_action(s, action, log)      one legal action or code; sets rewards, current_player, terminal
        forfeit(s, player, log)           `player` leaves the game: clears s.active[player] and pays what it has lost
        observe(s, player, out)           what `player` may know, seats counted from that player
        determinize(s, player, seed)      re-deal what `player` cannot know; sets s.seed
        explain_illegal(s, action) -> k   0 if `action` is legal, else a code for View.illegal_reason

    Attributes:
        name: with version, as in "my_game_v0".
        title: for people.
        options: the Options subclass.
        state_dtype: from `record`.
        table: piles, counters, event kinds.
        view: words for people.
        num_actions, max_legal, max_length: of options; ids, the longest legal list, a bound on plies.
        layout: of options; the observation sections.
        returns: of options.
        deck: of options; every token of the game, an int16 array.
        phases: names that View.phase returns.
        hidden_phases: those of them in which something is hidden from some player.
        policies: further policy kernels by name: policy(s, legal, n, rng) -> action, knowing only what the player
            to act may know.
        policies_need_legal: whether these need the list of legal actions. False where listing takes long: in
            playouts, and when one is asked for an action, n may then be 0 and `legal` is room for a list.
        guess: guess(s, player, seed), as `determinize`, but nearer to what the others' actions make likely;
            simulations then deal their worlds so.
        amounts: how a batch shows actions that are amounts, or None.
        enumerate_deals: of options; (deck, probability) pairs, where they can be listed.
        playout: the policy with which search plays out unless told otherwise.
        state_class: a State subclass with extras, as "module:Class", or None.
        not_observed: by pile, why a player's observation leaves out faces in it that the player's events have told;
            printed on the game's page. Of all other piles the observation shows what is known.
        forced: forced(s, legal) -> action, of the widened record and the legal ids: what is done for a player who
            has failed to choose, knowing only what that player may know; by default the first legal action.
    """

    name: str
    title: str
    options: type[Options]
    state_dtype: np.dtype
    table: Table
    view: View
    deal: Any
    legal_actions: Any
    apply_action: Any
    forfeit: Any
    observe: Any
    determinize: Any
    explain_illegal: Any
    num_actions: Callable[[Any], int]
    max_legal: Callable[[Any], int]
    max_length: Callable[[Any], int]
    layout: Callable[[Any], Layout]
    returns: Callable[[Any], Returns]
    deck: Callable[[Any], np.ndarray]
    phases: tuple[str, ...] = ("play",)
    hidden_phases: tuple[str, ...] = ("play",)
    policies: dict[str, Any] = field(default_factory=dict)
    policies_need_legal: bool = True
    guess: Any = None
    amounts: Amounts | None = None
    playout: str = "random"
    deals: Callable[[Any], Iterable[tuple[Sequence[int], float]]] | None = None
    state_class: str | None = None
    not_observed: dict[str, str] = field(default_factory=dict)
    forced: Callable[[np.record, list[int]], int] | None = None

    def __post_init__(self) -> None:
        """Keep the layouts: one is needed for every observation, and building it takes 100 times as long."""
        object.__setattr__(self, "layout", functools.lru_cache(maxsize=256)(self.layout))

    def __repr__(self) -> str:
        return f"<Game {self.name}>"

    def __reduce__(self) -> tuple:
        from cardenvs.core.registry import get_game

        return get_game, (self.name,)

    @functools.cached_property
    def folder(self) -> Path:
        """The folder of the game's rules, which names its part of the compile cache."""
        function = getattr(self.apply_action, "py_func", self.apply_action)
        return Path(function.__code__.co_filename).resolve().parent

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
            DeckError: a text or token that is none of the game's, or used too often.
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
        """Every deal as (deck text, probability), for exact solvers.

        Raises:
            NotImplementedError: the deals of this game are too many to list.
        """
        if self.deals is None:
            raise NotImplementedError(f"{self.name} has too many deals to enumerate")
        return [(self.deck_text(tokens), p) for tokens, p in self.deals(self.make_options(**options))]

    @functools.cached_property
    def rules_text(self) -> str:
        """The game's rules.md."""
        return (self.folder / "rules.md").read_text(encoding="utf-8")


@functools.lru_cache(maxsize=256)
def _blank(game: Game, options: Options) -> np.ndarray:
    states = np.zeros(1, game.state_dtype)
    fill_rules(states["rules"], options)
    states["active"][:, : options.num_players] = 1
    return states
