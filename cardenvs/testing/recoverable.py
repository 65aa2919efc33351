"""Conformance of observations: an observation shows what its player has learnt from events.

A player knows the faces that the fold of its events places on the table, and those on the table of the deal before, at
its end. Two histories that give a player the same observation and the same legal actions must agree on both: else no
network could tell them apart, and a player with a notebook could. Many positions of many games are compared, and for
each game some histories that part ways only now: twins, in which hidden tokens lie elsewhere, played on with the same
actions and the same chance. What a game leaves out on purpose it names, by pile, in `Game.not_observed`.
"""

import random
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from cardenvs.core.errors import IllegalActionError
from cardenvs.core.events import KIND, NO_PLACE, SOURCE, UNKNOWN, Op
from cardenvs.core.fold import FoldedTable
from cardenvs.core.game import Game
from cardenvs.core.state import State

if TYPE_CHECKING:
    from cardenvs.testing.case import Case

_STARTS = 5  # positions of a game from which twins are played on
_TWINS = 4  # of each
_LONGEST = 40  # actions that they are played on
_MOST_EVENTS = 2000  # behind a start: every twin goes through all of them

Known = tuple[tuple[int, int], ...]  # (pile, token), sorted


def check_recoverable(case: "Case", told: dict[tuple, tuple[Known, Known]]) -> None:
    """What `case` adds to `told` agrees with what is there.

    Args:
        case: the game to play.
        told: what events have shown, (now, in the deal before), by options, player, observation and legal actions.

    Raises:
        ConformanceError: a player observes the same in two histories that have shown it different faces.
    """
    chooser = random.Random(case.play_seed)
    for start in _starts(case, chooser):
        player = chooser.randrange(start.num_players)
        histories = [start, *(_twin(start, player, chooser.getrandbits(60)) for _ in range(_TWINS))]
        _play_on(case, histories, player, chooser, told)


def _starts(case: "Case", chooser: random.Random) -> Iterator[State]:
    """Some positions of the game, the first among them."""
    short = [k for k, state in enumerate(case.positions()) if not k or len(state.event_log()) < _MOST_EVENTS]
    chosen = {0, *chooser.sample(short, min(_STARTS - 1, len(short)))}
    for k, state in enumerate(case.positions()):
        if k in chosen and not state.is_terminal:
            yield state.clone()


def _twin(state: State, player: int, seed: int) -> State:
    """A twin of `state` for `player` with the chance to come of the real one."""
    twin = state.determinize(player, seed)
    for field in ("seed", "rng"):
        twin.records[field] = state.records[field]
    twin.seed = state.seed
    twin._set_history_start(twin.records, state.event_rows(player))
    return twin


def _play_on(case: "Case", histories: list[State], player: int, chooser: random.Random, told: dict) -> None:
    """Play the first history on at random, and the others along with it as far as they can go."""
    notebooks = [_Notebook(case.game) for _ in histories]
    real = histories[0]
    for _ in range(_LONGEST):
        if real.is_terminal:
            return
        for state, notebook in zip(histories, notebooks, strict=True):
            if state.current_player == player:
                _compare(case, state, player, notebook, told)
        action = case._choose(real, real.legal_actions(), chooser)
        going = [(s, n) for s, n in zip(histories[1:], notebooks[1:], strict=True) if _goes_along(s, real, action)]
        real.apply(action)
        histories, notebooks = [real, *(s for s, _ in going)], [notebooks[0], *(n for _, n in going)]


def _goes_along(twin: State, real: State, action: int) -> bool:
    if twin.is_terminal or twin.current_player != real.current_player:
        return False
    try:
        twin.apply(action)
    except IllegalActionError:
        return False
    return True


def _compare(case: "Case", state: State, player: int, notebook: "_Notebook", told: dict) -> None:
    from cardenvs.testing.case import fail

    known = notebook.read(state.event_rows(player))
    observed = hash((state.observation(player).tobytes(), tuple(state.legal_actions())))
    other = told.setdefault((repr(case.options), player, observed), known)
    for when, mine, theirs in zip(("", " in the deal before"), known, other, strict=True):
        if mine != theirs:
            texts = [_in_words(case.game, set(a) - set(b)) for a, b in ((mine, theirs), (theirs, mine))]
            fail(
                case,
                state,
                f"player {player} cannot see in its observation what its events have shown{when}: "
                f"{texts[0]}, or else {texts[1]}; show it, or say why not in Game.not_observed",
            )


def _in_words(game: Game, known: set[tuple[int, int]]) -> str:
    texts = []
    for number, token in sorted(known):
        pile, owner = game.table.pile_of[number]
        where = pile.name if owner is None else f"{pile.name} of player {owner}"
        texts.append(f"{game.view.token_label(token)} in {where}")
    return ", ".join(texts) or "nothing"


class _Notebook:
    """The faces that a viewer's events have shown: on the table now, and at the end of the deal before."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._table = FoldedTable(game.table)
        self._num_read = 0
        self._before: Known = ()

    def read(self, rows: np.ndarray) -> tuple[Known, Known]:
        """Take in what is new of all rows that the viewer has seen."""
        for row in rows[self._num_read :]:
            if self._game.table.kinds[row[KIND]].op == Op.CLEAR and row[SOURCE] == NO_PLACE:
                self._before = self._known()
            self._table.apply(row)
        self._num_read = len(rows)
        return self._known(), self._before

    def _known(self) -> Known:
        return tuple(
            sorted(
                (number, token)
                for number, (pile, _) in enumerate(self._game.table.pile_of)
                if pile.name not in self._game.not_observed
                for token in self._table.piles[number]
                if token != UNKNOWN
            )
        )
