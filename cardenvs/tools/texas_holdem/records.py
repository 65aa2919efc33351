"""Play matches of Texas hold'em and record everything.

`play_match` seats agents, plays one game, and writes a folder (folder.py) that holds all of it at any time, also while
the match runs and after it was stopped. Agents play through proxies (cardenvs.agents.guarded.proxy): a failed decision
is retried, and then a check, or a fold if there is something to call.

Seed, configuration and actions determine everything except `seconds` and `notes` in actions.jsonl.
"""

import json
import os
import secrets
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from cardenvs.agents.base import Agent
from cardenvs.agents.guarded.limits import AgentLimits
from cardenvs.agents.guarded.proxy import AgentProxy
from cardenvs.agents.seating import OK, Decision, play_out
from cardenvs.agents.seeds import guest_seed, new_key
from cardenvs.agents.specs import agent_conditions, agent_fingerprint
from cardenvs.core.checks import checked_seed
from cardenvs.core.errors import (
    AgentError,
    ArenaError,
    CardenvsError,
    FormatError,
    IllegalActionError,
    ImpossibleStateError,
)
from cardenvs.core.events import PLAYER
from cardenvs.core.options import Options
from cardenvs.core.replay import Replay
from cardenvs.core.rng import derived_seed
from cardenvs.core.state import State
from cardenvs.core.text import check_name, count, numbered, one_line
from cardenvs.games.texas_holdem import GAME
from cardenvs.games.texas_holdem.play import TexasHoldemState
from cardenvs.games.texas_holdem.state import STREETS
from cardenvs.tools.texas_holdem.aggregates import aggregate
from cardenvs.tools.texas_holdem.entries import standings
from cardenvs.tools.texas_holdem.folder import ACTIONS, FAILED, FINISHED, INTERRUPTED, RUNNING, MatchFolder
from cardenvs.tools.texas_holdem.invariants import check_events, check_possible
from cardenvs.tools.texas_holdem.timeline import Timeline

FORMAT = "cardenvs-holdem-match"
FORMAT_VERSION = 2
STOP = "stop"
ON_FAILURE = ("forced_action", "forfeit", STOP)
FAILURE_LIMIT = 10
HAND_LIMIT = 1000


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
    """Raised when a match cannot continue: an agent keeps failing, or the state became impossible.

    Attributes:
        result: the match up to the failure, a MatchResult.
    """

    def __init__(self, message: str, result: MatchResult) -> None:
        super().__init__(message)
        self.result = result


class MatchLimitError(ArenaError):
    """Raised within a match that goes beyond its limit of hands, or in which an agent keeps failing."""


@dataclass(frozen=True)
class MatchLimits:
    """When a match is given up as failed.

    Attributes:
        on_failure: what follows a decision whose tries have all failed: "forced_action" (a check, or a fold if there is
            something to call), "forfeit" (the player leaves the match), or "stop" (the match fails).
        failures: failed decisions in a row of one agent that end the match; None: no limit.
        hands: that end a tournament which is not over after them; None: no limit but the game's own.
    """

    on_failure: str = "forced_action"
    failures: int | None = FAILURE_LIMIT
    hands: int | None = HAND_LIMIT

    def __post_init__(self) -> None:
        """Reject limits that mean nothing."""
        if self.on_failure not in ON_FAILURE:
            raise ArenaError(f"on_failure is one of {', '.join(ON_FAILURE)}; got {self.on_failure!r}")
        for name in ("failures", "hands"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ArenaError(f"the limit of {name} is a number above zero, or None; got {value}")

    def of_agents(self) -> AgentLimits:
        """Return the limits of each agent; one whose first failure counts is tried once."""
        if self.on_failure == STOP:
            return AgentLimits(tries=1, on_failure="forced_action")
        return AgentLimits(on_failure=self.on_failure)


def play_match(
    agents: Sequence[str | Agent],
    *,
    seed: int | None = None,
    guests_key: str | None = None,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    limits: MatchLimits | None = None,
    progress: Callable[[TexasHoldemState], None] | None = None,
    **options: Any,
) -> MatchResult:
    """Play one match and record everything.

    Args:
        agents: one spec (cardenvs.agents.specs) or agent per seat; `num_players` defaults to their number.
        seed: seed of cards and agents, 0..2**63-1; None draws it, or takes it from the match that is resumed.
        guests_key: key for the seeds of agents that are not part of cardenvs, 32 hex digits. Take it from another
            match's `match.json` to repeat that match. None draws it.
        out: folder to write, new or empty; None writes nothing.
        resume: continue the match in `out`, with the same agents and options, from its last decision. Models are not
            asked again for what they have answered.
        limits: when the match is given up; by default the default MatchLimits.
        progress: called with the state after each action; must not change it.
        options: options of the game.

    Returns:
        The finished match.

    Raises:
        OptionError, AgentError, ArenaError, FormatError, FileError: invalid arguments, or a folder that cannot be used;
            nothing was written.
        MatchFailedError: the match failed; its `result` and the folder have everything up to the failure.
        KeyboardInterrupt, or any exception of `progress`: the folder has everything played so far, with status
            "interrupted".
    """
    limits = limits or MatchLimits()
    if resume and out is None:
        raise ArenaError("resume needs the folder of the match in out")
    options.setdefault("num_players", len(agents))
    checked = GAME.make_options(**options)
    if len(agents) != checked.num_players:
        raise ArenaError(f"{checked.num_players} seats need as many agents; got {len(agents)}")
    proxies: list[AgentProxy] = []
    try:
        for agent in agents:
            proxies.append(_proxy(agent, checked, limits.of_agents()))
        with MatchFolder(out, resume) as folder:
            for proxy in proxies:
                if hasattr(proxy.agent, "keep_answers"):  # a language model, whose answers may cost money
                    proxy.agent.keep_answers(folder)
            match = _Match(_head(agents, proxies, checked, seed, guests_key, folder.head), proxies, limits, folder)
            match.begin()
            folder.start()
            return match.played(progress, out)
    finally:
        for given, proxy in zip(agents, proxies, strict=False):
            if isinstance(given, str):
                proxy.close()


def _proxy(agent: str | Agent, options: Options, limits: AgentLimits) -> AgentProxy:
    if isinstance(agent, str):
        return AgentProxy.of(agent, GAME, options, limits)
    return AgentProxy(agent, limits)


def _head(
    agents: Sequence[str | Agent],
    proxies: list[AgentProxy],
    options: Options,
    seed: int | None,
    guests_key: str | None,
    before: dict[str, Any] | None,
) -> dict[str, Any]:
    """Return what match.json says of a match from its beginning. `before` is that of the match to resume.

    Raises:
        ArenaError: it is of another match, or that match is over; or an agent has a name that no replay may have.
    """
    before = {} if before is None else _resumable(before)
    seed = before.get("seed", secrets.randbits(63)) if seed is None else checked_seed(seed)
    key = guests_key or before.get("guests_key") or new_key()
    head = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "cardenvs": version("cardenvs"),
        "game": GAME.name,
        "seed": seed,
        **({"guests_key": key} if any(proxy.guest for proxy in proxies) else {}),
        "agents": [_agent(given, options) for given in agents],
        "players": [check_name(name, "an agent", ArenaError) for name in numbered([proxy.name for proxy in proxies])],
        "options": options.as_dict(),
    }
    for name in ("game", "seed", "guests_key", "agents", "players", "options") if before else ():
        mine, theirs = head.get(name), before.get(name)
        if _as_json(mine) != theirs:
            raise ArenaError(f"cannot resume this match: its {name} differ: {_difference(theirs, _as_json(mine))}")
    return head


def _resumable(before: dict[str, Any]) -> dict[str, Any]:
    if before.get("format") != FORMAT or before.get("format_version") != FORMAT_VERSION:
        raise ArenaError(
            f"cannot resume this match: {FORMAT} {FORMAT_VERSION} is needed; "
            f"got {before.get('format')} {before.get('format_version')}"
        )
    if before.get("status") == FINISHED:
        raise ArenaError("cannot resume this match: it is finished")
    return before


def _agent(given: str | Agent, options: Options) -> dict[str, Any]:
    """Return what may affect the results of an agent, as JSON values."""
    if not isinstance(given, str):
        return {"name": given.name}
    return {
        "spec": given,
        "fingerprint": agent_fingerprint(given),
        "conditions": agent_conditions(given, GAME, options),
    }


def _as_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


def _difference(theirs: Any, mine: Any) -> str:
    """Return the first place where two JSON values differ."""
    if isinstance(theirs, dict) and isinstance(mine, dict):
        for name in sorted(theirs.keys() | mine.keys()):
            if theirs.get(name) != mine.get(name):
                return f"{name}: {_difference(theirs.get(name), mine.get(name))}"
    if isinstance(theirs, list) and isinstance(mine, list) and len(theirs) == len(mine):
        return next(_difference(a, b) for a, b in zip(theirs, mine, strict=True) if a != b)
    return f"it had {one_line(json.dumps(theirs))}, now {one_line(json.dumps(mine))}"


class _Match:
    """A match in progress."""

    def __init__(
        self, head: dict[str, Any], proxies: list[AgentProxy], limits: MatchLimits, folder: MatchFolder
    ) -> None:
        self._head, self._limits, self._folder = head, limits, folder
        self._names = tuple(head["players"])
        self._state = self._deal()
        self._players = [_Player(proxy, self) for proxy in proxies]
        self._chips = sum(self._state.options.first_stacks())
        self._good: list[int] = []  # actions after which the state was valid
        self._failed_in_a_row: Counter[int] = Counter()

    def _deal(self) -> TexasHoldemState:
        state = GAME.new_state(seed=self._head["seed"], **self._head["options"])
        assert isinstance(state, TexasHoldemState)
        return state

    def begin(self) -> None:
        """Seat the agents, and play again what was played before.

        Raises:
            FormatError: a recorded decision cannot have been made.
        """
        state, head = self._state, self._head
        check_possible(state, self._chips)
        for player, seat in enumerate(self._players):
            own = derived_seed(state.seed, "player", player)
            seed = guest_seed(head["guests_key"], state.seed, player) if seat.proxy.guest else own
            seat.proxy.begin(state, player, seed)
        for number, decision in enumerate(self._folder.decisions, 1):
            try:
                self._check_recorded(decision)
                self._players[state.current_player].proxy.decided(state)
                state.apply(decision["action"])
            except (IllegalActionError, FormatError) as error:
                raise FormatError(f"{ACTIONS}: line {number}: {error}") from None
            self._good.append(state.actions[-1])
        for seat in self._players:
            seat.proxy.observe(state)

    def _check_recorded(self, decision: dict[str, Any]) -> None:
        state = self._state
        if state.is_terminal:
            raise FormatError("the match is over before it")
        player = state.current_player
        expected = {"ply": state.ply, "player": player, "name": self._names[player]}
        for name, value in expected.items():
            if decision.get(name) != value:
                raise FormatError(f"{name} should be {value!r}; got {decision.get(name)!r}")
        failures = decision.get("failures")
        if not isinstance(failures, list) or not all(isinstance(one, dict) for one in failures):
            raise FormatError("failures should be a list of objects")
        if not all(isinstance(text, str) for text in (decision.get("outcome"), *(one.get("kind") for one in failures))):
            raise FormatError("the outcome, and the kind of each failure, should be texts")

    def played(
        self, progress: Callable[[TexasHoldemState], None] | None, out: str | os.PathLike[str] | None
    ) -> MatchResult:
        """Play the match to its end and return the result.

        Raises:
            MatchFailedError, KeyboardInterrupt, Exception: see `play_match`.
        """
        try:
            self._play(progress)
            return self._end(FINISHED, None)
        except CardenvsError as error:
            result = self._end(FAILED, error)
            kept = f"; its records are in {out}" if out is not None else ""
            raise MatchFailedError(f"the match failed: {error}{kept}", result) from error
        except BaseException:  # Ctrl-C, or `progress` raised
            self._end(INTERRUPTED, None)
            raise

    def _play(self, progress: Callable[[TexasHoldemState], None] | None) -> None:
        state = self._state

        def watch(_: State, decision: Decision) -> None:
            try:
                check_possible(state, self._chips)
            except ImpossibleStateError as error:
                raise ImpossibleStateError(f"after action {decision.action} at ply {decision.ply}: {error}") from error
            self._good.append(decision.action)
            if progress is not None:
                progress(state)
            self._check_limits(decision)
            if self._folder.is_due:
                self._write(state, RUNNING)

        self._write(state, RUNNING)
        play_out(state, self._players, watch)
        for seat in self._players:
            seat.proxy.end(state)
        check_events(state)

    def _check_limits(self, decision: Decision) -> None:
        """Give up a match that nobody plays any more.

        Raises:
            MatchLimitError: says which limit was reached, and what would do.
        """
        most, player = self._limits.failures, decision.player
        self._failed_in_a_row[player] = 0 if decision.outcome == OK else self._failed_in_a_row[player] + 1
        if most is not None and self._failed_in_a_row[player] >= most:
            raise MatchLimitError(
                f"agent {self._names[player]!r} failed at {count(most, 'decision')} in a row, the limit; "
                f"the last time: {_what_failed(decision)}. Once it answers again, the match can be resumed"
            )
        hands = None if self._state.options.format == "cash" else self._limits.hands
        if hands is not None and int(self._state.record.hand_number) > hands and not self._state.is_terminal:
            raise MatchLimitError(
                f"the tournament is not over after {count(hands, 'hand')}, the limit; "
                "with a higher one it can be resumed"
            )

    def decided(self, decision: Decision) -> None:
        """Record a decision before it is applied.

        Raises:
            AgentError: it failed, and the match is to stop.
        """
        s = self._state.record
        stops = decision.outcome != OK and self._limits.on_failure == STOP
        self._folder.add_decision(
            {
                "ply": decision.ply,
                "hand": int(s.hand_number),
                "street": STREETS[int(s.street)],
                "player": decision.player,
                "name": self._names[decision.player],
                "action": None if stops else decision.action,
                "label": None if stops else GAME.view.action_label(s, decision.action),
                "outcome": STOP if stops else decision.outcome,
                "failures": [{"kind": failure.kind, "message": failure.message} for failure in decision.failures],
                "trace": decision.trace or None,
                "seconds": round(decision.seconds, 6),
                "notes": decision.notes,
            }
        )
        if stops:
            raise AgentError(
                f"agent {self._names[decision.player]!r} failed in hand {int(s.hand_number)}, ply {decision.ply}, "
                f"as player_{decision.player}: {_what_failed(decision)}"
            )

    # -- records ------------------------------------------------------------------------------------------------

    def _end(self, status: str, error: CardenvsError | None) -> MatchResult:
        """Write all records and return the result."""
        failure = None
        if error is not None:
            failure = self._failure(error)
            self._folder.write_failure(failure, self._state.to_bytes())  # first: what follows uses a sound state
        state = self._state if error is None else self._last_good_state()
        return self._write(state, status, failure)

    def _write(self, state: TexasHoldemState, status: str, failure: dict[str, Any] | None = None) -> MatchResult:
        timeline = Timeline.of(state, list(self._names))
        result = MatchResult(
            status, state, timeline, standings(state, self._names), _eliminations(timeline, state),
            self._folder.decisions, aggregate([timeline]), failure,
        )  # fmt: skip
        head = self._head | {
            "status": status,
            "error": None if failure is None else failure["message"],
            "hands": int(state.record.hand_number),
            "actions": len(state.actions),
            "failures": self._failures(),
            "standings": result.standings,
            "eliminations": result.eliminations,
        }
        self._folder.write(head, timeline, result.aggregates, Replay.of(state, list(self._names)))
        return result

    def _failures(self) -> dict[str, dict[str, int]]:
        """Return for each player its failed tries by class, and its decisions that were not its own by outcome."""
        counts: dict[str, Counter[str]] = {name: Counter() for name in self._names}
        for decision in self._folder.decisions:
            counts[decision["name"]].update(failure["kind"] for failure in decision["failures"])
            if decision["outcome"] != OK:
                counts[decision["name"]][decision["outcome"]] += 1
        return {name: dict(sorted(found.items())) for name, found in counts.items()}

    def _last_good_state(self) -> TexasHoldemState:
        """Return the state after the valid actions, replayed from the deal, as the current one may be damaged."""
        good = self._deal()
        for action in self._good:
            good.apply(action)
        return good

    def _failure(self, error: CardenvsError) -> dict[str, Any]:
        decisions = self._folder.decisions
        return {
            "error": type(error).__name__,
            "message": str(error),
            "ply": len(self._good),
            "actions": list(self._state.actions),
            "last_decision": decisions[-1] if decisions else None,
            "trace": "".join(traceback.format_exception(error)),
        }


class _Player:
    """An agent's proxy whose decisions the match records before they are applied."""

    def __init__(self, proxy: AgentProxy, match: _Match) -> None:
        self.proxy, self._match = proxy, match

    def decide(self, state: State) -> Decision:
        decision = self.proxy.decide(state)
        self._match.decided(decision)
        return decision

    def observe(self, state: State) -> None:
        self.proxy.observe(state)


def _what_failed(decision: Decision) -> str:
    last = decision.failures[-1]
    return f"{last.kind}: {last.message}"


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
