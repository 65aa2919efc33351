"""`State`: one game in progress, with the interface of an OpenSpiel state.

A state stores its seed, its explicit deck and the actions since the deal. Events are derived from these when they are
requested and cost nothing until then. Differences from OpenSpiel: `apply` includes chance, so there are no chance
nodes; `legal_actions()` always refers to the player to act; `observation(player)` returns an array.

Threads may read a state at the same time. A call that would change it while another thread uses it raises
ConcurrentUseError, and so does a call that would read it while another thread changes it: kernels check nothing, so a
record that changes under them can crash the process.
"""

import functools
import secrets
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

import numpy as np

from cardenvs.core.checks import checked_integer, checked_player, checked_seed, is_integer, short
from cardenvs.core.codes import FORFEIT, HOLD, MASK_DTYPE, NO_DECK, TERMINAL_PLAYER
from cardenvs.core.errors import ConcurrentUseError, DeckError, FormatError, HiddenInformationError, IllegalActionError
from cardenvs.core.events import KIND, NO_LOG, OMNISCIENT, SPECTATOR, Event
from cardenvs.core.fold import FoldedTable, fold
from cardenvs.core.game_view import write_game_view
from cardenvs.core.history import NO_HISTORY, NO_ROWS, History, WholeHistory
from cardenvs.core.information import information_key, key_text
from cardenvs.core.intents import Verdict, validate
from cardenvs.core.legal import write_mask
from cardenvs.core.options import Options
from cardenvs.core.record import Record, copied, widen
from cardenvs.core.rng import derived_seed
from cardenvs.core.saved_state import SavedState
from cardenvs.core.view import Candidate
from cardenvs.pictures import draw_svg, draw_text

if TYPE_CHECKING:
    from cardenvs.core.game import Game

_MOST = 2**31 - 1  # largest number of rounds or plies that `simulate` accepts

P = ParamSpec("P")
T = TypeVar("T")


def _reading(method: "Callable[Concatenate[State, P], T]") -> "Callable[Concatenate[State, P], T]":
    """Let no other thread change the state while `method` reads it."""

    @functools.wraps(method)
    def read(self: "State", *args: P.args, **kwargs: P.kwargs) -> T:
        if self._users < 0:
            raise ConcurrentUseError.of("State")
        self._users += 1
        try:
            return method(self, *args, **kwargs)
        finally:
            self._users -= 1

    return read


class State:
    """One game in progress. Use `game.new_state(...)` to create one.

    Attributes:
        game: the Game.
        options: its validated options.
        seed: int, the seed of the episode; in a determinized twin, of all future chance.
    """

    def __init__(
        self, game: "Game", options: Options, seed: int | None = None, deck: str | Sequence[int] | None = None
    ) -> None:
        self.game, self.options = game, options
        self.seed = secrets.randbits(63) if seed is None else checked_seed(seed)
        self._deck = game.parse_deck(deck, options)
        self._states = game.blank(options)
        game.engine.start(self._states, 0, self.seed, self._deck, NO_LOG)
        self._actions: list[int] = []
        self._knower: int | None = None  # in a determinized twin, the player whose knowledge it keeps
        self._set_history_start(None, NO_ROWS)

    @classmethod
    def _from_record(cls, game: "Game", options: Options, states: np.ndarray) -> Self:
        """Make a state from an array of one record, shape (1,), without history, for example from a batch. Its events
        start now.

        Not public: kernels trust records, and a record cannot be checked without its history. The array is not copied.
        """
        state = object.__new__(cls)
        state.game, state.options, state.seed = game, options, int(states["seed"][0])
        state._deck = game.parse_deck(None, options)
        state._states, state._actions = states, []
        state._knower = None
        state._set_history_start(states, NO_ROWS)
        return state

    def _set_history_start(self, base: np.ndarray | None, known_rows: np.ndarray) -> None:
        """Start the history at a copy of the record `base`, after the events `known_rows`; None starts at the deal."""
        self._base = None if base is None else copied(base)
        self._known_rows = known_rows
        self._reset_caches()

    def _reset_caches(self) -> None:
        """Forget everything derived from the record and the history."""
        # How many calls read the state now; -1 while one changes it. Python switches threads at calls and at the ends
        # of loops only, so no other thread comes between looking at it and setting it, and it costs less than a lock.
        self._users = 0
        self._legal_buffer = np.zeros(self.game.max_legal(self.options), np.int32)
        self._num_legal: int | None = None
        self._wide: Record | None = None
        self._histories: dict[type[History], History] = {}

    # -- reading ------------------------------------------------------------------------------------------------

    @property
    def deck(self) -> np.ndarray:
        """A copy of the explicit tokens of the deal, int16, usually empty."""
        return self._deck.copy()

    @property
    def num_players(self) -> int:
        """Number of players."""
        return self.options.num_players

    @property
    def current_player(self) -> int:
        """The player to act, or TERMINAL_PLAYER (-4) if the game is over."""
        return int(self._states["current_player"][0])

    @property
    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return self.current_player == TERMINAL_PLAYER

    @property
    def returns(self) -> list[float]:
        """Each player's total reward so far."""
        return self._states["returns"][0, : self.num_players].tolist()

    @property
    def rewards(self) -> list[float]:
        """Each player's reward from the last action."""
        return self._states["rewards"][0, : self.num_players].tolist()

    @property
    def active(self) -> list[bool]:
        """Whether each player is still in the game."""
        return (self._states["active"][0, : self.num_players] != 0).tolist()

    @property
    def ply(self) -> int:
        """Number of actions applied so far; in a determinized twin, since its creation."""
        return int(self._states["ply"][0])

    @property
    def actions(self) -> list[int]:
        """The actions applied so far, including codes; in a determinized twin, since its creation."""
        return list(self._actions)

    @property
    def has_history(self) -> bool:
        """Whether the events go back to the deal: False in a determinized twin and in a state taken from a batch."""
        return self._base is None

    @property
    def phase(self) -> str:
        """Name of the phase of play, one of `game.phases`."""
        return self.game.view.phase(self._states[0])  # searches ask often, and a widened copy takes long

    @property
    def record(self) -> Record:
        """A read-only copy of the record with all integers widened to int64."""
        return self._widened() if self._wide is None else self._wide

    @_reading
    def _widened(self) -> Record:
        wide = widen(self._states)
        wide.setflags(write=False)
        self._wide = wide[0]
        return self._wide

    @property
    def records(self) -> np.ndarray:
        """A copy of the record, as an array of shape (1,) for the kernels of `game.engine`."""
        return self._copied()

    @_reading
    def _copied(self) -> np.ndarray:
        return copied(self._states)

    @_reading
    def record_bytes(self) -> bytes:
        """Return the bytes of the record, to compare states."""
        return self._states.tobytes()

    def legal_actions(self) -> list[int]:
        """Return the action ids the player to act may choose, ascending; an empty list if the game is over."""
        if self._users < 0:  # as in `_reading`, without its call
            raise ConcurrentUseError.of("State")
        self._users += 1
        try:
            return self._legal().tolist()
        finally:
            self._users -= 1

    @_reading
    def action_mask(self, player: int | None = None) -> np.ndarray:
        """Return the action mask of `player`, by default of the player to act.

        Returns:
            int8 (num_actions,), 1 for each legal action; all zeros if it is not the player's turn.

        Raises:
            ValueError: there is no such player.
        """
        mask = np.zeros(self.game.num_actions(self.options), MASK_DTYPE)
        if player is None or checked_player(player, self.num_players) == self.current_player:
            mask[self._legal()] = 1
        return mask

    def write_mask(self, mask: np.ndarray) -> None:
        """Write the action mask of the player to act into `mask`, int8 (num_actions,)."""
        if self._users < 0:
            raise ConcurrentUseError.of("State")
        self._users += 1
        try:
            write_mask(self._legal(), self._num_legal, mask)
        finally:
            self._users -= 1

    def observation(self, player: int, options: Options | None = None) -> np.ndarray:
        """Return what `player` may know now, as an array of the game's layout.

        Args:
            player: 0 to num_players - 1.
            options: those of the layout, from `Game.as_read`; by default the game's own.
        """
        options = self.options if options is None else options
        layout = self.game.layout(options)
        out = np.empty(layout.size, layout.dtype)
        player = self._checked_player(player)
        if self._users < 0:  # as in `_reading`, without its call
            raise ConcurrentUseError.of("State")
        self._users += 1
        try:
            self.game.engine_for(options).observe(self._states, 0, player, out)
        finally:
            self._users -= 1
        return out

    def write_observation(self, player: int, out: np.ndarray) -> None:
        """Write what `player`, 0 to num_players - 1, may know now into `out`, of the layout's size and dtype.

        For interfaces that have checked both.
        """
        if self._users < 0:
            raise ConcurrentUseError.of("State")
        self._users += 1
        try:
            self.game.engine_for(self.options).observe(self._states, 0, player, out)
        finally:
            self._users -= 1

    @_reading
    def describe_observation(self, player: int) -> str:
        """Return the observation of `player` as text, one line per section."""
        return self.game.layout(self.options).describe(self.observation(player))

    @_reading
    def table(self, viewer: int) -> FoldedTable:
        """Return the table as known to `viewer`, which is a player, SPECTATOR or OMNISCIENT."""
        table = FoldedTable(self.game.table)
        self.game.view.fill_table(self.record, self._checked_viewer(viewer), table)
        return table

    @_reading
    def view(self, viewer: int, key: bytes = b"", candidates: bool = False) -> dict[str, Any]:
        """Return what `viewer` may see as one JSON document: piles, counters, prompt and choices (docs/game-view.md).

        Args:
            viewer: a player, SPECTATOR or OMNISCIENT. Only the player to act gets a prompt and choices.
            key: a secret for the tokens' ids, up to 32 bytes, if the document goes to strangers (see
                `game_view.token_id`).
            candidates: whether to add the candidates, which takes long in some games.
        """
        return write_game_view(self, self._checked_viewer(viewer), key, candidates)

    @_reading
    def facts(self, player: int) -> dict[str, Any]:
        """Return what a careful player would have deduced, as JSON-compatible data."""
        return self.game.view.facts(self.record, self._checked_player(player))

    def render(self, viewer: int, colour: bool = False) -> str:
        """Return the table as text for `viewer`, with ANSI colours if `colour` is True."""
        return draw_text(self.view(viewer), colour)

    def _repr_svg_(self) -> str:
        """Return the picture that a notebook shows: what the player to act sees, or everything once it is over."""
        return draw_svg(self.view(OMNISCIENT if self.is_terminal else self.current_player), "auto")

    def __str__(self) -> str:
        return f"{self!r}\n{self.render(OMNISCIENT)}"

    def __repr__(self) -> str:
        options = "".join(f" {k}={v}" for k, v in self.options.changed().items())
        turn = f"over, returns {self.returns}" if self.is_terminal else f"player_{self.current_player} to act"
        return f"<{self.game.name}{options} seed={self.seed} ply={self.ply} {turn}>"

    # -- acting -------------------------------------------------------------------------------------------------

    def apply(self, action: int) -> None:
        """Apply a legal action, or the code FORFEIT + current_player.

        Raises:
            IllegalActionError: the action is illegal. The message gives the reason and the legal actions; the state is
                unchanged.
            ConcurrentUseError: another thread uses the state at the same time; the state is unchanged.
        """
        if self._users:
            raise ConcurrentUseError.of("State")
        self._users = -1
        try:
            if is_integer(action) and action in self._legal().tolist():
                self._advance(int(action))
                return
        finally:
            self._users = 0
        self._apply_uncommon(action)

    def _apply_uncommon(self, action: int) -> None:
        """Apply a code, or raise the reason why `action` is illegal."""
        if self._users:
            raise ConcurrentUseError.of("State")
        self._users = 1  # reads, while it checks
        try:
            if is_integer(action) and action >= FORFEIT:
                self._check(action)
            else:
                self.check_legal(action)
            if self._users > 1:
                raise ConcurrentUseError.of("State")
            self._users = -1
            self._advance(int(action))
        finally:
            self._users = 0 if self._users < 0 else self._users - 1

    def apply_unchecked(self, action: int) -> None:
        """Apply an action without checking that it is legal. For interfaces that have already checked it."""
        if self._users:
            raise ConcurrentUseError.of("State")
        self._users = -1
        try:
            self._advance(action)
        finally:
            self._users = 0

    def _advance(self, action: int) -> None:
        self._num_legal = self.game.engine.apply(self._states, 0, action, NO_LOG, self._legal_buffer)
        self._actions.append(action)
        self._wide = None

    @_reading
    def legal_text(self, most: int = 8) -> str:
        """Return the first `most` legal actions as text for messages."""
        legal = self.legal_actions()
        shown = ", ".join(f"{self._label(action)} ({action})" for action in legal[:most])
        more = f" and {len(legal) - most} more" if len(legal) > most else ""
        return f"legal: {shown}{more}" if legal else "nothing is legal any more"

    def check_legal(self, action: int) -> None:
        """Raise IllegalActionError unless the player to act may choose `action` now.

        Use it for the choices of agents and learners: unlike `apply`, it rejects codes such as FORFEIT + player.
        """
        if not is_integer(action):
            raise IllegalActionError(f"an action is an integer; got {short(action)}")
        if action in self.legal_actions():  # 10 times as fast as a search of the array
            return
        if action >= FORFEIT:
            raise IllegalActionError(
                f"{self.game.name}: {action} is a code, not an action id, so nobody may choose it; {self.legal_text()}"
            )
        self._check(action)

    def _check(self, action: int) -> None:
        """Raise IllegalActionError unless `action`, an id or a code, may be applied now."""
        reason = self.explain_illegal(action)
        if reason:
            raise IllegalActionError(f"{self.game.name}: {reason}; {self.legal_text()}")

    @_reading
    def explain_illegal(self, action: int) -> str:
        """Return why `action`, an id or a code, is illegal now; an empty string if it is legal."""
        if not is_integer(action):
            return f"an action is an integer; got {short(action)}"
        action = int(action)
        if self.is_terminal:
            return f"action {action} after the game is over"
        if action >= FORFEIT:
            if action == FORFEIT + self.current_player:
                return ""
            return f"player_{action - FORFEIT} cannot forfeit now: player_{self.current_player} is to act"
        amounts, num_actions = self.game.amounts, self.game.num_actions(self.options)
        if not 0 <= action < num_actions and (amounts is None or action not in amounts.codes):
            return f"there is no action {action}; actions are 0 to {num_actions - 1}"
        if self.game.explain_illegal is None:
            code = int(action not in self.legal_actions())
        else:
            code = int(self.game.engine.explain(self._states, 0, action))
        if not code:
            return ""
        reason = self.game.view.illegal_reason(self.record, action, code)
        who = f"player_{self.current_player}"
        return f"{who} may not {self._label(action)}: {reason}" if action < num_actions else f"{who}: {reason}"

    @_reading
    def action_label(self, action: int) -> str:
        """Return the label of an action in this state.

        Raises:
            IllegalActionError: `action` is no action id of this game, and no code of an amount.
        """
        codes = () if self.game.amounts is None else self.game.amounts.codes
        is_known = is_integer(action) and (0 <= action < self.game.num_actions(self.options) or action in codes)
        if not is_known:
            raise IllegalActionError(
                f"{self.game.name} has actions 0 to {self.game.num_actions(self.options) - 1}; got {short(action)}"
            )
        return self._label(int(action))

    @_reading
    def action_from_label(self, text: str) -> int:
        """Return the legal action with the label `text`. Ignores case and extra whitespace, and takes every
        spelling of cards: "play 10♠", "play Ts".

        Raises:
            IllegalActionError: no legal action has this label, or `text` is not a text.
        """
        if not isinstance(text, str):
            raise IllegalActionError(f"{self.game.name}: a label is a text; got {short(text)}")
        key = self.game.view.label_key
        wanted = key(text)
        for action in self.legal_actions():
            if key(self._label(action)) == wanted:
                return action
        raise IllegalActionError(f"{self.game.name}: no legal action reads {text!r}; {self.legal_text()}")

    # -- events -------------------------------------------------------------------------------------------------

    @_reading
    def event_rows(self, viewer: int) -> np.ndarray:
        """Return the events that `viewer` saw as an array, int32 (n, 8); see `cardenvs.core.events`.

        If the history goes back to the deal, OMNISCIENT also gets an event for each card that lies face down (see
        `WholeHistory`).

        Raises:
            HiddenInformationError: this is a determinized twin of another player's knowledge.
        """
        viewer = self._checked_viewer(viewer)
        if self._knower not in (None, viewer):
            raise HiddenInformationError(
                f"this state is a determinized twin of what player_{self._knower} knows; "
                "it has no events of other viewers"
            )
        if viewer == OMNISCIENT and self.has_history:
            return self._log_rows(WholeHistory).copy()
        rows = self.game.table.visible(self._log_rows(), viewer)
        return rows if self.has_history else np.concatenate([self._known_rows, rows])

    @_reading
    def event_log(self) -> np.ndarray:
        """Return all events that the rules logged, with their sets of viewers, int32 (n, 8), for recording a game.

        Raises:
            ValueError: the events do not go back to the deal (see `has_history`).
        """
        if not self.has_history:
            raise ValueError(NO_HISTORY)
        return self._log_rows().copy()

    def _log_rows(self, kind: type[History] = History) -> np.ndarray:
        history = self._histories.get(kind)
        if history is None:
            history = kind(self.game, self.options, self.seed, self._deck, self._base)
        elif history.num_actions < len(self._actions):
            history = history.copy()  # another thread may read the events of this one
        rows = history.rows(self._actions)
        self._histories[kind] = history
        return rows

    def events(self, player: int = OMNISCIENT) -> list[Event]:
        """Return the events that `player` saw, oldest first; by default all events."""
        return [self.game.table.read(row) for row in self.event_rows(player)]

    @_reading
    def recap(self, player: int, last: int | None = None) -> list[str]:
        """Return the events that `player` saw, one sentence each; only the latest `last` if given.

        What lies face down, which OMNISCIENT's events list card by card, is left out.

        Raises:
            ValueError: there is no such player, or `last` is not a number of sentences.
        """
        if last is not None:
            last = checked_integer("last", last, 0, 2**31 - 1)
        kinds = {kind.name: kind for kind in self.game.table.kinds}
        table, words = self.game.table, self.game.view
        rows = self.event_rows(player)
        rows = rows[rows[:, KIND] != table.face_down]
        events = (table.read(row) for row in (rows if last is None else rows[max(0, len(rows) - last) :]))
        return [words.describe_event(event, kinds[event.kind]) for event in events]

    def folded_table(self, viewer: int) -> FoldedTable:
        """Return the table rebuilt from the events that `viewer` saw. It equals `table(viewer)`."""
        return fold(self.game.table, self.event_rows(viewer))

    def information_state_key(self, player: int) -> str:
        """Return a hash of everything `player` has seen and done: its information state under perfect recall."""
        return key_text(information_key(self.event_rows(self._checked_player(player))))

    @_reading
    def validate(self, player: int, intent: Any, key: bytes = b"") -> Verdict:
        """Return whether `player` may do what an intent (JSON, see `cardenvs.core.intents`) says, and if not, why.

        Nothing changes. `key` is that of the view from which the ids of tokens come.
        """
        return validate(self, self._checked_player(player), intent, key)

    # -- copies -------------------------------------------------------------------------------------------------

    def clone(self) -> Self:
        """Return an independent copy."""
        if self._users < 0:
            raise ConcurrentUseError.of("State")
        self._users += 1
        try:
            twin = object.__new__(type(self))
            twin.__dict__.update(self.__dict__)
            twin._states = copied(self._states)
            twin._actions = self._actions.copy()
            twin._users, twin._legal_buffer = 0, self._legal_buffer.copy()
            twin._histories = {kind: history.copy() for kind, history in self._histories.items()}
            return twin
        finally:
            self._users -= 1

    @_reading
    def determinize(self, player: int, seed: int) -> Self:
        """Return a twin: a copy in which everything `player` cannot know is re-dealt, consistent with what it knows.

        The twin has the events of `player` only. `seed`, 0..2**63-1, is that of the re-deal and of all later chance in
        it.
        """
        player, seed = self._checked_player(player), checked_seed(seed)
        known_rows = self.event_rows(player)
        twin = self.clone()
        self.game.engine.determinize(twin._states, 0, player, seed)
        twin.seed = seed
        # An explicit deck or earlier actions (cards passed face down) can reveal what `player` cannot know. So can the
        # number of actions, if others chose several in secret.
        twin._deck, twin._actions, twin._states["ply"] = NO_DECK, [], 0
        twin._knower = player
        twin._set_history_start(twin._states, known_rows)
        return twin

    # -- choices ------------------------------------------------------------------------------------------------

    @_reading
    def candidates(self) -> list[Candidate]:
        """Return what the player to act may choose, including plays of several actions, in order of action ids.

        Raises:
            IllegalActionError: the game is over.
        """
        self._check_not_over("choose")
        return sorted(self.game.view.candidates(self, self.current_player), key=lambda one: (one.actions, one.label))

    @_reading
    def forced_action(self) -> int:
        """Return the first legal action, which is played for a player who fails to choose.

        Raises:
            IllegalActionError: the game is over.
        """
        self._check_not_over("choose an action")
        return self.legal_actions()[0]

    # -- policies and playouts ----------------------------------------------------------------------------------

    @_reading
    def policy_action(self, policy: str, seed: int) -> int:
        """Return the action that a policy, "random" or one of `game.policies`, chooses for the player to act.

        `seed`, 0..2**63-1, decides the policy's random choices.

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
        """Play out each of some actions in random worlds that fit what the player to act knows.

        Each round re-deals what the player to act cannot know, with the rules' `sample_belief` if they have one. All
        actions are tried in the same world, with the same chance and the same policy for every player, so the returns
        of one round can be compared in pairs. Round r depends on (seed, r) only: one call with rounds 0 to 9 gives the
        same results as two calls with five rounds each.

        Args:
            actions: legal ids; a tuple of ids is a play of several actions in a row, as in Candidate.
            seed: 0..2**63-1.
            rounds: number of worlds.
            first_round: number of the first round.
            policy: "random" or one of `game.policies`.
            max_plies: maximum plies of a playout after the tried actions; by default the game's bound. A truncated
                playout counts the rewards up to that point.

        Returns:
            float64 (rounds, len(actions)), the returns of the player to act.

        Raises:
            PolicyNotFoundError: the game has no such policy.
            IllegalActionError: an action is illegal, or the game is over.
            ValueError: `seed`, `rounds`, `first_round` or `max_plies` is out of range.
        """
        self._check_not_over("simulate")
        self.game.engine.policy(policy)
        states, plays, lengths = self._position_and_plays(actions)
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
            states, 0, checked_seed(seed), first_round, plays, lengths, max_plies, scratch, rng, legal, NO_LOG,
            returns,
        )  # fmt: skip
        return returns

    def worlds_after(
        self, actions: Sequence[int | tuple[int, ...]], seed: int, rounds: int, *, first_round: int = 0
    ) -> np.ndarray:
        """Return the positions from which `simulate` plays on with the same arguments, for other ways to play on.

        Returns:
            records (rounds * len(actions),): all actions of the first round, then all of the next.

        Raises:
            IllegalActionError: an action is illegal, or the game is over.
            ValueError: `seed`, `rounds` or `first_round` is out of range.
        """
        self._check_not_over("simulate")
        states, plays, lengths = self._position_and_plays(actions)
        worlds = np.zeros((checked_integer("rounds", rounds, 0, _MOST), len(actions)), self._states.dtype)
        first_round = checked_integer("first_round", first_round, 0, _MOST)
        self.game.engine.deal_plays(states, 0, checked_seed(seed), first_round, plays, lengths, NO_LOG, worlds)
        return worlds.reshape(-1)

    @_reading
    def worlds(self, number: int, seed: int) -> np.ndarray:
        """Return positions that the player to act cannot tell from this one, all that it cannot know re-dealt by the
        rules' `determinize`, records (number,). World k depends on (seed, k) only.

        Raises:
            IllegalActionError: the game is over.
            ValueError: `number` or `seed` is out of range.
        """
        self._check_not_over("deal worlds")
        records = np.repeat(self._states, checked_integer("number", number, 0, _MOST))
        for k in range(len(records)):
            self.game.engine.determinize(records, k, self.current_player, derived_seed(checked_seed(seed), k))
        return records

    @_reading
    def to_bytes(self) -> bytes:
        """Return the state as bytes for `game.from_bytes`, with what that needs to detect foreign or damaged data."""
        since = b"" if self._base is None else self._base.tobytes() + self._known_rows.tobytes()
        return SavedState(
            self.game, self.options, self.seed, self._deck.tolist(), self._actions, self._knower, self.has_history,
            self._states.tobytes() + since,
        ).to_bytes()  # fmt: skip

    @classmethod
    def from_bytes(cls, game: "Game", data: bytes, trusted: bool = False) -> Self:
        """Load a state saved by `to_bytes`. Replays its actions to verify that they lead to the saved position.

        Args:
            game: the Game.
            data: from `to_bytes`.
            trusted: restore the record without replaying it. This is faster, and the only way to load states without
                history (determinized twins and states from a batch). Use it only on data from sources you would trust
                to run code: a forged record can crash the process.

        Raises:
            FormatError: the data is damaged or edited, belongs to another game, version or layout, or has no history.
        """
        saved = SavedState.from_bytes(game, data)
        if trusted:
            return cls._from_trusted(saved)
        if not saved.has_history or saved.knower is not None:
            raise FormatError(
                "the saved state is a determinized twin or comes from a batch, so it cannot be verified by replaying "
                "it; from_bytes(data, trusted=True) loads it, if you would trust its source to run code"
            )
        state = cls._replayed(saved)
        if state.record_bytes() != saved.body:
            raise FormatError("the saved state is damaged: its actions lead to another position than the saved one")
        return state

    @classmethod
    def _replayed(cls, saved: SavedState) -> Self:
        """Return the state that the actions of a saved one lead to."""
        try:
            state = cls(saved.game, saved.options, seed=saved.seed, deck=saved.deck or None)
        except (DeckError, ValueError) as error:
            raise FormatError(f"the saved state cannot be dealt: {error}") from None
        for ply, action in enumerate(saved.actions):
            try:
                state.apply(action)
            except IllegalActionError as error:
                raise FormatError(f"the saved state is damaged: its action {ply} is illegal: {error}") from None
        return state

    @classmethod
    def _from_trusted(cls, saved: SavedState) -> Self:
        state = object.__new__(cls)
        state.game, state.options, state.seed = saved.game, saved.options, saved.seed
        state._deck = np.array(saved.deck, np.int16)
        state._actions, state._knower = saved.actions, saved.knower
        state._states, base, known_rows = saved.arrays()
        state._set_history_start(None if saved.has_history else base, known_rows)
        return state

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.game, self.to_bytes())

    def __deepcopy__(self, memo: dict[str, Any]) -> Self:
        return self.clone()

    def __copy__(self) -> Self:
        return self.clone()

    # -- helpers ------------------------------------------------------------------------------------------------

    def _legal(self) -> np.ndarray:
        if self._num_legal is None:
            legal = np.zeros_like(self._legal_buffer)  # of this thread alone
            num_legal = self.game.engine.legal(self._states, 0, legal)
            self._legal_buffer, self._num_legal = legal, num_legal
        return self._legal_buffer[: self._num_legal]

    @_reading
    def _position_and_plays(
        self, plays: Sequence[int | tuple[int, ...]] | np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return a copy of the record, so that long work keeps nobody out, and what `_checked_plays` returns."""
        return copied(self._states), *self._checked_plays(plays)

    def _checked_plays(self, plays: Sequence[int | tuple[int, ...]] | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return plays of legal actions as rows of an int64 array padded with HOLD, and their lengths."""
        sequences = [play if isinstance(play, tuple) else (play,) for play in plays]
        lengths = np.array([len(sequence) for sequence in sequences], np.int64)
        rows = np.full((len(sequences), max(lengths, default=0)), HOLD, np.int64)
        for row, sequence in zip(rows, sequences, strict=True):
            self._check_play(sequence)
            row[: len(sequence)] = sequence
        return rows, lengths

    def _check_play(self, actions: tuple[int, ...]) -> None:
        if not actions:
            raise IllegalActionError(f"{self.game.name}: a play needs at least one action")
        self.check_legal(actions[0])
        if len(actions) > 1:
            twin = self.clone()
            for action in actions:
                twin.apply(action)  # raises IllegalActionError

    def _label(self, action: int) -> str:
        return self.game.view.action_label(self.record, action)

    def _check_not_over(self, what: str) -> None:
        if self.is_terminal:
            raise IllegalActionError(f"{self.game.name}: nobody can {what} after the game is over")

    def _checked_player(self, player: int) -> int:
        return checked_player(player, self.num_players)

    def _checked_viewer(self, viewer: int) -> int:
        return int(viewer) if is_integer(viewer) and viewer in (SPECTATOR, OMNISCIENT) else self._checked_player(viewer)


def _restore(game: "Game", data: bytes) -> State:
    return game.from_bytes(data, trusted=True)  # a pickle can run code anyway
