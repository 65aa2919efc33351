"""`View`: what people and language models see of a game. Every game has one subclass, in its view.py.

Methods take the widened record of a state and, if it matters, the viewer: a player 0..n-1, SPECTATOR (sees public
information only) or OMNISCIENT (sees everything). Views, prompts, recaps and pages are generic code over these methods.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from cardenvs.core.cards import folded
from cardenvs.core.errors import DeckError, FormatError
from cardenvs.core.events import OMNISCIENT, Event, EventKind
from cardenvs.core.fold import FoldedTable
from cardenvs.core.game_view import Choice, Goal, Scene
from cardenvs.core.record import Record
from cardenvs.core.text import count
from cardenvs.pictures.terminal import token_span

if TYPE_CHECKING:
    from cardenvs.core.state import State

_MARKUP = re.compile(r"\[/?[a-z_ ]*\]")


@dataclass(frozen=True)
class Candidate:
    """A choice of a player: one action, or several in a row that form one play.

    Attributes:
        label: text of the choice.
        actions: at least one id, in the order in which they are applied. The same player acts until the last one.
    """

    label: str
    actions: tuple[int, ...]


@dataclass(frozen=True)
class GameStatistics:
    """Statistics of a finished game as JSON-compatible values, which `simulate` and `match --statistics` aggregate.

    Attributes:
        figures: numbers by name, one per player (points by category, ...). The first is the score.
        counts: number of occurrences by group and name. A group lists all its names, including those with 0, so that a
            total of 0 shows what never happened.
        winners: the winning players; None for those with the highest return.
    """

    figures: dict[str, list[float]] = field(default_factory=dict)
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    winners: list[int] | None = None


class View:
    """Base class of a game's texts. A game overrides the methods it needs.

    Attributes:
        tokens: texts of tokens 0, 1, ..., used unless the methods below are overridden.
        shape: "rows" to show players above and below the middle of the table, "ring" around it.
        back: what face-down tokens look like: "card" or "mahjong".
        token_noun: what a token is, "card" or "tile".
        phases: names of the phases of play.
        reasons: why an action is illegal, by the number from `explain_illegal`.
        remembered: names of facts that do a player's remembering: what no longer lies on the table, or follows from it.
    """

    tokens: Sequence[str] = ()
    shape: str = "rows"
    back: str = "card"
    token_noun: str = "card"
    phases: tuple[str, ...] = ("play",)
    reasons: Mapping[int, str] = MappingProxyType({})
    remembered: frozenset[str] = frozenset()

    def token_label(self, token: int) -> str:
        """Return the text of a token for people."""
        return self.tokens[token]

    def token_code(self, token: int) -> str:
        """Return the text of a token in the decks that programs write; `parse_token` reads it, too."""
        return self.token_label(token)

    def parse_token(self, text: str) -> int:
        """Return the token of a text in upper or lower case, the inverse of `token_label`.

        Raises:
            DeckError: the text names no token.
        """
        texts = [token.lower() for token in self.tokens]
        if text.strip().lower() not in texts:
            raise DeckError(f"{text!r} is not one of {', '.join(self.tokens)}")
        return texts.index(text.strip().lower())

    def token_back(self, token: int) -> int:
        """Return the kind of back of a face-down token. Viewers can tell tokens with different backs apart."""
        return 0

    def token_markup(self, token: int) -> str:
        """Return a token as rich markup, as it looks in `State.render`."""
        text, style = token_span({"text": self.token_label(token), "face": self.token_face(token)})
        return f"[{style}]{text}[/{style}]" if style else text

    def fill_table(self, s: Record, viewer: int, table: FoldedTable) -> None:
        """Fill `table` with what `viewer` knows in state `s`; by default, as its piles and counters are declared."""
        table.fill(s, viewer)

    def action_label(self, s: Record, action: int) -> str:
        """Return the text of an action or code in state `s`. Legal actions have different texts."""
        raise NotImplementedError

    def label_key(self, label: str) -> str:
        """Return what all accepted spellings of an action's label have in common; see `cardenvs.core.cards.folded`."""
        return folded(label)

    def illegal_reason(self, s: Record, action: int, code: int) -> str:
        """Return why `action` is illegal, with the rule, for a number from the game's `explain_illegal` kernel."""
        return self.reasons.get(code, "it is not among the legal actions")

    def phase(self, s: Record) -> str:
        """Return the name of the phase of play, one of `phases`: with several, that of the record's field `phase`.

        Here `s` is the record itself, whose small integers wrap: read and compare its fields, and do not calculate.
        """
        return self.phases[int(s.phase) if len(self.phases) > 1 else 0]

    def prompt(self, s: Record) -> str:
        """Return the question to the player to act."""
        return "Choose an action."

    def facts(self, s: Record, player: int) -> dict[str, Any]:
        """Return what a careful player would deduce from what `player` may know, as JSON-compatible data."""
        return {}

    def candidates(self, state: "State", player: int) -> list[Candidate]:
        """Return the choices of `player`, who is to act in `state`; by default each legal action.

        A game whose turns consist of many small actions returns whole plays. It may try them on `state.clone()`, but
        the result must not depend on what `player` cannot know. Labels and sequences must be unique, in any order.
        """
        s = state.record
        return [Candidate(self.action_label(s, action), (action,)) for action in state.legal_actions()]

    def token_face(self, token: int) -> dict[str, Any]:
        """Return how a token is drawn, as JSON values that are the same in all games.

        One of:
            {"kind": "card", "rank": "T", "suit": "d"}: a playing card; without "suit", one of a single suit.
            {"kind": "tile", "text": "7", "colour": "red"}: a tile; colours are red, orange, blue, green, black, grey.
            {"kind": "die", "text": "5"}: a die, with pips up to 6.
            {"kind": "mahjong", "text": "5m"}: a mahjong tile: 1 to 9 of m (characters), p (dots) and s (bamboo), 0 for
                a red five; z for east, south, west, north, white, green and red from 1 to 7.
            {"kind": "text", "title": "Barn Owl", "lines": ["..."], "brief": "...", "colour": "green"}: any other card;
                all but the title may be missing. "brief" replaces the lines where there is little room.
        """
        return {"kind": "text", "title": self.token_label(token)}

    def choice(self, s: Record, action: int) -> Choice:
        """Return what a legal action means to a person who plays by clicking; by default a button."""
        return Choice()

    def likeness(self, token: int) -> str:
        """Return what a token has in common with those that can stand in for it in a `Choice` that is `alike`; "" if
        that is its face.
        """
        return ""

    def goal(self, state: "State") -> Goal | None:
        """Return the points that the player to act must put together in this turn, such as those of an opening; None if
        there are none, or if they cannot be reached.
        """
        return None

    def meant_by(self, s: Record, token: int) -> int | None:
        """Return the illegal action that choosing `token`, which the player holds, stands for, so that people can be
        told why they may not; None if the token stands for no single action.
        """
        return None

    def arrange(self, s: Record, viewer: int, scene: Scene) -> None:
        """Change how the table that `fill_table` has made is shown to `viewer`: order, groups and marks of tokens,
        labels, notes on players.
        """

    def answer_form(self) -> str:
        """Return instructions for answering with JSON in a form of the game's own; empty if it has none.

        For language models.
        """
        return ""

    def actions_from_answer(self, state: "State", player: int, answer: dict[str, Any]) -> tuple[int, ...]:
        """Return the actions for an answer in the form of `answer_form`, as in Candidate.

        Raises:
            FormatError: the answer does not have this form.
            IllegalActionError: the answer has this form but is illegal. The message gives the reason.
        """
        raise FormatError("this game does not define its own form for answers")

    def answer_in_words(self, text: str) -> dict[str, Any] | None:
        """Return the answer in the form of `answer_form` that a person means by a text in lower case, such as
        {"action": "raise", "amount": 70} by "raise to 70". None if the words mean none.

        For what people may do besides the legal actions that are listed.
        """
        return None

    def place(self, s: Record, player: int) -> float | None:
        """Return the finishing place of a player who has left the game; None for the place behind all others in it."""
        return None

    def conserved(self, s: Record) -> dict[str, float]:
        """Return quantities (chips, ...) that do not change during a game."""
        return {}

    def statistics(self, state: "State") -> GameStatistics:
        """Return the statistics of `state`, a finished game."""
        return GameStatistics()

    def describe_event(self, event: Event, kind: EventKind) -> str:
        """Return a sentence for an event as its viewer saw it."""
        return kind.text.format(
            player="" if event.player is None else f"player_{event.player}",
            token=f"a {self.token_noun}" if event.token is None else self.token_label(event.token),
            source=_place(event.source),
            target=_place(event.target),
            value=_Value(event.value),
        )


def sees(viewer: int, owner: int) -> bool:
    """Return whether `viewer` may see what only `owner` sees."""
    return viewer in (owner, OMNISCIENT)


@dataclass(frozen=True)
class _Value:
    """The value of an event in its text: "{value}" is the number, "{value:card}" the number with its noun."""

    number: int | None

    def __format__(self, noun: str) -> str:
        return count(self.number, noun) if noun else "?" if self.number is None else str(self.number)


def _place(place: tuple[str, int | None] | None) -> str:
    if place is None:
        return ""
    name, owner = place
    return name.replace("_", " ") if owner is None else f"player_{owner}'s {name.replace('_', ' ')}"


def split_tokens(text: str) -> list[str]:
    """Return the token texts in a deck text, which are separated by whitespace or commas.

    Raises:
        DeckError: there is none.
    """
    parts = text.replace(",", " ").split()
    if not parts:
        raise DeckError("an explicit deck needs at least one card")
    return parts


def plain(markup: str) -> str:
    """Return rich markup without its colours."""
    return _MARKUP.sub("", markup)
