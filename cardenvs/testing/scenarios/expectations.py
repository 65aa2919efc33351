"""Checking a position against what a scenario expects of it."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from cardenvs.core.cards import folded
from cardenvs.core.errors import DeckError
from cardenvs.core.events import OMNISCIENT, SPECTATOR, UNKNOWN
from cardenvs.core.fold import FoldedTable
from cardenvs.core.state import State
from cardenvs.core.text import did_you_mean
from cardenvs.testing.scenarios.schema import Expect, Seen

_TOLERANCE = 1e-9
_REST = "..."  # in the contents of a pile: any more tokens


@dataclass(frozen=True)
class Check:
    """One expectation, and whether it holds."""

    what: str  # the setting that was checked, such as "returns" or "table hand/0"
    expected: str  # what was expected, as text
    problem: str  # why it does not hold; empty if it does


def checks(state: State, expect: Expect) -> list[Check]:
    """Return a Check for each expectation of a position."""
    given = [name for name in Expect.model_fields if name in expect.model_fields_set]
    return [check for name in given for check in _CHECKS[name](state, name, getattr(expect, name))]


def _equal(value_of: Callable[[State], Any]) -> Callable[[State, str, Any], Iterator[Check]]:
    def check(state: State, name: str, expected: Any) -> Iterator[Check]:
        value = value_of(state)
        yield Check(name, _shown(expected), "" if value == expected else f"it is {_shown(value)}")

    return check


def _numbers(value_of: Callable[[State], list[float]]) -> Callable[[State, str, list[float]], Iterator[Check]]:
    def check(state: State, name: str, expected: list[float]) -> Iterator[Check]:
        values = value_of(state)
        same = len(values) == len(expected) and all(
            abs(a - b) <= _TOLERANCE * max(1, abs(b)) for a, b in zip(values, expected, strict=True)
        )
        yield Check(name, _numbers_text(expected), "" if same else f"it is {_numbers_text(values)}")

    return check


def _check_player(state: State, name: str, expected: int) -> Iterator[Check]:
    problem = ""
    if state.is_terminal:
        problem = "the game is over"
    elif state.current_player != expected:
        problem = f"player_{state.current_player} is to act"
    yield Check(name, str(expected), problem)


def _check_winner(state: State, name: str, expected: list[int]) -> Iterator[Check]:
    problem = "the game is not over"
    if state.is_terminal:
        winners = _winners(state)
        problem = "" if winners == sorted(expected) else f"it is {_shown(winners)}"
    yield Check(name, _shown(expected), problem)


def _winners(state: State) -> list[int]:
    """Return the winners that the game's statistics name, else the players with the highest return."""
    named = state.game.view.statistics(state).winners
    best = max(state.returns)
    return sorted(named) if named is not None else [p for p, value in enumerate(state.returns) if value == best]


# -- legal actions ------------------------------------------------------------------------------------------------


def labels(state: State) -> list[str]:
    """Return the labels of the legal actions."""
    return [state.action_label(action) for action in state.legal_actions()]


def matching(pattern: str, texts: Iterable[str]) -> list[str]:
    """Return the texts that a pattern stands for. Case, extra whitespace and the spelling of cards do not matter; *
    stands for any text.
    """
    wanted = folded(pattern)
    expression = re.compile(".*".join(map(re.escape, wanted.split("*"))), re.DOTALL)
    return [text for text in texts if folded(text) == wanted or expression.fullmatch(folded(text))]


def _check_legal(state: State, name: str, expected: list[str]) -> Iterator[Check]:
    key = state.game.view.label_key
    found, wanted = Counter(map(key, labels(state))), Counter(map(key, expected))
    problems = [f"not legal: {_listed((wanted - found).elements())}"] if wanted - found else []
    problems += [f"also legal: {_listed((found - wanted).elements())}"] if found - wanted else []
    yield Check(name, _listed(expected), "; ".join(problems))


def _check_legal_includes(state: State, name: str, expected: list[str]) -> Iterator[Check]:
    legal = labels(state)
    for label in expected:
        yield Check(name, label, "" if matching(label, legal) else f"legal are {_listed(legal)}")


def _check_legal_excludes(state: State, name: str, expected: list[str]) -> Iterator[Check]:
    legal = labels(state)
    for label in expected:
        found = matching(label, legal)
        yield Check(name, label, f"legal are {_listed(found)}" if found else "")


def _check_illegal(state: State, name: str, expected: dict[str | int, str]) -> Iterator[Check]:
    for action, reason in expected.items():
        yield Check(f"{name} {action}", reason, _illegal_problem(state, action, reason))


def _illegal_problem(state: State, action: str | int, reason: str) -> str:
    ids = [action] if isinstance(action, int) else _ids_of(state, action)
    if not ids:
        return f"no action has the label {action!r} here; give its id"
    reasons = [state.explain_illegal(number) for number in ids]
    if not all(reasons):
        return "it is legal"
    return "" if any(folded(reason) in folded(text) for text in reasons) else f"the reason is: {reasons[0]}"


def _ids_of(state: State, label: str) -> list[int]:
    """Return the ids of the actions with this label: the legal one, if there is one, else all that have it."""
    key = state.game.view.label_key
    wanted = key(label)
    legal = [action for action in state.legal_actions() if key(state.action_label(action)) == wanted]
    every = range(state.game.num_actions(state.options))
    return legal or [action for action in every if key(state.action_label(action)) == wanted]


# -- the table ----------------------------------------------------------------------------------------------------


def _check_table(state: State, name: str, expected: dict[str, Any]) -> Iterator[Check]:
    return _table_checks(state, state.table(OMNISCIENT), name, expected)


def _table_checks(state: State, table: FoldedTable, name: str, expected: dict[str, Any]) -> Iterator[Check]:
    for place, content in expected.items():
        yield Check(f"{name} {place}", _shown(content), _place_problem(state, table, place, content))


def _place_problem(state: State, table: FoldedTable, place: str, content: Any) -> str:
    name, slash, owner = place.partition("/")
    spec = table.spec
    ids = spec.pile_ids if name in spec.pile_ids else spec.counter_ids
    if name not in ids:
        known = [*spec.pile_ids, *spec.counter_ids]
        return f"there is no such pile or counter; {did_you_mean(name, known)}there are: {', '.join(known)}"
    is_pile = ids is spec.pile_ids
    has_owners = (spec.pile_of if is_pile else spec.counter_of)[ids[name]][1] is not None
    players = range(state.num_players)
    if slash and not has_owners:
        return f"{name} belongs to no player; write {name}"
    if slash and owner not in map(str, players):
        return f"there is no player {owner!r}; write {name}/0 to {name}/{players[-1]}"
    problem_of = _pile_problem if is_pile else _counter_problem
    if slash or not has_owners:
        return problem_of(state, table, ids[name] + int(owner or 0), content)
    if not isinstance(content, list) or len(content) != len(players):
        return f"each player has one; write {name}/0, or a list of {len(players)}"
    problems = [problem_of(state, table, ids[name] + player, content[player]) for player in players]
    return "; ".join(f"of player_{player}: {problem}" for player, problem in enumerate(problems) if problem)


def _counter_problem(state: State, table: FoldedTable, counter: int, content: Any) -> str:
    if content != "?" and (isinstance(content, bool) or not isinstance(content, int)):
        return 'a counter is a number, or "?" if it is hidden'
    value = table.counters[counter]
    return "" if content == ("?" if value is None else value) else f"it is {'?' if value is None else value}"


def _pile_problem(state: State, table: FoldedTable, pile: int, content: Any) -> str:
    tokens, ordered = table.piles[pile], table.spec.pile_of[pile][0].ordered
    if isinstance(content, int) and not isinstance(content, bool):
        return "" if len(tokens) == content else f"it has {len(tokens)}: {_tokens_text(state, tokens, ordered)}"
    parts = content.replace(",", " ").split() if isinstance(content, str) else content
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        return 'a pile is a text such as "A♥ 5♥ ?", a list of texts, or the number of its cards'
    try:
        wanted = [part if part == _REST else _parsed(state, part) for part in parts]
    except DeckError as error:
        return str(error)
    fits = (_fits_in_order if ordered else _fits_in_any_order)(tokens, wanted)
    return "" if fits else f"it is {_tokens_text(state, tokens, ordered)}"


def _parsed(state: State, text: str) -> int:
    return UNKNOWN if text == "?" else state.game.view.parse_token(text)


def _fits_in_order(tokens: list[int], wanted: list[Any]) -> bool:
    if _REST not in wanted:
        return tokens == wanted
    rest = wanted.index(_REST)
    first, last = wanted[:rest], wanted[rest + 1 :]
    enough = len(tokens) >= len(first) + len(last)
    return enough and tokens[:rest] == first and tokens[len(tokens) - len(last) :] == last


def _fits_in_any_order(tokens: list[int], wanted: list[Any]) -> bool:
    known = Counter(token for token in wanted if token != _REST)
    return known <= Counter(tokens) if _REST in wanted else known == Counter(tokens)


def _tokens_text(state: State, tokens: list[int], ordered: bool) -> str:
    shown = tokens if ordered else sorted(tokens, key=lambda token: (token == UNKNOWN, token))
    words = state.game.view
    return " ".join("?" if token == UNKNOWN else words.token_label(token) for token in shown) or "empty"


# -- events, facts, and what single viewers know ------------------------------------------------------------------


def _check_events(state: State, name: str, expected: list[str]) -> Iterator[Check]:
    return _event_checks(state, OMNISCIENT, name, expected, wanted=True)


def _check_no_events(state: State, name: str, expected: list[str]) -> Iterator[Check]:
    return _event_checks(state, OMNISCIENT, name, expected, wanted=False)


def _event_checks(state: State, viewer: int, name: str, expected: list[str], wanted: bool) -> Iterator[Check]:
    recap = state.recap(viewer)
    for text in expected:
        found = [sentence for sentence in recap if folded(text) in folded(sentence)]
        problem = ""
        if wanted and not found:
            problem = f"the last events are: {' '.join(recap[-5:])}"
        elif found and not wanted:
            problem = f"there is: {found[-1]}"
        yield Check(name, text, problem)


def _check_facts(state: State, name: str, expected: dict[int, dict[str, Any]]) -> Iterator[Check]:
    for player, wanted in expected.items():
        if not 0 <= player < state.num_players:
            yield Check(f"{name} {player}", _shown(wanted), _no_player(state))
            continue
        facts = json.loads(json.dumps(state.facts(player)))
        for fact, value in wanted.items():
            problem = "" if fact in facts and facts[fact] == value else f"it is {_shown(facts.get(fact))}"
            if fact not in facts:
                problem = f"there is no such fact; {did_you_mean(fact, facts)}there are: {', '.join(facts)}"
            yield Check(f"{name} {player} {fact}", _shown(value), problem)


def _check_seen_by(state: State, name: str, expected: dict[int | str, Seen]) -> Iterator[Check]:
    for who, seen in expected.items():
        prefix = f"{name} {who}"
        viewer = SPECTATOR if who == "spectator" else who
        if isinstance(viewer, str) or viewer not in (SPECTATOR, *range(state.num_players)):
            yield Check(prefix, "a viewer", f"{_no_player(state)}, and `spectator`")
            continue
        yield from _table_checks(state, state.table(viewer), f"{prefix} table", seen.table)
        yield from _event_checks(state, viewer, f"{prefix} events", seen.events, wanted=True)
        yield from _event_checks(state, viewer, f"{prefix} no_events", seen.no_events, wanted=False)


def _no_player(state: State) -> str:
    return f"there is no such player; there are 0 to {state.num_players - 1}"


# -- texts --------------------------------------------------------------------------------------------------------


def _shown(value: Any) -> str:
    return value if isinstance(value, str) and value else json.dumps(value, default=str, ensure_ascii=False)


def _numbers_text(values: list[float]) -> str:
    return f"[{', '.join(f'{value:g}' for value in values)}]"


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(texts) or "nothing"


_CHECKS: dict[str, Callable[[State, str, Any], Iterator[Check]]] = {
    "player": _check_player,
    "phase": _equal(lambda state: state.phase),
    "over": _equal(lambda state: state.is_terminal),
    "ply": _equal(lambda state: state.ply),
    "returns": _numbers(lambda state: state.returns),
    "rewards": _numbers(lambda state: state.rewards),
    "winner": _check_winner,
    "active": _equal(lambda state: state.active),
    "legal": _check_legal,
    "legal_includes": _check_legal_includes,
    "legal_excludes": _check_legal_excludes,
    "num_legal": _equal(lambda state: len(state.legal_actions())),
    "illegal": _check_illegal,
    "table": _check_table,
    "events": _check_events,
    "no_events": _check_no_events,
    "facts": _check_facts,
    "seen_by": _check_seen_by,
}
