"""Replay files: one recorded game as JSON, with everything needed to reproduce its events and returns."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from cardenvs.core.beats import beats
from cardenvs.core.checks import check_fields, parsed, short
from cardenvs.core.errors import CardenvsError, FormatError
from cardenvs.core.events import OMNISCIENT, Event
from cardenvs.core.files import write_whole
from cardenvs.core.fold import FoldedTable
from cardenvs.core.game import Game
from cardenvs.core.game_view import write_past_view
from cardenvs.core.history import NO_HISTORY
from cardenvs.core.narration import Narrator
from cardenvs.core.registry import get_game, registered_game
from cardenvs.core.state import State
from cardenvs.core.text import check_name
from cardenvs.pictures.player import Frame, in_notebook, player_page

_FORMAT = "cardenvs-replay"
_FORMAT_VERSION = 1
_FIELDS = {
    "format": str, "format_version": int, "game": str, "options": dict, "layout": str, "setup": dict,
    "players": list, "actions": list, "returns": list, "digest": str,
}  # fmt: skip
_ENTRIES: dict[str, Any] = {"players": str, "actions": int, "returns": int | float}


@dataclass(frozen=True)
class Replay:
    """One recorded game, finished or not.

    Attributes:
        game: the Game.
        options: option values by name.
        setup: {"seed": int, "deck": [token, ...]}.
        players: the players' names.
        actions: ids and codes in order.
        returns: each player's return after the last action.
        digest: hash of all events that the rules logged, and of the returns.
    """

    game: Game
    options: dict[str, Any]
    setup: dict[str, Any]
    players: tuple[str, ...]
    actions: tuple[int, ...]
    returns: tuple[float, ...]
    digest: str

    @classmethod
    def of(cls, state: State, players: list[str] | None = None) -> Self:
        """Record the game of `state` so far; `players` are names, by default player_0, player_1, ...

        Raises:
            ValueError: the state has no history (see `State.has_history`), or the names are not as many texts.
        """
        if not state.has_history:
            raise ValueError(NO_HISTORY)
        names = [f"player_{p}" for p in range(state.num_players)] if players is None else players
        if isinstance(names, str) or len(names) != state.num_players or not all(isinstance(n, str) for n in names):
            raise ValueError(f"{state.num_players} players need a list of {state.num_players} names; got {names!r}")
        setup = {"seed": state.seed, "deck": state.deck.tolist()}
        return cls(
            state.game, state.options.as_dict(), setup, tuple(names), tuple(state.actions), tuple(state.returns),
            _digest(state),
        )  # fmt: skip

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the replay as JSON. An existing file is replaced atomically.

        Raises:
            FormatError: as `text`.
        """
        write_whole(path, self.text())

    def text(self) -> str:
        """Return what `save` writes.

        Raises:
            FormatError: a player's name is empty, longer than 100 characters or unprintable, and could not be loaded.
        """
        for name in self.players:
            check_name(name, "a player")
        data = {
            "format": _FORMAT,
            "format_version": _FORMAT_VERSION,
            "game": self.game.name,
            "options": self.options,
            "layout": self.game.layout(self.game.make_options(**self.options)).hash,
            "setup": self.setup,
            "players": list(self.players),
            "actions": list(self.actions),
            "returns": list(self.returns),
            "digest": self.digest,
        }
        return json.dumps(data, indent=1) + "\n"

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a replay and verify it by replaying the game.

        Raises:
            FormatError: the file is not a replay, is damaged or edited, or was recorded with another game version.
            GameNotFoundError: its game is not installed.
        """
        return cls.parse(Path(path).read_bytes(), str(path))

    @classmethod
    def parse(cls, text: str | bytes, name: str = "the replay", *, only_registered: bool = False) -> Self:
        """Return the replay that `text` returned and `save` wrote, checked as `load` does. `name` stands for it in
        errors; with `only_registered`, games of OpenSpiel are refused (`registered_game`).

        Raises:
            FormatError, GameNotFoundError: as `load`.
        """
        data = parsed(text, f"{name} is not a replay: it")
        _check_fields(name, data)
        game = registered_game(data["game"]) if only_registered else get_game(data["game"])
        if game.name != data["game"]:
            raise FormatError(f"{name} is damaged: 'game' should include the version, as in {game.name!r}")
        try:
            options = game.make_options(**data["options"])
        except CardenvsError as error:
            raise FormatError(f"{name}: {error}") from None
        if len(data["players"]) != options.num_players:
            raise FormatError(f"{name} is damaged: {len(data['players'])} names for {options.num_players} players")
        if data["layout"] != game.layout(options).hash:
            raise FormatError(f"{name} was recorded with another version of {game.name} (its observation differs)")
        replay = cls(
            game, data["options"], data["setup"], tuple(data["players"]), tuple(data["actions"]),
            tuple(data["returns"]), data["digest"],
        )  # fmt: skip
        replay.verify(name)
        return replay

    def verify(self, name: str = "replay") -> None:
        """Replay the game and compare it with the record. `name`, such as its path, stands for it in errors.

        Raises:
            FormatError: an action is illegal, or the events or returns differ from the recorded ones.
        """
        state = self.state_at(len(self.actions), name)
        if tuple(state.returns) != self.returns:
            raise FormatError(f"{name}: replaying it returns {state.returns}, but {list(self.returns)} is recorded")
        if _digest(state) != self.digest:
            raise FormatError(f"{name}: its events do not match the recorded digest; it was edited")

    def state_at(self, k: int, name: str = "replay") -> State:
        """Return the state after the first `k` actions, 0 <= k <= len(actions).

        Raises:
            IndexError: `k` is out of range.
            FormatError: the recorded setup cannot be dealt, or an action is illegal.
        """
        if not 0 <= k <= len(self.actions):
            raise IndexError(f"{name} has positions 0 to {len(self.actions)}; got {k}")
        try:
            state = self._new_state()
        except (CardenvsError, ValueError, TypeError) as error:
            raise FormatError(f"{name}: its setup cannot be dealt: {error}") from None
        for ply, action in enumerate(self.actions[:k]):
            try:
                state.apply(action)
            except CardenvsError as error:
                raise FormatError(f"{name}: recorded action {ply} is illegal: {error}") from None
        return state

    def events(self, player: int = OMNISCIENT) -> list[Event]:
        """Return the events of the game that `player` saw; by default all events."""
        return self.state_at(len(self.actions)).events(player)

    def frames(self, viewer: int = OMNISCIENT, notes: Mapping[int, Any] | None = None) -> Iterator[Frame]:
        """Yield every position as `viewer` saw it, with what happened before it, for pictures.

        An action that does several things has a frame for each: a trick lies there before it is gathered, hands are
        shown before the next deal (see `cardenvs.core.beats`).

        Args:
            viewer: a player, SPECTATOR or OMNISCIENT.
            notes: what agents noted about their choices, as JSON values, by the number of actions before.
        """
        state, notes, kinds = self.state_at(0), notes or {}, self.game.table
        narrator, folded = Narrator(self.game, viewer, len(self.players)), FoldedTable(kinds)

        def told(rows: np.ndarray) -> list[str]:
            return narrator.sentences(kinds.read(row) for row in rows)

        rows = state.event_rows(viewer)
        yield Frame(state.view(viewer), told(rows), notes.get(0))
        folded.extend(rows)
        for ply, action in enumerate(self.actions, 1):
            before, seen = state.clone(), len(rows)
            state.apply(action)
            rows = state.event_rows(viewer)
            for beat in beats(kinds, rows, seen, state.is_terminal):
                folded.extend(rows[beat.start : beat.end])
                is_last = beat.end == len(rows)
                view = state.view(viewer) if is_last else write_past_view(before, state, viewer, folded)
                note = notes.get(ply) if is_last else None
                yield Frame(view, told(rows[beat.told_from : beat.told_to]), note, beat.closes, ply)

    def page(self, viewer: int = OMNISCIENT, notes: Mapping[int, Any] | None = None, back: str = "") -> str:
        """Return a self-contained HTML page that plays the game as `viewer` saw it; by default it shows everything.

        Args:
            viewer, notes: as for `frames`.
            back: address of the list of tables, if the page has a link to it.
        """
        title = f"{self.game.title}, seed {self.setup['seed']}"
        return player_page(title, self.frames(viewer, notes), self.players, back)

    def _repr_html_(self) -> str:
        return in_notebook(self.page())

    def _new_state(self) -> State:
        return self.game.new_state(seed=self.setup["seed"], deck=self.setup["deck"] or None, **self.options)


def _check_fields(name: str, data: Any) -> None:
    if not isinstance(data, dict) or data.get("format") != _FORMAT:
        raise FormatError(f'{name} is not a cardenvs replay: it lacks "format": "{_FORMAT}"')
    check_fields(data, _FIELDS, name)
    for field, kind in _ENTRIES.items():
        for entry in data[field]:
            if not isinstance(entry, kind) or isinstance(entry, bool):
                raise FormatError(f"{name} is damaged: {field!r} has {short(entry)}")
    for player in data["players"]:
        check_name(player, f"{name}: a player")
    if data["format_version"] != _FORMAT_VERSION:
        raise FormatError(
            f"{name} has replay format {data['format_version']}; this cardenvs reads format {_FORMAT_VERSION}"
        )
    check_fields(data["setup"], {"seed": int, "deck": list}, f"{name}, in 'setup',")


def _digest(state: State) -> str:
    rows = state.game.table.visible(
        state.event_log(), OMNISCIENT
    )  # what lies face down follows from these and the seed
    digest = hashlib.sha256(np.ascontiguousarray(rows, "<i4").tobytes())
    digest.update(np.array(state.returns, "<f8").tobytes())
    return digest.hexdigest()
