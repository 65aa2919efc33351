"""Play matches of Texas hold'em and record everything.

`play_match` seats agents, plays one game, and writes a folder:

    match.json        status, configuration, seed, players, standings, elimination order; written last
    timeline.jsonl    the timeline (timeline.py)
    actions.jsonl     a line per decision: player, action, time, and the agent's `turn.notes`
    aggregates.json   statistics of all players (aggregates.py)
    replay.json       the replay file of the suite
    failure.json, state.bin    only if the match failed: the error, and the state at that moment

Each file is written atomically. While the match runs, match.json has the status "running", and decisions are appended
to actions.jsonl.part, line by line.

Seed, configuration and actions determine everything except `seconds` and `notes` in actions.jsonl.
"""

import json
import os
import secrets
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import numpy as np

from cardenvs.agents.base import Agent
from cardenvs.agents.seating import FORCED, OK, Decision, Seat, checked_choice, play_out
from cardenvs.agents.seeds import guest_seed, new_key
from cardenvs.agents.specs import is_guest, make_agent
from cardenvs.core.cards import NUM_CARDS
from cardenvs.core.errors import AgentError, ArenaError, CardenvsError, ImpossibleStateError
from cardenvs.core.events import PLAYER, SPECTATOR
from cardenvs.core.files import write_whole
from cardenvs.core.replay import Replay
from cardenvs.core.rng import derived_seed
from cardenvs.core.state import State, checked_seed
from cardenvs.core.text import numbered
from cardenvs.games.texas_holdem import GAME
from cardenvs.games.texas_holdem.actions import CHECK_CALL, FOLD
from cardenvs.games.texas_holdem.legal import owed
from cardenvs.games.texas_holdem.play import TexasHoldemState
from cardenvs.games.texas_holdem.state import STREETS
from cardenvs.tools.texas_holdem.aggregates import aggregate
from cardenvs.tools.texas_holdem.entries import standings
from cardenvs.tools.texas_holdem.timeline import Timeline

FORMAT = "cardenvs-holdem-match"
FORMAT_VERSION = 1
FINISHED, FAILED, INTERRUPTED, RUNNING = "finished", "failed", "interrupted", "running"


@dataclass(frozen=True)
class MatchResult:
    """The result of a match.

    Attributes:
        status: "finished", "failed" or "interrupted".
        state: the state after the last valid action.
        timeline: the timeline up to that state.
        standings: best first (entries.standings).
        eliminations: player, name, hand and place (None in cash) of those who went out, in order.
        decisions: the lines of actions.jsonl.
        aggregates: statistics by player name.
        failure: the contents of failure.json, or None.
    """

    status: str
    state: TexasHoldemState
    timeline: Timeline
    standings: list[dict[str, Any]]
    eliminations: list[dict[str, Any]]
    decisions: list[dict[str, Any]]
    aggregates: dict[str, dict[str, Any]]
    failure: dict[str, Any] | None


class MatchFailedError(ArenaError):
    """Raised when a match cannot go on: an agent failed, or the state became impossible.

    Attributes:
        result: the match up to the failure, a MatchResult.
    """

    def __init__(self, message: str, result: MatchResult) -> None:
        super().__init__(message)
        self.result = result


def play_match(
    agents: Sequence[str | Agent],
    *,
    seed: int | None = None,
    guests_key: str | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: Callable[[TexasHoldemState], None] | None = None,
    **options: Any,
) -> MatchResult:
    """Play one match and record everything.

    Args:
        agents: one spec (cardenvs.agents.specs) or agent per seat; `num_players` defaults to their number. If an agent
            raises an exception or chooses an illegal action, the match fails. With the option
            invalid_action="passive" the agent instead checks, or folds if there is something to call, and the
            recorded decision says so.
        seed: seed of cards and agents, 0..2**63-1; None draws it.
        guests_key: key for the seeds of agents that are not part of cardenvs, 32 hex digits. Take it from another
            match's `match.json` to repeat that match. None draws it.
        out: folder to write, new or empty; None writes nothing.
        progress: called with the state after each action; must not change it.
        options: options of the game.

    Returns:
        The finished match.

    Raises:
        OptionError, AgentError, ArenaError: invalid arguments; nothing was written.
        MatchFailedError: the match failed; its `result` and the folder have everything up to the failure.
        KeyboardInterrupt, or any exception of `progress`: the folder has everything played so far, with status
            "interrupted".
    """
    options.setdefault("num_players", len(agents))
    checked = GAME.make_options(**options)
    if len(agents) != checked.num_players:
        raise ArenaError(f"{checked.num_players} seats need as many agents; got {len(agents)}")
    made = [make_agent(agent, GAME, checked) if isinstance(agent, str) else agent for agent in agents]
    seed = secrets.randbits(63) if seed is None else checked_seed(seed)
    state = GAME.new_state(seed=seed, **checked.as_dict())
    guests = [not isinstance(agent, str) or is_guest(agent) for agent in agents]
    key = (guests_key or new_key()) if any(guests) else None
    seeds = [
        guest_seed(key, seed, player) if key and guest else derived_seed(seed, "player", player)
        for player, guest in enumerate(guests)
    ]
    assert isinstance(state, TexasHoldemState)
    names = numbered([agent.name for agent in made])
    with _Folder(out) as folder:
        folder.write_match(_head(state, names, key, RUNNING))
        match = _Match(state, made, seeds, guests, key, names, folder)
        try:
            match.play(progress)
            return match.end(FINISHED, None)
        except CardenvsError as error:
            result = match.end(FAILED, error)
            kept = f"; its records are in {out}" if out is not None else ""
            raise MatchFailedError(f"the match failed: {error}{kept}", result) from error
        except BaseException:  # Ctrl-C, or `progress` raised
            match.end(INTERRUPTED, None)
            raise
        finally:
            for given, agent in zip(agents, made, strict=True):
                if isinstance(given, str) and hasattr(agent, "close"):
                    agent.close()


def _head(state: TexasHoldemState, names: tuple[str, ...], key: str | None, status: str) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "cardenvs": version("cardenvs"),
        "status": status,
        "game": GAME.name,
        "seed": state.seed,
        **({"guests_key": key} if key else {}),
        "players": list(names),
        "options": state.options.as_dict(),
    }


class _Match:
    """A match in progress."""

    def __init__(
        self,
        state: TexasHoldemState,
        agents: list[Agent],
        seeds: list[int],
        guests: list[bool],
        key: str | None,
        names: tuple[str, ...],
        folder: "_Folder",
    ) -> None:
        self._state, self._key, self._names, self._folder = state, key, names, folder
        self._seats = [
            _RecordedSeat(agent, p, seeds[p], guests[p], names[p], self._keep) for p, agent in enumerate(agents)
        ]
        self._chips = sum(state.options.first_stacks())
        self._decisions: list[dict[str, Any]] = []
        self._good: list[int] = []  # actions after which the state was valid

    def play(self, progress: Callable[[TexasHoldemState], None] | None) -> None:
        """Play the match to its end.

        Raises:
            AgentError: an agent failed.
            ImpossibleStateError: the state is impossible, or differs from its events.
        """
        state = self._state
        check_possible(state, self._chips)

        def watch(_: State, decision: Decision) -> None:
            try:
                check_possible(state, self._chips)
            except ImpossibleStateError as error:
                raise ImpossibleStateError(f"after action {decision.action} at ply {decision.ply}: {error}") from error
            self._good.append(decision.action)
            if progress is not None:
                progress(state)

        for seat in self._seats:
            seat.begin(state)
        play_out(state, self._seats, watch)
        for seat in self._seats:
            seat.end(state)
        _check_events(state)

    def _keep(self, decision: dict[str, Any]) -> None:
        try:
            line = json.dumps(decision, allow_nan=False)  # ASCII, as a broken answer may contain half a character
        except (TypeError, ValueError, RecursionError) as error:
            where = f"hand {decision['hand']}, ply {decision['ply']}, as player_{decision['player']}"
            raise AgentError(
                f"agent {decision['name']!r} in {where} left notes that are not JSON values: {error}"
            ) from error
        self._decisions.append(json.loads(line))  # a copy, as the agent may keep changing its notes
        self._folder.add_decision(line)

    def end(self, status: str, error: CardenvsError | None) -> MatchResult:
        """Write all records and return the result."""
        failure = None
        if error is not None:
            failure = self._failure(error)
            self._folder.write_failure(failure, self._state)  # first, as the next lines use a state that may be damaged
        state = self._state if error is None else self._last_good_state()
        timeline = Timeline.of(state, list(self._names))
        result = MatchResult(
            status, state, timeline, standings(state, self._names), _eliminations(timeline, state),
            self._decisions, aggregate([timeline]), failure,
        )  # fmt: skip
        self._folder.write_result(result, _head(state, self._names, self._key, status))
        return result

    def _last_good_state(self) -> TexasHoldemState:
        """Return the state after the valid actions, replayed from the deal, as the current one may be damaged."""
        good = GAME.new_state(seed=self._state.seed, **self._state.options.as_dict())
        for action in self._good:
            good.apply(action)
        assert isinstance(good, TexasHoldemState)
        return good

    def _failure(self, error: CardenvsError) -> dict[str, Any]:
        return {
            "error": type(error).__name__,
            "message": str(error),
            "ply": len(self._good),
            "actions": list(self._state.actions),
            "last_decision": self._decisions[-1] if self._decisions else None,
            "trace": "".join(traceback.format_exception(error)),
        }


class _RecordedSeat(Seat):
    """A seat that records its decisions; with invalid_action="passive" it checks or folds if the agent fails."""

    def __init__(
        self, agent: Agent, player: int, seed: int, guest: bool, name: str, keep: Callable[[dict[str, Any]], None]
    ) -> None:
        super().__init__(agent, player, seed, guest)
        self._name, self._keep = name, keep

    def begin(self, state: State) -> None:
        try:
            super().begin(state)
        except Exception as error:  # any exception counts as a failure of the agent
            raise AgentError(f"agent {self._name!r} failed in reset: {_in_a_line(error)}") from error

    def decide(self, state: State) -> Decision:
        turn = self.turn(state)
        started = time.perf_counter()
        refused: Exception | None = None
        action: int | None
        try:
            action = checked_choice(state, self.agent.act(turn))
        except Exception as error:  # as above
            refused = error
            passive = FOLD if owed(state.record, self.player) else CHECK_CALL
            action = passive if state.options.invalid_action == "passive" else None  # type: ignore[attr-defined]
        seconds = time.perf_counter() - started
        hand = int(state.record.hand_number)
        self._keep(
            {
                "ply": state.ply,
                "hand": hand,
                "street": STREETS[int(state.record.street)],
                "player": self.player,
                "name": self._name,
                "action": action,
                "label": None if action is None else GAME.view.action_label(state.record, action),
                "seconds": round(seconds, 6),
                "refused": None if refused is None else _in_a_line(refused),
                "trace": None if refused is None else "".join(traceback.format_exception(refused)),
                "notes": turn.notes,
            }
        )
        if action is None:
            where = f"hand {hand}, ply {state.ply}, as player_{self.player}"
            raise AgentError(f"agent {self._name!r} failed in {where}: {_in_a_line(refused)}") from refused
        self.decided(state)
        outcome = OK if refused is None else FORCED
        return Decision(self.player, state.ply, action, outcome, seconds, notes=turn.notes)


def _in_a_line(error: BaseException | None) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, AgentError) else f"{type(error).__name__}: {text}"


def _eliminations(timeline: Timeline, state: TexasHoldemState) -> list[dict[str, Any]]:
    """Return the players who went out, in order; within a hand the worse place first."""
    out = [
        (entry.hand, entry.row[PLAYER]) for entry in timeline.entries if entry.kind == "out" and entry.row is not None
    ]
    places = state.record.places
    order = sorted(out, key=lambda item: (item[0], -int(places[item[1]])))
    return [
        {"player": p, "name": timeline.players[p], "hand": hand, "place": int(places[p]) or None} for hand, p in order
    ]


# ---------------------------------------------------------------------------------------------------------------
# Invariants


def check_possible(state: TexasHoldemState, chips: int) -> None:
    """Check the invariants of a state.

    Args:
        state: any state.
        chips: total number of chips in the match.

    Raises:
        ImpossibleStateError: names the broken invariant, with the numbers.
    """
    s, n = state.record, state.num_players
    stacks, put_in, bets = s.stacks[:n], s.chips_in[:n], s.bets[:, :n]
    _must(stacks.sum() + s.pot == chips, f"stacks {stacks.tolist()} and pot {s.pot} should add up to {chips}")
    _must((stacks >= 0).all() and s.pot >= 0, f"no stack may be negative: {stacks.tolist()}, pot {s.pot}")
    _must(
        (bets >= 0).all() and (bets.sum(axis=0) <= put_in).all(),
        f"bets {bets.tolist()} go beyond what was put in: {put_in.tolist()}",
    )
    _must(sorted(s.deck.tolist()) == list(range(NUM_CARDS)), f"the deck is not the 52 cards: {s.deck.tolist()}")
    _must(s.in_hand & ~s.dealt == 0, "a player is in the hand who was not dealt in")
    _must(s.can_act & ~s.in_hand == 0, "a player can act who is not in the hand")
    _must(s.pending & ~s.can_act == 0, "a player is to act who cannot")
    if state.is_terminal:
        _must(s.pot == 0, f"the match is over and {s.pot} chips are in the pot")
        return
    _must(put_in.sum() == s.pot, f"the pot is {s.pot}, and {put_in.tolist()} was put in")
    broke = [p for p in range(n) if s.can_act >> p & 1 and stacks[p] == 0]
    _must(not broke, f"players {broke} can act without chips")
    _must(bool(s.pending >> state.current_player & 1), f"player_{state.current_player} is to act out of turn")
    _must(bool(state.legal_actions()), f"player_{state.current_player} has no legal action")


def _must(holds: bool | np.bool_, broken: str) -> None:
    if not holds:
        raise ImpossibleStateError(broken)


def _check_events(state: TexasHoldemState) -> None:
    """Check for every viewer that the events lead to the final table.

    Raises:
        ImpossibleStateError: names the differences.
    """
    for viewer in (SPECTATOR, *range(state.num_players)):
        wrong = state.folded_table(viewer).differences(state.table(viewer))
        _must(not wrong, f"the events of viewer {viewer} lead to another table than the final one: {wrong}")


# ---------------------------------------------------------------------------------------------------------------
# Files


class _Folder:
    """The folder of a match; with no path it writes nothing."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self._path = None if path is None else Path(path)
        self._lines: IO[str] | None = None

    def __enter__(self) -> Self:
        if self._path is not None:
            is_taken = f"cannot write a match to {self._path}: it is there already; name a new folder"
            if self._path.exists() and (not self._path.is_dir() or any(self._path.iterdir())):
                raise ArenaError(is_taken)
            self._path.mkdir(parents=True, exist_ok=True)
            try:
                self._lines = (self._path / "actions.jsonl.part").open("x", encoding="utf-8")
            except FileExistsError:  # of a match that has begun meanwhile
                raise ArenaError(is_taken) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._lines is not None:
            self._lines.close()

    def add_decision(self, line: str) -> None:
        """Append a line to actions.jsonl.part and flush it."""
        if self._lines is not None:
            self._lines.write(line + "\n")
            self._lines.flush()

    def write_match(self, data: dict[str, Any]) -> None:
        """Write match.json."""
        self._write_json("match.json", data)

    def write_failure(self, failure: dict[str, Any], state: TexasHoldemState) -> None:
        """Write failure.json and the state at that moment."""
        self._write_json("failure.json", failure)
        if self._path is not None:
            write_whole(self._path / "state.bin", state.to_bytes())

    def write_result(self, result: MatchResult, head: dict[str, Any]) -> None:
        """Write all other files, match.json last."""
        if self._path is None or self._lines is None:
            return
        result.timeline.save(self._path / "timeline.jsonl")
        self._write_json("aggregates.json", result.aggregates)
        Replay.of(result.state, list(result.timeline.players)).save(self._path / "replay.json")
        self._lines.close()
        (self._path / "actions.jsonl.part").replace(self._path / "actions.jsonl")
        self.write_match(
            head
            | {
                "error": None if result.failure is None else result.failure["message"],
                "hands": int(result.state.record.hand_number),
                "actions": len(result.state.actions),
                "standings": result.standings,
                "eliminations": result.eliminations,
            }
        )

    def _write_json(self, name: str, data: Any) -> None:
        if self._path is not None:
            write_whole(self._path / name, json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
