"""Checks that an observation shows what its player has learnt from events.

A player knows the faces in the fold of its events, and those on the table at the end of the previous deal. If two
histories give a player the same observation and the same legal actions, they must agree on both; otherwise a player who
takes notes knows more than a network. The check compares positions of many games. To get similar histories, it also
plays on twins of some positions with the same actions and the same chance.
"""

import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from cardenvs.core.errors import IllegalActionError
from cardenvs.core.events import KIND, NO_PLACE, SOURCE, UNKNOWN, Op
from cardenvs.core.fold import FoldedTable
from cardenvs.core.game import Game
from cardenvs.core.state import State
from cardenvs.testing.case import Case, fail

_STARTS = 5  # positions of a game from which twins are played on
_TWINS = 4  # twins of each position
_LONGEST = 40  # actions played on
_MOST_EVENTS = 2000  # events before a start, because every twin is compared on all of them

Known = tuple[tuple[int, int], ...]  # (pile, token), sorted


def check_recoverable(case: Case, shown: dict[tuple[Any, ...], tuple[Known, Known]]) -> None:
    """Add the histories of `case` to `shown` and check that they agree with those already there.

    `shown` has the faces that events have shown, (now, in the previous deal), by options, player, observation and legal
    actions.

    Raises:
        ConformanceError: a player has the same observation in two histories that have shown it different faces.
    """
    chooser = random.Random(case.play_seed)
    for start in _starts(case, chooser):
        player = chooser.randrange(start.num_players)
        histories = [start, *(_twin(start, player, chooser.getrandbits(60)) for _ in range(_TWINS))]
        _play_on(case, histories, player, chooser, shown)


def _starts(case: Case, chooser: random.Random) -> Iterator[State]:
    """Yield some positions of the game, including the first."""
    short = [k for k, state in enumerate(case.positions()) if not k or len(state.event_log()) < _MOST_EVENTS]
    chosen = {0, *chooser.sample(short, min(_STARTS - 1, len(short)))}
    for k, state in enumerate(case.positions()):
        if k in chosen and not state.is_terminal:
            yield state.clone()


def _twin(state: State, player: int, seed: int) -> State:
    """Return a twin of `state` for `player` with the same future chance as the real game."""
    twin = state.determinize(player, seed)
    for field in ("seed", "rng"):
        twin._states[field] = state.records[field]
    twin.seed = state.seed
    twin._set_history_start(twin.records, state.event_rows(player))
    return twin


def _play_on(case: Case, histories: list[State], player: int, chooser: random.Random, shown: dict[Any, Any]) -> None:
    """Play on the first history at random, and the others with the same actions as long as these are legal."""
    notebooks = [_Notebook(case.game) for _ in histories]
    real = histories[0]
    for _ in range(_LONGEST):
        if real.is_terminal:
            return
        for state, notebook in zip(histories, notebooks, strict=True):
            if state.current_player == player:
                _compare(case, state, player, notebook, shown)
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


def _compare(case: Case, state: State, player: int, notebook: "_Notebook", shown: dict[Any, Any]) -> None:
    known = notebook.read(state.event_rows(player))
    observed = hash((state.observation(player).tobytes(), tuple(state.legal_actions())))
    other = shown.setdefault((repr(case.options), player, observed), known)
    for when, mine, theirs in zip(("", " in the deal before"), known, other, strict=True):
        if mine != theirs:
            texts = [_in_words(case.game, set(a) - set(b)) for a, b in ((mine, theirs), (theirs, mine))]
            fail(
                case,
                state,
                f"player {player} cannot see in its observation what its events have shown{when}: "
                f"{texts[0]}, or else {texts[1]}",
            )


def _in_words(game: Game, known: set[tuple[int, int]]) -> str:
    texts = []
    for number, token in sorted(known):
        pile, owner = game.table.pile_of[number]
        where = pile.name if owner is None else f"{pile.name} of player {owner}"
        texts.append(f"{game.view.token_label(token)} in {where}")
    return ", ".join(texts) or "nothing"


class _Notebook:
    """The faces that a viewer's events have shown: on the table now, and at the end of the previous deal."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._table = FoldedTable(game.table)
        self._num_read = 0
        self._before: Known = ()

    def read(self, rows: np.ndarray) -> tuple[Known, Known]:
        """Read the new rows among all that the viewer has seen, and return the known faces now and before."""
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
                for number in range(len(self._game.table.pile_of))
                for token in self._table.piles[number]
                if token != UNKNOWN
            )
        )
