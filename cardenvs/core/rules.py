"""The rules of a game as one object: its record, its kernels, and the sizes that depend on options."""

import functools
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from types import ModuleType
from typing import Any, Self

import numpy as np

from cardenvs.core.events import Table
from cardenvs.core.observation import Layout
from cardenvs.core.options import Options


@dataclass(frozen=True)
class Returns:
    """What a game's returns promise.

    Attributes:
        low, high: bounds of one player's return.
        total: the sum of all players' returns, or None where it varies.
        unit: what a return of 1 is (chips, points, ...).
        result_factor, result_unit: matches report mean return x factor, in this unit (big blinds per 100 hands,
            ...); by default the mean return itself, in `unit` a deal.
    """

    low: float
    high: float
    total: float | None
    unit: str
    result_factor: float = 1.0
    result_unit: str = ""

    @property
    def result_unit_label(self) -> str:
        """The unit in which matches report results."""
        return self.result_unit or f"{self.unit} a deal"


@dataclass(frozen=True)
class Amounts:
    """Actions that are amounts, as every bet in no-limit poker: too many for the lists and masks of a batch.

    The id of amount a is zero + a; all other ids are smaller. A batch shows the smallest and the largest legal amount,
    and lists the other ids only.

    Attributes:
        legal: kernel, legal(s, out, bounds) -> n: as `legal_actions`, but for the amounts, of which bounds[0] and
            bounds[1] (int32) become the smallest and the largest; 0 and -1 where none is legal.
        zero: of options; the id of amount 0, or None where amounts have no ids. `legal` then lists all ids, and the
            bounds are 0 and -1.
    """

    legal: Any
    zero: Callable[[Any], int | None]


@dataclass(frozen=True, eq=False)
class Rules:
    """What a game's engine needs: a record, kernels on it, and spaces. `Rules.of` collects them from modules.

    Kernels, all on one record `s`; uncompiled they are plain functions (see docs/adding-a-game.md):
        deal(s, given, log)               start an episode from s.rules, s.seed and the explicit tokens `given`;
                                          somebody is to act afterwards, or the game is over
        legal_actions(s, out) -> n        legal action ids of the player to act, ascending, into int32 `out`
        explain_illegal(s, action) -> k   0 if `action`, an id or a code, is legal, else a number for
                                          View.illegal_reason; without it every refusal reads the same
        apply_action(s, action, log)      one legal action; sets rewards, current_player, terminal
        forfeit(s, player, log)           `player`, who is to act, leaves the game: clears
                                          s.active[player] and pays what it has lost
        observe(s, player, out)           what `player` may know, seats counted from that player
        determinize(s, player, seed)      re-deal what `player` cannot know; sets s.seed

    Attributes:
        options: the Options subclass.
        state_dtype: of the record, from `record`; STATE in a module.
        table: piles, counters and kinds of event; TABLE in a module.
        num_actions, max_length: of options; number of ids, bound on actions in a game.
        max_legal: of options; length of the longest list of legal actions. By default the number of ids.
        layout: of options; the observation sections.
        returns: of options; a `Returns`.
        deck: of options; every token of the game, an int16 array.
        dealt_tokens: of options; how many tokens of the deck a game uses, where all deals can be listed.
        sample_belief: sample_belief(s, player, seed), as `determinize`, but nearer to what the others' actions make
            likely; simulations then deal their worlds so.
        amounts: how a batch shows actions that are amounts, or None.
        codes: numbers beyond the ids that are applied and replayed like actions, but listed in no mask.
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
    dealt_tokens: Callable[[Any], int] | None = None
    max_legal: Callable[[Any], int] | None = None
    sample_belief: Any = None
    amounts: Amounts | None = None
    codes: range = range(0)

    @classmethod
    def of(cls, *modules: ModuleType, **given: Any) -> Self:
        """The rules defined in some modules, each part under its own name; `given` adds or replaces parts.

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

    @functools.cached_property
    def folder(self) -> Path:
        """The folder of the rules, which names their part of the compile cache."""
        function = getattr(self.apply_action, "py_func", self.apply_action)
        return Path(function.__code__.co_filename).resolve().parent


_MODULE_NAMES = {"options": "OPTIONS", "state_dtype": "STATE", "table": "TABLE", "amounts": "AMOUNTS"}
