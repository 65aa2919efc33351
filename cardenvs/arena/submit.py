"""Check submissions to a board: play an agent against the anchors, or check replays of its games against them.

A board is an experiment with `anchors`. A submission is an agent's spec, or a bundle (cardenvs.arena.bundle) with an
agent's code or with replays. A submitted agent always plays in a separate process, whatever the board's isolation
setting; an agent from a bundle also in a sandbox, if there is one (cardenvs.agents.guarded.sandbox). Replays are
accepted if they cover the board's deals from the first on, each in every seating; if every action is legal and
reproduces the recorded result; and if every move of an anchor is the one that the anchor makes in that position with
its seed for that deal.
"""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

from cardenvs.agents.guarded.guest import Guest
from cardenvs.agents.guarded.limits import AgentLimits
from cardenvs.agents.guarded.proxy import AgentProxy
from cardenvs.agents.guarded.sandbox import chosen, why_unavailable
from cardenvs.agents.seating import OK
from cardenvs.agents.specs import agent_conditions
from cardenvs.arena.bundle import Bundle, check_agent
from cardenvs.arena.experiment import Experiment
from cardenvs.arena.match import Entry, Match
from cardenvs.arena.records import GameRecord, StoredExperiment
from cardenvs.arena.results.board import Board, board_of
from cardenvs.arena.schedule import Schedule
from cardenvs.arena.store import Store
from cardenvs.arena.verify import verify
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import ArenaError, CardenvsError
from cardenvs.core.replay import Replay
from cardenvs.core.state import State
from cardenvs.core.text import one_line

_REPEATED_DEALS = 3  # per match, played twice to check that the agent is deterministic
_PLAYED_ELSEWHERE = "replays"  # spec of an agent that submitted replays only

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class SubmissionResult:
    """Result of checking a submission.

    Attributes:
        name: the agent's name.
        board: its results against the anchors, with ratings.
        faults: reasons to reject the submission; empty if it is acceptable.
        remarks: anything else the operator should know.
    """

    name: str
    board: Board
    faults: tuple[str, ...]
    remarks: tuple[str, ...]


def check_submission(
    bundle: Bundle,
    board: Experiment,
    *,
    store: Store | None = None,
    processes: int = 1,
    sandbox: str = "auto",
    progress: Progress | None = None,
) -> SubmissionResult:
    """Play a submission against the anchors of a board, or check its replays, and rate it.

    Args:
        bundle: the submission.
        board: an experiment with anchors.
        store: keeps the games; None keeps them in memory. Games of this submission already in it are not played again.
        processes: number of processes.
        sandbox: sandbox for the code of a bundle: "auto" uses one if available, "require" fails without one, "none"
            uses none.
        progress: called with (current task, steps done, total steps).

    Raises:
        ArenaError: the board has no anchors, an anchor has the submission's name, its spec may not be submitted, or it
            consists of replays and the board has no seed.
        AgentError: a sandbox is required but not available.
        CardenvsError: an agent cannot be made.
    """
    if bundle.agent is not None:
        for match in board.matches:
            check_agent(bundle, match.game)
    elif any(match.seed.is_drawn for match in board.matches):
        raise ArenaError(f"{board.name} has no seed, so its deals differ each time; replays need a board with a `seed`")
    guest = _guest(bundle, sandbox)
    matches = tuple(_against_anchors(match, bundle, guest, board.anchors) for match in board.matches)
    experiment = replace(board, name=f"{bundle.name} on {board.name}", matches=matches, stop=None, seconds=None)
    with contextlib.ExitStack() as stack:
        kept = store or stack.enter_context(Store())
        experiment = experiment.seeded(kept, resume=True)
        matches = experiment.matches
        if bundle.agent is None:
            played, faults = _enter_replays(kept, bundle, experiment, progress)
            experiment = replace(
                experiment, matches=tuple(matches[k] for k in played), titles=tuple(board.titles[k] for k in played)
            )
            remarks: list[str] = []
        else:
            faults, remarks = _play(kept, bundle, experiment, processes, progress)
        config = {"ratings": board.config["ratings"]} if "ratings" in board.config else {}
        stored = StoredExperiment(experiment.name, experiment.stored.matches, board.anchors, config)
        kept.begin_experiment(stored)
        found = board_of(kept, stored, intervals=board.intervals)
    for game in found.games:
        mine = next(behaviour for behaviour in game.behaviours if behaviour.name == bundle.name)
        forfeits = mine.outcomes.get("forfeit", 0)
        if mine.failures:
            kinds = ", ".join(f"{kind} {count}" for kind, count in mine.failures.items())
            remarks.append(f"{game.title}: {bundle.name} had failed tries: {kinds}")
        if forfeits:
            faults.append(f"{game.title}: {bundle.name} forfeited {forfeits} of its {game.summary.games} games")
    if guest is not None and guest.folder is not None and not guest.sandbox:
        why = "as asked" if sandbox == "none" else why_unavailable()
        remarks.append(f"{bundle.name} played without a sandbox ({why}): its code had all rights of your user account")
    return SubmissionResult(bundle.name, found, tuple(faults), tuple(remarks))


def _guest(bundle: Bundle, sandbox: str) -> Guest | None:
    """Return the submitted agent as a guest, or None for a submission of replays."""
    if bundle.agent is None:
        return None
    if bundle.folder is None:
        if sandbox == "require" and bundle.agent.partition(":")[0] in ("python", "process"):
            raise ArenaError(f"{one_line(bundle.agent)!r} is code on this machine; for a sandbox, put it in a bundle")
        return Guest(bundle.name)
    return Guest(bundle.name, str(bundle.folder), bundle.digest, chosen(sandbox))


def _against_anchors(match: Match, bundle: Bundle, guest: Guest | None, anchors: dict[str, float]) -> Match:
    """Return the match of the submission against the anchors of `match`, in which anchors do not meet each other."""
    held = [entry for entry in match.entries if entry.name in anchors]
    if not held:
        raise ArenaError(f"{match.game.name} has no anchors on this board; a submission is rated against anchors")
    if bundle.name in [entry.name for entry in held]:
        raise ArenaError(f"an anchor of this board is named {bundle.name!r}; choose another name")
    if guest is None or bundle.agent is None:
        entry = Entry(bundle.name, _PLAYED_ELSEWHERE)
    else:
        conditions = agent_conditions(bundle.agent, match.game, match.options)
        entry = Entry(bundle.name, bundle.agent, guest.digest, conditions)
    return match.changed(
        entries=(entry, *held),
        guard=AgentLimits() if guest is not None and match.guard is None else match.guard,
        guest=guest,
        schedule=Schedule("field", match.schedule.seating, (0,)),
    )


# -- an agent -----------------------------------------------------------------------------------------------------


def _play(
    store: Store, bundle: Bundle, experiment: Experiment, processes: int, progress: Progress | None
) -> tuple[list[str], list[str]]:
    tell = progress or (lambda what, done, total: None)
    experiment.run(store, resume=True, processes=processes, progress=lambda done, total: tell("playing", done, total))
    with Store() as again:
        short = [match.changed(deals=min(match.deals, _REPEATED_DEALS)) for match in experiment.matches]
        shorter = replace(experiment, matches=tuple(short))
        shorter.run(again, progress=lambda done, total: tell("repeating", done, total))
        remarks = []
        for title, match in zip(experiment.titles, short, strict=True):
            if any(_actions(store, match, record) != record.actions for record in again.records(match.id)):
                remarks.append(f"{title}: repeated games differ: an agent uses randomness other than its turn's seed")
    _, mismatches = verify(store, progress=lambda done, total: tell("playing again", done, total))
    return [str(mismatch) for mismatch in mismatches], remarks


def _actions(store: Store, match: Match, record: GameRecord) -> tuple[int, ...]:
    return store.game(match.id, record.deal, record.lineup).actions


# -- replays ------------------------------------------------------------------------------------------------------


def _enter_replays(
    store: Store, bundle: Bundle, experiment: Experiment, progress: Progress | None
) -> tuple[list[int], list[str]]:
    """Add the replays that are games of the board. Return the numbers of the matches with games, and the faults."""
    faults: list[str] = []
    found: list[dict[tuple[int, int], GameRecord]] = [{} for _ in experiment.matches]
    deals = [{match.deal_seed(deal): deal for deal in range(match.deals)} for match in experiment.matches]
    with contextlib.ExitStack() as stack:
        anchors = [stack.enter_context(_Anchors(match)) for match in experiment.matches]
        for done, path in enumerate(bundle.replays):
            if progress is not None:
                progress("playing again", done, len(bundle.replays))
            name = str(path.relative_to(bundle.folder)) if bundle.folder else str(path)
            try:
                replay = Replay.load(path)
                number = _match_of(replay, experiment.matches, name)
                record = _record_of(replay, anchors[number], deals[number], name)
            except CardenvsError as error:
                faults.append(one_line(str(error).replace(str(path), name)))
                continue
            if (record.deal, record.lineup) in found[number]:
                faults.append(f"{name}: a second game of deal {record.deal} in lineup {record.lineup}")
                continue
            found[number][record.deal, record.lineup] = record
    played = []
    for number, (title, match) in enumerate(zip(experiment.titles, experiment.matches, strict=True)):
        if not found[number]:
            continue
        faults += _missing(title, match, found[number])
        played.append(number)
        store.begin(match)
        for record in found[number].values():
            store.add(match, record)
    store.write()
    if not played:
        raise ArenaError("none of the replays is a game of this board: " + "; ".join(faults[:3]))
    return played, faults


def _match_of(replay: Replay, matches: Sequence[Match], name: str) -> int:
    for number, match in enumerate(matches):
        if replay.game.name == match.game.name and replay.game.make_options(**replay.options) == match.options:
            return number
    raise ArenaError(f"{name}: the board has no {replay.game.name} with these options")


def _record_of(replay: Replay, anchors: "_Anchors", deals: dict[int, int], name: str) -> GameRecord:
    """Return the record of a replay's game, once its setup and the anchors' moves are checked.

    Raises:
        ArenaError: not a valid game, or an anchor's moves differ.
    """
    match = anchors.match
    if replay.setup["deck"]:
        raise ArenaError(f"{name}: its cards were chosen by hand, but the board's come from seeds")
    deal = deals.get(replay.setup["seed"])
    if deal is None:
        raise ArenaError(
            f"{name}: its seed {replay.setup['seed']} is not the seed of any of the board's {match.deals} deals"
        )
    try:
        seating = tuple(match.names.index(player) for player in replay.players)
    except ValueError:
        raise ArenaError(f"{name}: its players are {list(replay.players)}; expected {list(match.names)}") from None
    if seating not in match.lineups:
        raise ArenaError(f"{name}: no lineup of the board seats {list(replay.players)} in this order")
    lineup = match.lineups.index(seating)
    decisions = anchors.check(replay, deal, lineup, name)
    return GameRecord(
        deal, lineup, replay.setup["seed"], seating, replay.returns, replay.actions, tuple(decisions),
        (0.0,) * len(seating), digest=replay.digest,
    )  # fmt: skip


class _Anchors:
    """The anchors of a match, queried again to check their moves in replays. A context manager."""

    def __init__(self, match: Match) -> None:
        """Prepare to check replays of `match`, in which agent 0 is the submission."""
        self.match = match
        self._made: dict[tuple[int, int], AgentProxy] = {}  # by agent and copy: the number of its seat at a table

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for proxy in self._made.values():
            proxy.close()

    def check(self, replay: Replay, deal: int, lineup: int, name: str) -> list[int]:
        """Check the anchors' moves in a replay and return the number of decisions by player.

        Raises:
            ArenaError: an anchor chooses another action, or the game is not over.
            CardenvsError: an anchor cannot be made, or an action is illegal.
        """
        seating, seeds = self.match.lineups[lineup], self.match.seat_seeds(deal, lineup)
        seated = {
            player: self._anchor(agent, seating[:player].count(agent))
            for player, agent in enumerate(seating)
            if agent != 0
        }
        state = replay.state_at(0)
        for player, anchor in seated.items():
            anchor.begin(state, player, seeds[player])
        decisions = [0] * len(seating)
        for ply, action in enumerate(replay.actions):
            player = action - FORFEIT if action >= FORFEIT else state.current_player
            if player in seated:
                fault = self._fault(seated[player], state, action)
                if fault is not None:
                    raise ArenaError(f"{name}: at action {ply} the anchor {replay.players[player]} {fault}")
            decisions[player] += 1
            state.apply(action)
            for anchor in seated.values():
                anchor.observe(state)
        for anchor in seated.values():
            anchor.end(state)
        if not state.is_terminal:
            raise ArenaError(f"{name}: the game is not over")
        return decisions

    def _anchor(self, agent: int, copy: int) -> AgentProxy:
        match = self.match
        if (agent, copy) not in self._made:
            self._made[agent, copy] = AgentProxy.of(
                match.specs[agent], match.game, match.options, match.guard, match.names[agent]
            )
        return self._made[agent, copy]

    def _fault(self, anchor: AgentProxy, state: State, action: int) -> str | None:
        """Return what is wrong with `action` as a move of an anchor, or None."""
        if action >= FORFEIT:
            return "is removed from the game"
        decision = anchor.decide(state)
        if decision.action == action:
            return None
        recorded = f"is recorded to choose {state.action_label(action)!r}"
        if decision.outcome != OK:
            return f"{recorded}, but fails: {decision.failures[-1].message}"
        return f"{recorded}, but chooses {state.action_label(decision.action)!r}"


def _missing(title: str, match: Match, found: dict[tuple[int, int], GameRecord]) -> list[str]:
    """Return a fault that names missing games, if any: replays must cover deals 0 to the last in every lineup."""
    deals = max(deal for deal, _ in found) + 1
    missing = [
        (deal, lineup) for deal in range(deals) for lineup in range(len(match.lineups)) if (deal, lineup) not in found
    ]
    if not missing:
        return []
    named = ", ".join(f"{deal}.{lineup}" for deal, lineup in missing[:5])
    return [f"{title}: {len(missing)} games of the first {deals} deals are missing (deal.lineup: {named}...)"]
