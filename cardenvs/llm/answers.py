"""Reading a reply: the answer that ends it, or why it has none. Nothing is rescued from prose or thoughts."""

import json
import re
from typing import Any

from cardenvs.agents.base import Turn
from cardenvs.core.errors import FormatError, IllegalActionError
from cardenvs.llm.prompt import Prompt

_OPEN, _CLOSE = "<answer>", "</answer>"
_ANY_OPEN = re.compile(_OPEN, re.IGNORECASE)
_THINK, _THOUGHT = (re.compile(tag, re.IGNORECASE) for tag in ("<think(ing)?>", "</think(ing)?>"))
_FORMS = {"candidate": '{"id":"c0"}', "label": '{"move":"..."}'}
_ID = re.compile(r"c(0|[1-9][0-9]{0,8})")
_LONGEST_ANSWER = 2000  # characters between the tags
LONGEST_REPLY = 200_000  # characters of a reply that are kept and read

OK, EMPTY, TRUNCATED, UNPARSABLE, ILLEGAL = "ok", "empty", "truncated", "unparsable", "illegal"
TIMEOUT, RATE_LIMITED, TRANSPORT = "timeout", "rate_limited", "transport"
OUTCOMES = (OK, EMPTY, TRUNCATED, UNPARSABLE, ILLEGAL, TIMEOUT, RATE_LIMITED, TRANSPORT)


class AnswerError(Exception):
    """A reply that is not an answer."""

    def __init__(self, outcome: str, reason: str) -> None:
        super().__init__(reason)
        self.outcome = outcome  # "unparsable" or "illegal"


def reply_outcome(text: str, finish_reason: str | None = None) -> tuple[str, str]:
    """Return "ok" and "" if a reply can be searched for an answer, or "truncated" or "empty" and what is wrong.

    `finish_reason` is why it ended, as endpoints say; "length" if it was cut off.
    """
    if finish_reason == "length":
        return TRUNCATED, "the reply was cut off at the limit of tokens"
    if len(text) > LONGEST_REPLY:
        return TRUNCATED, f"the reply is longer than {LONGEST_REPLY} characters"
    return (OK, "") if text.strip() else (EMPTY, "the reply is empty")


def storable(text: str, most: int = LONGEST_REPLY) -> str:
    """Return the first `most` characters, without halves of characters, which cannot be sent back or stored."""
    return text[:most].encode(errors="replace").decode()


def read_answer(text: str, prompt: Prompt, turn: Turn) -> tuple[int, ...]:
    """Return the actions that a reply to a prompt chooses.

    The last answer counts, and nothing but white space or the end of a code block may follow it: a model that adds
    "no, c1" has withdrawn it. Thoughts between `<think>` and `</think>` are not part of the reply.

    Raises:
        AnswerError: there is no valid answer, or it may not be chosen; says exactly why.
    """
    answer = _last_answer(_without_thoughts(text))
    if prompt.answer == "game":
        return _in_the_games_form(answer, turn)
    name = "id" if prompt.answer == "candidate" else "move"
    chosen = answer.get(name)
    if list(answer) != [name] or not isinstance(chosen, str) or (name == "id" and not _ID.fullmatch(chosen)):
        written = _quoted(json.dumps(answer, ensure_ascii=False))
        raise AnswerError(UNPARSABLE, f"the last answer is {written}, not of the form {_FORMS[prompt.answer]}")
    return _of_candidate(chosen, prompt) if name == "id" else _of_label(chosen, prompt, turn)


def _of_candidate(chosen: str, prompt: Prompt) -> tuple[int, ...]:
    if chosen not in prompt.candidates:
        last = len(prompt.candidates) - 1
        raise AnswerError(ILLEGAL, f"{chosen} is not a candidate; the candidates are c0 to c{last}")
    return prompt.candidates[chosen].actions


def _of_label(chosen: str, prompt: Prompt, turn: Turn) -> tuple[int, ...]:
    key = turn.game.view.label_key
    wanted = key(chosen)
    for candidate in prompt.candidates.values():
        if key(candidate.label) == wanted:
            return candidate.actions
    raise AnswerError(ILLEGAL, f"no action that you may do now reads {_quoted(chosen)}")


def _in_the_games_form(answer: dict[str, Any], turn: Turn) -> tuple[int, ...]:
    try:
        return turn.actions_from_answer(answer)
    except FormatError as error:
        raise AnswerError(UNPARSABLE, str(error)) from None
    except IllegalActionError as error:
        raise AnswerError(ILLEGAL, str(error)) from None


def _without_thoughts(text: str) -> str:
    """Return what follows the last closed thoughts."""
    *_, start = 0, *(end.end() for end in _THOUGHT.finditer(text))
    if _THINK.search(text, start):
        raise AnswerError(UNPARSABLE, "the thoughts are not closed by </think>, so nothing is an answer")
    return text[start:]


def _last_answer(text: str) -> dict[str, Any]:
    """Return the JSON object between the last tags, which end the text."""
    *_, opened = None, *_ANY_OPEN.finditer(text)
    if opened is None:
        raise AnswerError(UNPARSABLE, f"there is no {_OPEN}...{_CLOSE} with a JSON object in it")
    if opened[0] != _OPEN:
        raise AnswerError(UNPARSABLE, f"the tag is written {_OPEN}, not {opened[0]}")
    written, closed, rest = text[opened.end() :].partition(_CLOSE)
    if not closed:
        raise AnswerError(UNPARSABLE, f"the last {_OPEN} is not closed by {_CLOSE}")
    if rest.strip("` \t\r\n"):
        raise AnswerError(UNPARSABLE, f"text follows the last answer: {_quoted(rest.strip())}; end with the answer")
    value = _json_object(written) if len(written) <= _LONGEST_ANSWER else None
    if value is None:
        raise AnswerError(UNPARSABLE, f"the last answer, {_quoted(written)}, is not a JSON object with each name once")
    return value


def _json_object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object in which no name appears twice: which of them would count?"""
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("a name appears twice")
    return dict(pairs)


def _quoted(text: str) -> str:
    return json.dumps(storable(text if len(text) <= 80 else f"{text[:80]}..."), ensure_ascii=False)


_RETRY = {
    EMPTY: "Your reply was empty.",
    TRUNCATED: "Your reply was cut off because it was too long. Write less before the answer.",
    UNPARSABLE: "Your reply has no valid answer: {reason}.",
    ILLEGAL: "Your answer cannot be done: {reason}.",
    TIMEOUT: "Your reply did not come in time. Write less before the answer.",
    RATE_LIMITED: "Your last reply was lost to a rate limit.",
    TRANSPORT: "Your last reply was lost on its way.",
}


def retry_text(outcome: str, reason: str, answer_form: str) -> str:
    """Return the message to a model before its next try."""
    return f"{_RETRY[outcome].format(reason=reason.rstrip('.'))} Try again.\n\n{answer_form}"
