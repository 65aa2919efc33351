"""Candidate plays for people and language models: whole plays found by the solver, with short labels."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cardenvs.core.errors import IllegalActionError
from cardenvs.core.record import Record
from cardenvs.core.view import Candidate
from cardenvs.games.rummikub.actions import COMMIT, LAY_0, TAKE_0
from cardenvs.games.rummikub.catalogue import MELDS
from cardenvs.games.rummikub.melds import RUN, Meld
from cardenvs.games.rummikub.problem import OPENING_VALUE, POINTS_FIRST, POSITION, TILES_FIRST, WORK
from cardenvs.games.rummikub.solver import best_value, playable_play
from cardenvs.games.rummikub.state import NO_MELD
from cardenvs.games.rummikub.strategy import goes_out, set_position, simplify
from cardenvs.games.rummikub.tiles import JOKER, NUM_TYPES, rack_points, tile_label, value_of

if TYPE_CHECKING:
    from cardenvs.core.state import State


@dataclass(frozen=True)
class _Play:
    """A play: the places of the sets taken apart, and the catalogue numbers of the melds laid, ascending."""

    taken: tuple[int, ...]
    laid: tuple[int, ...]
    tiles: tuple[int, ...]  # from the rack
    points: int  # of these tiles

    @property
    def actions(self) -> tuple[int, ...]:
        return (*(TAKE_0 + k for k in self.taken), *(LAY_0 + number for number in self.laid), COMMIT)


def candidates(state: "State", player: int) -> list[Candidate]:
    """Return the candidates of `player`, who is to act in `state`.

    At the start of a turn these are a few different plays, the one with most tiles first, and draw or pass. While a
    play is being built, they are the legal steps.
    """
    s = state.record
    if s.last_taken != NO_MELD or s.num_laid > 0:
        return [Candidate(state.action_label(action), (action,)) for action in state.legal_actions()]
    found: dict[str, Candidate] = {}
    for play in _varied_plays(s, player):
        if _is_legal(state, play):
            label = _label(s, play)
            if label in found:
                label = f"{label} ({'; '.join(MELDS[number].label for number in play.laid)})"
            found.setdefault(label, Candidate(label, play.actions))
    idle = [action for action in state.legal_actions() if action < COMMIT]
    return [*found.values(), *(Candidate(state.action_label(action), (action,)) for action in idle)]


def opening_points(s: Record) -> int:
    """Return the most points that the player to act, who has not opened, can lay from the rack; 0 if no meld can be."""
    p, w = np.zeros(1, POSITION)[0], np.zeros(1, WORK)[0]
    set_position(s, p, OPENING_VALUE)
    p["least"] = 0
    return max(0, int(best_value(w, p)))


# ---------------------------------------------------------------------------------------------------------------
# Plays


def _varied_plays(s: Record, player: int) -> list[_Play]:
    """Return plays that lay different tiles, those with most tiles first."""
    plays = {play.tiles: play for play in reversed(list(_plays(s, player)))}
    return sorted(plays.values(), key=lambda play: (-len(play.tiles), -play.points, play.tiles))


def _plays(s: Record, player: int) -> Iterator[_Play]:
    """Yield plays: most tiles, most points, no joker, without the lowest or the highest tile, and only the highest."""
    rack = np.array(s.hands[player], np.int64)
    best = _solved(s, player, rack, TILES_FIRST)
    if best is None:
        return
    by_value = sorted((tile for tile in set(best.tiles) if tile != JOKER), key=lambda tile: (value_of(tile), tile))
    others = [np.where(np.arange(len(rack)) == JOKER, 0, rack)]
    others += [rack - _one(tile) for tile in {*by_value[:1], *by_value[-1:]}]
    alone = (_solved(s, player, _one(tile), TILES_FIRST) for tile in reversed(by_value))
    for play in (
        best,
        _solved(s, player, rack, POINTS_FIRST),
        *(_solved(s, player, other, TILES_FIRST) for other in others),
        next((play for play in alone if play is not None), None),
    ):
        if play is not None:
            yield play


def _one(tile: int) -> np.ndarray:
    return np.bincount([tile], minlength=JOKER + 1)


def _solved(s: Record, player: int, rack: np.ndarray, objective: int) -> _Play | None:
    """Return the best play that uses only the tiles `rack`, or None."""
    p, w = np.zeros(1, POSITION)[0], np.zeros(1, WORK)[0]
    set_position(s, p, objective)
    places = [k for k, number in enumerate(s.sets) if number != NO_MELD] if s.opened[player] else []
    p["rack"] = np.minimum(p["rack"], rack)
    if objective != TILES_FIRST or not goes_out(w, p):
        simplify(p)
    if playable_play(w, p) <= 0:
        return None
    stays = Counter(int(s.sets[k]) for k, kept in zip(places, p.kept, strict=False) if kept)
    taken = []
    for k in sorted(places, key=lambda k: (-k,)):  # of equal sets, the first ones are taken apart
        if stays[int(s.sets[k])] > 0:
            stays[int(s.sets[k])] -= 1
        else:
            taken.append(k)
    laid = tuple(int(number) for number in w.melds[: int(w.num_melds)])
    tiles = _tiles(laid)
    tiles.subtract(_tiles(int(s.sets[k]) for k in taken))
    placed = tuple(sorted(tiles.elements()))
    points = rack_points(np.bincount(placed, minlength=NUM_TYPES).tolist(), int(s.rules.joker_value_at_end))
    return _Play(tuple(sorted(taken, key=lambda k: (s.sets[k], k))), laid, placed, points)


def _tiles(numbers) -> Counter:
    return Counter(slot.tile for number in numbers for slot in MELDS[number].slots)


def _is_legal(state: "State", play: _Play) -> bool:
    """Return whether all steps of a play are legal."""
    twin = state.clone()
    try:
        for action in play.actions:
            twin.apply(action)
    except IllegalActionError:
        return False
    return True


# ---------------------------------------------------------------------------------------------------------------
# Words


def short_label(meld: Meld) -> str:
    """Return a short label of a meld, such as R4-6 for R4 R5 R6."""
    if meld.kind == RUN and not meld.meanings:
        return f"{meld.slots[0].label}-{meld.slots[-1].value}"
    return meld.label


def _label(s: Record, play: _Play) -> str:
    """Describe a play, as in "lay R4-6; extend B6-8 with B9"."""
    left = Counter(play.tiles)
    sets = [MELDS[int(s.sets[k])] for k in play.taken]
    melds = [MELDS[number] for number in play.laid]
    parts, rebuilt = [], []
    for meld in melds:
        old = next((one for one in sets if set(one.slots) < set(meld.slots)), None)
        new = Counter(slot.tile for slot in meld.slots) - Counter(slot.tile for slot in (old.slots if old else ()))
        if new - left:
            rebuilt.append(meld)
            continue
        left -= new
        if old:
            sets.remove(old)
            added = " ".join(slot.label for slot in meld.slots if slot not in old.slots)
            parts.append(f"extend {short_label(old)} with {added}")
        else:
            parts.append(f"lay {short_label(meld)}")
    if rebuilt:
        used = " ".join(tile_label(tile) for tile in sorted(left.elements()))
        what = ", ".join(short_label(one) for one in sets)
        parts.append(f"rebuild {what}{f' with {used}' if used else ''} as {', '.join(map(short_label, rebuilt))}")
    return "; ".join(parts)
