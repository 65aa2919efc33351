"""`check_game`: everything that a game promises, over random options, seeds and random play.

Hypothesis draws the cases, so a failure is shrunk to simple options and small seeds. Each check is a function of one
played game (a `Case`); what they need to count over many games is in `Report`.
"""

import dataclasses
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.special import chdtrc  # of the upper tail

from cardenvs.agents.base import Turn
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import CardenvsError, IllegalActionError, OptionError
from cardenvs.core.events import KIND, OMNISCIENT, SOURCE, SPECTATOR, TOKEN, UNKNOWN, FoldedTable, Op
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.registry import get_game
from cardenvs.core.state import State
from cardenvs.llm.prompt import PromptSettings, write_prompt
from cardenvs.testing import doors, faces, knowledge, processes
from cardenvs.testing.recoverable import check_recoverable

_LARGE = 250  # events of a game; one with more is looked at in a sample unless the check is to be thorough
_MOST_EVENTS = 6000  # plies behind those states in all, about: each is looked at with all its history
_MOST_CANDIDATES = 30  # candidates of one state that are tried
_MOST_IDS = 300  # action ids of one state that are tried; a random sample beyond
_DOORS_EVERY = 3  # about one in this many games has all its doors tried
_TOLERANCE = 1e-9
_FORFEIT_AGAIN = 0.2  # chance that another player forfeits too, at each turn after a forfeit
_PROMPTS = PromptSettings(rules=False)  # the rules are a file


@dataclasses.dataclass(frozen=True)
class Effort:
    """How much is looked at: games with all options at their defaults, states of one game, seconds in another mode."""

    default_games: int = 10
    states: int = 12
    seconds: float = processes.SECONDS


_FULL, _SAMPLE = Effort(), Effort(default_games=2, states=4, seconds=1.5)
_SAMPLE_EXAMPLES = 2  # at most, of a large game


class ConformanceError(AssertionError):
    """A game breaks a promise; the message says which, in which position."""


@dataclasses.dataclass
class Report:
    """What a run of `check_game` looked at.

    Attributes:
        games, states, twins: how many were played, looked at closely, determinized.
        phases: states seen of each phase.
        hidden: by (phase, place): twins in which the hidden tokens of the place (a pile, or the next one to come out
            of it) could differ from the real ones, and did.
        longest: most plies of a game.
        told: what events had shown players, by what they observed (recoverable.py).
    """

    games: int = 0
    states: int = 0
    twins: int = 0
    longest: int = 0
    phases: Counter = dataclasses.field(default_factory=Counter)
    hidden: dict[tuple[str, str], list[int]] = dataclasses.field(default_factory=dict)
    told: dict[tuple, tuple] = dataclasses.field(default_factory=dict, repr=False, compare=False)

    def count(self, phase: str, place: str, differs: bool) -> None:
        """Note a twin in which what is hidden in `place` could differ from the real one, and whether it did."""
        both = self.hidden.setdefault((phase, place), [0, 0])
        both[0] += 1
        both[1] += differs


@dataclasses.dataclass(frozen=True)
class Case:
    """One game to play: options, the deal's seed, and the seed of the random choices."""

    game: Game
    options: Options
    seed: int
    play_seed: int

    def __repr__(self) -> str:
        return f"{self.game.name} {self.options.changed()} seed={self.seed} play_seed={self.play_seed}"

    def start(self) -> State:
        """The state at the start."""
        return self.game.new_state(seed=self.seed, **self.options.as_dict())

    def positions(self) -> Iterator[State]:
        """The state before every action, and at the end; the same object, moving on.

        Play is random; in every second game the game's own policies choose most actions.
        """
        state, chooser = self.start(), random.Random(self.play_seed)
        bound = self.game.max_length(self.options)
        while True:
            yield state
            if state.is_terminal:
                return
            if state.ply >= bound:
                raise ConformanceError(f"{self}: not over after {bound} plies, the bound the game states")
            legal = state.legal_actions()
            if not legal:
                raise ConformanceError(f"{self}: no legal action at ply {state.ply}, but the game is not over")
            state.apply(self._choose(state, legal, chooser))

    def is_large(self) -> bool:
        """Whether the game has so many events that each position takes long to check."""
        *_, last = self.positions()
        return len(last.event_rows(OMNISCIENT)) > _LARGE

    def _choose(self, state: State, legal: list[int], chooser: random.Random) -> int:
        policies = sorted(self.game.policies)
        if not policies or self.play_seed % 2 == 0 or chooser.random() < 0.2:
            return chooser.choice(legal)
        name = chooser.choice(policies)
        action = state.policy_action(name, chooser.getrandbits(32))
        if action not in legal:
            raise ConformanceError(f"{self} ply={state.ply}: policy {name} chooses {action}, legal are {legal}")
        return action

    def sampled(self, most_states: int) -> Iterator[State]:
        """Positions spread over the game, `most` at most, and the first one of each phase."""
        phases = [state.phase for state in self.positions()]
        length = len(phases)
        most = max(3, min(most_states, length, _MOST_EVENTS // length))
        wanted = set(np.linspace(0, length - 1, most).astype(int).tolist())
        wanted |= {phases.index(phase) for phase in phases}
        return (state for k, state in enumerate(self.positions()) if k in wanted)


def check_game(
    game: Game | str, *, examples: int = 25, seed: int = 0, subprocesses: bool = True, thorough: bool = False
) -> Report:
    """Check that a registered game keeps every promise of the suite.

    Of a large game, one with more than 250 events, a sample is looked at: fewer games, options and positions.

    Args:
        game: the Game or its name.
        examples: games played with random options, besides some with the defaults.
        seed: of the choice of cases.
        subprocesses: also play a sample with the compiler off and with bounds checked, each in a process of its own.
        thorough: look at large games as closely as at small ones, which takes minutes.

    Returns:
        what was looked at.

    Raises:
        ConformanceError: a promise is broken.
    """
    game = get_game(game) if isinstance(game, str) else game
    report, effort = Report(), _FULL
    first = next(_default_cases(game, seed, 1))
    if first.start().is_terminal:
        raise ConformanceError(f"{first}: the deal ends the game; somebody must be to act")
    if not thorough and any(case.is_large() for case in _default_cases(game, seed, 2)):
        effort, examples = _SAMPLE, min(examples, _SAMPLE_EXAMPLES)
    for case in _default_cases(game, seed, effort.default_games):
        if case.start().is_terminal:
            raise ConformanceError(f"{case}: the deal ends the game; somebody must be to act")
        check_case(case, report, effort)
    _for_random_cases(game, examples, seed, lambda case: check_case(case, report, effort))
    _check_rare_phases(game, seed, report, effort)
    _check_seeds_differ(game)
    _check_hidden_places_vary(game, report)
    if game.rules.deal_enumerator is not None:
        _check_uniform(game)
    faces.check_pettingzoo(game)
    faces.check_single_seat(game)
    if subprocesses:
        cases = _default_cases(game, seed + 1, min(3, effort.default_games))
        processes.check_other_modes(game, [*cases], effort.seconds)
    return report


def check_case(case: Case, report: Report, effort: Effort = _FULL) -> None:
    """All checks of one played game."""
    report.games += 1
    trackers = [knowledge.Tracker(case.game, case.options) for _ in range(case.options.num_players)]
    for state in case.sampled(effort.states):
        report.states += 1
        report.phases[_phase(case, state)] += 1
        for check in STATE_CHECKS:
            check(case, state)
        for player in range(state.num_players):
            check_no_leak(case, state, player, report)
            if wrong := knowledge.check_twins(state, player, trackers[player], case.play_seed + 7 * state.ply):
                fail(case, state, wrong)
    check_deal(case)
    check_returns(case)
    check_recoverable(case, report.told)
    report.longest = max(report.longest, sum(1 for _ in case.positions()) - 1)
    faces.check_aec(case)
    faces.check_batch(case)
    if (case.seed + case.play_seed) % _DOORS_EVERY == _DOORS_EVERY - 1:
        doors.check_doors(case)


def _default_cases(game: Game, seed: int, number: int) -> Iterator[Case]:
    return (Case(game, game.make_options(), 1000 * seed + k, k) for k in range(number))


def _for_random_cases(game: Game, examples: int, seed: int, check: Callable[[Case], None]) -> None:
    """Call `check` for games with random options."""
    import hypothesis

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=examples,
        deadline=None,
        database=None,
        report_multiple_bugs=False,  # several at once would come as an ExceptionGroup
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(_case_strategy(game))
    def run(case: Case) -> None:
        check(case)

    run()


def _check_rare_phases(game: Game, seed: int, report: Report, effort: Effort, most_games: int = 200) -> None:
    """Look for the phases not seen so far in further games, and check those that have one."""

    def check(case: Case) -> None:
        missing = set(game.phases) - set(report.phases)
        if missing and any(state.phase in missing for state in case.positions()):
            check_case(case, report, effort)

    if set(game.phases) - set(report.phases):
        _for_random_cases(game, most_games, seed + 1, check)


def _case_strategy(game: Game) -> Any:
    """Hypothesis cases: each option at its default or anywhere in its range (near the low end if it is wide)."""
    from hypothesis import assume
    from hypothesis import strategies as st

    seeds = st.integers(0, 2**63 - 1)

    @st.composite
    def cases(draw: Callable) -> Case:
        values = {f.name: draw(_option_strategy(f, st)) for f in dataclasses.fields(game.options)}
        try:
            options = game.make_options(**values)
            options.check_environment()
        except OptionError:
            assume(False)
        return Case(game, options, draw(seeds), draw(st.integers(0, 2**32)))

    return cases()


def _option_strategy(field: dataclasses.Field, st: Any) -> Any:
    meta, default = field.metadata, st.just(field.default)
    if meta["choices"]:
        return st.sampled_from([field.default, *meta["choices"]])
    if isinstance(field.default, bool):
        return st.booleans()
    low = 0 if meta["low"] is None else meta["low"]
    high = low + 200 if meta["high"] is None else min(meta["high"], low + 200)
    number = st.integers(low, high)
    if meta["length"] is not None:
        return default | st.lists(number, max_size=meta["length"])
    return default | (number | st.none() if meta["optional"] else number)


def fail(case: Case, state: State, what: str) -> None:
    """Raise ConformanceError for a position."""
    raise ConformanceError(f"{case} ply={state.ply}: {what}\nactions so far: {state.actions}")


# ---------------------------------------------------------------------------------------------------------------
# Checks of one state


def check_legal_actions(case: Case, state: State) -> None:
    """Ascending, unique, non-empty until the end; each listed action is accepted, each other id refused."""
    legal = state.legal_actions()
    if state.is_terminal:
        if legal:
            fail(case, state, f"a terminal state lists actions {legal}")
        return
    if legal != sorted(set(legal)):
        fail(case, state, f"legal actions are not ascending and unique: {legal}")
    num_actions = case.game.num_actions(case.options)
    if not legal or legal[0] < 0 or legal[-1] >= num_actions or len(legal) > case.game.max_legal(case.options):
        fail(case, state, f"legal actions {legal} do not fit num_actions {num_actions} and max_legal")
    before = state.record_bytes()
    for action in _ids(num_actions, state.ply):
        copy = state.clone()
        if action in legal:
            if case.game.engine.explain(state._states, 0, action) != 0:
                fail(case, state, f"explain_illegal finds the listed action {action} illegal")
            copy.apply(action)
            if state.record_bytes() != before:
                fail(case, state, f"applying {action} to a clone changed the original")
        else:
            _check_refused(case, copy, action, before)


def _check_refused(case: Case, copy: State, action: int, before: bytes) -> None:
    if not copy.explain_illegal(action):
        fail(case, copy, f"action {action} is not listed, but explain_illegal gives no reason")
    try:
        copy.apply(action)
    except IllegalActionError:
        if copy.record_bytes() != before:
            fail(case, copy, f"refusing action {action} changed the state")
        return
    fail(case, copy, f"action {action} is not listed, but accepted")


def _ids(num_actions: int, seed: int) -> list[int]:
    if num_actions <= _MOST_IDS:
        return list(range(num_actions))
    return random.Random(seed).sample(range(num_actions), _MOST_IDS)


def check_labels(case: Case, state: State) -> None:
    """Labels are unique among the legal actions and lead back to them."""
    labels = {action: state.action_label(action) for action in state.legal_actions()}
    if len({label.lower() for label in labels.values()}) < len(labels):
        fail(case, state, f"two legal actions read the same: {labels}")
    for action, label in labels.items():
        try:
            back = state.action_from_label(f" {label.upper()} ")
        except IllegalActionError:
            back = None
        if back != action:
            fail(case, state, f"the label {label!r} of action {action} does not lead back to it")


def check_candidates(case: Case, state: State) -> None:
    """Candidates are unique; each can be done action by action, by one player; the forced action is legal."""
    if state.is_terminal:
        return
    candidates = state.candidates()
    if len({one.label for one in candidates}) < len(candidates):
        fail(case, state, f"two candidates read the same: {sorted(one.label for one in candidates)}")
    if not candidates or len({one.actions for one in candidates}) < len(candidates):
        fail(case, state, f"no candidates, or two that do the same: {candidates}")
    for candidate in random.Random(state.ply).sample(candidates, min(_MOST_CANDIDATES, len(candidates))):
        copy = state.clone()
        for action in candidate.actions:
            if copy.current_player != state.current_player or action not in copy.legal_actions():
                fail(case, state, f"candidate {candidate.label!r}: {action} of {candidate.actions} cannot be done")
            copy.apply(action)
        if not candidate.actions:
            fail(case, state, f"candidate {candidate.label!r} has no actions")
    if state.forced_action() not in state.legal_actions():
        fail(case, state, f"the forced action {state.forced_action()} is not legal")


def check_conservation(case: Case, state: State) -> None:
    """Every token is somewhere exactly once; conserved quantities stay what they were at the start."""
    wanted = Counter(int(token) for token in case.game.deck(case.options))
    found = state.table(OMNISCIENT).tokens()
    if found != wanted:
        fail(case, state, f"tokens lost {dict(wanted - found)}, tokens too many {dict(found - wanted)}")
    now, then = case.game.view.conserved(state.record), case.game.view.conserved(case.start().record)
    if now != then:
        fail(case, state, f"conserved quantities changed from {then} to {now}")


def check_fold(case: Case, state: State) -> None:
    """Folding a viewer's events gives that viewer's table."""
    for viewer in (*range(state.num_players), SPECTATOR):
        folded, table = state.folded_table(viewer), state.table(viewer)
        if folded != table:
            fail(case, state, f"viewer {viewer}: events fold to another table: {folded.differences(table)}")


def check_copies(case: Case, state: State) -> None:
    """Clones and saved states are equal, independent, and go on alike."""
    saved = case.game.from_bytes(state.to_bytes())
    for name, copy in (("clone", state.clone()), ("saved", saved)):
        if copy.record_bytes() != state.record_bytes() or copy.actions != state.actions:
            fail(case, state, f"the {name} state differs")
        if state.is_terminal:
            continue
        reference = state.clone()
        action = state.legal_actions()[-1]
        copy.apply(action)
        reference.apply(action)
        if copy.record_bytes() != reference.record_bytes():
            fail(case, state, f"the {name} state goes on differently")
        if not np.array_equal(copy.event_rows(OMNISCIENT), reference.event_rows(OMNISCIENT)):
            fail(case, state, f"the {name} state has other events")


def check_observation(case: Case, state: State) -> None:
    """Every player's observation lies in the declared space, is written whole, and belongs to the caller."""
    layout = case.game.layout(case.options)
    for player in range(state.num_players):
        first = state.observation(player)
        if first.shape != (layout.size,) or first.dtype != layout.dtype:
            fail(case, state, f"observation of player {player} is {first.shape} {first.dtype}")
        outside = np.flatnonzero((first < layout.low) | (first > layout.high))
        if outside.size:
            fail(case, state, f"observation entry {outside[0]} of player {player} is {first[outside[0]]}")
        dirty = np.full(layout.size, 77, layout.dtype)
        case.game.engine.observe(state._states, 0, player, dirty)
        if not np.array_equal(dirty, first):
            fail(case, state, f"observe leaves entries unwritten: {np.flatnonzero(dirty != first)[:5]}")
        dirty[:] = 0
        if np.shares_memory(first, state.observation(player)):
            fail(case, state, "two observations share memory")


def check_forfeit(case: Case, state: State) -> None:
    """The player to act may forfeit; the game then ends or goes on without that player, within its bound.

    Some of those who act later forfeit too.
    """
    if state.is_terminal:
        return
    rest, chooser = state.clone(), random.Random(state.ply)
    paid: dict[int, float] = {}
    while not rest.is_terminal:
        player = rest.current_player
        if player in paid:
            fail(case, rest, f"player {player} forfeited, but is to act")
        if rest.ply > case.game.max_length(case.options) + state.num_players:
            fail(case, rest, "not over in time after a forfeit")
        if paid and chooser.random() >= _FORFEIT_AGAIN:
            rest.apply(chooser.choice(rest.legal_actions()))
            continue
        rest.apply(FORFEIT + player)
        paid[player] = rest.returns[player]
        if rest.active[player] and not rest.is_terminal:
            fail(case, state, f"player {player} forfeited, but is still active")
    for player, amount in paid.items():
        if rest.returns[player] != amount:
            fail(case, rest, f"player {player} forfeited, but is paid or charged after leaving")


STATE_CHECKS: tuple[Callable[[Case, State], None], ...] = (
    check_legal_actions,
    check_labels,
    check_candidates,
    check_conservation,
    check_fold,
    check_copies,
    check_observation,
    check_forfeit,
)


# ---------------------------------------------------------------------------------------------------------------
# Checks of a whole game


def check_returns(case: Case) -> None:
    """Returns are the summed rewards, lie in their bounds and add up as promised."""
    sums = np.zeros(case.options.num_players)
    state = case.start()
    for state in case.positions():
        if state.ply:
            sums += state.rewards
    promise = case.game.returns(case.options)
    returns = np.array(state.returns)
    if not np.allclose(returns, sums, atol=_TOLERANCE):
        fail(case, state, f"returns {returns} are not the summed rewards {sums}")
    if (returns < promise.low - _TOLERANCE).any() or (returns > promise.high + _TOLERANCE).any():
        fail(case, state, f"returns {returns} leave the bounds {promise.low} to {promise.high}")
    if promise.total is not None and abs(returns.sum() - promise.total) > _TOLERANCE * max(1, abs(returns).max()):
        fail(case, state, f"returns {returns} add up to {returns.sum()}, not to {promise.total}")


def _check_seeds_differ(game: Game) -> None:
    states = {game.new_state(seed=seed).table(OMNISCIENT).normal() for seed in range(30)}
    if len(states) < 2:
        raise ConformanceError(f"{game.name}: thirty seeds deal the same cards")
    if game.new_state(seed=5).record_bytes() != game.new_state(seed=5).record_bytes():
        raise ConformanceError(f"{game.name}: the same seed deals different cards")


# ---------------------------------------------------------------------------------------------------------------
# No leak


def check_deal(case: Case) -> None:
    """The events of the deal tell a player nothing about the tokens they do not show that player."""
    tokens, chooser, options = case.game.deck(case.options).tolist(), random.Random(case.seed), case.options.as_dict()
    chooser.shuffle(tokens)
    state = case.game.new_state(seed=case.seed, deck=tokens, **options) if tokens else case.start()
    for player in range(state.num_players):
        seen = set(state.event_rows(player)[:, TOKEN].tolist())
        other_tokens = tokens.copy()
        for back in sorted({case.game.view.token_back(token) for token in tokens}):
            places = [
                place
                for place, token in enumerate(tokens)
                if token not in seen and case.game.view.token_back(token) == back
            ]
            for place, other_place in zip(places, chooser.sample(places, len(places)), strict=True):
                other_tokens[place] = tokens[other_place]
        other = case.game.new_state(seed=case.seed, deck=other_tokens or None, **options)
        told, other_told = (_without_telling(case.game, s.event_rows(player)) for s in (state, other))
        if told != other_told:
            fail(case, state, f"the deal shows player {player} what is hidden: {told} {other_told}")


def _without_telling(game: Game, rows: np.ndarray) -> list[list[int]]:
    """The rows whose kinds do not say of themselves that they tell something hidden."""
    return [row for row in rows.tolist() if not game.table.kinds[row[KIND]].reveals_hidden_value]


def check_no_leak(case: Case, state: State, player: int, report: Report) -> None:
    """Nothing a player gets changes when what it cannot know is re-dealt; what it has seen stays where it lies."""
    known = seen_by(state, player)
    for k in range(2):
        twin = state.determinize(player, seed=(case.play_seed + 7 * state.ply + k) % 2**62)
        report.twins += 1
        for name, value in seen_by(twin, player).items():
            if value != known[name]:
                fail(case, state, f"{name} of player {player} depends on what is hidden:\n{known[name]}\n{value}")
        if twin.ply:
            fail(case, state, "a twin says how many actions there were, of which some may be hidden")
        if int(twin.record.seed) != twin.seed:
            fail(case, state, "determinize leaves the seed, and with it the chance to come, as it was")
        _check_placed(case, state, twin, player)
        if twin.determinize(player, 1).record_bytes() != state.determinize(player, 1).record_bytes():
            fail(case, state, f"a twin of player {player} depends on where the hidden tokens really lie")
        _count_variation(case, state, twin, player, report)
        _check_next_events(case, state, twin, player, report)


def seen_by(state: State, player: int) -> dict[str, Any]:
    """All that reaches a player in a state, by name, in comparable form."""
    to_act = state.current_player == player
    seen: dict[str, Any] = {
        "observation": state.observation(player).tobytes(),
        "view": repr(state.view(player)),
        "facts": repr(state.facts(player)),
        "rendering": state.render(player),
        "recap": state.recap(player),
        "information state": state.information_state_key(player),
        "rewards": (state.rewards, state.returns, state.active),
    }
    if to_act:
        num_actions = state.game.num_actions(state.options)
        legal = np.zeros(state.game.max_legal(state.options), np.int32)
        rng = np.zeros(4, np.uint64)
        seen["legal actions"] = state.legal_actions()
        seen["candidates"] = state.candidates()
        seen["forced action"] = state.forced_action()
        seen["prompt"] = write_prompt(Turn(state, 0), _PROMPTS).messages
        ids = _ids(num_actions, sum(state.legal_actions()))
        seen["reasons"] = [state.explain_illegal(action) for action in ids]
        for name in state.game.policies:
            seen[f"policy {name}"] = int(state.game.engine.act(name)(state._states, 0, 1, rng, legal))
    return seen


def _check_placed(case: Case, state: State, twin: State, player: int) -> None:
    """Every card that the player's events place lies there in the twin too."""
    folded, placed = state.folded_table(player), twin.table(OMNISCIENT)
    if placed.tokens() != state.table(OMNISCIENT).tokens():
        fail(case, state, f"the twin of player {player} has other tokens: {dict(placed.tokens())}")
    for number, (pile, owner) in enumerate(case.game.table.pile_of):
        known, real = folded.piles[number], placed.piles[number]
        where = pile.name if owner is None else f"{pile.name} of player {owner}"
        if len(known) != len(real):
            fail(case, state, f"{where} holds {len(real)} tokens in the twin; player {player} counts {len(known)}")
        if pile.ordered:
            moved = [a for a, b in zip(known, real, strict=True) if a not in (UNKNOWN, b)]
        else:
            moved = sorted((Counter(t for t in known if t != UNKNOWN) - Counter(real)).elements())
        if moved:
            fail(case, state, f"player {player} knows tokens {moved} in {where}; the twin has them elsewhere")


def _count_variation(case: Case, state: State, twin: State, player: int, report: Report) -> None:
    """Count, by phase and pile, whether the hidden tokens of the twin differ from the real ones."""
    knows, real, other = state.table(player), state.table(OMNISCIENT), twin.table(OMNISCIENT)
    hidden = [pile.count(UNKNOWN) for pile in knows.piles]
    for number, (pile, _) in enumerate(case.game.table.pile_of):
        movable = sum(hidden) > (hidden[number] if not pile.ordered else 1)
        if hidden[number] and movable and _distinct_hidden(knows, real) > 1:
            report.count(_phase(case, state), pile.name, real.normal()[0][number] != other.normal()[0][number])


def _distinct_hidden(knows: FoldedTable, real: FoldedTable) -> int:
    return len(real.tokens() - knows.tokens())


def _check_hidden_places_vary(game: Game, report: Report) -> None:
    for (phase, pile), (could, did) in report.hidden.items():
        if could >= 20 and did == 0:
            raise ConformanceError(
                f"{game.name}: in phase {phase}, determinize never changes the hidden tokens of {pile} ({could} twins)"
            )
    for phase in game.hidden_phases:
        if report.phases[phase] and not any(seen == phase for seen, _ in report.hidden):
            raise ConformanceError(f"{game.name}: phase {phase} is said to hide something, but hides nothing")


def _check_next_events(case: Case, state: State, twin: State, player: int, report: Report) -> None:
    """An action that shows a player no new token reveals nothing else about what is hidden."""
    if state.is_terminal:
        return
    for action in random.Random(state.ply).sample(state.legal_actions(), min(3, len(state.legal_actions()))):
        after, twin_after = state.clone(), twin.clone()
        try:
            twin_after.apply(action)
        except IllegalActionError:
            continue  # what another player holds is hidden, and so is what that player may do
        after.apply(action)
        _count_draws(case, state, (after, twin_after), player, report)
        told, twin_told = _quiet_rows(state, after, player), _quiet_rows(twin, twin_after, player)
        if told is not None and twin_told is not None and told != twin_told:
            fail(case, state, f"the events of action {action} show player {player} what is hidden: {told} {twin_told}")


def _count_draws(case: Case, state: State, after: tuple[State, State], player: int, report: Report) -> None:
    """Count whether the first token that comes to `player`'s sight out of a hidden pile of nobody's differs."""
    knows, seen = state.table(player), len(state.event_rows(player))
    if _distinct_hidden(knows, state.table(OMNISCIENT)) < 2:
        return
    rows = [one.event_rows(player)[seen:].tolist() for one in after]
    for row, twin_row in zip(*rows, strict=False):
        if case.game.table.kinds[row[KIND]].op == Op.MOVE and row[TOKEN] != UNKNOWN:
            pile, owner = case.game.table.pile_of[row[SOURCE]]  # out of a hand comes what the action says
            if owner is None and set(knows.piles[row[SOURCE]]) == {UNKNOWN}:
                report.count(_phase(case, state), f"the next of {pile.name}", row[TOKEN] != twin_row[TOKEN])
                return


def _quiet_rows(before: State, after: State, player: int) -> list | None:
    """The new events that `player` sees, if they show no token and the game goes on, else None."""
    rows = after.event_rows(player)[len(before.event_rows(player)) :]
    quiet = _without_telling(before.game, rows)
    if after.is_terminal or len(quiet) < len(rows) or any(row[TOKEN] != UNKNOWN for row in quiet):
        return None
    return quiet


# ---------------------------------------------------------------------------------------------------------------
# Uniformity, where the deals can be listed


def _check_uniform(game: Game, positions: int = 6, draws: int = 600) -> None:
    """determinize draws the deals that fit what a player knows as often as chance would deal them (chi-square)."""
    for k in range(positions):
        case = Case(game, game.make_options(), k, k)
        states = [state.clone() for state in case.positions() if not state.is_terminal]
        state = states[k % len(states)]
        for player in range(state.num_players):
            wanted = _consistent_deals(case, state, player)
            found = Counter(state.determinize(player, seed).table(OMNISCIENT).normal() for seed in range(draws))
            if set(found) - set(wanted):
                fail(case, state, f"determinize deals what player {player} knows to be impossible")
            _check_chi_square(case, state, wanted, found, draws)


def _consistent_deals(case: Case, state: State, player: int) -> dict[tuple, float]:
    """The probability of each table that fits all that `player` has seen."""
    key = state.information_state_key(player)
    weights: dict[tuple, float] = defaultdict(float)
    for deck, probability in case.game.enumerate_deals(**case.options.as_dict()):
        other = case.game.new_state(seed=0, deck=deck, **case.options.as_dict())
        try:
            for action in state.actions:
                other.apply(action)
        except CardenvsError:
            continue
        if other.information_state_key(player) == key:
            weights[other.table(OMNISCIENT).normal()] += probability
    total = sum(weights.values())
    return {table: weight / total for table, weight in weights.items()}


def _check_chi_square(case: Case, state: State, wanted: dict, found: Counter, draws: int) -> None:
    statistic = sum((found[table] - draws * p) ** 2 / (draws * p) for table, p in wanted.items())
    freedom = len(wanted) - 1
    if freedom and chdtrc(freedom, statistic) < 1e-6:
        fail(case, state, f"determinize is not uniform: chi-square {statistic:.1f} with {freedom} degrees of freedom")


def _phase(case: Case, state: State) -> str:
    phase = state.phase
    if phase not in case.game.phases:
        fail(case, state, f"phase {phase!r} is not one of the game's {case.game.phases}")
    return phase
