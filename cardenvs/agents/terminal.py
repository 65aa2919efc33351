"""A person in the terminal, as an agent: sees a Turn like any other, and types."""

import itertools
import json
from collections.abc import Callable

from rich.columns import Columns
from rich.console import Console, Group
from rich.markup import escape
from rich.panel import Panel
from rich.text import Text

from cardenvs.agents.base import Agent, Turn

_HELP = (
    "Type an action's words or its number (#5 is the number 5 where 5 is also an action's words). "
    "Also: facts (what follows from what you know), recap (all that happened), rules, quit."
)


class QuitGame(Exception):  # noqa: N818  not an error: the person has had enough
    """The person at the terminal wants to stop."""


class TerminalAgent(Agent):
    """Asks the person at the terminal.

    Attributes:
        shown: sentences of the recap printed so far.
    """

    def __init__(self, console: Console, ask: Callable[[str], str] = input) -> None:
        """An agent that prints to `console` and reads a line with `ask`."""
        self.name = "you"
        self._console, self._ask = console, ask
        self.shown = 0

    def reset(self, seed: int) -> None:
        """A new game: nothing was shown of it yet."""
        self.shown = 0

    def act(self, turn: Turn) -> int:
        """What the person chooses.

        Raises:
            QuitGame: they want to stop, or there is no more input.
        """
        self.tell(turn.recap)
        self._console.print(Panel(Text.from_ansi(turn.render(colour=True)), title=f"player_{turn.player} (you)"))
        self._print_question(turn)
        while True:
            text = self._read()
            if text in _COMMANDS:
                _COMMANDS[text](self._console, turn)
                continue
            try:
                return choice(text, [turn.label(action) for action in turn.legal_actions], turn.legal_actions)
            except ValueError as error:
                self._console.print(f"[red]{escape(str(error))}[/red]")

    def tell(self, recap: list[str]) -> None:
        """Print what happened since the last time."""
        _print_sentences(self._console, recap[self.shown :])
        self.shown = len(recap)

    def _print_question(self, turn: Turn) -> None:
        labels = [
            f"[bold cyan]{number}[/bold cyan] {escape(turn.label(action))}"
            for number, action in enumerate(turn.legal_actions, 1)
        ]
        self._console.print(Group(f"[bold]{escape(turn.prompt)}[/bold]", Columns(labels, padding=(0, 3))))

    def _read(self) -> str:
        try:
            text = " ".join(self._ask("> ").split()).lower()
        except (EOFError, KeyboardInterrupt):
            raise QuitGame from None
        if text in ("quit", "q", "exit"):
            raise QuitGame
        return text


def choice(text: str, labels: list[str], actions: list[int]) -> int:
    """The action that a person means.

    Args:
        text: a label, its only beginning, or the number (from 1) of an action in the list, with or without "#".
        labels, actions: what is legal.

    Raises:
        ValueError: says what would do.
    """
    words = {" ".join(label.lower().split()): action for label, action in zip(labels, actions, strict=True)}
    digits = text.removeprefix("#")
    numbered = actions[int(digits) - 1] if digits.isdecimal() and 1 <= int(digits) <= len(actions) else None
    if text.startswith("#") and numbered is not None:
        return numbered
    if text in words:
        if numbered not in (None, words[text]):
            raise ValueError(f"{text} is both an action and the number of another; type #{digits} for the number")
        return words[text]
    if numbered is not None:
        return numbered
    begun = [label for label in words if text and label.startswith(text)]
    if len(begun) == 1:
        return words[begun[0]]
    if begun:
        raise ValueError(f"{text!r} may be {' or '.join(begun[:6])}")
    raise ValueError(f"nothing legal reads {text!r}; type words or a number from 1 to {len(actions)}, or help")


def _print_sentences(console: Console, sentences: list[str]) -> None:
    """A line each; one that comes again and again (a card dealt face down) is counted."""
    for sentence, group in itertools.groupby(sentences):
        times = len(list(group))
        console.print(f"[dim]·[/dim] {escape(sentence)}{f' [dim]({times} times)[/dim]' if times > 1 else ''}")


def _print_facts(console: Console, turn: Turn) -> None:
    for name, value in turn.facts.items():
        shown = value if isinstance(value, str) else json.dumps(value)
        console.print(f"{escape(name.replace('_', ' '))}: {escape(shown)}")


def _print_recap(console: Console, turn: Turn) -> None:
    _print_sentences(console, turn.recap)


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
