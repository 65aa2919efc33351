"""`Game`: a game's record, kernels, spaces, view and policies, as core and the interfaces use them."""

import functools
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cardenvs.core.checks import is_integer, short
from cardenvs.core.codes import NO_DECK
from cardenvs.core.deals import list_deals, why_not_listed
from cardenvs.core.engine import Engine
from cardenvs.core.errors import DeckError, OptionError
from cardenvs.core.events import Table
from cardenvs.core.kernel import COMPILED
from cardenvs.core.observation import Layout, Outcomes
from cardenvs.core.options import Options, fill_rules
from cardenvs.core.record import copied
from cardenvs.core.returns import Returns
from cardenvs.core.view import View, split_tokens

if TYPE_CHECKING:
    from cardenvs.core.state import State


@dataclass(frozen=True)
class Amounts:
    """Actions that are amounts, such as the bets of no-limit poker: too many for the lists and masks of a batch.

    The id of amount a is zero + a; all other ids are smaller. A batch lists only the other ids and shows the smallest
    and largest legal amount.

    Attributes:
        legal: kernel legal(s, out, bounds) -> n. Writes the legal ids other than amounts to `out`, as `legal_actions`
            does, and the smallest and largest legal amount to bounds[0] and bounds[1] (int32), or 0 and -1 if no
            amount is legal.
        zero: function of the options; returns the id of amount 0, or None if amounts have no ids. `legal` then lists
            all ids, and the bounds are 0 and -1.
        codes: numbers beyond the ids that are applied and replayed like actions, but listed in no mask.
    """

    legal: Any
    zero: Callable[[Any], int | None]
    codes: range


@dataclass(frozen=True, eq=False)
class Game:
    """One game. `Game.of` makes it from modules. Games are compared by identity and pickled by name.

    Kernels take one record `s`. Without the compiler they are plain functions (see docs/adding-a-game.md):
        deal(s, given, log)               starts an episode from s.rules, s.seed and the explicit tokens `given`;
                                          sets s.current_player or s.terminal
        legal_actions(s, out) -> n        writes the legal action ids to int32 `out`, ascending
        explain_illegal(s, action) -> k   returns 0 if `action`, an id or a code, is legal, else a number for
                                          View.illegal_reason; without it every refusal reads the same
        apply_action(s, action, log)      applies one legal action; sets rewards, current_player, terminal
        forfeit(s, player, log)           removes `player`, who is to act, from the game: clears
                                          s.active[player] and charges at least the most that staying
                                          could still have cost, so that leaving never pays
        observe(s, player, out)           writes what `player` may know, seats counted from that player
        determinize(s, player, seed)      re-deals what `player` cannot know; sets s.seed
    Only `deal`, `apply_action`, `forfeit`, `determinize` and `sample_belief` change the record.

    What is a function of the options may be a plain value if it is the same for all of them.

    Attributes:
        name: name with version, as in "my_game_v0".
        title: name for people.
        view: texts for people and language models.
        options: the Options subclass; OPTIONS in a module.
        state_dtype: dtype of the record, from `record`; STATE in a module.
        table: piles, counters and event kinds; TABLE in a module.
        num_actions: function of the options; number of action ids.
        max_length: function of the options; upper bound on the number of actions in a game.
        layout: function of the options; the Layout of observations. Called once for each choice of options.
        returns: function of the options; a `Returns`.
        given_fields: names of fields that only explicit decks fill. A batch, which has no such decks, does not clear
            them.
        deck: function of the options; every token of the game, int16. By default one of each of the view's `tokens`.
        max_legal: function of the options; length of the longest list of legal actions; `num_actions` unless given.
        dealt_tokens: function of the options; how many tokens of the deck, or dice, decide all chance of a game. Give
            it if all deals can be listed; it returns None for options with which they cannot.
        first_roll: function of the options, for games of dice without a deck: (faces, dice). An explicit deck is then
            the first roll, up to `dice` tokens 0..faces-1. None for options with which there is a deck.
        sample_belief: kernel sample_belief(s, player, seed), like `determinize`, but drawing deals that the other
            players' actions make likely; used by simulations. None if there is none.
        dealing_order: function (twin, records) of a twin of the player to act and of worlds that the player cannot tell
            apart, records (N,). Returns explicit decks, int16 (N, cards), with which the same actions lead to these
            worlds. None: the field `deck` of the records.
        worth: kernel worth(s, rng, out), which writes to `out` (float64) what each player's return may be on average,
            if all hands are face up and the deck is not known: a fast guess for `cardenvs.arena.luck`. It must read
            nothing of the order of the deck. None if there is none.
        action_features: function of the options; int8 (num_actions, F), what an id says about its action: cards, kinds,
            amounts. Networks use it. F is 0 unless it is given.
        outcomes: what observations say beyond `observe` with the option `outcomes`, or None; OUTCOMES in a module.
        amounts: how a batch shows actions that are amounts, or None; AMOUNTS in a module.
        compiled: whether the kernels can be compiled. Those of games that call other libraries cannot: they stay plain
            Python functions, which may allocate and raise.
        phases: all names that `View.phase` may return; the view's `phases` unless given.
        hidden_phases: the phases in which something is hidden from some player; all phases, unless given.
        policies: policy kernels by name, policy(s, legal, n, rng) -> action. A policy may use only what the player to
            act may know. By default `heuristic` in a module.
        policies_need_legal: whether the policies read the list of legal actions. Set it to False if listing is slow;
            `n` may then be 0 and `legal` only provides room for a list.
        playout_policy: default policy of search agents in playouts; by default the heuristic, if there is one.
        default_opponent: the policy that people and learners meet unless they choose another; `playout_policy`, unless
            given.
        state_class: a State subclass with more methods, as "module:Class", or None.
    """

    name: str
    title: str
    view: View
    options: type[Options]
    state_dtype: np.dtype
    table: Table
    deal: Any
    legal_actions: Any
    apply_action: Any
    forfeit: Any
    observe: Any
    determinize: Any
    num_actions: Callable[[Any], int]
    max_length: Callable[[Any], int]
    layout: Callable[[Any], Layout]
    returns: Callable[[Any], Returns]
    given_fields: tuple[str, ...] = ()
    deck: Callable[[Any], np.ndarray] = None  # type: ignore[assignment]
    explain_illegal: Any = None
    max_legal: Callable[[Any], int] = None  # type: ignore[assignment]
    dealt_tokens: Callable[[Any], int | None] | None = None
    first_roll: Callable[[Any], tuple[int, int] | None] | None = None
    sample_belief: Any = None
    dealing_order: "Callable[[State, np.ndarray], np.ndarray] | None" = None
    worth: Any = None
    action_features: Callable[[Any], np.ndarray] = None  # type: ignore[assignment]
    outcomes: Outcomes | None = None
    amounts: Amounts | None = None
    compiled: bool = True
    phases: tuple[str, ...] = None  # type: ignore[assignment]
    hidden_phases: tuple[str, ...] = None  # type: ignore[assignment]
    policies: dict[str, Any] = field(default_factory=dict)
    policies_need_legal: bool = True
    playout_policy: str = ""
    default_opponent: str = ""
    state_class: str | None = None

    @classmethod
    def of(cls, name: str, title: str, *modules: ModuleType, **given: Any) -> Self:
        """Make a game from modules that define its parts under their names.

        Options and view are classes that a module derives from Options and View, `layout` and `observe` those of its
        OBSERVATION, and `policies` its `heuristic`.

        Args:
            name, title: as in `Game`.
            modules: the modules.
            given: parts to add, or to use instead of the modules'.

        Raises:
            TypeError: a part is missing, or two modules define it differently.
        """
        parts = {"name": name, "title": title} | given
        sources = [_parts_of(module) for module in modules]
        for part in fields(cls):
            if part.name in parts:
                continue
            found = [source[part.name] for source in sources if part.name in source]
            if any(one is not found[0] for one in found):
                raise TypeError(f"{name}: two modules define {part.name}")
            if found:
                parts[part.name] = found[0]
            elif part.default is MISSING and part.default_factory is MISSING:
                where = ", ".join(module.__name__ for module in modules)
                called = _MODULE_NAMES.get(part.name, part.name)
                raise TypeError(f"{name} lacks {called}: define it in one of {where}, or pass {part.name}=")
        return cls(**parts)

    def __post_init__(self) -> None:
        for name in ("num_actions", "max_length", "max_legal", "returns"):
            if getattr(self, name) is not None and not callable(getattr(self, name)):
                object.__setattr__(self, name, functools.partial(_constant, getattr(self, name)))
        playout_policy = self.playout_policy or ("heuristic" if "heuristic" in self.policies else "random")
        phases = self.phases or self.view.phases
        defaults = {
            "phases": phases,
            "hidden_phases": phases,
            "playout_policy": playout_policy,
            "default_opponent": playout_policy,
            "max_legal": self.num_actions,
            "deck": self._all_tokens,
            "action_features": self._no_features,
        }
        for name, value in defaults.items():
            if getattr(self, name) in (None, ""):
                object.__setattr__(self, name, value)
        layout = self.layout if self.outcomes is None else functools.partial(_with_outcomes, self.layout, self.outcomes)
        object.__setattr__(self, "layout", functools.lru_cache(maxsize=64)(layout))
        self.table.complete()

    def _all_tokens(self, options: Options) -> np.ndarray:
        return np.arange(len(self.view.tokens), dtype=np.int16)

    def _no_features(self, options: Options) -> np.ndarray:
        return np.zeros((self.num_actions(options), 0), np.int8)

    def __repr__(self) -> str:
        return f"<Game {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        from cardenvs.core.registry import get_game

        return get_game, (self.name,)

    @property
    def runs_compiled(self) -> bool:
        """Whether the kernels of this game are compiled in this process."""
        return COMPILED and self.compiled

    @functools.cached_property
    def folder(self) -> Path:
        """The folder of the rules; compiled kernels are cached under its name."""
        function = getattr(self.apply_action, "py_func", self.apply_action)
        return Path(function.__code__.co_filename).resolve().parent

    @functools.cached_property
    def engine(self) -> Engine:
        """The compiled generic kernels of this game. Those that observe leave out `outcomes`."""
        return Engine(self)

    @functools.cached_property
    def engine_with_outcomes(self) -> Engine:
        """The same; those that observe also write `outcomes`."""
        return Engine(self, says_outcomes=True)

    def engine_for(self, options: Options) -> Engine:
        """Return the compiled generic kernels for some options, which write all that the layout has."""
        if self.outcomes is None or not says_outcomes(options):
            return self.engine
        return self.engine_with_outcomes

    def as_read(self, options: Options, trained: Mapping[str, Any]) -> Options:
        """Return the options with which a policy reads observations: with outcomes if it was trained with them.

        Outcomes follow from what a player knows, so that it can play where observations leave them out.
        """
        if self.outcomes is None:
            return options
        return replace(options, outcomes=bool(trained.get("outcomes", False)))  # type: ignore[call-arg]

    @property
    def version(self) -> int:
        """The number after `_v`. It increases when rules, ids, layout, rewards or the deal of a seed change."""
        return int(self.name.rsplit("_v", 1)[1])

    def make_options(self, /, **values: Any) -> Options:
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

    def decisions(self, options: Options, records: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what the players to act in some records (N,) may do and see.

        Returns:
            Masks, int8 (N, num_actions), and observations, (N, layout.size) of the layout's dtype; zeros where the game
            is over.
        """
        layout, legal = self.layout(options), np.zeros(self.max_legal(options), np.int32)
        masks = np.zeros((len(records), self.num_actions(options)), np.int8)
        seen = np.zeros((len(records), layout.size), layout.dtype)
        self.engine_for(options).decisions(records, legal, masks, seen)
        return masks, seen

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

    def rolled(self, options: Options) -> tuple[int, int] | None:
        """Return (faces, dice) of the first roll, or None if the game has a deck with these options."""
        return None if self.first_roll is None else self.first_roll(options)

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
        rolled = self.rolled(options)
        if rolled is not None:
            faces, dice = rolled
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
        return " ".join(self.view.token_code(int(token)) for token in tokens)

    def enumerate_deals(self, **options: Any) -> list[tuple[str, float]]:
        """Return every deal as (deck text, probability), for exact solvers. Deals of equal tokens are merged.

        Raises:
            NotImplementedError: the game has too many deals to list; the message gives their number and the limit.
        """
        return list_deals(self, self.make_options(**options))

    def can_list_deals(self, **options: Any) -> bool:
        """Return whether `enumerate_deals` works with these options."""
        return not why_not_listed(self, self.make_options(**options))

    @functools.cached_property
    def rules_text(self) -> str:
        """The text of the game's rules.md."""
        return (self.folder / "rules.md").read_text(encoding="utf-8")


_MODULE_NAMES = {"options": "OPTIONS", "state_dtype": "STATE", "table": "TABLE", "amounts": "AMOUNTS",
                 "outcomes": "OUTCOMES"}  # fmt: skip


def _parts_of(module: ModuleType) -> dict[str, Any]:
    """Return all that a module defines, and under the names of their parts what has other names there."""
    defined = vars(module)
    parts = {name: value for name, value in defined.items() if name not in (*_MODULE_NAMES, "view")}
    parts |= {part: defined[name] for part, name in _MODULE_NAMES.items() if name in defined}
    if "OBSERVATION" in defined:
        parts |= {"layout": defined["OBSERVATION"].layout, "observe": defined["OBSERVATION"].observe}
    if "heuristic" in defined:
        parts["policies"] = {"heuristic": defined["heuristic"]}
    for value in defined.values():
        if isinstance(value, type) and value.__module__ == module.__name__ and issubclass(value, Options | View):
            parts |= {"options": value} if issubclass(value, Options) else {"view": value()}
    return parts


def says_outcomes(options: Options) -> bool:
    """Return whether observations say what legal actions would do."""
    return bool(getattr(options, "outcomes", False))


def _with_outcomes(layout: Callable[[Any], Layout], outcomes: Outcomes, options: Options) -> Layout:
    found = layout(options)
    return Layout([*found.sections, *outcomes.sections], found.dtype.name) if says_outcomes(options) else found


def _constant(value: Any, options: Options) -> Any:
    return value


@functools.lru_cache(maxsize=256)
def _blank(game: Game, options: Options) -> np.ndarray:
    states = np.zeros(1, game.state_dtype)
    fill_rules(states["rules"], options)
    states["active"][:, : options.num_players] = 1
    return states
