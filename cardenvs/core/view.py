"""What people and language models see of a game. One subclass a game, in the game's view.py.

Every method gets the widened record of a state and, where it matters, the viewer: a player 0..n-1, SPECTATOR (what
is public) or OMNISCIENT (everything). Views, prompts, recaps and pages are generic code over these few methods.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from cardenvs.core.cards import card_label, card_markup, parse_card
from cardenvs.core.errors import DeckError, FormatError
from cardenvs.core.events import OMNISCIENT, Event, EventKind
from cardenvs.core.fold import FoldedTable

if TYPE_CHECKING:
    from cardenvs.core.state import State

_MARKUP = re.compile(r"\[/?[a-z_ ]*\]")


@dataclass(frozen=True)
class Candidate:
    """Something a player may choose to do: one action, or several in a row that make one play.

    Attributes:
        label: what it is, in words.
        actions: ids in the order in which they are applied; at least one. The player stays to act until the last.
    """

    label: str
    actions: tuple[int, ...]


@dataclass(frozen=True)
class GameStatistics:
    """Statistics of a finished game, as JSON values, to sum up over many (`simulate`, `match --statistics`).

    Attributes:
        figures: by name a number for each player (points by category, ...). The first is what people call the score.
        counts: by group, by name, how often it happened in this game. A group lists all its names, those with 0 too:
            what stays 0 over all games was never reached.
        winners: who has won; None: whoever has the highest return.
    """

    figures: dict[str, list[float]] = field(default_factory=dict)
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    winners: list[int] | None = None


class View:
    """Base class; a game overrides what its words need."""

    def token_label(self, token: int) -> str:
        """The text of a token."""
        raise NotImplementedError

    def parse_token(self, text: str) -> int:
        """The token of a text, the inverse of `token_label`.

        Raises:
            DeckError: the text names no token.
        """
        raise NotImplementedError

    def token_back(self, token: int) -> int:
        """What the back of a face-down token shows: tokens with different backs are never confused."""
        return 0

    def token_markup(self, token: int) -> str:
        """The token for a terminal, as rich markup."""
        return self.token_label(token)

    def fill_table(self, s: np.record, viewer: int, table: FoldedTable) -> None:
        """Fill `table` with what `viewer` knows of `s`."""
        raise NotImplementedError

    def action_label(self, s: np.record, action: int) -> str:
        """The text of an action (or code) in state `s`; unique among the legal ones."""
        raise NotImplementedError

    def illegal_reason(self, s: np.record, action: int, code: int) -> str:
        """Why `action` is not legal, for a code of the game's `explain_illegal` kernel; names the rule."""
        raise NotImplementedError

    def phase(self, s: np.record) -> str:
        """The name of the phase of play, one of the game's `phases`."""
        return "play"

    def prompt(self, s: np.record) -> str:
        """What the player to act is asked."""
        return "Choose an action."

    def facts(self, s: np.record, player: int) -> dict[str, Any]:
        """What a careful player would have worked out from what `player` may know, as JSON values."""
        return {}

    def candidates(self, state: "State", player: int) -> list[Candidate]:
        """What `player`, who is to act in `state`, may choose to do; by default each legal action.

        A game whose turns take many small actions offers whole plays here. They may be tried on `state.clone()`, but
        nothing may depend on what `player` cannot know. Labels are unique, and so are sequences; the order is free.
        """
        s = state.record
        return [Candidate(self.action_label(s, action), (action,)) for action in state.legal_actions()]

    def answer_form(self) -> str:
        """How to answer with an action as JSON in the game's own words, for language models; empty: there is no way."""
        return ""

    def actions_from_answer(self, state: "State", player: int, answer: dict[str, Any]) -> tuple[int, ...]:
        """The actions that an answer of that form means, as in Candidate.

        Raises:
            FormatError: the answer is not of that form.
            IllegalActionError: it is, but cannot be done; says why.
        """
        raise FormatError("this game has no form of its own for answers")

    def place(self, s: np.record, player: int) -> float | None:
        """The finishing place of a player who has left the game, or None: one behind all who are still in it."""
        return None

    def conserved(self, s: np.record) -> dict[str, float]:
        """Quantities (chips, ...) that stay the same from the start of a game to its end."""
        return {}

    def statistics(self, state: "State") -> GameStatistics:
        """What is worth counting of `state`, a game played from its deal to its end."""
        return GameStatistics()

    def describe_event(self, event: Event, kind: EventKind) -> str:
        """One sentence for an event as its viewer saw it."""
        return kind.text.format(
            player="" if event.player is None else f"player_{event.player}",
            token="a card" if event.token is None else self.token_label(event.token),
            source=_place(event.source),
            target=_place(event.target),
            value="?" if event.value is None else event.value,
        )

    def render(self, s: np.record, viewer: int, table: FoldedTable) -> str:
        """The table for a terminal, as rich markup; a game with a better picture overrides this."""
        lines = []
        for (pile, owner), tokens in zip(table.spec.pile_of, table.piles, strict=True):
            if owner is None or owner < int(s.rules.num_players):
                shown = tokens if pile.ordered else sorted(tokens, key=lambda token: (token < 0, token))
                lines.append(f"{_place((pile.name, owner)):>20}: {self.tokens_markup(shown)}")
        for (counter, owner), value in zip(table.spec.counter_of, table.counters, strict=True):
            if owner is None or owner < int(s.rules.num_players):
                lines.append(f"{_place((counter.name, owner)):>20}: {'?' if value is None else value}")
        return "\n".join(lines)

    def tokens_markup(self, tokens: Iterable[int]) -> str:
        """Tokens for a terminal; face-down ones are counted at the end."""
        tokens = list(tokens)
        known = [self.token_markup(token) for token in tokens if token >= 0]
        hidden = len(tokens) - len(known)
        if hidden:
            known.append(f"[dim]{hidden} face down[/dim]")
        return " ".join(known) or "-"


def sees(viewer: int, owner: int) -> bool:
    """Whether `viewer` may see what only `owner` sees."""
    return viewer in (owner, OMNISCIENT)


def _place(place: tuple[str, int | None] | None) -> str:
    if place is None:
        return ""
    name, owner = place
    return name.replace("_", " ") if owner is None else f"player_{owner}'s {name.replace('_', ' ')}"


def split_tokens(text: str) -> list[str]:
    """The token texts in a deck text: separated by blanks or commas."""
    parts = text.replace(",", " ").split()
    if not parts:
        raise DeckError("an explicit deck needs at least one card")
    return parts


def plain(markup: str) -> str:
    """Rich markup without its colours."""
    return _MARKUP.sub("", markup)


def ansi(markup: str) -> str:
    """Rich markup as ANSI text."""
    from rich.console import Console

    console = Console(force_terminal=True, color_system="standard", width=200, highlight=False)
    with console.capture() as capture:
        console.print(markup, end="")
    return capture.get()


def table_as_json(table: FoldedTable, words: Any, num_players: int) -> dict[str, Any]:
    """{"piles": {name: [token text or "?"] or, per player, a list of those}, "counters": {...}}."""

    def texts(tokens: list[int], ordered: bool) -> list[str]:
        known = [words.token_label(t) if t >= 0 else "?" for t in tokens]
        if ordered:
            return known
        order = sorted(range(len(tokens)), key=lambda k: (tokens[k] < 0, tokens[k]))
        return [known[k] for k in order]

    shown_piles = [texts(t, p.ordered) for (p, _), t in zip(table.spec.pile_of, table.piles, strict=True)]
    return {
        "piles": _by_name(table.spec.pile_of, shown_piles, num_players),
        "counters": _by_name(table.spec.counter_of, table.counters, num_players),
    }


def _by_name(places: list[tuple], values: list, num_players: int) -> dict[str, Any]:
    """The values of piles or counters by name, in a list where each player has one."""
    named: dict[str, Any] = {}
    for (place, owner), value in zip(places, values, strict=True):
        if owner is None:
            named[place.name] = value
        elif owner < num_players:
            named.setdefault(place.name, []).append(value)
    return named


class CardView(View):
    """Words for a game whose tokens are the 52 cards."""

    def token_label(self, token: int) -> str:
        """The text of a card, as "Th"."""
        return card_label(token)

    def parse_token(self, text: str) -> int:
        """The card of a text.

        Raises:
            DeckError: it names no card.
        """
        return parse_card(text)

    def token_markup(self, token: int) -> str:
        """The card with its suit's symbol and colour."""
        return card_markup(token)
