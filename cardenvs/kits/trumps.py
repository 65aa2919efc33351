"""Trumps that change from deal to deal: turned up, or named. For games on `trick_deals`.

    TRUMPS = Trumps(TABLE, PACK)

declares what is on the table and makes the kernels. The record has the fields of `trump_fields`, which
`tricks.trump_of_record` reads.
"""

from collections.abc import Callable
from typing import Any

from cardenvs.core import events as ev
from cardenvs.core.cards import SUIT_SIGNS
from cardenvs.core.events import CounterUse, Event, EventKind, Op, Table
from cardenvs.core.game_view import CounterView, Scene
from cardenvs.core.kernel import kernel
from cardenvs.core.record import Field
from cardenvs.core.view import View
from cardenvs.kits.cards import Pack
from cardenvs.kits.deck import NO_CARD, next_card
from cardenvs.kits.sections import Part, one_hot

NO_TRUMP = -1


def trump_fields() -> list[Field]:
    """Return the fields of trumps, for `record`; all see them."""
    return [
        ("trump", "i1"),  # suit, or NO_TRUMP
        ("turned_up", "i1"),  # card that lies beside the deck, or NO_CARD
        ("last_turned_up", "i1"),  # the same in the deal before
    ]


class Trumps:
    """The kernels of trumps. In each deal, one of them is called once.

    Attributes:
        turn_up: turn_up(s, log): turn up the next card, whose suit is trump. Without a card there are no trumps.
        name: name(s, suit, log): make a suit trump, or NO_TRUMP.
    """

    def __init__(self, table: Table, pack: Pack) -> None:
        """Declare pile, counter and kinds of event, and compile the kernels; `table` has a pile "deck"."""
        turned_up = table.pile("turned_up", tokens="turned_up")
        trump = table.counter("trump", use="none", value=lambda s: s.trump + 1)  # 0 without trumps
        turns_up = table.event("turn_up", Op.MOVE, "{token} is turned up.")
        is_trump = table.event("trump", Op.SET, "Trump: {value}.")
        self.name = name = kernel(_name(is_trump, trump))
        self.turn_up = kernel(_turn_up(name, pack.suit_of, turns_up, table.pile_ids["deck"], turned_up))


def _name(kind: int, counter: int) -> Callable[..., Any]:
    def name(s, suit, log):
        s.last_turned_up = s.turned_up if s.num_deals > 1 else NO_CARD
        s.turned_up = NO_CARD
        s.trump = suit
        ev.log_set(log, kind, ev.NO_PLAYER, counter, suit + 1)

    return name


def _turn_up(name: Any, suit_of: Any, kind: int, deck: int, target: int) -> Callable[..., Any]:
    def turn_up(s, log):
        if s.num_dealt == s.deck.shape[0]:
            name(s, NO_TRUMP, log)
            return
        card = next_card(s)
        ev.log_move(log, kind, ev.NO_PLAYER, card, deck, target, ev.EVERYBODY)
        name(s, suit_of(card), log)
        s.turned_up = card

    return turn_up


def trump_sections(pack: Pack) -> tuple[Part, ...]:
    """Return the sections of trumps."""
    return (
        one_hot("trump", pack.suits, "one-hot suit of trumps, zeros without trumps", "trump"),
        one_hot("turned_up", pack.labels, "one-hot card that was turned up, zeros if none was", "turned_up"),
        one_hot("last_turned_up", pack.labels, "the same in the deal before", "last_turned_up"),
    )


class TrumpView(View):
    """Words of trumps, before those of tricks and cards: `class MyView(TrumpView, TrickView, PackView)`."""

    pack: Pack

    def arrange(self, s: Any, viewer: int, scene: Scene) -> None:
        """Show the suit of trumps, or that there is none."""
        super().arrange(s, viewer, scene)
        scene.counters["trump"] = CounterView("trump", CounterUse.NUMBER, self._trump_text(int(s.trump)) or "none")

    def describe_event(self, event: Event, kind: EventKind) -> str:
        """Say which suit is trump."""
        if event.kind == "trump" and event.value is not None:
            suit = self._trump_text(event.value - 1)
            return f"{suit} is trump." if suit else "There are no trumps."
        return super().describe_event(event, kind)

    def facts(self, s: Any, player: int) -> dict[str, Any]:
        """Return the suit of trumps, and the card that was turned up."""
        turned_up = None if s.turned_up == NO_CARD else self.token_label(int(s.turned_up))
        return {"trump": self._trump_text(int(s.trump)), "turned_up": turned_up, **super().facts(s, player)}

    def _trump_text(self, suit: int) -> str | None:
        return None if suit == NO_TRUMP else SUIT_SIGNS[self.pack.suits[suit]]
