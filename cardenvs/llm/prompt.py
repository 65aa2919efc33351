"""The prompt of a decision. Everything comes from the `Turn`, so it cannot contain hidden information.

The system message says which game is played, by which options and rules, and how to answer: it is the same for every
decision of a game. The user message describes the position. Neither gives advice.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from cardenvs.agents.base import Turn
from cardenvs.core.checks import is_integer, short
from cardenvs.core.errors import AgentError
from cardenvs.core.game import Game
from cardenvs.core.game_view import table_texts
from cardenvs.core.options import Options
from cardenvs.core.view import Candidate

_STRATEGY = re.compile(r"\b(strateg|tactic|advice|advis|tips?\b|hints?\b|how to play well|playing well)", re.IGNORECASE)
_HEADING = re.compile(r"^(#{1,6})\s+(.*)$")

Answer = Literal["candidate", "label", "game"]


@dataclass(frozen=True)
class PromptSettings:
    """What a prompt shows: conditions of the experiment.

    Attributes:
        candidates: list what may be chosen.
        rules: show the rules of the game.
        recap: how many events are told, folded into few lines, the latest ones and results of finished hands; None:
            all; 0: none.
        memory: give facts that do a player's remembering (`View.remembered`), such as cards not seen yet. Turn it off
            where a model may be told only what lies on the table, as people are.
        thinking: allow free text before the answer.
        answer: how to answer: "candidate" (the id of a listed one), "label" (the text of an action), or "game" (the
            game's own JSON, where it has one).

    Raises:
        AgentError: an invalid value, or settings that exclude each other.
    """

    candidates: bool = True
    rules: bool = True
    recap: int | None = 60
    memory: bool = True
    thinking: bool = True
    answer: Answer = "candidate"

    def __post_init__(self) -> None:
        """Check what the types do not."""
        if self.answer not in get_args(Answer):
            raise AgentError(f"prompt.answer is one of {', '.join(get_args(Answer))}; got {self.answer!r}")
        if self.answer == "candidate" and not self.candidates:
            raise AgentError('candidates that are not listed cannot be chosen by id; set prompt.answer to "label"')
        for name in ("candidates", "rules", "memory", "thinking"):
            if not isinstance(getattr(self, name), bool):
                raise AgentError(f"prompt.{name} is true or false; got {short(getattr(self, name))}")
        if self.recap is not None and (not is_integer(self.recap) or self.recap < 0):
            raise AgentError(f"prompt.recap is a number of sentences, or null for all; got {short(self.recap)}")


@dataclass(frozen=True)
class Prompt:
    """What is asked, and what may be answered.

    Attributes:
        system: the stable part.
        user: this decision.
        candidates: by id, c0, c1, ...
        answer: how to answer; see PromptSettings.
    """

    system: str
    user: str
    candidates: dict[str, Candidate]
    answer: str

    @property
    def messages(self) -> list[dict[str, str]]:
        """The prompt as chat messages."""
        return [{"role": "system", "content": self.system}, {"role": "user", "content": self.user}]


def check_settings(game: Game, settings: PromptSettings) -> None:
    """Check that prompts with these settings can be written for a game.

    Raises:
        AgentError: answers in the game's own form are wanted, and the game has none.
    """
    if settings.answer == "game" and not game.view.answer_form():
        raise AgentError(f'{game.name} has no form of its own for answers; set prompt.answer to "candidate"')


def write_prompt(turn: Turn, settings: PromptSettings) -> Prompt:
    """Return the prompt of a decision.

    Raises:
        AgentError: answers in the game's own form are wanted, and the game has none.
    """
    check_settings(turn.game, settings)
    candidates = {f"c{number}": one for number, one in enumerate(turn.candidates)}
    return Prompt(
        system_text(turn.game, turn.options, settings), _user_text(turn, settings, candidates), candidates,
        settings.answer,
    )  # fmt: skip


# -- the system message -------------------------------------------------------------------------------------------


def system_text(game: Game, options: Options, settings: PromptSettings) -> str:
    """Return the stable part of every prompt of a game."""
    parts = [
        f"You are a player in a game of {game.title}. Players are called player_0, player_1 and so on. In each message "
        "you are told what you can see, and you choose what to do next. A `?` is a card or piece that you cannot see, "
        "`? x5` are five of them."
    ]
    options_text = "\n".join(f"- {name}: {json.dumps(value)}" for name, value in options.as_dict().items())
    parts.append(f"# Options of this game\n\n{options_text}")
    if settings.rules:
        parts.append(f"# Rules\n\n{without_strategy(game.rules_text)}")
    parts.append(f"# How to answer\n\n{answer_text(game, settings)}")
    return "\n\n".join(parts) + "\n"


def without_strategy(rules: str) -> str:
    """Rules without the sections whose headings promise strategy, with everything below these headings."""
    kept: list[str] = []
    dropped_level = 0  # of the heading whose section is left out; 0: none is
    fenced = False
    for line in rules.splitlines():
        fenced ^= line.startswith("```")
        heading = None if fenced else _HEADING.match(line)
        if heading:
            level = len(heading[1])
            if not dropped_level or level <= dropped_level:
                dropped_level = level if _STRATEGY.search(heading[2]) else 0
        if not dropped_level:
            kept.append(line)
    return "\n".join(kept).strip()


def answer_text(game: Game, settings: PromptSettings) -> str:
    """Return how to answer."""
    if settings.answer == "candidate":
        form, example = "the id of one of the candidates", '{"id":"cX"}'
    elif settings.answer == "label":
        form, example = "the words of an action that you may do now", '{"move":"..."}'
    else:
        form, example = f"one of {game.view.answer_form()}", '{"action":"..."}'
    before = "You may write what you like before it; " if settings.thinking else "Write nothing before it; "
    return (
        f"Answer with {form}, as JSON between tags, in one line:\n\n<answer>{example}</answer>\n\n"
        f"{before}write nothing after it. Of several answers the last one counts. A reply without a valid answer is a "
        "failed try."
    )


# -- the user message ---------------------------------------------------------------------------------------------


def _user_text(turn: Turn, settings: PromptSettings, candidates: dict[str, Candidate]) -> str:
    public, private = _split(turn)
    parts = [
        f"You are player_{turn.player}.",
        f"# Public\n\n{_json(public)}",
        f"# Private: only you see this\n\n{_json(private)}",
    ]
    facts = {
        name: fact for name, fact in turn.facts.items() if settings.memory or name not in turn.game.view.remembered
    }
    if facts:
        parts.append(f"# Facts\n\n{_json(facts)}")
    recap = _recap(turn, settings.recap)
    if recap:
        parts.append(f"# What happened\n\n{recap}")
    if settings.candidates:
        listed = "\n".join(
            f"{name}: {one.label}" if settings.answer == "candidate" else f"- {one.label}"
            for name, one in candidates.items()
        )
        parts.append(f"# Candidates\n\n{listed}")
    parts.append(f"# Your turn\n\n{turn.prompt}")
    return "\n\n".join(parts) + "\n"


def _split(turn: Turn) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what everybody sees, and what only this player does."""
    everybody, own = turn.public_view, turn.view
    public = {
        "num_players": len(everybody["players"]),
        "phase": everybody["phase"],
        "current_player": f"player_{everybody['current_player']}",
        "returns": [player["return"] for player in everybody["players"]],
    }
    public["table"] = {kind: _named(places) for kind, places in table_texts(everybody).items()}
    own_table = {kind: _named(places) for kind, places in table_texts(own).items()}
    private = {kind: _differing(own_table[kind], public["table"][kind]) for kind in own_table}
    return public, {"table": {kind: places for kind, places in private.items() if places}}


def _named(places: Mapping[str, Any]) -> dict[str, Any]:
    """Piles and counters with the players' names in place of their numbers, and rows of unknown tokens shortened."""
    return {name: _place(value) for name, value in places.items()}


def _place(value: Any) -> Any:
    if isinstance(value, list) and value and isinstance(value[0], list):
        return {f"player_{p}": _tokens(tokens) for p, tokens in enumerate(value)}
    if isinstance(value, list) and (not value or isinstance(value[0], str)):
        return _tokens(value)
    if isinstance(value, list):
        return {f"player_{p}": one for p, one in enumerate(value)}
    return value


def _tokens(tokens: list[str]) -> str:
    """Return a pile in one line: `7♥ ? x3 K♦`."""
    words: list[str] = []
    unknown = 0
    for token in [*tokens, None]:
        if token == "?":
            unknown += 1
            continue
        if unknown:
            words.append("?" if unknown == 1 else f"? x{unknown}")
        unknown = 0
        if token is not None:
            words.append(token)
    return " ".join(words)


def _differing(own: Mapping[str, Any], public: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of `own` that differ from the public view."""
    found = {}
    for name, value in own.items():
        other = public.get(name)  # the builder of a play alone sees what is loose
        if isinstance(value, dict) and other is not None:
            value = {key: one for key, one in value.items() if one != other[key]}
            if value:
                found[name] = value
        elif value != other:
            found[name] = value
    return found


def _recap(turn: Turn, most: int | None) -> str:
    if most == 0:
        return ""
    shown, left_out = turn.folded_recap(most)
    head = [f"({left_out} earlier events are left out)"] if left_out else []
    return "\n".join([*head, *shown])


def _json(value: Any) -> str:
    """JSON, a line for each member of the outer two levels: short, and easy to read."""
    if not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    lines = []
    for name, one in value.items():
        if isinstance(one, dict) and any(isinstance(inner, dict) for inner in one.values()):
            inner = ",\n".join(f"  {_member(key, each)}" for key, each in one.items())
            lines.append(f" {json.dumps(name)}: {{\n{inner}\n }}")
        else:
            lines.append(f" {_member(name, one)}")
    return "{\n" + ",\n".join(lines) + "\n}" if lines else "{}"


def _member(name: str, value: Any) -> str:
    return f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}"
