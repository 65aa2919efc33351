"""Checks of one position: legal lists, labels, candidates, folds, copies, observations, forfeits."""

import random
from collections import Counter
from collections.abc import Callable

import numpy as np

from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import FoldError, IllegalActionError
from cardenvs.core.events import OMNISCIENT, SPECTATOR
from cardenvs.core.results import ResultCheck
from cardenvs.core.state import State
from cardenvs.testing.case import Case, fail, sampled_ids
from cardenvs.testing.views import check_views

_MOST_CANDIDATES = 30  # candidates tried per state
_FORFEIT_AGAIN = 0.2  # probability of another forfeit at each turn after a forfeit


def check_legal_actions(case: Case, state: State) -> None:
    """Check that legal lists are ascending, unique and not empty, and agree with what `apply` accepts and rejects."""
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
    for action in sampled_ids(num_actions, state.ply):
        copy = state.clone()
        if action in legal:
            if state.explain_illegal(action):
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
            fail(case, copy, f"rejecting action {action} changed the state")
        return
    fail(case, copy, f"action {action} is not listed, but accepted")


def check_labels(case: Case, state: State) -> None:
    """Check that the labels of legal actions are unique and lead back to them."""
    labels = {action: state.action_label(action) for action in state.legal_actions()}
    if len({state.game.view.label_key(label) for label in labels.values()}) < len(labels):
        fail(case, state, f"two legal actions read the same: {labels}")
    for action, label in labels.items():
        try:
            back = state.action_from_label(f" {label.upper()} ")
        except IllegalActionError:
            back = None
        if back != action:
            fail(case, state, f"the label {label!r} of action {action} does not lead back to it")


def check_candidates(case: Case, state: State) -> None:
    """Check that candidates are unique and can be played action by action."""
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


def check_conservation(case: Case, state: State) -> None:
    """Check that every token is on the table once, and that conserved quantities have not changed."""
    wanted = Counter(int(token) for token in case.game.deck(case.options))
    found = state.table(OMNISCIENT).tokens()
    if case.keeps_tokens and found != wanted:
        fail(case, state, f"tokens lost {dict(wanted - found)}, tokens too many {dict(found - wanted)}")
    now, then = case.game.view.conserved(state.record), case.game.view.conserved(case.start().record)
    if now != then:
        fail(case, state, f"conserved quantities changed from {then} to {now}")


def check_fold(case: Case, state: State) -> None:
    """Check that folding a viewer's events gives that viewer's table; for OMNISCIENT, every face on it."""
    for viewer in (*range(state.num_players), SPECTATOR, OMNISCIENT):
        try:
            folded = state.folded_table(viewer)
        except FoldError as error:
            fail(case, state, f"viewer {viewer}: events contradict the table: {error}")
        if folded != state.table(viewer):
            wrong = folded.differences(state.table(viewer))
            fail(case, state, f"viewer {viewer}: events fold to another table: {wrong}")


def check_copies(case: Case, state: State) -> None:
    """Check that clones and saved states are equal to the original, independent of it, and play on in the same way."""
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
            fail(case, state, f"the {name} state plays on differently")
        if not np.array_equal(copy.event_rows(OMNISCIENT), reference.event_rows(OMNISCIENT)):
            fail(case, state, f"the {name} state has other events")


def check_observation(case: Case, state: State) -> None:
    """Check that observations are in the declared space, completely written, and share no memory."""
    layout = case.game.layout(case.options)
    for player in range(state.num_players):
        first = state.observation(player)
        if first.shape != (layout.size,) or first.dtype != layout.dtype:
            fail(case, state, f"observation of player {player} is {first.shape} {first.dtype}")
        outside = np.flatnonzero((first < layout.low) | (first > layout.high))
        if outside.size:
            fail(case, state, f"observation entry {outside[0]} of player {player} is {first[outside[0]]}")
        dirty = np.full(layout.size, 77, layout.dtype)
        case.game.engine_for(case.options).observe(state.records, 0, player, dirty)
        if not np.array_equal(dirty, first):
            fail(case, state, f"observe leaves entries unwritten: {np.flatnonzero(dirty != first)[:5]}")
        dirty[:] = 0
        if np.shares_memory(first, state.observation(player)):
            fail(case, state, "two observations share memory")


def check_forfeit(case: Case, state: State) -> None:
    """Check that after a forfeit the game ends or continues without that player, within its bounds.

    Some players who act later forfeit too. Nobody is paid or charged after leaving, and all returns keep their bounds
    and their sum.
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
    if wrong := ResultCheck(case.start()).fault(rest):
        fail(case, rest, f"after players {sorted(paid)} have forfeited, {wrong.removeprefix(f'{case.game.name}: ')}")


STATE_CHECKS: tuple[Callable[[Case, State], None], ...] = (
    check_legal_actions,
    check_labels,
    check_candidates,
    check_conservation,
    check_fold,
    check_copies,
    check_observation,
    check_forfeit,
    check_views,
)
