"""Observations: each section is declared once, with what it shows.

    OBSERVATION = Observation(
        STATE,
        cards("hand", CARD_LABELS, "own cards", "hands"),
        per_seat(cards("played", CARD_LABELS, "cards played in this deal", "played")),
        one_seat("to_act", "the player to act", "current_player"),
    )

A section takes what it shows from a *source*: the name of a field of the record, or a kernel source(s, p). Of a field
with an entry per player, it takes that of player `p`: the observer, or each player in turn in `per_seat`. Sections
follow one another without gaps, so no game counts where one begins. Where one pass over the record fills several
sections, `together` gives them to one kernel. Sizes, bounds and the dtype may be functions of the options.

`Observation` writes the kernel `observe` as Python code, a few lines for each section, and compiles it as one function.
Kernels closed over kernels would do the same, but take five times as long to compile. Indices of `out` are unsigned
there, so that Numba skips the check for negative ones, which costs a tenth of the time.
"""

import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.observation import Layout, Section
from cardenvs.core.options import Options
from cardenvs.core.seats import wrap
from cardenvs.kits.cards import count_bits, lowest_card
from cardenvs.kits.matches import side_of

Source = Any  # name of a field, or kernel source(s, p)
# A number, the name of the option that gives it, or a function of the options. That of a count also compiles for those
# in a record.
Count = int | str | Callable[[Any], int]
Bound = float | str | Callable[[Any], float]
Labels = Sequence[str] | Callable[[int], Sequence[str]] | None  # texts of entries, or a function of their number

SEATS = "observer first, then in turn"
_BITS = (np.arange(256)[:, None] >> np.arange(8) & 1).astype(np.int8)  # of a byte, one a column


@dataclass(frozen=True)
class Part:
    """A section: of the observer, or with a part for each player or side.

    Attributes:
        name, doc, low, high: as in `Section`; the bounds may be functions of the options.
        size: number of entries for one player.
        labels: texts of these entries.
        code: lines of Python that write the entries of player or side `p` to out[{at}], out[{at} + 1], ..., where all
            is 0. They may use s, p, out, {size}, and {value}, which is what the source gives.
        source: the source; a kernel if the lines name {source}.
        data: an array that the lines name {data}.
        count: number of players or sides; 0 for the observer alone.
        room: number of parts in the layout, if there may be more than players.
        by_side: whether these are sides, numbered as in `matches`.
        first: the first of them; 1 leaves out the observer.
        apart: whether each of them is a section of its own, named name_0, name_1, ...
        when: (function of the options, kernel of those in a record) that say whether the section is there.
        joint: the kernel that writes the section together with its neighbours.
    """

    name: str
    doc: str
    size: Count
    labels: Labels
    code: tuple[str, ...]
    source: Source
    data: np.ndarray | None = None
    low: Bound = 0
    high: Bound = 1
    count: Count = 0
    room: Count = 0
    by_side: bool = False
    first: int = 0
    apart: bool = False
    when: tuple[Callable[[Options], bool], Any] | None = None
    joint: Any = None


# ---------------------------------------------------------------------------------------------------------------
# What a section shows


def written(
    name: str, labels: Labels, doc: str, write: Any = None, high: Bound = 1, low: Bound = 0, size: Count = 0
) -> Part:
    """Return a section that the kernel write(s, p, out, at) writes to out[at:at + size].

    Args:
        name, doc, low, high: as in `Part`.
        labels: of its entries; None for their indices, or a function of their number. `size` then gives the number.
        write: the kernel; None in `together`.
        size: number of entries, unless it is that of the labels.
    """
    return _part(name, labels, doc, ("{source}(s, p, out, {at})",), write, high=high, low=low, size=size)


def cards(name: str, labels: Labels, doc: str, source: Source) -> Part:
    """Return a section with a 1 for each element of a bit set, such as a hand of cards or the suits of a void."""
    return _part(name, labels, doc, ("write_bits({value}, {size}, out, {at})",), source)


def one_hot(name: str, labels: Labels, doc: str, source: Source, size: Count = 0) -> Part:
    """Return a section with a 1 at the number that the source returns; all are 0 if it is negative."""
    code = ("k = np.int64({value})", "if k >= 0:", "    out[np.uint64({at} + k)] = 1")
    return _part(name, labels, doc, code, source, size=size)


def number(name: str, doc: str, source: Source, high: Bound = 1, low: Bound = 0, clip: int | None = None) -> Part:
    """Return a section of one number, which is clipped at `clip` if that is given."""
    value = "{value}" if clip is None else f"min(np.int64({{value}}), {clip})"
    code = ("out[np.uint64({at})] = " + value,)
    return _part(name, None, doc, code, source, high=high if clip is None else clip, low=low, size=1)


_MOST_TENS = 127  # in one byte


@kernel(inline=True)
def _tens(s, p):
    return min(max(s.scores[p] // 10, -_MOST_TENS), _MOST_TENS)


@kernel(inline=True)
def _ones(s, p):
    return s.scores[p] % 10


def tens_and_ones(what: str) -> tuple[Part, Part]:
    """Return sections for the field `scores` in observations of bytes: its tens, which are clipped, and its ones."""
    return (
        number("score_tens", f"{what}, in tens, clipped at {_MOST_TENS}", _tens, low=-_MOST_TENS, high=_MOST_TENS),
        number("score_ones", f"{what} above these tens", _ones, high=9),
    )


def steps(name: str, doc: str, thresholds: np.ndarray, source: Source) -> Part:
    """Return a thermometer: entry k is 1 if the number is at least thresholds[k]; these ascend."""
    labels, doc = [f">={step}" for step in thresholds], f"{doc}: 1 for each step reached"
    return _part(name, labels, doc, ("mark_steps(np.int64({value}), {data}, out, {at})",), source, data=thresholds)


def entries(
    name: str, labels: Labels, doc: str, source: Source, high: Bound = 1, low: Bound = 0, size: Count = 0
) -> Part:
    """Return a section of numbers: entry k is field[k], field[p, k] or, with a kernel, source(s, p, k)."""
    code: tuple[str, ...] = ("copy_row({row}, {size}, out, {at})",)
    if callable(source):
        code = ("for k in range({size}):", "    out[np.uint64({at} + k)] = {source}(s, p, k)")
    return _part(name, labels, doc, code, source, high=high, low=low, size=size)


def one_seat(name: str, doc: str, source: Source) -> Part:
    """Return a section with a 1 for one player, the observer first; all are 0 if the source gives nobody."""
    code = ("k = np.int64({value})", "if k >= 0:", "    out[np.uint64({at} + wrap(k - p + {size}, {size}))] = 1")
    return _part(name, None, f"1 for {doc}, {SEATS}", code, source, size="num_players")


def _part(name: str, labels: Labels, doc: str, code: tuple[str, ...], source: Source, **more: Any) -> Part:
    if labels is None or callable(labels):
        return Part(name, doc, labels=labels, code=code, source=source, **more)
    return Part(name, doc, labels=tuple(labels), code=code, source=source, **more | {"size": len(labels)})


@kernel(inline=True)
def write_bits(bits, size, out, at):
    """Write the lowest bits of a set (int64) to out[at:at + size], where all is 0."""
    # Indices are unsigned, so that Numba skips the check for negative ones.
    if out.itemsize != 1:
        while bits:
            out[np.uint64(at + lowest_card(bits))] = 1
            bits &= bits - 1
    elif bits or size <= 24:  # eight bytes at a time, which the compiler makes of a table of the same type
        for k in range(size // 8):
            for bit in range(8):
                out[np.uint64(at + 8 * k + bit)] = _BITS[np.uint64(bits >> 8 * k & 255), bit]
        for bit in range(size % 8):
            out[np.uint64(at + size // 8 * 8 + bit)] = _BITS[np.uint64(bits >> size // 8 * 8 & 255), bit]


@kernel(inline=True)
def copy_row(row, size, out, at):
    """Write row[0:size] to out[at:at + size]."""
    # Eight are read before they are written: the compiler, which cannot tell that `row` and `out` do not overlap, then
    # copies them at once.
    for k in range(size // 8):
        i, j = 8 * k, at + 8 * k
        a, b, c, d = row[np.uint64(i)], row[np.uint64(i + 1)], row[np.uint64(i + 2)], row[np.uint64(i + 3)]
        e, f, g, h = row[np.uint64(i + 4)], row[np.uint64(i + 5)], row[np.uint64(i + 6)], row[np.uint64(i + 7)]
        out[np.uint64(j)], out[np.uint64(j + 1)], out[np.uint64(j + 2)], out[np.uint64(j + 3)] = a, b, c, d
        out[np.uint64(j + 4)], out[np.uint64(j + 5)], out[np.uint64(j + 6)], out[np.uint64(j + 7)] = e, f, g, h
    for k in range(size // 8 * 8, size):
        out[np.uint64(at + k)] = row[np.uint64(k)]


@kernel(inline=True)
def mark_steps(quantity, thresholds, out, at):
    """Set out[at + k] to 1 for each threshold k that `quantity` reaches."""
    for k in range(thresholds.shape[0]):
        out[np.uint64(at + k)] = quantity >= thresholds[k]


# ---------------------------------------------------------------------------------------------------------------
# Whom it is about, and when it is there


def per_seat(part: Part, first: int = 0, apart: bool = False, doc: str = SEATS, room: Count = 0) -> Part:
    """Return the section with a part for each player, the observer first.

    Args:
        part: the section for one player.
        first: 1 to leave out the observer.
        apart: whether there is a section for each player. "{}" in the text then stands for the seat.
        doc: the order in words, unless `apart`.
        room: number of parts, if there may be more than players; those without a player stay 0.
    """
    text = part.doc if apart else f"{part.doc}, {doc}"
    return replace(part, doc=text, count="num_players", first=first, apart=apart, room=room)


def per_side(part: Part, sides: Count, doc: str, apart: bool = False) -> Part:
    """Return the section with a part for each side, the observer's first; `p` of its source is then a side.

    Args:
        part: the section for one side.
        sides: their number.
        doc: the order in words, unless `apart`.
        apart: whether there is a section for each side. "{}" in the text then stands for its number.
    """
    text = part.doc if apart else f"{part.doc}, {doc}"
    return replace(part, doc=text, count=sides, by_side=True, apart=apart)


def only(options: Callable[[Any], bool], *parts: Part, rules: Any = None) -> tuple[Part, ...]:
    """Return sections that are there with some options only.

    Args:
        options: function of the options.
        parts: the sections.
        rules: kernel rules(rules) that tells the same from the options in a record, unless `options` does.
    """
    when = options, kernel(options, inline=True) if rules is None else rules
    return tuple(replace(part, when=when) for part in parts)


def together(write: Any, *parts: Part) -> tuple[Part, ...]:
    """Return sections that the kernel write(s, player, out, at, at, ...) writes, with the first index of each.

    It writes the parts of all players, too, where there are such.
    """
    return tuple(replace(part, joint=write) for part in parts)


# ---------------------------------------------------------------------------------------------------------------
# Sources


@kernel(inline=True)
def own_seat(s, p):
    """Return `p`: the number of the observer."""
    return p


@kernel(inline=True)
def hand_size(s, p):
    """Return the number of cards in a hand, a bit set."""
    return count_bits(s.hands[p])


@kernel(inline=True)
def in_stock(s, p):
    """Return the number of cards in the stock, as in `deck`."""
    return s.deck.shape[0] - s.num_dealt


# ---------------------------------------------------------------------------------------------------------------
# The whole


class Observation:
    """The sections of a game's observations.

    Attributes:
        code: the Python code of `observe`.
        observe: kernel observe(s, player, out), which writes what `player` sees.
    """

    def __init__(
        self,
        state_dtype: np.dtype,
        *parts: Part,
        dtype: str | Callable[[Any], str] = "int8",
        players: int | None = None,
    ) -> None:
        """Write and compile `observe`.

        Args:
            state_dtype: the game's record.
            parts: the sections, in order.
            dtype: of an observation, or a function of the options.
            players: their number, if it is always the same; the code is then faster.
        """
        self._parts, self._dtype = parts, dtype
        code = _Code(state_dtype, players)
        body = _indented(["out[:] = 0", "at = 0", *code.sections(parts)])
        self.code = "\n".join(["def observe(s, player, out):", *body])
        caller: Any = inspect.currentframe()
        names = code.names | {"__name__": caller.f_back.f_globals["__name__"]}  # messages of the compiler name it
        exec(compile(self.code, "<sections>", "exec"), names)
        self.observe = kernel(names["observe"])

    def layout(self, options: Any) -> Layout:
        """Return the layout with some options."""
        dtype = self._dtype if isinstance(self._dtype, str) else self._dtype(options)
        return Layout([section for part in self._parts for section in _sections(part, options)], dtype)


def _sections(part: Part, options: Options) -> list[Section]:
    if part.when is not None and not part.when[0](options):
        return []
    size, low, high = (_chosen(value, options) for value in (part.size, part.low, part.high))
    given = part.labels(size) if callable(part.labels) else part.labels
    labels = None if given is None else tuple(given)
    if part.count == 0:
        return [Section(part.name, size, part.doc, low, high, labels)]
    numbers = range(part.first, _chosen(part.room or part.count, options))
    if part.apart:
        return [Section(f"{part.name}_{k}", size, part.doc.format(k), low, high, labels) for k in numbers]
    of_each = labels and tuple(f"{k}:{label}" for k in numbers for label in labels)
    return [Section(part.name, size * len(numbers), part.doc, low, high, of_each)]


def _chosen(value: Any, options: Options) -> Any:
    if callable(value):
        return value(options)
    return getattr(options, value) if isinstance(value, str) else value


class _Code:
    """Writes the lines of Python that write the sections, and collects what they name."""

    def __init__(self, state_dtype: np.dtype, players: int | None) -> None:
        self.names: dict[str, Any] = {
            "np": np,
            "wrap": wrap,
            "write_bits": write_bits,
            "copy_row": copy_row,
            "mark_steps": mark_steps,
            "side_of": side_of,
        }
        self._state_dtype, self._players = state_dtype, players

    def sections(self, parts: Sequence[Part]) -> Iterator[str]:
        """Yield the lines for all parts. Those in a row that loop over the same seats share a loop."""
        for (when, *_), group in itertools.groupby(enumerate(parts), lambda numbered: _loop(numbered[1])):
            loop = dict(group)
            lines = [*self._starts(loop), *self._writers(loop)]
            if when is None:
                yield from lines
            else:
                yield f"if {self._named(f'when_{min(loop)}', when[1])}(s.rules):"
                yield from _indented(lines)

    def _starts(self, loop: dict[int, Part]) -> Iterator[str]:
        for k, part in loop.items():
            size = self._count(f"size_{k}", part.size)
            count = self._count(f"count_{k}", part.room or part.count)
            yield f"at_{k} = at"
            yield f"at += {size}" if part.count == 0 else f"at += ({count} - {part.first}) * {size}"

    def _writers(self, loop: dict[int, Part]) -> Iterator[str]:
        head = min(loop)
        part = loop[head]
        if part.joint is not None:
            starts = ", ".join(f"np.uint64(at_{k})" for k in loop)
            yield f"{self._named(f'joint_{head}', part.joint)}(s, player, out, {starts})"
        elif part.count == 0:
            yield "p = player"
            for k, part in loop.items():
                yield from self._entries(k, part)
        else:
            yield f"n = {self._count(f'players_{head}', part.count)}"
            yield "own = side_of(player, n)" if part.by_side else "own = player"
            yield f"for seat in range({part.first}, n):"
            yield "    p = wrap(own + seat, n)"
            for k, part in loop.items():
                yield from _indented(self._entries(k, part))
                yield f"    at_{k} += {self._count(f'size_{k}', part.size)}"

    def _entries(self, k: int, part: Part) -> Iterator[str]:
        if isinstance(part.source, str):
            dimensions, field = self._state_dtype[part.source].ndim, f"s.{part.source}"
            of_seat = f"{field}[np.uint64(p)]"  # unsigned, so that Numba skips the check for negative indices
            given = {"value": of_seat if dimensions else field, "row": of_seat if dimensions > 1 else field}
        else:
            source = self._named(f"source_{k}", part.source)
            given = {"source": source, "value": f"{source}(s, p)"}
        if part.data is not None:
            given["data"] = self._named(f"data_{k}", part.data)
        for line in part.code:
            yield line.format(at=f"at_{k}", size=self._count(f"size_{k}", part.size), **given)

    def _count(self, name: str, count: Any) -> str:
        if count == "num_players" and self._players is not None:
            return str(self._players)
        if callable(count):
            return f"{self._named(name, kernel(count, inline=True))}(s.rules)"
        return f"np.int64(s.rules.{count})" if isinstance(count, str) else str(count)

    def _named(self, name: str, value: Any) -> str:
        self.names.setdefault(name, value)
        return name


def _loop(part: Part) -> tuple[Any, ...]:
    joint = (part.joint,) if part.joint is not None else (None, part.count, part.by_side, part.first)
    return part.when, *joint


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"    {line}" for line in lines)
