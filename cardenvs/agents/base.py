"""The agent interface, and what an agent sees: a `Turn`."""

import functools
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from cardenvs.core.errors import StaleTurnError
from cardenvs.core.events import KIND, SPECTATOR, Event, Part, Table
from cardenvs.core.narration import Narrator
from cardenvs.core.options import Options
from cardenvs.core.rng import derived_seed
from cardenvs.core.state import State
from cardenvs.core.view import Candidate

MOST_NOTED = 5  # most actions or plays that an agent notes with a decision
_NOBODY = -1  # no player is called "you"
_SEED_RANGE = 2.0**63


@dataclass(frozen=True)
class Failure:
    """One failed try at a decision.

    Attributes:
        kind: class of the failure: "timeout", "exception", "illegal", ...
        message: what went wrong, in words.
    """

    kind: str
    message: str


class Turn:
    """One decision, with everything that the player to act may know. Properties are computed lazily.

    Once the game has moved on, properties that were not read before raise StaleTurnError.

    Attributes:
        game, options: what is played.
        player: int, the player to act.
        num_players: int.
        decision: int, number of earlier decisions of this player in this game.
        goes_on: bool, whether nobody else has acted since the player's last decision.
        seed: int, 0..2**63-1, for this decision. Draw all randomness from it to make results repeat.
        notes: dict of JSON values to record with this decision (a prompt, tokens, latency). Read after `act`; does not
            affect play.
        failures: failed tries at this decision so far, oldest first. An agent that retries by itself adds its own.
    """

    def __init__(self, state: State, seed: int, decision: int = 0, goes_on: bool = False) -> None:
        """Create a turn for the player to act in `state`.

        Args:
            state: not terminal; kept private. For a guest, pass a twin.
            seed: the agent's seed for this game, from which the decision's is derived.
            decision: number of earlier decisions of the player in this game.
            goes_on: whether nobody else has acted since the player's last decision.
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
        """Return the player, the game and the number of the decision."""
        return f"<Turn of player_{self.player} in {self.game.name}, decision {self.decision}>"

    def __now(self) -> State:
        if self.__state.ply != self.__ply:
            raise StaleTurnError(f"{self!r} is over, the game has moved on; read a turn before answering it")
        return self.__state

    @functools.cached_property
    def observation(self) -> np.ndarray:
        """What the player sees, (layout.size,) of the game's dtype."""
        return self.__now().observation(self.player)

    def observation_as(self, options: Options) -> np.ndarray:
        """Return what the player sees with the layout of other options, from `Game.as_read`."""
        return self.observation if options == self.options else self.__now().observation(self.player, options)

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
        """The choices of the player, at least one: single actions, and plays of several actions."""
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
        """Return the latest events in a few lines.

        Omits details that the table shows, joins similar events in one line, and reduces finished hands and tricks to
        their results, except for the latest trick of the current hand.

        Args:
            most: most events to include: the latest ones, of which up to half are results of finished hands; None: all.

        Returns:
            The lines, and the number of events that `most` excludes.
        """
        table, rows = self.game.table, self.__now().event_rows(self.player)
        told, left_out = _worth_telling(rows, table, len(rows) if most is None else most)
        narrator = Narrator(self.game, _NOBODY, self.num_players, symbols=False)
        return narrator.sentences(map(table.read, told)), left_out

    @functools.cached_property
    def prompt(self) -> str:
        """The question to the player."""
        return str(self.view["prompt"])

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
            FormatError: the answer does not have that form.
            IllegalActionError: the answer is not legal; the message says why.
        """
        state = self.__now()
        actions = state.game.view.actions_from_answer(state, self.player, answer)
        state.check_legal(actions[0])
        return actions

    def render(self, colour: bool = False) -> str:
        """Return the table as text; with ANSI colours if asked."""
        return self.__now().render(self.player, colour)

    def determinize(self, seed: int) -> State:
        """Return a new state that agrees with what the player knows; the rest is dealt again from `seed`."""
        return self.__now().determinize(self.player, seed)

    def policy_action(self, policy: str) -> int:
        """Return the action that a policy ("random", or one of `game.policies`) chooses here with this turn's seed.

        Raises:
            PolicyNotFoundError: the game has no such policy.
        """
        return self.__now().policy_action(policy, self.seed)


def _worth_telling(rows: np.ndarray, table: Table, most: int) -> tuple[np.ndarray, int]:
    """Return the rows to include in a recap, and the number of others that `most` excludes."""
    kinds = rows[:, KIND]
    closes = np.array([kind.closes for kind in table.kinds])[kinds]
    opened = np.flatnonzero(np.array([kind.opens for kind in table.kinds])[kinds] == Part.HAND)
    ends = _ends(closes == Part.HAND)
    ends = ends[ends < opened.max(initial=0)]  # results such as scored sweeps may end a match, or nothing
    start = ends[-1] + 1 if len(ends) else 0  # first event of the current hand
    results, hand = np.flatnonzero(closes[:start] == Part.HAND), closes[start:] == Part.TRICK
    tricks = _ends(hand)
    hand[tricks[-2] + 1 if len(tricks) > 1 else 0 :] = True  # the latest finished trick in full, and what follows
    current = start + np.flatnonzero(hand)
    old = results[max(0, len(results) - most // 2) :]
    new = current[max(0, len(current) - (most - len(old))) :]
    kept = np.concatenate([old, new]).astype(np.int64)
    return rows[kept], len(results) + len(current) - len(kept)


def _ends(closes: np.ndarray) -> np.ndarray:
    """Return the last event of each part that is followed by another event."""
    return np.flatnonzero(closes[:-1] & ~closes[1:])


def note_probabilities(turn: Turn, probabilities: np.ndarray) -> None:
    """Note the likeliest of `turn.legal_actions`, with their labels, for people who read the decision later.

    Args:
        turn: the turn to decide.
        probabilities: floats (n,), one per legal action.
    """
    likeliest = np.argsort(-probabilities, kind="stable")[:MOST_NOTED]
    turn.notes["probabilities"] = [
        [turn.label(turn.legal_actions[k]), round(float(probabilities[k]), 4)] for k in likeliest
    ]


def drawn_index(weights: np.ndarray, seed: int) -> int:
    """Return an index drawn in proportion to `weights`, floats (n,), not all 0, from a turn's seed alone.

    The draw has a seed of its own, so it is independent of everything else that an agent draws from the turn's.
    """
    total = np.cumsum(weights)
    u = derived_seed(seed, "action") / _SEED_RANGE  # 0 <= u <= 1
    return min(int(np.searchsorted(total, u * total[-1], side="right")), int(np.flatnonzero(weights)[-1]))


@runtime_checkable
class Agent(Protocol):
    """A player. If all its randomness comes from `turn.seed`, results repeat in any process and order of games.

    An agent plays one game at a time, from `reset` to its end; a BatchAgent plays many at once. Optional members:
    `observe(events)` (see Observer); `end(returns)`, called when a game is over; `close()`, called after the last game;
    `probabilities(turn)`, those of `turn.legal_actions`, needed to compute exploitability; `is_seeded = True` if these
    hold for the turn's seed alone, so that exploitability is estimated from draws instead; `io_bound = True` if it
    mostly waits for other processes or servers, so that games are played side by side in threads; and
    `enforces_time_limit = True` if it limits the time of a decision itself.

    Attributes:
        name: name in reports.
    """

    name: str

    def reset(self, seed: int) -> None:
        """Prepare for a new game. `seed` is the agent's own and says nothing about the deal."""
        return  # subclasses that keep state override this

    def act(self, turn: Turn) -> int:
        """Choose one of `turn.legal_actions`."""
        raise NotImplementedError


@runtime_checkable
class Observer(Protocol):
    """An agent with `observe`, which is called with events as they happen. Any agent may have this method."""

    def observe(self, events: list[Event]) -> None:
        """Handle new events as this agent's player saw them, oldest first; those of the deal come after `reset`.

        These are the events of `turn.recap`, as data. Called after every action, of any player, of which the player saw
        something.
        """
        raise NotImplementedError


@runtime_checkable
class BatchAgent(Agent, Protocol):
    """An agent that decides in many games at once.

    One instance serves all games that a process plays side by side, so it must not keep anything of a game from turn to
    turn, and `reset` is not called. Its choices must not depend on how turns are grouped.
    """

    def act_batch(self, turns: list[Turn]) -> list[int]:
        """Choose a legal action for each turn."""
        raise NotImplementedError
