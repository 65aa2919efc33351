"""The agent interface, and what an agent sees: a `Turn`."""

import functools
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from cardenvs.core.errors import StaleTurnError
from cardenvs.core.events import KIND, SPECTATOR, Event, Part, Table
from cardenvs.core.narration import Narrator
from cardenvs.core.rng import derived_seed
from cardenvs.core.state import State
from cardenvs.core.view import Candidate

_NOBODY = -1  # no player is called "you"


@dataclass(frozen=True)
class Failure:
    """One failed try at a decision.

    Attributes:
        kind: its class, in a word: "timeout", "exception", "illegal", ...
        message: what went wrong, for people.
    """

    kind: str
    message: str


class Turn:
    """One decision, as the player to act may know it. Other properties are computed lazily.

    A turn is over once the game has moved on: properties not read until then raise StaleTurnError.

    Attributes:
        game, options: what is played.
        player: int, whose turn it is.
        num_players: int.
        decision: int, decisions of this player in this game before this one.
        goes_on: bool, whether nobody else has acted since the player's last decision.
        seed: int, 0..2**63-1, for this decision. Draw all randomness from it to make results repeat.
        notes: dict for JSON values that the agent wants recorded with this decision (a prompt, tokens, latency). Empty
            at first, read after `act`, without influence on play.
        failures: failed tries at this decision so far, oldest first. An agent that retries by itself adds its own.
    """

    def __init__(self, state: State, seed: int, decision: int = 0, goes_on: bool = False) -> None:
        """Create a turn of the player to act in `state`.

        Args:
            state: not terminal; kept, never shown. For an agent that is not to be trusted with it, a twin.
            seed: the agent's own seed for this game; the decision's is derived from it.
            decision: how many decisions the player has made before in this game.
            goes_on: whether nobody else has acted since its last one.
        """
        self.__state = state
        self.game, self.options = state.game, state.options
        self.player, self.num_players = state.current_player, state.num_players
        self.__ply = state.ply
        self.decision, self.goes_on = decision, goes_on
        self.seed = derived_seed(seed, decision)
        self.notes: dict[str, Any] = {}
        self.failures: list[Failure] = []

    def __repr__(self) -> str:
        """Whose turn, of what."""
        return f"<Turn of player_{self.player} in {self.game.name}, decision {self.decision}>"

    def __now(self) -> State:
        if self.__state.ply != self.__ply:
            raise StaleTurnError(f"{self!r} is over, the game has moved on; ask a turn before answering it")
        return self.__state

    @functools.cached_property
    def observation(self) -> np.ndarray:
        """What the player sees, (layout.size,) of the game's dtype."""
        return self.__now().observation(self.player)

    @functools.cached_property
    def action_mask(self) -> np.ndarray:
        """int8 (num_actions,): 1 for each legal action."""
        return self.__now().action_mask()

    @functools.cached_property
    def legal_actions(self) -> list[int]:
        """Legal ids, ascending, at least one."""
        return self.__now().legal_actions()

    @functools.cached_property
    def candidates(self) -> list[Candidate]:
        """What the player may choose to do, at least one: actions, and whole plays of several actions."""
        return self.__now().candidates()

    @functools.cached_property
    def view(self) -> dict[str, Any]:
        """What the player sees, as JSON values: table, prompt, actions with labels."""
        return self.__now().view(self.player)

    @functools.cached_property
    def public_view(self) -> dict[str, Any]:
        """What everybody sees, as JSON values: the public part of `view`."""
        return self.__now().view(SPECTATOR)

    @functools.cached_property
    def facts(self) -> dict[str, Any]:
        """What a careful player would have deduced, as JSON values."""
        return self.__now().facts(self.player)

    @functools.cached_property
    def events(self) -> list[Event]:
        """All events that the player has seen, oldest first."""
        return self.__now().events(self.player)

    @functools.cached_property
    def recap(self) -> list[str]:
        """What the player has seen so far, one sentence per event."""
        return self.__now().recap(self.player)

    def folded_recap(self, most: int | None = None) -> tuple[list[str], int]:
        """Return what happened last, in few lines.

        Leaves out details that the table shows, joins similar events in one line, and reduces finished hands and
        tricks to their results, except for the latest trick of the present hand.

        Args:
            most: how many events to tell: the latest ones, with the results of finished hands in up to half of the
                places; None: all.

        Returns:
            the lines, and how many events `most` leaves no room for.
        """
        table, rows = self.game.table, self.__now().event_rows(self.player)
        told, left_out = _worth_telling(rows, table, len(rows) if most is None else most)
        narrator = Narrator(self.game, _NOBODY, self.num_players, symbols=False)
        return narrator.sentences(map(table.read, told)), left_out

    @functools.cached_property
    def prompt(self) -> str:
        """What the player is asked."""
        return self.view["prompt"]

    @functools.cached_property
    def information_state_key(self) -> str:
        """Hash of everything the player has seen and done."""
        return self.__now().information_state_key(self.player)

    def label(self, action: int) -> str:
        """Return the text of an action.

        Raises:
            IllegalActionError: `action` is not an id of this game.
        """
        return self.__now().action_label(action)

    def action_from_label(self, text: str) -> int:
        """Return the legal action with that label, ignoring case and surrounding blanks.

        Raises:
            IllegalActionError: no legal action has that label.
        """
        return self.__now().action_from_label(text)

    def actions_from_answer(self, answer: dict[str, Any]) -> tuple[int, ...]:
        """Return the actions of an answer in the game's own JSON form (View.answer_form).

        Raises:
            FormatError: it is not of that form.
            IllegalActionError: it is, but is not legal; says why.
        """
        state = self.__now()
        actions = state.game.view.actions_from_answer(state, self.player, answer)
        state.check_legal(actions[0])
        return actions

    def render(self, colour: bool = False) -> str:
        """Return the table as text; with ANSI colours if asked."""
        return self.__now().render(self.player, colour)

    def determinize(self, seed: int) -> State:
        """Return a state that fits all the player knows, with the rest dealt from `seed`; yours to play on."""
        return self.__now().determinize(self.player, seed)

    def policy_action(self, policy: str) -> int:
        """Return what a policy of the game ("random", or one of `game.policies`) chooses here, with this turn's seed.

        Raises:
            PolicyNotFoundError: the game has no such policy.
        """
        return self.__now().policy_action(policy, self.seed)


def _worth_telling(rows: np.ndarray, table: Table, most: int) -> tuple[np.ndarray, int]:
    """Return the rows to tell, and how many others `most` leaves no room for."""
    closes = np.array([kind.closes for kind in table.kinds])[rows[:, KIND]]
    ends = _ends(closes == Part.HAND)
    start = ends[-1] + 1 if len(ends) else 0  # of the present hand
    results, hand = np.flatnonzero(closes[:start] == Part.HAND), closes[start:] != Part.NONE
    tricks = _ends(hand)
    hand[tricks[-2] + 1 if len(tricks) > 1 else 0 :] = True  # the latest finished trick in full, and what followed
    present = start + np.flatnonzero(hand)
    old = results[max(0, len(results) - most // 2) :]
    new = present[max(0, len(present) - (most - len(old))) :]
    told = np.concatenate([old, new]).astype(np.int64)
    return rows[told], len(results) + len(present) - len(told)


def _ends(closes: np.ndarray) -> np.ndarray:
    """Return the last event of each part that something follows."""
    return np.flatnonzero(closes[:-1] & ~closes[1:])


@runtime_checkable
class Agent(Protocol):
    """A player. If all its randomness comes from `turn.seed`, results repeat in any process and any order of games.

    An agent plays one game at a time, from `reset` to its end; a BatchAgent plays many at once. It may have more than
    is below: `observe(events)` (see Observer), `end(returns)` when a game is over, `close()` when there will be no
    more, `probabilities(turn)` if it can state those of `turn.legal_actions`, as its exploitability needs,
    `io_bound = True` if it spends its time waiting for others, so that games should be played side by side in threads,
    and `enforces_time_limit = True` if it limits the time of a decision itself.

    Attributes:
        name: for people.
    """

    name: str

    def reset(self, seed: int) -> None:
        """Prepare for a new game. `seed` is the agent's own and says nothing about the deal."""
        return  # nothing to forget, unless a subclass keeps something

    def act(self, turn: Turn) -> int:
        """Choose one of `turn.legal_actions`."""
        raise NotImplementedError


@runtime_checkable
class Observer(Protocol):
    """An agent with `observe`, which is called with events as they happen. Any agent may have this method."""

    def observe(self, events: list[Event]) -> None:
        """New events as this agent's player saw them, oldest first; the deal's come after `reset`.

        They are those of `turn.recap`, as data. The method is called after every action of every player, if the
        player saw anything of it.
        """
        raise NotImplementedError


@runtime_checkable
class BatchAgent(Agent, Protocol):
    """An agent that decides in many games at once.

    One of its kind serves all games that a process plays side by side, so it must keep nothing of a game from turn
    to turn, and `reset` is not called. The grouping of turns must not matter.
    """

    def act_batch(self, turns: list[Turn]) -> list[int]:
        """Choose a legal action for each turn."""
        raise NotImplementedError
