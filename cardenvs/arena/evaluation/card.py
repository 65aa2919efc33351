"""The card of an evaluation: its result as JSON values, which anyone can check against the games in the store."""

import dataclasses
import json
import math
from collections.abc import Iterator
from typing import Any

from cardenvs.arena.evaluation.protocol import Task, agent_spec, read_protocol
from cardenvs.arena.evaluation.scores import Evaluation, GameScore, mean_of, score_of
from cardenvs.arena.match import Match
from cardenvs.arena.results.document import Document, versions
from cardenvs.arena.results.statistics import Estimate
from cardenvs.arena.store import Store
from cardenvs.core.errors import FormatError
from cardenvs.core.text import one_line

FORMAT = "cardenvs evaluation"
FORMAT_VERSION = 1
_CLOSE = 1e-9


def evaluation_card(evaluation: Evaluation, digest: str) -> Document:
    """Return an evaluation as JSON values. Bounds of intervals are null where there is one deal only.

    `digest` is that of its matches (`Store.digest`).
    """
    seeds = {game.match.seed_text for game in evaluation.games}
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "protocol": evaluation.protocol.version,
        "size": evaluation.size,
        "agent": evaluation.agent,
        "is_complete": evaluation.is_complete,
        "score": _estimate(evaluation.mean),
        "seeds": sorted(seeds),
        "games": [_game(game) for game in evaluation.games],
        "not_played": evaluation.not_played,
        "digest": digest,
        "versions": versions(),
    }


def _game(game: GameScore) -> Document:
    entry = game.match.entries[0]
    return {
        "game": game.task.game,
        "title": game.match.game.title,
        "options": game.task.options,
        "reference": game.task.reference,
        "match": game.match.id,
        "agent": entry.spec,
        "fingerprint": entry.fingerprint,
        "conditions": entry.conditions,
        "score": _estimate(game.score),
        "result": _estimate(game.result),
        "unit": game.match.game.returns(game.match.options).result_unit_label,
        "decisions": game.decisions,
        "decision_ms": 1000 * game.decision_seconds,
        "failures": dict(game.failures),
    }


def _estimate(estimate: Estimate) -> Document:
    bounds = {"low": estimate.low, "high": estimate.high}
    return {
        "mean": estimate.mean,
        **{name: None if math.isinf(value) else value for name, value in bounds.items()},
        "deals": estimate.deals,
    }


def check_card(card: Any, store: Store) -> list[str]:
    """Return in what a card differs from the protocol and from the games of a store; empty if in nothing.

    The scores are computed again from the games. Whether the games were played by the rules is for
    `cardenvs.arena.verify` to say.

    Raises:
        FormatError: it is not the card of an evaluation.
        ArenaError: its protocol is not known, or the store is damaged.
    """
    try:
        if card["format"] != FORMAT or card["format_version"] != FORMAT_VERSION:
            raise FormatError(f"this is not a card of `cardenvs evaluate` (format {FORMAT!r}, {FORMAT_VERSION})")
        return list(_differences(card, store))
    except (KeyError, TypeError, AttributeError) as error:
        raise FormatError(f"this is not a whole card of `cardenvs evaluate`: {error}") from None


def _differences(card: Any, store: Store) -> Iterator[str]:
    protocol, size = read_protocol(card["protocol"]), card["size"]
    tasks = {task.game: task for task in protocol.chosen(size)}
    known = set(store.match_ids())
    scores: dict[str, Estimate] = {}
    seeds: set[str] = set()
    for entry in card["games"]:
        task = tasks.get(entry["game"])
        if task is None:
            yield f"{entry['game']}: protocol {protocol.version} does not have it in the size {size}"
        elif task.game in scores:
            yield f"{task.game}: it is on the card twice"
        elif entry["match"] not in known:
            yield f"{task.game}: the store does not have its match {entry['match']}"
        else:
            match = dataclasses.replace(store.match(entry["match"]), deals=task.deals[size])
            wanted = task.match(card["agent"], match.deals, match.seed, protocol.limits)
            yield from _setting_differences(task, match, wanted, card["agent"])
            found = score_of(task, match, store)
            scores[task.game] = found.score
            seeds.add(match.seed_text)
            yield from _value_differences(entry, found)
    whole = all(name in scores and scores[name].deals == task.deals[size] for name, task in tasks.items())
    if bool(card["is_complete"]) != whole:
        yield f"is_complete is {card['is_complete']}, but the store says {whole}"
    if card["seeds"] != sorted(seeds):
        yield f"the seeds are {_text(card['seeds'])}, but the games have {sorted(seeds)}"
    digest = store.digest([entry["match"] for entry in card["games"]])
    if card["digest"] != digest:
        yield f"the digest is {_text(card['digest'])}, but the games have {digest}"
    mean = mean_of(list(scores.values()))
    if scores and not _same(card["score"], _estimate(mean)):
        yield f"the mean score is {card['score']['mean']}, but the games give {mean.mean}"


def _setting_differences(task: Task, match: Match, wanted: Match, agent: str) -> Iterator[str]:
    """Yield in what a match differs from the one that the protocol asks for."""
    if match.game.name != task.game or match.options != wanted.options:
        yield f"{task.game}: the match has other options than the protocol"
    if [entry.spec for entry in match.entries] != [entry.spec for entry in wanted.entries]:
        yield f"{task.game}: the match has other agents than {agent_spec(agent, task.game)} and {task.reference}"
    if match.lineups != wanted.lineups or match.guard != wanted.guard:
        yield f"{task.game}: the match has other seats or limits than the protocol"


def _value_differences(entry: Any, found: GameScore) -> Iterator[str]:
    """Yield in what a game on a card differs from its games in the store."""
    game, right = found.task.game, json.loads(json.dumps(_game(found)))  # as a file has them
    for name, value in right.items():
        if not _same(entry[name], value):
            yield f"{game}: {name} on the card: {_text(entry[name])}, by the games: {_text(value)}"


def _same(shown: Any, found: Any) -> bool:
    if isinstance(found, dict) and isinstance(shown, dict):
        return shown.keys() == found.keys() and all(_same(shown[name], value) for name, value in found.items())
    if _is_number(shown) and _is_number(found):
        return math.isclose(shown, found, rel_tol=_CLOSE, abs_tol=_CLOSE)
    return bool(shown == found)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _text(value: Any) -> str:
    """Return a value on one line: of an estimate the mean and the deals."""
    if isinstance(value, dict) and {"mean", "deals"} <= value.keys():
        return one_line(f"{value['mean']} in {value['deals']} deals")
    return one_line(json.dumps(value))
