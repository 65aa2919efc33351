"""`Tracker`: where each token can be, deduced only from the events that one player has seen.

A Tracker does not depend on the game. For each face it stores how many copies are certainly in each pile, and which
piles may contain the others. A token that leaves a pile unseen may be any token of the pile, so each of these may now
be in either pile. `check_twins` uses this to verify that a game's twins do not contradict its events.
"""

from typing import Any

import numpy as np

from cardenvs.core.events import KIND, NO_PLACE, OMNISCIENT, SOURCE, TARGET, TOKEN, UNKNOWN, VALUE, Op
from cardenvs.core.fold import FoldedTable
from cardenvs.core.game import Game
from cardenvs.core.state import State

_ENDLESS = 1 << 14  # copies of a token that is drawn with replacement


class Tracker:
    """What one player can conclude about the place of each token from the events it has seen.

    Attributes:
        game: the Game.
        faces: the distinct tokens of the game, ascending.
        copies: (faces,) number of copies of each.
        sure: (faces, piles) number of copies that are certainly in a pile.
        may: (faces, piles) whether one of the other copies may be there.
    """

    def __init__(self, game: Game, options: Any) -> None:
        self.game = game
        deck = game.deck(options)
        rolled = game.rolled(options)
        if rolled is None:
            self.faces, self.copies = np.unique(deck, return_counts=True)
        else:  # drawn with replacement
            self.faces, self.copies = np.arange(rolled[0]), np.full(rolled[0], _ENDLESS)
        self._index = {int(face): k for k, face in enumerate(self.faces)}
        piles = len(game.table.pile_of)
        self.sure = np.zeros((len(self.faces), piles), np.int16)
        self.may = np.zeros((len(self.faces), piles), bool)
        self._table = FoldedTable(game.table)
        self._num_rows = 0

    def see(self, rows: np.ndarray) -> None:
        """Read the events of the player, from the deal on. Events that were read before are skipped."""
        for row in rows[self._num_rows :]:
            self._see_row(row)
        self._num_rows = len(rows)

    def _see_row(self, row: np.ndarray) -> None:
        op = self.game.table.kinds[int(row[KIND])].op
        token, source, target, value = (int(row[column]) for column in (TOKEN, SOURCE, TARGET, VALUE))
        before = len(self._table.piles[source]) if op == Op.MOVE else 0
        self._table.apply(row)
        if op == Op.MOVE:
            face = token if token != UNKNOWN else self._table.piles[target][-1]
            self._move(face, source, target, before)
        elif op == Op.REVEAL and token != UNKNOWN:
            ordered = self.game.table.pile_of[source][0].ordered
            self._find(token, source, self._table.piles[source].count(token) if ordered else value)
        elif op == Op.CREATE:
            if token == UNKNOWN:
                self.may[:, target] = True
            else:
                self.sure[self._index[token], target] += value
        elif op == Op.CLEAR:
            gone = slice(None) if source == NO_PLACE else source
            self.sure[:, gone], self.may[:, gone] = 0, False
        elif op == Op.MOVE_ALL:
            self.sure[:, target] += self.sure[:, source]
            self.may[:, target] |= self.may[:, source]
            self.sure[:, source], self.may[:, source] = 0, False
        if op not in (Op.NOTE, Op.SET):
            self._conclude()

    def _move(self, face: int, source: int, target: int, size: int) -> None:
        """Move a token from a pile of `size` tokens. Its face may be known even if it was not shown."""
        if face == UNKNOWN and size == 1 and self.sure[:, source].sum() == 1:
            face = int(self.faces[self.sure[:, source].argmax()])
        if face != UNKNOWN:
            k = self._index[face]
            self.sure[k, source] -= self.sure[k, source] > 0
            self.sure[k, target] += 1
            return
        loose = self.sure[:, source] > 0
        self.sure[loose, source] = 0
        self.may[loose, source] = True
        self.may[:, target] |= self.may[:, source]

    def _find(self, face: int, pile: int, number: int) -> None:
        """Record that `pile` contains at least `number` copies of a face."""
        k = self._index[face]
        self.sure[k, pile] = max(int(self.sure[k, pile]), number)

    def _conclude(self) -> None:
        """Deduce what follows: full piles contain no other tokens, and tokens with one possible place are there."""
        sizes = np.array([len(tokens) for tokens in self._table.piles])
        all_there = sizes.sum() == self.copies.sum()  # whether all tokens are on the table now
        while True:
            full = self.sure.sum(axis=0) >= sizes
            loose = self.copies - self.sure.sum(axis=1)
            self.may[:, full] = False
            self.may[loose <= 0] = False
            alone = (loose > 0) & (self.may.sum(axis=1) == 1)
            if not all_there or not alone.any():
                return
            where = self.may[alone].argmax(axis=1)
            self.sure[np.flatnonzero(alone), where] += loose[alone].astype(np.int16)
            self.may[alone] = False

    def contradictions(self, twin: State) -> list[str]:
        """Return what in a state is impossible after these events, as texts."""
        found = np.zeros_like(self.sure)
        for number, tokens in enumerate(twin.table(OMNISCIENT).piles):
            for token in tokens:
                found[self._index[token], number] += 1
        missing = found < self.sure
        strange = (found > self.sure) & ~self.may
        return [
            *(f"{self._label(k)} is not in {self._pile(pile)}, where it must be" for k, pile in np.argwhere(missing)),
            *(f"{self._label(k)} is in {self._pile(pile)}, where it cannot be" for k, pile in np.argwhere(strange)),
        ]

    def _label(self, k: int) -> str:
        return self.game.view.token_label(int(self.faces[k]))

    def _pile(self, number: int) -> str:
        pile, owner = self.game.table.pile_of[number]
        return pile.name if owner is None else f"{pile.name} of player {owner}"


def check_twins(state: State, player: int, tracker: Tracker, seed: int, twins: int = 3) -> str:
    """Compare a state and twins of it with what `player` has seen. Returns what is impossible, or an empty string.

    The tracker of this game and player reads the new events; `seed` is that of the first twin.
    """
    tracker.see(state.event_rows(player))
    if wrong := tracker.contradictions(state):
        return f"the events of player {player} contradict the true state: {'; '.join(wrong[:3])}"
    for k in range(twins):
        if wrong := tracker.contradictions(state.determinize(player, (seed + k) % 2**62)):
            return f"a twin contradicts what player {player} has seen: {'; '.join(wrong[:3])}"
    return ""
