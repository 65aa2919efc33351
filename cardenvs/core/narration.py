"""What happened in a game, for a person at the table.

The recap of a game has one sentence for each event. A person wants less: bookkeeping that the table shows is left out,
ten dealt cards are one line, players who do the same are named together, and the person is "you".
"""

import itertools
import re
from collections.abc import Iterable
from dataclasses import replace

from rich.markup import escape
from rich.text import Text

from cardenvs.core.events import Event, Op
from cardenvs.core.game import Game

_IRREGULAR = {"is": "are", "has": "have", "does": "do", "was": "were", "goes": "go"}
_SECOND_VERB = re.compile(
    r"\b(and|but) (is|has|does|shares|takes|leads|moves|melds|ends|wins|pays|chooses|begins|begs|passes|posts)\b"
)
_TOKEN = "\0"
_SAYINGS = (Op.NOTE, Op.SET)  # what events do that move and show no cards


class Narrator:
    """Turns the events that one player sees into lines of text."""

    def __init__(self, game: Game, you: int, num_players: int, symbols: bool = True) -> None:
        """Create a narrator who calls player `you` "you"; any other number stands for nobody.

        With `symbols`, tokens look as on the table, with symbols and colours; otherwise as in labels.
        """
        self._view, self._kinds = game.view, {kind.name: kind for kind in game.table.kinds}
        self._you, self._num_players, self._symbols = you, num_players, symbols

    def lines(self, events: Iterable[Event]) -> list[str]:
        """Return lines of rich markup for events that follow each other."""
        said = [event for event in events if not self._kinds[event.kind].is_detail]
        lines = []
        for kind, events_of_kind in itertools.groupby(said, key=lambda event: event.kind):
            run = list(events_of_kind)
            is_told_at_once = self._kinds[kind].op not in _SAYINGS or run[0].token is not None
            for part in [run] if is_told_at_once else _in_order(run):
                lines += self._run(part)
        return lines

    def sentences(self, events: Iterable[Event]) -> list[str]:
        """Return the lines without colours."""
        return [Text.from_markup(line).plain for line in self.lines(events)]

    def _run(self, events: list[Event]) -> list[str]:
        """Return lines for events of one kind. Events that differ only in their token or their player are merged."""
        tokens: dict[tuple[int | None, str], list[str]] = {}  # by player and sentence: markup of the tokens
        for event in events:
            sentence, token = self._split(event)
            tokens.setdefault((event.player, sentence), []).append(token)
        players: dict[tuple[str, tuple[str, ...]], list[int]] = {}  # by what they did
        for (player, sentence), shown in tokens.items():
            subject = f"player_{player} "
            is_theirs = player is not None and player != self._you and sentence.startswith(subject)
            said = sentence.removeprefix(subject) if is_theirs else sentence
            players.setdefault((said if is_theirs else f"={said}", tuple(shown)), []).append(
                -1 if player is None else player
            )
        return [self._line(said, list(shown), who) for (said, shown), who in players.items()]

    def _split(self, event: Event) -> tuple[str, str]:
        """Return the sentence of an event with a mark in the place of its token, and the token's markup."""
        sentence = self._view.describe_event(event, self._kinds[event.kind])
        if event.token is None:
            return sentence, ""
        label = re.escape(self._view.token_label(event.token))
        marked, found = re.subn(rf"(?<!\w){label}(?!\w)", _TOKEN, sentence, count=1)
        if not found:
            return sentence, ""
        shown = self._view.token_markup(event.token) if self._symbols else escape(self._view.token_label(event.token))
        return marked, shown

    def _line(self, said: str, shown: list[str], who: list[int]) -> str:
        if said.startswith("="):
            sentence = second_person(said[1:], self._you)
        elif len(who) == 1:
            sentence = second_person(f"player_{who[0]} {said}", self._you)
        else:
            sentence = f"{self._subject(who)} {_plural(said)}"
        times = f" [dim]({len(shown)} times)[/dim]" if len(shown) > 1 and _TOKEN not in sentence else ""
        between = ", " if any(" " in Text.from_markup(token).plain for token in shown) else " "
        return escape(sentence).replace(_TOKEN, between.join(shown)) + times

    def _subject(self, who: list[int]) -> str:
        if len(who) == self._num_players - 1 and self._you >= 0:
            return "The others"
        names = [f"player_{player}" for player in who]
        return f"{', '.join(names[:-1])} and {names[-1]}"


def _in_order(events: list[Event]) -> list[list[Event]]:
    """Split events of one kind where their order matters, as in an auction: players are named together only if they did
    the same one after another.
    """
    parts: list[list[Event]] = []
    for event in events:
        before = parts[-1] if parts else []
        if before and _deed(event) == _deed(before[-1]) and event.player not in [one.player for one in before]:
            before.append(event)
        else:
            parts.append([event])
    return parts


def _deed(event: Event) -> Event:
    """Return an event without its player, whose own counter it may set."""
    source = event.source and (event.source[0], None)
    return replace(event, player=None, source=source)


def second_person(sentence: str, player: int) -> str:
    """Return a sentence from `View.describe_event` in which `player` is called "you", with the verbs that go with it.

    Where the player is the subject, the sentence begins with "player_N VERB".
    """
    name = f"player_{player}"
    if sentence.startswith(f"{name} "):
        sentence = f"You {_plural(sentence.removeprefix(f'{name} '))}"
    sentence = re.sub(rf"\b{name}'s\b", "your", sentence)
    sentence = re.sub(rf"\b{name}\b", "you", sentence)
    sentence = re.sub(r"\byou (is|has|does)\b", lambda found: f"you {_base_form(found[1])}", sentence)
    return sentence[:1].upper() + sentence[1:] if sentence.startswith("you") else sentence


def _plural(predicate: str) -> str:
    """Return a predicate as it follows "you" or several names: "draw and have 2" for "draws and has 2"."""
    verb, rest = re.fullmatch(r"(\w*)(.*)", predicate, re.DOTALL).groups()  # type: ignore[union-attr]
    return _base_form(verb) + _SECOND_VERB.sub(lambda found: f"{found[1]} {_base_form(found[2])}", rest)


def _base_form(verb: str) -> str:
    """Return the form of an English verb that follows "you", from that of the third person."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb.endswith("ies"):
        return f"{verb[:-3]}y"
    if verb.endswith(("ches", "shes", "sses", "xes", "zes")):
        return verb[:-2]
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") else verb
