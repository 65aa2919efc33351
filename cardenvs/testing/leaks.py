"""Checks for leaks: nothing that a player gets depends on what it cannot know."""

import random
from collections import Counter
from typing import Any

import numpy as np

from cardenvs.agents.base import Turn
from cardenvs.core.errors import IllegalActionError
from cardenvs.core.events import KIND, OMNISCIENT, SOURCE, TOKEN, UNKNOWN, Op
from cardenvs.core.fold import FoldedTable
from cardenvs.core.game import Game
from cardenvs.core.state import State
from cardenvs.llm.prompt import PromptSettings, write_prompt
from cardenvs.testing.case import Case, ConformanceError, Report, fail, phase_of, sampled_ids

_PROMPTS = PromptSettings(rules=False)  # the rules are a constant text
_ENOUGH = 20  # positions, to conclude that nothing varies


def check_deal(case: Case) -> None:
    """Check that the events of the deal reveal nothing to a player about tokens that they do not show it."""
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
        rows, other_rows = (_undeclared(case.game, s.event_rows(player)) for s in (state, other))
        if rows != other_rows:
            fail(case, state, f"the deal shows player {player} what is hidden: {rows} {other_rows}")


def _undeclared(game: Game, rows: np.ndarray) -> list[list[int]]:
    """Return the rows without events that are declared to reveal a hidden value."""
    return [row for row in rows.tolist() if not game.table.kinds[row[KIND]].reveals_hidden_value]


def check_no_leak(case: Case, state: State, player: int, report: Report) -> None:
    """Check that nothing a player gets changes in a twin, and that the tokens it has seen stay in place."""
    known = seen_by(state, player)
    for k in range(2):
        twin = state.determinize(player, seed=(case.play_seed + 7 * state.ply + k) % 2**62)
        report.twins += 1
        for name, value in seen_by(twin, player).items():
            if value != known[name]:
                fail(case, state, f"{name} of player {player} depends on what is hidden:\n{known[name]}\n{value}")
        if twin.ply:
            fail(case, state, "a twin reveals how many actions there were, and some may be hidden")
        if int(twin.record.seed) != twin.seed:
            fail(case, state, "determinize does not set the new seed, so the twin reveals future chance")
        _check_placed(case, state, twin, player)
        if twin.determinize(player, 1).record_bytes() != state.determinize(player, 1).record_bytes():
            fail(case, state, f"a twin of player {player} depends on where the hidden tokens really lie")
        _count_variation(case, state, twin, player, report)
        _check_next_events(case, state, twin, player, report)


def seen_by(state: State, player: int) -> dict[str, Any]:
    """Return everything that a player gets in a state, by name, in comparable form."""
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
        seen["prompt"] = write_prompt(Turn(state, 0), _PROMPTS).messages
        ids = sampled_ids(num_actions, sum(state.legal_actions()))
        tried = (*state.legal_actions()[:2], *ids[:2])
        seen["verdicts"] = [state.validate(player, {"action": action}) for action in tried]
        seen["reasons"] = [state.explain_illegal(action) for action in ids]
        for name in state.game.policies:
            seen[f"policy {name}"] = int(state.game.engine.act(name)(state.records, 0, 1, rng, legal))
    return seen


def _check_placed(case: Case, state: State, twin: State, player: int) -> None:
    """Check that every token whose place the player's events show is in the same place in the twin."""
    folded, placed = state.folded_table(player), twin.table(OMNISCIENT)
    if case.keeps_tokens and placed.tokens() != state.table(OMNISCIENT).tokens():
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
    """Count by phase and place whether the hidden tokens and hidden counters of the twin differ from the real ones."""
    knows, real, other = state.table(player), state.table(OMNISCIENT), twin.table(OMNISCIENT)
    hidden = [pile.count(UNKNOWN) for pile in knows.piles]
    for number, (pile, _) in enumerate(case.game.table.pile_of):
        movable = sum(hidden) > (hidden[number] if not pile.ordered else 1)
        if hidden[number] and movable and _distinct_hidden(knows, real) > 1:
            report.count(phase_of(case, state), pile.name, real.normal()[0][number] != other.normal()[0][number])
    for number, (counter, _) in enumerate(case.game.table.counter_of):
        if knows.counters[number] is None:
            report.count(phase_of(case, state), counter.name, real.counters[number] != other.counters[number])


def _distinct_hidden(knows: FoldedTable, real: FoldedTable) -> int:
    return len(real.tokens() - knows.tokens())


def check_hidden_places_vary(game: Game, report: Report) -> None:
    """Check that what is hidden in every place differed in some twin, in every phase in which it could."""
    for (phase, pile), (could, did) in report.hidden.items():
        if could >= _ENOUGH and did == 0:
            raise ConformanceError(
                f"{game.name}: in phase {phase}, determinize never changes what is hidden in {pile} ({could} twins)"
            )
    for phase in game.hidden_phases:
        if report.phases[phase] >= _ENOUGH and not any(seen == phase for seen, _ in report.hidden):
            raise ConformanceError(f"{game.name}: phase {phase} is in hidden_phases, but hides nothing")


def _check_next_events(case: Case, state: State, twin: State, player: int, report: Report) -> None:
    """Check that an action whose events show a player no new token reveals nothing else that is hidden."""
    if state.is_terminal:
        return
    for action in random.Random(state.ply).sample(state.legal_actions(), min(3, len(state.legal_actions()))):
        after, twin_after = state.clone(), twin.clone()
        try:
            twin_after.apply(action)
        except IllegalActionError:
            continue  # another player's hand differs in the twin, and so may its legal actions
        after.apply(action)
        _count_draws(case, state, (after, twin_after), player, report)
        rows, twin_rows = _quiet_rows(state, after, player), _quiet_rows(twin, twin_after, player)
        if rows is not None and twin_rows is not None and rows != twin_rows:
            fail(case, state, f"the events of action {action} show player {player} what is hidden: {rows} {twin_rows}")


def _count_draws(case: Case, state: State, after: tuple[State, State], player: int, report: Report) -> None:
    """Count whether the first token that `player` sees leaving a hidden, unowned pile differs in the twin."""
    knows, seen = state.table(player), len(state.event_rows(player))
    if _distinct_hidden(knows, state.table(OMNISCIENT)) < 2:
        return
    rows = [one.event_rows(player)[seen:].tolist() for one in after]
    for row, twin_row in zip(*rows, strict=False):
        if case.game.table.kinds[row[KIND]].op == Op.MOVE and row[TOKEN] != UNKNOWN:
            pile, owner = case.game.table.pile_of[row[SOURCE]]  # an action chooses which token leaves a hand
            if owner is None and set(knows.piles[row[SOURCE]]) == {UNKNOWN}:
                report.count(phase_of(case, state), f"the next of {pile.name}", row[TOKEN] != twin_row[TOKEN])
                return


def _quiet_rows(before: State, after: State, player: int) -> list[Any] | None:
    """Return the new events that `player` sees, or None if they show a token or the game is over."""
    rows = after.event_rows(player)[len(before.event_rows(player)) :]
    quiet = _undeclared(before.game, rows)
    if after.is_terminal or len(quiet) < len(rows) or any(row[TOKEN] != UNKNOWN for row in quiet):
        return None
    return quiet
