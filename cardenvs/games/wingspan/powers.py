"""How powers of birds work (rules.md 10 to 12). What each of them does is in handlers.py, one entry for each.

A bird with an existing handler is just a row of birds.json. A new handler needs only an entry in handlers.py.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from cardenvs.core.errors import FormatError
from cardenvs.core.kernel import kernel
from cardenvs.games.wingspan import cards, stack
from cardenvs.games.wingspan.handlers import NEVER, NO_DECISION, POWERS, sharers, slots_of
from cardenvs.games.wingspan.state import NO_BIRD

# ---------------------------------------------------------------------------------------------------------------
# Powers as numbers

HANDLERS = tuple(POWERS)
"""Names of the power handlers, by id."""
HANDLER_PARAMS = {name: tuple(power.params) for name, power in POWERS.items()}
"""Names of each handler's params, in the order of a row of `BIRD_PARAMS`."""
NUM_PARAMS = max(map(len, HANDLER_PARAMS.values()))
_OPTIONAL_PARAMS = {("tuck_from_hand", "foods")}  # only where the reward is food


def encode_power(power: Mapping[str, Any], bird: str) -> tuple[int, list[int]]:
    """Return the handler's id and its params as numbers, padded with zeros.

    Args:
        power: trigger, power_handler_id and params, as in birds.json.
        bird: the bird's name, for error messages.

    Raises:
        FormatError: the handler is not implemented, does not work at this trigger, or has other params.
    """
    name, params = power["power_handler_id"], power["params"]
    if name not in POWERS:
        raise FormatError(f"{bird}: the power handler {name!r} is not implemented; handlers are: {', '.join(HANDLERS)}")
    takes = POWERS[name].params
    if unknown := set(params) - set(takes):
        raise FormatError(f"{bird}: {name} has no param {_names(unknown)}; its params are: {_names(takes) or 'none'}")
    if missing := {param for param in takes if (name, param) not in _OPTIONAL_PARAMS} - set(params):
        raise FormatError(f"{bird}: {name} needs the param {_names(missing)}")
    if power["trigger"] not in _triggers(name):
        raise FormatError(f"{bird}: {name} works {' or '.join(_triggers(name))}, not {power['trigger']!r}")
    row = [0] * NUM_PARAMS
    for place, (param, encode) in enumerate(takes.items()):
        if param in params:
            row[place] = cards.encoded(encode, params[param], f"{bird}: {name}: {param}")
    if name == "tuck_from_hand" and (params["reward"] == "gain_food_supply") != (row[1] != 0):
        raise FormatError(f"{bird}: {name} needs foods if its reward is gain_food_supply, and only then")
    return HANDLERS.index(name), row


def _names(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in sorted(names))


def _triggers(handler: str) -> tuple[str, ...]:
    """Return the triggers at which a handler can work."""
    if handler == "no_power":
        return cards.TRIGGERS[cards.NO_COLOUR :][:1]
    is_pink = POWERS[handler].moment != NEVER
    return cards.TRIGGERS[cards.PINK :] if is_pink else cards.TRIGGERS[cards.WHITE : cards.PINK]


def of_params(value: Any, params: Mapping[str, Any]) -> Any:
    """Return an attribute of a `Power` for some params."""
    return value(**params) if callable(value) else value


def _of_birds(attribute: str) -> np.ndarray:
    """Return the row of `begins` or `then` for each bird, int16 (170, 4)."""
    rows = []
    for handler, params in zip(BIRD_HANDLER, BIRD_PARAMS.tolist(), strict=True):
        name = HANDLERS[handler]
        by_name = dict(zip(HANDLER_PARAMS[name], params, strict=False))
        rows.append(of_params(getattr(POWERS[name], attribute), by_name))
    return cards.constant(rows, "i2")


_ENCODED = [encode_power(spec._asdict(), name) for name, spec in zip(cards.BIRD_NAMES, cards.BIRD_POWERS, strict=True)]
BIRD_HANDLER = cards.constant([handler for handler, _ in _ENCODED], "u1")
"""Id of the handler of each bird's power, (170,)."""
BIRD_PARAMS = cards.constant([params for _, params in _ENCODED], "i2")
"""Params of each bird's power, (170, NUM_PARAMS), in the order of `HANDLER_PARAMS`."""
_BEGINS, _THEN = _of_birds("begins"), _of_birds("then")
_MOMENT = cards.constant([POWERS[HANDLERS[handler]].moment for handler in BIRD_HANDLER], "i1")
OP, COUNT, ARG0, ARG1 = range(4)  # columns of _BEGINS and _THEN

# ---------------------------------------------------------------------------------------------------------------
# Using powers


def _dispatch(what: str, takes: str, passes: str, otherwise: Any = None) -> Any:
    """Return a kernel what(takes) that calls the kernel what(passes) of the power of the bird in a slot, if it has one.

    Numba cannot choose a kernel from an array, so the choice is written as Python code, as in kits.sections.
    """
    names: dict[str, Any] = {"BIRD_HANDLER": BIRD_HANDLER, "BIRD_PARAMS": BIRD_PARAMS, "__name__": __name__}
    owner = takes.split(", ")[1]
    lines = [f"def {what}({takes}):", f"    bird = s.birds[{owner}, slot]", "    params = BIRD_PARAMS[bird]"]
    for handler, (name, power) in enumerate(POWERS.items()):
        if getattr(power, what) is not None:
            names[name] = getattr(power, what)
            lines += [f"    if BIRD_HANDLER[bird] == {handler}:", f"        return {name}({passes})"]
    exec("\n".join([*lines, f"    return {otherwise}"]), names)
    return kernel(names[what])


can_use = _dispatch("can_use", "s, who, slot", "s, who, slot, params", otherwise=True)
"""Return whether a power that begins with USE_POWER or a reaction would do anything: can_use(s, who, slot)."""
use = _dispatch("use", "s, who, slot, log", "s, who, slot, params, log")
"""Apply a power that begins with USE_POWER or without a decision: use(s, who, slot, log)."""
accept = _dispatch("share", "s, owner, slot, who, log", "s, who, slot, params, log")
"""Give `who` a share of a power that gives the same to everybody: accept(s, owner, slot, who, log)."""


@kernel
def begin_power(s, who, slot, log):
    """Begin the power of the bird in a slot: push its first decision on the stack, or use it if it has none."""
    row = _BEGINS[s.birds[who, slot]]
    op, about = np.int64(row[OP]), np.int64(row[ARG0])
    if op == NO_DECISION:
        use(s, who, slot, log)
        return
    if op in (stack.LAY, stack.GIVE_EGGS):
        about = slots_of(s, who, slot, about)
    elif op == stack.MOVE:
        about = _open_rows(s, who, slot)
    elif op == stack.REPEAT:
        about = _repeatable(s, who, slot, about)
    elif op == stack.PLAY and about == 0:
        about = 1 << slot // cards.NUM_SLOTS
    elif op == stack.FIRST:
        about = turned(sharers(s, about), who, np.int64(s.rules.num_players))
    stack.push(s, op, who, slot, row[COUNT], about, row[ARG1])


@kernel
def _open_rows(s, who, slot):
    """Return the bit set of habitats that the bird in a slot may move to; empty unless it is rightmost (11.22)."""
    own = slot // cards.NUM_SLOTS
    if slot % cards.NUM_SLOTS + 1 != s.row_size[who, own]:
        return np.int64(0)
    rows = np.int64(0)
    for habitat in range(cards.NUM_HABITATS):
        if habitat != own and s.row_size[who, habitat] < cards.NUM_SLOTS:
            rows |= 1 << habitat
    return rows & cards.BIRD_HABITATS[s.birds[who, slot]]


@kernel
def _repeatable(s, who, slot, wants_predator):
    """Return the bit set of slots whose powers the bird in a slot may repeat (11.24)."""
    first = slot // cards.NUM_SLOTS * cards.NUM_SLOTS
    slots = np.int64(0)
    for k in range(first, first + cards.NUM_SLOTS):
        bird = s.birds[who, k]
        if k == slot or bird == NO_BIRD or cards.BIRD_COLOUR[bird] != cards.BROWN or _BEGINS[bird, OP] == stack.REPEAT:
            continue
        if not wants_predator or cards.BIRD_PREDATOR[bird]:
            slots |= 1 << k
    return slots


@kernel
def turned(players, first, n):
    """Return a bit set of players as a bit set of seats counted from player `first` of n."""
    return (players >> first | players << n - first) & (1 << n) - 1


@kernel
def draws_after_payment(s, who, slot):
    """Return whether a power asks for a card to be drawn once it has been paid for."""
    return _THEN[s.birds[who, slot], OP] == stack.DRAW


@kernel
def reward(s, who, slot):
    """Ask what a power gives for the card or egg that it asked for."""
    row = _THEN[s.birds[who, slot]]
    about = np.int64(row[ARG0])
    if row[OP] == stack.LAY:
        about = slots_of(s, who, slot, about)
    stack.push(s, row[OP], who, slot, row[COUNT], about, row[ARG1])


@kernel
def share(s, owner, slot, player, log):
    """Give `player` a share of the power in a slot of `owner`; other players may refuse it (10.5)."""
    row = _THEN[s.birds[owner, slot]]
    op, number, about, flags = np.int64(row[OP]), np.int64(row[COUNT]), np.int64(row[ARG0]), np.int64(row[ARG1])
    if op == stack.ACCEPT:
        if player == owner:
            accept(s, owner, slot, player, log)
        else:
            stack.push(s, op, player, slot, 0, owner, stack.OPTIONAL)
        return
    if op == stack.LAY:
        about = slots_of(s, player, slot, about)
        number += player == owner  # the owner may lay another one (11.16)
    elif op == stack.DRAFT and player == owner:
        flags = np.int64(0)
    stack.push(s, op, player, stack.NO_SLOT, number, about, flags)


# ---------------------------------------------------------------------------------------------------------------
# Reactions


@kernel
def triggered(s, player, moment, param):
    """Return the bit set of slots of the pink birds with which `player` can react now (12).

    Args:
        moment: AFTER_FOOD to AFTER_HUNT.
        param: the habitat for AFTER_PLAY.
    """
    slots = np.int64(0)
    for habitat in range(cards.NUM_HABITATS):
        for column in range(s.row_size[player, habitat]):
            slot = cards.NUM_SLOTS * habitat + column
            bird = s.birds[player, slot]
            if _MOMENT[bird] != moment or s.pink_used[player] >> slot & 1:
                continue
            if moment == stack.AFTER_PLAY and BIRD_PARAMS[bird, 0] != param:
                continue
            if can_use(s, player, slot):
                slots |= 1 << slot
    return slots
