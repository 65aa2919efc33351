"""`Rules`: a game's record, kernels, and the sizes that depend on its options."""

import functools
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from types import ModuleType
from typing import Any, Self

import numpy as np

from cardenvs.core.events import Table
from cardenvs.core.kernel import COMPILED
from cardenvs.core.observation import Layout
from cardenvs.core.options import Options


@dataclass(frozen=True)
class Returns:
    """Properties of a game's returns.

    Attributes:
        low, high: bounds of one player's return.
        total: sum of all players' returns, or None if it varies.
        unit: unit of a return (chips, points, ...).
        result_factor, result_unit: matches report the mean return times this factor, in this unit (such as big blinds
            per 100 hands); by default the mean return in `unit` a deal.
        meaning: what the bounds stand for, if they are not amounts, such as "1 for a win, -1 for a loss".
    """

    low: float
    high: float
    total: float | None
    unit: str
    result_factor: float = 1.0
    result_unit: str = ""
    meaning: str = ""

    @property
    def text(self) -> str:
        """The bounds in words, such as "-123 to 123 points" or "1 for a win, -1 for a loss"."""
        return self.meaning or f"{self.low:,g} to {self.high:,g} {self.unit}"

    @property
    def result_unit_label(self) -> str:
        """The unit in which matches report results."""
        return self.result_unit or f"{self.unit} a deal"


def win_or_loss(sides: int, low: float | None = None) -> Returns:
    """Return the returns of a game that pays 1 to the winning side of `sides`, at the expense of all others.

    Args:
        sides: how many sides there are.
        low: bound of one player's return; by default what a loss costs.
    """
    loss = -1 / (sides - 1)
    return Returns(loss if low is None else low, 1, 0, "wins", meaning=f"1 for a win, {loss:.3g} for a loss")


def by_place(players: int) -> Returns:
    """Return the returns of a game that pays evenly by place. Between two, that is a win or a loss."""
    if players == 2:
        return win_or_loss(2)
    return Returns(-1, 1, 0, "points", meaning="1 for first place, -1 for last place")


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
    """

    legal: Any
    zero: Callable[[Any], int | None]


@dataclass(frozen=True, eq=False)
class Rules:
    """A game's record, the kernels on it, and its spaces. `Rules.of` collects them from modules.

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

    Attributes:
        options: the Options subclass; OPTIONS in a module.
        state_dtype: dtype of the record, from `record`; STATE in a module.
        table: piles, counters and event kinds; TABLE in a module.
        num_actions: function of the options; number of action ids.
        max_legal: function of the options; length of the longest list of legal actions. By default the number of ids.
        max_length: function of the options; upper bound on the number of actions in a game.
        layout: function of the options; the Layout of observations.
        returns: function of the options; a `Returns`.
        deck: function of the options; every token of the game, int16.
        dealt_tokens: function of the options; how many tokens of the deck, or dice, decide all chance of a game. Give
            it if all deals can be listed; it returns None for options with which they cannot.
        first_roll: function of the options, for games of dice without a deck: (faces, dice). An explicit deck is then
            the first roll, up to `dice` tokens 0..faces-1.
        sample_belief: kernel sample_belief(s, player, seed), like `determinize`, but drawing deals that the other
            players' actions make likely; used by simulations. None if there is none.
        amounts: how a batch shows actions that are amounts, or None; AMOUNTS in a module.
        action_features: function of the options; int8 (num_actions, F), what an id says about its action: cards, kinds,
            amounts. Networks use it. None: nothing but which action it is.
        codes: numbers beyond the ids that are applied and replayed like actions, but listed in no mask.
        compiled: whether the kernels can be compiled. Those of games that call other libraries cannot: they stay plain
            Python functions, which may allocate and raise.
    """

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
    deck: Callable[[Any], np.ndarray]
    explain_illegal: Any = None
    dealt_tokens: Callable[[Any], int | None] | None = None
    first_roll: Callable[[Any], tuple[int, int]] | None = None
    max_legal: Callable[[Any], int] | None = None
    sample_belief: Any = None
    amounts: Amounts | None = None
    action_features: Callable[[Any], np.ndarray] | None = None
    codes: range = range(0)
    compiled: bool = True

    @classmethod
    def of(cls, *modules: ModuleType, **given: Any) -> Self:
        """Collect the rules from modules that define each part under its name.

        Args:
            modules: the modules.
            given: parts to add, or to use instead of the modules'.

        Raises:
            TypeError: a part is missing, or two modules define it differently.
        """
        parts = dict(given)
        for field in fields(cls):
            if field.name in parts:
                continue
            name = _MODULE_NAMES.get(field.name, field.name)
            found = [getattr(module, name) for module in modules if hasattr(module, name)]
            if any(part is not found[0] for part in found):
                raise TypeError(f"two modules of the rules define {name}")
            if found:
                parts[field.name] = found[0]
            elif field.default is MISSING:
                where = ", ".join(module.__name__ for module in modules)
                raise TypeError(f"the rules lack {name}: define it in one of {where}, or pass {field.name}=")
        return cls(**parts)

    @property
    def runs_compiled(self) -> bool:
        """Whether the kernels of this game are compiled in this process."""
        return COMPILED and self.compiled

    @functools.cached_property
    def folder(self) -> Path:
        """The folder of the rules; compiled kernels are cached under its name."""
        function = getattr(self.apply_action, "py_func", self.apply_action)
        return Path(function.__code__.co_filename).resolve().parent


_MODULE_NAMES = {"options": "OPTIONS", "state_dtype": "STATE", "table": "TABLE", "amounts": "AMOUNTS"}
