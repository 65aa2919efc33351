"""`State`: a Python handle on one record, in OpenSpiel's words.

A state keeps how it began (seed, explicit deck) and the actions since, so events are derived when asked for and
cost nothing before. Differences from OpenSpiel: chance is inside `apply`, so the player to act is never chance;
`legal_actions()` is for the player to act; `observation(player)` is an array.
"""

import hashlib
import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cardenvs.core.checks import checked_integer, checked_player, checked_seed, is_integer, short
from cardenvs.core.codes import FORFEIT, HOLD, MASK_DTYPE, NO_DECK, TERMINAL_PLAYER
from cardenvs.core.errors import DeckError, FormatError, HiddenInformationError, IllegalActionError
from cardenvs.core.events import NO_LOG, OMNISCIENT, SPECTATOR, Event
from cardenvs.core.fold import FoldedTable, fold
from cardenvs.core.history import NO_ROWS, History
from cardenvs.core.legal import write_mask
from cardenvs.core.options import Options
from cardenvs.core.record import copied, widen
from cardenvs.core.saved_state import SavedState
from cardenvs.core.view import Candidate, ansi, plain, table_as_json

if TYPE_CHECKING:
    from cardenvs.core.game import Game

_MOST = 2**31 - 1  # rounds or plies that can be asked for


class State:
    """One game being played. Made by `game.new_state(...)`, never directly.

    Attributes:
        game: the Game.
        options: its checked options.
        seed: int, the seed of the episode (of a twin: of what is still to come).
        deck: the explicit cards it was dealt from, int16 tokens, usually none.
    """

    def __init__(
        self, game: "Game", options: Options, seed: int | None = None, deck: str | Sequence[int] | None = None
    ) -> None:
        self.game, self.options = game, options
        self.seed = secrets.randbits(63) if seed is None else checked_seed(seed)
        self.deck = game.parse_deck(deck, options)
        self._states = game.blank(options)
        game.engine.start(self._states, 0, self.seed, self.deck, NO_LOG)
        self._actions: list[int] = []
        self._knower: int | None = None  # of a determinized twin: the player whose knowledge it keeps
        self._set_history_start(None, NO_ROWS)

    @classmethod
    def _from_record(cls, game: "Game", options: Options, states: np.ndarray) -> Self:
        """A state around a record that comes without its history, as from a batch; its events begin now.

        Not public: kernels trust records, and whether one can come of play nobody can tell.

        Args:
            states: array of one record of game.rules.state_dtype, taken over.
        """
        state = object.__new__(cls)
        state.game, state.options, state.seed = game, options, int(states["seed"][0])
        state.deck = game.parse_deck(None, options)
        state._states, state._actions = states, []
        state._knower = None
        state._set_history_start(states, NO_ROWS)
        return state

    def _set_history_start(self, base: np.ndarray | None, known_rows: np.ndarray) -> None:
        """Let the history begin at the deal (None) or at a copy of the record `base`, after the events `known_rows`."""
        self._base = None if base is None else copied(base)
        self._known_rows = known_rows
        self._reset_caches()

    def _reset_caches(self) -> None:
        """Set up what follows from the fields above."""
        self._legal_buffer = np.zeros(self.game.max_legal(self.options), np.int32)
        self._num_legal: int | None = None
        self._wide: np.record | None = None
        self._history: History | None = None

    # -- reading ------------------------------------------------------------------------------------------------

    @property
    def num_players(self) -> int:
        """Players in this game."""
        return self.options.num_players

    @property
    def current_player(self) -> int:
        """The player to act, or TERMINAL_PLAYER (-4) when the game is over."""
        return int(self._states["current_player"][0])

    @property
    def is_terminal(self) -> bool:
        """Whether the rules have ended the game."""
        return self.current_player == TERMINAL_PLAYER

    @property
    def returns(self) -> list[float]:
        """Summed rewards of each player so far."""
        return self._states["returns"][0, : self.num_players].tolist()

    @property
    def rewards(self) -> list[float]:
        """Each player's reward for the last action."""
        return self._states["rewards"][0, : self.num_players].tolist()

    @property
    def active(self) -> list[bool]:
        """Whether each player is still in the game."""
        return (self._states["active"][0, : self.num_players] != 0).tolist()

    @property
    def ply(self) -> int:
        """Actions applied so far; to a determinized twin, those since it was made."""
        return int(self._states["ply"][0])

    @property
    def actions(self) -> list[int]:
        """The actions applied so far, codes included; of a determinized twin, those since it was made."""
        return list(self._actions)

    @property
    def has_history(self) -> bool:
        """Whether the events go back to the deal; not in a determinized twin, nor in a state taken from a batch."""
        return self._base is None

    @property
    def phase(self) -> str:
        """The name of the phase of play."""
        return self.game.view.phase(self.record)

    @property
    def record(self) -> np.record:
        """The widened record, read-only."""
        if self._wide is None:
            wide = widen(self._states)
            wide.setflags(write=False)
            self._wide = wide[0]
        return self._wide

    @property
    def records(self) -> np.ndarray:
        """The record as the kernels of `game.engine` take it: an array of shape (1,), not a copy. Only read it."""
        return self._states

    def record_bytes(self) -> bytes:
        """The record itself, for comparisons."""
        return self._states.tobytes()

    def legal_actions(self) -> list[int]:
        """Ids the player to act may choose, ascending; none when the game is over."""
        return self._legal().tolist()

    def action_mask(self, player: int | None = None) -> np.ndarray:
        """int8 (num_actions,): 1 for each legal action of `player` (default: the player to act), else zeros."""
        mask = np.zeros(self.game.num_actions(self.options), MASK_DTYPE)
        if player is None or player == self.current_player:
            mask[self._legal()] = 1
        return mask

    def write_mask(self, mask: np.ndarray) -> None:
        """Write the mask of the player to act into `mask`, MASK_DTYPE (num_actions,)."""
        write_mask(self._legal(), self._num_legal, mask)

    def observation(self, player: int) -> np.ndarray:
        """What `player` may know, as an array of the game's layout."""
        layout = self.game.layout(self.options)
        out = np.zeros(layout.size, layout.dtype)
        self.game.engine.observe(self._states, 0, self._checked_player(player), out)
        return out

    def describe_observation(self, player: int) -> str:
        """The observation of `player`, section by section."""
        return self.game.layout(self.options).describe(self.observation(player))

    def table(self, viewer: int) -> FoldedTable:
        """The table as `viewer` (a player, SPECTATOR or OMNISCIENT) knows it."""
        table = FoldedTable(self.game.table)
        self.game.view.fill_table(self.record, self._checked_viewer(viewer), table)
        return table

    def view(self, player: int) -> dict[str, Any]:
        """What `player` (or SPECTATOR) sees, as JSON values: table, prompt, actions and whose turn it is."""
        words, s = self.game.view, self.record
        to_act = not self.is_terminal and player == self.current_player
        return {
            "game": self.game.name,
            "player": player,
            "num_players": self.num_players,
            "phase": self.phase,
            "current_player": self.current_player,
            "terminal": self.is_terminal,
            "returns": self.returns,
            "table": table_as_json(self.table(player), words, self.num_players),
            "prompt": words.prompt(s) if to_act else "",
            "actions": [{"id": a, "label": words.action_label(s, a)} for a in self.legal_actions()] if to_act else [],
        }

    def facts(self, player: int) -> dict[str, Any]:
        """What a careful player would have worked out, as JSON values."""
        return self.game.view.facts(self.record, self._checked_player(player))

    def render(self, viewer: int, colour: bool = False) -> str:
        """The table as text for `viewer`; with ANSI colours if asked."""
        markup = self.game.view.render(self.record, self._checked_viewer(viewer), self.table(viewer))
        return ansi(markup) if colour else plain(markup)

    def __str__(self) -> str:
        return f"{self!r}\n{self.render(OMNISCIENT)}"

    def __repr__(self) -> str:
        options = "".join(f" {k}={v}" for k, v in self.options.changed().items())
        turn = f"over, returns {self.returns}" if self.is_terminal else f"player_{self.current_player} to act"
        return f"<{self.game.name}{options} seed={self.seed} ply={self.ply} {turn}>"

    # -- acting -------------------------------------------------------------------------------------------------

    def apply(self, action: int) -> None:
        """Apply one legal action, or the code FORFEIT + current_player.

        Raises:
            IllegalActionError: says why not and what is legal; the state is unchanged.
        """
        if is_integer(action) and action >= FORFEIT:
            self._check(action)
        else:
            self.check_legal(action)
        self.apply_unchecked(int(action))

    def apply_unchecked(self, action: int) -> None:
        """Apply an action known to be legal: `apply` without the check, for interfaces that have made it themselves."""
        self._num_legal = self.game.engine.apply(self._states, 0, action, NO_LOG, self._legal_buffer)
        self._actions.append(action)
        self._wide = None

    def check_legal(self, action: int) -> None:
        """Raise IllegalActionError unless the player to act may choose `action` now; a code such as FORFEIT is refused.

        What comes from an agent or a learner is checked by this. `apply` takes codes besides.
        """
        if not is_integer(action):
            raise IllegalActionError(f"an action is an integer; got {short(action)}")
        if action in self.legal_actions():  # 10 times as fast as in the array
            return
        if action >= FORFEIT:
            raise IllegalActionError(
                f"{self.game.name}: {action} is no action id but a code, which nobody may choose; {self._legal_text()}"
            )
        self._check(action)

    def _check(self, action: int) -> None:
        """Raise IllegalActionError unless `action`, an id or a code, may be applied now."""
        reason = self.explain_illegal(action)
        if reason:
            raise IllegalActionError(f"{self.game.name}: {reason}; {self._legal_text()}")

    def explain_illegal(self, action: int) -> str:
        """Why `action`, an id or a code, may not be applied now; empty if it may."""
        if not is_integer(action):
            return f"an action is an integer; got {short(action)}"
        action = int(action)
        if self.is_terminal:
            return f"action {action} after the game is over"
        if action >= FORFEIT:
            if action == FORFEIT + self.current_player:
                return ""
            return f"player_{action - FORFEIT} cannot forfeit now: player_{self.current_player} is to act"
        if action < 0:
            return f"action {action} is negative"
        code = int(self.game.engine.explain(self._states, 0, action))
        if code == 0:
            return ""
        who = f"player_{self.current_player}"
        if action < self.game.num_actions(self.options):
            return f"{who} may not {self._label(action)}: {self.game.view.illegal_reason(self.record, action, code)}"
        return f"{who}: {self.game.view.illegal_reason(self.record, action, code)}"

    def action_label(self, action: int) -> str:
        """The text of an action in this state.

        Raises:
            IllegalActionError: `action` is no id of this game.
        """
        if not is_integer(action) or not 0 <= action < self.game.num_actions(self.options):
            raise IllegalActionError(
                f"{self.game.name} has actions 0 to {self.game.num_actions(self.options) - 1}; got {short(action)}"
            )
        return self._label(int(action))

    def action_from_label(self, text: str) -> int:
        """The legal action of that label; case and surrounding blanks do not count.

        Raises:
            IllegalActionError: no legal action reads so.
        """
        wanted = " ".join(text.lower().split())
        for action in self.legal_actions():
            if self._label(action).lower() == wanted:
                return action
        raise IllegalActionError(f"{self.game.name}: no legal action reads {text!r}; {self._legal_text()}")

    # -- events -------------------------------------------------------------------------------------------------

    def event_rows(self, viewer: int) -> np.ndarray:
        """The raw events that `viewer` saw, int32 (n, 8); see events.py.

        Raises:
            HiddenInformationError: asked of a determinized twin for anyone but the player it was made for.
        """
        viewer = self._checked_viewer(viewer)
        if self._knower not in (None, viewer):
            raise HiddenInformationError(
                f"this state is a determinized twin of what player_{self._knower} knows; "
                "it has no events of other viewers"
            )
        rows = self.game.table.visible(self._log_rows(), viewer)
        return rows if self.has_history else np.concatenate([self._known_rows, rows])

    def event_log(self) -> np.ndarray:
        """The events as rules write them, with the sets of viewers in their last columns, int32 (n, 8): for records.

        Raises:
            ValueError: the state does not go back to the deal (a determinized twin, or from a batch).
        """
        if not self.has_history:
            raise ValueError("this state does not go back to the deal (a determinized twin, or from a batch)")
        return self._log_rows().copy()

    def _log_rows(self) -> np.ndarray:
        if self._history is None:
            self._history = History(self.game, self.options, self.seed, self.deck, self._base)
        return self._history.rows(self._actions)

    def events(self, player: int = OMNISCIENT) -> list[Event]:
        """The events that `player` saw, oldest first; all of them by default."""
        return [self.game.table.read(row) for row in self.event_rows(player)]

    def recap(self, player: int, last: int | None = None) -> list[str]:
        """The events that `player` saw, a sentence each; with `last`, only that many of the latest."""
        kinds = {kind.name: kind for kind in self.game.table.kinds}
        table, words = self.game.table, self.game.view
        rows = self.event_rows(player)
        events = (table.read(row) for row in (rows if last is None else rows[max(0, len(rows) - last) :]))
        return [words.describe_event(event, kinds[event.kind]) for event in events]

    def folded_table(self, viewer: int) -> FoldedTable:
        """The table rebuilt from the events that `viewer` saw; equal to `table(viewer)`."""
        return fold(self.game.table, self.event_rows(viewer))

    def information_state_key(self, player: int) -> str:
        """A hash of all that `player` has seen and done, with perfect recall."""
        rows = self.event_rows(self._checked_player(player))
        return hashlib.sha256(rows.tobytes()).hexdigest()[:32]

    # -- copies -------------------------------------------------------------------------------------------------

    def clone(self) -> Self:
        """An independent copy."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._states = copied(self._states)
        twin._actions = self._actions.copy()
        num_legal, buffer = self._num_legal, self._legal_buffer
        twin._reset_caches()
        twin._num_legal = num_legal
        twin._legal_buffer[:] = buffer
        twin._history = self._history.copy() if self._history is not None else None
        return twin

    def determinize(self, player: int, seed: int) -> Self:
        """A twin in which all that `player` cannot know is re-dealt, consistently with what it does know.

        The twin keeps that player's events only, and its chance from now on comes from `seed`.
        """
        player, seed = self._checked_player(player), checked_seed(seed)
        known_rows = self.event_rows(player)
        twin = self.clone()
        self.game.engine.determinize(twin._states, 0, player, seed)
        twin.seed = seed
        # An explicit deck, and earlier actions of others (cards passed face down), may say what `player` cannot know.
        # How many actions there were may say how others chose (several actions in secret).
        twin.deck, twin._actions, twin._states["ply"] = NO_DECK, [], 0
        twin._knower = player
        twin._set_history_start(twin._states, known_rows)
        return twin

    # -- choices ------------------------------------------------------------------------------------------------

    def candidates(self) -> list[Candidate]:
        """What the player to act may choose to do, whole plays included, in the order of their action ids.

        Raises:
            IllegalActionError: the game is over.
        """
        self._check_not_over("choose")
        return sorted(self.game.view.candidates(self, self.current_player), key=lambda one: (one.actions, one.label))

    def forced_action(self) -> int:
        """What is done for the player to act when it has failed to choose: the game's safe action.

        Raises:
            IllegalActionError: the game is over.
        """
        self._check_not_over("choose an action")
        legal = self.legal_actions()
        return legal[0] if self.game.fallback_action is None else int(self.game.fallback_action(self.record, legal))

    # -- policies and playouts ----------------------------------------------------------------------------------

    def policy_action(self, policy: str, seed: int) -> int:
        """What a policy ("random", or one of `game.policies`) chooses for the player to act.

        Raises:
            PolicyNotFoundError: the game has no such policy.
            IllegalActionError: the game is over.
        """
        self._check_not_over("choose an action")
        self.game.engine.policy(policy)
        rng = np.zeros(4, np.uint64)
        legal = np.zeros_like(self._legal_buffer)
        return int(self.game.engine.act(policy)(self._states, 0, checked_seed(seed), rng, legal))

    def simulate(
        self,
        actions: Sequence[int | tuple[int, ...]] | np.ndarray,
        seed: int,
        rounds: int,
        *,
        first_round: int = 0,
        policy: str = "random",
        max_plies: int | None = None,
    ) -> np.ndarray:
        """Try actions or whole plays of the player to act in worlds that fit what it knows, and play each of them out.

        Round r re-deals what the player to act cannot know, by the rules' `sample_belief` if there is one. Every action
        is then tried in that same world, with the same chance and the same policy for everybody, so that the returns of
        one round compare in pairs. Round r depends on (seed, r) only: rounds 0..9 in one call or in two are the same.

        Args:
            actions: legal ids; a tuple of ids is a play of several actions in a row, as in Candidate.
            seed: 0..2**63-1.
            rounds: how many worlds.
            first_round: number of the first one.
            policy: "random", or one of `game.policies`.
            max_plies: plies of a playout after what is tried; by default the game's bound. A playout cut off counts
                the rewards until then.

        Returns:
            float64 (rounds, len(actions)): the acting player's returns.

        Raises:
            PolicyNotFoundError, IllegalActionError
            ValueError: a seed or a number that cannot be used.
        """
        self._check_not_over("simulate")
        self.game.engine.policy(policy)
        plays, lengths = self._checked_plays(actions)
        rounds, first_round = (
            checked_integer("rounds", rounds, 0, _MOST),
            checked_integer("first_round", first_round, 0, _MOST),
        )
        longest = self.game.max_length(self.options)
        max_plies = longest if max_plies is None else checked_integer("max_plies", max_plies, 0, _MOST)
        scratch = np.zeros(2, self._states.dtype)
        rng = np.zeros(4, np.uint64)
        legal = np.zeros_like(self._legal_buffer)
        returns = np.zeros((rounds, len(actions)), np.float64)
        self.game.engine.simulate(policy)(
            self._states, 0, checked_seed(seed), first_round, plays, lengths, max_plies, scratch, rng, legal, NO_LOG,
            returns,
        )  # fmt: skip
        return returns

    def to_bytes(self) -> bytes:
        """All of the state, with what is needed to refuse it where it does not belong."""
        since = b"" if self._base is None else self._base.tobytes() + self._known_rows.tobytes()
        return SavedState(
            self.game, self.options, self.seed, self.deck.tolist(), self._actions, self._knower, self.has_history,
            self._states.tobytes() + since,
        ).to_bytes()  # fmt: skip

    @classmethod
    def from_bytes(cls, game: "Game", data: bytes, trusted: bool = False) -> Self:
        """The state saved by `to_bytes`, played again action by action to see that play leads there.

        Args:
            game: the Game.
            data: from `to_bytes`.
            trusted: whether the data comes from where code could come from, too. Its record is then taken as it is:
                quicker, and the only way for states without a history (twins, and those of a batch), which cannot be
                played again. A record made by somebody else can end the process.

        Raises:
            FormatError: the data is damaged or edited, or of another game, version or layout, or has no history.
        """
        saved = SavedState.from_bytes(game, data)
        if trusted:
            return cls._from_trusted(saved)
        if not saved.has_history or saved.knower is not None:
            raise FormatError(
                "the saved state is a determinized twin or comes from a batch, so playing it again cannot check it; "
                "from_bytes(data, trusted=True) takes it from a source that you would run code of"
            )
        state = cls._replayed(saved)
        if state.record_bytes() != saved.body:
            raise FormatError("the saved state is damaged: its actions lead to another position than the saved one")
        return state

    @classmethod
    def _replayed(cls, saved: SavedState) -> Self:
        """The state to which the actions of a saved one lead."""
        try:
            state = cls(saved.game, saved.options, seed=saved.seed, deck=saved.deck or None)
        except (DeckError, ValueError) as error:
            raise FormatError(f"the saved state cannot be dealt: {error}") from None
        for ply, action in enumerate(saved.actions):
            try:
                state.apply(action)
            except IllegalActionError as error:
                raise FormatError(f"the saved state: its action {ply} is refused: {error}") from None
        return state

    @classmethod
    def _from_trusted(cls, saved: SavedState) -> Self:
        state = object.__new__(cls)
        state.game, state.options, state.seed = saved.game, saved.options, saved.seed
        state.deck = np.array(saved.deck, np.int16)
        state._actions, state._knower = saved.actions, saved.knower
        state._states, base, known_rows = saved.arrays()
        state._set_history_start(None if saved.has_history else base, known_rows)
        return state

    def __reduce__(self) -> tuple:
        return _restore, (self.game, self.to_bytes())

    def __deepcopy__(self, memo: dict) -> Self:
        return self.clone()

    def __copy__(self) -> Self:
        return self.clone()

    # -- helpers ------------------------------------------------------------------------------------------------

    def _legal(self) -> np.ndarray:
        if self._num_legal is None:
            self._num_legal = self.game.engine.legal(self._states, 0, self._legal_buffer)
        return self._legal_buffer[: self._num_legal]

    def _checked_plays(self, plays: Sequence[int | tuple[int, ...]] | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Plays of legal actions as int64 rows, filled up with HOLD, and their lengths."""
        sequences = [play if isinstance(play, tuple) else (play,) for play in plays]
        lengths = np.array([len(sequence) for sequence in sequences], np.int64)
        rows = np.full((len(sequences), max(lengths, default=0)), HOLD, np.int64)
        for row, sequence in zip(rows, sequences, strict=True):
            self._check_play(sequence)
            row[: len(sequence)] = sequence
        return rows, lengths

    def _check_play(self, actions: tuple[int, ...]) -> None:
        if not actions:
            raise IllegalActionError(f"{self.game.name}: a play has at least one action")
        self.check_legal(actions[0])
        if len(actions) > 1:
            twin = self.clone()
            for action in actions:
                twin.apply(action)  # refuses what is not legal

    def _label(self, action: int) -> str:
        return self.game.view.action_label(self.record, action)

    def _check_not_over(self, what: str) -> None:
        if self.is_terminal:
            raise IllegalActionError(f"{self.game.name}: nobody can {what} after the game is over")

    def _legal_text(self, most: int = 8) -> str:
        legal = self.legal_actions()
        shown = ", ".join(f"{self._label(action)} ({action})" for action in legal[:most])
        more = f" and {len(legal) - most} more" if len(legal) > most else ""
        return f"legal: {shown}{more}" if legal else "nothing is legal any more"

    def _checked_player(self, player: int) -> int:
        return checked_player(player, self.num_players)

    def _checked_viewer(self, viewer: int) -> int:
        return int(viewer) if is_integer(viewer) and viewer in (SPECTATOR, OMNISCIENT) else self._checked_player(viewer)


def _restore(game: "Game", data: bytes) -> State:
    return game.from_bytes(data, trusted=True)  # a pickle can run any code as it is
