"""A person at the terminal as an agent."""

import json
import re
from collections.abc import Callable, Sequence

import numpy as np
from rich.columns import Columns
from rich.console import Console, Group
from rich.markup import escape
from rich.panel import Panel
from rich.text import Text

from cardenvs.agents.base import Agent, Turn
from cardenvs.core.cards import folded, words_and_gaps
from cardenvs.core.errors import IllegalActionError
from cardenvs.core.events import Event
from cardenvs.core.game import Game
from cardenvs.core.narration import Narrator, second_person
from cardenvs.core.view import Candidate

_BARE_TEN = re.compile(r"\bt$")  # "take T", before the suit is typed
_NUMBER = re.compile("[0-9]+(?![0-9shdc])")  # but not the rank of a card: "lead 1" begins "lead 10h"
_INDENT = 4  # spaces before a line of the table that goes on about the player of a line above
_FEW_LINES = 6  # if at most so many lines of the table have changed, only these are printed

_HELP = (
    "Type an action's words or its number (#5 is the number 5 where 5 is also an action's words). "
    "Where the question gives a range of amounts, type any of them, as in raise to 70. "
    "Also: table, facts (what follows from what you know), recap (all that happened), rules, quit."
)


class QuitGame(Exception):  # noqa: N818  not an error: the person has had enough
    """The person at the terminal wants to stop."""


class TerminalAgent(Agent):
    """Asks the person at the terminal.

    Attributes:
        shown: number of events reported so far.
    """

    def __init__(self, console: Console, ask: Callable[[str], str] = input) -> None:
        """Create an agent that prints to `console` and reads a line with `ask`."""
        self.name = "you"
        self._console, self._ask = console, ask
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Forget what was shown of the last game."""
        self.shown = 0
        self._planned: list[int] = []  # rest of a play of several actions
        self._table: list[str] = []  # lines of the table as last printed

    def act(self, turn: Turn) -> int:
        """Return the person's choice. If only one action is legal, say so and return it.

        Raises:
            QuitGame: they want to stop, or there is no more input.
        """
        if self._planned:
            return self._planned.pop(0)
        self.tell(turn.events, turn.game, turn.player, turn.num_players)
        if len(turn.legal_actions) == 1:
            only = marked(turn.label(turn.legal_actions[0]), turn)
            self._console.print(f"[dim]·[/dim] {marked(turn.prompt, turn)} [dim]Your only choice:[/dim] {only}.")
            return turn.legal_actions[0]
        self._show_table(turn)
        choices = offered(turn)
        self._print_question(turn, choices)
        while True:
            text = self._read()
            if text in ("table", "t"):
                self._table = []
                self._show_table(turn)
                continue
            if text in _COMMANDS:
                _COMMANDS[text](self._console, turn)
                continue
            try:
                action, *self._planned = meant(text, choices, turn)
            except ValueError as error:
                self._console.print(f"[red]{escape(str(error))}[/red]")
                continue
            return action

    def tell(self, events: Sequence[Event], game: Game, player: int, num_players: int) -> None:
        """Print the events since the last call; `events` has all events that the person, `player`, has seen."""
        for line in Narrator(game, player, num_players).lines(events[self.shown :]):
            self._console.print(f"[dim]·[/dim] {line}")
        self.shown = len(events)

    def _show_table(self, turn: Turn) -> None:
        """Print the table, or only its changed lines if they are few and the person made the last action."""
        lines = second_person_table(turn.render(colour=True), turn.player).splitlines()
        before, self._table = self._table, lines
        changed = [k for k, (line, old) in enumerate(zip(lines, before, strict=False)) if line != old]
        if turn.goes_on and len(lines) == len(before) and 0 < len(changed) <= _FEW_LINES:
            for line in _with_owners(lines, changed):
                self._console.print(Text.from_ansi(line))
            return
        self._console.print(Panel(Text.from_ansi("\n".join(lines)), title=f"you are player_{turn.player}"))

    def _print_question(self, turn: Turn, choices: list[Candidate]) -> None:
        labels = [f"[bold cyan]{number}[/bold cyan] {marked(one.label, turn)}" for number, one in enumerate(choices, 1)]
        self._console.print(Group(f"[bold]{marked(turn.prompt, turn)}[/bold]", Columns(labels, padding=(0, 3))))

    def _read(self) -> str:
        try:
            text = " ".join(self._ask("> ").split()).lower()
        except (EOFError, KeyboardInterrupt):
            raise QuitGame from None
        if text in ("quit", "q", "exit"):
            raise QuitGame
        return text


def _with_owners(lines: list[str], shown: list[int]) -> list[str]:
    """Return the lines to show, with the line above them that says whose they are if they are indented."""
    indents = [len(text) - len(text.lstrip()) for text in (Text.from_ansi(line).plain for line in lines)]
    wanted = set(shown)
    for k in shown:
        if indents[k] >= _INDENT:
            wanted.add(next((above for above in range(k, -1, -1) if indents[above] < _INDENT), k))
    return [lines[k] for k in sorted(wanted)]


def marked(text: str, turn: Turn) -> str:
    """Return a text as markup in which cards have the colours of the table."""
    view = turn.game.view
    tokens = {view.token_label(int(token)): int(token) for token in np.unique(turn.game.deck(turn.options))}
    parts = words_and_gaps(text)
    return "".join(view.token_markup(tokens[part]) if part in tokens else escape(part) for part in parts)


def offered(turn: Turn) -> list[Candidate]:
    """Return the choices to offer: legal actions, or the game's candidates if some of them have several actions."""
    if all(len(one.actions) == 1 for one in turn.candidates):
        return [Candidate(turn.label(action), (action,)) for action in turn.legal_actions]
    return turn.candidates


def meant(text: str, choices: list[Candidate], turn: Turn) -> tuple[int, ...]:
    """Return the actions that a person means: one of the choices, or what else the game takes, such as an amount.

    Raises:
        ValueError: the text means none, several, or what is illegal; the message says what to type.
    """
    view = turn.game.view
    try:
        return choices[choice(text, [one.label for one in choices], range(len(choices)), view.label_key)].actions
    except ValueError:
        answer = view.answer_in_words(text)
        if answer is None:
            raise
    try:
        return turn.actions_from_answer(answer)
    except IllegalActionError as error:
        raise ValueError(_refusal(str(error), turn)) from None


def _refusal(reason: str, turn: Turn) -> str:
    """Return a reason for the person: without ids of actions, which are other numbers than those of the choices."""
    text = reason.removeprefix(f"{turn.game.name}: ").partition("; legal: ")[0]
    text = re.sub(r" \(rules\.md ([^)]*)\)", r" (rules, \1)", re.sub("(?<!player)_", " ", text))
    return second_person(text.removeprefix(f"player_{turn.player}: "), turn.player)


def second_person_table(text: str, player: int) -> str:
    """Return a table in which the person is called "you", with the same column widths."""
    name = f"player_{player}"
    text = text.replace(f"{name}'s", "your".rjust(len(name) + 2))
    return re.sub(rf"{name}(?!\d)", "you".ljust(len(name)), text)  # a colour code may precede it


def choice(text: str, labels: list[str], actions: Sequence[int], key: Callable[[str], str] = folded) -> int:
    """Return the action that a person means.

    They type a label, an unambiguous beginning of one, all of one but its first word, or its number in the list, from
    1, with or without "#".

    `key` is what all accepted spellings of a label have in common, as in `View.label_key`.

    Raises:
        ValueError: the text matches none or several; the message says what to type.
    """
    words = dict(zip(map(key, labels), actions, strict=True))
    wanted = key(text)
    digits = text.removeprefix("#")
    numbered = actions[int(digits) - 1] if digits.isdecimal() and 1 <= int(digits) <= len(actions) else None
    if text.startswith("#") and numbered is not None:
        return numbered
    if wanted in words:
        if numbered not in (None, words[wanted]):
            raise ValueError(f"{text} is both an action and the number of another; type #{digits} for the number")
        return words[wanted]
    if numbered is not None:
        return numbered
    beginnings = (wanted, _BARE_TEN.sub("10", wanted))
    begun = [label for label in labels if wanted and any(_begins(key(label), one) for one in beginnings)]
    begun = begun or [label for label in labels if wanted and key(label).partition(" ")[2] == wanted]
    if len(begun) == 1:
        return words[key(begun[0])]
    if begun:
        raise ValueError(f"{text!r} may be {' or '.join(begun[:6])}")
    raise ValueError(f"no legal action is called {text!r}; type words or a number from 1 to {len(actions)}, or help")


def _begins(label: str, beginning: str) -> bool:
    """Return whether a label begins so, and not within a number: "raise to 7" does not begin "raise to 70"."""
    end = len(beginning)
    return label.startswith(beginning) and not any(one.start() < end < one.end() for one in _NUMBER.finditer(label))


def _print_facts(console: Console, turn: Turn) -> None:
    for name, value in turn.facts.items():
        shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        console.print(f"{escape(name.replace('_', ' '))}: {escape(shown)}")


def _print_recap(console: Console, turn: Turn) -> None:
    for line in Narrator(turn.game, turn.player, turn.num_players).lines(turn.events):
        console.print(f"[dim]·[/dim] {line}")


def _print_rules(console: Console, turn: Turn) -> None:
    from rich.markdown import Markdown

    console.print(Markdown(turn.game.rules_text))


def _print_help(console: Console, turn: Turn) -> None:
    console.print(_HELP)


_COMMANDS: dict[str, Callable[[Console, Turn], None]] = {
    "facts": _print_facts,
    "recap": _print_recap,
    "rules": _print_rules,
    "help": _print_help,
    "?": _print_help,
}
